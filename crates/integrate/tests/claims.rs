//! What cards claim, measured. A claim without a checker does not compile.

use crate::common::{
    damped_henon_heiles, distance, double_pendulum, driven_pendulum, kepler, links, oscillator, relativistic,
    suited, undisturbed,
};
use leastaction_integrate::{
    ALL, Card, Integrator, Keeps, Kind, Needs, RunError, Sizing, Tolerance, Trajectory,
};
use leastaction_mechanics::{Dynamics, State};

fn methods_keep_what_they_claim(card: &'static Card) {
    for claim in card.keeps {
        match claim {
            Keeps::Symplectic => symplectic(card),
            Keeps::Reversible => reversible(card),
            Keeps::Quadratic => quadratic(card),
            Keeps::Bilinear => bilinear(card),
            Keeps::Conformal => conformal(card),
            Keeps::Energy => energy(card),
            Keeps::Constraints => constraints(card),
        }
    }
}

methods!(tests_of methods_keep_what_they_claim);

fn methods_are_of_their_kind(card: &'static Card) {
    match card.kind {
        Kind::Explicit => evaluations(card, false),
        Kind::Implicit => evaluations(card, true),
    }
    match card.sizing {
        Sizing::Given => needs_a_step(card),
        Sizing::Estimated { .. } | Sizing::Foreseen => tolerance(card),
    }
    match card.needs {
        Needs::Field | Needs::Free | Needs::Holonomic | Needs::Closed | Needs::Lagrangian => {
            drop(run(card, &mut driven_pendulum(), 0.01, 1.0))
        }
        Needs::Hamiltonian => refuses(card, driven_pendulum()),
        Needs::Separable => refuses(card, double_pendulum()),
        Needs::ConstantMass => refuses(card, relativistic()),
        Needs::LinearDamping => refuses(card, double_pendulum()),
    }
}

methods!(tests_of methods_are_of_their_kind);

#[test]
fn cards_are_complete() {
    for card in ALL {
        assert!(card.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
        assert_eq!(ALL.iter().filter(|other| other.name == card.name).count(), 1);
        assert!(!card.about.is_empty() && !card.cite.is_empty() && card.order > 0);
        assert_eq!(Card::named(card.name).unwrap().name, card.name);
    }
    let unknown = |name| Card::named(name).unwrap_err().to_string();
    assert_eq!(unknown("rk5"), "there is no method `rk5`: did you mean `rk4`?");
    assert!(unknown("lorenz").starts_with("there is no method `lorenz`: choose one of "));
}

/// What symplectic methods do, a method without the claim should not: or the checkers see nothing.
#[test]
fn checkers_can_say_no() {
    let rk4 = Card::named("rk4").unwrap();
    assert!(defect(rk4, 0.1) > 1e-7);
    assert!(way_back(rk4, 0.1) > 1e-7);
    assert!(spin_error(rk4, 0.1) > 1e-7);
    assert!(energy_error(rk4, 0.1) > 1e-7);
    let verlet = Card::named("verlet").unwrap();
    assert!(oscillator_error(verlet, 0.1) > 1e-7);
    assert!(form_error(rk4, damped_henon_heiles(), 0.1, (-0.03_f64).exp()) > 1e-9);
}

/// A pendulum of two links in Cartesian coordinates stays on its constraints.
fn constraints(card: &'static Card) {
    let (dynamics, start) = &mut links();
    let trajectory = Integrator::new(card, 0.01).run(dynamics, start, 5.0).unwrap();
    let (mut positions, mut velocities) = ([0.0; 2], [0.0; 2]);
    for state in (0..trajectory.times().len()).filter_map(|i| trajectory.state(i)) {
        dynamics.violations(&[state.t], &state.block(), &mut positions, &mut velocities).unwrap();
        let worst = positions.iter().chain(&velocities).fold(0.0f64, |m, x| m.max(x.abs()));
        assert!(worst < 2e-13, "{}: {worst:e} at {}", card.name, state.t);
    }
}

fn run(card: &'static Card, (dynamics, start): &mut (Dynamics, State), step: f64, end: f64) -> Trajectory {
    Integrator::new(card, step).ends_only().run(dynamics, start, end).unwrap()
}

/// MᵀΩM = Ω for the derivative M of the step map.
fn symplectic(card: &'static Card) {
    let found = defect(card, 0.1);
    println!("{:20} MᵀΩM − Ω: {found:.1e}", card.name);
    assert!(found < 1e-11, "{}: MᵀΩM differs from Ω by {found:e}", card.name);
}

fn defect(card: &'static Card, step: f64) -> f64 {
    form_error(card, undisturbed(card), step, 1.0)
}

/// MᵀΩM = e^{−γh}Ω, for γ = 0.3; and the way back, on which the form expands again.
fn conformal(card: &'static Card) {
    let found = form_error(card, damped_henon_heiles(), 0.1, (-0.03_f64).exp());
    println!("{:20} MᵀΩM − exp(−γh)Ω: {found:.1e}", card.name);
    assert!(found < 1e-11, "{}: MᵀΩM differs from exp(−γh)Ω by {found:e}", card.name);
    let (mut dynamics, start) = damped_henon_heiles();
    let there = State::from_block(0.1, &run_one(card, &mut dynamics, &start, 0.1), 2);
    let back = run_one(card, &mut dynamics, &there, -0.1);
    assert!(distance(&back, &start.block()) < 1e-15, "{}: {back:?}", card.name);
}

/// How far MᵀΩM is from a multiple of Ω.
fn form_error(card: &'static Card, (mut dynamics, start): (Dynamics, State), step: f64, factor: f64) -> f64 {
    let (n, y) = (start.q.len(), start.block());
    let mut image = |at: usize, by: f64| {
        let mut moved = y.clone();
        moved[at] += by;
        let state = State::from_block(0.0, &moved, n);
        run_one(card, &mut dynamics, &state, step)
    };
    // Differences of sixth order (weights 3/4, −3/20, 1/60): what truncation and rounding leave is about 1e−12.
    let d = 2e-3;
    let columns: Vec<Vec<f64>> = (0..2 * n)
        .map(|j| {
            let mut column = vec![0.0; 2 * n];
            for (k, weight) in [(1.0, 0.75), (2.0, -0.15), (3.0, 1.0 / 60.0)] {
                let (plus, minus) = (image(j, k * d), image(j, -k * d));
                let differences = plus.iter().zip(&minus).map(|(a, b)| weight * (a - b) / d);
                column.iter_mut().zip(differences).for_each(|(c, x)| *c += x);
            }
            column
        })
        .collect();
    let omega = |a: &[f64], b: &[f64]| (0..n).map(|i| a[i] * b[n + i] - a[n + i] * b[i]).sum::<f64>();
    let unit = |j: usize| (0..2 * n).map(|i| f64::from(i == j)).collect::<Vec<_>>();
    let pairs = (0..2 * n).flat_map(|i| (0..2 * n).map(move |j| (i, j)));
    let differences =
        pairs.map(|(i, j)| omega(&columns[i], &columns[j]) - factor * omega(&unit(i), &unit(j)));
    differences.map(f64::abs).fold(0.0, f64::max)
}

fn run_one(card: &'static Card, dynamics: &mut Dynamics, state: &State, step: f64) -> Vec<f64> {
    Integrator::new(card, step).ends_only().run(dynamics, state, state.t + step).unwrap().end().block()
}

/// Forward and back again, each step and the whole way.
fn reversible(card: &'static Card) {
    let found = way_back(card, 0.1);
    println!("{:20} way back: {found:.1e}", card.name);
    assert!(found < 1e-13, "{}: comes back {found:e} off", card.name);
    // Times are 0 + i·h forward and 1 − i·h back, so they are not the same bits.
    let mut system = undisturbed(card);
    let there = run(card, &mut system, 0.01, 1.0).end();
    let back = Integrator::new(card, -0.01).ends_only().run(&mut system.0, &there, 0.0).unwrap().end();
    assert_eq!(back.t, 0.0);
    assert!(distance(&back.block(), &system.1.block()) < 1e-12);
}

fn way_back(card: &'static Card, step: f64) -> f64 {
    let (mut dynamics, start) = undisturbed(card);
    let there = State::from_block(step, &run_one(card, &mut dynamics, &start, step), 2);
    distance(&run_one(card, &mut dynamics, &there, -step), &start.block())
}

/// Angular momentum in Cartesian coordinates, and the energy of a linear oscillator.
fn quadratic(card: &'static Card) {
    bilinear(card);
    let found = oscillator_error(card, 0.1);
    println!("{:20} energy of an oscillator: {found:.1e}", card.name);
    assert!(found < 1e-14, "{}: the energy of an oscillator changes by {found:e}", card.name);
}

fn oscillator_error(card: &'static Card, step: f64) -> f64 {
    let (mut dynamics, start) = oscillator();
    let run = Integrator::new(card, step).run(&mut dynamics, &start, 100.0).unwrap();
    run.energy_drift(&mut dynamics).unwrap()
}

/// Angular momentum in Cartesian coordinates.
fn bilinear(card: &'static Card) {
    let found = spin_error(card, 0.1);
    println!("{:20} angular momentum: {found:.1e}", card.name);
    assert!(found < 1e-14, "{}: angular momentum changes by {found:e}", card.name);
}

fn spin_error(card: &'static Card, step: f64) -> f64 {
    let (mut dynamics, start) = kepler(0.4);
    let spin = |y: &[f64]| y[0] * y[3] - y[1] * y[2];
    let orbit = Integrator::new(card, step).run(&mut dynamics, &start, 100.0).unwrap();
    orbit.samples().map(|(_, y)| (spin(y) - spin(&start.block())).abs()).fold(0.0, f64::max)
}

/// The energy, along a run with steps that are not short.
fn energy(card: &'static Card) {
    // The double pendulum whips, and the equations of a step that long may have no solution.
    let (mut dynamics, start) = undisturbed(card);
    let mut solved = |step: &f64| Integrator::new(card, *step).run(&mut dynamics, &start, 100.0).is_ok();
    let step = [0.1, 0.05].into_iter().find(|step| solved(step)).unwrap();
    let found = energy_error(card, step);
    println!("{:20} energy: {found:.1e} with steps of {step}", card.name);
    assert!(found < 1e-13, "{}: the energy changes by {found:e}", card.name);
}

fn energy_error(card: &'static Card, step: f64) -> f64 {
    let (mut dynamics, start) = undisturbed(card);
    let run = Integrator::new(card, step).run(&mut dynamics, &start, 100.0).unwrap();
    run.energy_drift(&mut dynamics).unwrap()
}

/// Explicit methods need the same number of evaluations for every step but the first, and only implicit ones iterate.
fn evaluations(card: &'static Card, implicit: bool) {
    let mut system = undisturbed(card);
    let [work, twice] = [1.0, 2.0].map(|end| run(card, &mut system, 0.01, end).work());
    assert_eq!((work.steps, twice.steps), (100, 200));
    assert_eq!(work.iterations > 0, implicit);
    let later = twice.evaluations - work.evaluations;
    assert!(implicit || later.is_multiple_of(100), "{}: {later} evaluations in 100 steps", card.name);
    println!("{:20} {} evaluations a step", card.name, later as f64 / 100.0);
}

fn refuses(card: &'static Card, (mut dynamics, start): (Dynamics, State)) {
    let refused = Integrator::new(card, 0.01).run(&mut dynamics, &start, 1.0).unwrap_err();
    assert!(matches!(refused.error, RunError::NotApplicable { .. }), "{}: {refused}", card.name);
}

fn needs_a_step(card: &'static Card) {
    let (mut dynamics, start) = undisturbed(card);
    let refused =
        Integrator::new(card, Tolerance::relative(1e-6)).run(&mut dynamics, &start, 1.0).unwrap_err();
    assert!(matches!(refused.error, RunError::NotAdaptive { .. }), "{}: {refused}", card.name);
}

/// Errors follow the tolerance.
fn tolerance(card: &'static Card) {
    for mut system in suited(card) {
        let exact = run(Card::named("rk4").unwrap(), &mut system, 1.0 / 8192.0, 1.0).end().block();
        for exponent in [-4, -6, -8, -10, -12] {
            let tolerance = 10.0_f64.powi(exponent);
            let adaptive = Integrator::new(card, Tolerance::relative(tolerance)).ends_only();
            let end = adaptive.run(&mut system.0, &system.1, 1.0).unwrap();
            let error = distance(&end.end().block(), &exact);
            println!("{:20} tolerance {tolerance:.0e}: error {error:.1e} in {:?}", card.name, end.work());
            assert!(error < 100.0 * tolerance, "{}: error {error:e} for {tolerance:e}", card.name);
        }
    }
}

//! Runs in fictitious time: symplectic in the extended space, of the method's order, without drift, at the times that were asked for.

use crate::common::distance;
use leastaction_expr::{Expr, Graph};
use leastaction_integrate::{ALL, Card, Density, Event, Integrator, Keeps, Needs, RunError};
use leastaction_mechanics::{Dynamics, Model, ModelError, State, Sundman};
use std::f64::consts::TAU;

/// A planet with semi-major axis 1 about GM = 1, and its distance.
fn planet(graph: &Graph) -> (Model<'_>, Expr<'_>) {
    let mut model = Model::new(graph);
    let [x, y] = model.coordinates(["x", "y"]);
    let r = (x * x + y * y).sqrt();
    model.particle("planet", 1.0, [x, y]);
    model.potential("gravity", -1.0 / r);
    (model, r)
}

fn kepler(e: f64, power: f64) -> (Sundman, Dynamics, State) {
    let graph = Graph::new();
    let (model, r) = planet(&graph);
    let equations = model.equations().unwrap();
    let mut dynamics = equations.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("x", 1.0 - e), ("y'", ((1.0 + e) / (1.0 - e)).sqrt())]).unwrap();
    (equations.in_fictitious_time(r.pow(power)).unwrap(), dynamics, start)
}

/// A particle in a well that breathes, not separable, with a clock that depends on everything.
fn breathing() -> (Sundman, Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let a = model.parameter("a", 0.1);
    let (t, x, y) = (model.time(), model.coordinate("x"), model.coordinate("y"));
    let [px, py] = model.momenta(["p_x", "p_y"]);
    let well = (1.0 + 0.3 * (2.0 * t).cos()) * (x.pow(4.0) + y.pow(2.0) * (2.0 + x)) / 4.0;
    model.hamiltonian("H", (px * px * (1.0 + a * y * y) + py * py) / 2.0 + well);
    let equations = model.equations().unwrap();
    let mut dynamics = equations.system().unwrap().dynamics().unwrap();
    dynamics.set_parameter("a", 0.3).unwrap();
    let start = dynamics.start_at(0.4, &[("x", 0.8), ("p_y", 0.6), ("y", -0.3)]).unwrap();
    let g = 1.0 / (2.0 + x * x + 0.3 * px + 0.2 * t.sin());
    (equations.in_fictitious_time(g).unwrap(), dynamics, start)
}

/// Methods for any field that keep the symplectic form.
fn symplectic() -> impl Iterator<Item = &'static Card> {
    let general = |card: &&Card| matches!(card.needs, Needs::Field | Needs::Closed | Needs::Hamiltonian);
    ALL.iter().filter(general).filter(|card| card.keeps.contains(&Keeps::Symplectic))
}

/// MᵀΩM = Ω for the derivative M of a step in s, with all of (q, t, p, p_t).
#[test]
fn steps_are_symplectic_in_the_extended_space() {
    for card in symplectic() {
        for (sundman, mut dynamics, start) in [kepler(0.6, 1.5), breathing()] {
            let mut extended = sundman.dynamics(&dynamics).unwrap();
            let begin = sundman.begin(&mut dynamics, &start).unwrap();
            let (n, y) = (begin.q.len(), begin.block());
            let run = Integrator::new(card, 0.1).ends_only();
            let mut image = |at: usize, by: f64| {
                let mut moved = y.clone();
                moved[at] += by;
                run.run(&mut extended, &State::from_block(0.0, &moved, n), 0.1).unwrap().end().block()
            };
            let d = 1e-3;
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
            for i in 0..2 * n {
                for j in 0..2 * n {
                    let expected = f64::from(j == i + n) - f64::from(i == j + n);
                    let found = omega(&columns[i], &columns[j]);
                    assert!((found - expected).abs() < 1e-10, "{}: {i} {j}: {found}", card.name);
                }
            }
        }
    }
}

/// Errors at given times, between steps and at the end, shrink with the order (less one between steps at most).
#[test]
fn runs_have_the_order_of_the_method() {
    for card in symplectic().filter(|card| card.order <= 8) {
        for (sundman, mut dynamics, start) in [kepler(0.6, 1.5), breathing()] {
            let times: Vec<f64> = [0.3, 0.7, 1.0].map(|t| start.t + t).to_vec();
            let end = start.t + 1.0;
            let reference = Integrator::named("rk4", 1.0 / 8192.0).unwrap().at(&times);
            let exact = reference.run(&mut dynamics, &start, end).unwrap();
            let ratio = 4.0_f64.powf(1.0 / f64::from(card.order));
            let mut seen = Vec::new();
            for k in 0..40 {
                let step = 0.5 * ratio.powi(-k);
                let run = Integrator::new(card, step).at(&times);
                let Ok(run) = run.run_in_fictitious_time(&sundman, &mut dynamics, &start, end) else {
                    continue;
                };
                assert_eq!(run.times(), times);
                let error = distance(run.blocks(), exact.blocks());
                if error < 1e-11 {
                    break;
                }
                seen.push((step, error));
            }
            let ((h0, e0), (h1, e1)) = (seen[seen.len().saturating_sub(10)], seen[seen.len() - 1]);
            let found = (e0 / e1).ln() / (h0 / h1).ln();
            println!("{:20} order {} measured {found:.2}", card.name, card.order);
            // Few steps lead to these times, and between them errors have the order less one.
            let least =
                if card.order < 6 { f64::from(card.order) - 0.35 } else { 0.75 * f64::from(card.order) };
            assert!(found > least, "{}: {found} in {seen:?}", card.name);
        }
    }
}

/// 100 orbits with e = 0.9, and as many fixed steps for comparison.
#[test]
fn nothing_drifts_on_an_eccentric_orbit() {
    let (sundman, mut dynamics, start) = kepler(0.9, 1.5);
    let (end, card) = (100.0 * TAU, Card::named("implicit-midpoint").unwrap());
    let run =
        Integrator::new(card, 0.02).run_in_fictitious_time(&sundman, &mut dynamics, &start, end).unwrap();
    assert!(run.times().windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!((run.times()[0], run.end().t), (0.0, end));
    let energies = run.energies(&mut dynamics).unwrap();
    let worst = |part: &[f64]| part.iter().map(|e| (e + 0.5).abs() / 0.5).fold(0.0, f64::max);
    let (early, late) = energies.split_at(energies.len() / 2);
    println!("{} steps: {:e}, then {:e}", run.work().steps, worst(early), worst(late));
    assert!(worst(&energies) < 5e-3);
    assert!((worst(early) - worst(late)).abs() < 0.01 * worst(early), "no drift");
    let fixed = Integrator::new(card, end / run.work().steps as f64).run(&mut dynamics, &start, end).unwrap();
    assert!(worst(&fixed.energies(&mut dynamics).unwrap()) > 100.0 * worst(&energies));
}

/// The closed orbit, forward and back in time, sampled evenly: where it should be after whole periods.
#[test]
fn samples_are_at_the_times_asked_for() {
    let (sundman, mut dynamics, start) = kepler(0.5, 1.0);
    for way in [1.0, -1.0] {
        let run = Integrator::named("implicit-midpoint", way * 0.002).unwrap().spaced(0.25 * TAU);
        let orbits = run.run_in_fictitious_time(&sundman, &mut dynamics, &start, way * 2.0 * TAU).unwrap();
        assert_eq!(orbits.len(), 9);
        for (k, (t, y)) in orbits.samples().enumerate() {
            assert!((t - way * k as f64 * 0.25 * TAU).abs() < 1e-14);
            if k % 4 == 0 {
                assert!(distance(y, &start.block()) < 1e-3, "{t}: {y:?}");
            } else if k % 4 == 2 {
                assert!((y[0] + 1.5).abs() < 1e-4 && y[1].abs() < 1e-3, "{t}: {y:?}");
            }
        }
    }
    let every = Integrator::named("implicit-midpoint", 0.1).unwrap().every(10);
    let run = every.run_in_fictitious_time(&sundman, &mut dynamics, &start, 3.0).unwrap();
    assert_eq!(run.len() as u64, run.work().steps.div_ceil(10) + 1);
    let still = every.run_in_fictitious_time(&sundman, &mut dynamics, &start, 0.0).unwrap();
    assert_eq!((still.len(), still.work().steps), (1, 0));
}

/// A free particle whose coordinate is the time, whatever the clock: states between steps are at their times to rounding.
#[test]
fn times_between_steps_are_found_to_rounding() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("hand", 1.0, [x]);
    let equations = model.equations().unwrap();
    let mut dynamics = equations.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("x'", 1.0)]).unwrap();
    let sundman = equations.in_fictitious_time(1.0 + 0.9 * (3.0 * x).sin()).unwrap();
    let run = Integrator::named("implicit-midpoint", 0.3).unwrap().spaced(0.01);
    let run = run.run_in_fictitious_time(&sundman, &mut dynamics, &start, 5.0).unwrap();
    assert!(run.len() == 501 && run.work().steps < 50);
    assert!(run.samples().all(|(t, y)| (y[0] - t).abs() < 1e-14));
}

#[test]
fn refuses_what_has_no_clock() {
    let (sundman, mut dynamics, start) = kepler(0.5, 1.0);
    let run = |pace: f64| Integrator::named("implicit-midpoint", pace).unwrap();
    let keeping = run(0.1).keeping(Keeps::Symplectic);
    assert!(keeping.run_in_fictitious_time(&sundman, &mut dynamics, &start, 1.0).is_ok());
    let crossing = Event::new(dynamics.observable("y").unwrap());
    let mut refused = |run: Integrator, end: f64| {
        run.run_in_fictitious_time(&sundman, &mut dynamics, &start, end).unwrap_err().error
    };
    let density = Integrator::named("implicit-midpoint", Density::natural(0.1)).unwrap();
    assert!(matches!(refused(density, 1.0), RunError::NeedsStep { .. }));
    assert!(matches!(refused(run(0.1).event(crossing), 1.0), RunError::NoEvents));
    assert!(matches!(refused(run(0.0), 1.0), RunError::BadStep { .. }));
    assert!(matches!(refused(run(f64::NAN), 1.0), RunError::BadStep { .. }));
    assert!(matches!(refused(run(0.1), -1.0), RunError::WrongWay { .. }));
    assert!(matches!(refused(run(0.1), f64::NAN), RunError::BadTime { .. }));
    assert!(matches!(refused(run(0.1).at_most(3), 1.0), RunError::OutOfSteps { limit: 3, .. }));
    assert!(matches!(refused(run(0.1).at(&[2.0]), 1.0), RunError::BadSample { .. }));
    let other = breathing();
    let mixed = run(0.1).run_in_fictitious_time(&other.0, &mut dynamics, &start, 1.0).unwrap_err();
    assert_eq!(mixed.error, RunError::OtherSystem);
    let short = State { p: Vec::new(), ..start.clone() };
    let short = run(0.1).run_in_fictitious_time(&sundman, &mut dynamics, &short, 1.0).unwrap_err();
    assert!(matches!(short.error, RunError::WrongLength { expected: 4, found: 2 }));

    // A clock that runs back at the start, and one that stops on the way; what was computed is kept.
    let graph = Graph::new();
    let (model, r) = planet(&graph);
    let equations = model.equations().unwrap();
    let mut clocked = |g: Expr<'_>| {
        let sundman = equations.in_fictitious_time(graph.adopt(g)).unwrap();
        run(0.01).run_in_fictitious_time(&sundman, &mut dynamics, &start, 9.0).unwrap_err()
    };
    assert!(matches!(clocked(r - 2.0).error, RunError::BadClock { t: 0.0, rate: -1.5 }));
    let stopped = clocked(1.0 - graph.symbol("t"));
    assert!(matches!(stopped.error, RunError::BadClock { t, .. } if (t - 1.0).abs() < 1e-12), "{stopped}");
    let kept = stopped.trajectory.unwrap();
    assert!(kept.len() > 1000 && (kept.end().t - 1.0).abs() < 1e-12);
}

#[test]
fn refuses_equations_without_a_closed_hamiltonian() {
    let graph = Graph::new();
    let (mut model, r) = planet(&graph);
    let equations = model.equations().unwrap();
    let unknown = equations.in_fictitious_time(graph.symbol("z")).unwrap_err();
    assert!(matches!(unknown, ModelError::UnknownName { .. }), "{unknown}");
    // Velocities become momenta.
    let moving = graph.parse("1/(1 + x'^2)").unwrap();
    assert!(equations.in_fictitious_time(moving).is_ok());
    model.dissipation("drag", graph.parse("x'^2").unwrap());
    let damped = model.equations().unwrap().in_fictitious_time(r).unwrap_err();
    assert!(matches!(damped, ModelError::NoFictitiousTime { .. }), "{damped}");

    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let s = model.coordinate("s");
    let v = model.velocity(s);
    model.lagrangian("L", v.pow(2.0) / 2.0 - s * s);
    // The name of the clock is one that is free.
    assert!(model.equations().unwrap().in_fictitious_time(1.0 + s * s).is_ok());
    model.lagrangian("more", v.pow(4.0));
    let open = model.equations().unwrap().in_fictitious_time(1.0 + s * s).unwrap_err();
    assert!(matches!(open, ModelError::NoFictitiousTime { .. }), "{open}");
}

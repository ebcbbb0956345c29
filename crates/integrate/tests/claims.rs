//! What cards claim, measured. A claim without a checker does not compile.
#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use common::{distance, double_pendulum, driven_pendulum, kepler};
use leastaction_integrate::{ALL, Card, Integrator, Keeps, Kind, Needs, Trajectory};
use leastaction_mechanics::{Dynamics, State};

#[test]
fn cards_keep_their_claims() {
    for card in ALL {
        order(card);
        for claim in card.keeps {
            match claim {
                Keeps::Symplectic => symplectic(card),
                Keeps::Reversible => reversible(card),
                Keeps::Quadratic => quadratic(card),
            }
        }
        match card.kind {
            Kind::Explicit => evaluations(card, false),
            Kind::Implicit => evaluations(card, true),
        }
        match card.needs {
            Needs::Field => drop(run(card, &mut driven_pendulum(), 0.01, 1.0)),
            Needs::Separable => refuses_the_double_pendulum(card),
        }
    }
}

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
    assert_eq!(unknown("euler"), "there is no method `euler`: choose one of rk4, implicit-midpoint");
}

/// What symplectic methods do, a method without the claim should not: or the checkers see nothing.
#[test]
fn checkers_can_say_no() {
    let rk4 = Card::named("rk4").unwrap();
    assert!(defect(rk4, 0.1) > 1e-7);
    assert!(way_back(rk4, 0.1) > 1e-7);
    assert!(spin_error(rk4, 0.1) > 1e-7);
}

fn run(card: &'static Card, (dynamics, start): &mut (Dynamics, State), step: f64, end: f64) -> Trajectory {
    Integrator::new(card, step).ends_only().run(dynamics, start, end).unwrap()
}

/// The slope of log error over log step, over the smallest three steps above the plateau of rounding.
fn order(card: &'static Card) {
    for mut system in [double_pendulum(), driven_pendulum(), kepler(0.3)] {
        let exact = run(Card::named("rk4").unwrap(), &mut system, 1.0 / 8192.0, 1.0).end().block();
        let errors = (3..12).map(|k| {
            let step = 0.5_f64.powi(k);
            (step, distance(&run(card, &mut system, step, 1.0).end().block(), &exact))
        });
        let seen: Vec<(f64, f64)> = errors.filter(|(_, error)| (2e-12..1e-3).contains(error)).collect();
        assert!(seen.len() >= 3, "{}: only {seen:?} between the plateaus", card.name);
        let [.., (h, e), _, (h_last, e_last)] = seen.as_slice() else { unreachable!() };
        let slope = (e / e_last).log2() / (h / h_last).log2();
        println!("{:20} order {} measured {slope:.3} over {} steps", card.name, card.order, seen.len());
        assert!((slope - f64::from(card.order)).abs() < 0.2, "{}: slope {slope} in {seen:?}", card.name);
    }
}

/// MᵀΩM = Ω for the derivative M of the step map.
fn symplectic(card: &'static Card) {
    let found = defect(card, 0.1);
    println!("{:20} MᵀΩM − Ω: {found:.1e}", card.name);
    assert!(found < 1e-11, "{}: MᵀΩM differs from Ω by {found:e}", card.name);
}

fn defect(card: &'static Card, step: f64) -> f64 {
    let (mut dynamics, start) = double_pendulum();
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
    let differences = pairs.map(|(i, j)| omega(&columns[i], &columns[j]) - omega(&unit(i), &unit(j)));
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
    let mut system = double_pendulum();
    let there = run(card, &mut system, 0.01, 1.0).end();
    let back = Integrator::new(card, -0.01).ends_only().run(&mut system.0, &there, 0.0).unwrap().end();
    assert_eq!(back.t, 0.0);
    assert!(distance(&back.block(), &system.1.block()) < 1e-12);
}

fn way_back(card: &'static Card, step: f64) -> f64 {
    let (mut dynamics, start) = double_pendulum();
    let there = State::from_block(step, &run_one(card, &mut dynamics, &start, step), 2);
    distance(&run_one(card, &mut dynamics, &there, -step), &start.block())
}

/// Angular momentum in Cartesian coordinates.
fn quadratic(card: &'static Card) {
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

/// Explicit methods need the same number of evaluations for every step, and only implicit ones iterate.
fn evaluations(card: &'static Card, implicit: bool) {
    let work = run(card, &mut double_pendulum(), 0.01, 1.0).work();
    assert_eq!(work.steps, 100);
    assert_eq!(work.iterations > 0, implicit);
    assert!(implicit || work.evaluations.is_multiple_of(work.steps));
    println!("{:20} {} evaluations a step", card.name, work.evaluations as f64 / work.steps as f64);
}

fn refuses_the_double_pendulum(card: &'static Card) {
    let (mut dynamics, start) = double_pendulum();
    assert!(Integrator::new(card, 0.01).run(&mut dynamics, &start, 1.0).is_err());
}

//! Linear oscillations, where everything is known in closed form.

use crate::common::{assert_near, begin, run};
use leastaction_catalog::Entry;
use leastaction_expr::Graph;
use leastaction_mechanics::Dynamics;
use std::f64::consts::PI;

/// The implicit midpoint rule turns by 2 atan(ωh/2) per step, instead of by ωh: over 300 s it lags by
/// 300 (1 − 2 atan(ωh/2)/(ωh)) ≈ 300 ω²h²/12 = 0.0245 s.
#[test]
fn harmonic_oscillator_lags_as_the_midpoint_rule_must() {
    let graph = Graph::new();
    let (setup, mut dynamics, start) = begin(&graph, "harmonic-oscillator");
    let (step, until) = (setup.plan.step.unwrap(), setup.plan.until);
    let swing = run(&mut dynamics, &start, "implicit-midpoint", step, until);
    assert_eq!((swing.work().steps, swing.end().t), (30_000, 300.0));

    let omega = 9.81_f64.sqrt();
    let turn = 2.0 * (omega * step / 2.0).atan();
    let discrete = |n: f64| [0.1 * (turn * n).cos(), -0.1 * omega * (turn * n).sin()];
    for (n, (_, y)) in swing.samples().enumerate().step_by(1000) {
        assert_near(y, &discrete(n as f64), 1e-12);
    }

    // Measured from the trajectory alone: where the phase is at the end, and how long ago the exact motion was there.
    let end = swing.end();
    let phase = (-end.p[0] / omega).atan2(end.q[0]);
    let behind = (omega * 300.0 - phase).rem_euclid(2.0 * PI) / omega;
    assert_near(&[behind], &[0.0245], 0.5e-4);
    assert!(swing.energy_drift(&mut dynamics).unwrap() < 1e-14);
}

/// ω_j² = g/l + (4k/m) sin²(jπ/2N), with free ends.
fn frequency(j: usize, n: usize) -> f64 {
    (9.81 + 40.0 * (j as f64 * PI / (2 * n) as f64).sin().powi(2)).sqrt()
}

/// θ_i ∝ cos(jπ(i + ½)/N).
fn shape(j: usize, n: usize) -> Vec<f64> {
    (0..n).map(|i| (j as f64 * PI * (i as f64 + 0.5) / n as f64).cos()).collect()
}

fn chain(n: usize) -> Dynamics {
    let graph = Graph::new();
    let setup = Entry::named("coupled-chain").unwrap().setup_sized(&graph, n).unwrap();
    setup.model.system().unwrap().dynamics().unwrap()
}

/// The shapes are a basis, so if each is a mode with its frequency, these are all modes: M⁻¹K shape = ω² shape.
#[test]
fn chains_have_the_modes_of_their_dispersion_relation() {
    for n in [1, 2, 3, 8, 25] {
        let mut dynamics = chain(n);
        for j in 0..n {
            // Odd powers of the amplitude remain after a difference of both sides, and the cubic is tiny.
            let [mut plus, mut minus] = [1e-4, -1e-4].map(|amplitude| {
                let q: Vec<f64> = shape(j, n).iter().map(|s| amplitude * s).collect();
                let mut acceleration = vec![0.0; n];
                dynamics.accelerations(&[0.0], &[q, vec![0.0; n]].concat(), &mut acceleration).unwrap();
                acceleration
            });
            plus.iter_mut().zip(&mut minus).for_each(|(a, b)| *a = (*a - *b) / 2e-4);
            let omega = frequency(j, n);
            let expected: Vec<f64> = shape(j, n).iter().map(|s| -omega * omega * s).collect();
            assert_near(&plus, &expected, 1e-6);
        }
    }
}

#[test]
fn a_mode_oscillates_with_its_frequency() {
    let n = 5;
    let mut dynamics = chain(n);
    for j in 0..n {
        let (omega, shape) = (frequency(j, n), shape(j, n));
        let names: Vec<String> = (1..=n).map(|i| format!("th{i}")).collect();
        let values: Vec<_> = names.iter().map(String::as_str).zip(shape.iter().map(|s| 1e-6 * s)).collect();
        let start = dynamics.start(&values).unwrap();
        let swing = run(&mut dynamics, &start, "rk4", 0.002, 20.0);
        for (t, y) in swing.samples().step_by(500) {
            let expected: Vec<f64> = shape.iter().map(|s| s * (omega * t).cos()).collect();
            let found: Vec<f64> = y[..n].iter().map(|q| 1e6 * q).collect();
            assert_near(&found, &expected, 1e-6);
        }
    }
}

//! Starts drawn at random.

use crate::common::begin;
use leastaction_catalog::{ALL, Entry, SampleError};
use leastaction_expr::Graph;
use leastaction_mechanics::{Pose, State};
use std::f64::consts::{FRAC_PI_2, PI};

/// So many starts are drawn: averages are right to a few hundredths.
const DRAWS: u64 = 4000;

/// Mean and standard deviation.
fn spread(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    (mean, (values.map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt())
}

/// Asserts that values have a mean and a standard deviation, to four standard errors.
#[track_caller]
fn assert_spread(values: impl Iterator<Item = f64> + Clone, mean: f64, deviation: f64) {
    let (found, width) = spread(values);
    let error = 4.0 * deviation / (DRAWS as f64).sqrt();
    assert!((found - mean).abs() < error && (width - deviation).abs() < error, "{found} ± {width}");
}

#[test]
fn starts_are_repeated_by_their_seed_and_meet_the_constraints() {
    for entry in ALL {
        let graph = Graph::new();
        let (_, mut dynamics, usual) = begin(&graph, entry.name);
        if !entry.has_samples() {
            assert_eq!(entry.sample(None, &mut dynamics, 1), Err(SampleError::NoSampling));
            continue;
        }
        let system = dynamics.system().clone();
        let (mut values, mut rates) =
            (vec![0.0; system.position_constraints()], vec![0.0; system.constraints().len()]);
        for seed in 0..100 {
            let start = entry.sample(None, &mut dynamics, seed).unwrap();
            assert_eq!(start, entry.sample(None, &mut dynamics, seed).unwrap(), "{}", entry.name);
            assert!(start != usual && start != entry.sample(None, &mut dynamics, seed + 1000).unwrap());
            dynamics.violations(&[0.0], &start.block(), &mut values, &mut rates).unwrap();
            let worst = values.iter().chain(&rates).fold(0.0_f64, |m, x| m.max(x.abs()));
            assert!(worst < 1e-13, "{} {seed}: {worst:e}", entry.name);
        }
    }
}

#[test]
fn every_system_of_the_benchmark_is_drawn() {
    for name in ["n-pendulum", "coupled-pendulums", "magnet-pendulum", "gyroscope", "rigid-rotor"] {
        assert!(Entry::named(name).unwrap().has_samples(), "{name}");
    }
}

#[test]
fn a_start_of_another_system_is_refused() {
    let graph = Graph::new();
    let (_, mut other, _) = begin(&graph, "pendulum");
    let message = Entry::named("n-pendulum").unwrap().sample(None, &mut other, 1).unwrap_err().to_string();
    assert_eq!(
        message,
        "100 random starts in a row cannot be used: the start sets `x1'`, which is no coordinate, velocity or momentum"
    );
}

fn draws(name: &str, size: Option<usize>) -> Vec<State> {
    let graph = Graph::new();
    let entry = Entry::named(name).unwrap();
    let setup = size.map_or_else(|| entry.setup(&graph), |n| entry.setup_sized(&graph, n).unwrap());
    let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
    (0..DRAWS).map(|seed| entry.sample(size, &mut dynamics, seed).unwrap()).collect()
}

/// Spherical angles about the x axis and their rates, of a rod and its velocity.
fn spherical([x, y, z]: [f64; 3], [u, v, w]: [f64; 3]) -> [f64; 4] {
    let phi = y.atan2(z).rem_euclid(2.0 * PI);
    let square = y * y + z * z;
    [phi, (-x).acos(), (z * v - y * w) / square, u / square.sqrt()]
}

/// The angles are normal about those of a pendulum that hangs, and nothing is changed by the projection.
#[test]
fn pendulums_in_space_have_the_angles_that_were_asked_for() {
    let starts = draws("coupled-pendulums", None);
    for i in 0..3 {
        let angles: Vec<[f64; 4]> = starts
            .iter()
            .map(|s| {
                let part = |of: &[f64]| [of[3 * i], of[3 * i + 1], of[3 * i + 2]];
                let [x, y, z] = part(&s.q);
                spherical([x - i as f64, y, z], part(&s.p))
            })
            .collect();
        for (k, mean) in [PI, FRAC_PI_2, 0.0, 0.0].into_iter().enumerate() {
            assert_spread(angles.iter().map(|a| a[k]), mean, 0.3);
        }
    }
    let starts = draws("magnet-pendulum", None);
    let angles = starts.iter().map(|s| spherical([0, 1, 2].map(|k| s.q[k]), [0, 1, 2].map(|k| s.p[k] / 3.0)));
    let expected = [(PI, 0.3), (FRAC_PI_2, 0.2), (0.0, 0.05), (0.0, 0.4)];
    for (k, (mean, deviation)) in expected.into_iter().enumerate() {
        assert_spread(angles.clone().map(|a| a[k]), mean, deviation);
    }
}

/// One rod of length l: the angle is normal, and blurred by 0.2/l radians; the velocity along the circle is 3(0.5 l ω + 0.4 N), where the
/// blur turns what is left of ω by a small angle.
#[test]
fn a_single_pendulum_has_the_spread_that_was_asked_for() {
    let starts = draws("n-pendulum", Some(1));
    let (m, l) = (1.039051, 1.172151);
    let blur = 0.2_f64 / l;
    assert_spread(starts.iter().map(|s| s.q[0].atan2(-s.q[1])), 0.0, 1.0);
    let along = starts.iter().map(|s| (s.p[1] * s.q[0] - s.p[0] * s.q[1]) / (m * l));
    let turned = 1.0 - blur * blur;
    assert_spread(along, 0.0, 3.0 * (0.25 * l * l * turned + 0.16_f64).sqrt());
}

/// Where the body of a system is, and how it moves, in starts drawn at random.
fn poses(name: &str) -> Vec<Pose> {
    let graph = Graph::new();
    let entry = Entry::named(name).unwrap();
    let (setup, mut dynamics, _) = begin(&graph, name);
    let body = &setup.model.bodies()[0];
    let mut pose = |seed| {
        let start = entry.sample(None, &mut dynamics, seed).unwrap();
        body.pose(&mut dynamics, &start).unwrap()
    };
    (0..DRAWS).map(&mut pose).collect()
}

/// The nutation θ and the precession φ̇ are even between bounds, the spin ψ̇ is ±1.5(7 + N).
#[test]
fn gyroscopes_have_the_angles_that_were_asked_for() {
    let starts = poses("gyroscope");
    let upright = starts.iter().map(|pose| pose.rotation().rows()[2][2]);
    let (mean, square) = (1.5f64.sin() / 1.5, 0.5 + 3f64.sin() / 6.0);
    assert_spread(upright.clone(), mean, (square - mean * mean).sqrt());
    // Along the axis φ̇ cos θ + ψ̇; along the line of nodes, which has no precession in it, θ̇.
    let spin = starts.iter().map(|pose| pose.angular_velocity_in_body()[2]);
    assert_spread(spin, 0.0, (square * 9f64.powi(2) / 12.0 + 2.25 * 50.0).sqrt());
    let nodding = starts.iter().map(|pose| {
        let axis = pose.rotation().apply([0.0, 0.0, 1.0]);
        let length = axis[0].hypot(axis[1]);
        let rate = pose.angular_velocity();
        (rate[0] * -axis[1] + rate[1] * axis[0]) / length
    });
    assert!(nodding.clone().all(|rate| rate.abs() < 0.3));
    assert_spread(nodding, 0.0, 0.6 / 12f64.sqrt());
}

/// Normal numbers of deviation 2 that are cut at 3, a tenth of them for the centre of mass. That leaves a deviation of 1.764614.
#[test]
fn rotors_are_thrown_as_was_asked_for() {
    let starts = poses("rigid-rotor");
    for d in 0..3 {
        assert_spread(starts.iter().map(|pose| pose.position()[d]), 0.0, 0.1764614);
        assert_spread(starts.iter().map(|pose| pose.velocity()[d]), 0.0, 0.1764614);
    }
    let largest = starts.iter().flat_map(|pose| pose.position()).fold(0.0f64, |m, x| m.max(x.abs()));
    assert!((largest - 0.3).abs() < 1e-15, "{largest}");
    // ω·z = φ̇ + ψ̇ cos θ.
    let square = spread(starts.iter().map(|pose| pose.angular_velocity()[2])).1.powi(2) / 1.764614f64.powi(2);
    let cosine = starts.iter().map(|pose| pose.rotation().rows()[2][2].powi(2)).sum::<f64>() / DRAWS as f64;
    assert!((square - 1.0 - cosine).abs() < 0.1, "{square} {cosine}");
}

/// Longer chains are drawn too, though their projections are far.
#[test]
fn long_chains_are_drawn() {
    let graph = Graph::new();
    let entry = Entry::named("n-pendulum").unwrap();
    let setup = entry.setup_sized(&graph, 20).unwrap();
    let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
    for seed in 0..10 {
        entry.sample(Some(20), &mut dynamics, seed).unwrap();
    }
}

//! What the tests share.

use leastaction_catalog::Entry;
use leastaction_expr::Graph;
use leastaction_integrate::{Integrator, Trajectory};
use leastaction_language::Setup;
use leastaction_mechanics::{ConstraintFactors, Dynamics, State};

/// A catalog system at its start.
pub(crate) fn begin<'g>(graph: &'g Graph, name: &str) -> (Setup<'g>, Dynamics, State) {
    let setup = Entry::named(name).unwrap().setup(graph);
    let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
    let values = setup.start(&dynamics).unwrap();
    let start = dynamics.start_over(0.0, &setup.start_blocks(), &values).unwrap();
    (setup, dynamics, start)
}

/// A run that keeps every sample.
pub(crate) fn run(dynamics: &mut Dynamics, start: &State, method: &str, step: f64, until: f64) -> Trajectory {
    Integrator::named(method, step).unwrap().run(dynamics, start, until).unwrap()
}

/// The energy of a state.
pub(crate) fn energy(dynamics: &mut Dynamics, state: &State) -> f64 {
    let mut energy = [0.0];
    dynamics.energy(&[state.t], &state.block(), &mut energy).unwrap();
    energy[0]
}

/// The velocities of a state.
pub(crate) fn velocities(dynamics: &mut Dynamics, state: &State) -> Vec<f64> {
    let mut v = vec![0.0; state.q.len()];
    dynamics.velocities(&[state.t], &state.block(), &mut v).unwrap();
    v
}

/// Asserts that numbers agree, absolutely.
#[track_caller]
pub(crate) fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance, "entry {i}: {a} is {:e} off {b}", (a - b).abs());
    }
}

/// The largest violation of constraints along a run, relative to what they are made of.
pub(crate) fn violation(dynamics: &mut Dynamics, run: &Trajectory) -> f64 {
    let system = dynamics.system().clone();
    if !system.facts().constrained {
        return 0.0;
    }
    let mut factors = ConstraintFactors::new(&system, 1);
    let (mut values, mut rates) =
        (vec![0.0; system.position_constraints()], vec![0.0; system.constraints().len()]);
    let (mut v, mut worst) = (vec![0.0; system.degrees()], 0.0_f64);
    let largest = |x: &[f64]| x.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
    for (t, y) in run.samples() {
        dynamics.violations(&[t], y, &mut values, &mut rates).unwrap();
        dynamics.velocities(&[t], y, &mut v).unwrap();
        factors.factor(dynamics, &[t], y).unwrap();
        for (found, size) in [(&values, largest(&y[..v.len()])), (&rates, largest(&v))] {
            for (k, value) in found.iter().enumerate() {
                assert!(value.is_finite());
                worst = worst.max(value.abs() / (factors.steepness(k, 0) * size));
            }
        }
    }
    worst
}

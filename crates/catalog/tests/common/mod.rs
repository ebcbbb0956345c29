//! What the tests share.
#![allow(dead_code)] // each test file uses a part
#![allow(clippy::unwrap_used)] // a test may panic

use leastaction_catalog::{Entry, Setup};
use leastaction_expr::Graph;
use leastaction_integrate::{Integrator, Trajectory};
use leastaction_mechanics::{Dynamics, State};

/// A catalog system at its start.
pub(crate) fn begin<'g>(graph: &'g Graph, name: &str) -> (Setup<'g>, Dynamics, State) {
    let setup = Entry::named(name).unwrap().setup(graph);
    let mut dynamics = setup.model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&setup.start()).unwrap();
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

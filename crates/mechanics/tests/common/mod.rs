//! What the tests share: a classical integrator, differences, comparisons.
pub(crate) mod zoo;

use leastaction_mechanics::{Dynamics, Model, State};

/// The dynamics of a model with its defaults.
pub(crate) fn dynamics(model: &Model<'_>) -> Dynamics {
    model.system().unwrap().dynamics().unwrap()
}

/// Classical Runge–Kutta steps from a state to a time.
pub(crate) fn run(dynamics: &mut Dynamics, start: &State, end: f64, steps: usize) -> State {
    let n = dynamics.system().degrees();
    let (h, mut y) = ((end - start.t) / steps as f64, start.block());
    let mut slope = vec![0.0; y.len()];
    for step in 0..steps {
        let t = start.t + step as f64 * h;
        let (mut at, mut sum) = (y.clone(), vec![0.0; y.len()]);
        for (part, weight) in [(0.0, 1.0), (0.5, 2.0), (0.5, 2.0), (1.0, 1.0)] {
            at.iter_mut().zip(y.iter().zip(&slope)).for_each(|(x, (y, k))| *x = y + part * h * k);
            dynamics.rates(&[t + part * h], &at, &mut slope).unwrap();
            sum.iter_mut().zip(&slope).for_each(|(s, k)| *s += weight * k);
        }
        y.iter_mut().zip(&sum).for_each(|(y, s)| *y += h / 6.0 * s);
    }
    State::from_block(end, &y, n)
}

/// The velocities of a state.
pub(crate) fn velocities(dynamics: &mut Dynamics, state: &State) -> Vec<f64> {
    let mut v = vec![0.0; state.q.len()];
    dynamics.velocities(&[state.t], &state.block(), &mut v).unwrap();
    v
}

/// H at a state.
pub(crate) fn energy(dynamics: &mut Dynamics, state: &State) -> f64 {
    let mut energy = [0.0];
    dynamics.hamiltonian(&[state.t], &state.block(), &mut energy).unwrap();
    energy[0]
}

/// The vector field at a state.
pub(crate) fn field(dynamics: &mut Dynamics, state: &State) -> Vec<f64> {
    let mut field = vec![0.0; state.q.len() + state.p.len()];
    dynamics.rates(&[state.t], &state.block(), &mut field).unwrap();
    field
}

/// Asserts that numbers agree, relative to the larger of 1 and their size.
#[track_caller]
pub(crate) fn assert_close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        let size = x.abs().max(y.abs()).max(1.0);
        assert!((x - y).abs() <= tolerance * size, "entry {i}: {x} and {y} differ by {:e}", (x - y).abs());
    }
}

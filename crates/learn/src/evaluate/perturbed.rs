//! The true motion, also from starts that were moved a little: what a prediction without any error of its own comes to, if its start is known no better.

use crate::data::{Dataset, GenerateError, Kind, Split, velocities};
use leastaction_expr::{Graph, Random};
use leastaction_integrate::{Ensemble, Integrator, Launch, Tolerance};
use leastaction_mechanics::{Dynamics, StartError};
use std::ops::ControlFlow;

/// So many samples of the motion of the model from the starts of the trajectories for tests, to which normal numbers of this size were added, and which were moved back onto the constraints;
/// of size 0, nothing is moved.
///
/// # Errors
/// [`GenerateError`] if one fails.
pub fn perturbed(
    dataset: &Dataset,
    samples: usize,
    size: f64,
    seed: u64,
    threads: usize,
) -> Result<Vec<f64>, GenerateError> {
    let graph = Graph::new();
    let problem = dataset.origin.source().problem(&graph, &dataset.origin.overrides())?;
    let dynamics = problem.dynamics.clone();
    let (d, dt) = (dataset.dimension(), dataset.dt);
    let truth = dataset.part(Split::Test);
    let count = dataset.split[Split::Test as usize];
    let starts = |index: u64, dynamics: &mut Dynamics, launch: &mut Launch| -> Result<(), StartError> {
        let mut random = Random::at(Random::mix(seed), index);
        let start = &truth[index as usize * dataset.samples * d..][..d];
        let z: Vec<f64> = start.iter().map(|z| z + size * random.normal()).collect();
        let y = &mut launch.state[..];
        y[..d / 2].copy_from_slice(&z[..d / 2]);
        dynamics.momenta(&[0.0], &z, &mut y[d / 2..])?;
        // What was measured is never quite on them.
        let off = size > 0.0 || dataset.kind == Kind::Measured;
        if off && dynamics.system().facts().constrained {
            dynamics.project(&[0.0], y)?;
        }
        Ok(())
    };
    let integrator = Integrator::named("dop853", Tolerance::relative(1e-11))?.spaced(dt);
    let ensemble = Ensemble::new(integrator, 0.0, dt * (samples - 1) as f64).threads(threads);
    let (mut blocks, mut failure) = (Vec::new(), None);
    ensemble.run(&dynamics, &starts, 0..count as u64, |chunk| {
        if let Some((number, why)) = chunk.failures.first() {
            failure = Some(GenerateError::Failed { number: *number, count: count as u64, why: why.clone() });
            return ControlFlow::Break(());
        }
        blocks.extend_from_slice(&chunk.samples);
        ControlFlow::Continue(())
    })?;
    match failure {
        Some(failure) => Err(failure),
        None => Ok(velocities(&mut dynamics.clone(), dt, samples, &blocks)?),
    }
}

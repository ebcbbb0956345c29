//! Datasets from any system, by an ensemble.

use super::{Dataset, Kind, Origin};
use leastaction_compile::LANES;
use leastaction_ensemble::{Launcher, SampleError, Sampling};
use leastaction_expr::{Graph, Random};
use leastaction_integrate::{Ensemble, Integrator, Launch, RunError, Starts as _, Tolerance, UnknownMethod};
use leastaction_mechanics::{Dynamics, EvalError};
use leastaction_simulate::{Overrides, PrepareError, Problem, Source};
use std::ops::ControlFlow;

/// Where trajectories begin.
#[derive(Clone, Debug)]
pub enum Starts {
    /// As the catalog draws starts of this system.
    Catalog,
    /// What is said of some coordinates, velocities and parameters, such as `th=uniform(-1,1)`; the others are as in the text.
    Sampled(Vec<String>),
}

/// What a dataset is to be.
#[derive(Clone, Debug)]
pub struct DatasetPlan {
    /// How many trajectories are for training, for validation and for tests.
    pub split: [usize; 3],
    /// How many samples each has, its start included.
    pub samples: usize,
    /// The time from sample to sample; if it is not given, a part of the span that the text says.
    pub dt: Option<f64>,
    /// Where they begin.
    pub starts: Starts,
    /// What is drawn differs from seed to seed.
    pub seed: u64,
    /// The standard deviation of the noise to add to what is for training and validation.
    pub noise: f64,
    /// The tolerance of the integration.
    pub tolerance: f64,
    /// In so many threads.
    pub threads: usize,
}

/// Why there is no dataset.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The model, or what is asked of it, is wrong.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// What is sampled is wrong.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// There is no such method.
    #[error(transparent)]
    Method(#[from] UnknownMethod),
    /// Trajectories cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Something cannot be computed of a state.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// The plan cannot be.
    #[error("{what} is {value}: it must be {range}")]
    Plan {
        /// What of the plan.
        what: &'static str,
        /// What it is.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// A trajectory failed.
    #[error("trajectory {number} of {count} failed: {why}; sample other starts, or a shorter span")]
    Failed {
        /// Which.
        number: u64,
        /// Of so many.
        count: u64,
        /// Why.
        why: String,
    },
    /// Parameters are sampled.
    #[error(
        "`{name}` is a parameter: trajectories of one dataset have the same parameters; sample coordinates and velocities"
    )]
    Parameter {
        /// The parameter.
        name: String,
    },
    /// It was interrupted.
    #[error("interrupted after {done} of {count} trajectories: nothing is written")]
    Interrupted {
        /// How many were done.
        done: u64,
        /// Of so many.
        count: u64,
    },
}

impl Dataset {
    /// Integrates trajectories of a system. It is told how much is done, and may break off.
    ///
    /// # Errors
    /// [`GenerateError`] if a trajectory fails, or what is asked for cannot be.
    pub fn generate(
        source: &Source,
        overrides: &Overrides,
        plan: &DatasetPlan,
        mut progress: impl FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Dataset, GenerateError> {
        let wrong = |what, value, range| Err(GenerateError::Plan { what, value, range });
        if plan.samples < 2 {
            return wrong("the number of samples", plan.samples as f64, "2 or more");
        }
        if plan.split[0] == 0 {
            return wrong("the number of trajectories for training", 0.0, "1 or more");
        }
        if !(plan.noise >= 0.0 && plan.noise.is_finite()) {
            return wrong("the noise", plan.noise, "0 or more");
        }
        let graph = Graph::new();
        let problem = source.problem(&graph, overrides)?;
        check_smooth(&problem)?;
        let dt = plan.dt.unwrap_or(problem.until / plan.samples as f64);
        if !(dt > 0.0 && dt.is_finite()) {
            return wrong("the time from sample to sample", dt, "positive");
        }
        let dynamics = problem.dynamics.clone();
        let system = dynamics.system().clone();
        let count: usize = plan.split.iter().sum();
        let end = dt * (plan.samples - 1) as f64;
        let integrator = Integrator::named("dop853", Tolerance::relative(plan.tolerance))?.spaced(dt);
        let ensemble = Ensemble::new(integrator, 0.0, end).threads(plan.threads);

        let mut drawn: Vec<Vec<f64>> = Vec::new();
        let launcher = match &plan.starts {
            Starts::Catalog => {
                let mut dynamics = dynamics.clone();
                for index in 0..count as u64 {
                    let seed = Random::at(plan.seed, index).bits();
                    drawn.push(source.draw(&mut dynamics, seed)?.block());
                }
                None
            }
            Starts::Sampled(texts) => {
                let sampling = Sampling::read(texts)?;
                let rest = problem.rest(overrides)?;
                let launcher = Launcher::new(&sampling, &dynamics, &rest, 0.0, count as u64, plan.seed)?;
                if let Some(place) = (0..launcher.names().len()).find(|&place| launcher.is_parameter(place)) {
                    let name = launcher.names().nth(place).unwrap_or_default().to_owned();
                    return Err(GenerateError::Parameter { name });
                }
                Some(launcher)
            }
        };
        let starts = |index: u64, dynamics: &mut Dynamics, launch: &mut Launch| match &launcher {
            Some(launcher) => launcher.launch(index, dynamics, launch),
            None => {
                launch.state.copy_from_slice(&drawn[index as usize]);
                Ok(())
            }
        };

        let mut blocks = Vec::with_capacity(count * plan.samples * system.dimension());
        let mut failure = None;
        let tally = ensemble.run(&dynamics, &starts, 0..count as u64, |chunk| {
            if let Some((number, why)) = chunk.failures.first() {
                failure =
                    Some(GenerateError::Failed { number: *number, count: count as u64, why: why.clone() });
                return ControlFlow::Break(());
            }
            blocks.extend_from_slice(&chunk.samples);
            progress((chunk.first + chunk.len() as u64) as f64 / count as f64)
        })?;
        if let Some(failure) = failure {
            return Err(failure);
        }
        if tally.interrupted {
            return Err(GenerateError::Interrupted { done: tally.trajectories, count: count as u64 });
        }
        let mut states = velocities(&mut dynamics.clone(), dt, plan.samples, &blocks)?;
        let (n, noisy) = (system.degrees(), plan.split[0] + plan.split[1]);
        let mut random = Random::new(Random::mix(!plan.seed));
        if plan.noise > 0.0 {
            let each = plan.samples * 2 * n;
            states[..noisy * each].iter_mut().for_each(|value| *value += plan.noise * random.normal());
        }
        let names = system.coordinates().iter().chain(system.velocities().iter());
        Ok(Dataset {
            origin: Origin::new(source, overrides),
            kind: Kind::Computed,
            names: names.collect(),
            dt,
            samples: plan.samples,
            split: plan.split,
            seed: plan.seed,
            noise: plan.noise,
            states,
        })
    }
}

/// Refuses a model whose events set something: no energy explains what they do.
pub(super) fn check_smooth(problem: &Problem<'_>) -> Result<(), PrepareError> {
    problem.check_no_resets("learned energies do", || "learn from a model without it".to_owned())
}

/// States \[q…, q̇…\] of state blocks \[q…, p…\], which are samples of trajectories one after the other.
pub(crate) fn velocities(
    dynamics: &mut Dynamics,
    dt: f64,
    samples: usize,
    blocks: &[f64],
) -> Result<Vec<f64>, EvalError> {
    let (n, d) = (dynamics.system().degrees(), dynamics.system().dimension());
    let mut states = blocks.to_vec();
    let (mut lanes, mut v) = (vec![0.0; d * LANES], vec![0.0; n * LANES]);
    for (group, part) in states.chunks_mut(d * LANES).enumerate() {
        let count = part.len() / d;
        // Lanes that are left over go with the last state.
        let mut t = [0.0; LANES];
        for lane in 0..LANES {
            let own = lane.min(count - 1);
            t[lane] = ((group * LANES + own) % samples) as f64 * dt;
            (0..d).for_each(|i| lanes[i * LANES + lane] = part[own * d + i]);
        }
        dynamics.velocities(&t, &lanes, &mut v)?;
        for lane in 0..count {
            (0..n).for_each(|i| part[lane * d + n + i] = v[i * LANES + lane]);
        }
    }
    Ok(states)
}

/// The state block \[q…, p…\] of a state \[q…, q̇…\].
pub(crate) fn momenta(dynamics: &mut Dynamics, t: f64, state: &[f64]) -> Result<Vec<f64>, EvalError> {
    let mut y = state.to_vec();
    let n = dynamics.system().degrees();
    dynamics.momenta(&[t], state, &mut y[n..])?;
    Ok(y)
}

//! Datasets from one's own trajectories: tables of samples, or arrays of NumPy.
//!
//! | file | what it has |
//! |---|---|
//! | `.csv`, `.npz` with columns | `t`, each coordinate of the model and its velocity by name (`th`, `th'`), and perhaps `trajectory`, which says whose sample a row is; what else there is, is not read |
//! | `.npz` with arrays | `z` of (trajectories, samples, numbers of a state), coordinates before velocities, or `q` and `v` of (trajectories, samples, coordinates); and `t` of (samples), or `dt` |

use super::generate::check_smooth;
use super::{Dataset, Kind, Origin, momenta, table};
use leastaction_expr::{Graph, Random};
use leastaction_mechanics::{Dynamics, EvalError};
use leastaction_simulate::{Overrides, PrepareError, Source};
use std::path::PathBuf;

/// Times may be off an even spacing by so much of it: files round them.
const UNEVEN: f64 = 0.02;

/// Data may be off the constraints by so much of their size.
const OFF: f64 = 0.1;

/// Velocities may be more, or less, than the rates of positions by this factor.
const FACTOR: f64 = 2.0;

/// What is to be made of files.
#[derive(Clone, Debug)]
pub struct MeasuredPlan {
    /// The files.
    pub files: Vec<PathBuf>,
    /// Trajectories are cut into pieces of so many samples; if it is not given, of 100, or as many as the shortest has.
    pub samples: Option<usize>,
    /// The time from sample to sample, where the file does not say it.
    pub dt: Option<f64>,
    /// How many pieces are for training, validation and tests: what is not given is a tenth for each of the last two, and the rest for training.
    pub split: [Option<usize>; 3],
    /// Trajectories are dealt out in an order that differs from seed to seed.
    pub seed: u64,
    /// Whether velocities are taken from differences of positions.
    pub differences: bool,
}

/// Samples of one trajectory, as a file has them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Raw {
    /// Where it is from, in words.
    pub(super) name: String,
    /// The times, if the file says them.
    pub(super) times: Vec<f64>,
    /// States \[q…, q̇…\], or \[q…\] if velocities are to be found.
    pub(super) states: Vec<f64>,
}

/// What was found, besides the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Findings {
    /// How many trajectories there were.
    pub trajectories: usize,
    /// How many samples at their ends, and pieces, are left out.
    pub left_out: usize,
    /// How far data are off the constraints, by their size, in the mean of squares; nothing without constraints.
    pub off: Option<f64>,
}

/// Why files are no data.
#[derive(Debug, thiserror::Error)]
pub enum MeasuredError {
    /// The model is wrong.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// Something cannot be computed of a state.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// A file cannot be read.
    #[error("cannot read `{}`: {what}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        what: String,
    },
    /// A column, or an array, is missing.
    #[error("`{}` has no {what}; it has {}; {remedy}", .path.display(), .there.join(", "))]
    Missing {
        /// The file.
        path: PathBuf,
        /// What.
        what: String,
        /// What it has.
        there: Vec<String>,
        /// What to do.
        remedy: String,
    },
    /// An array has another shape.
    #[error("`{name}` in `{}` has the shape {found:?}, and {expected} are expected", .path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// The array.
        name: String,
        /// Its shape.
        found: Vec<usize>,
        /// What it should be.
        expected: String,
    },
    /// A number is missing, or is not finite.
    #[error("{place}: `{name}` is {value}: give a finite number, or leave the trajectory out")]
    Value {
        /// Where.
        place: String,
        /// Of what.
        name: String,
        /// What stands there.
        value: String,
    },
    /// Times are not evenly spaced.
    #[error(
        "{name}: from sample {sample} to the next it takes {found:?}, and {dt:?} on average: times must be even; interpolate to even ones, or cut the trajectory there"
    )]
    Uneven {
        /// The trajectory.
        name: String,
        /// The sample before.
        sample: usize,
        /// How long it takes.
        found: f64,
        /// The mean.
        dt: f64,
    },
    /// Trajectories have other spacings.
    #[error(
        "samples of {name} are {found:?} apart, and those of {first} {dt:?}: all trajectories must have the same spacing"
    )]
    Spacing {
        /// The trajectory.
        name: String,
        /// Its spacing.
        found: f64,
        /// The first one.
        first: String,
        /// Its spacing.
        dt: f64,
    },
    /// Nothing says when samples were taken.
    #[error(
        "{name} does not say when samples were taken: give `t`, or the time from sample to sample (--every)"
    )]
    NoTimes {
        /// The trajectory.
        name: String,
    },
    /// Two say it.
    #[error(
        "samples are {found:?} apart by the times in the files, and {asked:?} are asked for (--every): leave it out"
    )]
    Times {
        /// By the files.
        found: f64,
        /// As asked for.
        asked: f64,
    },
    /// A trajectory is too short.
    #[error("{name} has {found} samples, and at least {needed} are needed")]
    Short {
        /// The trajectory.
        name: String,
        /// How many it has.
        found: usize,
        /// How many are needed.
        needed: usize,
    },
    /// More is asked for than there is.
    #[error(
        "{asked} trajectories are asked for, {training} of them for training, and there are {found} of {samples} samples: ask for fewer, at least one for training, or cut trajectories into shorter pieces (--samples)"
    )]
    Few {
        /// How many are asked for.
        asked: usize,
        /// Of these for training.
        training: usize,
        /// How many there are.
        found: usize,
        /// Of so many samples.
        samples: usize,
    },
    /// Velocities are not the rates of positions.
    #[error(
        "velocities are not the rates of positions: `{name}` changes {factor:.2} times as fast as `{rate}` says; are they in other units, or times, or in another order?"
    )]
    Rates {
        /// The coordinate.
        name: String,
        /// The velocity.
        rate: String,
        /// By how much.
        factor: f64,
    },
    /// Data do not obey the constraints.
    #[error(
        "the data do not obey the constraints of the model: on average they are {off:.2} of their size away from where it lets them be, and sample {sample} of {name} is the farthest; check lengths (--set), units and the origin"
    )]
    Constraints {
        /// By how much they are off.
        off: f64,
        /// The worst sample,
        sample: usize,
        /// of this trajectory.
        name: String,
    },
    /// A configuration cannot be.
    #[error(
        "sample {sample} of {name} cannot be moved onto the constraints of the model: check lengths (--set), units and the origin"
    )]
    Impossible {
        /// The sample,
        sample: usize,
        /// of this trajectory.
        name: String,
    },
}

impl Dataset {
    /// Data of one's own, for a model that says what their numbers are and what is known. Its energies need not be those of the truth.
    ///
    /// # Errors
    /// [`MeasuredError`] says what is wrong with them, where, and what to do.
    pub fn measured(
        source: &Source,
        overrides: &Overrides,
        plan: &MeasuredPlan,
    ) -> Result<(Dataset, Findings), MeasuredError> {
        let graph = Graph::new();
        let problem = source.problem(&graph, overrides)?;
        check_smooth(&problem)?;
        let mut dynamics = problem.dynamics;
        let system = dynamics.system().clone();
        let names: Vec<String> = system.coordinates().iter().chain(system.velocities().iter()).collect();
        let n = system.degrees();
        let mut raw = Vec::new();
        for path in &plan.files {
            raw.extend(table::read(path, &names, plan.differences)?);
        }
        let dt = spacing(&raw, plan.dt)?;
        if plan.differences {
            raw.iter_mut().try_for_each(|raw| differentiate(raw, n, dt))?;
        }
        check_rates(&raw, &names, dt)?;
        let off = match system.facts().constrained {
            true => Some(off_constraints(&mut dynamics, &raw)?),
            false => None,
        };

        let trajectories = raw.len();
        let length = |raw: &Raw| raw.states.len() / (2 * n);
        let shortest = raw.iter().map(length).min().unwrap_or(0);
        let samples = plan.samples.unwrap_or(shortest.min(100));
        if let Some(short) = raw.iter().find(|raw| length(raw) < samples.max(2)) {
            let (name, found) = (short.name.clone(), length(short));
            return Err(MeasuredError::Short { name, found, needed: samples.max(2) });
        }
        // Pieces of one trajectory stay together, so that those for tests are of others, as far as there are any.
        let mut random = Random::new(Random::mix(plan.seed));
        for i in (1..raw.len()).rev() {
            raw.swap(i, random.below(i + 1));
        }
        let each = samples.max(2) * 2 * n;
        let pieces = raw.iter().flat_map(|raw| raw.states.chunks_exact(each));
        let mut states: Vec<f64> = pieces.flatten().copied().collect();
        let count = states.len() / each;
        let split = split(plan.split, count, samples)?;
        states.truncate(split.iter().sum::<usize>() * each);
        let all: usize = raw.iter().map(|raw| raw.states.len()).sum();
        let left_out = (all - states.len()) / (2 * n);
        let dataset = Dataset {
            origin: Origin::new(source, overrides),
            kind: Kind::Measured,
            names,
            dt,
            samples: samples.max(2),
            split,
            seed: plan.seed,
            noise: 0.0,
            states,
        };
        Ok((dataset, Findings { trajectories, left_out, off }))
    }
}

/// The time from sample to sample.
fn spacing(all: &[Raw], asked: Option<f64>) -> Result<f64, MeasuredError> {
    let mut first: Option<(&str, f64)> = None;
    for raw in all {
        let name = || raw.name.clone();
        if raw.times.is_empty() {
            if asked.is_none() {
                return Err(MeasuredError::NoTimes { name: name() });
            }
            continue;
        }
        let count = raw.times.len();
        if count < 2 {
            return Err(MeasuredError::Short { name: name(), found: count, needed: 2 });
        }
        let dt = (raw.times[count - 1] - raw.times[0]) / (count - 1) as f64;
        for (sample, pair) in raw.times.windows(2).enumerate() {
            let even = |sample: usize| raw.times[0] + dt * sample as f64;
            let apart = (pair[1] - even(sample + 1)).abs();
            if !(dt > 0.0 && apart <= UNEVEN * dt) {
                // Where the clock differs most from even steps, not where the sum of it shows.
                let step = |&k: &usize| (raw.times[k + 1] - raw.times[k] - dt).abs();
                let worst = (0..count - 1).max_by(|a, b| step(a).total_cmp(&step(b))).unwrap_or(sample);
                let found = raw.times[worst + 1] - raw.times[worst];
                return Err(MeasuredError::Uneven { name: name(), sample: worst, found, dt });
            }
        }
        match first {
            None => first = Some((&raw.name, dt)),
            Some((of, other)) if (dt - other).abs() > 1e-3 * other => {
                let first = of.to_owned();
                return Err(MeasuredError::Spacing { name: name(), found: dt, first, dt: other });
            }
            Some(_) => {}
        }
    }
    match (first, asked) {
        (Some((_, found)), Some(asked)) if (found - asked).abs() > 1e-3 * found => {
            Err(MeasuredError::Times { found, asked })
        }
        (Some((_, found)), asked) => Ok(asked.unwrap_or(found)),
        (None, Some(asked)) => Ok(asked),
        (None, None) => Err(MeasuredError::NoTimes { name: "no file".to_owned() }),
    }
}

/// Velocities by differences of five positions, of order 4; two samples at each end are lost.
fn differentiate(raw: &mut Raw, n: usize, dt: f64) -> Result<(), MeasuredError> {
    let count = raw.states.len() / n;
    if count < 6 {
        return Err(MeasuredError::Short { name: raw.name.clone(), found: count, needed: 6 });
    }
    let x = |sample: usize, i: usize| raw.states[sample * n + i];
    let mut states = Vec::with_capacity(2 * raw.states.len());
    for k in 2..count - 2 {
        states.extend((0..n).map(|i| x(k, i)));
        states.extend(
            (0..n).map(|i| (8.0 * (x(k + 1, i) - x(k - 1, i)) - (x(k + 2, i) - x(k - 2, i))) / (12.0 * dt)),
        );
    }
    raw.states = states;
    raw.times = raw.times.get(2..count - 2).map(<[f64]>::to_vec).unwrap_or_default();
    Ok(())
}

/// Velocities that are not the rates of positions are in other units, or of something else. Medians pass over angles that jump by a turn, and noise.
fn check_rates(all: &[Raw], names: &[String], dt: f64) -> Result<(), MeasuredError> {
    let (d, n) = (names.len(), names.len() / 2);
    let squares = |i: usize| {
        let values = all.iter().flat_map(|raw| raw.states.iter().skip(i).step_by(d));
        let (sum, count) = values.fold((0.0, 0.0), |(sum, count), v| (sum + v * v, count + 1.0));
        f64::sqrt(sum / f64::max(count, 1.0))
    };
    let sizes: Vec<f64> = (n..d).map(squares).collect();
    for i in 0..n {
        let mut ratios = Vec::new();
        for raw in all {
            let states: Vec<&[f64]> = raw.states.chunks_exact(d).collect();
            for three in states.windows(3) {
                let (rate, velocity) = ((three[2][i] - three[0][i]) / (2.0 * dt), three[1][n + i]);
                if velocity.abs() > 0.5 * sizes[i] {
                    ratios.push(rate / velocity);
                }
            }
        }
        ratios.sort_by(f64::total_cmp);
        // A few say nothing.
        let factor = if ratios.len() < 10 { 1.0 } else { ratios[ratios.len() / 2] };
        if !(1.0 / FACTOR..=FACTOR).contains(&factor) {
            let (name, rate) = (names[i].clone(), names[n + i].clone());
            return Err(MeasuredError::Rates { name, rate, factor });
        }
    }
    Ok(())
}

/// How far positions are off the constraints, by their size, in the mean of squares.
fn off_constraints(dynamics: &mut Dynamics, all: &[Raw]) -> Result<f64, MeasuredError> {
    let (d, n) = (dynamics.system().dimension(), dynamics.system().degrees());
    let (mut sum, mut count, mut worst) = (0.0, 0.0, (0.0, 0, ""));
    for raw in all {
        for (sample, state) in raw.states.chunks_exact(d).enumerate() {
            let t = raw.times.get(sample).copied().unwrap_or(0.0);
            let mut y = momenta(dynamics, t, state)?;
            let moved = dynamics.project(&[t], &mut y);
            if moved.is_err() || y.iter().any(|value| !value.is_finite()) {
                return Err(MeasuredError::Impossible { sample, name: raw.name.clone() });
            }
            let apart: f64 = state[..n].iter().zip(&y).map(|(a, b)| (a - b) * (a - b)).sum();
            let size: f64 = state[..n].iter().zip(&y).map(|(a, b)| a * a + b * b).sum::<f64>() / 2.0;
            let off = if apart == 0.0 { 0.0 } else { apart / size };
            sum += off;
            count += 1.0;
            if off > worst.0 {
                worst = (off, sample, &raw.name);
            }
        }
    }
    let off = f64::sqrt(sum / f64::max(count, 1.0));
    match off > OFF {
        true => Err(MeasuredError::Constraints { off, sample: worst.1, name: worst.2.to_owned() }),
        false => Ok(off),
    }
}

/// How many pieces are for what.
fn split(asked: [Option<usize>; 3], count: usize, samples: usize) -> Result<[usize; 3], MeasuredError> {
    let tenth = match count {
        0..=2 => 0,
        _ => (count / 10).max(1),
    };
    let [validation, test] = [asked[1].unwrap_or(tenth), asked[2].unwrap_or(tenth)];
    let training = asked[0].unwrap_or(count.saturating_sub(validation.saturating_add(test)));
    let sum = training.saturating_add(validation).saturating_add(test);
    match sum > count || training == 0 {
        true => Err(MeasuredError::Few { asked: sum, training, found: count, samples }),
        false => Ok([training, validation, test]),
    }
}

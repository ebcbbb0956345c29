//! From a model and data to a fit.

use crate::data::{Recording, RecordingError};
use crate::error::FitError;
use crate::fitted::{Derivatives, Estimate, Fit, FittedChannel, FittedRecording};
use crate::hints;
use crate::judge::{Doubt, Normal, Undetermined};
use crate::levenberg::{Limits, Misfit};
use crate::misfit::Horizon;
use crate::plan::{Free, Plan};
use crate::search::{Search, SearchResult};
use crate::shooting::{Row, Shooting, Shot, Target};
use crate::watch::Watch;
use leastaction_expr::{Graph, nearest};
use leastaction_integrate::{Card, Integrator, Kind, Tolerance};
use leastaction_linear::singular_values;
use leastaction_simulate::{Method, Overrides, Problem, Source};
use std::sync::atomic::AtomicBool;

/// The method of runs with a reverse pass, unless it does not suit the system.
const USUAL: &str = "dop853";
const TOLERANCE: f64 = 1e-10;
fn usual() -> &'static Card {
    Card::named(USUAL).unwrap_or_else(|_| unreachable!("the method is one of all"))
}
/// It may take this many times the steps of an implicit method.
const EXPLICIT_STEPS: u64 = 50;

/// The number of pieces of smooth curves.
const CURVE: usize = 600;

/// Velocities at the start are guessed from this number of values.
const FIRST_VALUES: usize = 6;

/// Finds parameters and starts with which a model moves as was measured.
///
/// # Errors
/// [`FitError`] if the model or the data cannot be used. Data that the model does not explain, or that do not tell all unknowns, are no error: see [`Fit::is_sound`].
pub fn fit(
    source: &Source,
    recordings: &[Recording],
    plan: &Plan,
    overrides: &Overrides,
) -> Result<Fit, FitError> {
    let watch = Watch { interrupted: &AtomicBool::new(false), progress: &|_| {} };
    fit_watched(source, recordings, plan, overrides, &watch)
}

/// The same, watched: until a flag is set, and with what it tells before each run.
///
/// # Errors
/// As [`fit`]; [`FitError::Interrupted`] if the flag is set.
pub fn fit_watched(
    source: &Source,
    recordings: &[Recording],
    plan: &Plan,
    overrides: &Overrides,
    watch: &Watch<'_>,
) -> Result<Fit, FitError> {
    if recordings.is_empty() {
        return Err(FitError::NoData);
    }
    recordings.iter().try_for_each(Recording::check)?;
    let channels = channels(recordings);
    let times = || recordings.iter().map(Recording::measured_times);
    let span = times().map(|times| times[times.len() - 1] - times[0]).fold(0.0, f64::max);
    let last = times().map(|times| times[times.len() - 1]).fold(0.0, f64::max);
    let overrides = Overrides {
        until: Some(if plan.known_start || !plan.known.is_empty() { last.max(span) } else { span }),
        outputs: channels.iter().map(|what| (what.clone(), what.clone())).collect(),
        ..overrides.clone()
    };
    let graph = Graph::new();
    let mut problem = source.problem(&graph, &overrides)?;
    let free = free_parameters(&problem, plan)?;
    problem.check_sampled(free.iter().map(|free| free.name.as_str()), &overrides)?;
    // Of events, those count that change the motion. They are observed before anything that is measured, so that all runs know them.
    problem.setup.events.retain(|event| event.stop || !event.sets.is_empty());
    let any = problem.with_events(Integrator::new(usual(), Tolerance::relative(TOLERANCE)))?;
    let mut fitting = Fitting::new(&problem, &overrides, any, plan, &free, &channels, watch)?;
    let integrator = fitting.method(&problem, &overrides, recordings)?;
    fitting.shooting.integrate_by(integrator);
    let result = fitting.search(recordings, true)?;
    let mut fit = fitting.fit(&result, source)?;
    fit.about.clone_from(&problem.setup.about);
    let pattern = |doubt: &Doubt| matches!(doubt, Doubt::Unexplained { .. } | Doubt::Pattern { .. });
    if plan.hints && fit.doubts.iter().any(pattern) {
        fit.hints = hints::find(&mut fitting, recordings, &fit, &result)?;
    }
    Ok(fit)
}

/// Which names can be measured of a model, and its coordinates: expressions of the state with derivatives, but not parameters.
///
/// # Errors
/// [`FitError::Prepare`] if the model cannot be prepared.
pub fn measurable(
    source: &Source,
    names: &[String],
    overrides: &Overrides,
) -> Result<(Vec<bool>, Vec<String>), FitError> {
    let graph = Graph::new();
    let problem = source.problem(&graph, overrides)?;
    let mut dynamics = problem.dynamics.clone();
    let system = dynamics.system().clone();
    let (t, block) = (problem.start.t, problem.start.block());
    let is_measurable = |name: &String| {
        let is_parameter = system.parameters().iter().any(|(other, _)| other == name);
        let is_number = graph.parse(name).is_ok_and(|value| value.as_number().is_some());
        let observed =
            dynamics.observable(name.as_str()).ok().filter(|_| name != "t" && !is_parameter && !is_number);
        observed.is_some_and(|what| {
            dynamics.observable_slopes(what, t, &block).is_ok_and(|slopes| slopes.is_some())
        })
    };
    Ok((names.iter().map(is_measurable).collect(), system.coordinates().iter().collect()))
}

/// All that is measured, in the order in which it comes.
fn channels(recordings: &[Recording]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for channel in recordings.iter().flat_map(|recording| &recording.channels) {
        if !all.contains(&channel.what) {
            all.push(channel.what.clone());
        }
    }
    all
}

/// The parameters that are free, with limits for all.
fn free_parameters(problem: &Problem<'_>, plan: &Plan) -> Result<Vec<Free>, FitError> {
    let parameters = problem.dynamics.system().parameters();
    let all = || parameters.iter().map(|(name, _)| Free::named(name)).collect();
    let free: Vec<Free> = if plan.free.is_empty() { all() } else { plan.free.clone() };
    for (i, Free { name, limits }) in free.iter().enumerate() {
        let Some(place) = parameters.iter().position(|(other, _)| other == name) else {
            let parameters: Vec<String> = parameters.iter().map(|(name, _)| name.clone()).collect();
            let nearest = nearest(name, parameters.iter().map(String::as_str));
            return Err(FitError::NoParameter { name: name.clone(), nearest, parameters });
        };
        if free[..i].iter().any(|other| other.name == *name) {
            return Err(FitError::Twice { name: name.clone() });
        }
        let value = problem.dynamics.parameters()[place];
        if let Some([low, high]) = limits.filter(|[low, high]| value < *low || value > *high) {
            return Err(FitError::Outside { name: name.clone(), value, low, high });
        }
    }
    Ok(free)
}

/// A model with its unknowns, to be fitted to recordings.
pub(crate) struct Fitting<'p, 'g> {
    pub(crate) shooting: Shooting<'p, 'g>,
    free: Vec<Free>,
    channels: Vec<String>,
    begin: Option<f64>,
    iterations: usize,
    /// What was searched last.
    search: Option<Search>,
}

impl<'p, 'g> Fitting<'p, 'g> {
    fn new(
        problem: &'p Problem<'g>,
        overrides: &Overrides,
        integrator: Integrator,
        plan: &Plan,
        free: &[Free],
        channels: &[String],
        watch: &'p Watch<'p>,
    ) -> Result<Fitting<'p, 'g>, FitError> {
        let mut shooting = Shooting::new(problem, &overrides.start, integrator, watch);
        for what in channels {
            let observed = shooting.dynamics().observable(what.as_str());
            let observable = observed.map_err(|source| FitError::Observe { what: what.clone(), source })?;
            shooting.channels.push((what.clone(), observable));
        }
        let system = problem.dynamics.system();
        let place = |free: &Free| system.parameters().iter().position(|(name, _)| *name == free.name);
        shooting.free = free.iter().filter_map(place).collect();
        let names: Vec<String> = (0..system.dimension()).map(|place| shooting.start_name(place)).collect();
        if let Some(name) = plan.known.iter().find(|name| !names.contains(name)) {
            return Err(FitError::NoStart { name: name.clone(), names });
        }
        shooting.starting.retain(|&place| !(plan.known_start || plan.known.contains(&names[place])));
        if shooting.free.is_empty() && shooting.starting.is_empty() {
            return Err(FitError::NothingFree);
        }
        let begin = (shooting.starting.len() < system.dimension()).then_some(0.0);
        Ok(Fitting {
            shooting,
            free: free.to_vec(),
            channels: channels.to_vec(),
            begin,
            iterations: plan.iterations.max(1),
            search: None,
        })
    }

    /// The method for the motion that is guessed first: the model's own start, from which methods are chosen otherwise, may be another one.
    fn method(
        &mut self,
        problem: &Problem<'g>,
        overrides: &Overrides,
        recordings: &[Recording],
    ) -> Result<Integrator, FitError> {
        let target = |recording: &Recording| Target::new(recording, &self.channels, self.begin);
        self.shooting.targets = recordings.iter().map(target).collect();
        self.check_count()?;
        let (guess, plain) = self.guess()?;
        let mut problem = problem.clone();
        let begun = self.shooting.state(0, &guess).or_else(|_| self.shooting.state(0, &plain));
        problem.start = begun.map_err(|miss| miss.first(&self.shooting, 0))?;
        problem.until = problem.start.t + overrides.until.unwrap_or(1.0);
        let Method { integrator, why } = problem.method(overrides)?;
        let facts = problem.dynamics.system().facts();
        if why.is_some() && integrator.card().kind == Kind::Implicit && usual().needs.met_by(facts) {
            // Explicit steps go back much faster than implicit ones, if they are not very many.
            let steps = |integrator: &Integrator| {
                let ran = integrator.clone().ends_only().run(
                    &mut problem.dynamics.clone(),
                    &problem.start,
                    problem.until,
                );
                ran.ok().map(|run| run.work().steps)
            };
            let most = EXPLICIT_STEPS * steps(&integrator).unwrap_or(1000) + EXPLICIT_STEPS;
            let explicit =
                Integrator::new(usual(), Tolerance::relative(TOLERANCE)).longest_step(integrator.bounds().1);
            if steps(&explicit.clone().at_most(most)).is_some() {
                return Ok(self.with_events(explicit.at_most(integrator.bounds().0)));
            }
        }
        Ok(self.with_events(integrator))
    }

    /// Another integrator with the same events.
    fn with_events(&self, integrator: Integrator) -> Integrator {
        self.shooting.integrator().events().iter().cloned().fold(integrator, Integrator::event)
    }

    /// The least squares of recordings.
    pub(crate) fn search(
        &mut self,
        recordings: &[Recording],
        widely: bool,
    ) -> Result<SearchResult, FitError> {
        let target = |recording: &Recording| Target::new(recording, &self.channels, self.begin);
        self.shooting.targets = recordings.iter().map(target).collect();
        if let Some(target) = self.shooting.targets.iter().find(|target| target.times[0] < target.begin) {
            return Err(FitError::Before { recording: target.name.clone(), t: target.times[0] });
        }
        let spreads = self.spreads()?;
        self.check_count()?;
        let limits = self.limits();
        let (guess, plain) = self.guess()?;
        // Measured starts that do not meet the constraints are not used.
        let fails = |shooting: &mut Shooting<'p, 'g>, guess: &[f64]| {
            (0..shooting.targets.len()).any(|target| shooting.shoot(target, guess, 1).is_err())
        };
        let guess = if guess != plain && fails(&mut self.shooting, &guess) { plain } else { guess };
        let search = Search { guess, limits, spreads, iterations: self.iterations, widely };
        let result = search.run(&mut self.shooting);
        self.search = Some(search);
        result
    }

    /// How much of the variance of the data is left, with these unknowns.
    pub(crate) fn unexplained(&mut self, x: &[f64]) -> Option<f64> {
        let spreads = self.search.as_ref()?.spreads.clone();
        let rows: usize = self.shooting.targets.iter().map(|target| target.rows.len()).sum();
        let cost = Horizon::new(&mut self.shooting, &spreads, 1.0).try_at(x).ok()??;
        Some(cost / rows as f64)
    }

    /// The standard deviation of the values of each channel.
    fn spreads(&self) -> Result<Vec<f64>, FitError> {
        let spread = |(c, what): (usize, &String)| {
            let rows = || self.shooting.targets.iter().flat_map(|t| &t.rows).filter(|row| row.channel == c);
            let count = rows().count();
            let mean = rows().map(|row| row.value).sum::<f64>() / count.max(1) as f64;
            let variance = rows().map(|row| (row.value - mean).powi(2)).sum::<f64>() / count.max(1) as f64;
            let given: Vec<f64> = rows().filter_map(|row| row.sigma).collect();
            let first = rows().next().map(|row| row.value);
            let stands_still = rows().all(|row| Some(row.value) == first);
            if !stands_still && variance.is_normal() {
                return Ok(variance.sqrt());
            }
            match given.is_empty() {
                false => Ok(given.iter().sum::<f64>() / given.len() as f64),
                true if count > 1 => {
                    let value = rows().map(|row| row.value).next().unwrap_or(0.0);
                    Err(RecordingError::Constant { what: what.clone(), rows: count, value }.into())
                }
                true => Ok(if mean == 0.0 { 1.0 } else { mean.abs() }),
            }
        };
        self.channels.iter().enumerate().map(spread).collect()
    }

    fn check_count(&self) -> Result<(), FitError> {
        let shooting = &self.shooting;
        let measured: usize = shooting.targets.iter().map(|target| target.rows.len()).sum();
        let names = self.names();
        match measured <= names.len() {
            true => Err(FitError::TooFew { measured, unknowns: names.len(), names }),
            false => Ok(()),
        }
    }

    /// The names of all unknowns.
    fn names(&self) -> Vec<String> {
        let shooting = &self.shooting;
        let starts = shooting.starting.iter().map(|&place| shooting.start_name(place));
        let starts: Vec<String> = starts.collect();
        let each = |target: usize| {
            let several = shooting.targets.len() > 1;
            let named = move |name: &String| match several {
                true => format!("{name} of recording {}", target + 1),
                false => format!("{name} at the start"),
            };
            starts.iter().map(named).collect::<Vec<_>>()
        };
        let parameters = self.free.iter().map(|free| free.name.clone());
        parameters.chain((0..shooting.targets.len()).flat_map(each)).collect()
    }

    fn limits(&self) -> Limits {
        let values = self.shooting.parameters(&[]);
        let each = self.free.iter().zip(&self.shooting.free).map(|(free, &place)| match free.limits {
            Some(limits) => limits,
            None if values[place] > 0.0 => [0.0, f64::INFINITY],
            None if values[place] < 0.0 => [f64::NEG_INFINITY, 0.0],
            None => [f64::NEG_INFINITY, f64::INFINITY],
        });
        let (mut low, mut high): (Vec<f64>, Vec<f64>) = each.map(|[low, high]| (low, high)).unzip();
        low.resize(self.shooting.count(), f64::NEG_INFINITY);
        high.resize(self.shooting.count(), f64::INFINITY);
        Limits { low, high }
    }

    /// The first guess: what the model says, with starts as they were measured; and without these.
    fn guess(&mut self) -> Result<(Vec<f64>, Vec<f64>), FitError> {
        let values = self.shooting.parameters(&[]);
        let mut plain: Vec<f64> = self.shooting.free.iter().map(|&place| values[place]).collect();
        let mut guess = plain.clone();
        for target in 0..self.shooting.targets.len() {
            let begin = self.shooting.targets[target].begin;
            let stated =
                self.shooting.stated_numbers(begin).map_err(|miss| miss.first(&self.shooting, target))?;
            for &place in &self.shooting.starting {
                plain.push(stated[place]);
                guess.push(self.measured_start(target, place).unwrap_or(stated[place]));
            }
        }
        Ok((guess, plain))
    }

    /// A number of the start as it was measured.
    fn measured_start(&self, target: usize, place: usize) -> Option<f64> {
        let target = &self.shooting.targets[target];
        // A start that is not where data begin is not measured.
        (target.begin == target.times[0]).then_some(())?;
        let name = self.shooting.start_name(place);
        let of = |name: &str| -> Option<Vec<[f64; 2]>> {
            let channel = self.channels.iter().position(|what| what == name)?;
            let rows = target.rows.iter().filter(|row| row.channel == channel).take(FIRST_VALUES);
            Some(rows.map(|row| [target.times[row.sample], row.value]).collect())
        };
        if let Some(first) = of(&name).and_then(|rows| rows.first().copied()) {
            return Some(first[1]);
        }
        let rows = of(name.strip_suffix('\'')?)?;
        let mean = |k: usize| rows.iter().map(|row| row[k]).sum::<f64>() / rows.len() as f64;
        let (t, x) = (mean(0), mean(1));
        let along: f64 = rows.iter().map(|row| (row[0] - t) * (row[1] - x)).sum();
        let length: f64 = rows.iter().map(|row| (row[0] - t).powi(2)).sum();
        (length > 0.0).then(|| along / length)
    }

    /// The result of a search.
    fn fit(&mut self, result: &SearchResult, source: &Source) -> Result<Fit, FitError> {
        let Some(search) = self.search.take() else { unreachable!("a fit follows a search") };
        let names = self.names();
        let shots = (0..self.shooting.targets.len()).map(|target| {
            let samples = self.shooting.targets[target].times.len();
            self.shooting.shoot(target, &result.x, samples).map_err(|miss| miss.first(&self.shooting, target))
        });
        let shots = shots.collect::<Result<Vec<Shot>, FitError>>()?;
        let mut horizon = Horizon::new(&mut self.shooting, &result.noise, 1.0).with_given();
        horizon.current = Some((result.x.clone(), shots));
        let Some(rows) = horizon.linear()? else { return Err(FitError::Overflow) };
        let Some((_, shots)) = horizon.current.take() else { unreachable!("the shots were put there") };
        let by_differences = self.shooting.differences.is_some();
        let mut normal = Normal::new(&rows, &result.x, &search.limits, by_differences);
        self.leave_redundant(&mut normal, &shots);
        let measured: usize = self.shooting.targets.iter().map(|target| target.rows.len()).sum();
        let given = self.shooting.targets.iter().flat_map(|t| &t.rows).all(|row| row.sigma.is_some());
        let freedom = measured.saturating_sub(normal.rank);
        // Noise that is known is not estimated.
        let width = if given { Fit::width(1 << 24) } else { Fit::width(freedom) };
        let (k, s, n) = (self.free.len(), self.shooting.starting.len(), names.len());
        let estimate = |i: usize| {
            let value = result.x[i];
            let error = normal.tells(i).then(|| normal.covariance[i * n + i].sqrt());
            Estimate {
                name: if i < k {
                    names[i].clone()
                } else {
                    self.shooting.start_name(self.shooting.starting[(i - k) % s])
                },
                recording: (i >= k).then(|| (i - k) / s.max(1)),
                guess: search.guess[i],
                value,
                error,
                interval: error.map(|error| [value - width * error, value + width * error]),
                at_limit: normal.at_limit[i],
            }
        };
        let estimates = (0..n).map(estimate).collect();
        let undetermined = Undetermined::new(&normal.undetermined, &names, &result.x, k);
        let channels =
            (0..self.channels.len()).map(|c| self.fitted_channel(c, result, &search, &shots)).collect();
        let mut recordings = Vec::with_capacity(shots.len());
        for (target, shot) in shots.iter().enumerate() {
            let curve = self.curve(target, &result.x);
            recordings.push(fitted_recording(
                &self.shooting.targets[target],
                shot,
                self.channels.len(),
                curve,
            ));
        }
        let system = self.shooting.dynamics().system().clone();
        let parameters = system.parameters().iter().map(|(name, _)| name.clone());
        let integrator = self.shooting.integrator();
        let mut fit = Fit {
            system: source.name.clone(),
            about: String::new(),
            method: format!("{}, {}", integrator.card().name, integrator.pace()),
            derivatives: match &self.shooting.differences {
                None => Derivatives::Adjoint,
                Some(why) => Derivatives::Differences { why: why.clone() },
            },
            estimates,
            covariance: normal.covariance,
            parameters: parameters.zip(self.shooting.parameters(&result.x)).collect(),
            channels,
            recordings,
            measured,
            freedom,
            iterations: result.iterations,
            runs: self.shooting.runs,
            undetermined,
            doubts: Vec::new(),
            hints: Vec::new(),
        };
        fit.doubts = Doubt::all(&fit, result.converged);
        self.search = Some(search);
        Ok(fit)
    }

    /// What the motion gives of each channel at many times, for a smooth curve.
    fn curve(&mut self, target: usize, x: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (channels, mut fine) = (self.channels.len(), self.shooting.targets[target].clone());
        let (first, last) = (fine.begin.min(fine.times[0]), fine.times[fine.times.len() - 1]);
        let time =
            |i: usize| if i == CURVE { last } else { first + (last - first) * i as f64 / CURVE as f64 };
        fine.times = (0..=CURVE).map(time).collect();
        let row = |place: usize| Row {
            sample: place / channels,
            channel: place % channels,
            value: 0.0,
            sigma: None,
        };
        fine.rows = (0..(CURVE + 1) * channels).map(row).collect();
        let kept = std::mem::replace(&mut self.shooting.targets[target], fine);
        let shot = self.shooting.shoot(target, x, CURVE + 1);
        let fine = std::mem::replace(&mut self.shooting.targets[target], kept);
        match shot {
            Ok(shot) => {
                let of = |c: usize| shot.predicted.iter().skip(c).step_by(channels).copied().collect();
                (fine.times, (0..channels).map(of).collect())
            }
            // A quantity that cannot be computed everywhere has no curve.
            Err(_) => (Vec::new(), vec![Vec::new(); channels]),
        }
    }

    /// Directions that constraints do not allow do not count as undetermined.
    fn leave_redundant(&mut self, normal: &mut Normal, shots: &[Shot]) {
        if normal.undetermined.is_empty() || !self.shooting.dynamics().system().facts().constrained {
            return;
        }
        let (k, s, m) = (self.shooting.free.len(), self.shooting.starting.len(), normal.undetermined.len());
        let mut effects: Vec<f64> = Vec::new();
        for i in 0..k {
            effects.extend(normal.undetermined.iter().map(|direction| direction[i]));
        }
        for (target, shot) in shots.iter().enumerate() {
            let Ok(slopes) = self.shooting.start_slopes(target, shot) else { return };
            for row in slopes.chunks_exact((k + s).max(1)) {
                let effect = |direction: &Vec<f64>| -> f64 {
                    let own = direction[..k].iter().chain(&direction[k + target * s..][..s]);
                    row.iter().zip(own).map(|(slope, d)| slope * d).sum()
                };
                effects.extend(normal.undetermined.iter().map(effect));
            }
        }
        let Some(parts) = singular_values(&effects, m) else { return };
        let lengths = normal.undetermined.iter().flatten().map(|d| d * d).sum::<f64>().sqrt();
        let real = parts.values.iter().take_while(|sigma| **sigma > 1e-6 * lengths).count();
        let mixed = |k: usize| -> Vec<f64> {
            let right = &parts.right[k * m..][..m];
            let sum = |i: usize| {
                right.iter().zip(&normal.undetermined).map(|(v, direction)| v * direction[i]).sum()
            };
            (0..normal.undetermined[0].len()).map(sum).collect()
        };
        normal.undetermined = (0..real).map(mixed).collect();
    }

    fn fitted_channel(
        &self,
        c: usize,
        result: &SearchResult,
        search: &Search,
        shots: &[Shot],
    ) -> FittedChannel {
        let (mut squares, mut scaled, mut neighbours, mut rows) = (0.0, 0.0, 0.0, 0usize);
        let (mut outliers, mut outlier_at, mut sigmas, mut given) = (0, None, 0.0, true);
        for (target, shot) in self.shooting.targets.iter().zip(shots) {
            let mut before: Option<f64> = None;
            let both = target.rows.iter().zip(&shot.predicted).filter(|(row, _)| row.channel == c);
            for (row, predicted) in both {
                let (residual, noise) = (row.value - predicted, row.sigma.unwrap_or(result.noise[c]));
                given &= row.sigma.is_some();
                squares += residual * residual;
                scaled += (residual / noise).powi(2);
                sigmas += noise;
                neighbours += before.map_or(0.0, |before| before * residual);
                before = Some(residual);
                rows += 1;
                if residual.abs() > Doubt::OUTSIDE * noise {
                    outliers += 1;
                    outlier_at = outlier_at.or(Some(target.times[row.sample]));
                }
            }
        }
        let count = rows.max(1) as f64;
        let rms = (squares / count).sqrt();
        FittedChannel {
            what: self.channels[c].clone(),
            rows,
            rms,
            relative: rms / search.spreads[c],
            sigma: sigmas / count,
            given,
            ratio: (scaled / count).sqrt(),
            correlation: if squares > 0.0 { neighbours / squares } else { 0.0 },
            outliers,
            outlier_at,
        }
    }
}

fn fitted_recording(
    target: &Target,
    shot: &Shot,
    channels: usize,
    curve: (Vec<f64>, Vec<Vec<f64>>),
) -> FittedRecording {
    let blank = || [vec![f64::NAN; target.times.len()], vec![f64::NAN; target.times.len()]];
    let mut columns: Vec<[Vec<f64>; 2]> = (0..channels).map(|_| blank()).collect();
    for (row, predicted) in target.rows.iter().zip(&shot.predicted) {
        let [data, fit] = &mut columns[row.channel];
        (data[row.sample], fit[row.sample]) = (row.value, *predicted);
    }
    FittedRecording {
        name: target.name.clone(),
        begin: target.begin,
        times: target.times.clone(),
        channels: columns,
        curve,
    }
}

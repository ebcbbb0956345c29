//! Studies: a system, starts that are drawn, and what is kept of the trajectories.

use crate::reduce::{Bound, Context, Courses, Follower, Overview, ReduceError, Reduction, Summary, View};
use crate::results::{Harvest, Results};
use crate::sample::{Launcher, Rest, SampleError, Sampling, Span};
use crate::store::{Manifest, Part, Shard, Store, StoreError};
use leastaction_compile::LANES;
use leastaction_integrate::checksum;
use leastaction_integrate::{Chunk, Ensemble, Failed, Integrator, Launch, RunError, Starts};
use leastaction_mechanics::{Dynamics, State};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Many trajectories of one system: how they start, how they run, and what is kept of them.
///
/// ```
/// # use leastaction_expr::Graph;
/// # use leastaction_mechanics::Model;
/// use leastaction_ensemble::{Stats, Study};
/// use leastaction_integrate::Integrator;
///
/// # let graph = Graph::new();
/// # let mut model = Model::new(&graph);
/// # let x = model.coordinate("x");
/// # model.particle("ball", 1.0, [x]);
/// # model.gravity([-9.81]);
/// let dynamics = model.system()?.dynamics()?;
/// let throws = Study::new(Integrator::named("verlet", 0.1)?, 1.0)
///     .sampling(["x'=latin(4, 6)"])?
///     .reducing(["stats(x)", "histogram(x, -1, 1, 20)"])?
///     .count(1000)
///     .seed(7);
/// let results = throws.run(&dynamics, |_| ())?;
/// let stats = results.summary::<Stats>(0).unwrap();
/// let (_, heights) = stats.list().next().unwrap();
/// assert!(heights.count() == 1000 && (heights.mean() - (5.0 - 9.81 / 2.0)).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Study {
    integrator: Integrator,
    start: f64,
    end: f64,
    sampling: Sampling,
    rest: Rest,
    count: Option<u64>,
    seed: u64,
    reductions: Vec<Reduction>,
    events: Vec<String>,
    chunk: Option<u64>,
    threads: Option<usize>,
    lanes: bool,
    shard: Shard,
    directory: Option<PathBuf>,
    from: Option<f64>,
    notes: Vec<(String, String)>,
    stop: Arc<AtomicBool>,
}

/// Why a study cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// Starts cannot be sampled.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// Trajectories cannot be reduced.
    #[error(transparent)]
    Reduce(#[from] ReduceError),
    /// No trajectory could be run like this.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Chunks cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How far a study has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Trajectories that are done, those found on disk too.
    pub done: u64,
    /// Of how many.
    pub total: u64,
    /// Those that failed, of those that were run now.
    pub failed: u64,
    /// Trajectories in a second.
    pub rate: f64,
    /// How long the rest takes at this rate.
    pub left: Option<Duration>,
}

impl Study {
    /// Trajectories from time 0 to an end.
    #[must_use]
    pub fn new(integrator: Integrator, end: f64) -> Study {
        Study {
            integrator,
            start: 0.0,
            end,
            sampling: Sampling::default(),
            rest: Rest::default(),
            count: None,
            seed: 0,
            reductions: Vec::new(),
            events: Vec::new(),
            chunk: None,
            threads: None,
            lanes: true,
            shard: Shard::WHOLE,
            directory: None,
            from: None,
            notes: Vec::new(),
            stop: Arc::default(),
        }
    }

    /// Draws starts and parameters by texts such as `x=uniform(-1,1)`: see [`Sampling`].
    ///
    /// # Errors
    /// [`SampleError`] says what is wrong with which text.
    pub fn sampling<T: AsRef<str>>(self, texts: impl IntoIterator<Item = T>) -> Result<Study, SampleError> {
        Ok(Study { sampling: Sampling::read(texts)?, ..self })
    }

    /// Starts with these values where nothing is drawn.
    #[must_use]
    pub fn starting(self, rest: Rest) -> Study {
        Study { rest, ..self }
    }

    /// Keeps what texts such as `stats(x)` say: see [`Reduction`]. When samples are taken is up to the integrator, if it takes them
    /// [at times](Integrator::at) or [spaced](Integrator::spaced).
    ///
    /// # Errors
    /// [`ReduceError`] if there is no such reduction.
    pub fn reducing<T: AsRef<str>>(self, texts: impl IntoIterator<Item = T>) -> Result<Study, ReduceError> {
        let reductions: Result<_, _> = texts.into_iter().map(|text| text.as_ref().parse()).collect();
        Ok(Study { reductions: reductions?, ..self })
    }

    /// Sets the number of trajectories; by default that of the points of grids, or of the rows of files.
    #[must_use]
    pub fn count(self, count: u64) -> Study {
        Study { count: Some(count), ..self }
    }

    /// Draws other values.
    #[must_use]
    pub fn seed(self, seed: u64) -> Study {
        Study { seed, ..self }
    }

    /// Begins at another time than 0.
    #[must_use]
    pub fn beginning_at(self, start: f64) -> Study {
        Study { start, ..self }
    }

    /// Leaves out samples and events before a time: what is transient.
    #[must_use]
    pub fn counting_from(self, t: f64) -> Study {
        Study { from: Some(t), ..self }
    }

    /// Names the integrator's events, in their order, for reductions to speak of.
    #[must_use]
    pub fn events<N: Into<String>>(self, names: impl IntoIterator<Item = N>) -> Study {
        Study { events: names.into_iter().map(Into::into).collect(), ..self }
    }

    /// Sets the number of threads; by default as many as the machine can run at once.
    #[must_use]
    pub fn threads(self, threads: usize) -> Study {
        Study { threads: Some(threads), ..self }
    }

    /// Runs trajectories eight at a time in each thread, or one by one.
    #[must_use]
    pub fn in_lanes(self, lanes: bool) -> Study {
        Study { lanes, ..self }
    }

    /// Sets the number of trajectories of a chunk, which are reduced and kept together.
    #[must_use]
    pub fn chunk(self, trajectories: u64) -> Study {
        Study { chunk: Some(trajectories.max(1)), ..self }
    }

    /// Runs only a part of it, to be merged with the others.
    #[must_use]
    pub fn shard(self, shard: Shard) -> Study {
        Study { shard, ..self }
    }

    /// Keeps chunks in a directory, and goes on with what is there.
    #[must_use]
    pub fn kept_in(self, directory: &Path) -> Study {
        Study { directory: Some(directory.to_owned()), ..self }
    }

    /// Says what is run, by a word: the name of the system, its text. Who goes on with a study, or merges parts of it, must say the same. Of long texts,
    /// a check is enough.
    #[must_use]
    pub fn note(mut self, word: &str, what: &str) -> Study {
        const LONG: usize = 256;
        let what = match what.len() > LONG {
            true => format!("{} bytes, check {:016x}", what.len(), checksum(what.bytes())),
            false => what.to_owned(),
        };
        self.notes.push((word.to_owned(), what));
        self
    }

    /// Breaks off soon after this becomes true. Chunks that are done are kept.
    #[must_use]
    pub fn stopped_by(self, stop: Arc<AtomicBool>) -> Study {
        Study { stop, ..self }
    }

    /// How many trajectories there are in all.
    ///
    /// # Errors
    /// [`SampleError`] if sampling and count do not go together.
    pub fn total(&self) -> Result<u64, SampleError> {
        self.sampling.count(self.count)
    }

    /// Runs it, and tells how far it has come after each chunk.
    ///
    /// # Errors
    /// [`StudyError`] if it cannot be run. Trajectories that fail are counted, and do not end it.
    pub fn run(&self, dynamics: &Dynamics, mut watch: impl FnMut(&Progress)) -> Result<Results, StudyError> {
        let mut dynamics = dynamics.clone();
        let plan = Plan::new(self, &mut dynamics)?;
        let store =
            self.directory.as_deref().map(|directory| Store::begin(directory, &plan.manifest)).transpose()?;
        let (there, damaged) =
            store.as_ref().map_or(Ok(Default::default()), |store| store.whole(&plan.chunks))?;
        let mut harvest = Harvest::new(plan.bound, self.events.len());
        let mut clock = Clock::new(&plan.chunks, &there, plan.chunk, plan.count);
        // Nobody looks at samples that no reduction keeps.
        let integrator = match plan.keeps_samples {
            true => self.integrator.clone(),
            false => self.integrator.clone().ends_only(),
        };
        let mut ensemble = Ensemble::new(integrator, self.start, self.end)
            .chunk(plan.chunk)
            .in_lanes(self.lanes)
            .observing(&plan.observed)
            .stopped_by(self.stop.clone());
        if let Some(threads) = self.threads {
            ensemble = ensemble.threads(threads);
        }
        let mut follower = Follower::new(&dynamics, plan.followed, plan.times);
        let from = (self.from.unwrap_or(self.start), self.end < self.start);
        let mut interrupted = false;
        for chunks in gaps(&plan.chunks, &there) {
            let indices = chunks.start * plan.chunk..(chunks.end * plan.chunk).min(plan.count);
            let mut failed = None;
            let tally = ensemble.run(&dynamics, &plan.launcher, indices, |chunk| {
                let mut view = View { chunk, launcher: &plan.launcher, from, courses: Courses::default() };
                view.courses = follower.courses(&view);
                let parts = harvest.reduce(&view);
                let kept = match &store {
                    Some(store) => store.write(chunk.first / plan.chunk, &parts),
                    None => harvest.take(parts),
                };
                clock.pass(chunk);
                watch(&clock.progress());
                match kept {
                    Ok(()) if !self.stop.load(Ordering::Relaxed) => ControlFlow::Continue(()),
                    Ok(()) => ControlFlow::Break(()),
                    Err(error) => {
                        failed = Some(error);
                        ControlFlow::Break(())
                    }
                }
            })?;
            if let Some(error) = failed {
                return Err(error.into());
            }
            if tally.interrupted && clock.progress().done < clock.progress().total {
                interrupted = true;
                break;
            }
        }
        if let Some(store) = &store {
            for number in store.numbers()?.into_iter().filter(|number| plan.chunks.contains(number)) {
                match store.read(number) {
                    // It would have been run again.
                    Err(StoreError::Damaged { .. }) if interrupted => {}
                    found => harvest.take_stored(found?)?,
                }
            }
        }
        let Progress { done, total, .. } = clock.progress();
        let mut results = Results::new(harvest, plan.manifest, done, total, interrupted);
        results.damaged = damaged;
        Ok(results)
    }
}

/// A study that is bound to a system.
struct Plan {
    launcher: Launcher,
    bound: Vec<(Reduction, Bound)>,
    observed: Vec<leastaction_mechanics::Observable>,
    /// What is followed over all samples, and when these are taken.
    followed: Vec<leastaction_mechanics::Observable>,
    times: Vec<f64>,
    count: u64,
    chunk: u64,
    /// Whether samples are kept.
    keeps_samples: bool,
    /// The chunks of the shard.
    chunks: Range<u64>,
    manifest: Manifest,
}

impl Plan {
    fn new(study: &Study, dynamics: &mut Dynamics) -> Result<Plan, StudyError> {
        let count = study.total()?;
        let launcher = Launcher::new(&study.sampling, dynamics, &study.rest, study.start, count, study.seed)?;
        let system = dynamics.system().clone();
        let sampled = (0..study.sampling.list.len()).filter(|&place| launcher.is_parameter(place));
        let keeps_samples = study.reductions.iter().any(Reduction::keeps_samples);
        let times = match keeps_samples {
            true => study.integrator.sample_times(&system, study.start, study.end)?,
            false => Vec::new(),
        };
        let numbers = (times.len() * system.dimension()) as u64;
        let grids = study.sampling.list.iter().filter(|named| matches!(named.law.span(), Span::Grid(_)));
        let mut context = Context {
            states: system.coordinates().iter().chain(system.momenta()).collect(),
            events: study.events.clone(),
            sampled: sampled.map(|place| (study.sampling.list[place].name.clone(), place)).collect(),
            grids: Sampling { list: grids.cloned().collect() },
            count,
            times,
            observed: Vec::new(),
            followed: Vec::new(),
            dynamics: Some(dynamics),
        };
        let mut bound = Vec::new();
        for reduction in &study.reductions {
            bound.push((reduction.clone(), reduction.bind(&mut context)?));
        }
        if count > 1 && !study.sampling.varies() {
            let name = system.coordinates().at(0);
            return Err(SampleError::Same { count, name }.into());
        }
        let chunk = study.chunk.unwrap_or_else(|| {
            let usual = usual_chunk(count, numbers, study.shard);
            // Fewer than lanes would leave some idle, and a trial costs more than it saves.
            let few = usual <= LANES as u64;
            // Nor are there more files than a directory bears.
            let least = count.div_ceil(1 << 16);
            if few {
                usual
            } else {
                usual.min(soon_done(study, &launcher, context.dynamics.as_deref()).max(least))
            }
        });
        let entries = entries(study, &context, chunk);
        let observed = context.observed.iter().map(|(_, observable)| *observable).collect();
        let followed = context.followed.iter().map(|(_, observable)| *observable).collect();
        let times = context.times;
        let chunks = study.shard.chunks(count.div_ceil(chunk));
        let manifest = Manifest::new(entries, study.shard);
        if study.directory.is_none() {
            check_memory(&bound, count)?;
        }
        Ok(Plan { launcher, bound, observed, followed, times, count, chunk, keeps_samples, chunks, manifest })
    }
}

/// Refuses rows that are too many for memory, where that is known before.
fn check_memory(bound: &[(Reduction, Bound)], count: u64) -> Result<(), ReduceError> {
    const MOST: f64 = 4e9;
    for (reduction, bound) in bound {
        let Bound::Rows(rows) = bound else { continue };
        let Some(most) = rows.at_most(count) else { continue };
        let bytes = 8.0 * most as f64 * rows.columns().len() as f64;
        if bytes > MOST {
            return Err(ReduceError::Memory { text: reduction.to_string(), gigabytes: 1e-9 * bytes });
        }
    }
    Ok(())
}

/// How many trajectories are in a chunk: enough chunks for all threads of a large machine, and no more files than needed. Where samples of so many
/// numbers are taken of each, a chunk fits into 16 MB; where there are shards, each has four at least, so that all have about as much to do.
fn usual_chunk(count: u64, numbers: u64, shard: Shard) -> u64 {
    const ROOM: u64 = 1 << 21;
    let whole = (count / 1024).next_power_of_two().clamp(64, 8192).min(ROOM / numbers.max(1));
    let part = if shard.of() > 1 { count / shard.of().saturating_mul(4) } else { whole };
    whole.min(part).max(1)
}

/// How many trajectories one thread has done in about a second, so that an early interruption does not lose everything. It is judged by the work of the first one, not
/// by a clock: shards and resumed studies must find the same number.
fn soon_done(study: &Study, launcher: &Launcher, dynamics: Option<&Dynamics>) -> u64 {
    const SECOND: f64 = 1e9;
    /// The largest number of steps of the trial.
    const STEPS: u64 = 2000;
    /// Nanoseconds of an evaluation, and what each number of the state adds to it; a step costs as much as some more of them.
    const EVALUATION: [f64; 2] = [50.0, 20.0];
    const STEP: f64 = 8.0;
    let Some(mut dynamics) = dynamics.cloned() else { return u64::MAX };
    let integrator = study.integrator.clone().ends_only();
    let all = match integrator.steps_between(study.start, study.end) {
        Ok(Some(steps)) => STEP * steps as f64,
        _ => {
            let mut launch = Launch { state: Vec::new(), parameters: dynamics.parameters().to_vec() };
            if launcher.launch(0, &mut dynamics, &mut launch).is_err()
                || dynamics.set_parameters(&launch.parameters).is_err()
            {
                return u64::MAX;
            }
            let (q, p) = launch.state.split_at(dynamics.system().degrees());
            let state = State { t: study.start, q: q.to_vec(), p: p.to_vec() };
            let trajectory =
                match integrator
                    .at_most(STEPS)
                    .run_watched(&mut dynamics, &state, study.end, |_| ControlFlow::Continue(()))
                {
                    Ok(trajectory) => trajectory,
                    Err(Failed { trajectory: Some(kept), .. }) => *kept,
                    Err(_) => return u64::MAX,
                };
            let work = trajectory.work();
            let part = ((trajectory.end().t - study.start) / (study.end - study.start)).abs();
            // What an event ended, others end with, too.
            let whole = if work.steps < STEPS { 1.0 } else { part.max(1e-9) };
            (work.evaluations as f64 + STEP * (work.steps + work.rejected) as f64) / whole
        }
    };
    let [once, each] = EVALUATION;
    let cost = all * (once + each * dynamics.system().dimension() as f64);
    let soon = (SECOND / cost.max(1.0)).clamp(LANES as f64, 8192.0) as u64;
    // A power of two, so that the number does not hang on details.
    if soon.is_power_of_two() { soon } else { soon.next_power_of_two() / 2 }
}

/// All that the results depend on, in words.
fn entries(study: &Study, context: &Context<'_>, chunk: u64) -> Vec<(String, String)> {
    let mut entries = vec![("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned())];
    entries.extend(study.notes.iter().cloned());
    let mut say = |key: &str, value: String| entries.push((key.to_owned(), value));
    say("states", context.states.join(" "));
    if let Some(dynamics) = &context.dynamics {
        let names = dynamics.system().parameters().iter().map(|(name, _)| name);
        let parameters: Vec<String> =
            names.zip(dynamics.parameters()).map(|(name, value)| format!("{name}={value:?}")).collect();
        say("parameters", parameters.join(" "));
    }
    study.rest.texts().into_iter().for_each(|text| say("start", text));
    say("method", study.integrator.card().name.to_owned());
    say("pace", study.integrator.pace().to_string());
    let (steps, longest) = study.integrator.bounds();
    say("bounds", format!("{steps} steps, of {longest:?} at most"));
    say("from", format!("{:?}", study.start));
    say("until", format!("{:?}", study.end));
    study.events.iter().for_each(|event| say("event", event.clone()));
    for named in &study.sampling.list {
        let content = named.law.content().map_or(String::new(), |check| format!(" with check {check:016x}"));
        say("sample", format!("{named}{content}"));
    }
    context.grids.list.iter().for_each(|named| say("grid", named.to_string()));
    context.sampled.iter().for_each(|(name, place)| say("drawn", format!("{name} {place}")));
    say("seed", study.seed.to_string());
    say("count", context.count.to_string());
    say("chunk", chunk.to_string());
    if let (Some(first), Some(last)) = (context.times.first(), context.times.last()) {
        let check = checksum(context.times.iter().flat_map(|t| t.to_le_bytes()));
        say("samples", format!("{} from {first:?} to {last:?}, check {check:016x}", context.times.len()));
    }
    study.from.iter().for_each(|from| say("counting from", format!("{from:?}")));
    study.reductions.iter().for_each(|reduction| say("reduce", reduction.to_string()));
    entries
}

/// The runs of chunks that are not there.
pub(crate) fn gaps(chunks: &Range<u64>, there: &[u64]) -> Vec<Range<u64>> {
    let (mut gaps, mut begin) = (Vec::new(), chunks.start);
    for &number in there.iter().chain([&chunks.end]) {
        if begin < number {
            gaps.push(begin..number);
        }
        begin = number + 1;
    }
    gaps
}

/// How far it has come, and how fast.
struct Clock {
    begun: Instant,
    stored: u64,
    run: u64,
    total: u64,
    failed: u64,
}

impl Clock {
    fn new(chunks: &Range<u64>, there: &[u64], chunk: u64, count: u64) -> Clock {
        let size = |number: u64| (count - number * chunk).min(chunk);
        let total = (chunks.end * chunk).min(count) - (chunks.start * chunk).min(count);
        let stored = there.iter().map(|&number| size(number)).sum();
        Clock { begun: Instant::now(), stored, run: 0, total, failed: 0 }
    }

    fn pass(&mut self, chunk: &Chunk) {
        self.run += chunk.len() as u64;
        self.failed += chunk.failures.len() as u64;
    }

    fn progress(&self) -> Progress {
        let rate = self.run as f64 / self.begun.elapsed().as_secs_f64().max(1e-9);
        let done = self.stored + self.run;
        let left = (self.total - done) as f64 / rate;
        let left = Duration::try_from_secs_f64(left).ok().filter(|_| self.run > 0);
        Progress { done, total: self.total, failed: self.failed, rate, left }
    }
}

/// What a reduction makes of a chunk.
pub(crate) fn reduced(bound: &Bound, view: &View<'_>) -> Part {
    let mut part = Part::default();
    match bound {
        Bound::Summary(blank) => {
            let mut summary = blank();
            summary.take(view);
            summary.save(&mut part.summary);
        }
        Bound::Rows(rows) => {
            part.columns = vec![Vec::with_capacity(view.chunk.len()); rows.columns().len()];
            rows.fill(view, &mut part.columns);
        }
    }
    part
}

/// How the trajectories of a chunk ended.
pub(crate) fn overview(events: usize, view: &View<'_>) -> Part {
    let mut overview = Overview::new(events);
    overview.take(view);
    let mut part = Part::default();
    overview.save(&mut part.summary);
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_of_a_size_to_handle() {
        let of = |n| Shard::new(1, n).unwrap_or(Shard::WHOLE);
        assert_eq!(
            [100, 1 << 20, 1 << 40].map(|count| usual_chunk(count, 0, Shard::WHOLE)),
            [64, 1024, 8192]
        );
        assert_eq!([4_000, 1 << 22].map(|numbers| usual_chunk(1 << 40, numbers, Shard::WHOLE)), [524, 1]);
        assert_eq!([2, 4, 1000].map(|n| usual_chunk(100, 0, of(n))), [12, 6, 1]);
        assert_eq!(usual_chunk(1 << 20, 0, of(32)), 1024);
    }

    #[test]
    fn gaps_are_what_is_not_there() {
        assert_eq!(gaps(&(2..9), &[]), std::iter::once(2..9).collect::<Vec<_>>());
        assert_eq!(gaps(&(2..9), &[2, 3, 5, 8]), [4..5, 6..8]);
        assert_eq!(gaps(&(2..5), &[2, 3, 4]), []);
        assert_eq!(gaps(&(0..0), &[]), []);
    }
}

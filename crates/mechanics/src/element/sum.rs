//! Sums over elements: one kernel over [`Parts`], whose results are added to the coordinates that elements read, or to one total, or kept.
//!
//! For one state, lanes are elements, and threads share the parts; for lanes of states, elements come one after the other. A sum is defined
//! by the elements alone, so that it has the same bits in all these ways: a part adds up what blocks of eight elements give to a
//! coordinate in their order, in a block slot by slot, and in a slot element by element; and a coordinate adds up its parts. A total adds
//! up in a part every eighth element, these eight sums, and then the parts.

use super::map::Lanes;
use super::parts::Parts;
use super::worker::{Worker, grown};
use crate::engine::wrong_length;
use crate::error::EvalError;
use crate::parameters::{Parameters, Revision};
use leastaction_compile::{Evaluator, Kernel, LANES};
use rayon_core::in_place_scope;
use std::sync::{Arc, Mutex, PoisonError};

/// With so many parts, threads share them: what they gain then is many times what it takes to wake them.
const SHARED: usize = 6;

/// What becomes of the results of an element.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Into {
    /// They are added to the coordinates that it reads, slot by slot.
    Coordinates,
    /// The one result is added to one total.
    Total,
    /// They are kept, one element after the other.
    Each,
}

/// A kernel of \[slots of every array…, constants…, what all elements share…\], run over elements.
pub(crate) struct ElementSum {
    pub(crate) kernel: Kernel,
    pub(crate) parts: Arc<Parts>,
    /// How many arrays are read by the same indices, such as states and directions.
    pub(crate) arrays: usize,
    /// The parameters of the kernel, among those of the system.
    pub(crate) parameters: Vec<u32>,
    pub(crate) into: Into,
}

impl ElementSum {
    /// The same kernel over the same elements.
    pub(crate) fn again(&self) -> ElementSum {
        let (kernel, parts, parameters) = (self.kernel.clone(), self.parts.clone(), self.parameters.clone());
        ElementSum { kernel, parts, arrays: self.arrays, parameters, into: self.into }
    }

    /// The same kernel over the same elements, with the results kept.
    fn of_each(&self) -> ElementSum {
        ElementSum { into: Into::Each, ..self.again() }
    }

    fn elements(&self) -> usize {
        (0..self.parts.len()).map(|part| self.parts.part(part).elements).sum()
    }

    pub(super) fn results(&self) -> usize {
        self.kernel.program().outputs().len()
    }

    pub(super) fn own(&self, parameters: &[f64]) -> Vec<f64> {
        self.parameters.iter().map(|&place| parameters[place as usize]).collect()
    }
}

/// A sum with parameters and the working memory of threads.
#[derive(Clone)]
pub(crate) struct SumEvaluator {
    sum: Arc<ElementSum>,
    worker: Worker,
    /// What it has for eight states, where these do not all have the parameters of single ones.
    apart: Option<Box<Evaluator>>,
    /// Of the other threads, as soon as there are any.
    others: Vec<Worker>,
    threads: usize,
    /// What parts add up, if threads share them.
    sums: Vec<f64>,
    totals: Vec<f64>,
}

impl SumEvaluator {
    /// The result of each element of one state.
    pub(crate) fn each(
        &self,
        states: &[f64],
        shared: &[f64],
        parameters: &Parameters,
    ) -> Result<Vec<f64>, EvalError> {
        let mut each = SumEvaluator::new(&Arc::new(self.sum.of_each()), parameters)?;
        let mut results = vec![0.0; self.sum.elements()];
        each.eval(Lanes::whole(1), &[states], shared, &mut results)?;
        Ok(results)
    }

    pub(crate) fn new(sum: &Arc<ElementSum>, parameters: &Parameters) -> Result<SumEvaluator, EvalError> {
        let mut evaluator = SumEvaluator {
            sum: sum.clone(),
            worker: Worker::new(sum, parameters.single())?,
            apart: None,
            others: Vec::new(),
            threads: if sum.parts.len() < SHARED { 1 } else { available_threads() },
            sums: Vec::new(),
            totals: Vec::new(),
        };
        parameters.pass(&mut Revision::default(), |lane, values| match lane {
            None => Ok(()),
            Some(lane) => evaluator.set_parameters_in(lane, values),
        })?;
        Ok(evaluator)
    }

    pub(crate) fn instructions(&self) -> usize {
        self.sum.kernel.program().body().len()
    }

    /// Has so many threads share the elements of single states, whatever their number.
    pub(crate) fn set_threads(&mut self, threads: usize) {
        self.threads = threads.clamp(1, self.sum.parts.len().max(1));
        self.others.truncate(self.threads - 1);
    }

    pub(crate) fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), EvalError> {
        self.apart = None;
        let own = self.sum.own(parameters);
        let mut workers = std::iter::once(&mut self.worker).chain(&mut self.others);
        workers.try_for_each(|worker| worker.evaluator.set_parameters(&own)).map_err(wrong_length)
    }

    pub(crate) fn set_parameters_in(&mut self, lane: usize, parameters: &[f64]) -> Result<(), EvalError> {
        let apart = self.apart.get_or_insert_with(|| Box::new(self.worker.evaluator.clone()));
        apart.set_parameters_in(lane, &self.sum.own(parameters)).map_err(wrong_length)
    }

    /// Evaluates all elements: `arrays` are read by index, `shared` has a row for each number that all elements share. Sums are added to
    /// what is there.
    pub(crate) fn eval(
        &mut self,
        lanes: Lanes,
        arrays: &[&[f64]],
        shared: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        debug_assert_eq!(arrays.len(), self.sum.arrays);
        match (lanes.width, self.sum.parts.run()) {
            (1, 3) => self.eval_single::<3>(arrays, shared, out),
            (1, 2) => self.eval_single::<2>(arrays, shared, out),
            (1, _) => self.eval_single::<1>(arrays, shared, out),
            _ => self.eval_lanes(lanes, arrays, shared, out),
        }
    }

    /// One state: lanes are elements, whose slots are read in runs of so many.
    fn eval_single<const RUN: usize>(
        &mut self,
        arrays: &[&[f64]],
        shared: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        let (sum, parts) = (&*self.sum, &*self.sum.parts);
        if self.threads > 1 && parts.len() > 1 {
            return self.eval_shared::<RUN>(arrays, shared, out);
        }
        let mut total = 0.0;
        for part in (0..parts.len()).map(|part| parts.part(part)) {
            let each = sum.results();
            let kept = if sum.into == Into::Each { &mut out[part.first * each..] } else { &mut [] };
            total += self.worker.eval::<RUN>(sum, part, arrays, shared, kept)?;
            if sum.into == Into::Coordinates {
                for (x, &place) in self.worker.added.iter().zip(part.places) {
                    out[place as usize] += x;
                }
            }
        }
        if sum.into == Into::Total {
            out[0] += total;
        }
        Ok(())
    }

    /// The same on several threads.
    fn eval_shared<const RUN: usize>(
        &mut self,
        arrays: &[&[f64]],
        shared: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        let SumEvaluator { sum, worker, others, threads, sums, totals, .. } = self;
        let (sum, parts) = (&**sum, &*sum.parts);
        while others.len() + 1 < *threads {
            others.push(worker.clone());
        }
        let each = sum.results();
        let adds = sum.into == Into::Coordinates;
        let sums = grown(sums, if adds { RUN * parts.runs() } else { 0 });
        let totals = grown(totals, parts.len());
        // Each part has its own places to write to, and goes to the thread that asks first.
        let (mut sums_left, mut totals_left) = (&mut *sums, &mut *totals);
        let mut kept_left = if sum.into == Into::Each { &mut *out } else { &mut [] };
        let mut numbers = 0..parts.len();
        let tasks = Mutex::new(std::iter::from_fn(move || {
            let number = numbers.next()?;
            let part = parts.part(number);
            let sums = sums_left.split_off_mut(..if adds { part.places.len() } else { 0 })?;
            let kept =
                kept_left.split_off_mut(..if kept_left.is_empty() { 0 } else { part.elements * each })?;
            let total = totals_left.split_off_first_mut()?;
            Some((part, sums, kept, total))
        }));
        let work = |worker: &mut Worker| {
            loop {
                let task = tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((part, sums, kept, total)) = task else { return Ok(()) };
                *total = worker.eval::<RUN>(sum, part, arrays, shared, kept)?;
                sums.copy_from_slice(&worker.added[..sums.len()]);
            }
        };
        let mut failed: Vec<Result<(), EvalError>> = others.iter().map(|_| Ok(())).collect();
        let mut mine = Ok(());
        // The threads are kept from call to call: starting them would take as long as thousands of elements.
        in_place_scope(|scope| {
            for (worker, result) in others.iter_mut().zip(&mut failed) {
                scope.spawn(|_| *result = work(worker));
            }
            mine = work(worker);
        });
        failed.into_iter().fold(mine, Result::and)?;
        match sum.into {
            Into::Coordinates => {
                let rows = out.len().div_ceil(*threads).max(1);
                let sums = &*sums;
                in_place_scope(|scope| {
                    let mut slices = out.chunks_mut(rows).zip((0..).step_by(rows));
                    let mine = slices.next();
                    for (slice, first) in slices {
                        scope.spawn(move |_| add_parts::<RUN>(parts, sums, first, slice));
                    }
                    if let Some((slice, first)) = mine {
                        add_parts::<RUN>(parts, sums, first, slice);
                    }
                });
            }
            Into::Total => out[0] += totals.iter().fold(0.0, |sum, total| sum + total),
            Into::Each => {}
        }
        Ok(())
    }

    /// Eight states: elements one after the other.
    fn eval_lanes(
        &mut self,
        lanes: Lanes,
        arrays: &[&[f64]],
        shared: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        let SumEvaluator { sum, worker, apart, .. } = self;
        let (parts, each, run) = (&*sum.parts, sum.results(), sum.parts.run());
        let (slots, constants, runs) = (parts.slots(), parts.constants(), parts.slots() / parts.run());
        let Worker { evaluator, added, gathered, results, .. } = worker;
        let evaluator = apart.as_deref_mut().unwrap_or(evaluator);
        let (shared, _) = shared.as_chunks::<LANES>();
        let inputs = arrays.len() * slots + constants + shared.len();
        let (added, _) = grown(added, run * parts.most_runs() * LANES).as_chunks_mut::<LANES>();
        let mut total = [0.0; LANES];
        for part in (0..parts.len()).map(|part| parts.part(part)) {
            let added = &mut added[..part.places.len()];
            added.fill([0.0; LANES]);
            let mut eighths = [[0.0; LANES]; LANES];
            for first in (0..part.elements).step_by(LANES) {
                let count = LANES.min(part.elements - first);
                let reads = &part.reads[first * runs..][..runs * LANES];
                let values = &part.values[first * constants..][..constants * LANES];
                let (blocks, _) = gathered.as_chunks_mut::<LANES>();
                for (k, gathered) in blocks.chunks_exact_mut(inputs).take(count).enumerate() {
                    let (moving, rest) = gathered.split_at_mut(arrays.len() * slots);
                    let (kept, alike) = rest.split_at_mut(constants);
                    for (array, moving) in arrays.iter().zip(moving.chunks_exact_mut(slots)) {
                        for (slot, x) in moving.iter_mut().enumerate() {
                            let place = reads[slot / run * LANES + k] as usize * run + slot % run;
                            x.copy_from_slice(&array[lanes.row(part.places[place])..][..LANES]);
                        }
                    }
                    kept.iter_mut().enumerate().for_each(|(c, x)| *x = [values[c * LANES + k]; LANES]);
                    alike.copy_from_slice(shared);
                }
                let computed = &mut results[..each * LANES * count];
                evaluator.eval_lanes(&gathered[..inputs * LANES * count], computed).map_err(wrong_length)?;
                let (computed, _) = computed.as_chunks::<LANES>();
                match sum.into {
                    Into::Coordinates => {
                        for (slot, k) in (0..slots).flat_map(|slot| (0..count).map(move |k| (slot, k))) {
                            let place = reads[slot / run * LANES + k] as usize * run + slot % run;
                            add(&mut added[place], &computed[k * each + slot]);
                        }
                    }
                    Into::Total => (0..count).for_each(|k| add(&mut eighths[k], &computed[k])),
                    Into::Each => {
                        let kept = &mut out[(part.first + first) * each * LANES..];
                        kept[..computed.len() * LANES].copy_from_slice(computed.as_flattened());
                    }
                }
            }
            let sums = if sum.into == Into::Coordinates { &*added } else { &[] };
            for (added, &coordinate) in sums.iter().zip(part.places) {
                add(&mut out[lanes.row(coordinate)..], added);
            }
            let of_part = eighths.iter().fold([0.0; LANES], |mut sum, x| {
                add(&mut sum, x);
                sum
            });
            add(&mut total, &of_part);
        }
        if sum.into == Into::Total {
            out[lanes.offset..][..LANES].iter_mut().zip(total).for_each(|(sum, x)| *sum += x);
        }
        Ok(())
    }
}

fn add(sums: &mut [f64], found: &[f64; LANES]) {
    sums.iter_mut().zip(found).for_each(|(sum, x)| *sum += x);
}

/// Adds what parts added up to coordinates from a first one on, of which there are as many as the slice is long.
fn add_parts<const RUN: usize>(parts: &Parts, sums: &[f64], first: usize, out: &mut [f64]) {
    let (sums, _) = sums.as_chunks::<RUN>();
    let end = first + out.len();
    for part in 0..parts.len() {
        let (places, _) = parts.part(part).places.as_chunks::<RUN>();
        let (rows, others) = places.split_at(parts.rows_of(part));
        let sums = &sums[parts.runs_of(part)];
        // A row may begin before the first coordinate, or end after the last.
        let from = rows.partition_point(|row| row[0] as usize + RUN <= first);
        let until = rows.partition_point(|row| (row[0] as usize) < end);
        let rows = rows[from..until].iter().zip(&sums[from..]);
        for (places, sums) in rows.chain(others.iter().zip(&sums[sums.len() - others.len()..])) {
            for (&coordinate, x) in places.iter().zip(sums) {
                if (first..end).contains(&(coordinate as usize)) {
                    out[coordinate as usize - first] += x;
                }
            }
        }
    }
}

fn available_threads() -> usize {
    static THREADS: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

//! The loss of predictions over a batch, and its derivatives by all parameters, on several threads.

use crate::parameters::Layout;
use crate::predictor::Predictor;
use crate::share::{Loss, Share, ShareData};
use leastaction_compile::LANES;
use leastaction_network::{Network, Real};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Samples of a batch that go through a trajectory together.
const TOGETHER: usize = 56;

/// The mean loss of predictions, which is learned by making it small. Networks compute in the precision T.
///
/// A batch is cut into shares in the same way for any number of threads, and what they give is added up in their order: results have the same bits.
pub struct Objective<T> {
    predictor: Predictor,
    loss: Loss,
    dt: f64,
    threads: usize,
    networks: Vec<Network<T>>,
    shares: Vec<Mutex<Slot<T>>>,
}

/// A share of the batch with its memory.
struct Slot<T> {
    share: Share<T>,
    data: ShareData,
    sum: f64,
}

/// States of trajectories that follow each other, many side by side.
#[derive(Clone, Copy, Debug)]
pub struct Chunks<'a> {
    /// All states: of each trajectory one sample after the other, all numbers of a state together.
    pub states: &'a [f64],
    /// How many samples of each there are, the first included.
    pub samples: usize,
    /// How many numbers a state has.
    pub dimension: usize,
}

impl Chunks<'_> {
    /// How many trajectories there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len() / (self.samples * self.dimension)
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    fn state(&self, trajectory: usize, sample: usize) -> &[f64] {
        &self.states[(trajectory * self.samples + sample) * self.dimension..][..self.dimension]
    }
}

impl<T: Real> Objective<T> {
    /// The loss of predictions from sample to sample, which are so far apart.
    #[must_use]
    pub fn new(predictor: &Predictor, loss: Loss, dt: f64, threads: usize) -> Objective<T> {
        let networks = predictor.layout.with(&vec![0.0; predictor.layout.len()]);
        let predictor = predictor.clone();
        Objective { predictor, loss, dt, threads: threads.max(1), networks, shares: Vec::new() }
    }

    /// What is learned.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.predictor.layout
    }

    /// The mean loss over the trajectories of a batch.
    ///
    /// # Panics
    /// If the batch is empty, or its states are not those of the predictor.
    pub fn loss(&mut self, parameters: &[f64], batch: Chunks<'_>) -> f64 {
        let loss = self.loss;
        self.prepare(parameters, batch);
        self.run(|slot, networks| slot.sum = slot.share.loss(networks, &slot.data, loss));
        self.mean(batch)
    }

    /// The mean loss over a batch, and its derivatives.
    ///
    /// # Panics
    /// As [`Objective::loss`].
    pub fn loss_and_gradient(&mut self, parameters: &[f64], batch: Chunks<'_>, gradient: &mut [f64]) -> f64 {
        let loss = (self.loss, 1.0 / count(batch));
        self.prepare(parameters, batch);
        self.run(|slot, networks| {
            slot.share.gradient.clear();
            slot.sum = slot.share.loss_and_gradient(networks, &slot.data, loss);
        });
        gradient.fill(0.0);
        let used = batch.len().div_ceil(LANES).div_ceil(TOGETHER / LANES);
        for slot in &mut self.shares[..used] {
            slot.get_mut().expect("no thread panics").share.gradient.add_to(gradient);
        }
        self.mean(batch)
    }

    fn mean(&mut self, batch: Chunks<'_>) -> f64 {
        let sums = self.shares.iter_mut().map(|slot| slot.get_mut().expect("no thread panics").sum);
        sums.sum::<f64>() / count(batch)
    }

    /// Shares the batch out.
    fn prepare(&mut self, parameters: &[f64], batch: Chunks<'_>) {
        assert!(!batch.is_empty() && batch.samples > 1, "there is something to predict");
        assert_eq!(batch.dimension, self.predictor.dimension, "numbers of a state");
        let Objective { predictor, networks, .. } = self;
        predictor.layout.put(parameters, networks);
        let numbers = &parameters[predictor.layout.first_number()..];
        let blocks = batch.len().div_ceil(LANES);
        let count = blocks.div_ceil(TOGETHER / LANES);
        let mut first = 0;
        let mut shares = std::mem::take(&mut self.shares).into_iter();
        for place in 0..count {
            // As even as blocks allow.
            let own = blocks / count + usize::from(place < blocks % count);
            let lanes = own * LANES;
            let fits = |slot: &Mutex<Slot<T>>| {
                let slot = slot.lock().expect("no thread panics");
                slot.data.weights.len() == lanes
                    && slot.data.z.len() == lanes * batch.samples * batch.dimension
            };
            let slot = shares.next().filter(fits).unwrap_or_else(|| {
                let share = Share::new(predictor, networks, lanes, batch.samples - 1);
                let data = ShareData {
                    z: vec![0.0; lanes * batch.samples * batch.dimension],
                    weights: vec![0.0; lanes],
                };
                Mutex::new(Slot { share, data, sum: 0.0 })
            });
            let mut slot = slot;
            let Slot { share, data, .. } = slot.get_mut().expect("no thread panics");
            for lane in 0..lanes {
                // Lanes that are left over go with the last trajectory, and do not count.
                let trajectory = (first + lane).min(batch.len() - 1);
                data.weights[lane] = f64::from(u8::from(first + lane < batch.len()));
                for sample in 0..batch.samples {
                    for (number, &value) in batch.state(trajectory, sample).iter().enumerate() {
                        data.z[(sample * batch.dimension + number) * lanes + lane] = value;
                    }
                }
            }
            share.set(predictor, numbers, self.dt);
            first += lanes;
            self.shares.push(slot);
        }
    }

    /// Each share on a thread.
    fn run(&self, each: impl Fn(&mut Slot<T>, &[Network<T>]) + Sync) {
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(slot) = self.shares.get(next.fetch_add(1, Ordering::Relaxed)) {
                each(&mut slot.lock().expect("no thread panics"), &self.networks);
            }
        };
        let threads = self.threads.min(self.shares.len());
        std::thread::scope(|scope| {
            (1..threads).for_each(|_| _ = scope.spawn(work));
            work();
        });
    }
}

/// How many numbers are predicted.
fn count(batch: Chunks<'_>) -> f64 {
    (batch.len() * (batch.samples - 1) * batch.dimension) as f64
}

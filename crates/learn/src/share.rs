//! A share of a batch through whole trajectories, and back, on one thread.

use crate::chain::{Gradient, Tape, Worker};
use crate::predictor::Predictor;
use leastaction_network::{Network, Real};

/// How far predictions are from data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// |ẑ − z|.
    Absolute,
    /// (ẑ − z)².
    Squared,
}

impl Loss {
    /// The loss of a deviation, and its derivative.
    fn at(self, deviation: f64) -> (f64, f64) {
        match self {
            // The slope at 0 is 0.
            Loss::Absolute if deviation == 0.0 => (0.0, 0.0),
            Loss::Absolute => (deviation.abs(), deviation.signum()),
            Loss::Squared => (deviation * deviation, 2.0 * deviation),
        }
    }
}

/// Memory for so many samples of a batch on their way through so many steps.
#[derive(Clone)]
pub(crate) struct Share<T> {
    lanes: usize,
    encode: (Tape<T>, Worker<T>),
    steps: Vec<Tape<T>>,
    step: Worker<T>,
    decodes: Vec<Tape<T>>,
    decode: Worker<T>,
    /// Derivatives by states y.
    adjoint: Vec<f64>,
    pub(crate) gradient: Gradient<T>,
}

/// The data of a share: numbers of states, sample after sample in time, number after number of a state, lane after lane; and how much each lane counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShareData {
    pub(crate) z: Vec<f64>,
    pub(crate) weights: Vec<f64>,
}

impl<T: Real> Share<T> {
    /// Memory for so many lanes, and for predictions of so many samples; without it, predictions can be made of any number.
    pub(crate) fn new(
        predictor: &Predictor,
        networks: &[Network<T>],
        lanes: usize,
        samples: usize,
    ) -> Share<T> {
        let tape = |chain| Tape::new(chain, networks, lanes);
        let worker = |chain| Worker::new(chain, networks, lanes);
        let Predictor { encode, step, decode, substeps, .. } = predictor;
        Share {
            lanes,
            encode: (tape(encode), worker(encode)),
            steps: (0..samples * substeps).map(|_| tape(step)).collect(),
            step: worker(step),
            decodes: (0..samples).map(|_| tape(decode)).collect(),
            decode: worker(decode),
            adjoint: vec![0.0; encode.outputs() * lanes],
            gradient: Gradient::new(networks, predictor.layout.numbers().len()),
        }
    }

    /// Sets the numbers that are learned, and the time between samples.
    pub(crate) fn set(&mut self, predictor: &Predictor, numbers: &[f64], dt: f64) {
        let h = dt / predictor.substeps as f64;
        self.encode.1.set(&predictor.encode, numbers, &[]);
        self.step.set(&predictor.step, numbers, &[h]);
        self.decode.set(&predictor.decode, numbers, &[]);
    }

    /// The sum of the losses of all predicted numbers.
    pub(crate) fn loss(&mut self, networks: &[Network<T>], data: &ShareData, loss: Loss) -> f64 {
        self.predict(networks, data);
        let mut sum = 0.0;
        self.each_deviation(data, loss, |value, _, _, _| sum += value);
        sum
    }

    /// From the first states to all predicted samples.
    fn predict(&mut self, networks: &[Network<T>], data: &ShareData) {
        let (tape, worker) = &mut self.encode;
        tape.inputs_mut().iter_mut().zip(&data.z).for_each(|(to, z)| *to = *z);
        worker.forward(tape, networks);
        let substeps = self.steps.len() / self.decodes.len().max(1);
        for k in 0..self.steps.len() {
            let (before, rest) = self.steps.split_at_mut(k);
            hand(before.last().unwrap_or(&self.encode.0), &mut rest[0]);
            self.step.forward(&mut rest[0], networks);
            if (k + 1).is_multiple_of(substeps) {
                let decode = &mut self.decodes[k / substeps];
                hand(&rest[0], decode);
                self.decode.forward(decode, networks);
            }
        }
    }

    /// The losses of all predicted numbers, with their slopes, samples and numbers, row by row.
    fn each_deviation(&self, data: &ShareData, loss: Loss, mut each: impl FnMut(f64, f64, usize, usize)) {
        for (sample, tape) in self.decodes.iter().enumerate() {
            let numbers = tape.chain().outputs();
            for number in 0..numbers {
                let truth = &data.z[((sample + 1) * numbers + number) * self.lanes..][..self.lanes];
                let rows = tape.output(number).iter().zip(truth).zip(&data.weights);
                for (lane, ((found, truth), weight)) in rows.enumerate() {
                    // What does not count may be anything.
                    if *weight != 0.0 {
                        let (value, slope) = loss.at(found - truth);
                        each(weight * value, weight * slope, sample * numbers + number, lane);
                    }
                }
            }
        }
    }

    /// The sum of the losses of all predicted numbers; adds `scale` times its derivatives to the gradient.
    pub(crate) fn loss_and_gradient(
        &mut self,
        networks: &[Network<T>],
        data: &ShareData,
        (loss, scale): (Loss, f64),
    ) -> f64 {
        self.predict(networks, data);
        let numbers = self.encode.0.chain().inputs();
        let mut slopes = vec![0.0; self.decodes.len() * numbers * self.lanes];
        let mut sum = 0.0;
        self.each_deviation(data, loss, |value, slope, row, lane| {
            sum += value;
            slopes[row * self.lanes + lane] = scale * slope;
        });
        self.adjoint.fill(0.0);
        let substeps = self.steps.len() / self.decodes.len().max(1);
        let Share { gradient, adjoint, lanes, .. } = self;
        for k in (0..self.steps.len()).rev() {
            if (k + 1).is_multiple_of(substeps) {
                let sample = k / substeps;
                let (tape, worker) = (&self.decodes[sample], &mut self.decode);
                worker.begin();
                for number in 0..numbers {
                    let slopes = &slopes[(sample * numbers + number) * *lanes..][..*lanes];
                    add(worker.seed(tape, number), slopes);
                }
                worker.backward(tape, networks, gradient);
                add(adjoint, worker.by_inputs(tape));
            }
            let (tape, worker) = (&self.steps[k], &mut self.step);
            worker.begin();
            for (number, adjoint) in adjoint.chunks_exact(*lanes).enumerate() {
                add(worker.seed(tape, number), adjoint);
            }
            worker.backward(tape, networks, gradient);
            adjoint.copy_from_slice(worker.by_inputs(tape));
        }
        let (tape, worker) = &mut self.encode;
        worker.begin();
        for (number, adjoint) in adjoint.chunks_exact(*lanes).enumerate() {
            add(worker.seed(tape, number), adjoint);
        }
        worker.backward(tape, networks, gradient);
        sum
    }
}

/// What a chain gives, to a chain that reads it.
fn hand<T: Real>(from: &Tape<T>, to: &mut Tape<T>) {
    let lanes = from.lanes();
    for (place, row) in to.inputs_mut().chunks_exact_mut(lanes).enumerate() {
        row.copy_from_slice(from.output(place));
    }
}

fn add(sums: &mut [f64], terms: &[f64]) {
    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}

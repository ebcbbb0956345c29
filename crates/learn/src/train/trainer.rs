//! Training, step by step.

use super::error::TrainError;
use super::log::LogRow;
use super::optimizer::{AdamWOptions, Optimizer, Rates};
use super::plan::TrainingPlan;
use crate::data::{Dataset, Origin, Split};
use crate::learned::Learned;
use crate::objective::{Chunks, Objective};
use crate::parameters::Layout;
use crate::predictor::Predictor;
use crate::recipe::Recipe;
use crate::share::Loss;
use leastaction_expr::Random;
use leastaction_network::Real;
use std::ops::ControlFlow;
use std::time::Instant;

/// A training on its way. The same plan, data and recipe lead to the same bits, for any number of threads, and however often it was broken off and resumed.
pub struct Trainer {
    pub(super) recipe: Recipe,
    pub(super) plan: TrainingPlan,
    pub(super) fingerprint: u64,
    origin: Origin,
    dt: f64,
    layout: Layout,
    objective: Box<dyn Measured>,
    dimension: usize,
    /// Chunks to learn from, and those that tell when to stop.
    training: Vec<f64>,
    validation: Vec<f64>,
    pub(super) state: TrainingState,
    /// Working memory: a batch, the order of an epoch, and a gradient.
    batch: Vec<f64>,
    order: (u64, Vec<usize>),
    gradient: Vec<f64>,
}

/// All that changes while training, and is kept in checkpoints.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TrainingState {
    pub(super) step: u64,
    pub(super) parameters: Vec<f64>,
    pub(super) optimizer: Optimizer,
    /// The best so far on what is for validation: its loss, its step, and its parameters.
    pub(super) best: (f64, u64, Vec<f64>),
    /// How many measurements in a row were no better.
    pub(super) stale: u64,
    /// The sum of the losses, and of the lengths of gradients, since the last row of the log.
    pub(super) sums: [f64; 2],
    pub(super) rows: Vec<LogRow>,
    /// How long it has taken.
    pub(super) seconds: f64,
}

/// A loss that can be measured, in one precision or the other.
trait Measured: Send {
    fn loss(&mut self, parameters: &[f64], batch: Chunks<'_>) -> f64;
    fn loss_and_gradient(&mut self, parameters: &[f64], batch: Chunks<'_>, gradient: &mut [f64]) -> f64;
}

impl<T: Real> Measured for Objective<T> {
    fn loss(&mut self, parameters: &[f64], batch: Chunks<'_>) -> f64 {
        Objective::loss(self, parameters, batch)
    }

    fn loss_and_gradient(&mut self, parameters: &[f64], batch: Chunks<'_>, gradient: &mut [f64]) -> f64 {
        Objective::loss_and_gradient(self, parameters, batch, gradient)
    }
}

/// Why a training is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All steps were made.
    Complete,
    /// What is for validation was predicted no better for so long.
    Stopped,
    /// Whoever watched broke it off.
    Interrupted,
}

impl Trainer {
    /// A training from its beginning.
    ///
    /// # Errors
    /// [`TrainError`] if recipe, data and plan do not go together.
    pub fn new(
        recipe: &Recipe,
        dataset: &Dataset,
        plan: &TrainingPlan,
        threads: usize,
    ) -> Result<Trainer, TrainError> {
        Trainer::of(recipe, &dataset.origin, dataset, plan, threads)
    }

    /// A training from its beginning, of another model than the one that data came from.
    ///
    /// # Errors
    /// [`TrainError`] if recipe, model, data and plan do not go together.
    pub fn of(
        recipe: &Recipe,
        origin: &Origin,
        dataset: &Dataset,
        plan: &TrainingPlan,
        threads: usize,
    ) -> Result<Trainer, TrainError> {
        plan.check(dataset.split[0])?;
        if *origin != dataset.origin {
            let names = origin.names()?;
            if names != dataset.names {
                return Err(TrainError::Names { model: names, data: dataset.names.clone() });
            }
        }
        let predictor = recipe.predictor(origin)?;
        let parameters = predictor.layout().drawn(plan.initial, plan.seed);
        let options = AdamWOptions { decay: plan.decay, ..AdamWOptions::default() };
        let optimizer = Optimizer::new(plan.optimizer, predictor.layout(), options);
        let chunks = |split, salt: u64| -> Result<Vec<f64>, TrainError> {
            let chunks = dataset.chunks(split, plan.chunk, Random::mix(plan.seed.wrapping_add(salt)))?;
            Ok(predictor.states(&chunks, plan.chunk))
        };
        Ok(Trainer {
            recipe: recipe.clone(),
            plan: plan.clone(),
            fingerprint: fingerprint(origin, dataset),
            origin: origin.clone(),
            dt: dataset.dt,
            layout: predictor.layout().clone(),
            objective: objective(&predictor, plan.single, dataset.dt, threads),
            dimension: predictor.dimension(),
            training: chunks(Split::Training, 1)?,
            validation: chunks(Split::Validation, 2)?,
            gradient: vec![0.0; parameters.len()],
            state: TrainingState {
                step: 0,
                best: (f64::INFINITY, 0, parameters.clone()),
                parameters,
                optimizer,
                stale: 0,
                sums: [0.0; 2],
                rows: Vec::new(),
                seconds: 0.0,
            },
            batch: Vec::new(),
            order: (u64::MAX, Vec::new()),
        })
    }

    /// The recipe.
    #[must_use]
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &TrainingPlan {
        &self.plan
    }

    /// What was learned so far.
    #[must_use]
    pub fn learned(&self) -> Learned {
        let (step, parameters) = self.best();
        Learned {
            recipe: self.recipe.clone(),
            origin: self.origin.clone(),
            dt: self.dt,
            parameters: parameters.to_vec(),
            training: format!("{}best at step {step}\n", self.plan.lines()),
        }
    }

    /// Where what is learned stands among the parameters.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How many steps were made.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.state.step
    }

    /// What the log says so far.
    #[must_use]
    pub fn rows(&self) -> &[LogRow] {
        &self.state.rows
    }

    /// How far it is, in words.
    #[must_use]
    pub fn status(&self) -> String {
        let step = self.step();
        let losses = self
            .rows()
            .last()
            .map(|row| format!(", loss {:.3e}, validation {:.3e}", row.loss, row.validated));
        format!("step {step}{}", losses.unwrap_or_default())
    }

    /// The part of all steps that is done.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        self.step() as f64 / self.plan.steps as f64
    }

    /// How long it has taken, in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.state.seconds
    }

    /// The parameters as they are now.
    #[must_use]
    pub fn parameters(&self) -> &[f64] {
        &self.state.parameters
    }

    /// The parameters that predicted best what is for validation, and at which step; those of now, if nothing is.
    #[must_use]
    pub fn best(&self) -> (u64, &[f64]) {
        match self.state.best.0.is_finite() {
            true => (self.state.best.1, &self.state.best.2),
            false => (self.state.step, &self.state.parameters),
        }
    }

    /// Trains to the end, or until whoever watches breaks it off. They see the training after each step.
    ///
    /// # Errors
    /// [`TrainError`] if predictions run away.
    pub fn run(
        &mut self,
        mut watch: impl FnMut(&Trainer) -> Result<ControlFlow<()>, TrainError>,
    ) -> Result<Ending, TrainError> {
        while self.state.step < self.plan.steps {
            if self.plan.patience.is_some_and(|patience| self.state.stale >= patience) {
                return Ok(Ending::Stopped);
            }
            self.advance()?;
            if watch(self)?.is_break() && self.state.step < self.plan.steps {
                return Ok(Ending::Interrupted);
            }
        }
        Ok(Ending::Complete)
    }

    /// Makes one step.
    fn advance(&mut self) -> Result<(), TrainError> {
        let begun = Instant::now();
        self.fill_batch();
        let Trainer { plan, state, gradient, objective, batch, dimension, .. } = self;
        let chunks = Chunks { states: batch, samples: plan.chunk, dimension: *dimension };
        let loss = objective.loss_and_gradient(&state.parameters, chunks, gradient);
        let length = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        if !(loss.is_finite() && length.is_finite()) {
            return Err(TrainError::NotFinite {
                step: state.step,
                loss,
                length,
                last: state.rows.last().cloned(),
            });
        }
        if let Some(clip) = plan.clip.filter(|clip| length > *clip) {
            gradient.iter_mut().for_each(|g| *g *= clip / length);
        }
        let rate = plan.rate_at(state.step);
        let rates = Rates { weights: rate, numbers: rate * plan.numbers };
        state.optimizer.step(rates, gradient, &mut state.parameters);
        state.step += 1;
        state.sums[0] += loss;
        state.sums[1] += length;
        if state.step.is_multiple_of(plan.validate_every) || state.step == plan.steps {
            self.measure(rate);
        }
        self.state.seconds += begun.elapsed().as_secs_f64();
        Ok(())
    }

    /// The chunks of the next step: epoch after epoch, each in an order of its own.
    fn fill_batch(&mut self) {
        let each = self.plan.chunk * self.dimension;
        let batches = (self.training.len() / each / self.plan.batch) as u64;
        let (epoch, place) = (self.state.step / batches, (self.state.step % batches) as usize);
        if self.order.0 != epoch {
            let mut random = Random::at(Random::mix(self.plan.seed.wrapping_add(3)), epoch);
            let mut order: Vec<usize> = (0..self.training.len() / each).collect();
            for i in (1..order.len()).rev() {
                order.swap(i, random.below(i + 1));
            }
            self.order = (epoch, order);
        }
        self.batch.clear();
        for &chunk in &self.order.1[place * self.plan.batch..][..self.plan.batch] {
            self.batch.extend_from_slice(&self.training[chunk * each..][..each]);
        }
    }

    /// Measures the loss on what is for validation, and adds a row to the log.
    fn measure(&mut self, rate: f64) {
        let Trainer { plan, state, objective, validation, dimension, .. } = self;
        let chunks = Chunks { states: validation, samples: plan.chunk, dimension: *dimension };
        let validated = if chunks.is_empty() { f64::NAN } else { objective.loss(&state.parameters, chunks) };
        let since = state.step - state.rows.last().map_or(0, |row| row.step);
        let [loss, length] = state.sums.map(|sum| sum / since as f64);
        state.sums = [0.0; 2];
        state.rows.push(LogRow { step: state.step, rate, loss, validated, length, seconds: state.seconds });
        if validated < state.best.0 {
            state.best.0 = validated;
            state.best.1 = state.step;
            state.best.2.copy_from_slice(&state.parameters);
            state.stale = 0;
        } else if !chunks.is_empty() {
            state.stale += 1;
        }
    }
}

fn objective(predictor: &Predictor, single: bool, dt: f64, threads: usize) -> Box<dyn Measured> {
    match single {
        true => Box::new(Objective::<f32>::new(predictor, Loss::Absolute, dt, threads)),
        false => Box::new(Objective::<f64>::new(predictor, Loss::Absolute, dt, threads)),
    }
}

/// What tells a dataset, and a model that is learned, from others: a hash of all of them (FNV-1a, over words).
fn fingerprint(origin: &Origin, dataset: &Dataset) -> u64 {
    let numbers = dataset.states.iter().chain([&dataset.dt, &dataset.noise]).map(|value| value.to_bits());
    let counts = dataset.split.iter().chain([&dataset.samples]).map(|&count| count as u64);
    let names = dataset.names.iter().flat_map(|name| name.bytes());
    let given = dataset.origin.parameters.iter().chain(&origin.parameters);
    let parameters = given.map(|(_, value)| value.to_bits());
    let letters = dataset.origin.text.bytes().chain(origin.text.bytes()).chain(names).map(u64::from);
    numbers.chain(counts).chain(parameters).chain(letters).fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
    })
}

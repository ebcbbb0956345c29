//! How to train.

use super::optimizer::OptimizerKind;
use leastaction_network::Initial;

/// How to train. [`TrainingPlan::default`] is that of the reference networks: 8000 steps of AdamW with batches of 200; but that numbers such as masses learn faster.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingPlan {
    /// How weights are changed.
    pub optimizer: OptimizerKind,
    /// How many steps the optimizer makes.
    pub steps: u64,
    /// How many chunks are in a batch.
    pub batch: usize,
    /// How many samples a chunk has, its first included.
    pub chunk: usize,
    /// The rate at its highest.
    pub rate: f64,
    /// Numbers such as the logarithms of masses learn so many times as fast as weights. They would have a long way to go in the steps of weights, and do not decay.
    pub numbers: f64,
    /// In so many steps the rate rises from 0; then it falls as a cosine does, to 0 at the end.
    pub warmup: u64,
    /// By how much weights decay for each unit of the rate.
    pub decay: f64,
    /// Gradients that are longer are made as short.
    pub clip: Option<f64>,
    /// What is drawn differs from seed to seed.
    pub seed: u64,
    /// Whether networks compute in single precision.
    pub single: bool,
    /// How weights are drawn.
    pub initial: Initial,
    /// The loss on what is for validation is measured every so many steps.
    pub validate_every: u64,
    /// Training ends when so many measurements in a row were no better than the best.
    pub patience: Option<u64>,
}

impl Default for TrainingPlan {
    fn default() -> TrainingPlan {
        TrainingPlan::of(OptimizerKind::AdamW, 8000)
    }
}

/// What of a plan cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{what} is {value}: it must be {range}")]
pub struct PlanError {
    /// What it is about.
    pub what: &'static str,
    /// The value.
    pub value: String,
    /// What it may be.
    pub range: String,
}

impl TrainingPlan {
    /// So many steps of an optimizer, at its rate, with 40 validations on the way, or one every 100 steps if that is more. All else is as the reference networks have it.
    #[must_use]
    pub fn of(optimizer: OptimizerKind, steps: u64) -> TrainingPlan {
        TrainingPlan {
            optimizer,
            steps,
            batch: 200,
            chunk: 5,
            rate: optimizer.rate(),
            numbers: 10.0,
            warmup: 0,
            decay: 1e-4,
            clip: None,
            seed: 0,
            single: true,
            initial: Initial::Orthogonal,
            validate_every: (steps / 40).clamp(1, 100),
            patience: None,
        }
    }

    /// Checks it for a number of chunks.
    ///
    /// # Errors
    /// [`PlanError`] names the first thing that cannot be.
    pub fn check(&self, chunks: usize) -> Result<(), PlanError> {
        let wrong =
            |what, value: String, range: &str| Err(PlanError { what, value, range: range.to_owned() });
        let positive = |x: f64| x > 0.0 && x.is_finite();
        if self.batch == 0 || self.batch > chunks {
            let range = format!("from 1 to {chunks}, the number of trajectories for training");
            return wrong("the batch", self.batch.to_string(), &range);
        }
        if self.steps == 0 || self.validate_every == 0 {
            return wrong("the number of steps", self.steps.to_string(), "1 or more");
        }
        if !positive(self.rate) {
            return wrong("the rate", self.rate.to_string(), "positive");
        }
        if !(self.numbers >= 0.0 && self.numbers.is_finite()) {
            return wrong("the rate of numbers, in that of weights,", self.numbers.to_string(), "0 or more");
        }
        if !(self.decay >= 0.0 && self.decay.is_finite()) {
            return wrong("the decay", self.decay.to_string(), "0 or more");
        }
        match self.clip {
            Some(clip) if !positive(clip) => {
                wrong("the length of clipped gradients", clip.to_string(), "positive")
            }
            _ => Ok(()),
        }
    }

    /// The rate of a step, counted from 0.
    #[must_use]
    pub fn rate_at(&self, step: u64) -> f64 {
        let warm = self.warmup.min(self.steps);
        if step < warm {
            return self.rate * (step + 1) as f64 / (warm + 1) as f64;
        }
        let part = (step - warm) as f64 / (self.steps - warm).max(1) as f64;
        0.5 * self.rate * (1.0 + (std::f64::consts::PI * part).cos())
    }

    /// What it says, line by line: what a checkpoint goes with.
    #[must_use]
    pub fn lines(&self) -> String {
        let TrainingPlan {
            optimizer,
            steps,
            batch,
            chunk,
            rate,
            numbers,
            warmup,
            decay,
            clip,
            seed,
            single,
            initial,
            validate_every,
            patience,
        } = self;
        format!(
            "optimizer {optimizer}\nsteps {steps}\nbatch {batch}\nchunk {chunk}\nrate {rate:?}\nnumbers {numbers:?}\nwarmup {warmup}\ndecay {decay:?}\nclip {clip:?}\nseed {seed}\n\
             single {single}\ninitial {initial:?}\nvalidate every {validate_every}\npatience {patience:?}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::TrainingPlan;

    #[test]
    fn rates_rise_and_fall() {
        let plan = TrainingPlan { steps: 100, warmup: 9, rate: 1.0, ..TrainingPlan::default() };
        let rates: Vec<f64> = (0..100).map(|step| plan.rate_at(step)).collect();
        assert!((rates[0] - 0.1).abs() < 1e-15 && rates[9] == 1.0, "{rates:?}");
        assert!(rates[9..].windows(2).all(|pair| pair[1] < pair[0]));
        assert!(rates[99] > 0.0 && rates[99] < 1e-3);
    }
}

//! What is asked for in place of what a text says.

use crate::error::Cause;

/// What is asked for in place of what a text says. By default that is nothing.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Overrides {
    /// Values of parameters, and of inputs that are held.
    pub parameters: Vec<(String, f64)>,
    /// Coordinates, velocities (`x'`) and momenta (`p_x`) of the initial condition.
    pub start: Vec<(String, f64)>,
    /// Draws the initial condition at random, where the catalog says how: the same for the same number.
    pub seed: Option<u64>,
    /// The time at the end.
    pub until: Option<f64>,
    /// The name of a method.
    pub method: Option<String>,
    /// A step size.
    pub step: Option<f64>,
    /// A relative tolerance, from which the method finds its step sizes.
    pub tolerance: Option<f64>,
    /// An absolute tolerance, in the units of the state, besides the relative one: of all coordinates and momenta, also of those that the text gives one of their own.
    pub absolute: Option<f64>,
    /// The longest step that a method may find.
    pub max_step: Option<f64>,
    /// How many steps are allowed.
    pub max_steps: Option<u64>,
    /// The time between samples.
    pub every: Option<f64>,
    /// How many samples are taken, the initial state not counted.
    pub samples: Option<u64>,
    /// How many samples pictures need if their times are not stated. [`SAMPLES`](crate::SAMPLES) of them, those that would be taken without
    /// pictures, are [recorded](crate::Run::record) all the same.
    pub fine_samples: Option<u64>,
    /// Names and texts of expressions that are recorded, too, with all names of the model in them.
    pub outputs: Vec<(String, String)>,
    /// Events besides those of the text.
    pub events: Vec<AskedEvent>,
}

/// An event that is asked for: where an expression passes 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedEvent {
    /// Its name.
    pub name: String,
    /// The text of the expression, with all names of the model in it.
    pub expression: String,
    /// Whether the run ends there.
    pub stop: bool,
}

impl Overrides {
    /// Refuses what contradicts itself.
    pub(crate) fn check(&self) -> Result<(), Cause> {
        let pairs = [
            (("step", self.step.is_some()), ("tolerance", self.tolerance.is_some())),
            (("step", self.step.is_some()), ("absolute tolerance", self.absolute.is_some())),
            (("every", self.every.is_some()), ("samples", self.samples.is_some())),
            (("start", !self.start.is_empty()), ("seed", self.seed.is_some())),
        ];
        match pairs.into_iter().find(|((_, one), (_, other))| *one && *other) {
            Some(((one, _), (other, _))) => Err(Cause::Both { one, other }),
            None => Ok(()),
        }
    }
}

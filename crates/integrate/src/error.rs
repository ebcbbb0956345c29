//! Why a run cannot begin, or ended early, and why a drift cannot be told.

mod checkpoint;
mod reset;

pub use checkpoint::{CheckpointError, CheckpointFileError};
pub use reset::ResetError;

use crate::card::{Keeps, Needs};
use crate::step::StepError;
use crate::trajectory::Trajectory;
use leastaction_mechanics::{EvalError, ObserveError, SettingError};

/// Why a run cannot begin, or ended early.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The step is zero, infinite or NaN.
    #[error("the step is {step}: it must be a finite number other than 0")]
    BadStep {
        /// The step.
        step: f64,
    },
    /// The longest step is not above zero.
    #[error("the longest step is {step}: it must be above 0")]
    BadLongest {
        /// The step.
        step: f64,
    },
    /// A tolerance is negative, infinite or NaN, or tolerates nothing, or everything.
    #[error(
        "the tolerance is {relative} relative and {absolute} absolute: one must be above 0, and the relative one below 1"
    )]
    BadTolerance {
        /// The relative tolerance.
        relative: f64,
        /// The absolute tolerance.
        absolute: f64,
    },
    /// At the pace it has, the run would take far more steps than are allowed.
    #[error(
        "{tried} steps led to t = {}, about {steps:.0e} would lead to the end, and {limit} are allowed: end the run earlier, use a larger tolerance, or allow more steps",
        number(.t)
    )]
    Endless {
        /// Where it was given up.
        t: f64,
        /// How many steps were tried until there.
        tried: u64,
        /// How many it would take.
        steps: f64,
        /// How many are allowed.
        limit: u64,
        /// Whose steps.
        lane: usize,
    },
    /// Absolute tolerances are those of other states.
    #[error("there are {tolerances} absolute tolerances, and a state has {components} components")]
    TolerancesOfOthers {
        /// How many there are.
        tolerances: usize,
        /// How many there should be.
        components: usize,
    },
    /// The method cannot find its step from a tolerance.
    #[error("{method} needs a step and cannot find one from a tolerance: give a step, or use {instead}")]
    NotAdaptive {
        /// The method.
        method: &'static str,
        /// A method that can.
        instead: &'static str,
    },
    /// The step sizes that are needed no longer move the time.
    #[error(
        "at t = {} a step size of {step:.1e} would be needed: look for a singularity, or use a larger tolerance", number(.t)
    )]
    StepTooShort {
        /// The time.
        t: f64,
        /// The step.
        step: f64,
        /// The lane.
        lane: usize,
    },
    /// The motion is driven to a border between two branches from both sides.
    #[error(
        "at t = {} the motion is driven to {what} = 0 from both sides, and nothing that is written says how it is held there: \
         write a smooth law, as with tanh in place of sign, or v/sqrt(v^2 + w^2) with a small speed w for a direction",
        number(.t)
    )]
    Chatter {
        /// The time.
        t: f64,
        /// The switching function.
        what: String,
        /// The lane.
        lane: usize,
    },
    /// A force has the direction of a velocity, and steps have one length.
    #[error(
        "a force has the direction of a velocity, {what} is its length: at rest it has none, and a step of one length leads beyond. Let a tolerance set the steps (--tol, `run tol`)"
    )]
    Directed {
        /// The length.
        what: String,
    },
    /// The energy jumps where the motion passes, which is an impulse that no force tells of.
    #[error(
        "at t = {} the energy jumps by {jump:.3e}, where `{what}` passes its border: a jump at a place is an impact whose size is not known. Write a steep slope, such as tanh((x - a)/w), or end the run there by an event",
        number(.t)
    )]
    EnergyJump {
        /// The time.
        t: f64,
        /// The switching function.
        what: String,
        /// By how much it jumps.
        jump: f64,
        /// The lane.
        lane: usize,
    },
    /// Constraints turn where the motion passes: nothing says how much of the velocity is left.
    #[error(
        "at t = {} a constraint has a corner, where `{what}` passes its border: nothing says how much of the velocity is left beyond it. Round it off, as by sqrt(u^2 + w^2) for abs(u), or end \
         the run there by an event",
        number(.t)
    )]
    ConstraintCorner {
        /// The time.
        t: f64,
        /// The switching function.
        what: String,
        /// The lane.
        lane: usize,
    },
    /// The method does not keep time reversal, which steps from a density are made for.
    #[error(
        "{method} does not keep time reversal, so a step density has no use: use {instead}, or a tolerance or a step"
    )]
    NotReversible {
        /// The method.
        method: &'static str,
        /// A method that does.
        instead: &'static str,
    },
    /// ε is not positive, infinite or NaN.
    #[error(
        "epsilon is {epsilon}: it must be a finite number above 0 (the way in time follows from the end)"
    )]
    BadEpsilon {
        /// ε.
        epsilon: f64,
    },
    /// The density to begin with is not positive, infinite or NaN.
    #[error("the step density to begin with is {density}: it must be a finite number above 0")]
    BadFirstDensity {
        /// The density.
        density: f64,
    },
    /// The step that is wanted is not positive, or not finite.
    #[error(
        "the wanted step is {value}, changing by {rate} per unit of time, at t = {}: it must be positive and finite all along \
             the motion; name another one",
        number(.t)
    )]
    BadWanted {
        /// The time.
        t: f64,
        /// The wanted step, up to a factor.
        value: f64,
        /// Its rate.
        rate: f64,
        /// The lane.
        lane: usize,
    },
    /// The step density is not positive, or not finite.
    #[error(
        "the step density is {density} at t = {}: the wanted step changes too fast for this epsilon; use a smaller one",
        number(.t)
    )]
    BadDensity {
        /// The time.
        t: f64,
        /// The density.
        density: f64,
        /// The lane.
        lane: usize,
    },
    /// What a density follows is not known.
    #[error(transparent)]
    Wanted(#[from] ObserveError),
    /// The run took as many steps as allowed.
    #[error("{limit} steps led to t = {}, and no more are allowed: choose another step size or tolerance, or allow more steps", number(.t))]
    OutOfSteps {
        /// The time that was reached.
        t: f64,
        /// How many are allowed.
        limit: u64,
    },
    /// A time is infinite or NaN.
    #[error("the {what} of the run is at t = {value}: it must be finite")]
    BadTime {
        /// "start" or "end".
        what: &'static str,
        /// The time.
        value: f64,
    },
    /// The step leads away from the end.
    #[error(
        "a step of {} from t = {} leads away from the end at t = {}: use {}",
        number(.step), number(.start), number(.end), number(&-.step)
    )]
    WrongWay {
        /// The step.
        step: f64,
        /// The time of the start.
        start: f64,
        /// The time of the end.
        end: f64,
    },
    /// The run would take more steps than allowed.
    #[error("the run would take {steps:e} steps, and {limit} are allowed: use a longer step, or allow more")]
    TooManySteps {
        /// How many it would take.
        steps: f64,
        /// How many are allowed.
        limit: u64,
    },
    /// The samples to keep do not fit into memory.
    #[error(
        "{samples} samples of {dimension} numbers do not fit into memory: keep fewer, or observe the run"
    )]
    TooManySamples {
        /// How many samples were asked for.
        samples: u64,
        /// The length of each.
        dimension: usize,
    },
    /// The start does not belong to the system.
    #[error("the start has {found} numbers, and the system's states have {expected}")]
    WrongLength {
        /// The length of the system's states.
        expected: usize,
        /// The length that was given.
        found: usize,
    },
    /// The start is infinite or NaN.
    #[error("`{name}` is {value} at the start: it must be finite")]
    BadStart {
        /// The coordinate or momentum.
        name: String,
        /// Its value.
        value: f64,
    },
    /// The method does not apply to the system.
    #[error("{method} needs {needs}, which this system does not have: use {instead}")]
    NotApplicable {
        /// The method.
        method: &'static str,
        /// What it needs.
        needs: Needs,
        /// A method that does apply.
        instead: &'static str,
    },
    /// The method would leave constraints out of account.
    #[error("{method} does not support constraints, which this system has: use {instead}")]
    Constrained {
        /// The method.
        method: &'static str,
        /// A method that does.
        instead: &'static str,
    },
    /// The method does not keep what it should.
    #[error("{method} does not keep the {what}{}", instead.map_or(String::new(), |name| format!(": use {name}")))]
    NotKept {
        /// The method.
        method: &'static str,
        /// What it should keep.
        what: Keeps,
        /// A method that does, if one applies.
        instead: Option<&'static str>,
    },
    /// The motion itself does not have what should be kept.
    #[error(
        "nothing says that the {what} is conserved here: time, dissipation, forces or ports may change it. Run without this demand"
    )]
    NothingToKeep {
        /// What should be kept.
        what: Keeps,
    },
    /// The state became infinite or NaN.
    #[error("{}", not_finite(*.t, .name, *.value, .element.as_ref()))]
    NotFinite {
        /// The time at the end of the step.
        t: f64,
        /// The coordinate or momentum.
        name: String,
        /// The lane.
        lane: usize,
        /// Its value.
        value: f64,
        /// The field and the element of it that has no energy there, if that is why.
        element: Option<(String, usize)>,
    },
    /// Steps of changing length do not keep what should be kept.
    #[error(
        "{pace} do not keep the {what}, whatever the method: give a step; one in fictitious time follows the motion and keeps it"
    )]
    LostByPace {
        /// What should be kept.
        what: Keeps,
        /// The pace.
        pace: String,
    },
    /// Events were to be found in fictitious time.
    #[error("events are not looked for in fictitious time: run without them, or by a step density")]
    NoEvents,
    /// A run in fictitious time was asked for with another pace than a step.
    #[error("fictitious time passes in steps of one length, not by {pace}: give a step in s")]
    NeedsStep {
        /// The pace.
        pace: String,
    },
    /// Fictitious time stands still, or runs back.
    #[error(
        "time passes at a rate of {rate} in fictitious time at t = {}: it must be positive and finite all along the motion; \
             choose another g, or a smaller step",
        number(.t)
    )]
    BadClock {
        /// The time.
        t: f64,
        /// The rate dt/ds.
        rate: f64,
    },
    /// Fictitious time was made from the equations of another system.
    #[error("the system in fictitious time is another one: make it from the equations of this system")]
    OtherSystem,
    /// Times of samples do not lead from start to end.
    #[error("a sample is wanted at t = {}, which is not between {} and {}", number(.t), number(.after), number(.end))]
    BadSample {
        /// The time of the sample.
        t: f64,
        /// The sample before it, or the start.
        after: f64,
        /// The end.
        end: f64,
    },
    /// The spacing of samples is zero, negative, infinite or NaN, or so short that times cannot tell samples apart.
    #[error(
        "the spacing of samples is {spacing:e}: it must be finite and above 0, and not lost in the rounding of times"
    )]
    BadSpacing {
        /// The spacing.
        spacing: f64,
    },
    /// Lanes with steps of their own are sampled between their ends.
    #[error("lanes with steps of their own meet only at the ends: sample ends only, or give a step")]
    LanesApart,
    /// Events are wanted of several trajectories at once.
    #[error("events are found in runs of one trajectory: run the lanes one by one")]
    EventsInLanes,
    /// What an event sets cannot be set.
    #[error("at t = {}: {source}", number(.t))]
    Reset {
        /// The time.
        t: f64,
        /// Why.
        source: ResetError,
        /// The lane.
        lane: usize,
    },
    /// The time between ticks is none.
    #[error("`{event}` is to happen every {period}: a time between ticks must be finite and above 0")]
    BadPeriod {
        /// The event.
        event: String,
        /// The time between ticks.
        period: f64,
        /// The lane.
        lane: usize,
    },
    /// There are more ticks than steps.
    #[error(
        "`{event}` is to happen every {}, which are {ticks:.1e} steps, and {limit} are allowed: let more time pass between ticks, or allow more steps",
        number(.period)
    )]
    TooManyTicks {
        /// The event.
        event: String,
        /// The time between ticks.
        period: f64,
        /// How many there are until the end.
        ticks: f64,
        /// How many steps are allowed.
        limit: u64,
        /// The lane.
        lane: usize,
    },
    /// Events that set something anew were to happen on the way back.
    #[error(
        "the run goes back in time, and what the event `{event}` sets tells of the state after it, not of the one before: run forward from an earlier start, or without the reset"
    )]
    ResetBack {
        /// The event.
        event: String,
    },
    /// A checkpoint does not fit.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A parameter could not be set.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A quantity could not be evaluated outside a step.
    #[error(transparent)]
    Eval(#[from] EvalError),
}

impl RunError {
    /// The lane in which it failed, if it failed in one.
    #[must_use]
    pub fn lane(&self) -> Option<usize> {
        match self {
            RunError::StepTooShort { lane, .. }
            | RunError::BadWanted { lane, .. }
            | RunError::BadDensity { lane, .. }
            | RunError::Chatter { lane, .. }
            | RunError::EnergyJump { lane, .. }
            | RunError::ConstraintCorner { lane, .. }
            | RunError::Endless { lane, .. }
            | RunError::Reset { lane, .. }
            | RunError::BadPeriod { lane, .. }
            | RunError::TooManyTicks { lane, .. }
            | RunError::NotFinite { lane, .. } => Some(*lane),
            RunError::Step(error) => error.lane(),
            RunError::Eval(error) => error.lane(),
            _ => None,
        }
    }
}

/// A run that failed, with what it had computed until then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{error}{}", kept(.trajectory))]
pub struct Failed {
    /// Why.
    #[source]
    pub error: RunError,
    /// The samples until then, and the last good state; nothing if the run could not begin.
    pub trajectory: Option<Box<Trajectory>>,
}

impl From<RunError> for Failed {
    fn from(error: RunError) -> Failed {
        Failed { error, trajectory: None }
    }
}

fn kept(trajectory: &Option<Box<Trajectory>>) -> String {
    let reached = trajectory.as_ref().and_then(|kept| kept.times().last());
    reached.map_or_else(String::new, |t| format!(" (what was computed until t = {} is kept)", number(t)))
}

/// Why the drift of a quantity along a trajectory cannot be told.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DriftError {
    /// The quantity is infinite or NaN at a sample.
    #[error("the quantity is {value} at t = {}: the motion has left the range where it is defined", number(.t))]
    NotFinite {
        /// The time of the sample.
        t: f64,
        /// The value.
        value: f64,
    },
    /// The quantity could not be evaluated.
    #[error(transparent)]
    Eval(#[from] EvalError),
}

/// What became infinite or NaN, and the element that is to blame, if there is one.
fn not_finite(t: f64, name: &str, value: f64, element: Option<&(String, usize)>) -> String {
    let t = rounded(t, 12);
    match element {
        None => format!(
            "`{name}` became {value} in the step to t = {t}: try a smaller step, or look for a singularity"
        ),
        Some((field, element)) => format!(
            "element {element} of the field `{field}` has no finite energy in the step to t = {t}: it was inverted, or nodes met. \
             Try a smaller step, or an energy that recovers, such as `stable-neo-hookean`"
        ),
    }
}

/// A number in at most so many digits.
#[must_use]
pub fn rounded(value: f64, digits: usize) -> String {
    let rounded = format!("{value:.*e}", digits - 1).parse();
    number(&rounded.unwrap_or_else(|error| unreachable!("what is written as a number reads as one: {error}")))
}

/// All digits of a number, with an exponent where it would be mostly zeros.
#[must_use]
pub fn number(value: &f64) -> String {
    let plain = *value == 0.0 || (1e-4..1e15).contains(&value.abs()) || !value.is_finite();
    if plain { value.to_string() } else { format!("{value:e}") }
}

//! What a person should be told of a run: one place for all warnings. The summary, `--json` and files show each of them.
//!
//! To add one: a variant, its [code](Warning::code), its sentence, and the line in [`Run::measure`](crate::Run::measure) that finds it.

use crate::measure::Balanced;
use crate::problem::Problem;
use leastaction_integrate::{Drift, Pace, Scale, rounded};
use leastaction_language::Doubt;
use leastaction_mechanics::{Dynamics, EvalError, Projection, State};
use std::fmt;

/// An initial condition that is moved by less than this, relatively, was where it should be.
const ROUNDING: f64 = 1e-12;

/// A start that is moved by more than this share of the largest coordinate was meant to be elsewhere.
const FAR: f64 = 0.1;

/// What a person should be told of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Warning {
    /// The initial condition does not meet the constraints, and was moved onto them.
    Moved {
        /// The coordinate that was moved farthest, and how far, if any was.
        coordinate: Option<(String, f64)>,
        /// By how much velocities were changed at most, if they were.
        velocities: Option<f64>,
    },
    /// Nobody said where bodies start: their places were found from joints and constraints.
    Assembled {
        /// The bodies.
        bodies: Vec<String>,
    },
    /// Something in the text is hardly meant.
    Doubtful(Doubt),
    /// Something that should not change did, by more than a result that can be trusted allows.
    Drifted {
        /// What.
        name: String,
        /// By how much.
        drift: Drift,
        /// What to make smaller: the step, or the tolerance.
        remedy: &'static str,
    },
    /// Something that should not change did, by much more than the tolerance, or the length of the steps, explains.
    Unexplained {
        /// What.
        name: String,
        /// By how much.
        drift: Drift,
        /// How much of that is explained, in terms of the same scale.
        explained: f64,
        /// By what: the step, or the tolerance.
        remedy: &'static str,
    },
    /// The energy of an element jumps in place.
    Jumping {
        /// The energy.
        name: String,
    },
    /// The forces of an element jump in place.
    Cornered {
        /// The energy.
        name: String,
    },
    /// Steps are longer than the stiffest element allows.
    Unstable {
        /// The step.
        step: f64,
        /// The longest that is stable.
        limit: f64,
    },
    /// Tetrahedra are turned inside out.
    Inverted {
        /// The mesh.
        mesh: String,
        /// The field.
        field: String,
        /// The first tetrahedron, counted from 0, and when.
        element: usize,
        /// The time of the first sample at which it is.
        t: f64,
        /// How many there are at some sample at most.
        most: usize,
        /// How many there are at the last sample.
        last: usize,
        /// Whether the material turns them back; else it does not notice.
        reversed: bool,
    },
    /// Tetrahedra are turned inside out at an equilibrium.
    InvertedAtRest {
        /// The mesh.
        mesh: String,
        /// The field.
        field: String,
        /// The first tetrahedron, counted from 0.
        element: usize,
        /// How many there are.
        count: usize,
        /// Whether the material resists that; else it does not notice.
        reversed: bool,
    },
    /// An angle of a direction, which an energy or a force reads, jumped by a turn.
    Turned {
        /// The time of the first sample after that.
        t: f64,
    },
    /// The energy changed by something else than the work supplied less what was dissipated.
    Unbalanced {
        /// The balance.
        work: Balanced,
        /// What to make smaller: the step, or the tolerance.
        remedy: &'static str,
    },
    /// What is called dissipation, or damping, adds energy.
    Driving {
        /// The time of the sample at which it adds most.
        t: f64,
        /// The power that it adds there.
        power: f64,
    },
    /// Another run at a different pace ends elsewhere.
    Uncertain {
        /// That pace.
        companion: Pace,
        /// What to make smaller: the step, or the tolerance.
        remedy: &'static str,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Moved { coordinate, velocities } => {
                let coordinate = coordinate.as_ref().map(|(name, by)| format!("{name} by {}", roughly(*by)));
                let velocities = velocities.map(|by| format!("velocities by up to {}", roughly(by)));
                let changes: Vec<_> = coordinate.into_iter().chain(velocities).collect();
                write!(f, "the start was moved onto its constraints: {}", changes.join(", "))
            }
            Warning::Assembled { bodies } => {
                let bodies: Vec<_> = bodies.iter().map(|body| format!("`{body}`")).collect();
                let bodies = bodies.join(", ");
                write!(
                    f,
                    "the places of {bodies} follow from joints and constraints, which may allow others, too"
                )
            }
            Warning::Doubtful(doubt) => write!(f, "line {}: {}", doubt.line, doubt.diagnostic.message),
            Warning::Drifted { name, drift, remedy } => write!(
                f,
                "{name} should not change, and drifted by {:.1e} of {}: do not trust this result, try a smaller {remedy}",
                drift.relative(),
                measured_by(drift.of)
            ),
            Warning::Unexplained { name, drift, explained, remedy } => write!(
                f,
                "{name} should not change, and drifted by {:.1e} of {}, where the {remedy} explains {explained:.1e} at most: \
                 do not trust this result. Look for something that jumps, has a kink, is singular, or is so thin that steps pass over it: a smaller --max-step finds that",
                drift.relative(),
                measured_by(drift.of)
            ),
            Warning::Jumping { name } => write!(
                f,
                "the energy `{name}` jumps in place: no force tells of the blow that this is, and motions that pass there are wrong. Write a steep slope, such as tanh((u - a)/w), or subtract what is \
                 left at a cut-off"
            ),
            Warning::Cornered { name } => write!(
                f,
                "the forces of `{name}` jump in place, and no step lands there: motions that pass there have fewer digits than their steps promise. Write a rounded corner, such as \
                 sqrt(u^2 + w^2) for abs(u) and max(0, u)^2 for max(0, u), or try shorter steps, and see whether the end stays"
            ),
            Warning::Unstable { step, limit } => write!(
                f,
                "a step of {} is longer than {}, above which the stiffest element of the field makes an explicit method unstable: do not trust this result, try a \
                 smaller step or an implicit method",
                rounded(*step, 3),
                rounded(*limit, 3)
            ),
            Warning::Inverted { mesh, field, element, t, most, last, reversed } => write!(
                f,
                "element {element} of the field `{field}` on `{mesh}` is turned inside out at t = {}{}, and {} at the end: {}",
                rounded(*t, 6),
                if *most > 1 { format!(", up to {most} are at once") } else { String::new() },
                match last {
                    0 => "none is".to_owned(),
                    1 => "one is".to_owned(),
                    _ => format!("{last} are"),
                },
                match reversed {
                    true =>
                        "the material may turn it back, but no body does that. Try a smaller load, a stiffer material, or a finer mesh",
                    false =>
                        "the energy does not notice, and what follows is no motion of a body. Try `neo-hookean`, which cannot be, or `stable-neo-hookean`, which recovers",
                }
            ),
            Warning::InvertedAtRest { mesh, field, element, count, reversed } => write!(
                f,
                "element {element} of the field `{field}` on `{mesh}` is turned inside out at the equilibrium{}: {}, and no body rests like that. Begin the search with `start {mesh} at …` \
                 where no element is, or make the load smaller",
                if *count > 1 { format!(", as {count} are") } else { String::new() },
                match reversed {
                    true => "the energy has a minimum there",
                    false => "the energy does not notice",
                }
            ),
            Warning::Turned { t } => write!(
                f,
                "an angle that an energy or a force reads jumped by a turn before t = {}, and so did the energy or the force: do not trust what follows. Such an angle is known up to turns only, as `BODY.angle` is: \
                 write what is the same after a turn, as 1 - cos(a), or make the angle a coordinate",
                rounded(*t, 6)
            ),
            Warning::Unbalanced { work, remedy } => write!(
                f,
                "the balance of energy does not close: {} of it is neither supplied nor dissipated, {:.1e} of all. Do not trust this result, try a smaller {remedy}",
                roughly(work.residual),
                work.relative()
            ),
            Warning::Driving { t, power } => write!(
                f,
                "dissipation adds energy at t = {}, at a rate of {}: a rate of damping is negative there, or what a damper hangs on moves",
                rounded(*t, 6),
                roughly(*power)
            ),
            Warning::Uncertain { companion, remedy } => write!(
                f,
                "no digit at the end is certain: a run with {companion} ends elsewhere. Try a smaller {remedy}; if that ends elsewhere too, the motion is chaotic, and \
                 only what many runs have in common can be known (`leastaction ensemble`)"
            ),
        }
    }
}

impl Warning {
    /// A word for machines, which stays the same when the sentence changes.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Warning::Moved { .. } => "moved",
            Warning::Assembled { .. } => "assembled",
            Warning::Doubtful(doubt) => doubt.kind.code(),
            Warning::Drifted { .. } => "drifted",
            Warning::Unexplained { .. } => "unexplained",
            Warning::Jumping { .. } => "jumping",
            Warning::Cornered { .. } => "cornered",
            Warning::Unstable { .. } => "unstable",
            Warning::Inverted { .. } | Warning::InvertedAtRest { .. } => "inverted",
            Warning::Turned { .. } => "turned",
            Warning::Unbalanced { .. } => "unbalanced",
            Warning::Driving { .. } => "driving",
            Warning::Uncertain { .. } => "uncertain",
        }
    }
}

/// How far the initial condition was moved onto constraints, if by more than rounding.
pub(crate) fn moved(
    dynamics: &mut Dynamics,
    start: &State,
    placed: &Projection,
) -> Result<Option<Warning>, EvalError> {
    let largest = |numbers: &[f64]| numbers.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let mut velocities = vec![0.0; start.q.len()];
    dynamics.velocities(&[start.t], &start.block(), &mut velocities)?;
    let name = || dynamics.system().coordinates().at(placed.farthest);
    let coordinate = (placed.moved > ROUNDING * largest(&start.q)).then(|| (name(), placed.moved));
    let velocities = (placed.deflected > ROUNDING * largest(&velocities)).then_some(placed.deflected);
    let any = coordinate.is_some() || velocities.is_some();
    Ok(any.then_some(Warning::Moved { coordinate, velocities }))
}

impl Problem<'_> {
    /// The warning that the start was moved far to meet the constraints, if it was.
    ///
    /// # Errors
    /// [`EvalError`] if velocities cannot be computed.
    pub fn moved_far(&mut self) -> Result<Option<Warning>, EvalError> {
        let Some(placed) = &self.placed else { return Ok(None) };
        let largest = self.start.q.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if placed.moved <= FAR * largest {
            return Ok(None);
        }
        moved(&mut self.dynamics, &self.start, placed)
    }
}

fn measured_by(scale: Scale) -> &'static str {
    match scale {
        Scale::Start => "itself",
        Scale::Terms => "the size of its terms",
    }
}

/// Two digits of a number.
fn roughly(value: f64) -> String {
    rounded(value, 2)
}

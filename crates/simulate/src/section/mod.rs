//! A Poincaré section: the points where orbits pass a surface.
//!
//! Each step is looked into by its polynomial, and points are where that passes the surface (M. Hénon, Physica D 5 (1982) 412,
//! doi:10.1016/0167-2789(82)90034-3, integrates onto it instead).

mod follow;
mod pace;
mod points;
mod starts;
mod surface;

pub use points::{Points, PointsTable};
pub use starts::{Fan, Level, LevelError, Orbit};
pub use surface::Surface;

use crate::error::{Cause, PrepareError};
use crate::method::Method;
use crate::overrides::Overrides;
use crate::problem::Problem;
use crate::source::Source;
use leastaction_integrate::{Event, Integrator, Pace, RunError, number, rounded};
use leastaction_language::Direction;
use leastaction_mechanics::{Dynamics, Observable, ObserveError};
use std::fmt;
use std::thread;
use std::time::Duration;

/// Progress and interruptions are looked at every so many steps.
const STEPS: u64 = 64;
/// An orbit that does not pass the surface for so many times the time of a usual run is given up, unless an end is asked for.
const DRY: f64 = 100.0;
/// And it is followed no longer than so many times that.
const LONGEST: f64 = 1e6;

/// What is asked of a section.
#[derive(Clone, Debug)]
pub struct SectionPlan {
    /// The surface: an expression that passes 0, or an equation.
    pub through: String,
    /// Which way the expression passes.
    pub direction: Direction,
    /// The two expressions that are shown; a coordinate that the surface does not hold, and its momentum, if they are left out.
    pub shown: Option<[String; 2]>,
    /// How many orbits are followed.
    pub orbits: usize,
    /// Where these start, if not all at one place.
    pub vary: Option<Fan>,
    /// The energy that all of them have, if one is asked for.
    pub level: Option<Level>,
    /// How many points of each are looked for.
    pub count: usize,
    /// How many threads follow orbits; as many as the machine can run at once if this is left out. The points are the same.
    pub threads: Option<usize>,
}

/// Why there is no such section.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SectionError {
    /// The surface is no expression, nor an equation.
    #[error("`{text}` is no surface")]
    Surface {
        /// What was written.
        text: String,
    },
    /// Nothing is left to show.
    #[error("what should be shown of the section?")]
    NothingShown,
    /// The surface, or what is shown, cannot be observed.
    #[error("`{text}`: {source}")]
    Observe {
        /// What was written.
        text: String,
        /// Why.
        source: ObserveError,
    },
    /// Initial conditions are drawn, and something else is asked of them.
    #[error("random starts cannot be varied, or be given an energy")]
    Drawn,
    /// What is varied is also solved for.
    #[error(
        "`{name}` is varied, and `{solve}` follows from the energy: they cannot be told apart; vary something else"
    )]
    Solved {
        /// What is varied.
        name: String,
        /// What is solved for.
        solve: String,
    },
    /// Several orbits have one initial condition.
    #[error("several orbits need several starts")]
    OneStart,
}

/// A section that is prepared.
#[derive(Clone)]
pub struct Section {
    /// The system with its parameters and inputs.
    pub dynamics: Dynamics,
    /// The method with its pace, which finds where orbits pass the surface.
    pub integrator: Integrator,
    /// Why the method was chosen, if it was.
    pub why: Option<String>,
    /// The surface.
    pub surface: Surface,
    /// What is shown.
    pub names: [String; 2],
    /// Where orbits start.
    pub starts: Vec<Orbit>,
    /// Orbits that have no start.
    pub lost: Vec<LostOrbit>,
    shown: [Observable; 2],
    count: usize,
    threads: usize,
    end: f64,
    /// How long is waited for a point; for ever if an end was asked for.
    patience: f64,
}

/// An orbit of which there are fewer points than were asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct LostOrbit {
    /// How it differs from the others; empty if there are none.
    pub name: String,
    /// Why.
    pub why: Lost,
}

/// Why an orbit has fewer points than were asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Lost {
    /// It has no start.
    Start(LevelError),
    /// It was given up after a time without a point.
    Dry {
        /// How many points there are, and how many were asked for.
        points: [usize; 2],
        /// That time.
        patience: f64,
    },
    /// It came to its end.
    Ended {
        /// How many points there are, and how many were asked for.
        points: [usize; 2],
        /// When.
        t: f64,
    },
    /// Its energy went astray: from there on, points are left out.
    Astray {
        /// How many points there are, and how many were asked for.
        points: [usize; 2],
        /// When.
        t: f64,
    },
    /// It failed.
    Failed {
        /// How many points there are, and how many were asked for.
        points: [usize; 2],
        /// Why.
        error: Box<RunError>,
    },
}

impl fmt::Display for LostOrbit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.name.is_empty() {
            write!(f, "{}: ", self.name)?;
        }
        let fewer = |[found, count]: [usize; 2]| format!("{found} points instead of {count}");
        match &self.why {
            Lost::Start(error) => error.fmt(f),
            Lost::Dry { points, patience } => {
                write!(f, "{}: none follows for {}", fewer(*points), number(patience))
            }
            Lost::Ended { points, t } => write!(f, "{} until t = {}", fewer(*points), number(t)),
            Lost::Astray { points, t } => write!(
                f,
                "{}: at t = {} its energy is no longer what it was, as where an orbit escapes; what follows is left out",
                fewer(*points),
                rounded(*t, 4)
            ),
            Lost::Failed { points, error } => write!(f, "{}: {error}", fewer(*points)),
        }
    }
}

/// What became of a section.
#[derive(Clone, Debug)]
pub struct SectionRun {
    /// The points.
    pub points: Points,
    /// Orbits with fewer points than were asked for.
    pub lost: Vec<LostOrbit>,
    /// By how much the energy was off at the points, at most, relatively.
    pub drift: f64,
    /// How many orbits were done when it was interrupted, if it was.
    pub interrupted: Option<usize>,
    /// How long it took.
    pub wall: Duration,
}

/// How far a section has come.
#[derive(Clone, Copy, Debug)]
pub struct SectionProgress {
    /// How many orbits are done.
    pub orbits: usize,
    /// How many points there are.
    pub points: usize,
    /// Which part of all is done.
    pub fraction: f64,
}

impl Section {
    /// Prepares a section of a problem.
    ///
    /// # Errors
    /// [`PrepareError`] says what is wrong, mostly with what is asked for.
    pub fn new(
        source: &Source,
        problem: &mut Problem<'_>,
        plan: &SectionPlan,
        overrides: &Overrides,
    ) -> Result<Section, PrepareError> {
        let surface: Surface = plan.through.parse()?;
        problem.check_no_resets("sections do", || {
            format!(
                "look for the event `{}` by `run --event`, and write its crossings by `--events FILE`",
                plan.through
            )
        })?;
        let passing = Event::new(observe(&mut problem.dynamics, &surface.vanishing(), &plan.through)?);
        let passing = match plan.direction {
            Direction::Both => passing,
            Direction::Rising => passing.rising(),
            Direction::Falling => passing.falling(),
        };
        let names = match &plan.shown {
            Some(names) => names.clone(),
            None => surface.usual(problem.dynamics.system())?,
        };
        let [a, b] = &names;
        let shown = [observe(&mut problem.dynamics, a, a)?, observe(&mut problem.dynamics, b, b)?];
        let Method { integrator, why } = problem.section_method(&passing, plan.count, overrides)?;
        let (end, patience) = extent(problem, &integrator, overrides);
        // Inputs are not known beyond their tables.
        let known =
            problem.setup.tables.iter().map(|(_, covers)| if end < 0.0 { -covers[0] } else { covers[1] });
        let end = known.fold(end.abs(), f64::min).copysign(end);
        let (starts, lost) = starts::starts(source, problem, plan, overrides.seed)?;
        Ok(Section {
            dynamics: problem.dynamics.clone(),
            integrator: integrator.event(passing).every(STEPS),
            why,
            surface,
            names,
            starts,
            lost,
            shown,
            count: plan.count,
            threads: plan
                .threads
                .unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
                .max(1),
            end,
            patience,
        })
    }
}

impl From<SectionError> for PrepareError {
    fn from(error: SectionError) -> PrepareError {
        PrepareError::usage(Cause::Section(error))
    }
}

/// An expression that stands for what was written.
fn observe(dynamics: &mut Dynamics, expression: &str, text: &str) -> Result<Observable, SectionError> {
    let unclear = |source| SectionError::Observe { text: text.to_owned(), source };
    dynamics.observable(expression).map_err(unclear)
}

/// When orbits end, and how long is waited for a point: until the end that is asked for, or as long as points are found.
fn extent(problem: &Problem<'_>, integrator: &Integrator, overrides: &Overrides) -> (f64, f64) {
    if overrides.until.is_some() {
        return (problem.until, f64::INFINITY);
    }
    let (start, span) = (problem.start.t, problem.until - problem.start.t);
    let end = match integrator.pace() {
        Pace::Step(step) => {
            let most = 0.99 * overrides.max_steps.unwrap_or(Integrator::STEP_LIMIT) as f64 * step.abs();
            start + span.signum() * (LONGEST * span.abs()).min(most)
        }
        _ => start + LONGEST * span,
    };
    (end, DRY * span.abs())
}

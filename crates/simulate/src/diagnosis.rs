//! What is known of where a run failed: which number changed fastest there, and whether another method gets past it.

use crate::error::FailedRun;
use crate::run::Run;
use leastaction_integrate::{
    Card, Integrator, Pace, RunError, Tolerance, longest_stable_step, number, rounded,
};
use leastaction_mechanics::Form;
use std::fmt;

/// Methods that are tried from where a run failed, and the tolerance: one for any field, one for what is stiff, both easily content.
const OTHERS: [&str; 2] = ["dop853", "radau5"];
const TOLERANCE: f64 = 1e-6;
/// They are tried for this part of the run, and so many steps.
const PART: f64 = 0.01;
const STEPS: u64 = 2000;
/// Where steps have one length, all that was computed may be worthless: others are tried from the start, for so many steps.
const STEPS_FROM_START: u64 = 50_000;
/// An inertia that is this part of what it was at the start has vanished.
const VANISHED: f64 = 1e-10;
/// Of more coordinates nobody looks for that.
const MANY: usize = 200;
/// A number smaller than this, relative to the largest of its kind, is measured by that one.
const SMALL: f64 = 0.01;

/// What is known of where a run failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// The last good time.
    pub t: f64,
    /// The coordinate or momentum that changed fastest there, relative to its size.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// The rate at which it changed.
    pub rate: f64,
    /// The method and its pace, with the steps that it took and those that were rejected.
    pub tried: String,
    /// The coordinate whose inertia vanishes there, if one's does: the pole of the coordinates, as r = 0 is that of polar ones.
    pub pole: Option<String>,
    /// The length of the steps, and up to which length the method is stable at the start, if they are longer.
    pub unstable: Option<[f64; 2]>,
    /// What was tried from there; nothing if the run was only out of steps, or memory, or if nothing that is written leads on.
    pub others: Option<Others>,
}

/// Other methods, from where a run failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Others {
    /// This one gets past it.
    Passes {
        /// The method.
        method: &'static str,
        /// Its tolerance.
        tolerance: f64,
        /// Whether from the start, and not from where the run failed.
        from_start: bool,
    },
    /// None of these does.
    Fail {
        /// The methods.
        methods: Vec<&'static str>,
        /// Their tolerance.
        tolerance: f64,
    },
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnosis { t, name, value, rate, tried, pole, unstable, others } = self;
        writeln!(f, "  by     {tried}")?;
        write!(
            f,
            "  where  t = {}, {name} = {}, which changes fastest there (by {} per unit of time)",
            number(t),
            rounded(*value, 5),
            rounded(*rate, 3)
        )?;
        if let Some(coordinate) = pole {
            return write!(f, "\n  help   {}", at_pole(coordinate));
        }
        if let Some([step, limit]) = unstable {
            return write!(
                f,
                "\n  help   steps of {} are longer than those up to which this method is stable at the start, {}: try --step {}",
                rounded(*step, 3),
                rounded(*limit, 3),
                rounded(0.5 * limit, 2)
            );
        }
        match others {
            None => Ok(()),
            Some(Others::Passes { method, tolerance, from_start }) => {
                let from = if *from_start { "the start" } else { "there" };
                write!(
                    f,
                    "\n  help   from {from}, {method} with a tolerance of {tolerance:e} gets past it: --method {method} --tol {tolerance:e}"
                )
            }
            Some(Others::Fail { methods, tolerance }) => write!(
                f,
                "\n  help   {} with a tolerance of {tolerance:e} do not get past it either: the motion may end there, as it does at a collision. \
                 Stop before it (`event NAME: EXPRESSION, stop`, or --until), or write the forces such that they stay finite",
                methods.join(" and ")
            ),
        }
    }
}

/// What to do at the pole of coordinates.
pub(crate) fn at_pole(coordinate: &str) -> String {
    format!(
        "the inertia of `{coordinate}` vanishes there, as that of an angle does where its radius is 0: these coordinates cannot describe a motion through that place. \
         Write it in Cartesian coordinates (`coord x, y` and `particle bead mass 1 at [x, y]`), with radius and angle as outputs"
    )
}

impl FailedRun {
    /// What is known of where the run failed; nothing if it could not begin, or the field cannot be evaluated there.
    #[must_use]
    pub fn diagnosis(&self) -> Option<Diagnosis> {
        self.run.as_ref()?.diagnosis(&self.error)
    }
}

impl Run {
    /// What is known of where the run failed by this error.
    #[must_use]
    pub fn diagnosis(&self, error: &RunError) -> Option<Diagnosis> {
        let (simulation, end, work) = (&self.simulation, self.trajectory.end(), self.trajectory.work());
        let (mut dynamics, y) = (simulation.dynamics.clone(), end.block());
        let mut rates = vec![0.0; y.len()];
        dynamics.rates(&[end.t], &y, &mut rates).ok()?;
        let degrees = simulation.dynamics.system().degrees();
        let largest = |part: &[f64]| part.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
        let kinds = [largest(&y[..degrees]), largest(&y[degrees..])];
        let speed = |i: usize| rates[i].abs() / y[i].abs().max(SMALL * kinds[usize::from(i >= degrees)]);
        let broken = match error {
            RunError::NotFinite { name, .. } => {
                (0..y.len()).find(|&i| simulation.dynamics.system().state_name(i) == *name)
            }
            _ => None,
        };
        let fastest = broken.or_else(|| (0..y.len()).max_by(|&i, &j| speed(i).total_cmp(&speed(j))))?;
        let integrator = &simulation.integrator;
        let exhausted = matches!(
            error,
            RunError::OutOfSteps { .. } | RunError::Endless { .. } | RunError::TooManySamples { .. }
        );
        // No method gets past what is not written.
        let unsaid = matches!(
            error,
            RunError::Chatter { .. }
                | RunError::EnergyJump { .. }
                | RunError::ConstraintCorner { .. }
                | RunError::Reset { .. }
        );
        let unstable = match *integrator.pace() {
            Pace::Step(step) => longest_stable_step(&mut dynamics, &simulation.start, integrator.card())
                .filter(|limit| step.abs() > *limit)
                .map(|limit| [step.abs(), limit]),
            _ => None,
        };
        Some(Diagnosis {
            t: end.t,
            name: simulation.dynamics.system().state_name(fastest),
            value: y[fastest],
            rate: rates[fastest],
            tried: format!(
                "{} with {}, {} steps taken, {} rejected",
                integrator.card().name,
                integrator.pace(),
                work.steps,
                work.rejected
            ),
            pole: self.pole(end.t, &end.q),
            others: (!exhausted && !unsaid && unstable.is_none()).then(|| self.others()),
            unstable,
        })
    }

    /// The coordinate whose inertia vanishes at a time and place, compared with what it was at the start.
    pub(crate) fn pole(&self, t: f64, q: &[f64]) -> Option<String> {
        let (simulation, n) = (&self.simulation, q.len());
        let mut dynamics = simulation.dynamics.clone();
        if dynamics.system().facts().form != Form::Lagrangian || n > MANY {
            return None;
        }
        let mut inertia = |t: f64, q: &[f64]| {
            let (at_rest, mut matrix) = ([q, &vec![0.0; n][..]].concat(), vec![0.0; n * n]);
            dynamics.mass_matrix(&[t], &at_rest, &mut matrix).ok()?;
            Some((0..n).map(|i| matrix[i * n + i]).collect::<Vec<_>>())
        };
        let (first, here) = (inertia(simulation.start.t, &simulation.start.q)?, inertia(t, q)?);
        let vanished = |&i: &usize| here[i].abs() <= VANISHED * first[i];
        (0..n).find(vanished).map(|i| simulation.dynamics.system().coordinates().at(i))
    }

    /// Whether another method gets past where the run was left.
    fn others(&self) -> Others {
        let (simulation, end) = (&self.simulation, self.trajectory.end());
        let span = simulation.until - simulation.start.t;
        let from_start = matches!(simulation.integrator.pace(), Pace::Step(_));
        let (start, most) = if from_start { (&simulation.start, STEPS_FROM_START) } else { (&end, STEPS) };
        let until = end.t + (PART * span).abs().min((simulation.until - end.t).abs()) * span.signum();
        let applies = |card: &Card| card.needs.met_by(simulation.dynamics.system().facts());
        let mut methods = Vec::new();
        let known = |name: &&str| Card::named(name).unwrap_or_else(|error| unreachable!("{error}"));
        for card in OTHERS.iter().map(known).filter(|card| applies(card)) {
            let integrator = Integrator::new(card, Tolerance::relative(TOLERANCE)).at_most(most).ends_only();
            let passed = integrator.run(&mut simulation.dynamics.clone(), start, until);
            if passed.is_ok() {
                return Others::Passes { method: card.name, tolerance: TOLERANCE, from_start };
            }
            methods.push(card.name);
        }
        Others::Fail { methods, tolerance: TOLERANCE }
    }
}

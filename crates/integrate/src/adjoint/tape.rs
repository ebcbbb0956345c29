//! A run that can be gone back over: its steps, or checkpoints from which they are made again.

use super::error::AdjointError;
use super::program::Text;
use super::reverse_step::stepper;
use crate::block::Block;
use crate::card::Card;
use crate::error::RunError;
use crate::integrator::{Integrator, Reason};
use crate::method::ALL;
use crate::run::checkpoint::Checkpoint;
use crate::run::event::Event;
use crate::run_loop::RunLoop;
use crate::step::Step;
use crate::trajectory::Trajectory;
use leastaction_mechanics::{Dynamics, Quantity, State};
use std::borrow::Cow;
use std::ops::ControlFlow;

/// Implicit steps of more unknowns are not gone back over: their matrices are dense.
const MOST_UNKNOWNS: usize = 500;

/// So many numbers of states and checkpoints are kept of a run: 128 MB.
const ROOM: usize = 1 << 24;

/// A run that can be gone back over.
///
/// ```
/// use leastaction_expr::Graph;
/// use leastaction_integrate::{Integrator, Seed, Tape};
/// use leastaction_mechanics::Model;
///
/// // How does the place of a falling ball after a second depend on its start, and on gravity?
/// let graph = Graph::new();
/// let mut model = Model::new(&graph);
/// let g = model.parameter("g", 9.81);
/// let x = model.coordinate("x");
/// model.particle("ball", 2.0, [x]);
/// model.gravity([-g]);
/// let mut dynamics = model.system()?.dynamics()?;
/// let start = dynamics.start(&[("x'", 5.0)])?;
/// let tape = Tape::record(&Integrator::named("rk4", 0.1)?, &dynamics, &start, 1.0)?;
/// let gradient = tape.gradient(&Seed::new().end(&[1.0, 0.0]))?;
/// assert!((gradient.start[0] - 1.0).abs() < 1e-15); // by x
/// assert!((gradient.start[1] - 0.5).abs() < 1e-15); // by p = m x'
/// assert!((gradient.parameters[0] + 0.5).abs() < 1e-15); // by g
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Tape {
    integrator: Integrator,
    dynamics: Dynamics,
    start: State,
    trajectory: Trajectory,
    by: Vec<usize>,
    samples: Vec<Place>,
    crossings: Vec<(u64, f64)>,
    /// How many steps there are, and those after the last checkpoint.
    steps: u64,
    last: Segment,
    checkpoints: Vec<(u64, Checkpoint)>,
    room: Room,
    /// When the first switch was passed.
    switch: Option<f64>,
    /// When constraints first depended on each other.
    passage: Option<f64>,
    /// Where the last step ends, though it may not have been taken that far.
    beyond: Vec<f64>,
}

/// Where a sample is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// Where a step begins; after the last, where that ends.
    Between(u64),
    /// After a part of a step.
    Within(u64, f64),
    /// Where an event happened.
    Crossing(usize),
}

/// How many steps, and how many checkpoints, are kept at a time.
#[derive(Clone, Copy, Debug)]
struct Room {
    steps: u64,
    checkpoints: u64,
}

impl Room {
    fn of(numbers: usize, dimension: usize) -> Room {
        let half = numbers / 2;
        let steps = (half / (dimension + 2)).max(2) as u64;
        // A checkpoint has some states, and what lanes remember.
        Room { steps, checkpoints: (half / (6 * dimension + 256)).max(2) as u64 }
    }
}

/// The steps from one on: time, length and state of each.
#[derive(Clone, Default)]
struct Segment {
    first: u64,
    numbers: Vec<f64>,
}

impl Segment {
    fn push(&mut self, run: &RunLoop<'_>) {
        let (t, h) = run.proposed();
        self.numbers.extend([t, h]);
        self.numbers.extend(run.block.values());
    }
}

/// A step of a run.
#[derive(Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) t: f64,
    pub(super) h: f64,
    pub(super) y: &'a [f64],
}

impl Tape {
    /// Runs as [`Integrator::run`] does, and keeps what it takes to go back: by all parameters.
    ///
    /// # Errors
    /// [`AdjointError`] if the method or the system has no adjoint, or the run fails.
    pub fn record(
        integrator: &Integrator,
        dynamics: &Dynamics,
        start: &State,
        end: f64,
    ) -> Result<Tape, AdjointError> {
        let by: Vec<usize> = (0..dynamics.system().parameters().len()).collect();
        Tape::record_with(integrator, dynamics, start, end, &by, ROOM)
    }

    /// The same, to be differentiated by these parameters, by their places, and with room for so many numbers of states and checkpoints: what does not find room is computed
    /// again.
    ///
    /// # Errors
    /// As [`Tape::record`]; [`AdjointError::Missing`] if there is no such parameter.
    pub fn record_with(
        integrator: &Integrator,
        dynamics: &Dynamics,
        start: &State,
        end: f64,
        by: &[usize],
        room: usize,
    ) -> Result<Tape, AdjointError> {
        let mut dynamics = dynamics.clone();
        let system = dynamics.system().clone();
        let count = system.parameters().len();
        if let Some(&index) = by.iter().find(|&&place| place >= count) {
            return Err(AdjointError::Missing { what: "parameter", index, count });
        }
        if let Some(reset) = integrator.events.iter().find_map(Event::reset) {
            return Err(AdjointError::Reset { event: reset.event().to_owned() });
        }
        let room = Room::of(room, system.dimension());
        let mut trajectory = Trajectory::with_room(&system, integrator.samples_between(start.t, end)?)?;
        let mut run = integrator.run_loop(&mut dynamics, start.t, Block::one(&start.block()), end)?;
        let ends_count = check(&mut run)?;
        let on_switch = run.is_on_switch()?.then_some(start.t);
        let (mut samples, mut crossings, mut times) = (Vec::new(), Vec::new(), Vec::new());
        let (mut last, mut switch, mut beyond) = (Segment::default(), on_switch, start.block());
        let mut passage = None;
        // Room that grows step by step would be copied as it grows.
        let known = integrator.steps_between(start.t, end)?.unwrap_or(0).min(room.steps);
        last.numbers.reserve_exact(known as usize * (system.dimension() + 2));
        let mut kept = Kept { checkpoints: Vec::new(), spacing: room.steps, room };
        let steps = std::cell::Cell::new(0_u64);
        trajectory = integrator.record_with(
            &mut run,
            trajectory,
            |moment| {
                kept.visit(steps.get(), || moment.checkpoint());
                ControlFlow::Continue(())
            },
            |run| {
                if steps.get().is_multiple_of(room.steps) {
                    last = Segment { first: steps.get(), numbers: std::mem::take(&mut last.numbers) };
                    last.numbers.clear();
                }
                last.push(run);
                if ends_count {
                    beyond.iter_mut().enumerate().for_each(|(i, value)| *value = run.after(i));
                }
                let (t, h) = run.proposed();
                if switch.is_none() && run.ends_on_switch() {
                    switch = Some(t + h);
                }
                if passage.is_none() && run.is_passage() {
                    passage = Some(t);
                }
                steps.set(steps.get() + 1);
                Ok(())
            },
            |sample| {
                if let (Some(_), Some(tau)) = (sample.event, sample.within) {
                    crossings.push((steps.get() - 1, tau));
                }
                let terminal = sample.event.is_some_and(|hit| hit.terminal);
                if sample.event.is_none() || terminal && times.last() != Some(&sample.t) {
                    times.push(sample.t);
                    samples.push(match sample.within {
                        _ if terminal => Place::Crossing(crossings.len() - 1),
                        Some(tau) => Place::Within(steps.get() - 1, tau),
                        None => Place::Between(steps.get()),
                    });
                }
            },
        )?;
        drop(run);
        debug_assert!(trajectory.reason() != Reason::Interrupted && trajectory.len() == samples.len());
        let (integrator, start, steps) = (integrator.clone(), start.clone(), steps.get());
        let (by, checkpoints) = (by.to_vec(), kept.checkpoints);
        Ok(Tape {
            integrator,
            dynamics,
            start,
            trajectory,
            by,
            samples,
            crossings,
            steps,
            last,
            checkpoints,
            room,
            switch,
            passage,
            beyond,
        })
    }

    /// The run: its samples and events.
    #[must_use]
    pub fn trajectory(&self) -> &Trajectory {
        &self.trajectory
    }

    /// The system, with the parameters of the run.
    #[must_use]
    pub fn dynamics(&self) -> &Dynamics {
        &self.dynamics
    }

    /// Where the run began.
    #[must_use]
    pub fn start(&self) -> &State {
        &self.start
    }

    /// The parameters by which it is differentiated, by their places.
    #[must_use]
    pub fn by(&self) -> &[usize] {
        &self.by
    }

    /// How many numbers of states and checkpoints are kept.
    #[must_use]
    pub fn kept(&self) -> usize {
        let checkpoints: usize = self.checkpoints.iter().map(|(_, checkpoint)| checkpoint.size()).sum();
        self.last.numbers.len() + checkpoints
    }

    pub(super) fn beyond(&self) -> &[f64] {
        &self.beyond
    }

    pub(super) fn integrator(&self) -> &Integrator {
        &self.integrator
    }

    pub(super) fn dimension(&self) -> usize {
        self.dynamics.system().dimension()
    }

    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    pub(super) fn samples(&self) -> &[Place] {
        &self.samples
    }

    pub(super) fn crossings(&self) -> &[(u64, f64)] {
        &self.crossings
    }

    /// Whether it can be gone back over, and side by side with another.
    pub(super) fn check_alike(&self, other: &Tape) -> Result<(), AdjointError> {
        if let Some(t) = self.switch {
            return Err(AdjointError::Switch { t });
        }
        if let Some(t) = self.passage {
            return Err(AdjointError::Passage { t });
        }
        let what = match () {
            () if !self.dynamics.system().is_same(other.dynamics.system()) => "system",
            () if self.integrator.card().name != other.integrator.card().name => "method",
            () if self.by != other.by => "parameters",
            () if !self.dynamics.system().inputs().is_empty() && !std::ptr::eq(self, other) => "inputs",
            () => return Ok(()),
        };
        Err(AdjointError::Apart { what })
    }
}

/// Whether there is an adjoint of a run; and whether the ends of its steps are asked for.
fn check(run: &mut RunLoop<'_>) -> Result<bool, AdjointError> {
    let (dimension, facts) = (run.block.dimension(), run.motion.plain().system().facts().clone());
    let card = run.card;
    let is_written = |step: &mut dyn Step| {
        Text::find(step, card).is_some_and(|text| {
            // What is evaluated around a text is the vector field, or half of it.
            let known = |quantity| matches!(quantity, Quantity::Rates | Quantity::Drift | Quantity::Kick);
            facts.one_kernel || text.quantities().iter().all(|(quantity, _)| known(*quantity))
        })
    };
    if !is_written(run.method()) {
        let dynamics = run.motion.plain();
        let works = |card: &&Card| {
            let stepper = stepper(dynamics, card);
            card.needs.met_by(&facts) && stepper.is_ok_and(|mut step| Text::find(&mut *step, card).is_some())
        };
        let works = ALL.iter().filter(works).map(|card| card.name).collect();
        return Err(AdjointError::Method { method: run.card.name, works });
    }
    let text = Text::find(run.method(), card);
    let (unknowns, legs) = text.map_or((0, false), |text| (text.unknowns(dimension), text.is_of_legs()));
    if unknowns > MOST_UNKNOWNS {
        return Err(AdjointError::System {
            why: "the equations of an implicit step have too many unknowns for a dense matrix; use an explicit method",
        });
    }
    Ok(unknowns > 0 || legs || facts.constrained)
}

/// Checkpoints of a run, of which every second is forgotten when they are too many.
struct Kept {
    checkpoints: Vec<(u64, Checkpoint)>,
    spacing: u64,
    room: Room,
}

impl Kept {
    fn visit(&mut self, step: u64, checkpoint: impl FnOnce() -> Checkpoint) {
        if !step.is_multiple_of(self.spacing) {
            return;
        }
        self.checkpoints.push((step, checkpoint()));
        if self.checkpoints.len() as u64 > self.room.checkpoints {
            self.spacing *= 2;
            let spacing = self.spacing;
            self.checkpoints.retain(|(step, _)| step.is_multiple_of(spacing));
        }
    }
}

/// The way back over a tape.
pub(super) struct Cursor<'a> {
    tape: &'a Tape,
    /// How many steps are left.
    left: u64,
    segment: Cow<'a, Segment>,
    checkpoints: Vec<(u64, Checkpoint)>,
    /// The system, for steps that are made again.
    dynamics: Option<Box<Dynamics>>,
    /// The state at the start.
    start: Vec<f64>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(tape: &'a Tape) -> Cursor<'a> {
        let (segment, checkpoints) = (Cow::Borrowed(&tape.last), tape.checkpoints.clone());
        Cursor { tape, left: tape.steps, segment, checkpoints, dynamics: None, start: tape.start.block() }
    }

    /// The step before the last that was given; where there are none left, the run rests at its start.
    pub(super) fn back(&mut self) -> Result<Record<'_>, AdjointError> {
        if self.left == 0 {
            return Ok(Record { t: self.tape.start.t, h: 0.0, y: &self.start });
        }
        if self.left == self.segment.first {
            self.refill()?;
        }
        self.left -= 1;
        let stride = self.tape.dimension() + 2;
        let place = (self.left - self.segment.first) as usize * stride;
        let [t, h, y @ ..] = &self.segment.numbers[place..][..stride] else {
            unreachable!("a step has a time and a length")
        };
        Ok(Record { t: *t, h: *h, y })
    }

    /// Makes the steps before the segment again, as many as there is room for, with checkpoints on the way to them.
    fn refill(&mut self) -> Result<(), AdjointError> {
        let Cursor { tape, left, segment, checkpoints, dynamics, .. } = self;
        let (room, dynamics) = (tape.room, dynamics.get_or_insert_with(|| Box::new(tape.dynamics.clone())));
        loop {
            while checkpoints.last().is_some_and(|(step, _)| step >= left) {
                checkpoints.pop();
            }
            let Some((from, checkpoint)) = checkpoints.last().cloned() else {
                unreachable!("there is a checkpoint at the start")
            };
            let count = *left - from;
            if count <= room.steps {
                let segment = match segment {
                    Cow::Owned(segment) => segment,
                    borrowed => {
                        *borrowed = Cow::Owned(Segment::default());
                        borrowed.to_mut()
                    }
                };
                segment.first = from;
                segment.numbers.clear();
                replay(&tape.integrator, dynamics, &checkpoint, count, |_, proposed, run| {
                    if proposed {
                        segment.push(run);
                    }
                })?;
                return Ok(());
            }
            let spacing = count.div_ceil(room.checkpoints).max(room.steps);
            let pace = tape.integrator.pace();
            replay(
                &tape.integrator,
                dynamics,
                &checkpoint,
                (count - 1) / spacing * spacing + 1,
                |step, proposed, run| {
                    if !proposed && step > 0 && step.is_multiple_of(spacing) {
                        checkpoints.push((from + step, Checkpoint::of(run, pace)));
                    }
                },
            )?;
        }
    }
}

/// Makes so many steps again from a checkpoint of a run, and shows them: before each, and when it is proposed.
fn replay(
    integrator: &Integrator,
    dynamics: &mut Dynamics,
    from: &Checkpoint,
    steps: u64,
    mut show: impl FnMut(u64, bool, &mut RunLoop<'_>),
) -> Result<(), RunError> {
    let block = Block::one(&vec![0.0; dynamics.system().dimension()]);
    let mut run = integrator.run_loop(dynamics, from.start, block, from.end)?;
    from.restore(&mut run)?;
    run.fix_all_branches()?;
    for step in 0..steps {
        show(step, false, &mut run);
        run.propose()?;
        show(step, true, &mut run);
        run.take();
    }
    Ok(())
}

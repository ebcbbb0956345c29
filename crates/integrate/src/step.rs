//! One step of a method, and what it may ask of the system.

use crate::block::Block;
use crate::compiled_loop::StepCode;
use crate::compiled_step::StepBuilder;
use crate::dense::Polynomial;
use crate::natural::NaturalSizes;
use crate::pace::Tolerance;
use crate::run::checkpoint::Kept;
use leastaction_compile::{AssemblyError, LANES, Operand};
use leastaction_mechanics::{Dynamics, EvalError, ProjectionError, Quantity, SettingError, System};

/// A method at work: its memory, and its step.
///
/// The same code serves one trajectory and eight lanes: the block and the interval say how many there are, and every lane has
/// a step of its own. A lane that rests has the step 0. A method never moves the block: it says how the block would change, and
/// the run loop adds that, or tries again with a shorter step. Nothing here allocates.
///
/// What only some methods can do has traits of its own, which a method shows if it can.
pub trait Step {
    /// How a block changes over an interval.
    ///
    /// # Errors
    /// [`StepError`] if the field cannot be evaluated or the equations of the step cannot be solved.
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError>;

    /// The last step was taken in these lanes: what it computed may serve the next one. In the others it will be tried again from
    /// the same states. Nothing to do for methods that remember nothing.
    fn accept(&mut self, lanes: &[bool]) {
        let _ = lanes;
    }

    /// The state was moved after the step, onto constraints: what was computed at the step's end does not hold there.
    fn displaced(&mut self) {}

    /// Shows everything that one step leaves to the next, so that it can be written down, and a resumed run has the same bits.
    fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        let _ = visit;
    }

    /// How it estimates errors, if its card says [`Sizing::Estimated`](crate::Sizing::Estimated).
    fn estimated(&mut self) -> Option<&mut dyn Estimated> {
        None
    }

    /// How it foresees its steps, if its card says [`Sizing::Foreseen`](crate::Sizing::Foreseen).
    fn foreseen(&mut self) -> Option<&mut dyn Foreseen> {
        None
    }

    /// Its own polynomial within a step, if it has one; else one is made from the vector field.
    fn interpolated(&mut self) -> Option<&mut dyn Interpolated> {
        None
    }

    /// How it is compiled as a whole, if it can be.
    fn compiled(&mut self) -> Option<&mut dyn Compiled> {
        None
    }

    /// The equations that it solves, if they can be written into a kernel.
    fn equations(&self) -> Option<&dyn StepEquations> {
        None
    }

    /// The legs that its step is made of, if it moves on constraints by them.
    fn legs(&mut self) -> Option<&mut dyn Legs> {
        None
    }
}

/// A method that moves on constraints by legs of the kind of RATTLE.
pub trait Legs {
    /// Makes a step, and shows each of its legs.
    ///
    /// # Errors
    /// [`StepError`] as for a step.
    fn replay(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        show: &mut dyn FnMut(LegStates<'_>),
    ) -> Result<(), StepError>;
}

/// One leg: p½ = p₀ + ½h S(q₀, p½) − G(q₀)ᵀΛ, q₁ = q₀ + ½h (v(q₀, p½) + v(q₁, p½)) with Φ(q₁) = 0, p₁ = p½ + ½h S(q₁, p½), and then, if it turns,
/// p₁ − G(q₁)ᵀμ with Ψ = 0.
#[derive(Clone, Copy, Debug)]
pub struct LegStates<'a> {
    /// When it begins, and how long it is.
    pub interval: Interval<'a>,
    /// The state before.
    pub before: &'a [f64],
    /// p½.
    pub middle: &'a [f64],
    /// The state after.
    pub after: &'a [f64],
    /// Whether velocities are brought onto the constraints.
    pub turns: bool,
}

/// The equations R(x, y) = 0 of an implicit step, and how the state changes by their solution x.
pub trait StepEquations {
    /// What they evaluate, and how often.
    fn quantities(&self) -> Vec<(Quantity, usize)>;

    /// How many unknowns there are, for states of a dimension.
    fn unknowns(&self, dimension: usize) -> usize;

    /// Writes the change of the state, and the residuals R.
    ///
    /// # Errors
    /// [`AssemblyError`] if the system cannot be evaluated as it should.
    fn write(
        &self,
        builder: &mut StepBuilder,
        state: &[Operand],
        unknowns: &[Operand],
    ) -> Result<[Vec<Operand>; 2], AssemblyError>;

    /// About where the unknowns are in a step of this change.
    fn guess(&self, change: &[f64], unknowns: &mut [f64]);

    /// Whether the method solves them to rounding: else only as well as a tolerance asks for.
    fn are_solved(&self) -> bool {
        true
    }

    /// Writes the states at a fraction of the step, by the method's own polynomial; `None` if it has none.
    fn write_inside(
        &self,
        builder: &mut StepBuilder,
        state: &[Operand],
        unknowns: &[Operand],
        tau: Operand,
    ) -> Option<Vec<Operand>> {
        let _ = (builder, state, unknowns, tau);
        None
    }
}

/// A method that estimates the error of a step.
pub trait Estimated {
    /// The error of the last step, lane by lane, as a multiple of what is tolerated.
    fn error(
        &mut self,
        motion: &Motion<'_>,
        tolerance: &Tolerance,
        block: &Block,
        change: &[f64],
        ratios: &mut [f64],
    );

    /// As [`Estimated::error`], but of the estimate only that part counts which `keep` leaves of it. Unless a method says otherwise, all of it.
    fn error_within(
        &mut self,
        motion: &mut Motion<'_>,
        tolerance: &Tolerance,
        block: &Block,
        change: &[f64],
        ratios: &mut [f64],
        keep: &mut dyn FnMut(&mut Motion<'_>, &mut [f64]),
    ) {
        let _ = keep;
        self.error(motion, tolerance, block, change, ratios);
    }
}

/// A method that knows how long a step may be before it is made.
pub trait Foreseen {
    /// Shortens steps that would be too long for the tolerance. Of a way longer than `look` nothing is believed without a look at the field in
    /// between.
    ///
    /// # Errors
    /// [`StepError`] as for a step.
    fn foresee(
        &mut self,
        motion: &mut Motion<'_>,
        t: &[f64],
        block: &Block,
        look: f64,
        steps: &mut [f64],
    ) -> Result<(), StepError>;
}

/// A method that has a polynomial within its step which is good to its order less one.
pub trait Interpolated {
    /// The motion within the last step. Asked between a step and its acceptance.
    ///
    /// # Errors
    /// [`StepError`] as for a step.
    fn polynomial(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &[f64],
        polynomial: &mut Polynomial,
    ) -> Result<(), StepError>;
}

/// A method whose step can be compiled as a whole. It then has the same bits, and is faster.
pub trait Compiled {
    /// Compiles the step, if the system allows it. Asked before many steps.
    ///
    /// # Errors
    /// [`EvalError`] if it cannot be compiled although it should.
    fn compile(&mut self, dynamics: &Dynamics, width: usize) -> Result<(), EvalError>;

    /// The text of the step.
    fn text(&self) -> &dyn StepCode;

    /// The compiled step as it can be written into a kernel together with what is between steps, if it can.
    fn code(&self) -> Option<&dyn StepCode>;

    /// The rates where the block is, which one step leaves to the next.
    ///
    /// # Errors
    /// [`StepError`] as for a step.
    fn rates(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<&[f64], StepError>;

    /// The rates where the block is are these now.
    fn set_rates(&mut self, rates: &[f64], block: &Block);
}

/// The time and the step of each lane.
#[derive(Clone, Copy, Debug)]
pub struct Interval<'a> {
    /// The times at which the step begins.
    pub t: &'a [f64],
    /// The lengths of the step.
    pub h: &'a [f64],
}

/// The work of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Work {
    /// Steps that were taken.
    pub steps: u64,
    /// Steps that were tried and found too long.
    pub rejected: u64,
    /// Evaluations of the vector field, whole or half, each for a whole block.
    pub evaluations: u64,
    /// Evaluations of the field's derivatives.
    pub jacobians: u64,
    /// Iterations of implicit methods.
    pub iterations: u64,
}

impl std::ops::Add for Work {
    type Output = Work;

    fn add(self, other: Work) -> Work {
        Work {
            steps: self.steps + other.steps,
            rejected: self.rejected + other.rejected,
            evaluations: self.evaluations + other.evaluations,
            jacobians: self.jacobians + other.jacobians,
            iterations: self.iterations + other.iterations,
        }
    }
}

/// The vector field as a method sees it, with a tally of the work.
pub struct Motion<'d> {
    dynamics: &'d mut Dynamics,
    /// The same on fixed branches, if it has switches.
    fixed: Option<Box<Dynamics>>,
    work: Work,
    times: [f64; LANES],
    /// A block and its rates, for differences.
    differences: Vec<f64>,
    /// What errors are measured by besides the state.
    natural: NaturalSizes,
    /// How long the run is; infinite if that is not known.
    pub(crate) span: f64,
}

impl<'d> Motion<'d> {
    /// The motion of a system.
    #[must_use]
    pub fn new(dynamics: &'d mut Dynamics) -> Motion<'d> {
        Motion {
            dynamics,
            fixed: None,
            work: Work::default(),
            times: [0.0; LANES],
            differences: Vec::new(),
            natural: [[0.0; LANES]; 2],
            span: f64::INFINITY,
        }
    }

    /// The motion of a system on fixed branches, if it has switches.
    pub(crate) fn on_branches(dynamics: &'d mut Dynamics, fixed: Option<Box<Dynamics>>) -> Motion<'d> {
        Motion { fixed, ..Motion::new(dynamics) }
    }

    /// The system as steps see it: on fixed branches, if it has switches.
    #[inline]
    #[must_use]
    pub fn dynamics(&mut self) -> &mut Dynamics {
        match &mut self.fixed {
            Some(fixed) => fixed,
            None => self.dynamics,
        }
    }

    /// The system as it is, to compute what is wanted of a state.
    #[must_use]
    pub fn plain(&mut self) -> &mut Dynamics {
        self.dynamics
    }

    /// Fixes the branches of a lane, or of the only one.
    pub(crate) fn set_branches(&mut self, lane: Option<usize>, branches: &[f64]) -> Result<(), SettingError> {
        match &mut self.fixed {
            Some(fixed) => fixed.set_branches(self.dynamics, lane, branches),
            None => Ok(()),
        }
    }

    /// The system, to look at.
    #[must_use]
    pub fn system(&self) -> &System {
        self.fixed.as_deref().unwrap_or(self.dynamics).system()
    }

    /// The work so far.
    #[must_use]
    pub fn work(&self) -> Work {
        self.work
    }

    /// The natural sizes of coordinates and momenta.
    pub(crate) fn natural(&self) -> &NaturalSizes {
        &self.natural
    }

    pub(crate) fn natural_mut(&mut self) -> &mut NaturalSizes {
        &mut self.natural
    }

    pub(crate) fn work_mut(&mut self) -> &mut Work {
        &mut self.work
    }

    /// The vector field (q̇, ṗ) at y, at the times t + c·h.
    ///
    /// # Errors
    /// [`EvalError`] as [`Dynamics::rates`].
    #[inline]
    pub fn rates(
        &mut self,
        interval: Interval<'_>,
        c: f64,
        y: &[f64],
        rates: &mut [f64],
    ) -> Result<(), EvalError> {
        self.work.evaluations += 1;
        let (dynamics, times) = self.at(interval, c);
        dynamics.rates(times, y, rates)
    }

    /// The first half of the vector field, q̇ at y, at the times t + c·h. It does not depend on q if H is separable.
    ///
    /// # Errors
    /// [`EvalError`] as [`Dynamics::drift`].
    #[inline]
    pub fn drift(
        &mut self,
        interval: Interval<'_>,
        c: f64,
        y: &[f64],
        rates: &mut [f64],
    ) -> Result<(), EvalError> {
        self.work.evaluations += 1;
        let (dynamics, times) = self.at(interval, c);
        dynamics.drift(times, y, rates)
    }

    /// The second half of the vector field, ṗ at y, at the times t + c·h. It does not depend on p if H is separable and no force
    /// depends on velocities.
    ///
    /// # Errors
    /// [`EvalError`] as [`Dynamics::kick`].
    #[inline]
    pub fn kick(
        &mut self,
        interval: Interval<'_>,
        c: f64,
        y: &[f64],
        pushes: &mut [f64],
    ) -> Result<(), EvalError> {
        self.work.evaluations += 1;
        let (dynamics, times) = self.at(interval, c);
        dynamics.kick(times, y, pushes)
    }

    /// The derivatives of the vector field at y, at the times t + c·h.
    ///
    /// # Errors
    /// [`EvalError`] as [`Dynamics::jacobian`].
    pub fn jacobian(
        &mut self,
        interval: Interval<'_>,
        c: f64,
        y: &[f64],
        matrix: &mut [f64],
    ) -> Result<(), EvalError> {
        self.work.jacobians += 1;
        let (dynamics, times) = self.at(interval, c);
        dynamics.jacobian(times, y, matrix)
    }

    /// The entries of the Jacobian that its [structure](System::jacobian_structure) keeps, at y, at the times t + c·h.
    ///
    /// # Errors
    /// [`EvalError`] as [`Dynamics::jacobian_entries`].
    pub fn jacobian_entries(
        &mut self,
        interval: Interval<'_>,
        c: f64,
        y: &[f64],
        entries: &mut [f64],
    ) -> Result<(), EvalError> {
        self.work.jacobians += 1;
        let (dynamics, times) = self.at(interval, c);
        dynamics.jacobian_entries(times, y, entries)
    }

    /// The product of the Jacobian in one lane of y with a vector, by central differences of the rates.
    pub(crate) fn jacobian_product(
        &mut self,
        interval: Interval<'_>,
        c: f64,
        y: &[f64],
        lane: usize,
        vector: &[f64],
        product: &mut [f64],
    ) -> Result<(), EvalError> {
        let (width, len) = (interval.t.len(), y.len());
        let largest = |x: &mut dyn Iterator<Item = &f64>| x.fold(0.0_f64, |m, x| m.max(x.abs()));
        let length = largest(&mut vector.iter());
        if length == 0.0 {
            product.fill(0.0);
            return Ok(());
        }
        let size = largest(&mut y.iter().skip(lane).step_by(width)).max(1.0);
        let by = f64::EPSILON.cbrt() * size / length;
        let mut memory = std::mem::take(&mut self.differences);
        memory.resize(2 * len, 0.0);
        let (at, rates) = memory.split_at_mut(len);
        let mut outcome = Ok(());
        for sign in [1.0, -1.0] {
            at.copy_from_slice(y);
            let moved = at.iter_mut().skip(lane).step_by(width).zip(vector);
            moved.for_each(|(at, v)| *at += sign * by * v);
            outcome = outcome.and(self.rates(interval, c, at, rates));
            for (product, rate) in product.iter_mut().zip(rates.iter().skip(lane).step_by(width)) {
                *product = if sign > 0.0 { *rate } else { (*product - rate) / (2.0 * by) };
            }
        }
        self.differences = memory;
        outcome
    }

    /// The system as steps see it, and the times t + c·h. They are borrowed: a copy of them would wait until what was just written can be read.
    #[inline]
    fn at(&mut self, interval: Interval<'_>, c: f64) -> (&mut Dynamics, &[f64]) {
        let Motion { dynamics, fixed, times, .. } = self;
        let lanes = times.iter_mut().zip(interval.t.iter().zip(interval.h));
        lanes.for_each(|(time, (t, h))| *time = t + c * h);
        let dynamics = match fixed {
            Some(fixed) => fixed,
            None => &mut **dynamics,
        };
        (dynamics, &times[..interval.t.len().min(LANES)])
    }
}

impl StepError {
    /// The lane in which it failed.
    #[must_use]
    pub fn lane(&self) -> Option<usize> {
        match self {
            StepError::Eval(error) => error.lane(),
            StepError::Projection(error) => error.lane(),
            StepError::NoConvergence { lane, .. } | StepError::Singular { lane, .. } => Some(*lane),
        }
    }
}

/// Why a step failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// The vector field could not be evaluated.
    #[error(transparent)]
    Eval(#[from] EvalError),
    /// The end of the step could not be moved onto the constraints.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// The equations of an implicit step were not solved.
    #[error(
        "the implicit step at t = {} was not solved (residual {residual:.1e} after {iterations} iterations): try a smaller step",
        crate::error::number(.t)
    )]
    NoConvergence {
        /// The time at which the step begins.
        t: f64,
        /// The lane.
        lane: usize,
        /// What is left, relative to the state.
        residual: f64,
        /// How many iterations were made.
        iterations: u32,
    },
    /// The equations of an implicit step were not solved, where constraints nearly depend on each other.
    #[error(
        "the implicit step at t = {} was not solved: there constraints nearly depend on each other, which methods that find their steps \
         may pass: use dop853 with a tolerance",
        crate::error::number(.t)
    )]
    Singular {
        /// The time at which the step begins.
        t: f64,
        /// The lane.
        lane: usize,
    },
}

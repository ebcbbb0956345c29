//! Motion on constraints Φ(q, t) = 0, of which neither positions nor velocities ever leave them.
//!
//! $$\begin{aligned}
//! p_{1/2}&=p_0+\tfrac h2\,S(q_0,p_{1/2},t_0)-G(q_0)^{\mathsf T}\Lambda,&
//! q_1&=q_0+\tfrac h2\bigl(v(q_0,p_{1/2},t_0)+v(q_1,p_{1/2},t_1)\bigr),&\Phi(q_1,t_1)&=0,\\
//! p_1&=p_{1/2}+\tfrac h2\,S(q_1,p_{1/2},t_1)-G(q_1)^{\mathsf T}\mu,&&&\Psi(q_1,v(q_1,p_1,t_1),t_1)&=0
//! \end{aligned}$$
//!
//! with the forces S = −∂H/∂q + Q other than those of constraints, G = ∂Φ/∂q and Ψ = G v + ∂Φ/∂t. The map is symplectic on the manifold of
//! constraints, and symmetric, for every H(q, p, t) (E. Hairer, C. Lubich and G. Wanner, *Geometric Numerical Integration*, 2006, section
//! VII.1.4, equation (1.26)); without constraints it is the Störmer–Verlet scheme.
//!
//! Symmetric compositions of such steps, here legs, have higher order (S. Reich, SIAM J. Numer. Anal. 33 (1996) 475,
//! doi:10.1137/0733025). Between legs velocities need not be brought onto the constraints: μ acts as the next Λ does, which takes it up.
//!
//! Both multipliers are iterated until the violations of constraints are rounding. Guesses continue those of the last steps, lane by lane.

mod direct;
mod general;
mod progress;
pub(super) mod rattle2;
pub(super) mod rattle4;
pub(super) mod rattle6;
pub(super) mod shake;

use crate::block::{Block, copy_in};
use crate::card::Keeps;
use crate::error::RunError;
use crate::implicit::{Past, Solver};
use crate::method::composition::mirror_exactly;
use crate::run::checkpoint::Kept;
use crate::step::{Interval, LegStates, Legs, Motion, Step, StepError};
use leastaction_compile::LANES;
use leastaction_mechanics::{ConstraintFactors, Dynamics, EvalError, ProjectionError, ShakeFactors};
use progress::{MOST, Progress};

/// What symmetric compositions of RATTLE keep.
const KEEPS: &[Keeps] = &[Keeps::Symplectic, Keeps::Reversible, Keeps::Bilinear, Keeps::Constraints];

/// So many steps are continued to guess the next: a polynomial through more amplifies their rounding by more than it gains.
const PAST: usize = 5;
/// A constraint that depends on others is met if the state would have to move by no more than this, relative to its size.
const MET: f64 = 1e-9;

/// One symmetric step of order two within a step.
#[derive(Clone, Copy, Debug)]
struct Leg {
    /// When it begins, and how long it is, as parts of the step.
    begin: f64,
    weight: f64,
}

/// A composition at work.
struct Rattle {
    legs: Vec<Leg>,
    shape: Shape,
    /// Whether H = ½pᵀM⁻¹p + V(q, t) with M constant and forces do not depend on velocities.
    direct: bool,
    autonomous: bool,
    /// The constraints, and the forces, where the last leg ended.
    factors: ConstraintFactors,
    shake: ShakeFactors,
    push: Vec<f64>,
    held: Held,
    /// Where the leg is: \[q…, p…\], or \[q…, v…\].
    at: Vec<f64>,
    /// Rates, and the change of coordinates since the beginning of the step.
    rates: Vec<f64>,
    moved: Vec<f64>,
    /// Values of constraints, then corrections of multipliers; and what these do to the state.
    values: Vec<f64>,
    aside: Vec<f64>,
    correction: Vec<f64>,
    /// Λ of each leg; if velocities enter forces or masses depend on coordinates, the changes of q and p up to p½ instead.
    unknowns: Vec<Vec<f64>>,
    past_unknowns: Vec<Past>,
    /// μ of the last leg.
    multipliers: Vec<f64>,
    past_multipliers: Past,
    /// The length over which constraints turn, in each lane: −1 where it is not known yet.
    lengths: [f64; LANES],
    /// By what corrections of Λ shrink in each leg.
    shrinking: Vec<[f64; LANES]>,
    solver: Solver,
    start: Vec<f64>,
    scale: Vec<f64>,
    /// p½ of the last leg.
    middle: Vec<f64>,
    /// Whether velocities are brought onto the constraints.
    turns: bool,
}

/// The numbers of things, all lanes counted.
#[derive(Clone, Copy, Debug)]
struct Shape {
    width: usize,
    half: usize,
    rows: usize,
}

/// Where the factors and the forces of the last leg belong.
struct Held {
    q: Vec<f64>,
    t: [f64; LANES],
    /// Whether the forces are known: 1, or 0; and whether the factors are.
    known: [bool; 1],
    factored: bool,
}

impl Rattle {
    fn boxed(
        dynamics: &mut Dynamics,
        width: usize,
        half: &[f64],
        turns: bool,
    ) -> Result<Box<dyn Step>, RunError> {
        let system = dynamics.system().clone();
        let facts = system.facts();
        let direct = facts.separable && facts.constant_mass && !facts.forces_depend_on_velocities;
        let shape = Shape { width, half: system.degrees() * width, rows: system.constraints().len() * width };
        let Shape { half: n, rows, .. } = shape;
        let weights = mirror_exactly(half);
        let mut legs: Vec<Leg> = Vec::with_capacity(weights.len());
        for weight in weights {
            let begin = legs.last().map_or(0.0, |leg| leg.begin + leg.weight);
            legs.push(Leg { begin, weight });
        }
        let unknown = if direct { rows } else { 2 * n };
        let many = |len: usize| vec![vec![0.0; len]; legs.len()];
        let pasts = |len: usize| legs.iter().map(|_| Past::of_values(PAST, len)).collect();
        let mut rattle = Rattle {
            shape,
            direct,
            autonomous: facts.autonomous,
            factors: ConstraintFactors::new(&system, width),
            push: vec![0.0; n],
            held: Held { q: vec![0.0; n], t: [0.0; LANES], known: [false], factored: false },
            at: vec![0.0; 2 * n],
            rates: vec![0.0; 2 * n],
            moved: vec![0.0; n],
            values: vec![0.0; rows],
            aside: vec![0.0; rows],
            shake: ShakeFactors::new(&system, width),
            correction: vec![0.0; n],
            unknowns: many(unknown),
            multipliers: vec![0.0; rows],
            past_unknowns: pasts(unknown),
            past_multipliers: Past::of_values(PAST, rows),
            lengths: [-1.0; LANES],
            shrinking: vec![[1.0; LANES]; legs.len()],
            solver: Solver::new(if direct { 0 } else { 2 * n }),
            start: vec![0.0; 2 * n],
            scale: vec![0.0; 2 * n],
            middle: vec![0.0; n],
            turns,
            legs,
        };
        rattle.prepare(dynamics);
        Ok(Box::new(rattle))
    }

    /// Quantities make room when they are first asked for; what they are here does not matter.
    fn prepare(&mut self, dynamics: &mut Dynamics) {
        let t = &[0.0; LANES][..self.shape.width];
        let _ = dynamics.kick(t, &self.at, &mut self.push);
        let _ = dynamics.drift(t, &self.at, &mut self.push);
        if self.shape.rows > 0 {
            let _ = dynamics.constraint_values(t, &self.at, &mut self.values);
            let _ = dynamics.constraint_rates(t, &self.at, &mut self.values);
            let _ = self.factors.factor(dynamics, t, &self.at);
        }
    }

    /// Whether what is held is that at the coordinates in `at`.
    fn holds(&self, t: &[f64]) -> bool {
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
        self.held.known == [true]
            && (self.autonomous || same(t, &self.held.t))
            && same(&self.at[..self.shape.half], &self.held.q)
    }

    /// Factors the constraints at `at`.
    fn factor_constraints(&mut self, motion: &mut Motion<'_>, t: &[f64]) -> Result<(), EvalError> {
        (self.held.known, self.held.factored) = ([false], false);
        if self.shape.rows > 0 {
            self.factors.factor(motion.dynamics(), t, &self.at)?;
        }
        self.held.q.copy_from_slice(&self.at[..self.shape.half]);
        self.held.t[..t.len()].copy_from_slice(t);
        (self.held.known, self.held.factored) = ([true], true);
        Ok(())
    }

    /// The size of coordinates, but no less than the length over which constraints turn.
    fn extent<const W: usize>(&self, q: &[f64]) -> [f64; W] {
        let sizes = sizes::<W>(q);
        std::array::from_fn(|j| if sizes[j] < self.lengths[j] { self.lengths[j] } else { sizes[j] })
    }

    /// Finds the lengths over which constraints turn at the first state of each lane, in `at` and factored.
    fn measure<const W: usize>(&mut self, motion: &mut Motion<'_>, t: &[f64]) -> Result<(), EvalError> {
        if self.shape.rows == 0 || !self.lengths[..W].contains(&-1.0) {
            return Ok(());
        }
        self.start.copy_from_slice(&self.at);
        let reach = self.shake.turning_length(&self.factors, motion.dynamics(), t, &mut self.start)?;
        let unknown = self.lengths.iter_mut().zip(reach).filter(|(length, _)| **length == -1.0);
        unknown.for_each(|(length, reach)| *length = reach);
        Ok(())
    }

    /// An error for a lane that is still open.
    fn stalled<const W: usize>(
        &self,
        interval: Interval<'_>,
        progress: &[Progress; W],
        sizes: &[f64; W],
    ) -> Result<(), StepError> {
        match progress.iter().position(|lane| lane.open) {
            None => Ok(()),
            Some(lane) => {
                let Progress { last, iterations, .. } = progress[lane];
                if last.is_nan() {
                    return Ok(()); // left to the run loop, which names what is not a number
                }
                let residual = last / sizes[lane];
                Err(StepError::NoConvergence { t: interval.t[lane], lane, residual, iterations })
            }
        }
    }

    /// Constraints that depend on others are met with them, or contradict them: whether they are met at `at`.
    fn check_redundant<const W: usize>(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
    ) -> Result<(), StepError> {
        let Shape { half, rows, .. } = self.shape;
        if (0..W).all(|lane| self.factors.rank(lane) == rows / W) {
            return Ok(());
        }
        let ends = ends::<W>(interval);
        motion.dynamics().constraint_values(&ends, &self.at, &mut self.values)?;
        let sizes = self.extent::<W>(&self.at[..half]);
        for lane in (0..W).filter(|&lane| interval.h[lane] != 0.0) {
            let each = || self.values.iter().skip(lane).step_by(W).enumerate();
            let unmet = |&(k, value): &(usize, &f64)| {
                value.abs() > MET * self.factors.steepness(k, lane) * sizes[lane]
            };
            if each().any(|each| unmet(&each)) {
                let names = motion.system().constraints();
                let constraints =
                    each().filter(unmet).map(|(k, value)| (names[k].0.clone(), *value)).collect();
                return Err(ProjectionError::Unmet { t: ends[lane], lane, constraints }.into());
            }
        }
        Ok(())
    }

    /// Brings momenta onto what constraints demand of velocities: p ← p − G(q₁)ᵀμ. `at` is where the leg ends, and factored.
    fn turn<const W: usize>(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let Shape { half, rows, .. } = self.shape;
        if rows == 0 {
            return Ok(());
        }
        let ends = ends::<W>(interval);
        self.multipliers.fill(0.0);
        self.past_multipliers.guess(interval.h, &mut self.multipliers);
        self.factors.project_multipliers(&mut self.multipliers, &mut self.correction);
        self.factors.add_forces(&self.multipliers, &mut change[half..]);
        // A linear solution, where velocities are linear in momenta, is off by its rounding alone: little, where constraints are independent.
        let unsure: [bool; W] = std::array::from_fn(|j| !self.direct || !self.factors.is_clear(j));
        let mut progress: [_; W] =
            std::array::from_fn(|j| Progress::new(interval.h[j], if unsure[j] { 1.0 } else { 1e-8 }, true));
        let mut asked = [true; W];
        for iteration in 0..MOST {
            if asked.contains(&true) {
                block.after(half / W, &change[half..], &mut self.at[half..]);
                motion.drift(interval, 1.0, &self.at, &mut self.start[..half])?;
                copy_in(&asked, &self.start[..half], &mut self.rates[..half]);
                asked = unsure;
            }
            self.start[..half].copy_from_slice(&self.at[..half]);
            self.start[half..].copy_from_slice(&self.rates[..half]);
            motion.dynamics().constraint_rates(&ends, &self.start, &mut self.values)?;
            motion.work_mut().iterations += 1;
            self.factors.solve(&mut self.values);
            self.correction.fill(0.0);
            self.factors.add_accelerations(&self.values, &mut self.correction);
            let (sizes, changes) = (sizes::<W>(&self.rates[..half]), sizes::<W>(&self.correction));
            let mut takes = [false; W];
            for j in 0..W {
                // A body that comes to rest has no other size than what it had.
                let size = sizes[j].max(if iteration == 0 { changes[j] } else { progress[j].last });
                takes[j] = progress[j].takes(changes[j], size);
            }
            keep_in::<W>(&takes, &mut self.values);
            self.factors.add_forces(&self.values, &mut change[half..]);
            self.factors.add_accelerations(&self.values, &mut self.rates[..half]);
            self.multipliers.iter_mut().zip(&self.values).for_each(|(m, x)| *m += x);
            if !progress.iter().any(|lane| lane.open) {
                return Ok(());
            }
        }
        self.stalled(interval, &progress, &sizes::<W>(&self.rates[..half]))
    }

    fn step_in<const W: usize>(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
        mut show: Option<&mut dyn FnMut(LegStates<'_>)>,
    ) -> Result<(), StepError> {
        change.fill(0.0);
        let (mut before, mut after) = (Vec::new(), vec![0.0; if show.is_some() { change.len() } else { 0 }]);
        for leg in 0..self.legs.len() {
            let Leg { begin, weight } = self.legs[leg];
            let t: [f64; W] = std::array::from_fn(|j| interval.t[j] + begin * interval.h[j]);
            let h: [f64; W] = std::array::from_fn(|j| weight * interval.h[j]);
            let part = Interval { t: &t, h: &h };
            if leg == 0 {
                self.at.copy_from_slice(block.values());
            } else {
                block.after(0, change, &mut self.at);
            }
            if show.is_some() {
                before.clone_from(&self.at);
            }
            if self.direct {
                self.go_directly::<W>(motion, part, leg, block, change)?;
            } else {
                self.go::<W>(motion, part, leg, block, change)?;
            }
            let turns = self.turns && leg + 1 == self.legs.len();
            if turns {
                self.turn::<W>(motion, part, block, change)?;
            }
            if let Some(show) = &mut show {
                block.after(0, change, &mut after);
                let (before, middle, after) = (&before[..], &self.middle[..], &after[..]);
                show(LegStates { interval: part, before, middle, after, turns });
            }
        }
        Ok(())
    }
}

impl Step for Rattle {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        match block.width() {
            1 => self.step_in::<1>(motion, interval, block, change, None),
            _ => self.step_in::<LANES>(motion, interval, block, change, None),
        }
    }

    fn accept(&mut self, lanes: &[bool]) {
        let legs = self.past_unknowns.iter_mut().zip(&self.unknowns);
        legs.for_each(|(past, found)| past.keep(lanes, found));
        self.past_multipliers.keep(lanes, &self.multipliers);
    }

    fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        for past in self.past_unknowns.iter_mut().chain([&mut self.past_multipliers]) {
            past.memory(visit);
        }
        visit(Kept::Numbers(&mut self.lengths));
        self.shrinking.iter_mut().for_each(|lanes| visit(Kept::Numbers(lanes)));
        visit(Kept::Numbers(&mut self.push));
        visit(Kept::Numbers(&mut self.held.q));
        visit(Kept::Numbers(&mut self.held.t));
        visit(Kept::Flags(&mut self.held.known));
        // The factors follow from these, and may not be those of what was read back.
        self.held.factored = false;
    }

    fn legs(&mut self) -> Option<&mut dyn Legs> {
        Some(self)
    }
}

impl Legs for Rattle {
    fn replay(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        show: &mut dyn FnMut(LegStates<'_>),
    ) -> Result<(), StepError> {
        let mut change = vec![0.0; block.values().len()];
        match block.width() {
            1 => self.step_in::<1>(motion, interval, block, &mut change, Some(show)),
            _ => self.step_in::<LANES>(motion, interval, block, &mut change, Some(show)),
        }
    }
}

/// The times at which a step ends.
fn ends<const W: usize>(interval: Interval<'_>) -> [f64; W] {
    std::array::from_fn(|j| interval.t[j] + interval.h[j])
}

/// Makes numbers zero in the lanes that do not take them.
fn keep_in<const W: usize>(lanes: &[bool; W], numbers: &mut [f64]) {
    if lanes.contains(&false) {
        for row in numbers.as_chunks_mut::<W>().0 {
            (0..W).for_each(|j| row[j] = if lanes[j] { row[j] } else { 0.0 });
        }
    }
}

/// The largest size of a number in each lane; NaN if there is one.
fn sizes<const W: usize>(numbers: &[f64]) -> [f64; W] {
    let mut sizes = [0.0f64; W];
    for row in numbers.as_chunks::<W>().0 {
        for j in 0..W {
            let size = row[j].abs();
            // Not `f64::max`, which would lose a NaN.
            sizes[j] = if (size > sizes[j]) | size.is_nan() { size } else { sizes[j] };
        }
    }
    sizes
}

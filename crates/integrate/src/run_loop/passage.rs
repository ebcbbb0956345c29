//! How a run passes a configuration in which constraints depend on each other.
//!
//! At a time τ from such a configuration the constraints differ in directions whose length is about τ, and rounding ε in what is known of the
//! positions becomes velocities wrong by ε/τ² and forces wrong by ε/τ³ along them. The motion itself is smooth there, but no step of a
//! method that looks at the field nearby can know that: the nearer it comes, the more it finds to resolve. So such a
//! configuration is passed in one step, by Gauss collocation whose nodes lie to both sides of it and well away, each moved onto the constraints before the field
//! is looked at there:
//!
//! $$\dot u(t+c_ih)=f\bigl(P(u(t+c_ih))\bigr),\qquad u(t)=y$$
//!
//! with the projection P. Errors across the constraints do not enter f then, so that simple iteration converges as it would
//! for as many coordinates as there is freedom.

use super::{Pacing, RunLoop};
use crate::block::Block;
use crate::clock;
use crate::pace::Tolerance;
use crate::quadrature::{Rule, basis, integrals};
use crate::run::checkpoint::Kept;
use crate::step::{Interval, Motion, StepError};
use leastaction_compile::{LANES, Lanes};
use leastaction_mechanics::ConstraintFactors;

/// The nodes of a step.
const NODES: usize = 6;
/// Where directions are shorter than this, a configuration in which they vanish may be near.
const NEAR: f64 = 0.1;
/// How far the motion is followed to see them change, as a part of the time in which positions change by their size.
const LOOK: f64 = 1e-4;
/// Sweeps of the iteration at most, and before changes count as noise that no longer shrink.
const SWEEPS: usize = 40;
const ENOUGH: usize = 12;
/// A change of the state that would not be seen, as a part of what is tolerated.
const UNSEEN: f64 = 1e-3;
/// After so few sweeps the last coefficient is known within such a factor.
const FEW: usize = 3;
const ROUGHLY: f64 = 30.0;
/// Noise at most, relative to the state; and the last coefficient of the field that is known at least. Along the constraints the error is as their
/// square.
const NOISE: f64 = 1e-6;
/// A direction that becomes long in more than this part of the time in which positions change by their size hardly changes.
const SLOW: f64 = 1.0;
/// How many steps are tried.
const TRIES: usize = 10;

/// The memory of such steps.
pub(super) struct Passage {
    /// The shortest direction of constraints where each lane is, and where the step that is tried leads; 0 if it is not known.
    here: [f64; LANES],
    there: [f64; LANES],
    /// Where a lane last could not pass, it was this long: it is tried again when that has halved.
    tried: [f64; LANES],
    /// Lanes that pass with the step that is tried; and steps that are short enough for them, as far as that is known.
    lanes: [bool; LANES],
    suits: [f64; LANES],
    rule: Rule,
    /// φₖ and ∫φₖ at the nodes.
    phi: [[f64; NODES]; NODES],
    ahead: [[f64; NODES]; NODES],
    factors: ConstraintFactors,
    /// Σ bᵢ φₖ(cᵢ) f(cᵢ): one row for each k.
    coefficients: Vec<f64>,
    /// Those of lanes that pass.
    kept: Vec<f64>,
    /// f at the nodes, a state, and its correction.
    rates: Vec<f64>,
    at: Vec<f64>,
    correction: Vec<f64>,
    change: Vec<f64>,
}

/// The step to try next, and what the controller remembers.
pub(super) struct Pace {
    next: [f64; LANES],
    before: [f64; LANES],
}

/// A configuration in which constraints depend on each other, as seen from a state.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    /// The time to it, which is negative if it lies behind.
    time: f64,
    /// The time in which directions become long again.
    wide: f64,
}

impl Passage {
    pub(super) fn new(motion: &Motion<'_>, block: &Block) -> Passage {
        let rule = Rule::gauss(NODES);
        let (mut phi, mut ahead) = ([[0.0; NODES]; NODES], [[0.0; NODES]; NODES]);
        for (i, &c) in rule.nodes.iter().enumerate() {
            basis(c, &mut phi[i]);
            integrals(c, &mut ahead[i]);
        }
        let len = block.values().len();
        Passage {
            here: [0.0; LANES],
            there: [0.0; LANES],
            lanes: [false; LANES],
            suits: [f64::INFINITY; LANES],
            tried: [f64::INFINITY; LANES],
            rule,
            phi,
            ahead,
            factors: ConstraintFactors::new(motion.system(), block.width()),
            coefficients: vec![0.0; NODES * len],
            kept: vec![0.0; NODES * len],
            rates: vec![0.0; NODES * len],
            at: vec![0.0; len],
            correction: vec![0.0; len],
            change: vec![0.0; len],
        }
    }

    /// A lane begins anew.
    pub(super) fn forget(&mut self, lane: usize) {
        (self.here[lane], self.tried[lane]) = (0.0, f64::INFINITY);
    }

    /// The step that is tried leads to where the shortest direction of constraints is this long.
    pub(super) fn leads_to(&mut self, lane: usize, shortest: f64) {
        self.there[lane] = shortest;
    }

    /// Whether a lane passes with the step that is tried.
    pub(super) fn is_passing(&self, lane: usize) -> bool {
        self.lanes[lane]
    }

    /// A lane has taken its step.
    pub(super) fn accept(&mut self, lane: usize) {
        self.here[lane] = self.there[lane];
        if self.here[lane] >= NEAR {
            self.tried[lane] = f64::INFINITY;
        }
    }

    pub(super) fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        visit(Kept::Numbers(&mut self.here));
        visit(Kept::Numbers(&mut self.tried));
    }

    /// The configuration in which directions vanish, if one is near to where a lane is.
    fn look(
        &mut self,
        motion: &mut Motion<'_>,
        t: &[f64],
        block: &Block,
        candidates: &[bool; LANES],
        forward: f64,
    ) -> Result<[Option<Ahead>; LANES], StepError> {
        let (width, y) = (t.len(), block.values());
        let half = y.len() / 2;
        let v = &mut self.correction[..half];
        motion.dynamics().velocities(t, y, v)?;
        let mut by = [0.0; LANES];
        for (lane, by) in by.iter_mut().enumerate().take(width) {
            let (size, speed) = (largest(&y[..half], lane, width), largest(v, lane, width));
            *by = if candidates[lane] && speed > 0.0 { forward * LOOK * size / speed } else { 0.0 };
        }
        let (mut lengths, mut ranks) = ([[0.0; LANES]; 3], [[0; LANES]; 3]);
        for (k, sign) in [0.0, 1.0, -1.0].into_iter().enumerate() {
            let mut times = [0.0; LANES];
            self.at.copy_from_slice(y);
            for lane in 0..width {
                times[lane] = t[lane] + sign * by[lane];
                let places = (lane..half).step_by(width);
                places.for_each(|i| self.at[i] += sign * by[lane] * self.correction[i]);
            }
            self.factors.factor(motion.dynamics(), &times[..width], &self.at)?;
            lengths[k] = self.factors.smallest();
            (0..width).for_each(|lane| ranks[k][lane] = self.factors.rank(lane));
        }
        Ok(std::array::from_fn(|lane| {
            if by[lane] == 0.0 {
                return None;
            }
            let full = ranks.iter().map(|ranks| ranks[lane]).max();
            // A direction that does not count has vanished.
            let length = |k: usize| if Some(ranks[k][lane]) < full { 0.0 } else { lengths[k][lane] };
            Ahead::new(length(0), length(1), length(2), by[lane].abs())
        }))
    }

    /// Solves for the motion over a step in every lane whose step is not 0. Returns in which lanes it was found.
    fn solve(
        &mut self,
        motion: &mut Motion<'_>,
        (t, h): (&[f64], &[f64]),
        block: &Block,
        tolerance: &Tolerance,
    ) -> Result<[bool; LANES], StepError> {
        let (width, len) = (t.len(), block.values().len());
        let half = len / 2;
        let mut open: [bool; LANES] = std::array::from_fn(|j| j < width && h[j] != 0.0);
        let size = |part: &[f64]| std::array::from_fn(|lane| largest(part, lane.min(width - 1), width));
        let sizes: [[f64; LANES]; 2] = [size(&block.values()[..half]), size(&block.values()[half..])];
        let unseen = (UNSEEN * tolerance.relative).max(4.0 * f64::EPSILON);
        let (mut solved, mut before) = ([false; LANES], [f64::INFINITY; LANES]);
        // At first the velocities stay what they are.
        self.rates.fill(0.0);
        let (first, others) = self.rates.split_at_mut(len);
        motion.dynamics().velocities(t, block.values(), &mut first[..half])?;
        others.chunks_exact_mut(len).for_each(|rates| rates[..half].copy_from_slice(&first[..half]));
        self.expand();
        for sweep in 1..=SWEEPS {
            let mut changes = [0.0f64; LANES];
            for node in 0..NODES {
                self.go(node, block, h);
                let mut times = [0.0; LANES];
                for lane in 0..width {
                    times[lane] = t[lane] + self.rule.nodes[node] * h[lane];
                }
                // Where a node cannot be moved, its correction is NaN.
                let _ = motion.dynamics().project_by(&times[..width], &mut self.at, &mut self.correction);
                let interval = Interval { t, h };
                motion.rates(interval, self.rule.nodes[node], &self.at, &mut self.change)?;
                for (i, (change, correction)) in self.change.iter().zip(&self.correction).enumerate() {
                    let (lane, rate) = (i % width, &mut self.rates[node * len + i]);
                    if open[lane] {
                        let size = sizes[usize::from(i >= half)][lane];
                        let by = (h[lane] * (change - *rate)).abs() / size;
                        // Not `f64::max`, which would lose a NaN.
                        changes[lane] = if by <= changes[lane] { changes[lane] } else { by };
                        *rate = if correction.is_nan() { f64::NAN } else { *change };
                    }
                }
                self.expand();
            }
            for lane in 0..width {
                if !open[lane] {
                    continue;
                }
                let change = changes[lane];
                // What the next sweep would change, as they shrink from one to the next.
                let next = change * (change / before[lane]).min(1.0);
                let settled = next <= unseen && sweep >= FEW
                    || sweep >= ENOUGH && change >= 0.5 * before[lane] && change <= NOISE;
                let excess = if sweep == FEW { self.excess(block, h[lane], lane, tolerance) } else { 1.0 };
                let hopeless = excess > ROUGHLY || !change.is_finite();
                if hopeless {
                    // The last coefficient shrinks as this power of the step.
                    self.suits[lane] = h[lane].abs() * (excess / ROUGHLY).powf(-1.0 / NODES as f64).max(0.1);
                }
                (solved[lane], open[lane]) = (settled, !settled && !hopeless);
                before[lane] = change;
            }
            if !open[..width].contains(&true) {
                break;
            }
        }
        for (lane, solved) in solved.iter_mut().enumerate().take(width) {
            *solved = *solved && self.excess(block, h[lane], lane, tolerance) <= 1.0;
        }
        Ok(solved)
    }

    /// A lane passes with what was found for it.
    fn keep(&mut self, lane: usize, width: usize) {
        let places = (lane..self.kept.len()).step_by(width);
        places.for_each(|i| self.kept[i] = self.coefficients[i]);
        self.lanes[lane] = true;
    }

    /// Finds the coefficients of the field.
    fn expand(&mut self) {
        let len = self.at.len();
        self.coefficients.fill(0.0);
        for (node, rates) in self.rates.chunks_exact(len).enumerate() {
            for (k, coefficients) in self.coefficients.chunks_exact_mut(len).enumerate() {
                let weight = self.rule.weights[node] * self.phi[node][k];
                coefficients.iter_mut().zip(rates).for_each(|(c, rate)| *c += weight * rate);
            }
        }
    }

    /// Goes to a node.
    fn go(&mut self, node: usize, block: &Block, h: &[f64]) {
        let (width, len, ahead) = (h.len(), self.at.len(), &self.ahead[node]);
        for i in 0..len {
            let change = (0..NODES).fold(0.0, |sum, k| sum + ahead[k] * self.coefficients[k * len + i]);
            self.change[i] = h[i % width] * change;
        }
        block.after(0, &self.change, &mut self.at);
    }

    /// The last coefficient of a lane, as a multiple of what it may be if the step is to be as good as the tolerance asks for.
    fn excess(&self, block: &Block, h: f64, lane: usize, tolerance: &Tolerance) -> f64 {
        let (width, len) = (block.width(), self.at.len());
        let last = &self.coefficients[(NODES - 1) * len..];
        let parts = [0..len / 2, len / 2..len].map(|part| {
            let size = largest(&block.values()[part.clone()], lane, width).max(f64::MIN_POSITIVE);
            let tolerated = tolerance.relative + tolerance.absolute.smallest() / size;
            h.abs() * largest(&last[part], lane, width) / ((0.1 * tolerated.sqrt()).max(NOISE) * size)
        });
        parts[0].max(parts[1])
    }
}

impl Ahead {
    /// From the lengths of the shortest direction now, a short time later, and as long ago: near where it vanishes it is a multiple of the time to
    /// there.
    fn new(now: f64, later: f64, ago: f64, by: f64) -> Option<Ahead> {
        let (sum, difference) = (later + ago, (ago - later).abs());
        // If it vanishes in between, the sum tells how fast it changes, and else the difference.
        let between = (2.0 * now - sum).abs() > (2.0 * now - difference).abs();
        let rate = if between { sum } else { difference } / (2.0 * by);
        if now >= NEAR || rate.is_nan() || rate <= 0.0 {
            return None;
        }
        let wide = NEAR / rate;
        let time = (now / rate).copysign(ago - later);
        // Once it is well behind, nothing is to be passed; and a length that hardly changes will not vanish.
        (time > -0.25 * wide && wide < SLOW / LOOK * by).then_some(Ahead { time, wide })
    }

    /// Steps that pass it, the longest first: each twice as long as the next, or nearly, and such that its nodes are far from it.
    fn steps(self, nodes: &[f64]) -> [f64; TRIES] {
        std::array::from_fn(|k| {
            let longest = 2.0 * self.wide * 0.5_f64.powi(k as i32);
            // In the middle between two nodes, or as long as can be.
            let middles = nodes.windows(2).map(|pair| 2.0 * self.time / (pair[0] + pair[1]));
            let fits = |step: &f64| *step > 0.5 * longest && *step <= longest && self.time < 0.75 * step;
            let away =
                |step: f64| nodes.iter().map(|c| (c * step - self.time).abs()).fold(f64::INFINITY, f64::min);
            let farther = |best: f64, step: f64| if away(step) > away(best) { step } else { best };
            middles.chain([0.7 * longest, longest]).filter(fits).reduce(farther).unwrap_or(0.0)
        })
    }
}

impl RunLoop<'_> {
    /// Finds steps for lanes that pass a configuration in which constraints depend on each other.
    pub(super) fn pass<const W: usize>(&mut self, tolerance: &Tolerance) -> Result<(), StepError> {
        let Some(passage) = &mut self.passage else { return Ok(()) };
        passage.lanes = [false; LANES];
        let is_near = |j: usize| passage.here[j] < NEAR.min(0.5 * passage.tried[j]);
        let candidates = std::array::from_fn(|j| j < W && is_near(j) && self.h[j] != 0.0);
        if !candidates.contains(&true) {
            return Ok(());
        }
        let forward = (self.end - self.start).signum();
        let t = &self.t[..W];
        let ahead = passage.look(&mut self.motion, t, &self.block, &candidates, forward)?;
        let candidates =
            ahead.map(|ahead| ahead.map_or([0.0; TRIES], |ahead| ahead.steps(&passage.rule.nodes)));
        passage.suits = [f64::INFINITY; LANES];
        for k in 0..TRIES {
            let mut steps = [0.0; LANES];
            for lane in (0..W).filter(|&lane| !passage.lanes[lane]) {
                let left = clock::left(&mut Lanes, [t[lane]], [self.late[lane]], [self.end])[0];
                let step = candidates[lane][k];
                // A step that leads to a switch must not become longer.
                let allowed = if self.switching.is_some() { self.h[lane].abs() } else { self.limits.longest };
                let short = step > 0.0 && step <= allowed.min(passage.suits[lane]);
                steps[lane] = if short { step.min(left.abs()).copysign(forward) } else { 0.0 };
            }
            if steps[..W].iter().all(|step| *step == 0.0) {
                continue;
            }
            let solved = passage.solve(&mut self.motion, (t, &steps[..W]), &self.block, tolerance)?;
            for lane in (0..W).filter(|&lane| solved[lane]) {
                passage.keep(lane, W);
                self.h[lane] = steps[lane];
            }
        }
        for lane in (0..W).filter(|&lane| ahead[lane].is_some() && !passage.lanes[lane]) {
            passage.tried[lane] = passage.here[lane];
        }
        Ok(())
    }

    /// Tries the step in lanes that do not pass, and takes from the others what was found for them.
    pub(super) fn try_other_lanes(&mut self) -> Result<(), StepError> {
        let Some(passage) = self.passage.as_ref().filter(|passage| passage.lanes.contains(&true)) else {
            return self.try_step();
        };
        let (width, lanes, steps) = (self.block.width(), passage.lanes, self.h);
        self.interpolated = false;
        (0..width).filter(|&lane| lanes[lane]).for_each(|lane| self.h[lane] = 0.0);
        let stepped = if (0..width).all(|lane| self.h[lane] == 0.0) { Ok(()) } else { self.try_step() };
        self.h = steps;
        let Some(passage) = &self.passage else { unreachable!("it was there") };
        for (i, change) in self.change.iter_mut().enumerate() {
            let lane = i % width;
            // ∫φ₀ over the whole step is 1, and that of the others nothing.
            *change = if lanes[lane] { steps[lane] * passage.kept[i] } else { *change };
        }
        stepped
    }

    /// Steps that pass are taken, and leave the pace what it was: returns that.
    pub(super) fn judge_passage<const W: usize>(&mut self, ratios: &mut [f64; LANES]) -> Option<Pace> {
        let passage = self.passage.as_ref().filter(|passage| passage.lanes.contains(&true))?;
        (0..W).filter(|&j| passage.lanes[j]).for_each(|j| ratios[j] = 1.0);
        let before = match &mut self.pacing {
            Pacing::Adaptive { controller: Some(controller), .. } => *controller.before(),
            _ => [0.0; LANES],
        };
        Some(Pace { next: self.next, before })
    }

    /// Puts the pace back in lanes that pass.
    pub(super) fn restore_pace(&mut self, pace: &Pace) {
        let Some(passage) = &self.passage else { unreachable!("it was kept where there is one") };
        for lane in (0..self.block.width()).filter(|&lane| passage.lanes[lane]) {
            self.next[lane] = pace.next[lane];
            if let Pacing::Adaptive { controller: Some(controller), .. } = &mut self.pacing {
                controller.before()[lane] = pace.before[lane];
            }
        }
    }

    /// The step is taken: in lanes that passed, the method begins anew.
    pub(super) fn accept_passage<const W: usize>(&mut self) {
        let Some(passage) = &mut self.passage else { unreachable!("it is asked for where there is one") };
        let passed: [bool; W] = std::array::from_fn(|j| self.taken[j] && passage.lanes[j]);
        let stepped: [bool; W] = std::array::from_fn(|j| self.taken[j] && !passage.lanes[j]);
        (0..W).filter(|&j| self.taken[j]).for_each(|j| passage.accept(j));
        self.method.accept(&stepped);
        if passed.contains(&true) {
            self.forget(&passed);
        }
    }

    /// Puts the motion of lanes that pass into the polynomial of the step.
    pub(super) fn interpolate_passage(&mut self) {
        let Some(passage) = &self.passage else { return };
        let (width, len) = (self.block.width(), self.change.len());
        for lane in (0..width).filter(|&lane| passage.lanes[lane]) {
            let h = self.h[lane];
            self.polynomial.replace(lane, NODES, |tau, out| {
                let mut ahead = [0.0; NODES];
                integrals(tau, &mut ahead);
                for (i, out) in (lane..len).step_by(width).zip(out) {
                    *out = h * (0..NODES).map(|k| ahead[k] * passage.kept[k * len + i]).sum::<f64>();
                }
            });
        }
        self.polynomial.lead_to(&self.change);
    }
}

/// The largest size of a number in a lane.
fn largest(x: &[f64], lane: usize, width: usize) -> f64 {
    x.iter().skip(lane).step_by(width).fold(0.0, |largest, x| largest.max(x.abs()))
}

//! Gauss–Radau collocation with eight nodes: Everhart's method as Rein and Spiegel bring it to rounding.
//!
//! $$f(\tau)=f_0+\sum_{k=0}^6b_k\tau^{k+1},\qquad f(\tau_n)=f\bigl(t+\tau_nh,\;y(\tau_n)\bigr),\qquad
//! y(\tau)=y_0+h\int_0^\tau\! f\,d\tau'$$
//!
//! The coefficients are predicted from the step before, and corrected node by node until they no longer change. Where velocities are
//! M⁻¹p with M constant, and pushes do not depend on them, f stands for accelerations and is integrated twice. The step ends with
//! the sums of the quadrature, which are exact for polynomials of degree 14, so that the order is 15. Its length follows from
//! b₆, the last that is known of f, relative to f.

mod nodes;

use crate::block::Block;
use crate::card::{Card, Kind, Needs, Sizing};
use crate::dense::{Basis, DenseOutput, Polynomial};
use crate::pace::{LATELY, Pace, Tolerance};
use crate::run::checkpoint::Kept;
use crate::step::{Estimated, Interpolated, Interval, Motion, Step, StepError};
use leastaction_compile::LANES;
use leastaction_mechanics::{EvalError, Quantity};
use nodes::{NODES, POWERS, SHIFT, TAU, WEIGHTS, difference, newton, through};

pub(super) const CARD: Card = Card {
    name: "ias15",
    about: "Gauss–Radau, eight nodes, to rounding",
    order: 15,
    keeps: &[],
    needs: Needs::Field,
    kind: Kind::Implicit,
    sizing: Sizing::Estimated { order: 7 },
    cite: "doi:10.1093/mnras/stu2164",
    stepper: |dynamics, width, pace| {
        let facts = dynamics.system().facts();
        let (twice, explicit) = (Needs::ConstantMass.met_by(facts), facts.explicit);
        if twice && explicit {
            dynamics.prepare(&[Quantity::Kick, Quantity::Drift])?;
        } else if twice {
            dynamics.prepare(&[Quantity::MomentumRates, Quantity::Inertia])?;
        }
        Ok(Box::new(Ias15::new(dynamics.system().dimension() * width, pace, twice)))
    },
};

/// Corrections of a step at most: where a tolerance sets the step, a shorter one is better than more of them.
const SWEEPS: u32 = 200;
const SWEEPS_TO_SPARE: u32 = 16;
/// A change of b₆ relative to f that would not be seen.
const UNSEEN: f64 = 1e-16;
/// What rounding may leave of changes of b₆ at most: b₆ magnifies rounding of f some hundred times, and stiff forces that of y.
const NOISE: f64 = 1e-6;
/// b₆ relative to f in a step whose error is tolerated is this times the 7/15th power of the tolerance, and never larger than that.
const SCALE: f64 = 30.0;
const LARGEST: f64 = 0.1;
/// A step so much longer than the one before is not predicted from it.
const FAR: f64 = 2.0;

struct Ias15 {
    /// Whether f is integrated twice.
    twice: bool,
    /// Rows as long as f: b₀ … b₆ and g₁ … g₇; and what was predicted for b.
    b: Vec<f64>,
    g: Vec<f64>,
    predicted: Vec<f64>,
    /// b and its prediction in the last step that was taken, its length, and how many there were, up to two.
    b_before: Vec<f64>,
    predicted_before: Vec<f64>,
    h_before: [f64; LANES],
    steps: [f64; LANES],
    /// f at the nodes; with double integration also ṗ, of which f is M⁻¹ṗ, and the velocities at the start.
    rates: Vec<f64>,
    pushes: Vec<f64>,
    velocities: Vec<f64>,
    /// What the carry of p adds to them.
    carried: Vec<f64>,
    /// f at the node that is looked at, a state, and ṗ beside coordinates.
    rate: Vec<f64>,
    at: Vec<f64>,
    other: Vec<f64>,
    h: [f64; LANES],
    /// Corrections at most, and until a change of b₆ is no larger than this.
    sweeps: u32,
    unseen: f64,
    /// b₆ relative to f.
    last_term: [f64; LANES],
    dense: DenseOutput,
}

/// What one sweep has changed, lane by lane, in each half of f.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// The largest change of b₆.
    change: [[f64; LANES]; 2],
    /// The largest f.
    size: [[f64; LANES]; 2],
}

impl Ias15 {
    fn new(len: usize, pace: &Pace, twice: bool) -> Ias15 {
        let (sweeps, unseen) = match pace {
            Pace::Step(_) | Pace::Density(_) => (SWEEPS, UNSEEN),
            Pace::Tolerance(tolerance) => (SWEEPS_TO_SPARE, UNSEEN.max(0.01 * tolerance.relative)),
        };
        let row = if twice { len / 2 } else { len };
        let rows = |count: usize| vec![0.0; count * row];
        Ias15 {
            twice,
            b: rows(NODES),
            g: rows(NODES),
            predicted: rows(NODES),
            b_before: rows(NODES),
            predicted_before: rows(NODES),
            h_before: [0.0; LANES],
            steps: [0.0; LANES],
            rates: rows(NODES + 1),
            pushes: rows(if twice { NODES + 1 } else { 0 }),
            velocities: rows(usize::from(twice)),
            carried: rows(usize::from(twice)),
            rate: rows(1),
            at: vec![0.0; len],
            other: vec![0.0; len],
            h: [0.0; LANES],
            sweeps,
            unseen,
            last_term: [0.0; LANES],
            dense: DenseOutput::new(CARD.order, len),
        }
    }

    /// Evaluates f at `at` and the node n.
    fn look(&mut self, motion: &mut Motion<'_>, interval: Interval<'_>, n: usize) -> Result<(), EvalError> {
        if !self.twice {
            return motion.rates(interval, TAU[n], &self.at, &mut self.rate);
        }
        let half = self.rate.len();
        self.other[..half].copy_from_slice(&self.at[..half]);
        motion.kick(interval, TAU[n], &self.at, &mut self.other[half..])?;
        motion.drift(interval, TAU[n], &self.other, &mut self.rate)
    }

    /// Predicts b: the polynomial of the step before goes on, and was as wrong as it is now.
    fn predict<const W: usize>(&mut self) {
        let row = self.rate.len();
        let place = |k: usize, i: usize| k * row + i;
        for i in 0..row {
            let j = i % W;
            let q = if self.steps[j] == 0.0 { f64::INFINITY } else { self.h[j] / self.h_before[j] };
            let known = q.abs() <= FAR;
            let mut power = 1.0;
            let mut b = [0.0; NODES];
            for (m, b) in b.iter_mut().enumerate() {
                power *= q;
                let sum = (m..NODES).fold(0.0, |sum, k| sum + SHIFT[k][m] * self.b_before[place(k, i)]);
                let ahead = if known { power * sum } else { 0.0 };
                let wrong = self.b_before[place(m, i)] - self.predicted_before[place(m, i)];
                self.predicted[place(m, i)] = ahead;
                *b = ahead + if known && self.steps[j] > 1.0 { wrong } else { 0.0 };
            }
            let g = newton(b);
            for k in 0..NODES {
                (self.b[place(k, i)], self.g[place(k, i)]) = (b[k], g[k]);
            }
        }
    }

    /// Goes to the node n along the polynomial.
    fn go<const W: usize>(&mut self, block: &Block, n: usize) {
        let (y, carry) = (block.values(), block.carry());
        let (tau, row) = (TAU[n], self.rate.len());
        let c: [f64; NODES + 1] = std::array::from_fn(|k| match self.twice {
            true => 1.0 / ((k + 1) * (k + 2)) as f64,
            false => 1.0 / (k + 1) as f64,
        });
        for i in 0..row {
            let h = self.h[i % W];
            let tail = (0..NODES).rev().fold(0.0, |sum, k| (sum + c[k + 1] * self.b[k * row + i]) * tau);
            let mean = tail + c[0] * self.rates[i];
            let mean =
                if self.twice { self.velocities[i] + (self.carried[i] + h * tau * mean) } else { mean };
            self.at[i] = y[i] + (carry[i] + h * tau * mean);
        }
    }

    /// Corrects b by what was found at the node n.
    fn correct<const W: usize>(&mut self, n: usize, active: &[bool; LANES], seen: &mut Seen) {
        let row = self.rate.len();
        for i in 0..row {
            let j = i % W;
            if !active[j] {
                continue;
            }
            let rate = self.rate[i];
            self.rates[n * row + i] = rate;
            if self.twice {
                self.pushes[n * row + i] = self.other[row + i];
            }
            let mut g = [0.0; NODES];
            (0..n).for_each(|k| g[k] = self.g[k * row + i]);
            let new = difference(n, rate - self.rates[i], &g);
            let change = new - g[n - 1];
            self.g[(n - 1) * row + i] = new;
            (0..n).for_each(|k| self.b[k * row + i] += POWERS[n - 1][k] * change);
            let part = usize::from(!self.twice && 2 * (i / W) >= row / W);
            seen.size[part][j] = seen.size[part][j].max(rate.abs());
            if n == NODES {
                // Not `f64::max`, which would lose a NaN.
                let largest = &mut seen.change[part][j];
                *largest = if change.abs() > *largest || change.is_nan() { change.abs() } else { *largest };
            }
        }
    }

    fn solve<const W: usize>(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<(), StepError> {
        let row = self.rate.len();
        self.h = std::array::from_fn(|j| interval.h[j % W]);
        self.at.copy_from_slice(block.values());
        if self.twice {
            motion.drift(interval, 0.0, block.values(), &mut self.velocities)?;
            self.other[..row].copy_from_slice(&block.values()[..row]);
            self.other[row..].copy_from_slice(&block.carry()[row..]);
            motion.drift(interval, 0.0, &self.other, &mut self.carried)?;
        }
        self.look(motion, interval, 0)?;
        self.rates[..row].copy_from_slice(&self.rate);
        if self.twice {
            self.pushes[..row].copy_from_slice(&self.other[row..]);
        }
        self.predict::<W>();
        let mut active: [bool; LANES] = std::array::from_fn(|j| j < W);
        let faint = self.faint::<W>(block);
        let mut before = [f64::INFINITY; LANES];
        for sweep in 1..=self.sweeps {
            let mut seen = Seen { size: faint, ..Seen::default() };
            for n in 1..=NODES {
                self.go::<W>(block, n);
                self.look(motion, interval, n)?;
                self.correct::<W>(n, &active, &mut seen);
            }
            motion.work_mut().iterations += 1;
            for j in 0..W {
                if !active[j] {
                    continue;
                }
                let change = seen.relative(j, &seen.change);
                // What the next sweep would change, as they shrink from one to the next.
                let next = change * (change / before[j]);
                let stuck = sweep > 2 && change >= before[j] && change < NOISE;
                active[j] = !(change <= self.unseen || next <= self.unseen && sweep > 1 || stuck);
                if !active[j] {
                    self.last_term[j] = self.last_terms::<W>(j, &seen);
                } else if sweep == self.sweeps || !change.is_finite() {
                    let (t, residual) = (interval.t[j], change);
                    return Err(StepError::NoConvergence { t, lane: j, residual, iterations: sweep });
                }
                before[j] = change;
            }
            if !active.contains(&true) {
                break;
            }
        }
        Ok(())
    }

    /// What of each half of f the state does not feel: over the step it is lost in rounding, and need not be known at all.
    fn faint<const W: usize>(&self, block: &Block) -> [[f64; LANES]; 2] {
        let row = self.rate.len();
        let values = if self.twice { &self.velocities } else { block.values() };
        let mut faint = [[0.0_f64; LANES]; 2];
        for (i, value) in values.iter().enumerate().take(row) {
            let (part, j) = (usize::from(!self.twice && 2 * (i / W) >= row / W), i % W);
            faint[part][j] = faint[part][j].max(value.abs());
        }
        for sizes in &mut faint {
            sizes
                .iter_mut()
                .zip(self.h)
                .for_each(|(size, h)| *size *= if h == 0.0 { 0.0 } else { f64::EPSILON / h.abs() });
        }
        faint
    }

    /// b₆ relative to f in a lane.
    fn last_terms<const W: usize>(&self, lane: usize, seen: &Seen) -> f64 {
        let row = self.rate.len();
        let mut largest = [[0.0_f64; LANES]; 2];
        for i in (lane..row).step_by(W) {
            let part = usize::from(!self.twice && 2 * (i / W) >= row / W);
            largest[part][lane] = largest[part][lane].max(self.b[(NODES - 1) * row + i].abs());
        }
        seen.relative(lane, &largest)
    }

    /// What b₆ does to the state in a lane, as a multiple of what is tolerated: where f is next to nothing, it need not be known well.
    fn effect(
        &self,
        motion: &Motion<'_>,
        Tolerance { relative, absolute }: &Tolerance,
        block: &Block,
        lane: usize,
    ) -> f64 {
        let (row, width) = (self.rate.len(), block.width());
        let values = if self.twice { &self.velocities } else { block.values() };
        let half = if self.twice { row } else { (row / width).div_ceil(2) * width };
        let mut worst = 0.0;
        let mut natural = motion.natural().map(|sizes| LATELY * sizes[lane]);
        let h = self.h[lane].abs();
        let mut per_momentum = 1.0;
        if self.twice {
            // Velocities are to momenta as they are now, and coordinates come to their sizes in the time of the run.
            let largest =
                |rows: &[f64]| rows.iter().skip(lane).step_by(width).fold(0.0, |m: f64, x| m.max(x.abs()));
            per_momentum = largest(&self.velocities) / largest(&block.values()[row..]).max(f64::MIN_POSITIVE);
            natural[0] = (natural[0] / motion.span).max(natural[1] * per_momentum);
        }
        // What is tolerated of a velocity is tolerated of its momentum, and of its coordinate after the step.
        let tolerated = |component: usize| match self.twice {
            true => {
                let [q, p] = [component, component + row / width].map(|component| absolute.of(component));
                (q / h.max(f64::MIN_POSITIVE)).min(p * per_momentum)
            }
            false => absolute.of(component),
        };
        for (part, natural) in [0..half, half..row].into_iter().zip(natural) {
            let lanes = part.filter(|i| i % width == lane);
            let size = lanes.clone().fold(natural, |size, i| size.max(values[i].abs()));
            for i in lanes {
                let effect = h * self.b[(NODES - 1) * row + i].abs();
                if effect != 0.0 {
                    worst = f64::max(worst, effect / (relative * size + tolerated(i / width)));
                }
            }
        }
        worst
    }

    /// h·(f₀ + Σ wₙ (fₙ − f₀)) = h·Σ wₙ fₙ of a component, with weights that sum to `whole`.
    fn sum(values: &[f64], row: usize, i: usize, whole: f64, weight: impl Fn(usize) -> f64) -> f64 {
        let first = values[i];
        (1..=NODES).fold(0.0, |sum, n| sum + weight(n) * (values[n * row + i] - first)) + whole * first
    }
}

impl Seen {
    /// The larger of two ratios: that of each half to f there.
    fn relative(&self, lane: usize, values: &[[f64; LANES]; 2]) -> f64 {
        let ratio = |part: usize| match values[part][lane] {
            0.0 => 0.0,
            value => value / self.size[part][lane],
        };
        let (one, other) = (ratio(0), ratio(1));
        if one > other || one.is_nan() { one } else { other }
    }
}

impl Step for Ias15 {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let width = interval.h.len();
        match width {
            1 => self.solve::<1>(motion, interval, block)?,
            _ => self.solve::<LANES>(motion, interval, block)?,
        }
        let row = self.rate.len();
        for i in 0..row {
            let h = self.h[i % width];
            if self.twice {
                // Σ wₙ (1 − τₙ) fₙ is the integral of the integral.
                let bend = Ias15::sum(&self.rates, row, i, 0.5, |n| WEIGHTS[n] * (1.0 - TAU[n]));
                change[i] = h * (self.velocities[i] + (self.carried[i] + h * bend));
                change[row + i] = h * Ias15::sum(&self.pushes, row, i, 1.0, |n| WEIGHTS[n]);
            } else {
                change[i] = h * Ias15::sum(&self.rates, row, i, 1.0, |n| WEIGHTS[n]);
            }
        }
        Ok(())
    }

    fn accept(&mut self, lanes: &[bool]) {
        let width = lanes.len();
        for i in (0..self.b.len()).filter(|i| lanes[i % width]) {
            self.b_before[i] = self.b[i];
            self.predicted_before[i] = self.predicted[i];
        }
        for j in (0..width).filter(|&j| lanes[j]) {
            self.h_before[j] = self.h[j];
            self.steps[j] = (self.steps[j] + 1.0).min(2.0);
        }
    }

    fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        visit(Kept::Numbers(&mut self.b_before));
        visit(Kept::Numbers(&mut self.predicted_before));
        visit(Kept::Numbers(&mut self.h_before));
        visit(Kept::Numbers(&mut self.steps));
    }

    fn estimated(&mut self) -> Option<&mut dyn Estimated> {
        Some(self)
    }

    fn interpolated(&mut self) -> Option<&mut dyn Interpolated> {
        Some(self)
    }
}

impl Estimated for Ias15 {
    /// The error of a step shrinks as h¹⁵ and b₆ as h⁷, so b₆ may be the 7/15th power of what is tolerated.
    fn error(
        &mut self,
        motion: &Motion<'_>,
        tolerance: &Tolerance,
        block: &Block,
        _: &[f64],
        ratios: &mut [f64],
    ) {
        let width = ratios.len();
        for (j, ratio) in ratios.iter_mut().enumerate() {
            let lane = block.values().iter().skip(j).step_by(width);
            let size = lane.fold(0.0, |size: f64, y| size.max(y.abs()));
            let absolute = tolerance.absolute.smallest();
            let absolute = if absolute == 0.0 { 0.0 } else { absolute / size };
            let tolerated = SCALE * (tolerance.relative + absolute).powf(7.0 / 15.0);
            *ratio =
                (self.last_term[j] / tolerated.min(LARGEST)).min(self.effect(motion, tolerance, block, j));
        }
    }
}

impl Interpolated for Ias15 {
    /// The polynomial of the collocation is in error by O(h⁹); five sweeps along the field make that O(h¹⁴).
    fn polynomial(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &[f64],
        polynomial: &mut Polynomial,
    ) -> Result<(), StepError> {
        let (row, len, width) = (self.rate.len(), change.len(), interval.h.len());
        let terms = polynomial.begin(block, Basis::Powers, NODES + 2);
        terms.fill(0.0);
        let mut once = |i: usize, h: f64, rates: [f64; NODES + 1]| {
            terms[i] = h * rates[0];
            let b = through(rates);
            (0..NODES).for_each(|k| terms[(k + 1) * len + i] = h * b[k] / (k + 2) as f64);
        };
        for i in 0..row {
            let h = self.h[i % width];
            if !self.twice {
                once(i, h, std::array::from_fn(|n| self.rates[n * row + i]));
                continue;
            }
            once(row + i, h, std::array::from_fn(|n| self.pushes[n * row + i]));
        }
        for i in (0..row).filter(|_| self.twice) {
            let h = self.h[i % width];
            terms[i] = h * self.velocities[i];
            terms[len + i] = h * h * self.rates[i] / 2.0;
            for k in 0..NODES {
                terms[(k + 2) * len + i] = h * h * self.b[k * row + i] / ((k + 2) * (k + 3)) as f64;
            }
        }
        self.dense.refine(motion, interval, block, change, polynomial, 5)?;
        Ok(())
    }
}

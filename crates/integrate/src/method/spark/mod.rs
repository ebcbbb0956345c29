//! Specialized partitioned additive Runge–Kutta methods: the motion by one quadrature, the constraints by another.
//!
//! Velocities and forces are collocated at s nodes c of Gauss; constraints act, and are met, at the s + 1 nodes c̃ of Lobatto:
//!
//! $$Q_i=q_0+h\sum_ja_{ij}V_j,\qquad P_i=p_0+h\sum_ja_{ij}F_j-h\sum_{k=0}^s\tilde a_{ik}G(\tilde Q_k)^T\Lambda_k,\qquad
//! \tilde Q_k=q_0+h\sum_j\bar a_{kj}V_j,$$
//! $$q_1=q_0+h\sum_jb_jV_j,\qquad p_1=p_0+h\sum_jb_jF_j-h\sum_{k=0}^s\tilde b_kG(\tilde Q_k)^T\Lambda_k,$$
//! $$0=\Phi(\tilde Q_k,t+\tilde c_kh),\quad k=1\dots s,\qquad 0=\Psi(q_1,v_1,t+h)$$
//!
//! with V = ∂H/∂p and F = −∂H/∂q + Q at (Qᵢ, Pᵢ). The step is symmetric, symplectic on the manifold of the constraints, and of order 2s
//! (L. O. Jay, SIAM J. Numer. Anal. 45 (2007) 1814, doi:10.1137/060667475). As ãᵢₛ = 0, the last multiplier stands alone
//! and turns the momenta at the end, as in RATTLE.
//!
//! Unknowns are the increments hbⱼVⱼ and hbⱼFⱼ and the multipliers. An iteration evaluates velocities and forces, and then corrects
//! multipliers and velocities as if G were the same all along the step:
//!
//! $$h\,\delta I=(B^{-1}\otimes(GM^{-1}G^T)^{-1})\,\Phi,\qquad I_j=h\tilde b_j\Lambda_j,\quad B_{kj}=\sum_i\nu_{ki}b_i\xi_{ij}$$

pub(super) mod gauss;
mod shares;

use crate::block::{Block, scale};
use crate::error::RunError;
use crate::implicit::{Equation, Past, Solver};
use crate::run::checkpoint::Kept;
use crate::step::{Interval, Motion, Step, StepError};
use leastaction_compile::LANES;
use leastaction_linear::Structure;
use leastaction_mechanics::{ConstraintFactors, Dynamics, EvalError, ProjectionError, ShakeFactors};
use shares::Shares;

/// Equations with more unknowns than this are not left to Newton's method, whose matrix would be too large.
const SMALL: usize = 400;
/// So much a multiplier counts for itself in Newton's matrix: one that is not needed stays where it is.
const REDUNDANT: f64 = 1e-12;
/// Corrections of the momenta at the end, at most, and what they may not shrink below, relative to the momenta.
const TURNS: u32 = 30;
const ROUNDING: f64 = 1e-11;
/// A constraint that depends on others is met if the state would have to move by no more than this, relative to its size.
const MET: f64 = 1e-9;

/// A length that was not measured yet.
const UNKNOWN: f64 = -1.0;

/// The method of s stages.
fn stepper(s: usize, dynamics: &mut Dynamics, width: usize) -> Result<Box<dyn Step>, RunError> {
    let shares = Shares::new(s);
    let system = dynamics.system().clone();
    let (n, m) = (system.degrees(), system.constraints().len());
    let [half, rows] = [n, m].map(|len| len * width);
    let len = 2 * (half + rows);
    let net = Net {
        n: half,
        m: rows,
        nodes: (0..s).map(|_| ConstraintFactors::new(&system, width)).collect(),
        middle: ConstraintFactors::new(&system, width),
        reach: vec![0.0; rows],
        impulses: vec![0.0; s * rows],
        pulls: vec![0.0; s * half],
        at: vec![0.0; 2 * half],
        z: vec![0.0; 2 * half],
        values: vec![0.0; s * rows],
        shift: vec![0.0; rows],
        part: vec![0.0; rows],
        differences: Vec::new(),
        shares,
    };
    let Shares { c, b, nodes, weights, .. } = &net.shares;
    let mut spark = Spark {
        solver: Solver::foreseeing(s * len),
        past: Past::of_increments(c, b, len),
        past_impulses: (m > 0).then(|| Past::of_increments(&nodes[..s], &weights[..s], rows)),
        x: vec![0.0; s * len],
        size: vec![0.0; len],
        end: ConstraintFactors::new(&system, width),
        shake: ShakeFactors::new(&system, width),
        lengths: [UNKNOWN; LANES],
        net,
    };
    spark.prepare(dynamics, width);
    Ok(Box::new(spark))
}

struct Spark {
    solver: Solver,
    past: Past,
    past_impulses: Option<Past>,
    /// For each stage hbV, scaled multipliers, hbF, and as many zeros as there are multipliers.
    x: Vec<f64>,
    /// What the unknowns are measured by.
    size: Vec<f64>,
    end: ConstraintFactors,
    /// The length over which constraints turn where each lane began: positions are not known better than to its rounding.
    shake: ShakeFactors,
    lengths: [f64; LANES],
    net: Net,
}

/// The coefficients, and what is known at the nodes. Lengths count all lanes.
struct Net {
    /// The lengths of coordinates, and of multipliers.
    n: usize,
    m: usize,
    shares: Shares,
    /// G at Lobatto's nodes but the last, and in the middle of the step, as it is guessed.
    nodes: Vec<ConstraintFactors>,
    middle: ConstraintFactors,
    /// What a unit of each multiplier does to accelerations in the middle; unknowns are hI times this, which are lengths.
    reach: Vec<f64>,
    /// Iⱼ, and what they do to momenta: −GᵀI.
    impulses: Vec<f64>,
    pulls: Vec<f64>,
    at: Vec<f64>,
    z: Vec<f64>,
    values: Vec<f64>,
    shift: Vec<f64>,
    part: Vec<f64>,
    /// Room for differences, made when it is first needed.
    differences: Vec<f64>,
}

impl Step for Spark {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        self.guess(motion, interval, block)?;
        let Spark { x, net, .. } = self;
        let mut equation = Constrained { motion, interval, block, net };
        equation.weigh(x)?;
        self.measure(motion, interval, block)?;
        let Spark { solver, x, net, .. } = self;
        let mut equation = Constrained { motion, interval, block, net };
        let iterations = solver.solve(interval.t, &self.size, x, &mut equation)?;
        equation.pull(x)?;
        motion.work_mut().iterations += u64::from(iterations);
        net.sum(x, change);
        rest(interval.h, change);
        self.turn(motion, interval, block, change, iterations)
    }

    fn accept(&mut self, lanes: &[bool]) {
        self.past.keep(lanes, &self.x);
        if let Some(past) = &mut self.past_impulses {
            past.keep(lanes, &self.net.impulses);
        }
    }

    fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        visit(Kept::Numbers(&mut self.lengths));
        self.past.memory(visit);
        if let Some(past) = &mut self.past_impulses {
            past.memory(visit);
        }
    }
}

impl Spark {
    /// Quantities make room when they are first asked for; what they are here does not matter.
    fn prepare(&mut self, dynamics: &mut Dynamics, width: usize) {
        let Net { at, z, n, shift, middle, .. } = &mut self.net;
        let t = &[0.0; LANES][..width];
        let _ = dynamics.drift(t, at, &mut z[..*n]);
        let _ = dynamics.kick(t, at, &mut z[..*n]);
        if !shift.is_empty() {
            let _ = dynamics.constraint_values(t, at, shift);
            let _ = dynamics.constraint_rates(t, at, shift);
            let _ = dynamics.multipliers(t, at, shift);
            let _ = self.end.factor(dynamics, t, at);
            let _ = middle.factor(dynamics, t, at);
        }
    }

    /// Guesses increments and impulses: from steps before, or as if nothing changed along the step.
    fn guess(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<(), StepError> {
        let Spark { past, past_impulses, x, size, net, .. } = self;
        let (h, y, len) = (interval.h, block.values(), size.len());
        if past.is_empty(h.len()) {
            for (i, b) in net.shares.b.iter().enumerate() {
                let (first, second) = x[i * len..][..len].split_at_mut(len / 2);
                motion.drift(interval, 0.0, y, &mut first[..net.n])?;
                motion.kick(interval, 0.0, y, &mut second[..net.n])?;
                [first, second].into_iter().for_each(|part| {
                    scale(part, h);
                    part.iter_mut().for_each(|x| *x *= b);
                });
            }
            if net.m > 0 {
                motion.dynamics().multipliers(interval.t, y, &mut net.shift)?;
                for (impulses, weight) in net.impulses.chunks_exact_mut(net.m).zip(&net.shares.weights) {
                    impulses.copy_from_slice(&net.shift);
                    scale(impulses, h);
                    impulses.iter_mut().for_each(|impulse| *impulse *= weight);
                }
            }
        }
        past.guess(h, x);
        if let Some(past) = past_impulses {
            past.guess(h, &mut net.impulses);
        }
        Ok(())
    }

    /// What the unknowns are measured by: the state, and for coordinates also the length over which constraints turn.
    fn measure(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
    ) -> Result<(), EvalError> {
        let Spark { size, shake, lengths, net, .. } = self;
        let (width, len) = (interval.h.len(), size.len());
        if net.m > 0 && lengths[..width].contains(&UNKNOWN) {
            let times = times(interval, 0.5);
            net.z.copy_from_slice(&net.at);
            let reach = shake.turning_length(&net.middle, motion.dynamics(), &times[..width], &mut net.z)?;
            let unknown = lengths.iter_mut().zip(reach).filter(|(length, _)| **length == UNKNOWN);
            unknown.for_each(|(length, reach)| *length = reach);
        }
        size.fill(0.0);
        let (q, p) = block.values().split_at(net.n);
        size[..net.n].copy_from_slice(q);
        size[len / 2..][..net.n].copy_from_slice(p);
        // Multipliers are measured as the coordinates that they move.
        for (place, size) in size[net.n..net.n + net.m].iter_mut().enumerate() {
            *size = lengths[place % width];
        }
        Ok(())
    }

    /// Turns momenta at the end of the step such that velocities meet the constraints.
    fn turn(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
        iterations: u32,
    ) -> Result<(), StepError> {
        let Spark { end, net, lengths, .. } = self;
        if net.m == 0 {
            return Ok(());
        }
        let (width, n) = (interval.h.len(), net.n);
        let times = times(interval, 1.0);
        let values = &mut net.values[..net.m];
        block.after(0, change, &mut net.at);
        end.factor(motion.dynamics(), &times[..width], &net.at)?;
        check_met(end, motion, interval, (&net.at, lengths), values, iterations)?;
        let (mut open, mut last) = ([true; LANES], [f64::INFINITY; LANES]);
        for _ in 0..TURNS {
            let (q, v) = net.z.split_at_mut(n);
            q.copy_from_slice(&net.at[..n]);
            motion.drift(interval, 1.0, &net.at, v)?;
            motion.dynamics().constraint_rates(&times[..width], &net.z, values)?;
            end.solve(values);
            let step = &mut net.z[..n];
            step.fill(0.0);
            end.add_forces(values, step);
            for lane in 0..width {
                let largest =
                    |x: &[f64]| x.iter().skip(lane).step_by(width).fold(0.0f64, |m, x| m.max(x.abs()));
                let (size, turn) = (largest(&net.at[n..]), largest(step));
                let stalled = turn >= 0.5 * last[lane] && turn <= ROUNDING * size.max(last[lane]);
                open[lane] &= interval.h[lane] != 0.0 && turn.is_finite() && !stalled;
                if !open[lane] {
                    continue;
                }
                last[lane] = turn;
                for i in (lane..n).step_by(width) {
                    change[n + i] += step[i];
                }
                open[lane] = turn > 2.0 * f64::EPSILON * size && turn > f64::MIN_POSITIVE;
            }
            if !open[..width].contains(&true) {
                break;
            }
            block.after(0, change, &mut net.at);
        }
        Ok(())
    }
}

impl Net {
    /// Σ hbV, and Σ hbF − Σ GᵀI.
    fn sum(&self, x: &[f64], change: &mut [f64]) {
        let len = 2 * (self.n + self.m);
        let (dq, dp) = change.split_at_mut(self.n);
        dq.fill(0.0);
        dp.fill(0.0);
        for stage in x.chunks_exact(len) {
            add(dq, 1.0, &stage[..self.n]);
            add(dp, 1.0, &stage[len / 2..][..self.n]);
        }
        self.pulls.chunks_exact(self.n).for_each(|pull| add(dp, 1.0, pull));
    }

    /// Goes to a stage, where velocities and forces are those of two sets of unknowns.
    fn go_to(&mut self, i: usize, block: &Block, velocities: &[f64], forces: &[f64]) {
        let s = self.shares.stages;
        let mu: [f64; MOST] = std::array::from_fn(|j| self.shares.mu[i * s + j.min(s - 1)]);
        let xi: [f64; MOST] = std::array::from_fn(|j| self.shares.xi(i, j.min(s)));
        self.go(block, velocities, |j| mu[j]);
        self.push(block, forces, |j| mu[j], |j| xi[j]);
    }

    /// Goes to coordinates q₀ + Σ shareᵢ hbᵢVᵢ.
    fn go(&mut self, block: &Block, x: &[f64], shares: impl Fn(usize) -> f64) {
        let (n, len) = (self.n, 2 * (self.n + self.m));
        let q = &mut self.at[..n];
        q.copy_from_slice(&block.carry()[..n]);
        for (i, stage) in x.chunks_exact(len).enumerate() {
            add(q, shares(i), &stage[..n]);
        }
        add(q, 1.0, &block.values()[..n]);
    }

    /// Goes to momenta p₀ + Σ shareⱼ hbⱼFⱼ − Σ pullⱼ GⱼᵀIⱼ.
    fn push(
        &mut self,
        block: &Block,
        x: &[f64],
        shares: impl Fn(usize) -> f64,
        pulls: impl Fn(usize) -> f64,
    ) {
        let (n, len) = (self.n, 2 * (self.n + self.m));
        let p = &mut self.at[n..];
        p.copy_from_slice(&block.carry()[n..]);
        for (j, stage) in x.chunks_exact(len).enumerate() {
            add(p, shares(j), &stage[len / 2..][..n]);
        }
        for (j, pull) in self.pulls.chunks_exact(n).enumerate() {
            add(p, pulls(j), pull);
        }
        add(p, 1.0, &block.values()[n..]);
    }
}

/// What x is mapped to by an evaluation, and a correction of the multipliers.
struct Constrained<'a, 'd> {
    motion: &'a mut Motion<'d>,
    interval: Interval<'a>,
    block: &'a Block,
    net: &'a mut Net,
}

impl Constrained<'_, '_> {
    /// Factors the constraints in the middle of the step, and turns impulses into unknowns.
    fn weigh(&mut self, x: &mut [f64]) -> Result<(), EvalError> {
        let Constrained { motion, interval, block, net } = self;
        let (width, m, len) = (interval.h.len(), net.m, 2 * (net.n + net.m));
        net.pulls.fill(0.0);
        net.go(block, x, |_| 0.5);
        net.push(block, x, |_| 0.5, |_| 0.0);
        if m == 0 {
            return Ok(());
        }
        let middle = times(*interval, 0.5);
        net.middle.factor(motion.dynamics(), &middle[..width], &net.at)?;
        net.nodes[0].evaluate(motion.dynamics(), interval.t, block.values())?;
        for (place, reach) in net.reach.iter_mut().enumerate() {
            let found = net.middle.reach(place / width, place % width);
            *reach = if found > 0.0 { found } else { 1.0 };
        }
        let Net { middle, impulses, z, n, .. } = &mut **net;
        impulses.chunks_exact_mut(m).for_each(|impulses| middle.project_multipliers(impulses, &mut z[..*n]));
        for (stage, impulses) in x.chunks_exact_mut(len).zip(net.impulses.chunks_exact(m)) {
            let (unknown, zeros) = (net.n..net.n + m, len - m..len);
            stage[zeros].fill(0.0);
            let stage = &mut stage[unknown];
            for (unknown, (impulse, reach)) in stage.iter_mut().zip(impulses.iter().zip(&net.reach)) {
                *unknown = impulse * reach;
            }
            scale(stage, interval.h);
        }
        Ok(())
    }

    /// Finds impulses, and how they pull at Lobatto's nodes.
    fn pull(&mut self, x: &[f64]) -> Result<(), EvalError> {
        let Constrained { motion, interval, block, net } = self;
        let (width, n, m, s) = (interval.h.len(), net.n, net.m, net.shares.stages);
        if m == 0 {
            return Ok(());
        }
        net.pulls.fill(0.0);
        for (j, stage) in x.chunks_exact(2 * (n + m)).enumerate() {
            if j > 0 {
                let times = times(*interval, net.shares.nodes[j]);
                let nu: [f64; MOST] = std::array::from_fn(|i| net.shares.nu[j * s + i.min(s - 1)]);
                net.go(block, x, |i| nu[i]);
                net.nodes[j].evaluate(motion.dynamics(), &times[..width], &net.at)?;
            }
            let impulses = &mut net.impulses[j * m..][..m];
            for (place, impulse) in impulses.iter_mut().enumerate() {
                let h = interval.h[place % width];
                *impulse = if h == 0.0 { 0.0 } else { stage[n + place] / (net.reach[place] * h) };
            }
            net.nodes[j].add_forces(impulses, &mut net.pulls[j * n..][..n]);
        }
        Ok(())
    }

    /// Φ at Lobatto's nodes, and from it the corrections of multipliers and velocities.
    fn correct(&mut self, image: &mut [f64]) -> Result<(), EvalError> {
        let Constrained { motion, interval, block, net } = self;
        let (width, n, m, s) = (interval.h.len(), net.n, net.m, net.shares.stages);
        let len = 2 * (n + m);
        for k in 1..=s {
            let times = times(*interval, net.shares.nodes[k]);
            let nu: [f64; MOST] = std::array::from_fn(|i| net.shares.nu[k * s + i.min(s - 1)]);
            net.go(block, image, |i| nu[i]);
            let values = &mut net.values[(k - 1) * m..][..m];
            motion.dynamics().constraint_values(&times[..width], &net.at, values)?;
            rest(interval.h, values);
            net.middle.solve(values);
        }
        for j in 0..s {
            net.shift.fill(0.0);
            for (k, values) in net.values.chunks_exact(m).enumerate() {
                add(&mut net.shift, net.shares.inverse[j * s + k], values);
            }
            let unknown = &mut image[j * len + n..][..m];
            for (unknown, (shift, reach)) in unknown.iter_mut().zip(net.shift.iter().zip(&net.reach)) {
                *unknown += reach * shift;
            }
            for i in 0..s {
                let share = net.shares.b[i] * net.shares.xi(i, j);
                net.part.iter_mut().zip(&net.shift).for_each(|(part, shift)| *part = share * shift);
                net.middle.add_accelerations(&net.part, &mut image[i * len..][..n]);
            }
        }
        Ok(())
    }
}

impl Equation for Constrained<'_, '_> {
    fn image(&mut self, x: &[f64], image: &mut [f64]) -> Result<(), EvalError> {
        self.pull(x)?;
        let (n, m, s) = (self.net.n, self.net.m, self.net.shares.stages);
        let len = 2 * (n + m);
        image.copy_from_slice(x);
        let Constrained { motion, interval, block, net } = self;
        // Velocities follow from the forces that were just found: that is worth every other iteration.
        for i in 0..s {
            net.go_to(i, block, x, x);
            let (pushes, zeros) = image[i * len + len / 2..][..len / 2].split_at_mut(n);
            zeros.fill(0.0);
            motion.kick(*interval, net.shares.c[i], &net.at, pushes)?;
            scale(pushes, interval.h);
            pushes.iter_mut().for_each(|push| *push *= net.shares.b[i]);
        }
        for i in 0..s {
            net.go_to(i, block, x, image);
            let rates = &mut image[i * len..][..n];
            motion.drift(*interval, net.shares.c[i], &net.at, rates)?;
            scale(rates, interval.h);
            rates.iter_mut().for_each(|rate| *rate *= net.shares.b[i]);
        }
        if m > 0 { self.correct(image) } else { Ok(()) }
    }

    fn structure(&self) -> Structure {
        let unknowns = self.net.shares.stages * 2 * (self.net.n + self.net.m) / self.interval.h.len();
        if unknowns <= SMALL { Structure::Dense(unknowns) } else { Structure::Free(unknowns) }
    }

    /// By differences: what multipliers do to the motion has second derivatives of the constraints in it.
    fn jacobian(&mut self, x: &[f64], matrix: &mut [f64]) -> Result<(), EvalError> {
        let (width, len) = (self.interval.h.len(), 2 * (self.net.n + self.net.m));
        let d = x.len() / width;
        let mut memory = std::mem::take(&mut self.net.differences);
        memory.resize(3 * x.len(), 0.0);
        let (at, images) = memory.split_at_mut(x.len());
        let (above, below) = images.split_at_mut(x.len());
        let mut sizes = [[0.0f64; LANES]; 2];
        for (place, value) in x.iter().enumerate() {
            let size = &mut sizes[usize::from(place % len >= len / 2)][place % width];
            *size = size.max(value.abs());
        }
        for (place, value) in self.block.values().iter().enumerate() {
            let size = &mut sizes[usize::from(place >= self.net.n)][place % width];
            *size = size.max(value.abs());
        }
        for column in 0..d {
            let size = sizes[usize::from(column * width % len >= len / 2)];
            let step = size.map(|size| f64::EPSILON.cbrt() * if size > 0.0 { size } else { 1.0 });
            for (sign, image) in [(1.0, &mut *above), (-1.0, &mut *below)] {
                at.copy_from_slice(x);
                at[column * width..][..width].iter_mut().zip(step).for_each(|(x, step)| *x += sign * step);
                self.image(at, image)?;
            }
            for (row, lane) in (0..d).flat_map(|row| (0..width).map(move |lane| (row, lane))) {
                let i = row * width + lane;
                matrix[(row * d + column) * width + lane] = (above[i] - below[i]) / (2.0 * step[lane]);
            }
        }
        for row in (0..d).filter(|row| (self.net.n..len / 2).contains(&(row * width % len))) {
            matrix[(row * d + row) * width..][..width].iter_mut().for_each(|entry| *entry -= REDUNDANT);
        }
        self.net.differences = memory;
        Ok(())
    }
}

/// Whether constraints are met at the end of the step. Those that depend on others may contradict them; and where an iteration went far
/// astray, corrections are small beside what it found.
fn check_met(
    end: &ConstraintFactors,
    motion: &mut Motion<'_>,
    interval: Interval<'_>,
    (at, lengths): (&[f64], &[f64; LANES]),
    values: &mut [f64],
    iterations: u32,
) -> Result<(), StepError> {
    let width = interval.h.len();
    let times = times(interval, 1.0);
    motion.dynamics().constraint_values(&times[..width], at, values)?;
    for lane in (0..width).filter(|&lane| interval.h[lane] != 0.0) {
        let q = at[..at.len() / 2].iter().skip(lane).step_by(width);
        let size = q.fold(lengths[lane], |m, q| m.max(q.abs()));
        let each = || values.iter().skip(lane).step_by(width).enumerate();
        let is_met = |(k, value): (usize, &f64)| value.abs() <= MET * end.steepness(k, lane) * size;
        if !each().all(is_met) {
            if end.rank(lane) == values.len() / width {
                let off = |(k, value): (usize, &f64)| value.abs() / (end.steepness(k, lane) * size);
                let residual = each().map(off).fold(0.0, f64::max);
                return Err(StepError::NoConvergence { t: interval.t[lane], lane, residual, iterations });
            }
            let names = motion.system().constraints();
            let unmet = each().filter(|&each| !is_met(each)).map(|(k, value)| (names[k].0.clone(), *value));
            let constraints = unmet.collect();
            return Err(ProjectionError::Unmet { t: times[lane], lane, constraints }.into());
        }
    }
    Ok(())
}

/// More stages than this there are not.
const MOST: usize = 8;

/// The times at a fraction of the step.
fn times(interval: Interval<'_>, c: f64) -> [f64; LANES] {
    let mut times = [0.0; LANES];
    let lanes = times.iter_mut().zip(interval.t.iter().zip(interval.h));
    lanes.for_each(|(time, (t, h))| *time = t + c * h);
    times
}

/// Lanes that rest have nothing to change.
fn rest(h: &[f64], values: &mut [f64]) {
    if h.contains(&0.0) {
        for (place, value) in values.iter_mut().enumerate() {
            *value = if h[place % h.len()] == 0.0 { 0.0 } else { *value };
        }
    }
}

/// out += factor·x.
fn add(out: &mut [f64], factor: f64, x: &[f64]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out += factor * x);
}

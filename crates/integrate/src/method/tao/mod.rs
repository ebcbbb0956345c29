//! Explicit symplectic methods for any H(q, p, t), in a phase space of two copies (q, p) and (x, y).
//!
//! $$\bar H=\underbrace{H(q,y,t)}_A+\underbrace{H(x,p,t)}_B+\underbrace{\tfrac\omega2\bigl(\kappa|q-x|^2+|p-y|^2/\kappa\bigr)}_C,\qquad
//! \varphi_h=A_{h/2}\circ B_{h/2}\circ C_h\circ B_{h/2}\circ A_{h/2}$$
//!
//! Each part can be integrated exactly: A moves p and x at the fixed (q, y), B moves q and y at the fixed (x, p), and C turns
//! (q − x, p − y) by the angle 2ωh. Copies that begin equal stay equal in the exact motion, which is then that of H; C binds the
//! small differences that the splitting makes, so that they do not grow.
//!
//! What these methods keep is the symplectic form of the doubled space, dq∧dp + dx∧dy. The map of (q, p) alone, with a fresh copy
//! every time, is not symplectic, so the cards claim nothing; energy errors stay bounded for long all the same.
//!
//! The binding must outweigh the fastest motion, and errors grow with (ωh)ᵖ, so ω is found once, from the derivatives of the field
//! along the way ahead: a scout goes some periods from the start. With a = |∂q̇/∂p|, b = |∂ṗ/∂q|, c = |∂q̇/∂q| (Frobenius norms)
//! where √(ab + c²) is largest, ω = 3 √(ab + c²), and κ = √(b/a) makes coordinates and momenta comparable. Where the inertias of coordinates are
//! far apart, that is said of √m q and p/√m, with the inertias m at the start: else the heaviest and the lightest could not be bound by one κ. Of many coordinates, whose
//! derivatives are not kept whole, the norms are spectral ones, found by products with vectors that the scout carries along. A motion that becomes
//! much faster later, as near a collision, comes loose.
//!
//! Differences d = (x − q, y − p) are what is carried from step to step, so they keep all their digits.
//! (M. Tao, Phys. Rev. E 94 (2016) 043303, doi:10.1103/PhysRevE.94.043303; time is a coordinate of each copy.)

pub(super) mod tao2;
pub(super) mod tao4;
pub(super) mod tao6;

use crate::block::{Block, shift};
use crate::error::RunError;
use crate::method::composition::mirror;
use crate::run::checkpoint::Kept;
use crate::step::{Interval, Motion, Step, StepError};
use leastaction_compile::LANES;
use leastaction_linear::Structure;
use leastaction_mechanics::{Dynamics, EvalError, Quantity};

const CITE: &str = "doi:10.1103/PhysRevE.94.043303";

/// How much faster than the fastest motion the copies turn about each other. Double pendulums need 2, from any start.
const BINDING: f64 = 3.0;

/// How many steps the scout goes that looks for the fastest motion, and how long they are against that.
const STRIDES: usize = 400;
const STRIDE: f64 = 0.1;

/// Inertias that differ by no more than this are alike.
const ALIKE: f64 = 4.0;

/// A part of the doubled Hamiltonian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// H(q, y).
    A,
    /// H(x, p).
    B,
    /// What binds the copies.
    C,
}

#[derive(Clone, Copy, Debug)]
struct Stage {
    part: Part,
    /// Its length, as a part of the step.
    weight: f64,
    /// When it happens, as a part of the step: A at the time that B has moved, and B at that of A.
    c: f64,
}

/// Steps of order two one after the other, a palindrome by its first half. Where A meets A they are one.
fn stages(half: &[f64]) -> Vec<Stage> {
    let (mut stages, mut before) = (Vec::new(), 0.0);
    let mut times = [0.0; 2];
    let mut push = |part: Part, weight: f64| {
        let c = match part {
            Part::A => times[1],
            Part::B => times[0],
            Part::C => 0.0,
        };
        if part != Part::C {
            times[part as usize] += weight;
        }
        stages.push(Stage { part, weight, c });
    };
    for step in mirror(half) {
        push(Part::A, 0.5 * (before + step));
        push(Part::B, 0.5 * step);
        push(Part::C, step);
        push(Part::B, 0.5 * step);
        before = step;
    }
    push(Part::A, 0.5 * before);
    stages
}

/// The doubled phase space, at work.
struct Tao {
    stages: Vec<Stage>,
    /// All lanes of coordinates: where momenta begin.
    half: usize,
    at: Vec<f64>,
    rates: Vec<f64>,
    /// (x − q, y − p) after the last step, and within this one.
    apart: Vec<f64>,
    now: Vec<f64>,
    /// The field at (q, y) where the last step ended.
    last: Vec<f64>,
    slopes: Slopes,
    scout: Vec<f64>,
    /// ω and κ of each lane, and whether they and the last field are known: 1, or 0.
    omega: [f64; LANES],
    kappa: [f64; LANES],
    known: [bool; LANES],
    /// The inertia of each coordinate in each lane; 1 where all are alike.
    inertias: Vec<f64>,
}

/// What is known of the derivatives of the field.
enum Slopes {
    /// All entries.
    Whole(Vec<f64>),
    /// Vectors along which they are largest.
    Along(Along),
}

/// For each lane a change of coordinates and one of momenta, turned towards those that the rates follow most (R. von Mises and H.
/// Pollaczek-Geiringer, Z. Angew. Math. Mech. 9 (1929) 152, doi:10.1002/zamm.19290090206).
struct Along {
    vectors: Vec<f64>,
    vector: Vec<f64>,
    product: Vec<f64>,
}

impl Along {
    fn new(dimension: usize, width: usize) -> Along {
        let memory = || vec![0.0; dimension];
        Along { vectors: vec![0.0; dimension * width], vector: memory(), product: memory() }
    }

    /// Numbers without pattern: the vectors that are looked for must have a part in them.
    fn begin(&mut self, width: usize) {
        let vectors = self.vectors.iter_mut().enumerate();
        vectors.for_each(|(k, x)| *x = (1.7 * (k / width) as f64 + 0.4).sin());
    }

    /// How fast the motion is, and κ, as far as the vectors of a lane show it; they are turned on the way.
    fn pace(&mut self, motion: &mut Motion<'_>, here: Interval<'_>, y: &[f64], lane: usize) -> (f64, f64) {
        let Along { vectors, vector, product } = self;
        let (width, n) = (here.t.len(), vector.len() / 2);
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut norms = [0.0; 2];
        let mut mixed = 0.0;
        // Momenta make coordinates move, and coordinates momenta.
        for (half, (from, to)) in [(n..2 * n, 0..n), (0..n, n..2 * n)].into_iter().enumerate() {
            vector.fill(0.0);
            from.clone().for_each(|i| vector[i] = vectors[i * width + lane]);
            let length = norm(vector);
            vector.iter_mut().for_each(|x| *x /= length);
            let _ = motion.jacobian_product(here, 0.0, y, lane, vector, product);
            norms[half] = norm(&product[to.clone()]);
            mixed = if half == 1 { norm(&product[from.clone()]) } else { mixed };
            // Derivatives of one half by the other are symmetric, so that products turn vectors to the largest.
            if norms[half] > 0.0 && norms[half].is_finite() {
                from.zip(to).for_each(|(i, k)| vectors[i * width + lane] = product[k] / norms[half]);
            }
        }
        rate_and_kappa(norms[0], norms[1], mixed * mixed)
    }
}

impl Tao {
    fn boxed(dynamics: &mut Dynamics, width: usize, half: &[f64]) -> Result<Box<dyn Step>, RunError> {
        let whole = matches!(dynamics.system().jacobian_structure(), Structure::Dense(_));
        if dynamics.system().facts().explicit && whole {
            dynamics.prepare(&[Quantity::Jacobian])?;
        }
        Ok(Box::new(Tao::new(dynamics, width, half)))
    }

    fn new(dynamics: &Dynamics, width: usize, half: &[f64]) -> Tao {
        let dimension = dynamics.system().dimension();
        let memory = || vec![0.0; dimension * width];
        Tao {
            stages: stages(half),
            half: dimension / 2 * width,
            at: memory(),
            rates: memory(),
            apart: memory(),
            now: memory(),
            last: memory(),
            scout: memory(),
            slopes: match dynamics.system().jacobian_structure() {
                Structure::Dense(_) => Slopes::Whole(vec![0.0; dimension * dimension * width]),
                Structure::Sparse(_) | Structure::Free(_) => Slopes::Along(Along::new(dimension, width)),
            },
            omega: [0.0; LANES],
            kappa: [1.0; LANES],
            known: [false; LANES],
            inertias: vec![1.0; dimension / 2 * width],
        }
    }

    /// ω and κ of the lanes that begin: what binds the fastest motion that a scout meets on the way.
    ///
    /// The scout goes by the explicit midpoint rule, and need not be accurate. Where it cannot go on, its lane has seen enough.
    fn bind(&mut self, motion: &mut Motion<'_>, interval: Interval<'_>, block: &Block) {
        let (width, mut t, mut fastest) = (block.width(), [0.0; LANES], [0.0; LANES]);
        t[..width].copy_from_slice(interval.t);
        self.scout.copy_from_slice(block.values());
        if let Slopes::Along(along) = &mut self.slopes {
            along.begin(width);
        }
        for stride in 0..STRIDES {
            // What cannot be computed is NaN in its lane, and counts for nothing there: errors need no other care.
            let here = Interval { t: &t[..width], h: &[0.0; LANES][..width] };
            if let Slopes::Whole(matrix) = &mut self.slopes {
                let _ = motion.jacobian(here, 0.0, &self.scout, matrix);
            }
            let mut steps = [0.0; LANES];
            for j in (0..width).filter(|&j| !self.known[j] && interval.h[j] != 0.0) {
                let (rate, kappa) = match &mut self.slopes {
                    Slopes::Whole(matrix) => {
                        if stride == 0 {
                            weigh(matrix, block.dimension(), (j, width), &mut self.inertias);
                        }
                        pace(matrix, block.dimension(), (j, width), &self.inertias)
                    }
                    Slopes::Along(along) => along.pace(motion, here, &self.scout, j),
                };
                if rate > fastest[j] && rate.is_finite() {
                    (fastest[j], self.omega[j], self.kappa[j]) = (rate, BINDING * rate, kappa);
                }
                let length = if fastest[j] > 0.0 { STRIDE / fastest[j] } else { interval.h[j].abs() };
                steps[j] = length.copysign(interval.h[j]);
            }
            let compiled = Interval { t: &t[..width], h: &steps[..width] };
            let _ = motion.rates(compiled, 0.0, &self.scout, &mut self.rates);
            shift(&mut self.at, &self.scout, 0.5, compiled.h, &self.rates);
            let _ = motion.rates(compiled, 0.5, &self.at, &mut self.rates);
            self.at.copy_from_slice(&self.scout);
            shift(&mut self.scout, &self.at, 1.0, compiled.h, &self.rates);
            t.iter_mut().zip(steps).for_each(|(t, step)| *t += step);
        }
    }

    /// The field at the point of a part: (q, y) for A, (x, p) for B.
    fn rate(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        stage: Stage,
        block: &Block,
        change: &[f64],
    ) -> Result<(), EvalError> {
        block.after(0, change, &mut self.at);
        let there = match stage.part {
            Part::A => self.half..2 * self.half,
            _ => 0..self.half,
        };
        self.at[there.clone()].iter_mut().zip(&self.now[there]).for_each(|(at, apart)| *at += apart);
        motion.rates(interval, stage.c, &self.at, &mut self.rates)
    }

    /// Moves p and x, or q and y.
    fn flow(&mut self, stage: Stage, h: &[f64], change: &mut [f64]) {
        let width = h.len();
        let own = if stage.part == Part::A { self.half } else { 0 };
        for (i, (change, apart)) in change.iter_mut().zip(&mut self.now).enumerate() {
            let moved = stage.weight * (h[i % width] * self.rates[i]);
            if i >= own && i < own + self.half {
                *change += moved;
                *apart -= moved;
            } else {
                *apart += moved;
            }
        }
    }

    /// Turns the difference of the copies about their mean.
    fn turn(&mut self, stage: Stage, h: &[f64], change: &mut [f64]) {
        let width = h.len();
        let mut turns = [(0.0, 1.0); LANES];
        for (j, turn) in turns.iter_mut().enumerate().take(width) {
            *turn = (2.0 * self.omega[j] * stage.weight * h[j]).sin_cos();
        }
        for i in 0..self.half {
            let ((sin, cos), kappa) = (turns[i % width], self.kappa[i % width] * self.inertias[i]);
            let (u, v) = (self.now[i], self.now[self.half + i]);
            let turned = (cos * u + sin / kappa * v, cos * v - kappa * sin * u);
            change[i] -= 0.5 * (turned.0 - u);
            change[self.half + i] -= 0.5 * (turned.1 - v);
            (self.now[i], self.now[self.half + i]) = turned;
        }
    }
}

/// The inertias of a lane's coordinates, as ∂q̇/∂p shows them; 1 where they are alike, or not known.
fn weigh(matrix: &[f64], dimension: usize, (lane, width): (usize, usize), inertias: &mut [f64]) {
    let n = dimension / 2;
    let own = |i: usize| 1.0 / matrix[(i * dimension + n + i) * width + lane];
    let (low, high) =
        (0..n).map(own).fold((f64::INFINITY, 0.0f64), |(low, high), m| (low.min(m), high.max(m)));
    let differ = low > 0.0 && high.is_finite() && high > ALIKE * low;
    (0..n).for_each(|i| inertias[i * width + lane] = if differ { own(i) } else { 1.0 });
}

/// How fast the motion is that a lane's derivatives of the field show, by √m q and p/√m; and κ.
fn pace(matrix: &[f64], dimension: usize, (lane, width): (usize, usize), inertias: &[f64]) -> (f64, f64) {
    let n = dimension / 2;
    let inertia = |i: usize| inertias[i * width + lane];
    // The square of an entry, as the inertias of its row and column scale it.
    let norm = |rows: usize, columns: usize, scale: &dyn Fn(f64, f64) -> f64| {
        let places = (0..n * n).map(|k| (k / n, k % n));
        places
            .map(|(i, j)| {
                let entry = matrix[((rows + i) * dimension + columns + j) * width + lane];
                entry.powi(2) * scale(inertia(i), inertia(j))
            })
            .sum::<f64>()
    };
    let (a, b) = (norm(0, n, &|m, k| m * k), norm(n, 0, &|m, k| 1.0 / (m * k)));
    rate_and_kappa(a.sqrt(), b.sqrt(), norm(0, 0, &|m, k| m / k))
}

/// √(ab + c²) and √(b/a), with c².
fn rate_and_kappa(a: f64, b: f64, c: f64) -> (f64, f64) {
    let kappa = (b / a).sqrt();
    ((a * b + c).sqrt(), if kappa.is_finite() && kappa > 0.0 { kappa } else { 1.0 })
}

impl Step for Tao {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let width = interval.h.len();
        change.fill(0.0);
        self.now.copy_from_slice(&self.apart);
        let known = self.known;
        if known[..width].contains(&false) {
            self.bind(motion, interval, block);
            self.rate(motion, interval, self.stages[0], block, change)?;
            for i in (0..self.rates.len()).filter(|i| known[i % width]) {
                self.rates[i] = self.last[i];
            }
        } else {
            // The last part of a step was A, at the point where this one begins.
            self.rates.copy_from_slice(&self.last);
        }
        for i in 0..self.stages.len() {
            let stage = self.stages[i];
            if stage.part == Part::C {
                self.turn(stage, interval.h, change);
                continue;
            }
            if i > 0 {
                self.rate(motion, interval, stage, block, change)?;
            }
            self.flow(stage, interval.h, change);
        }
        Ok(())
    }

    fn accept(&mut self, lanes: &[bool]) {
        let width = lanes.len();
        for i in (0..self.now.len()).filter(|i| lanes[i % width]) {
            (self.apart[i], self.last[i]) = (self.now[i], self.rates[i]);
        }
        self.known.iter_mut().zip(lanes).filter(|(_, taken)| **taken).for_each(|(known, _)| *known = true);
    }

    fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        visit(Kept::Numbers(&mut self.apart));
        visit(Kept::Numbers(&mut self.last));
        visit(Kept::Numbers(&mut self.omega));
        visit(Kept::Numbers(&mut self.kappa));
        visit(Kept::Numbers(&mut self.inertias));
        visit(Kept::Flags(&mut self.known));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may panic

    use super::*;
    use crate::method::composition::{KAHAN_LI6, SUZUKI4};
    use leastaction_expr::Graph;
    use leastaction_mechanics::Model;

    /// (q, p) and (x, y) after a step from there.
    fn doubled(dynamics: &mut Dynamics, half: &[f64], start: &[f64]) -> Vec<f64> {
        let (one, other) = start.split_at(2);
        let mut tao = Tao::new(dynamics, 1, half);
        (tao.omega[0], tao.kappa[0], tao.known[0]) = (3.0, 1.7, true);
        tao.apart.iter_mut().enumerate().for_each(|(i, d)| *d = other[i] - one[i]);
        dynamics.rates(&[0.0], &[one[0], other[1]], &mut tao.last).unwrap();
        let mut change = [0.0; 2];
        let interval = Interval { t: &[0.0], h: &[0.2] };
        tao.step(&mut Motion::new(dynamics), interval, &Block::one(one), &mut change).unwrap();
        let moved: Vec<f64> = one.iter().zip(change).map(|(y, change)| y + change).collect();
        let copy: Vec<f64> = moved.iter().zip(&tao.now).map(|(y, d)| y + d).collect();
        [moved, copy].concat()
    }

    /// Two swings of equal periods whose masses are 10⁶ apart, with a mass that depends on the other: one κ for both came loose after some periods.
    #[test]
    fn masses_far_apart_stay_bound() {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [x, y] = model.coordinates(["x", "y"]);
        let [v, w] = model.velocities([x, y]);
        model.kinetic("T", 0.5e-6 * v * v * (1.0 + 0.1 * y * y) + 0.5 * w * w);
        model.potential("V", 0.5e-6 * x * x + 0.5 * y * y + 1e-7 * x * y);
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        let start = dynamics.start(&[("x", 1.0), ("y", 0.5)]).unwrap();
        let run = |method: &str, dynamics: &mut Dynamics| {
            let integrator = crate::Integrator::named(method, crate::Pace::Step(0.01)).unwrap();
            integrator.run(dynamics, &start, 100.0).unwrap().end()
        };
        let reference = run("gauss8", &mut dynamics);
        for (method, error) in [("tao2", 2e-2), ("tao4", 1e-4), ("tao6", 1e-6)] {
            let end = run(method, &mut dynamics);
            for (found, expected) in end.q.iter().zip(&reference.q) {
                assert!((found - expected).abs() < error, "{method}: {found}, not {expected}");
            }
        }
    }

    /// MᵀΩM = Ω for the map of both copies, apart or together.
    #[test]
    fn the_doubled_map_is_symplectic() {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let (x, p) = (model.coordinate("x"), model.momentum("p_x"));
        model.hamiltonian("H", 0.5 * (1.0 + x * x) * (1.0 + p * p));
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        for half in [&[1.0][..], SUZUKI4, KAHAN_LI6] {
            let (start, d) = ([0.4, 0.3, 0.5, 0.1], 2e-3);
            let columns: Vec<Vec<f64>> = (0..4)
                .map(|j| {
                    let mut column = vec![0.0; 4];
                    for (k, weight) in [(1.0, 0.75), (2.0, -0.15), (3.0, 1.0 / 60.0)] {
                        for sign in [1.0, -1.0] {
                            let mut moved = start;
                            moved[j] += sign * k * d;
                            let image = doubled(&mut dynamics, half, &moved);
                            column.iter_mut().zip(image).for_each(|(c, x)| *c += sign * weight * x / d);
                        }
                    }
                    column
                })
                .collect();
            let omega =
                |a: &[f64], b: &[f64]| [0, 2].iter().map(|&i| a[i] * b[i + 1] - a[i + 1] * b[i]).sum::<f64>();
            for (i, j) in (0..4).flat_map(|i| (0..4).map(move |j| (i, j))) {
                let expected = match (i, j) {
                    (0, 1) | (2, 3) => 1.0,
                    (1, 0) | (3, 2) => -1.0,
                    _ => 0.0,
                };
                let found = omega(&columns[i], &columns[j]);
                assert!((found - expected).abs() < 1e-11, "{half:?}: {found} at {i}, {j}");
            }
        }
    }
}

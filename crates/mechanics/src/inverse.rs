//! Velocities from momenta, or momenta from velocities, where no formula gives them.
//!
//! The map g from unknown to target (p = ∂L/∂v, or v = ∂H/∂p) and its derivative come from one kernel. If g is linear, one
//! solve does it. Otherwise Newton's method, with steps halved until the residual falls (Nocedal and Wright, *Numerical
//! Optimization*, ch. 11), starts from zero, not from an earlier answer: so a result depends on nothing but its state. Where there is no step from zero, it starts from the target.

use crate::error::EvalError;
use leastaction_compile::LANES;
use leastaction_linear::{Singular, dense};

/// Trials, halved steps too. Where a momentum grows without bound as its velocity comes to a limit, each iteration is halved many times and gains a bit.
const ITERATIONS: u32 = 2000;
/// A residual that no longer falls is rounding if it is smaller than this, relative to what is compared.
const ROUNDING: f64 = 1e-11;
const SHORTEST: f64 = 1e-12;

/// How velocities follow from momenta (or momenta from velocities, for a Hamiltonian) where there is no kernel for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inverse {
    /// Rows and columns of the nonzeros in [`crate::Quantity::Inertia`].
    pub(crate) pattern: Vec<(usize, usize)>,
    /// Whether one linear solve does it.
    pub(crate) linear: bool,
    /// Whether elimination needs no pivots.
    pub(crate) definite: bool,
    /// The places of coordinates whose rates are what events set: masses may depend on these rates, which are their own momenta.
    pub(crate) set: Vec<usize>,
}

impl Inverse {
    /// Copies what events set from momenta to velocities.
    pub(crate) fn keep_set(&self, width: usize, momenta: &[f64], velocities: &mut [f64]) {
        for rows in self.set.iter().map(|place| place * width..(place + 1) * width) {
            velocities[rows.clone()].copy_from_slice(&momenta[rows]);
        }
    }
}

/// Why there is no solution in some lane.
#[derive(Debug)]
pub(crate) enum Failure {
    Singular { lane: usize, index: usize },
    NoConvergence { lane: usize, residual: f64, iterations: u32 },
    Eval(EvalError),
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Failure {
        Failure::Eval(error)
    }
}

/// The working memory of a thread. It grows when it is first used, and then no more.
#[derive(Clone, Default)]
pub(crate) struct Solver {
    /// g and the nonzeros of its derivative, in lanes.
    image: Vec<f64>,
    matrix: Vec<f64>,
    right: Vec<f64>,
    trial: Vec<f64>,
    step: Vec<f64>,
}

/// One lane of Newton's method.
#[derive(Clone, Copy)]
struct Lane {
    residual: f64,
    size: f64,
    scale: f64,
    status: Status,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Open,
    Done,
    /// The residual does not fall.
    Stuck,
    /// There is no step.
    Singular,
}

impl Solver {
    /// The unknown in every lane. What has no solution is NaN in its lane; the error tells of the first such lane.
    ///
    /// `evaluate` gives g and the nonzeros of its derivative at an unknown.
    pub(crate) fn solve(
        &mut self,
        inverse: &Inverse,
        width: usize,
        target: &[f64],
        unknown: &mut [f64],
        mut evaluate: impl FnMut(&[f64], &mut [f64]) -> Result<(), EvalError>,
    ) -> Result<(), Failure> {
        let n = target.len() / width;
        grow(&mut self.image, (n + inverse.pattern.len()) * width);
        if !inverse.linear {
            grow(&mut self.matrix, n * n);
            grow(&mut self.right, n);
            grow(&mut self.trial, n * width);
            grow(&mut self.step, n * width);
            return self.newton(inverse, width, target, unknown, evaluate);
        }
        // g(x) = g(0) + A x
        unknown.fill(0.0);
        inverse.keep_set(width, target, unknown);
        evaluate(unknown, &mut self.image[..(n + inverse.pattern.len()) * width])?;
        unknown.iter_mut().zip(target.iter().zip(&self.image)).for_each(|(x, (r, g))| *x = r - g);
        match (inverse.definite, width) {
            (true, 1) => self.definite::<1>(inverse, unknown),
            (true, _) => self.definite::<LANES>(inverse, unknown),
            (false, _) => self.indefinite(inverse, width, unknown),
        }
    }

    /// Solves with the matrices in `image`, all lanes at once, without pivots.
    fn definite<const W: usize>(&mut self, inverse: &Inverse, unknown: &mut [f64]) -> Result<(), Failure> {
        let n = unknown.len() / W;
        grow(&mut self.matrix, n * n * W);
        let matrix = &mut self.matrix[..n * n * W];
        matrix.fill(0.0);
        for (&(i, j), entry) in inverse.pattern.iter().zip(self.image[n * W..].chunks_exact(W)) {
            matrix[(j * n + i) * W..][..W].copy_from_slice(entry);
        }
        let failed = dense::solve_symmetric::<W>(matrix, unknown);
        for lane in (0..W).filter(|&l| failed[l].is_some()) {
            unknown.iter_mut().skip(lane).step_by(W).for_each(|x| *x = f64::NAN);
        }
        match (0..W).find_map(|lane| Some((lane, failed[lane]?))) {
            Some((lane, Singular { column: index })) => Err(Failure::Singular { lane, index }),
            None => Ok(()),
        }
    }

    /// Solves with the matrices in `image`, lane by lane, with pivots.
    fn indefinite(&mut self, inverse: &Inverse, width: usize, unknown: &mut [f64]) -> Result<(), Failure> {
        let n = unknown.len() / width;
        grow(&mut self.matrix, n * n);
        grow(&mut self.right, n);
        let (matrix, right) = (&mut self.matrix[..n * n], &mut self.right[..n]);
        let mut failure = None;
        for lane in 0..width {
            fill(matrix, n, &inverse.pattern, &self.image[n * width..], width, lane);
            (0..n).for_each(|i| right[i] = unknown[i * width + lane]);
            if let Err(Singular { column: index }) = dense::solve_once(matrix, right, n) {
                right.fill(f64::NAN);
                failure.get_or_insert(Failure::Singular { lane, index });
            }
            (0..n).for_each(|i| unknown[i * width + lane] = right[i]);
        }
        failure.map_or(Ok(()), Err)
    }

    fn newton(
        &mut self,
        inverse: &Inverse,
        width: usize,
        target: &[f64],
        unknown: &mut [f64],
        mut evaluate: impl FnMut(&[f64], &mut [f64]) -> Result<(), EvalError>,
    ) -> Result<(), Failure> {
        let n = target.len() / width;
        let image = &mut self.image[..(n + inverse.pattern.len()) * width];
        let (trial, step) = (&mut self.trial[..n * width], &mut self.step[..n * width]);
        let (matrix, right) = (&mut self.matrix[..n * n], &mut self.right[..n]);
        let mut lanes =
            [Lane { residual: f64::INFINITY, size: 0.0, scale: 1.0, status: Status::Open }; LANES];
        let lanes = &mut lanes[..width];
        let (mut failure, mut iterations) = (None, 0);
        unknown.fill(0.0);
        trial.fill(0.0);
        while iterations < ITERATIONS && lanes.iter().any(|lane| lane.status == Status::Open) {
            iterations += 1;
            evaluate(trial, image)?;
            for (l, lane) in lanes.iter_mut().enumerate().filter(|(_, lane)| lane.status == Status::Open) {
                let (mut residual, mut size) = (0.0f64, 0.0f64);
                for i in 0..n {
                    let (r, g) = (target[i * width + l], image[i * width + l]);
                    right[i] = r - g;
                    // f64::max would drop a NaN.
                    residual = if right[i].abs() > residual || right[i].is_nan() {
                        right[i].abs()
                    } else {
                        residual
                    };
                    size = size.max(r.abs()).max(g.abs());
                }
                if residual < lane.residual {
                    (lane.residual, lane.size, lane.scale) = (residual, size, 1.0);
                    (0..n).for_each(|i| unknown[i * width + l] = trial[i * width + l]);
                    if residual <= 2.0 * f64::EPSILON * size {
                        lane.status = Status::Done;
                        continue;
                    }
                    fill(matrix, n, &inverse.pattern, &image[n * width..], width, l);
                    if let Err(Singular { column: index }) = dense::solve_once(matrix, right, n) {
                        if iterations == 1 {
                            // As for L = v⁴, of which rest has no inertia, but nothing else: from another place, which follows from the target, too.
                            lane.residual = f64::INFINITY;
                            (0..n).for_each(|i| trial[i * width + l] = target[i * width + l]);
                            continue;
                        }
                        lane.status = Status::Singular;
                        (0..n).for_each(|i| unknown[i * width + l] = f64::NAN);
                        failure.get_or_insert(Failure::Singular { lane: l, index });
                        continue;
                    }
                    (0..n).for_each(|i| step[i * width + l] = right[i]);
                } else if lane.residual.is_infinite() {
                    lane.status = Status::Stuck; // not even the first trial has a value
                    continue;
                } else {
                    lane.scale *= 0.5;
                    // A step that rounding swallows would change nothing, however large the residual.
                    let largest =
                        |x: &[f64]| x.iter().skip(l).step_by(width).fold(0.0f64, |m, x| m.max(x.abs()));
                    let swallowed = largest(step) <= 4.0 * f64::EPSILON * largest(unknown);
                    if swallowed || lane.residual <= ROUNDING * lane.size {
                        lane.status = Status::Done;
                        continue;
                    }
                    if lane.scale < SHORTEST {
                        lane.status = Status::Stuck;
                        continue;
                    }
                }
                for i in (0..n).map(|i| i * width + l) {
                    trial[i] = unknown[i] + lane.scale * step[i];
                }
            }
        }
        for (l, lane) in
            lanes.iter().enumerate().filter(|(_, lane)| matches!(lane.status, Status::Open | Status::Stuck))
        {
            (0..n).for_each(|i| unknown[i * width + l] = f64::NAN);
            failure.get_or_insert(Failure::NoConvergence { lane: l, residual: lane.residual, iterations });
        }
        failure.map_or(Ok(()), Err)
    }
}

/// One lane of a symmetric matrix, written out by rows.
pub(crate) fn fill(
    matrix: &mut [f64],
    n: usize,
    pattern: &[(usize, usize)],
    entries: &[f64],
    width: usize,
    lane: usize,
) {
    matrix.fill(0.0);
    for (&(i, j), entry) in pattern.iter().zip(entries.chunks_exact(width)) {
        matrix[i * n + j] = entry[lane];
        matrix[j * n + i] = entry[lane];
    }
}

pub(crate) fn grow(buffer: &mut Vec<f64>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
}

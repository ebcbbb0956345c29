//! The linear part of the equations of s stages, 1 − h B⊗J, factored lane by lane and kept for later steps.

use super::spectrum::{Mode, modes};
use crate::linear::{Complex, factor, solve};
use crate::run::checkpoint::Kept;
use leastaction_compile::LANES;

/// 1 − h B⊗J with the Jacobian J of the field in each lane.
pub(crate) struct Operator {
    shape: Shape,
    stages: usize,
    rows: usize,
    width: usize,
    /// J of all lanes, by rows; and a new one, before lanes take it.
    jacobian: Vec<f64>,
    fresh: Vec<f64>,
    /// Whether a lane has a Jacobian.
    held: [f64; LANES],
    /// The step for which a lane's factors are, and whether they are still to be made.
    step: [f64; LANES],
    stale: [bool; LANES],
    pivots: Vec<usize>,
}

enum Shape {
    /// One B for all components: its modes, and the factors of 1 − hλJ for each lane and mode.
    Modes { modes: Vec<Mode>, factors: Vec<Complex>, side: Vec<Complex> },
    /// One B for the first half of the components and one for the second, which have no modes in common: the whole matrix.
    CompiledStep { matrices: [Vec<f64>; 2], factors: Vec<f64>, side: Vec<f64> },
}

impl Operator {
    /// With one matrix B of s rows, for states of so many rows in so many lanes.
    pub(crate) fn split(matrix: &[f64], stages: usize, rows: usize, width: usize) -> Operator {
        let modes = modes(matrix, stages);
        let (count, side) = (modes.len(), vec![Complex::ZERO; rows]);
        let shape = Shape::Modes { modes, factors: vec![Complex::ZERO; count * rows * rows * width], side };
        Operator::new(shape, stages, rows, width, count * rows)
    }

    /// With one matrix for the first half of the rows, and one for the second.
    pub(crate) fn whole(matrices: [Vec<f64>; 2], stages: usize, rows: usize, width: usize) -> Operator {
        let n = stages * rows;
        let shape = Shape::CompiledStep { matrices, factors: vec![0.0; n * n * width], side: vec![0.0; n] };
        Operator::new(shape, stages, rows, width, n)
    }

    fn new(shape: Shape, stages: usize, rows: usize, width: usize, pivots: usize) -> Operator {
        Operator {
            shape,
            stages,
            rows,
            width,
            jacobian: vec![0.0; rows * rows * width],
            fresh: vec![0.0; rows * rows * width],
            held: [0.0; LANES],
            step: [0.0; LANES],
            stale: [true; LANES],
            pivots: vec![0; pivots * width],
        }
    }

    /// Where a new Jacobian is put, for all lanes.
    pub(crate) fn fresh(&mut self) -> &mut [f64] {
        &mut self.fresh
    }

    /// A lane takes its new Jacobian.
    pub(crate) fn renew(&mut self, lane: usize) {
        for place in (lane..self.jacobian.len()).step_by(self.width) {
            self.jacobian[place] = self.fresh[place];
        }
        (self.held[lane], self.stale[lane]) = (1.0, true);
    }

    /// Whether a lane has a Jacobian.
    pub(crate) fn holds(&self, lane: usize) -> bool {
        self.held[lane] != 0.0
    }

    /// A lane will need a new Jacobian.
    pub(crate) fn expire(&mut self, lane: usize) {
        self.held[lane] = 0.0;
    }

    /// Makes the factors of a lane for a step, unless it has them.
    pub(crate) fn prepare(&mut self, lane: usize, h: f64) {
        if self.step[lane] != h {
            (self.step[lane], self.stale[lane]) = (h, true);
        }
        if std::mem::take(&mut self.stale[lane]) {
            self.factor(lane);
        }
    }

    fn factor(&mut self, lane: usize) {
        let Operator { shape, stages, rows: d, width, jacobian, pivots, .. } = self;
        let (d, width, h) = (*d, *width, self.step[lane]);
        match shape {
            Shape::Modes { modes, factors, .. } => {
                for (k, mode) in modes.iter().enumerate() {
                    let place = lane * modes.len() + k;
                    let matrix = &mut factors[place * d * d..][..d * d];
                    for (at, entry) in matrix.iter_mut().enumerate() {
                        let unit = Complex::new(f64::from(at / d == at % d), 0.0);
                        *entry = unit - mode.value.times(h * jacobian[at * width + lane]);
                    }
                    factor(matrix, &mut pivots[place * d..][..d]);
                }
            }
            Shape::CompiledStep { matrices, factors, .. } => {
                let (s, n) = (*stages, *stages * d);
                let matrix = &mut factors[lane * n * n..][..n * n];
                for (at, entry) in matrix.iter_mut().enumerate() {
                    let ((i, r), (j, c)) = ((at / n / d, at / n % d), (at % n / d, at % n % d));
                    // A component is reached through the increments of its own kind.
                    let share = matrices[usize::from(c >= d / 2)][i * s + j];
                    *entry = f64::from(at / n == at % n) - h * share * jacobian[(r * d + c) * width + lane];
                }
                factor(matrix, &mut pivots[lane * n..][..n]);
            }
        }
    }

    /// Solves (1 − h B⊗J) x = r in one lane of blocks of s stages.
    pub(crate) fn solve(&mut self, lane: usize, r: &[f64], x: &mut [f64]) {
        let Operator { shape, stages, rows: d, width, pivots, .. } = self;
        let (s, d, width) = (*stages, *d, *width);
        match shape {
            Shape::Modes { modes, factors, side } => {
                (lane..x.len()).step_by(width).for_each(|i| x[i] = 0.0);
                for (k, mode) in modes.iter().enumerate() {
                    for (row, side) in side.iter_mut().enumerate() {
                        let part = |i: usize| mode.left[i].times(r[(i * d + row) * width + lane]);
                        *side = (0..s).fold(Complex::ZERO, |sum, i| sum + part(i));
                    }
                    let place = lane * modes.len() + k;
                    solve(&factors[place * d * d..][..d * d], &pivots[place * d..][..d], side);
                    for i in 0..s {
                        for (row, side) in side.iter().enumerate() {
                            x[(i * d + row) * width + lane] += (mode.right[i] * *side).re;
                        }
                    }
                }
            }
            Shape::CompiledStep { factors, side, .. } => {
                let n = s * d;
                (0..n).for_each(|i| side[i] = r[i * width + lane]);
                solve(&factors[lane * n * n..][..n * n], &pivots[lane * n..][..n], side);
                (0..n).for_each(|i| x[i * width + lane] = side[i]);
            }
        }
    }

    /// The eigenvalue of the first mode.
    pub(crate) fn first_value(&self) -> f64 {
        match &self.shape {
            Shape::Modes { modes, .. } => modes[0].value.re,
            Shape::CompiledStep { .. } => 0.0,
        }
    }

    /// Solves (1 − hλJ) x = r for the first mode, which must be real, in one lane of a block; r is replaced by x.
    pub(crate) fn filter(&mut self, lane: usize, r: &mut [f64]) {
        let (d, width) = (self.rows, self.width);
        let Shape::Modes { modes, factors, side } = &mut self.shape else { return };
        (0..d).for_each(|i| side[i] = Complex::new(r[i * width + lane], 0.0));
        let place = lane * modes.len();
        solve(&factors[place * d * d..][..d * d], &self.pivots[place * d..][..d], side);
        (0..d).for_each(|i| r[i * width + lane] = side[i].re);
    }

    /// Everything that later steps depend on: factors are made again from the Jacobian and the steps.
    pub(crate) fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        visit(Kept::Numbers(&mut self.held));
        visit(Kept::Numbers(&mut self.step));
        if self.held.iter().any(|held| *held != 0.0) {
            visit(Kept::Numbers(&mut self.jacobian));
        }
        self.stale.fill(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::implicit::tableau::Tableau;

    /// Both shapes give the solution of the same equations.
    #[test]
    fn shapes_agree() {
        let (s, d, width, lane, h) = (3, 4, LANES, 5, 0.7);
        let Tableau { b, first, .. } = Tableau::gauss(s);
        let matrix: Vec<f64> = (0..s * s).map(|k| b[k / s] * first[k]).collect();
        let mut split = Operator::split(&matrix, s, d, width);
        let mut whole = Operator::whole([matrix.clone(), matrix.clone()], s, d, width);
        let number = |k: usize| (1.7 * k as f64).sin();
        let r: Vec<f64> = (0..s * d * width).map(number).collect();
        let mut found = [vec![0.0; r.len()], vec![0.0; r.len()]];
        for (operator, x) in [&mut split, &mut whole].into_iter().zip(&mut found) {
            operator.fresh().iter_mut().enumerate().for_each(|(k, entry)| *entry = 3.0 * number(k + 7));
            operator.renew(lane);
            operator.prepare(lane, h);
            operator.solve(lane, &r, x);
        }
        for row in 0..s * d {
            let entry = |r: usize, c: usize| 3.0 * number((r * d + c) * width + lane + 7);
            let at = |k: usize| found[0][k * width + lane];
            let coupled = |k: usize| matrix[row / d * s + k / d] * entry(row % d, k % d) * at(k);
            let back = at(row) - h * (0..s * d).map(coupled).sum::<f64>();
            assert!((back - r[row * width + lane]).abs() < 1e-12, "{back}");
            assert!((at(row) - found[1][row * width + lane]).abs() < 1e-12);
        }
    }
}

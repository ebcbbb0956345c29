//! Constraints at one configuration, met by forces that act as at another: G(q₁) M⁻¹ G(q₀)ᵀ in factors.
//!
//! This is the matrix of Newton's method in SHAKE and RATTLE, where a step from q₀ must end on the constraints at q₁ (E. Barth,
//! K. Kuczera, B. Leimkuhler and R. D. Skeel, J. Comput. Chem. 16 (1995) 1192). It is not symmetric, but has the entries of G M⁻¹ Gᵀ
//! at q₀, and is near that; so it is factored as L U in the same order, without looking for pivots.

use crate::constraint::factors::ConstraintFactors;
use crate::constraint::sparse::Layout;
use crate::dynamics::Dynamics;
use crate::error::EvalError;
use crate::quantity::Quantity;
use crate::system::System;
use leastaction_compile::LANES;
use std::sync::Arc;

/// The factors of G(q₁) M⁻¹ G(q₀)ᵀ, for one state or for a block of eight.
#[derive(Clone, Debug)]
pub struct ShakeFactors {
    layout: Arc<Layout>,
    width: usize,
    jacobian: Vec<f64>,
    /// The latest factors, and the latest that each lane took.
    latest: Factors,
    kept: Factors,
    ordered: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Factors {
    /// The inverse pivots; L without its diagonal, which is 1; U without its own, by rows.
    inverse: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl ShakeFactors {
    /// Room for the constraints of a system in so many lanes.
    #[must_use]
    pub fn new(system: &System, width: usize) -> ShakeFactors {
        let layout = system.layout().clone();
        let numbers = |len: usize| vec![0.0; len * width];
        let factors = Factors {
            inverse: numbers(layout.rows),
            lower: numbers(layout.elimination.len()),
            upper: numbers(layout.elimination.len()),
        };
        ShakeFactors {
            jacobian: numbers(layout.jacobian.len()),
            latest: factors.clone(),
            kept: factors,
            ordered: numbers(layout.rows),
            width,
            layout,
        }
    }

    /// Factors G(y) M⁻¹ G(q₀)ᵀ in some lanes, where the forces act as at q₀, of which `factors` are. Rows that depend on others there take no part;
    /// where it is not clear whether some do ([`ConstraintFactors::is_clear`]), such factors are of no use.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit.
    pub fn factor(
        &mut self,
        factors: &ConstraintFactors,
        lanes: &[bool],
        dynamics: &mut Dynamics,
        t: &[f64],
        y: &[f64],
    ) -> Result<(), EvalError> {
        dynamics.engine.eval(Quantity::ConstraintJacobian, t, y, &mut self.jacobian)?;
        match self.width {
            1 => self.eliminate::<1>(factors, lanes),
            _ => self.eliminate::<LANES>(factors, lanes),
        }
        Ok(())
    }

    /// The length over which constraints turn, in each lane: the smallest |G_k|·|δ|/|G_k(q + δ) − G_k(q)| of a constraint for displacements δ
    /// in all directions: one of about 1, and one as large as the coordinates. For quadratic constraints its size
    /// does not matter. Positions are not known better than to the rounding of this, however near they are to 0. It is 0
    /// where no constraint turns. `y` is where `factors` are, and then moved.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit.
    pub fn turning_length(
        &mut self,
        factors: &ConstraintFactors,
        dynamics: &mut Dynamics,
        t: &[f64],
        y: &mut [f64],
    ) -> Result<[f64; LANES], EvalError> {
        let width = self.width;
        let shift = |i: usize| if (i * i / 3).is_multiple_of(2) { 1.0 } else { -0.5 } - 0.1 * (i % 3) as f64;
        let mut sizes = [0.0f64; LANES];
        for q in y[..y.len() / 2].chunks_exact(width) {
            sizes.iter_mut().zip(q).for_each(|(size, q)| *size = size.max(q.abs()));
        }
        let mut lengths = [f64::INFINITY; LANES];
        for (scales, by) in [([1.0; LANES], [1.0; LANES]), (sizes, sizes.map(|size| size - 1.0))] {
            for (i, y) in y.chunks_exact_mut(width).enumerate() {
                y.iter_mut().zip(by).for_each(|(y, by)| *y += by * shift(i));
            }
            dynamics.engine.eval(Quantity::ConstraintJacobian, t, y, &mut self.jacobian)?;
            for (lane, length) in lengths.iter_mut().enumerate().take(width) {
                let new = scales[lane] * self.turning_length_in(factors, lane, shift);
                // What differs little is the same but for rounding.
                *length = if new < 0.5 * *length { new } else { *length };
            }
        }
        Ok(lengths.map(|length| if length.is_finite() { length } else { 0.0 }))
    }

    /// The smallest |G_k|·|δ|/|ΔG_k| in a lane, for a displacement by `shift`.
    fn turning_length_in(
        &self,
        factors: &ConstraintFactors,
        lane: usize,
        shift: impl Fn(usize) -> f64,
    ) -> f64 {
        let mut length = f64::INFINITY;
        for row in 0..self.layout.rows {
            let (mut slope, mut turned, mut moved) = (0.0f64, 0.0f64, 0.0f64);
            for entry in self.layout.jacobian.row(row) {
                let at = entry * self.width + lane;
                slope = slope.max(factors.jacobian[at].abs());
                turned = turned.max((self.jacobian[at] - factors.jacobian[at]).abs());
                moved = moved.max(shift(self.layout.jacobian.columns()[entry] as usize).abs());
            }
            // What turns by rounding alone does not turn.
            if turned > 1e-9 * slope {
                length = length.min(slope * moved / turned);
            }
        }
        length
    }

    /// Replaces b by λ with G(q₁) M⁻¹ G(q₀)ᵀ λ = b.
    pub fn solve(&mut self, b: &mut [f64]) {
        match self.width {
            1 => self.solve_in::<1>(b),
            _ => self.solve_in::<LANES>(b),
        }
    }

    /// Replaces b by λ with G(q₀) M⁻¹ G(q₁)ᵀ λ = b: the transposed matrix.
    pub fn solve_transposed(&mut self, b: &mut [f64]) {
        match self.width {
            1 => self.solve_transposed_in::<1>(b),
            _ => self.solve_transposed_in::<LANES>(b),
        }
    }

    fn solve_transposed_in<const W: usize>(&mut self, b: &mut [f64]) {
        let ShakeFactors { layout, kept: Factors { inverse, lower, upper }, ordered: x, .. } = self;
        layout.elimination.gather::<W>(b, x);
        layout.elimination.solve_transposed::<W>(inverse, lower, upper, x);
        layout.elimination.scatter::<W>(x, b);
    }

    fn eliminate<const W: usize>(&mut self, factors: &ConstraintFactors, lanes: &[bool]) {
        let ShakeFactors { layout, jacobian, latest, kept, .. } = self;
        layout.diagonal.fill::<W>(jacobian, &factors.spread, &mut latest.inverse);
        layout.lower.fill::<W>(jacobian, &factors.spread, &mut latest.lower);
        layout.upper.fill::<W>(jacobian, &factors.spread, &mut latest.upper);
        let Factors { inverse, lower, upper } = latest;
        layout.elimination.factor_unsymmetric::<W>(&factors.diagonal, inverse, lower, upper);
        let pairs = [
            (&latest.inverse, &mut kept.inverse),
            (&latest.lower, &mut kept.lower),
            (&latest.upper, &mut kept.upper),
        ];
        for (latest, kept) in pairs {
            for (latest, kept) in latest.as_chunks::<W>().0.iter().zip(kept.as_chunks_mut::<W>().0) {
                (0..W).filter(|&l| lanes[l]).for_each(|l| kept[l] = latest[l]);
            }
        }
    }

    fn solve_in<const W: usize>(&mut self, b: &mut [f64]) {
        let ShakeFactors { layout, kept: Factors { inverse, lower, upper }, ordered: x, .. } = self;
        layout.elimination.gather::<W>(b, x);
        layout.elimination.solve_unsymmetric::<W>(inverse, lower, upper, x);
        layout.elimination.scatter::<W>(x, b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Model;
    use leastaction_expr::Graph;

    /// Λ ↦ G(q₁) M⁻¹ G(q₀)ᵀ Λ is undone, with a closed loop that fills in; each lane keeps what it took.
    #[test]
    fn solves_what_was_multiplied() {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let places: Vec<_> = (0..5)
            .map(|k| [model.coordinate(&format!("x{k}")), model.coordinate(&format!("y{k}"))])
            .collect();
        let mut start = Vec::new();
        for (k, place) in places.iter().enumerate() {
            model.particle(&format!("p{k}"), 1.0 + 0.3 * k as f64, *place);
            let (sin, cos) = (1.25 * k as f64).sin_cos();
            start.extend([sin, cos]);
        }
        for (a, b) in [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2), (1, 3)] {
            let [dx, dy] = [places[a][0] - places[b][0], places[a][1] - places[b][1]];
            model.constraint(&format!("{a}{b}"), dx * dx + dy * dy, 1.0);
        }
        let system = model.system().expect("a system");
        let mut dynamics = system.dynamics().expect("dynamics");
        let n = start.len();
        let wide = |by: f64| -> Vec<f64> {
            let number = |i: usize, lane: usize| {
                let y = start.get(i).copied().unwrap_or(0.0);
                y + by * ((i + 1) as f64 * (1.0 + lane as f64)).sin()
            };
            (0..2 * n).flat_map(|i| (0..LANES).map(move |lane| number(i, lane))).collect()
        };
        let (t, before, after, later) = ([0.0; LANES], wide(0.0), wide(0.1), wide(0.3));
        let (mut factors, mut there) =
            (ConstraintFactors::new(&system, LANES), ConstraintFactors::new(&system, LANES));
        let mut shake = ShakeFactors::new(&system, LANES);
        factors.factor(&mut dynamics, &t, &before).expect("factors");
        there.factor(&mut dynamics, &t, &after).expect("factors");
        shake.factor(&factors, &[true; LANES], &mut dynamics, &t, &after).expect("factors");
        let last = std::array::from_fn::<bool, LANES, _>(|lane| lane == LANES - 1);
        shake.factor(&factors, &last, &mut dynamics, &t, &later).expect("factors");
        let lambda: Vec<f64> = (0..7 * LANES).map(|k| (k as f64).cos()).collect();
        let (mut moved, mut image) = (vec![0.0; n * LANES], vec![0.0; 7 * LANES]);
        factors.add_accelerations(&lambda, &mut moved);
        there.add_rates(&moved, &mut image);
        image.iter_mut().for_each(|x| *x = -*x);
        shake.solve(&mut image);
        for (k, (found, expected)) in image.iter().zip(&lambda).enumerate() {
            let off = (found - expected).abs();
            assert!((off < 1e-11) == (k % LANES != LANES - 1), "{k}: {found} {expected}");
        }
        // The transposed matrix: (A⁻ᵀλ)·μ is λ·(A⁻¹μ).
        let mu: Vec<f64> = (0..7 * LANES).map(|k| (2.0 * k as f64).sin()).collect();
        let (mut left, mut right) = (lambda.clone(), mu.clone());
        shake.solve_transposed(&mut left);
        shake.solve(&mut right);
        for lane in 0..LANES {
            let product =
                |a: &[f64], b: &[f64]| (lane..a.len()).step_by(LANES).map(|k| a[k] * b[k]).sum::<f64>();
            let (left, right) = (product(&left, &mu), product(&lambda, &right));
            assert!((left - right).abs() < 1e-11 * left.abs().max(1.0), "{lane}: {left} {right}");
        }
    }
}

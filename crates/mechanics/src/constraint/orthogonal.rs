//! The constraints of small systems by orthogonal factors, where G M⁻¹ Gᵀ has lost too many digits.
//!
//! With M⁻¹ = C Cᵀ and A = Cᵀ Gᵀ it is AᵀA, of which [`PivotedQr`] finds factors from A itself.

use crate::constraint::sparse::{Component, Layout};
use leastaction_linear::dense::cholesky;
use leastaction_linear::{Noise, PivotedQr};

/// The factors in every lane in which they were needed.
#[derive(Clone, Debug)]
pub(crate) struct Orthogonal {
    factors: PivotedQr,
    /// A part of M⁻¹.
    part: Vec<f64>,
}

impl Orthogonal {
    /// As much work as one factorisation may be, in multiplications.
    const WORK: usize = 400_000;

    /// Room for a system in so many lanes, if it is small enough.
    pub(crate) fn new(layout: &Layout, width: usize) -> Option<Orthogonal> {
        let (rows, coordinates) = (layout.rows, layout.coordinates);
        let work = rows.checked_mul(rows)?.checked_mul(coordinates)?;
        (work <= Self::WORK && rows > 1).then(|| Orthogonal {
            factors: PivotedQr::new(rows, coordinates, width),
            part: vec![0.0; layout.components.iter().map(|c| c.size * c.size).max().unwrap_or(0)],
        })
    }

    /// Factors what constraints are in a lane of so many: G in `jacobian`, parts of M⁻¹ in `inverse`. Directions that are not
    /// longer than `shortest` are left out. Returns the rank, or nothing if M⁻¹ is not positive definite.
    pub(crate) fn factor(
        &mut self,
        layout: &Layout,
        jacobian: &[f64],
        inverse: &[f64],
        shortest: f64,
        (lane, width): (usize, usize),
    ) -> Option<usize> {
        let (n, columns) = (layout.coordinates, self.factors.columns());
        columns.fill(0.0);
        for (entry, (row, column)) in layout.jacobian.entries().enumerate() {
            columns[row * n + column] = jacobian[entry * width + lane];
        }
        for (component, members) in layout.components.iter().zip(&layout.members) {
            let Component { size, first } = *component;
            let part = &mut self.part[..size * size];
            (0..size * size).for_each(|k| part[k] = inverse[(first + k) * width + lane]);
            cholesky(part, size).then_some(())?;
            for column in columns.chunks_exact_mut(n) {
                // Entry i of Cᵀg only reads entries of g from i on, so it can take its place.
                for (i, &into) in members.iter().enumerate() {
                    let each = members.iter().enumerate().skip(i);
                    column[into as usize] =
                        each.map(|(j, &from)| part[j * size + i] * column[from as usize]).sum();
                }
            }
        }
        self.factors.factor(shortest, lane)
    }

    /// Finds λ with G M⁻¹ Gᵀ λ = b in a lane, into x, whose rows stand in another order. If rows do not quite agree, because the constraints
    /// are not quite met, the mean counts, and they share what they carry so that the sum of squares is least. Parts that are `noise` are left out.
    pub(crate) fn solve(
        &mut self,
        b: &[f64],
        x: &mut [f64],
        rows: &[u32],
        noise: Noise,
        place: (usize, usize),
    ) {
        self.factors.solve(b, x, rows, noise, place);
    }

    /// The shortest direction that counts in a lane.
    pub(crate) fn shortest(&self, lane: usize) -> f64 {
        self.factors.shortest(lane)
    }
}

//! Consistent masses: nodes whose masses are coupled, as they follow from a density that moves with the shape functions of cells.
//!
//! Velocities are M⁻¹p by conjugate gradients with the diagonal as preconditioner. For linear cells the eigenvalues of the preconditioned matrix lie
//! between 1/2 and (dimension + 2)/2 whatever the mesh (A. J. Wathen, IMA J. Numer. Anal. 7 (1987) 449, doi:10.1093/imanum/7.4.449), so that some forty
//! products bring the residual to rounding.

use super::split::LumpedCoordinate;
use crate::inverse::{Failure, grow};
use leastaction_linear::{ConjugateGradients, Pattern};
use std::convert::Infallible;

/// So many products are enough for every mesh of cells.
const PRODUCTS: u32 = 1000;
/// The residual that is left, relative to the right side.
const RESIDUAL: f64 = 1e-17;
/// One that does not get smaller than this is no solution.
const FAILED: f64 = 1e-12;

/// A symmetric matrix of masses with a row for each node, whose entries above and below the diagonal are both there.
#[derive(Clone, Debug)]
pub struct MassMatrix {
    pattern: Pattern,
    values: Vec<f64>,
}

impl MassMatrix {
    /// The matrix of rows, each with its entries by their columns, in any order.
    ///
    /// # Panics
    /// If a row has two entries of one column, or one that is not the number of a row.
    #[must_use]
    pub fn from_rows(mut rows: Vec<Vec<(u32, f64)>>) -> MassMatrix {
        rows.iter_mut().for_each(|row| row.sort_unstable_by_key(|(column, _)| *column));
        let values = rows.iter().flatten().map(|(_, value)| *value).collect();
        let columns: Vec<Vec<u32>> =
            rows.iter().map(|row| row.iter().map(|(column, _)| *column).collect()).collect();
        for row in &columns {
            let sorted = row.windows(2).all(|pair| pair[0] < pair[1]);
            let inside = row.last().is_none_or(|&last| (last as usize) < columns.len());
            assert!(
                sorted && inside,
                "entries of a row are of distinct columns, of which there are as many as rows"
            );
        }
        MassMatrix { pattern: Pattern::from_rows(columns.len(), columns), values }
    }

    /// How many rows it has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.pattern.rows()
    }

    /// The sum of each row: the mass that gravity acts on.
    #[must_use]
    pub fn row_sums(&self) -> Vec<f64> {
        let rows = 0..self.pattern.rows();
        rows.map(|row| self.values[self.pattern.row(row)].iter().sum()).collect()
    }

    /// The first row whose own mass is not positive, or which has an entry that is not finite, or not the one of its mirror image.
    pub(crate) fn wrong(&self) -> Option<usize> {
        let at = |row: usize, column: usize| self.pattern.find(row, column).map(|place| self.values[place]);
        (0..self.pattern.rows()).find(|&row| {
            let entries = self.pattern.row(row);
            let mut entries = self.pattern.columns()[entries.clone()].iter().zip(&self.values[entries]);
            let right = |(&column, &value): (&u32, &f64)| {
                value.is_finite()
                    && at(column as usize, row)
                        .is_some_and(|other| (other - value).abs() <= 1e-12 * value.abs())
            };
            !(at(row, row).is_some_and(|own| own > 0.0) && entries.all(right))
        })
    }
}

/// The masses of coordinates that move, by their numbers among these.
#[derive(Debug)]
pub(crate) struct Coupling {
    pattern: Pattern,
    values: Vec<f64>,
    diagonal: Vec<f64>,
    /// The entries of coordinates that are held (by their numbers among these) with coordinates that move.
    to_held: Vec<(u32, u32, f64)>,
}

impl Coupling {
    /// Of a matrix with a row for each node of so many coordinates: `numbers` are the node and the axis of each that moves, and `held` of each that is held.
    pub(crate) fn new(
        matrix: &MassMatrix,
        width: usize,
        numbers: &[(u32, u32)],
        held: &[(u32, u32)],
    ) -> Coupling {
        let mut places = vec![u32::MAX; matrix.pattern.rows() * width];
        for (number, &(node, axis)) in numbers.iter().enumerate() {
            places[node as usize * width + axis as usize] = number as u32;
        }
        let places = &places;
        let of_moving = |&(node, axis): &(u32, u32)| {
            let entries = matrix.pattern.row(node as usize);
            let columns = matrix.pattern.columns()[entries.clone()].iter().zip(&matrix.values[entries]);
            let columns =
                columns.map(move |(&other, &value)| (places[other as usize * width + axis as usize], value));
            columns.filter(|(place, _)| *place != u32::MAX)
        };
        let (mut rows, mut values) = (Vec::with_capacity(numbers.len()), Vec::new());
        for coordinate in numbers {
            // Coordinates are numbered in the order of their nodes, so that columns stay sorted.
            let (columns, own): (Vec<u32>, Vec<f64>) = of_moving(coordinate).unzip();
            rows.push(columns);
            values.extend(own);
        }
        let pattern = Pattern::from_rows(numbers.len(), rows);
        let own = |i: usize| pattern.find(i, i).map_or(0.0, |place| values[place]);
        let diagonal = (0..numbers.len()).map(own).collect();
        let to_held = (0..).zip(held).flat_map(|(number, coordinate)| {
            of_moving(coordinate).map(move |(moving, value)| (number, moving, value))
        });
        Coupling { pattern, values, diagonal, to_held: to_held.collect() }
    }

    /// The entries of coordinates that are held, by their numbers among these, with coordinates that move.
    pub(super) fn to_held(&self) -> &[(u32, u32, f64)] {
        &self.to_held
    }

    /// The entries on and below the diagonal, by the numbers of coordinates.
    pub(crate) fn lower(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let entries = self.pattern.entries().zip(&self.values).filter(|((row, column), _)| column <= row);
        entries.map(|((row, column), &value)| (row, column, value))
    }
}

/// The working memory of a thread.
#[derive(Clone, Default)]
pub(crate) struct CouplingMemory {
    gradients: Option<ConjugateGradients>,
    side: Vec<f64>,
    solution: Vec<f64>,
}

impl CouplingMemory {
    /// M x of one lane for coordinates x, in units of their block, by the numbers of coordinates.
    pub(crate) fn product(
        &mut self,
        coupling: &Coupling,
        moving: &[LumpedCoordinate],
        x: impl Fn(usize) -> f64,
    ) -> &[f64] {
        let n = moving.len();
        grow(&mut self.side, n);
        grow(&mut self.solution, n);
        let (side, out) = (&mut self.side[..n], &mut self.solution[..n]);
        side.iter_mut().zip(moving).for_each(|(side, c)| *side = x(c.place as usize));
        out.fill(0.0);
        coupling.pattern.add_product::<1>(&coupling.values, side, out);
        out
    }

    /// M⁻¹ x, in the same way.
    pub(crate) fn solve(
        &mut self,
        coupling: &Coupling,
        moving: &[LumpedCoordinate],
        x: impl Fn(usize) -> f64,
    ) -> Result<&[f64], Failure> {
        let n = moving.len();
        grow(&mut self.side, n);
        grow(&mut self.solution, n);
        let gradients = self.gradients.get_or_insert_with(|| ConjugateGradients::new(n));
        let (side, out) = (&mut self.side[..n], &mut self.solution[..n]);
        side.iter_mut().zip(moving).for_each(|(side, c)| *side = x(c.place as usize));
        let apply = |x: &[f64], out: &mut [f64]| {
            out.fill(0.0);
            coupling.pattern.add_product::<1>(&coupling.values, x, out);
            Ok::<(), Infallible>(())
        };
        let precondition =
            |x: &mut [f64]| x.iter_mut().zip(&coupling.diagonal).for_each(|(x, own)| *x /= own);
        let Ok((done, _)) = gradients.solve(side, out, RESIDUAL, PRODUCTS, apply, precondition);
        if done.residual.is_nan() || done.residual > FAILED {
            return Err(Failure::NoConvergence {
                lane: 0,
                residual: done.residual,
                iterations: done.products,
            });
        }
        Ok(out)
    }
}

//! Sparse matrices that need not be symmetric, by L U with pivots; and those that are symmetric and positive definite, by L Lᵀ.
//!
//! Which way is the faster depends on how much elimination fills in, which is known from the pattern. Measured with AVX-512 on one thread,
//! milliseconds for the factors of real numbers in a plan that is there; the last column is L Lᵀ of the same matrix, if it is symmetric:
//!
//! | pattern | unknowns | work | by columns | in blocks | L Lᵀ |
//! |---|---|---|---|---|---|
//! | chain | 20 000 | 1 | 0.6 | 7.3 | 12.6 |
//! | implicit step of a chain | 40 000 | 1 | 1.8 | 5.7 | – |
//! | band of 5 beside the diagonal | 4 000 | 5 | 0.6 | 0.6 | – |
//! | plane, 5 points | 1 600 | 24 | 1.7 | 2.5 | – |
//! | plane, 5 points | 10 000 | 60 | 37 | 10 | – |
//! | implicit step of a plane, 9 points | 9 800 | 119 | 56 | 9 | – |
//! | cube, 7 points | 4 913 | 211 | 560 | 43 | 7.4 |
//! | cube, 27 points | 24 389 | – | not run | 2 800 | 380 |
//!
//! Work is the number of multiplications for each entry of the factors. So both are kept, and a constant, `MUCH`, decides.

mod blocks;
mod cholesky;
mod columns;
mod memory;
mod order;

use crate::{Pattern, Scalar};
use blocks::BlockLu;
use columns::ColumnLu;
use order::Order;

pub(crate) use blocks::InBlocks;
pub use cholesky::{NotPositive, SparseCholesky};

/// Where elimination takes more multiplications than this for each entry of the factors, blocks are faster than columns.
///
/// Chains and strips, which are most of what is small, stay with columns: these do not allocate when they are made again, and their bits do
/// not depend on the machine.
const MUCH: f64 = 40.0;

/// A matrix that cannot be solved with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is singular: elimination finds no pivot that is finite and not zero")]
pub struct NoFactors;

/// The factors L U of a sparse matrix. They are made again for other numbers at the same places.
#[derive(Clone, Debug)]
pub struct SparseLu<T: Scalar>(Form<T>);

#[derive(Clone, Debug)]
enum Form<T: Scalar> {
    Columns(ColumnLu<T>),
    Blocks(BlockLu<T>),
}

impl<T: Scalar> SparseLu<T> {
    /// Room for the factors of matrices with this pattern, which must be square.
    ///
    /// # Panics
    /// If it is not.
    #[must_use]
    pub fn new(pattern: &Pattern) -> SparseLu<T> {
        assert_eq!(pattern.rows(), pattern.width(), "only a square matrix has factors");
        let order = Order::new(pattern);
        SparseLu(if order.work > MUCH {
            Form::Blocks(BlockLu::new(pattern))
        } else {
            Form::Columns(ColumnLu::new(pattern, order))
        })
    }

    /// Factors the matrix whose entries have these values.
    ///
    /// # Errors
    /// [`NoFactors`] if a column has no pivot that is finite and not zero; what was factored is then of no use.
    pub fn factor(&mut self, value: impl Fn(usize) -> T) -> Result<(), NoFactors> {
        match &mut self.0 {
            Form::Columns(factors) => factors.factor(value),
            Form::Blocks(factors) => factors.factor(value),
        }
    }

    /// Solves A x = b: the right side becomes the solution.
    pub fn solve(&mut self, b: &mut [T]) {
        match &mut self.0 {
            Form::Columns(factors) => factors.solve(b),
            Form::Blocks(factors) => factors.solve(b),
        }
    }
}

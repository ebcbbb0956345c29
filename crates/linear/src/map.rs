//! One face for matrices that are dense, sparse, or known by their products only.

use crate::{NoFactors, Pattern, Scalar, Singular, SparseLu, dense};
use std::ops::Range;
use std::sync::Arc;

/// What is known of a square matrix in advance, and so how it is kept and solved with.
#[derive(Clone, Debug)]
pub enum Structure {
    /// All entries of so many rows are kept, by rows.
    Dense(usize),
    /// The entries of a pattern are kept, in its order.
    Sparse(Arc<Pattern>),
    /// No entry is kept: products with so many numbers are computed.
    Free(usize),
}

impl Structure {
    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Structure::Dense(rows) | Structure::Free(rows) => *rows,
            Structure::Sparse(pattern) => pattern.rows(),
        }
    }

    /// The entries of a row among those that are kept.
    #[must_use]
    pub fn row(&self, row: usize) -> Range<usize> {
        match self {
            Structure::Dense(rows) => row * rows..(row + 1) * rows,
            Structure::Sparse(pattern) => pattern.row(row),
            Structure::Free(_) => 0..0,
        }
    }

    /// How many entries are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Structure::Dense(rows) => rows * rows,
            Structure::Sparse(pattern) => pattern.len(),
            Structure::Free(_) => 0,
        }
    }

    /// Whether no entry is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The factors of a matrix of some structure, made again for other numbers.
#[derive(Clone, Debug)]
pub enum Factors<T: Scalar> {
    /// All entries, and the pivots.
    Dense {
        /// L U, by rows.
        matrix: Vec<T>,
        /// The row that each was exchanged with.
        pivots: Vec<usize>,
    },
    /// Those of a pattern.
    Sparse {
        /// Where there are entries.
        pattern: Arc<Pattern>,
        /// L U.
        factors: Box<SparseLu<T>>,
    },
}

impl<T: Scalar> Factors<T> {
    /// Room for the factors of matrices of so many rows.
    #[must_use]
    pub fn dense(rows: usize) -> Factors<T> {
        Factors::Dense { matrix: vec![T::from(0.0); rows * rows], pivots: vec![0; rows] }
    }

    /// Room for the factors of matrices with this pattern.
    #[must_use]
    pub fn sparse(pattern: Arc<Pattern>) -> Factors<T> {
        Factors::Sparse { factors: Box::new(SparseLu::new(&pattern)), pattern }
    }

    /// Factors the matrix whose entries are `value(row, column, place)`: the place is that among the entries that are kept.
    ///
    /// # Errors
    /// [`NoFactors`] if a column has no pivot; what was factored is then of no use.
    pub fn factor(&mut self, value: impl Fn(usize, usize, usize) -> T) -> Result<(), NoFactors> {
        match self {
            Factors::Dense { matrix, pivots } => {
                let n = pivots.len();
                for (place, entry) in matrix.iter_mut().enumerate() {
                    *entry = value(place / n, place % n, place);
                }
                dense::factor(matrix, pivots).map_err(|Singular { .. }| NoFactors)
            }
            Factors::Sparse { pattern, factors } => {
                let row = |place: usize| pattern.row_of(place);
                factors.factor(|place| value(row(place), pattern.columns()[place] as usize, place))
            }
        }
    }

    /// Solves with the factors: the right side becomes the solution.
    pub fn solve(&mut self, side: &mut [T]) {
        match self {
            Factors::Dense { matrix, pivots } => dense::solve(matrix, pivots, side),
            Factors::Sparse { factors, .. } => factors.solve(side),
        }
    }
}

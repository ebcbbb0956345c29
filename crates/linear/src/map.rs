//! One face for matrices that are dense, sparse, or known by their products only.

use crate::{Convergence, Gmres, Pattern, Scalar, Singular, SparseLu, dense};
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
pub enum Factors<T> {
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
    /// [`Singular`] if a column has no pivot; the factors are then of no use.
    pub fn factor(&mut self, value: impl Fn(usize, usize, usize) -> T) -> Result<(), Singular> {
        match self {
            Factors::Dense { matrix, pivots } => {
                let n = pivots.len();
                for (place, entry) in matrix.iter_mut().enumerate() {
                    *entry = value(place / n, place % n, place);
                }
                dense::factor(matrix, pivots)
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

/// A product with a matrix: out = A x.
pub type Product<'a> = &'a mut dyn FnMut(&[f64], &mut [f64]);

/// A square matrix with its numbers.
pub enum LinearMap<'a> {
    /// All entries, by rows.
    Dense {
        /// The number of rows.
        rows: usize,
        /// The entries.
        entries: &'a [f64],
    },
    /// The entries of a pattern.
    Sparse {
        /// Where they are.
        pattern: &'a Pattern,
        /// The entries.
        entries: &'a [f64],
    },
    /// Products with it.
    Free {
        /// The number of rows.
        rows: usize,
        /// A x.
        product: Product<'a>,
        /// Aᵀ x, if that is known.
        transposed: Option<Product<'a>>,
    },
}

/// Why a linear map gives no answer.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SolveError {
    /// Elimination fails.
    #[error(transparent)]
    Singular(#[from] Singular),
    /// Iteration does not come to an end.
    #[error(
        "the linear system was not solved: {residual:.1e} of the right side is left after {products} products"
    )]
    NoConvergence {
        /// What is left, relative to the right side.
        residual: f64,
        /// How many products were made.
        products: u32,
    },
    /// Products with the transpose are not known.
    #[error("products with the transpose of this map are not known")]
    NoTranspose,
}

/// A matrix-free map is solved to this residual, by a basis of so many vectors at most, with so many products.
const TOLERANCE: f64 = 1e-12;
const BASIS: usize = 60;
const PRODUCTS: u32 = 2000;

impl LinearMap<'_> {
    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            LinearMap::Dense { rows, .. } | LinearMap::Free { rows, .. } => *rows,
            LinearMap::Sparse { pattern, .. } => pattern.rows(),
        }
    }

    /// Where it may have entries; `None` if that is not known, or everywhere.
    #[must_use]
    pub fn pattern(&self) -> Option<&Pattern> {
        match self {
            LinearMap::Sparse { pattern, .. } => Some(pattern),
            LinearMap::Dense { .. } | LinearMap::Free { .. } => None,
        }
    }

    /// out = A x.
    pub fn apply(&mut self, x: &[f64], out: &mut [f64]) {
        match self {
            LinearMap::Dense { rows, entries } => {
                for (out, row) in out.iter_mut().zip(entries.chunks_exact(*rows)) {
                    *out = row.iter().zip(x).map(|(a, x)| a * x).sum();
                }
            }
            LinearMap::Sparse { pattern, entries } => {
                out.fill(0.0);
                pattern.add_product::<1>(entries, x, out);
            }
            LinearMap::Free { product, .. } => product(x, out),
        }
    }

    /// out = Aᵀ x.
    ///
    /// # Errors
    /// [`SolveError::NoTranspose`] if only products with A are known.
    pub fn apply_transposed(&mut self, x: &[f64], out: &mut [f64]) -> Result<(), SolveError> {
        match self {
            LinearMap::Dense { rows, entries } => {
                out.fill(0.0);
                for (x, row) in x.iter().zip(entries.chunks_exact(*rows)) {
                    out.iter_mut().zip(row).for_each(|(out, a)| *out += a * x);
                }
            }
            LinearMap::Sparse { pattern, entries } => {
                out.fill(0.0);
                pattern.subtract_transposed::<1>(entries, x, out);
                out.iter_mut().for_each(|out| *out = -*out);
            }
            LinearMap::Free { transposed, .. } => transposed.as_mut().ok_or(SolveError::NoTranspose)?(x, out),
        }
        Ok(())
    }

    /// All entries, by rows.
    #[must_use]
    pub fn assemble(&mut self) -> Vec<f64> {
        let n = self.rows();
        let mut matrix = vec![0.0; n * n];
        match self {
            LinearMap::Dense { entries, .. } => matrix.copy_from_slice(entries),
            LinearMap::Sparse { pattern, entries } => {
                for ((row, column), entry) in pattern.entries().zip(*entries) {
                    matrix[row * n + column] = *entry;
                }
            }
            LinearMap::Free { product, .. } => {
                let (mut unit, mut image) = (vec![0.0; n], vec![0.0; n]);
                for column in 0..n {
                    unit[column] = 1.0;
                    product(&unit, &mut image);
                    (0..n).for_each(|row| matrix[row * n + column] = image[row]);
                    unit[column] = 0.0;
                }
            }
        }
        matrix
    }

    /// The solution of A x = b: by factors where entries are known, else by products.
    ///
    /// # Errors
    /// [`SolveError`] if the matrix is singular, or products do not lead to a solution.
    pub fn solve(&mut self, b: &[f64]) -> Result<Vec<f64>, SolveError> {
        let mut x = b.to_vec();
        match self {
            LinearMap::Dense { rows, entries } => dense::solve_once(&mut entries.to_vec(), &mut x, *rows)?,
            LinearMap::Sparse { pattern, entries } => {
                let mut factors = SparseLu::new(pattern);
                factors.factor(|entry| entries[entry])?;
                factors.solve(&mut x);
            }
            LinearMap::Free { rows, product, .. } => {
                let apply = |x: &[f64], out: &mut [f64]| {
                    product(x, out);
                    Ok::<(), SolveError>(())
                };
                let Convergence { products, residual } =
                    Gmres::new(*rows, BASIS).solve(b, &mut x, TOLERANCE, PRODUCTS, apply, |_| ())?;
                if residual.is_nan() || residual > TOLERANCE {
                    return Err(SolveError::NoConvergence { residual, products });
                }
            }
        }
        Ok(x)
    }
}

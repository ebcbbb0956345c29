//! Linear maps and their solution, in one place: no other crate factors a matrix of numbers.
//!
//! | matrices | by |
//! |---|---|
//! | small, of one state or lane by lane | [`dense`]: L U with partial pivoting, real or complex; L D Lᵀ in lanes; Cholesky |
//! | sparse, symmetric, perhaps of less than full rank, in lanes | [`Elimination`]: L D Lᵀ in an order found once, which skips dependent rows |
//! | of less than full rank, small, where that loses digits | [`PivotedQr`] |
//! | sparse, unsymmetric | [`SparseLu`]: L U with pivots, real or complex, by columns or in dense blocks |
//! | sparse, symmetric and positive definite, large | [`SparseCholesky`]: L Lᵀ |
//! | known by their products only | [`Gmres`]; symmetric ones [`ConjugateGradients`] |
//! | tall, of least squares | [`triangle`], and [`singular_values`] of what is left |
//! | to be taken apart into eigenvalues | [`eigen`]: small ones whole, of large symmetric ones the largest by [`Lanczos`] |
//! | dense and large, to be multiplied, in single precision too | [`multiply`] |
//! | to be judged: regular, definite? | [`rank`] |
//!
//! What is known of a matrix in advance is its [`Structure`]; [`Factors`] are made by it, and again for other numbers.
//!
//! *Invariant:* pure, without `unsafe`, threads or global state; the numbers of a lane do not depend on other lanes. Nothing that is made
//! again allocates, and bits do not depend on the machine: but for sparse factors in blocks,
//! eigenvalues and large products, which `faer` makes, in `sparse/`, `eigen.rs` and `product.rs` alone.

pub mod dense;
pub mod eigen;
mod elimination;
mod krylov;
mod map;
mod orthogonal;
mod pattern;
mod product;
pub mod rank;
mod scalar;
mod singular;
mod sparse;

pub use eigen::{Eigenpairs, Lanczos, SymmetricMap};
pub use elimination::{Elimination, Pivots};
pub use krylov::{ConjugateGradients, Convergence, Curvature, Gmres};
pub use map::{Factors, Structure};
pub use orthogonal::{Noise, PivotedQr};
pub use pattern::Pattern;
pub use product::{Onto, Precision, Rows, multiply};
pub use scalar::{Complex, Scalar};
pub use singular::{SingularValues, singular_values, triangle};
pub use sparse::{NoFactors, NotPositive, SparseCholesky, SparseLu};

/// A matrix that cannot be solved with: elimination finds no pivot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is singular: column {column} has no pivot")]
pub struct Singular {
    /// The column without a pivot.
    pub column: usize,
}

//! Sparse matrices that are symmetric and positive definite, by L Lᵀ. By `faer`, on one thread: in single columns where little fills in, in
//! dense blocks where much does.

use super::memory::Scratch;
use super::order::{by_columns, places};
use crate::Pattern;
use faer::linalg::cholesky::llt::factor::{LltError, LltRegularization};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par, Side, Spec};
use std::sync::Arc;

/// A matrix that is not positive definite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix is not positive definite: elimination finds a pivot that is not positive and finite")]
pub struct NotPositive;

/// The factors L Lᵀ of a sparse matrix. They are made again for other numbers at the same places.
#[derive(Clone, Debug)]
pub struct SparseCholesky {
    plan: Arc<Plan>,
    values: Vec<f64>,
    factors: Vec<f64>,
    scratch: Scratch,
}

/// What does not depend on numbers.
#[derive(Debug)]
struct Plan {
    columns: SymbolicSparseColMat<usize>,
    /// Where each entry of the pattern stands by columns.
    places: Vec<u32>,
    symbolic: SymbolicCholesky<usize>,
}

impl SparseCholesky {
    /// Room for the factors of matrices with this pattern, which must be square. Entries above the diagonal are taken for those below: they
    /// may be left out.
    ///
    /// # Panics
    /// If it is not.
    #[must_use]
    pub fn new(pattern: &Pattern) -> SparseCholesky {
        assert_eq!(pattern.rows(), pattern.width(), "only a square matrix has factors");
        let columns = by_columns(pattern);
        let symbolic = factorize_symbolic_cholesky(
            columns.as_ref(),
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        );
        let symbolic = symbolic.expect("there is memory for a plan of the size of the pattern");
        let factoring = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Spec::default());
        let solving = symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        SparseCholesky {
            values: vec![0.0; pattern.len()],
            factors: vec![0.0; symbolic.len_val()],
            scratch: Scratch::new(factoring.or(solving)),
            plan: Arc::new(Plan { places: places(pattern), columns, symbolic }),
        }
    }

    /// Factors the matrix whose entries have these values.
    ///
    /// # Errors
    /// [`NotPositive`] if it is not positive definite; the factors are then of no use.
    pub fn factor(&mut self, value: impl Fn(usize) -> f64) -> Result<(), NotPositive> {
        let SparseCholesky { plan, values, factors, scratch } = self;
        plan.places.iter().enumerate().for_each(|(entry, &place)| values[place as usize] = value(entry));
        if !values.iter().all(|value| value.is_finite()) {
            return Err(NotPositive);
        }
        let factored = plan.symbolic.factorize_numeric_llt(
            factors,
            SparseColMatRef::new(plan.columns.as_ref(), values),
            Side::Lower,
            LltRegularization::default(),
            Par::Seq,
            scratch.stack(),
            Spec::default(),
        );
        match factored {
            Ok(_) => Ok(()),
            Err(LltError::NonPositivePivot { .. }) => Err(NotPositive),
        }
    }

    /// Solves A x = b: the right side becomes the solution.
    pub fn solve(&mut self, b: &mut [f64]) {
        let SparseCholesky { plan, factors, scratch, .. } = self;
        let rows = b.len();
        LltRef::new(&plan.symbolic, factors).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(b, rows, 1),
            Par::Seq,
            scratch.stack(),
        );
    }
}

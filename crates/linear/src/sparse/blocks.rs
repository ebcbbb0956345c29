//! L U in dense blocks, for patterns that fill in: meshes. By `faer`, on one thread.
//!
//! Neighbouring columns whose factors have the same rows are eliminated together, by products of dense matrices (J. W. Demmel et al., SIAM J.
//! Matrix Anal. Appl. 20 (1999) 720, doi:10.1137/S0895479895291765). Last bits depend on the vector units of the machine, other than
//! anywhere else in this crate.

use super::NoFactors;
use super::memory::Scratch;
use super::order::{by_columns, places};
use crate::{Complex, Pattern, Scalar};
use faer::sparse::linalg::lu::{LuRef, LuSymbolicParams, NumericLu, SymbolicLu, factorize_symbolic_lu};
use faer::sparse::linalg::{LuError, SupernodalThreshold};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::traits::ComplexField;
use faer::{Conj, MatMut, Par, Spec, c64};
use std::sync::Arc;

/// A number as the library has it.
pub trait InBlocks: Sized {
    /// Its type there.
    type Number: ComplexField + Copy;
    /// This number there.
    fn into_block(self) -> Self::Number;
    /// That number here.
    fn from_block(number: Self::Number) -> Self;
}

impl InBlocks for f64 {
    type Number = f64;
    fn into_block(self) -> f64 {
        self
    }
    fn from_block(number: f64) -> f64 {
        number
    }
}

impl InBlocks for Complex {
    type Number = c64;
    fn into_block(self) -> c64 {
        c64::new(self.re, self.im)
    }
    fn from_block(number: c64) -> Complex {
        Complex::new(number.re, number.im)
    }
}

/// The factors, made again for other numbers at the same places.
#[derive(Clone, Debug)]
pub(super) struct BlockLu<T: Scalar> {
    plan: Arc<Plan>,
    values: Vec<T::Number>,
    factors: NumericLu<usize, T::Number>,
    side: Vec<T::Number>,
    scratch: Scratch,
}

/// What does not depend on numbers.
#[derive(Debug)]
struct Plan {
    columns: SymbolicSparseColMat<usize>,
    /// Where each entry of the pattern stands by columns.
    places: Vec<u32>,
    symbolic: SymbolicLu<usize>,
}

impl<T: Scalar> BlockLu<T> {
    /// Room for the factors of matrices with this pattern.
    pub(super) fn new(pattern: &Pattern) -> BlockLu<T> {
        let columns = by_columns(pattern);
        let params = LuSymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
            ..LuSymbolicParams::default()
        };
        let symbolic = factorize_symbolic_lu(columns.as_ref(), params)
            .expect("there is memory for a plan of the size of the pattern");
        let factoring = symbolic.factorize_numeric_lu_scratch::<T::Number>(Par::Seq, Spec::default());
        let solving = symbolic.solve_in_place_scratch::<T::Number>(1, Par::Seq);
        let zeros = |len: usize| vec![T::from(0.0).into_block(); len];
        BlockLu {
            values: zeros(pattern.len()),
            factors: NumericLu::new(),
            side: zeros(pattern.rows()),
            scratch: Scratch::new(factoring.or(solving)),
            plan: Arc::new(Plan { places: places(pattern), columns, symbolic }),
        }
    }

    /// Factors the matrix whose entries have these values, unless it is singular.
    pub(super) fn factor(&mut self, value: impl Fn(usize) -> T) -> Result<(), NoFactors> {
        let BlockLu { plan, values, factors, side, scratch } = self;
        for (entry, &place) in plan.places.iter().enumerate() {
            let value = value(entry);
            if !value.size().is_finite() {
                return Err(NoFactors);
            }
            values[place as usize] = value.into_block();
        }
        let matrix = SparseColMatRef::new(plan.columns.as_ref(), values);
        let factored =
            plan.symbolic.factorize_numeric_lu(factors, matrix, Par::Seq, scratch.stack(), Spec::default());
        match factored {
            Ok(_) => {}
            Err(LuError::SymbolicSingular { .. }) => return Err(NoFactors),
            Err(LuError::Generic(error)) => panic!("sparse factors could not be factored: {error}"),
        }
        // The library says nothing of pivots that are zero: solutions do.
        side.fill(T::from(1.0).into_block());
        self.solve_side();
        let finite = |&number: &T::Number| T::from_block(number).size().is_finite();
        if self.side.iter().all(finite) { Ok(()) } else { Err(NoFactors) }
    }

    fn solve_side(&mut self) {
        let BlockLu { plan, factors, side, scratch, .. } = self;
        let rows = side.len();
        LuRef::new_unchecked(&plan.symbolic, factors).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(side, rows, 1),
            Par::Seq,
            scratch.stack(),
        );
    }

    /// Solves A x = b: the right side becomes the solution.
    pub(super) fn solve(&mut self, b: &mut [T]) {
        self.side.iter_mut().zip(&*b).for_each(|(side, b)| *side = b.into_block());
        self.solve_side();
        b.iter_mut().zip(&self.side).for_each(|(b, side)| *b = T::from_block(*side));
    }
}

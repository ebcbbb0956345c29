//! Products of dense matrices of many rows and columns, in single or double precision.

use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};

/// What matrices for products consist of: `f32` and `f64`.
pub trait Precision: ComplexField + Copy {}

impl Precision for f32 {}
impl Precision for f64 {}

/// A matrix to read: its numbers row by row.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, T> {
    numbers: &'a [T],
    rows: usize,
    columns: usize,
    transposed: bool,
}

impl<'a, T: Precision> Rows<'a, T> {
    /// The matrix of these numbers.
    ///
    /// # Panics
    /// If there are more or fewer numbers than rows × columns.
    #[must_use]
    pub fn new(numbers: &'a [T], rows: usize, columns: usize) -> Rows<'a, T> {
        assert_eq!(numbers.len(), rows * columns, "numbers of a matrix of {rows} rows and {columns} columns");
        Rows { numbers, rows, columns, transposed: false }
    }

    /// Its transpose.
    #[must_use]
    pub fn transposed(self) -> Rows<'a, T> {
        Rows { transposed: !self.transposed, ..self }
    }

    fn shape(&self) -> (usize, usize) {
        if self.transposed { (self.columns, self.rows) } else { (self.rows, self.columns) }
    }

    fn view(&self) -> MatRef<'a, T> {
        let view = MatRef::from_row_major_slice(self.numbers, self.rows, self.columns);
        if self.transposed { view.transpose() } else { view }
    }
}

/// What becomes of what stands where a product is to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onto {
    /// The product takes its place.
    Replaced,
    /// The product is added to it.
    Added,
}

/// The product of two matrices, row by row, on this thread.
///
/// # Panics
/// If the matrices do not fit, or the product has not so many numbers.
pub fn multiply<T: Precision>(product: &mut [T], onto: Onto, left: Rows<'_, T>, right: Rows<'_, T>) {
    let ((rows, inner), (also, columns)) = (left.shape(), right.shape());
    assert_eq!(inner, also, "columns of the left factor, and rows of the right one");
    assert_eq!(product.len(), rows * columns, "numbers of the product");
    let beta = match onto {
        Onto::Replaced => Accum::Replace,
        Onto::Added => Accum::Add,
    };
    let product = MatMut::from_row_major_slice_mut(product, rows, columns);
    matmul(product, beta, left.view(), right.view(), T::one_impl(), Par::Seq);
}

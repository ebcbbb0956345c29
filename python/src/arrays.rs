//! Numbers on their way to NumPy and back.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

/// A row after the other as an array of so many columns. The numbers are not copied.
pub(crate) fn rows(py: Python<'_>, values: Vec<f64>, columns: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let count = values.len().checked_div(columns).unwrap_or(0);
    PyArray1::from_vec(py, values).reshape([count, columns])
}

/// A list of numbers as an array. They are not copied.
pub(crate) fn list(py: Python<'_>, values: Vec<f64>) -> Bound<'_, PyArray1<f64>> {
    PyArray1::from_vec(py, values)
}

//! Tables as dictionaries of arrays.

use crate::arrays;
use crate::error::failed;
use leastaction::output::{ColumnKind, Table};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The columns of a table by name: numbers as they are, whole numbers as integers, and words as an array of texts.
pub(crate) fn columns<'py>(py: Python<'py>, table: &dyn Table) -> PyResult<Bound<'py, PyDict>> {
    let dictionary = PyDict::new(py);
    for (place, (_, name)) in table.columns().into_iter().enumerate() {
        let mut values = Vec::with_capacity(usize::try_from(table.rows()).unwrap_or(0));
        table.read(place, 0..table.rows(), &mut values).map_err(failed)?;
        dictionary.set_item(name, column(py, &table.kind(place), values)?)?;
    }
    Ok(dictionary)
}

/// A column as an array.
pub(crate) fn column<'py>(
    py: Python<'py>,
    kind: &ColumnKind,
    values: Vec<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    let array = arrays::list(py, values).into_any();
    match kind {
        ColumnKind::Number => Ok(array),
        ColumnKind::Whole => array.call_method1("astype", ("int64",)),
        ColumnKind::Word(words) => {
            let words = py.import("numpy")?.call_method1("array", (words.clone(),))?;
            words.call_method1("take", (array.call_method1("astype", ("int64",))?,))
        }
    }
}

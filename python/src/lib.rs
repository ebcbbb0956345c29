//! The native part of the Python package: it converts, and never computes.
//!
//! ```text
//! python/leastaction/*.py   what people see: names, options, arrays, pictures
//! _native                   Expr, Function          expressions                expr.rs function.rs
//!                           System, Trajectory      a text and its motions     system.rs query.rs trajectory.rs
//!                           ensemble, section, …    many motions, rest         ensemble.rs section.rs rest.rs compare.rs
//!                           curves, plot_points     pictures                   curves.rs
//!                           Fit, Dataset, Learned   from data                  fit.rs learn.rs
//! leastaction (Rust)        does it
//! ```
//!
//! To add an option of a run: a field of [`asked::Asked`], and its argument in `python/leastaction/_asked.py`.

mod arrays;
mod asked;
mod compare;
mod curves;
mod ensemble;
mod error;
mod expr;
mod fit;
mod function;
mod learn;
mod query;
mod rest;
mod section;
mod system;
mod tables;
mod trajectory;
mod watch;

/// What the package is made of.
#[pyo3::pymodule]
mod _native {
    use pyo3::prelude::*;
    use std::ffi::OsString;

    #[pymodule_export]
    use crate::compare::{check, compare, format};
    #[pymodule_export]
    use crate::curves::{curves, plot_points};
    #[pymodule_export]
    use crate::ensemble::{Found, ensemble, merge};
    #[pymodule_export]
    use crate::expr::{Expr, apply, definitions, expression, functions, jacobian, walk};
    #[pymodule_export]
    use crate::fit::{Fit, fit};
    #[pymodule_export]
    use crate::function::Function;
    #[pymodule_export]
    use crate::learn::{Comparison, Dataset, Learned, architectures, compare_learned, dataset, train};
    #[pymodule_export]
    use crate::query::query;
    #[pymodule_export]
    use crate::rest::{equilibrium, modes};
    #[pymodule_export]
    use crate::section::section;
    #[pymodule_export]
    use crate::system::{System, catalog, methods};
    #[pymodule_export]
    use crate::trajectory::Trajectory;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Runs the command line with these arguments, the first of which is the name of the program, and returns the exit code.
    #[pyfunction]
    fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| leastaction::command_line(arguments))
    }
}

//! All that can go wrong on the way from expressions to numbers, as one type for those who go all of it.

use crate::assembly::AssemblyError;
use crate::kernel::{ArgumentError, CompileError};
use crate::program::BuildError;
use crate::reverse::ReverseError;
use crate::series::SeriesError;
use std::sync::Arc;

/// Why there is no code for something, or why it cannot be run.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CodeError {
    /// The expressions could not become a program.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Programs could not be put together.
    #[error(transparent)]
    Assembly(#[from] AssemblyError),
    /// The program could not be compiled.
    #[error(transparent)]
    Compile(Arc<CompileError>),
    /// The program has no Taylor series.
    #[error(transparent)]
    Series(Arc<SeriesError>),
    /// The program has no reverse.
    #[error(transparent)]
    Reverse(#[from] ReverseError),
    /// The code cannot be run with these arguments.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
}

impl PartialEq for CodeError {
    /// What an operating system says cannot be compared: such errors equal their copies only.
    fn eq(&self, other: &CodeError) -> bool {
        match (self, other) {
            (CodeError::Build(a), CodeError::Build(b)) => a == b,
            (CodeError::Assembly(a), CodeError::Assembly(b)) => a == b,
            (CodeError::Compile(a), CodeError::Compile(b)) => Arc::ptr_eq(a, b),
            (CodeError::Series(a), CodeError::Series(b)) => Arc::ptr_eq(a, b),
            (CodeError::Reverse(a), CodeError::Reverse(b)) => a == b,
            (CodeError::Arguments(a), CodeError::Arguments(b)) => a == b,
            _ => false,
        }
    }
}

impl From<CompileError> for CodeError {
    fn from(error: CompileError) -> CodeError {
        CodeError::Compile(Arc::new(error))
    }
}

impl From<SeriesError> for CodeError {
    fn from(error: SeriesError) -> CodeError {
        CodeError::Series(Arc::new(error))
    }
}

//! Expressions of a place, at many places.

use super::FieldError;
use super::element::Table;
use super::hoist::evaluated;
use crate::mesh::Vector;
use leastaction_expr::{Expr, substitute};

/// The values of expressions of a place (x, y, z) at many places: those of the first place, then those of the second, and so on. Other symbols have the
/// values that are given.
///
/// ```
/// use leastaction_expr::Graph;
/// use leastaction_field::at_places;
///
/// let graph = Graph::new();
/// let [x, y, z, a] = graph.symbols(["x", "y", "z", "a"]);
/// let places = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// assert_eq!(at_places(&[a * x, y + z], [x, y, z], &[(a, 10.0)], &places)?, [10.0, 5.0, 40.0, 11.0]);
/// # Ok::<(), leastaction_field::FieldError>(())
/// ```
///
/// # Errors
/// [`FieldError::Code`] if they have other symbols, or cannot be compiled.
pub fn at_places<'g>(
    expressions: &[Expr<'g>],
    place: [Expr<'g>; 3],
    known: &[(Expr<'g>, f64)],
    places: &[Vector],
) -> Result<Vec<f64>, FieldError> {
    let known: Vec<_> = known.iter().map(|&(symbol, value)| (symbol, symbol.like(value))).collect();
    let expressions = substitute(expressions, &known);
    let (values, elements) = (places.as_flattened().to_vec(), places.len());
    evaluated(&expressions, &Table { symbols: place.to_vec(), values, elements })
}

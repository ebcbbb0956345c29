//! The implicit midpoint rule: of order 2, symmetric, symplectic in coordinates and momenta, and energies that are quadratic it keeps,
//!
//! $$k=f\bigl(y+\tfrac h2k\bigr),\qquad y+h\,k.$$
//!
//! k is found by iteration, which brings it nearer by about half the step times the largest rate of change of f, each time. The iterations are part of the step, so that its derivatives are exact,
//! whatever is left of the error.

use super::StepCard;
use crate::architecture::{Architecture, BuildError};
use crate::chain::Writer;
use leastaction_expr::Expr;

pub(super) const CARD: StepCard = StepCard {
    name: "midpoint",
    about: "the implicit midpoint rule, of order 2, which keeps the symplectic form in coordinates and momenta",
    write: midpoint,
};

/// So many times: with steps of a tenth of the shortest time of a system, 10⁻⁸ of the first error is left.
const ITERATIONS: usize = 6;

/// A step from y over the time h.
///
/// # Errors
/// [`BuildError::Chain`] if rates cannot be compiled.
pub fn midpoint<'g>(
    model: &dyn Architecture<'g>,
    writer: &mut Writer<'g>,
    y: &[Expr<'g>],
    h: Expr<'g>,
) -> Result<Vec<Expr<'g>>, BuildError> {
    let rates = model.rates(writer, y)?;
    let mut k = writer.store(&rates);
    for _ in 0..ITERATIONS {
        let middle: Vec<Expr<'g>> = y.iter().zip(&k).map(|(&y, &k)| y + 0.5 * h * k).collect();
        let middle = writer.store(&middle);
        let rates = model.rates(writer, &middle)?;
        k = writer.store(&rates);
    }
    Ok(y.iter().zip(&k).map(|(&y, &k)| y + h * k).collect())
}

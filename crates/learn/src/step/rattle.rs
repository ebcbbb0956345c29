//! RATTLE (H. C. Andersen, J. Comput. Phys. 52, 1983): of order 2, symplectic, and on the constraints at every step; without constraints the method of Störmer and Verlet. It needs two
//! gradients of the potential energy where Kutta's rule needs four. What is learned is the energy whose steps predict the data, so roll out with the same step.

use super::StepCard;
use crate::architecture::{Architecture, BuildError};
use crate::chain::Writer;
use leastaction_expr::Expr;

pub(super) const CARD: StepCard = StepCard {
    name: "rattle",
    about: "RATTLE, of order 2, which keeps constraints and the symplectic form of Cartesian bodies",
    write: rattle,
};

/// A step from y over the time h.
///
/// # Errors
/// [`BuildError::Step`] if the architecture has no such step.
pub fn rattle<'g>(
    model: &dyn Architecture<'g>,
    writer: &mut Writer<'g>,
    y: &[Expr<'g>],
    h: Expr<'g>,
) -> Result<Vec<Expr<'g>>, BuildError> {
    let step = model.rattle(writer, y, h).ok_or(BuildError::Step { step: CARD.name })?;
    Ok(step?)
}

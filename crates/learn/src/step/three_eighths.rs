//! Kutta's 3/8 rule, of order 4 (W. Kutta, Z. Math. Phys. 46, 1901), which the reference networks are trained with:
//!
//! $$k_1=f(y),\quad k_2=f(y+\tfrac h3k_1),\quad k_3=f(y+h(k_2-\tfrac13k_1)),\quad k_4=f(y+h(k_1-k_2+k_3)),\quad y+\tfrac h8(k_1+3k_2+3k_3+k_4).$$

use super::StepCard;
use crate::architecture::{Architecture, BuildError};
use crate::chain::{ChainError, Writer};
use leastaction_expr::Expr;

pub(super) const CARD: StepCard = StepCard {
    name: "rk38",
    about: "Kutta's 3/8 rule, of order 4, as the reference networks have it",
    write: three_eighths,
};

/// A step from y over the time h.
///
/// # Errors
/// [`BuildError::Chain`] if rates cannot be compiled.
pub fn three_eighths<'g>(
    model: &dyn Architecture<'g>,
    writer: &mut Writer<'g>,
    y: &[Expr<'g>],
    h: Expr<'g>,
) -> Result<Vec<Expr<'g>>, BuildError> {
    let mut rates = |at: &dyn Fn(usize) -> Expr<'g>| {
        let state: Vec<Expr<'g>> = (0..y.len()).map(at).collect();
        let state = writer.store(&state);
        let rates = model.rates(writer, &state)?;
        Ok::<_, ChainError>(writer.store(&rates))
    };
    let third = 1.0 / 3.0;
    let k1 = rates(&|i| y[i])?;
    let k2 = rates(&|i| y[i] + third * h * k1[i])?;
    let k3 = rates(&|i| y[i] + h * (k2[i] - third * k1[i]))?;
    let k4 = rates(&|i| y[i] + h * (k1[i] - k2[i] + k3[i]))?;
    Ok((0..y.len()).map(|i| y[i] + 0.125 * h * (k1[i] + 3.0 * (k2[i] + k3[i]) + k4[i])).collect())
}

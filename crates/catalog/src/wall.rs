//! Soft walls.

use leastaction_expr::{Expr, IntoExpr};

/// A potential that rises from 0 to a height around a position, most of the way within a width:
///
/// $$L(x)=\frac{\text{height}}{1+e^{-\frac{\ln 9}{\text{width}}(x-\text{position})}}$$
pub(crate) fn wall<'g>(
    x: Expr<'g>,
    position: impl IntoExpr<'g>,
    height: impl IntoExpr<'g>,
    width: impl IntoExpr<'g>,
) -> Expr<'g> {
    let graph = x.graph();
    let [position, height, width] =
        [position.into_expr(graph), height.into_expr(graph), width.into_expr(graph)];
    height / (1.0 + (-(9.0_f64.ln() / width) * (x - position)).exp())
}

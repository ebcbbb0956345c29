//! Expression graphs that differentiate.

mod derivative;
mod double;
mod expr;
mod fold;
mod graph;
mod op;
mod value;

pub use derivative::{Entry, jacobian, jvp, vjp};
pub use expr::{Expr, IntoExpr, UnboundSymbol, operations};
pub use graph::{Graph, Id, Node, Symbol};
pub use op::{Form, Op, Parity, Row};
impl std::fmt::Display for Expr<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.id)
    }
}

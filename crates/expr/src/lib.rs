//! Expression graphs that differentiate.

mod derivative;
mod expr;
mod fold;
mod graph;
mod op;
mod parse;
mod print;
mod value;

pub use derivative::{Entry, jacobian, jvp, vjp};
pub use expr::{Expr, IntoExpr, UnboundSymbol, operations, substitute};
pub use graph::{Graph, Id, Node, Symbol};
pub use op::{Form, Op, Parity, Row};
pub use parse::{Kind, ParseError, Parser, Scope, Span, Token, Value, nearest, tokens};
pub use print::{PrintError, c_function, rust_function};

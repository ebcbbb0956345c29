//! Expressions as a graph: write them with ordinary arithmetic, differentiate them, read and print them.
//!
//! ```
//! use leastaction_expr::Graph;
//!
//! let graph = Graph::new();
//! let [m, g, l, q] = graph.symbols(["m", "g", "l", "q"]);
//! let v = graph.symbol("q'"); // the time derivative of q
//!
//! // An energy is an expression. Handles are copied freely, and numbers mix in from both sides.
//! let lagrangian = 0.5 * m * l.pow(2) * v.pow(2) - m * g * l * (1.0 - q.cos());
//!
//! // A derivative is an expression again.
//! let force = lagrangian.derivative(q);
//! assert_eq!(force.to_string(), "-m*g*l*sin(q)");
//! assert_eq!(lagrangian.derivative(v).to_string(), "m*l^2*q'");
//!
//! // Text parses back to the same node; LaTeX is for people.
//! assert_eq!(graph.parse(&force.to_string())?, force);
//! assert_eq!(force.latex(), r"-m\,g\,l\,\sin\left(q\right)");
//!
//! // Values, one at a time. `leastaction-compile` makes fast code of an expression.
//! let at = [(m, 2.0), (g, 9.81), (l, 1.0), (q, 0.1)];
//! assert!((force.eval(&at).unwrap() + 2.0 * 9.81 * 0.1f64.sin()).abs() < 1e-14);
//! # Ok::<(), leastaction_expr::ParseError>(())
//! ```
//!
//! # The pieces
//!
//! - [`Graph`] owns the nodes; [`Expr`] is a copyable handle on one; equal expressions are one node.
//! - [`Owned`] keeps values made of expressions together with their graph, for callers that cannot borrow.
//! - [`Op`] names the operators; everything known about one is in its [`Row`] of one table.
//! - [`jvp`], [`vjp`], [`jacobian`] and the methods [`Expr::gradient`], [`Expr::hessian`], [`Expr::hessian_vector`]
//!   differentiate, graph to graph: the result can be differentiated again.
//! - [`Graph::parse`] reads the expression language; [`Parser`] and [`Scope`] are for languages built on it.
//! - [`Expr`] displays as text; [`Expr::latex`], [`c_function`] and [`rust_function`] print for other readers.
//! - [`Double`] has twice the digits, for values of functions and coefficients of methods; [`Random`] repeats by its seed.
//!
//! # What is folded
//!
//! Expressions are simplified only locally, as a node is made; nothing is expanded, factored or brought to a common
//! denominator, because that makes derivatives dearer.
//!
//! Exact in IEEE arithmetic (NaN payloads aside): constant folding of finite results of + − × ÷ √, x·1, x/1, x^1,
//! x^0, x^−1 → 1/x, −(−x), x+x → 2x, x·x → x^2, a+(−b) → a−b, moving signs, division by a power of two as a product; and
//! moving a power of two, unless an intermediate result leaves the normal range.
//!
//! Not exact:
//! - the sign of a zero result may change (x+0, 0−x, −(1−x), x^0.5 → √x), and with it what is made of it: 1/x, or
//!   `atan2(0, x)` for negative x;
//! - x·0, 0/x and x−x become 0 also where x is infinite or NaN;
//! - a branch of `select` that is 0 stays 0 in a product or a quotient, whatever the other factor, so that
//!   derivatives see nothing of the branch not taken;
//! - like terms 2x+3x → 5x are rounded once instead of three times;
//! - x·(x·y) → x²·y for a symbol x, rounded in another order;
//! - (√u)² is u where u is a sum of squares, as the square of a length is: its derivative is known at 0, too;
//! - (x cos t)² + (x sin t)² is x², free of the rounding of sine and cosine;
//! - functions of constants are rounded by the table's `value`, which may differ from compiled code by 2 ulp.

#![forbid(unsafe_code)]

mod advice;
mod derivative;
mod double;
mod expr;
mod fold;
mod graph;
mod names;
mod op;
mod owned;
mod parse;
mod print;
mod random;
mod symbols;
mod textbook;
mod value;

pub use advice::Advice;
pub use derivative::{Direction, Entry, Variables, jacobian, jvp, vjp};
pub use double::Double;
pub use expr::{Expr, IntoExpr, Substitution, UnboundSymbol, operations, substitute};
pub use graph::{Graph, Id, Node};
pub use names::Names;
pub use op::{Form, Op, Parity, Row};
pub use owned::{Owned, Rebind, Rebinding};
pub use parse::{
    Glossary, Kind, ParseError, Parser, Scope, Span, Token, Value, nearest, needs_quotes, tokens,
};
pub use print::{PrintError, c_function, julia_function, python_function, rust_function};
pub use random::Random;
pub use symbols::{BlockError, Shape, Symbol, SymbolBlock};
pub use textbook::{Printed, SymbolKind, Textbook};

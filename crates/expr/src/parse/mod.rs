//! Reading expressions from text: lexer, then an operator-precedence parser that builds nodes as it goes.
//!
//! ```text
//! block      = { "let" name "=" expression ";" } expression
//! expression = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
//! sum        = product { ( "+" | "-" ) product }
//! product    = unary { ( "*" | "/" ) unary }
//! unary      = "-" unary | power
//! power      = operand [ "^" unary ]
//! operand    = number | name { "'" } | function "(" expression { "," expression } ")"
//!            | "(" expression ")" | "[" expression { "," expression } "]"
//! ```
//!
//! So `-x^2` is −(x²), `2^-x` is allowed, `a^b^c` is a^(b^c), and a product always needs its `*`. Functions are those
//! of the operator table, with `log` and `log1p` understood as `ln` and `ln1p`, `dot(a, b)`, `cross(a, b)` and `norm(a)`
//! for vectors, and those of the scope. A name may have parts, as `bob.x`. `pi` (or `π`) is the number. A name that is reserved or not an identifier stands in
//! backquotes, a backquote in it doubled. `#` begins a comment that ends with the line.

mod error;
mod expression;
mod function;
mod glossary;
mod lexer;
mod parser;
mod scope;
mod suggest;

pub use error::ParseError;
pub use expression::needs_quotes;
pub use glossary::Glossary;
pub use lexer::{Kind, Span, Token, tokens};
pub use parser::Parser;
pub use scope::{Scope, Value};
pub use suggest::nearest;

pub(crate) use lexer::is_identifier;

use crate::advice::Advice;
use crate::{Expr, Graph};

impl Graph {
    /// The expression that a text means. Every name that is not a function is the symbol of that name.
    ///
    /// Definitions may come first, and line breaks do not matter. [`Parser`] gives more control.
    ///
    /// # Errors
    /// [`ParseError`] with the place in the text; [`ParseError::render`] shows it.
    ///
    /// ```
    /// # let graph = leastaction_expr::Graph::new();
    /// let [m, x] = graph.symbols(["m", "x"]);
    /// let v = x.dot().unwrap();
    /// assert_eq!(graph.parse("m*x'^2/2")?, m * v.pow(2.0) / 2.0);
    /// assert_eq!(graph.parse("let r = x - 1; r*cos(r)")?, (x - 1.0) * (x - 1.0).cos());
    ///
    /// let error = graph.parse("m*x + 2 x").unwrap_err();
    /// assert_eq!(error.to_string(), "an operator is missing; for a product write `2*x`");
    /// # Ok::<(), leastaction_expr::ParseError>(())
    /// ```
    pub fn parse(&self, text: &str) -> Result<Expr<'_>, ParseError> {
        self.parse_in(&mut Scope::open(), text)
    }

    /// The expression that a text means in a scope.
    ///
    /// # Errors
    /// As [`Graph::parse`].
    pub fn parse_in<'g>(&'g self, scope: &mut Scope<'g>, text: &str) -> Result<Expr<'g>, ParseError> {
        let mut parser = Parser::new(self, text)?.ignore_newlines();
        let value = parser.block(scope)?;
        parser.finish()?;
        value.scalar().map_err(|found| ParseError::Shape {
            span: Span { start: 0, end: text.len() },
            problem: Advice::cause(format!("this is {found}, where a number is expected")),
        })
    }
}

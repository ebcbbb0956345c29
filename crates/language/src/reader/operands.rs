//! What statements are made of: expressions, vectors, numbers, signs and words.

use super::Reader;
use crate::diagnostic::Diagnostic;
use crate::source_map::Fixed;
use leastaction_expr::{Expr, Node, Parser, Span, UnboundSymbol, Value};

impl<'g, 's> Reader<'g, 's> {
    /// An expression.
    pub(crate) fn value(&self, parser: &mut Parser<'g, 's>) -> Result<Value<'g>, Diagnostic> {
        parser.expression(&self.scope).map_err(|error| self.explain(error))
    }

    /// An expression that is a number, and its place.
    pub(crate) fn scalar(&self, parser: &mut Parser<'g, 's>) -> Result<(Expr<'g>, Span), Diagnostic> {
        let start = parser.peek().span;
        let value = self.value(parser)?;
        let span = start.to(parser.previous());
        let wrong = |found| Diagnostic::at(span, format!("a number is expected here, not {found}"));
        value.scalar().map(|expr| (expr, span)).map_err(wrong)
    }

    /// An expression that is a vector of 1 to 3 components, or a number for a vector of one.
    pub(crate) fn vector(&self, parser: &mut Parser<'g, 's>) -> Result<(Vec<Expr<'g>>, Span), Diagnostic> {
        let start = parser.peek().span;
        let value = self.value(parser)?;
        let span = start.to(parser.previous());
        match value {
            Value::Scalar(expr) => Ok((vec![expr], span)),
            Value::Vector(components) if components.len() <= 3 => Ok((components, span)),
            Value::Vector(components) => {
                let found = components.len();
                Err(Diagnostic::at(
                    span,
                    format!("a vector of 1, 2 or 3 is expected here, not one of {found}"),
                ))
            }
        }
    }

    /// A number that is known when the text is read: parameters have their values.
    pub(crate) fn number(&self, parser: &mut Parser<'g, 's>) -> Result<(f64, Span), Diagnostic> {
        let (expr, span) = self.scalar(parser)?;
        Ok((self.known(expr, span)?, span))
    }

    /// The value of an expression of parameters. What is made of it does not follow when they change: it is remembered that they are fixed here, so that
    /// nobody samples them.
    pub(crate) fn known(&self, expr: Expr<'g>, span: Span) -> Result<f64, Diagnostic> {
        let fixed = symbols(expr).into_iter().map(|parameter| Fixed { parameter, span, clause: None });
        self.fixed.borrow_mut().extend(fixed);
        match self.evaluate(expr) {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(value) => Err(Diagnostic::at(span, format!("this is {value}: numbers must be finite"))
                .help("look for a division by 0, or a root or logarithm of what is not positive")),
            Err(unbound) => Err(Diagnostic::at(span, format!("this depends on `{}`", unbound.symbol))
                .label("a number is expected here")
                .help("use numbers and parameters only")),
        }
    }

    /// The value of an expression of parameters, at a cost that does not depend on how many there are.
    pub(crate) fn evaluate(&self, expr: Expr<'g>) -> Result<f64, UnboundSymbol> {
        let value = |symbol: Expr<'g>| Some((symbol, *self.parameters.get(&symbol.id())?));
        let values: Vec<_> = symbols_in(expr).into_iter().filter_map(value).collect();
        expr.eval(&values)
    }

    /// Remembers that the value of a parameter was used up.
    pub(crate) fn fix(&self, parameter: &str, span: Span) {
        self.fixed.borrow_mut().push(Fixed { parameter: parameter.to_owned(), span, clause: None });
    }

    /// Steps over a sign.
    pub(crate) fn sign(
        &self,
        parser: &mut Parser<'g, 's>,
        sign: &str,
        expected: &'static str,
    ) -> Result<(), Diagnostic> {
        if parser.accept(sign) { Ok(()) } else { Err(parser.unexpected(expected).into()) }
    }

    /// Steps over a word.
    pub(crate) fn word(
        &self,
        parser: &mut Parser<'g, 's>,
        word: &str,
        expected: &'static str,
    ) -> Result<(), Diagnostic> {
        if parser.accept_word(word) { Ok(()) } else { Err(parser.unexpected(expected).into()) }
    }

    /// The text in which a place is, and where that begins.
    pub(crate) fn text_at(&self, span: Span) -> (&str, usize) {
        self.setup.source_map.sheets.text(span).unwrap_or((self.source, 0))
    }

    /// What stands at a place.
    pub(crate) fn text_of(&self, span: Span) -> &str {
        let (text, begins) = self.text_at(span);
        text.get(span.start - begins..span.end.saturating_sub(begins)).unwrap_or("")
    }

    /// The line of a place, before it and from it on.
    pub(crate) fn line_at(&self, at: usize) -> (&str, &str) {
        let (text, begins) = self.text_at(Span { start: at, end: at });
        let at = (at - begins).min(text.len());
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        (&text[start..at], text[at..].lines().next().unwrap_or(""))
    }
}

/// The names of the symbols in an expression.
pub(crate) fn symbols(expr: Expr<'_>) -> Vec<String> {
    symbols_in(expr).into_iter().map(|symbol| symbol.to_string()).collect()
}

/// The symbols in an expression.
pub(crate) fn symbols_in(expr: Expr<'_>) -> Vec<Expr<'_>> {
    let graph = expr.graph();
    let nodes = graph.order(&[expr.id()]).into_iter();
    nodes.filter(|(_, node)| matches!(node, Node::Symbol(_))).map(|(id, _)| graph.at(id)).collect()
}

//! Indices as functions of others: `i+1`, `N-i`.

use super::super::write::Writer;
use super::Many;
use crate::diagnostic::Diagnostic;
use crate::reader::{Reader, symbols_in};
use leastaction_expr::{Expr, Graph, ParseError, Parser, Span, Value};

/// A whole number that depends on indices.
#[derive(Clone, Debug)]
pub(super) enum Index<'g> {
    /// A number, and so many times each index.
    Affine(i64, Vec<i64>),
    Other(Expr<'g>, Span),
}

/// The indices of a sum, as symbols.
pub(super) struct Indices<'g> {
    pub(super) names: Vec<String>,
    pub(super) symbols: Vec<Expr<'g>>,
}

impl<'g> Indices<'g> {
    pub(super) fn of(many: &Many<'g, '_>, graph: &'g Graph) -> Indices<'g> {
        let spans = many.clause.ranges.iter().flat_map(super::super::clause::Range::indices);
        let names: Vec<String> = spans.map(|span| many.template.text(span).to_owned()).collect();
        let symbols =
            names.iter().map(|name| graph.symbol(&format!("{}index({name})", super::MARK))).collect();
        Indices { names, symbols }
    }
}

impl<'g> Index<'g> {
    /// The value, if it is whole.
    pub(super) fn value(&self, symbols: &[Expr<'g>], at: &[i64]) -> Result<i64, Diagnostic> {
        match self {
            Index::Affine(constant, slopes) => {
                Ok(slopes.iter().zip(at).fold(*constant, |sum, (slope, i)| sum + slope * i))
            }
            Index::Other(value, span) => {
                let value = number(*value, symbols, at);
                if value.fract() == 0.0 && value.abs() <= 1e9 {
                    return Ok(value as i64);
                }
                Err(Diagnostic::at(*span, format!("a whole number is expected here, not {value}")))
            }
        }
    }
}

/// The value of an expression of indices.
pub(super) fn number<'g>(value: Expr<'g>, symbols: &[Expr<'g>], at: &[i64]) -> f64 {
    let known: Vec<_> = symbols.iter().zip(at).map(|(&symbol, &i)| (symbol, i as f64)).collect();
    value.eval(&known).unwrap_or(f64::NAN)
}

impl<'g, 's> Reader<'g, 's> {
    /// Reads a text in which indices are symbols.
    pub(super) fn with_indices(
        &mut self,
        indices: &Indices<'g>,
        text: &str,
    ) -> Result<Value<'g>, ParseError> {
        let hidden: Vec<Option<Value<'g>>> = indices
            .names
            .iter()
            .zip(&indices.symbols)
            .map(|(name, &symbol)| self.scope.replace(name, Some(symbol.into())))
            .collect();
        let read = Parser::new(self.graph, text).and_then(|mut parser| {
            let value = parser.expression(&self.scope)?;
            parser.finish()?;
            Ok(value)
        });
        for (name, value) in indices.names.iter().zip(hidden) {
            self.scope.replace(name, value);
        }
        read
    }

    /// An expression of indices and parameters, which have their values.
    pub(super) fn of_indices(
        &mut self,
        indices: &Indices<'g>,
        text: &str,
        span: Span,
    ) -> Result<Expr<'g>, Diagnostic> {
        let read = self.with_indices(indices, text);
        let at = |wrong: Diagnostic| Diagnostic { span: Some(span), related: Vec::new(), ..wrong };
        let value = read.map_err(|error| at(error.into()))?;
        let value = value
            .scalar()
            .map_err(|found| Diagnostic::at(span, format!("a number is expected here, not {found}")))?;
        let mut known = Vec::new();
        for symbol in symbols_in(value) {
            if let Some(&value) = self.parameters.get(&symbol.id()) {
                self.fix(&symbol.to_string(), span);
                known.push((symbol, self.graph.number(value)));
            } else if !indices.symbols.contains(&symbol) {
                return Err(Diagnostic::at(span, format!("this depends on `{symbol}`"))
                    .help("indices and ranges are made of numbers and parameters"));
            }
        }
        Ok(value.substitute(&known))
    }

    /// An index that depends on others.
    pub(super) fn index_of(
        &mut self,
        indices: &Indices<'g>,
        text: &str,
        span: Span,
    ) -> Result<Index<'g>, Diagnostic> {
        let value = self.of_indices(indices, text, span)?;
        let whole =
            |e: Expr<'g>| e.as_number().filter(|x| x.fract() == 0.0 && x.abs() <= 1e9).map(|x| x as i64);
        let slopes: Option<Vec<i64>> = indices.symbols.iter().map(|&i| whole(value.derivative(i))).collect();
        let rest = number(value, &indices.symbols, &vec![0; indices.symbols.len()]);
        match slopes {
            // What is rounded has no slope.
            Some(slopes) if rest.fract() == 0.0 && rest.abs() <= 1e9 && is_sum(value) => {
                Ok(Index::Affine(rest as i64, slopes))
            }
            _ => Ok(Index::Other(value, span)),
        }
    }

    /// The ends of the ranges of a sum.
    pub(super) fn bounds_of(
        &mut self,
        many: &Many<'g, 's>,
        indices: &Indices<'g>,
    ) -> Result<Vec<[Index<'g>; 2]>, Diagnostic> {
        let mut bounds = Vec::new();
        for range in &many.clause.ranges {
            let mut end = |tokens: &[leastaction_expr::Token]| {
                let writer = Writer::symbolic(self, &many.template, &indices.names);
                let (text, ..) = writer.symbols_of(tokens)?;
                self.index_of(indices, &text, range.span)
            };
            bounds.push([end(&range.low)?, end(&range.high)?]);
        }
        Ok(bounds)
    }
}

/// Whether an expression is made of sums and products, in which slopes say all.
fn is_sum(value: Expr<'_>) -> bool {
    use leastaction_expr::{Node, Op};
    let known = |node: &Node| match node {
        Node::Number(_) | Node::Symbol(_) => true,
        Node::Apply(op, _) => matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Neg),
    };
    value.graph().order(&[value.id()]).iter().all(|(_, node)| known(node))
}

//! The handle on a node, and the arithmetic written with it.

use crate::graph::{Graph, Id, Node};
use crate::op::Op;
use crate::symbols::Symbol;
use rustc_hash::FxHashMap;
use std::fmt;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// An expression: a copyable handle on a node of a [`Graph`].
///
/// Numbers mix in from both sides. Two handles are equal when they are the same node, which is when they were
/// built alike, up to the folding of the crate's front page. Expressions of different graphs can be mixed; the right one is then copied into
/// the graph of the left one.
#[derive(Clone, Copy)]
pub struct Expr<'g> {
    pub(crate) graph: &'g Graph,
    pub(crate) id: Id,
}

/// What can stand where an expression is expected: an expression or a number.
pub trait IntoExpr<'g> {
    /// The expression in this graph.
    fn into_expr(self, graph: &'g Graph) -> Expr<'g>;
}

impl<'g> IntoExpr<'g> for Expr<'g> {
    fn into_expr(self, graph: &'g Graph) -> Expr<'g> {
        graph.adopt(self)
    }
}

impl<'g> IntoExpr<'g> for f64 {
    fn into_expr(self, graph: &'g Graph) -> Expr<'g> {
        graph.number(self)
    }
}

impl<'g> IntoExpr<'g> for i32 {
    fn into_expr(self, graph: &'g Graph) -> Expr<'g> {
        graph.number(self.into())
    }
}

impl<'g> Expr<'g> {
    /// The graph the expression belongs to.
    #[must_use]
    pub fn graph(self) -> &'g Graph {
        self.graph
    }

    /// The node's place in the graph.
    #[must_use]
    pub fn id(self) -> Id {
        self.id
    }

    /// What the node is.
    #[must_use]
    pub fn node(self) -> Node {
        self.graph.node(self.id)
    }

    /// The number, if the expression is one.
    #[must_use]
    pub fn as_number(self) -> Option<f64> {
        self.graph.store().number(self.id)
    }

    /// The symbol, if the expression is one.
    #[must_use]
    pub fn as_symbol(self) -> Option<Symbol> {
        match self.node() {
            Node::Symbol(index) => Some(self.graph.symbol_at(index)),
            _ => None,
        }
    }

    /// A number in the same graph.
    #[must_use]
    pub fn like(self, value: f64) -> Expr<'g> {
        self.graph.number(value)
    }

    /// The time derivative of a symbol, `x'` for `x`; `None` for anything else.
    #[must_use]
    pub fn dot(self) -> Option<Expr<'g>> {
        let id = self.graph.store().rate(self.id)?;
        Some(Expr { graph: self.graph, id })
    }

    /// The symbol whose name has something before it, `p_x` for `x`; `None` for anything else.
    #[must_use]
    pub fn prefixed(self, prefix: &str) -> Option<Expr<'g>> {
        let id = self.graph.store().prefixed(self.id, prefix)?;
        Some(Expr { graph: self.graph, id })
    }

    /// `self^exponent`. Small integer powers become products when compiled.
    #[must_use]
    pub fn pow(self, exponent: impl IntoExpr<'g>) -> Expr<'g> {
        self.join(Op::Pow, exponent)
    }

    /// 1 where `self < other`, else 0.
    #[must_use]
    pub fn lt(self, other: impl IntoExpr<'g>) -> Expr<'g> {
        self.join(Op::Lt, other)
    }

    /// 1 where `self <= other`, else 0.
    #[must_use]
    pub fn le(self, other: impl IntoExpr<'g>) -> Expr<'g> {
        self.join(Op::Le, other)
    }

    /// 1 where `self > other`, else 0.
    #[must_use]
    pub fn gt(self, other: impl IntoExpr<'g>) -> Expr<'g> {
        other.into_expr(self.graph).join(Op::Lt, self)
    }

    /// 1 where `self >= other`, else 0.
    #[must_use]
    pub fn ge(self, other: impl IntoExpr<'g>) -> Expr<'g> {
        other.into_expr(self.graph).join(Op::Le, self)
    }

    /// 1 where the values are equal, else 0.
    #[must_use]
    pub fn equals(self, other: impl IntoExpr<'g>) -> Expr<'g> {
        self.join(Op::Eq, other)
    }

    /// 1 where the values differ, else 0.
    #[must_use]
    pub fn differs(self, other: impl IntoExpr<'g>) -> Expr<'g> {
        self.join(Op::Ne, other)
    }

    fn join(self, op: Op, other: impl IntoExpr<'g>) -> Expr<'g> {
        self.graph.apply(op, &[self, other.into_expr(self.graph)])
    }

    /// The symbols the expression depends on, by name.
    #[must_use]
    pub fn free_symbols(self) -> Vec<Expr<'g>> {
        let mut found: Vec<(Symbol, Expr<'g>)> = self
            .graph
            .order(&[self.id])
            .into_iter()
            .map(|(id, _)| Expr { graph: self.graph, id })
            .filter_map(|e| Some((e.as_symbol()?, e)))
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found.into_iter().map(|(_, e)| e).collect()
    }

    /// The number of operations: distinct nodes that are neither numbers nor symbols.
    #[must_use]
    pub fn operations(self) -> usize {
        operations(&[self])
    }

    /// The expression with parts replaced, all at once. Any node can be replaced, not only symbols.
    ///
    /// ```
    /// # let graph = leastaction_expr::Graph::new();
    /// let [x, y] = graph.symbols(["x", "y"]);
    /// assert_eq!((x - 2.0 * y).substitute(&[(x, y), (y, x)]), y - 2.0 * x);
    /// ```
    #[must_use]
    pub fn substitute(self, replacements: &[(Expr<'g>, Expr<'g>)]) -> Expr<'g> {
        substitute(&[self], replacements)[0]
    }

    /// The value where symbols have these values.
    ///
    /// This walks the graph and is meant for single values; compile the expression to evaluate it often.
    ///
    /// # Errors
    /// [`UnboundSymbol`] if the expression needs a symbol that is not given.
    ///
    /// ```
    /// # let graph = leastaction_expr::Graph::new();
    /// let [x, y] = graph.symbols(["x", "y"]);
    /// assert_eq!((x * y + 1.0).eval(&[(x, 2.0), (y, 3.0)]), Ok(7.0));
    /// assert_eq!((x * y).eval(&[(x, 2.0)]).unwrap_err().to_string(), "no value is given for `y`");
    /// ```
    pub fn eval(self, values: &[(Expr<'g>, f64)]) -> Result<f64, UnboundSymbol> {
        let given: FxHashMap<Id, f64> =
            values.iter().map(|&(symbol, value)| (self.graph.adopt(symbol).id, value)).collect();
        let mut store = self.graph.store();
        let mut known: FxHashMap<Id, f64> = FxHashMap::default();
        for id in store.order(&[self.id]) {
            let node = store.node(id);
            let value = match node {
                _ if given.contains_key(&id) => given[&id],
                Node::Number(bits) => f64::from_bits(bits),
                Node::Symbol(index) => return Err(UnboundSymbol { symbol: store.symbol(index) }),
                Node::Apply(op, _) => {
                    let mut arguments = [0.0; 3];
                    for (value, a) in arguments.iter_mut().zip(node.arguments()) {
                        *value = known[a];
                    }
                    (op.row().value)(&arguments[..op.row().arity])
                }
            };
            known.insert(id, value);
        }
        Ok(known[&self.id])
    }
}

/// A symbol that has no value where one is needed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no value is given for `{symbol}`")]
pub struct UnboundSymbol {
    /// The symbol without a value.
    pub symbol: Symbol,
}

/// The number of operations of several expressions together; what they share counts once.
#[must_use]
pub fn operations(expressions: &[Expr<'_>]) -> usize {
    let Some(first) = expressions.first() else { return 0 };
    let ids: Vec<Id> = expressions.iter().map(|&e| first.graph.adopt(e).id).collect();
    let mut store = first.graph.store();
    store.order(&ids).into_iter().filter(|&id| matches!(store.node(id), Node::Apply(..))).count()
}

/// Several expressions with parts replaced, as by [`Expr::substitute`], in one pass over what they share.
#[must_use]
pub fn substitute<'g>(expressions: &[Expr<'g>], replacements: &[(Expr<'g>, Expr<'g>)]) -> Vec<Expr<'g>> {
    let Some(graph) = expressions.first().map(|e| e.graph) else { return Vec::new() };
    let mut substitution = Substitution::new(graph);
    replacements.iter().for_each(|&(from, to)| substitution.replace(from, to));
    substitution.apply(expressions)
}

/// Replacements for many expressions one after the other: each costs what it is made of, however many replacements there are.
#[derive(Clone, Debug)]
pub struct Substitution<'g> {
    graph: &'g Graph,
    images: FxHashMap<Id, Expr<'g>>,
}

impl<'g> Substitution<'g> {
    /// No replacement yet.
    #[must_use]
    pub fn new(graph: &'g Graph) -> Substitution<'g> {
        Substitution { graph, images: FxHashMap::default() }
    }

    /// Adds a replacement; a later one for the same node counts.
    pub fn replace(&mut self, from: Expr<'g>, to: Expr<'g>) {
        self.images.insert(self.graph.adopt(from).id, self.graph.adopt(to));
    }

    /// Expressions with parts replaced, all at once, in one pass over what they share.
    #[must_use]
    pub fn apply(&self, expressions: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let graph = self.graph;
        let roots: Vec<Id> = expressions.iter().map(|&e| graph.adopt(e).id).collect();
        // What is not replaced and whose arguments stay is its own image.
        let mut images: FxHashMap<Id, Expr<'g>> = FxHashMap::default();
        let image = |images: &FxHashMap<Id, Expr<'g>>, id: &Id| {
            let changed = self.images.get(id).or_else(|| images.get(id));
            changed.copied().unwrap_or(Expr { graph, id: *id })
        };
        for (id, node) in graph.order(&roots) {
            let changed = node.arguments().iter().any(|a| image(&images, a).id != *a);
            if let Node::Apply(op, _) = node
                && changed
                && !self.images.contains_key(&id)
            {
                let arguments: Vec<Expr<'g>> = node.arguments().iter().map(|a| image(&images, a)).collect();
                images.insert(id, graph.apply(op, &arguments));
            }
        }
        roots.iter().map(|id| image(&images, id)).collect()
    }
}

impl PartialEq for Expr<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.graph, other.graph) && self.id == other.id
    }
}

impl Eq for Expr<'_> {}

impl std::hash::Hash for Expr<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl fmt::Debug for Expr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expr({self})")
    }
}

impl<'g> Neg for Expr<'g> {
    type Output = Expr<'g>;
    fn neg(self) -> Expr<'g> {
        self.graph.apply(Op::Neg, &[self])
    }
}

macro_rules! arithmetic {
    ($($trait:ident $method:ident $assign:ident $assign_method:ident)*) => {$(
        impl<'g, T: IntoExpr<'g>> $trait<T> for Expr<'g> {
            type Output = Expr<'g>;
            fn $method(self, other: T) -> Expr<'g> {
                self.join(Op::$trait, other)
            }
        }
        impl<'g> $trait<Expr<'g>> for f64 {
            type Output = Expr<'g>;
            fn $method(self, other: Expr<'g>) -> Expr<'g> {
                other.like(self).join(Op::$trait, other)
            }
        }
        impl<'g> $trait<Expr<'g>> for i32 {
            type Output = Expr<'g>;
            fn $method(self, other: Expr<'g>) -> Expr<'g> {
                other.like(self.into()).join(Op::$trait, other)
            }
        }
        impl<'g, T: IntoExpr<'g>> $assign<T> for Expr<'g> {
            fn $assign_method(&mut self, other: T) {
                *self = self.join(Op::$trait, other);
            }
        }
    )*};
}

arithmetic! {
    Add add AddAssign add_assign
    Sub sub SubAssign sub_assign
    Mul mul MulAssign mul_assign
    Div div DivAssign div_assign
}

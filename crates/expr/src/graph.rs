//! The graph: an arena of nodes in which equal expressions are one node.
//!
//! A node's arguments always stand before it in the arena, so ascending ids are a topological order. Every
//! algorithm of this crate is a loop over ids; none recurses, however deep an expression is.

use crate::Expr;
use crate::fold;
use crate::op::Op;
use crate::symbols::{Symbol, Symbols};
use rustc_hash::FxHashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The place of a node in its [`Graph`]: what to keep where a borrowed [`Expr`] cannot be kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Id(pub(crate) u32);

impl Id {
    /// The position in the arena.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// A number, by its bits, so that 0 and −0 differ and NaN equals itself.
    Number(u64),
    /// A symbol, by its index.
    Symbol(u32),
    /// An operator and its arguments; entries beyond the arity repeat the first.
    Apply(Op, [Id; 3]),
}

impl Node {
    /// The arguments of an operator; none for a number or a symbol.
    #[must_use]
    pub fn arguments(&self) -> &[Id] {
        match self {
            Node::Apply(op, arguments) => &arguments[..op.row().arity],
            _ => &[],
        }
    }
}

/// The arena behind a [`Graph`].
#[derive(Default, Clone)]
pub(crate) struct Store {
    nodes: Vec<Node>,
    ids: FxHashMap<Node, Id>,
    pub(crate) symbols: Symbols,
    /// Which nodes a walk has seen; all false between walks, so that a walk costs what it visits and not the whole arena.
    seen: Vec<bool>,
}

impl Store {
    pub(crate) fn node(&self, id: Id) -> Node {
        self.nodes[id.index()]
    }

    pub(crate) fn symbol(&self, index: u32) -> Symbol {
        self.symbols.get(index)
    }

    pub(crate) fn number(&self, id: Id) -> Option<f64> {
        match self.node(id) {
            Node::Number(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// The arguments, if the node applies this operator.
    pub(crate) fn applied(&self, id: Id, op: Op) -> Option<[Id; 3]> {
        match self.node(id) {
            Node::Apply(found, arguments) if found == op => Some(arguments),
            _ => None,
        }
    }

    pub(crate) fn intern(&mut self, node: Node) -> Id {
        let next = Id(u32::try_from(self.nodes.len()).expect("a graph holds fewer than 2^32 nodes"));
        let id = *self.ids.entry(node).or_insert(next);
        if id == next {
            self.nodes.push(node);
        }
        id
    }

    /// Puts symbols of these indices, which are new, at the end.
    pub(crate) fn push_symbols(&mut self, indices: Range<u32>) {
        self.nodes.extend(indices.map(Node::Symbol));
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes that the roots need, ascending: arguments before what uses them.
    pub(crate) fn order(&mut self, roots: &[Id]) -> Vec<Id> {
        let Store { nodes, seen, .. } = self;
        seen.resize(nodes.len(), false);
        let mut stack: Vec<Id> = roots.to_vec();
        let mut found = Vec::new();
        while let Some(id) = stack.pop() {
            if !std::mem::replace(&mut seen[id.index()], true) {
                found.push(id);
                stack.extend_from_slice(nodes[id.index()].arguments());
            }
        }
        found.iter().for_each(|id| seen[id.index()] = false);
        found.sort_unstable();
        found
    }

    /// The same, with what they are.
    fn walk(&mut self, roots: &[Id]) -> Vec<(Id, Node)> {
        self.order(roots).into_iter().map(|id| (id, self.node(id))).collect()
    }

    /// The nodes that the roots need, and the symbols among them.
    fn part(&mut self, roots: &[Id]) -> (Vec<(Id, Node)>, FxHashMap<u32, Symbol>) {
        let nodes = self.walk(roots);
        let symbol = |&(_, node): &(Id, Node)| match node {
            Node::Symbol(index) => Some((index, self.symbol(index))),
            _ => None,
        };
        let symbols = nodes.iter().filter_map(symbol).collect();
        (nodes, symbols)
    }
}

/// A graph of expressions.
///
/// It owns the nodes; an [`Expr`] is a borrowed, copyable handle on one of them. A graph is a plain value: there
/// is no global state, threads can share it, and it frees everything at once when dropped. To keep an
/// expression beside its graph (in a struct, or behind a reference count in another language), keep its
/// [`Id`] and ask [`Graph::at`] for the handle; for what is made of many, there is [`Owned`](crate::Owned).
///
/// ```
/// use leastaction_expr::Graph;
/// let graph = Graph::new();
/// let [m, v] = graph.symbols(["m", "v"]);
/// let energy = 0.5 * m * v * v;
/// assert_eq!(energy.to_string(), "0.5*m*v^2");
/// assert_eq!(energy.derivative(v).to_string(), "m*v");
/// ```
#[derive(Default)]
pub struct Graph {
    /// Each operation locks it once, and none while it is locked.
    store: Mutex<Store>,
}

impl Clone for Graph {
    fn clone(&self) -> Graph {
        Graph { store: Mutex::new(self.store().clone()) }
    }
}

impl Graph {
    /// An empty graph.
    #[must_use]
    pub fn new() -> Graph {
        Graph::default()
    }

    /// The symbol of this name; the same name gives the same symbol. Primes at its end mean time
    /// derivatives, 255 at most.
    pub fn symbol(&self, name: &str) -> Expr<'_> {
        let base = name.trim_end_matches('\'');
        let dots = (name.len() - base.len()).min(u8::MAX.into()) as u8;
        self.symbol_dots(base, dots)
    }

    /// The symbols of these names.
    pub fn symbols<const N: usize>(&self, names: [&str; N]) -> [Expr<'_>; N] {
        names.map(|name| self.symbol(name))
    }

    pub(crate) fn symbol_dots(&self, name: &str, dots: u8) -> Expr<'_> {
        Expr { graph: self, id: self.store().intern_symbol(Symbol { name: name.into(), dots }) }
    }

    /// A number.
    ///
    /// A number that is not finite is kept as it is; compiling or printing it is then an error.
    pub fn number(&self, value: f64) -> Expr<'_> {
        Expr { graph: self, id: self.store().intern(Node::Number(value.to_bits())) }
    }

    /// The handle on a node of this graph.
    ///
    /// # Panics
    /// If the id is of another, larger graph.
    pub fn at(&self, id: Id) -> Expr<'_> {
        assert!(id.index() < self.len(), "node {} is not of this graph of {} nodes", id.0, self.len());
        Expr { graph: self, id }
    }

    /// The number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.store().nodes.len()
    }

    /// Whether there is no node yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a node is.
    #[must_use]
    pub fn node(&self, id: Id) -> Node {
        self.store().node(id)
    }

    /// The symbol of an index in [`Node::Symbol`].
    #[must_use]
    pub fn symbol_at(&self, index: u32) -> Symbol {
        self.store().symbol(index)
    }

    /// The nodes that the roots need, arguments before what uses them.
    #[must_use]
    pub fn order(&self, roots: &[Id]) -> Vec<(Id, Node)> {
        self.store().walk(roots)
    }

    /// An operator applied to arguments, folded where that is local (see the crate's front page).
    ///
    /// # Panics
    /// If the number of arguments is not the operator's.
    pub fn apply<'g>(&'g self, op: Op, arguments: &[Expr<'g>]) -> Expr<'g> {
        assert_eq!(arguments.len(), op.row().arity, "`{}` takes {} arguments", op.row().name, op.row().arity);
        let first = self.adopt(arguments[0]).id;
        let mut ids = [first; 3];
        for (id, argument) in ids.iter_mut().zip(arguments).skip(1) {
            *id = self.adopt(*argument).id;
        }
        let id = fold::apply(&mut self.store(), op, ids);
        Expr { graph: self, id }
    }

    /// The sum of many terms; 0 for none.
    ///
    /// Runs of eight are added in order and their sums pairwise, so that rounding errors grow with the
    /// logarithm of the number of terms.
    pub fn sum<'g>(&'g self, terms: impl IntoIterator<Item = Expr<'g>>) -> Expr<'g> {
        self.reduce(Op::Add, 0.0, terms)
    }

    /// The product of many factors; 1 for none.
    pub fn product<'g>(&'g self, factors: impl IntoIterator<Item = Expr<'g>>) -> Expr<'g> {
        self.reduce(Op::Mul, 1.0, factors)
    }

    fn reduce<'g>(&'g self, op: Op, empty: f64, items: impl IntoIterator<Item = Expr<'g>>) -> Expr<'g> {
        const RUN: usize = 8;
        let items: Vec<Expr<'g>> = items.into_iter().collect();
        let join = |a: Expr<'g>, b: Expr<'g>| self.apply(op, &[a, b]);
        let mut level: Vec<Expr<'g>> =
            items.chunks(RUN).filter_map(|run| run.iter().copied().reduce(join)).collect();
        while level.len() > 1 {
            level = level.chunks(2).filter_map(|pair| pair.iter().copied().reduce(join)).collect();
        }
        level.first().map_or_else(|| self.number(empty), |&e| self.adopt(e))
    }

    /// The same expression in this graph: itself, or a copy if it belongs to another graph.
    pub fn adopt<'g>(&'g self, expr: Expr<'_>) -> Expr<'g> {
        if std::ptr::eq(self, expr.graph) {
            return Expr { graph: self, id: expr.id };
        }
        // What is copied is taken out first: two threads that copy from each other's graphs must not wait for each other.
        let (nodes, symbols) = expr.graph.store().part(&[expr.id]);
        let mut copies: FxHashMap<Id, Id> = FxHashMap::default();
        let mut store = self.store();
        for (id, node) in nodes {
            let copy = match node {
                Node::Symbol(index) => store.intern_symbol(symbols[&index].clone()),
                Node::Apply(op, arguments) => fold::apply(&mut store, op, arguments.map(|a| copies[&a])),
                number @ Node::Number(_) => store.intern(number),
            };
            copies.insert(id, copy);
        }
        Expr { graph: self, id: copies[&expr.id] }
    }

    /// The arena. Nothing else of the graph may be asked for before it is let go.
    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        // What panics while it writes has written whole nodes or none.
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = self.store();
        write!(f, "Graph({} nodes, {} symbols)", store.nodes.len(), store.symbols.len())
    }
}

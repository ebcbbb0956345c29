//! Differentiation, graph to graph: the result is an expression like any other, so higher derivatives are
//! derivatives of derivatives.
//!
//! - Forward ([`jvp`]): one sweep gives the derivative of every output along one direction.
//! - Reverse ([`vjp`], [`Expr::gradient`]): one sweep gives the derivative of one output by every variable, at a
//!   small multiple of the function's cost (the "cheap gradient" of Baur and Strassen, and of Griewank and
//!   Walther, *Evaluating Derivatives*, SIAM 2008, ch. 4).
//!
//! Both visit only nodes that depend on a variable. A variable may be any node; it then counts as independent.

use crate::Expr;
use crate::graph::{Graph, Id, Node};
use rustc_hash::{FxHashMap, FxHashSet};

/// A nonzero of a sparse matrix of expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'g> {
    /// The row: the output, or for a Hessian the first variable.
    pub row: usize,
    /// The column: the variable.
    pub column: usize,
    /// The expression there.
    pub value: Expr<'g>,
}

crate::rebind!(Entry { value; row, column });

impl<'g> Expr<'g> {
    /// The derivative by one variable.
    ///
    /// ```
    /// # let graph = leastaction_expr::Graph::new();
    /// let x = graph.symbol("x");
    /// let third = x.sin().derivative(x).derivative(x).derivative(x);
    /// assert_eq!(third, -x.cos());
    /// ```
    #[must_use]
    pub fn derivative(self, variable: Expr<'g>) -> Expr<'g> {
        jvp(&[self], &[(variable, variable.like(1.0))])[0]
    }

    /// The derivatives by all variables, in one reverse sweep.
    #[must_use]
    pub fn gradient(self, variables: &[Expr<'g>]) -> Vec<Expr<'g>> {
        vjp(&[self], variables, &[self.like(1.0)])
    }

    /// The lower triangle of the Hessian, without its structural zeros, by rows.
    ///
    /// ```
    /// # let graph = leastaction_expr::Graph::new();
    /// let [x, y] = graph.symbols(["x", "y"]);
    /// let hessian = (x * x * y).hessian(&[x, y]);
    /// assert_eq!(hessian.len(), 2); // ∂²/∂y² is structurally zero
    /// assert_eq!((hessian[0].row, hessian[0].column, hessian[0].value), (0, 0, 2.0 * y));
    /// assert_eq!((hessian[1].row, hessian[1].column, hessian[1].value), (1, 0, 2.0 * x));
    /// ```
    #[must_use]
    pub fn hessian(self, variables: &[Expr<'g>]) -> Vec<Entry<'g>> {
        let gradient = self.gradient(variables);
        Variables::new(self.graph, variables).forward(&gradient, |row, column| column <= row)
    }

    /// The product of the Hessian with a direction: forward over reverse, at a small multiple of the function's
    /// cost whatever the number of variables. Entries of `direction` beyond the variables are not read; missing ones count as 0.
    #[must_use]
    pub fn hessian_vector(self, variables: &[Expr<'g>], direction: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let along: Vec<_> = variables.iter().copied().zip(direction.iter().copied()).collect();
        jvp(&self.gradient(variables), &along)
    }
}

/// The derivatives of the outputs along a direction, given as pairs of a variable and its rate of change. Variables that are
/// not named stay as they are; the rates of one that is named twice add up.
///
/// ```
/// # use leastaction_expr::jvp;
/// # let graph = leastaction_expr::Graph::new();
/// // The velocity of a point on a circle from its position.
/// let q = graph.symbol("q");
/// let velocity = jvp(&[q.cos(), q.sin()], &[(q, q.dot().unwrap())]);
/// assert_eq!(velocity[1].to_string(), "q'*cos(q)");
/// ```
#[must_use]
pub fn jvp<'g>(outputs: &[Expr<'g>], direction: &[(Expr<'g>, Expr<'g>)]) -> Vec<Expr<'g>> {
    let Some(graph) = outputs.first().map(|e| e.graph) else { return Vec::new() };
    Direction::new(graph, direction.iter().copied()).derivatives(outputs)
}

/// A direction to differentiate along, for many outputs one after the other: each costs what it depends on, however many variables
/// the direction has.
#[derive(Clone, Debug)]
pub struct Direction<'g> {
    graph: &'g Graph,
    rates: FxHashMap<Id, Expr<'g>>,
}

impl<'g> Direction<'g> {
    /// The direction of pairs of a variable and its rate of change, as for [`jvp`].
    pub fn new(graph: &'g Graph, pairs: impl IntoIterator<Item = (Expr<'g>, Expr<'g>)>) -> Direction<'g> {
        let mut rates: FxHashMap<Id, Expr<'g>> = FxHashMap::default();
        for (x, dx) in pairs {
            let dx = graph.adopt(dx);
            rates.entry(graph.adopt(x).id).and_modify(|sum| *sum += dx).or_insert(dx);
        }
        Direction { graph, rates }
    }

    /// The derivatives of outputs along this direction, in one forward sweep.
    #[must_use]
    pub fn derivatives(&self, outputs: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let Direction { graph, rates } = self;
        let mut tangents: FxHashMap<Id, Expr<'g>> = FxHashMap::default();
        let outputs: Vec<Id> = outputs.iter().map(|&e| graph.adopt(e).id).collect();
        let tangent =
            |tangents: &FxHashMap<Id, Expr<'g>>, id: &Id| rates.get(id).or_else(|| tangents.get(id)).copied();
        for (id, node) in graph.order(&outputs) {
            if rates.contains_key(&id) || !node.arguments().iter().any(|a| tangent(&tangents, a).is_some()) {
                continue;
            }
            let site = Site::new(graph, id, node);
            let terms = node.arguments().iter().enumerate();
            let terms = terms.filter_map(|(i, a)| Some(tangent(&tangents, a)? * site.partial(i)));
            let sum = terms.reduce(|a, b| a + b);
            tangents.extend(sum.map(|t| (id, t)));
        }
        let zero = graph.number(0.0);
        outputs.iter().map(|id| tangent(&tangents, id).unwrap_or(zero)).collect()
    }
}

/// The derivatives by all variables of Σ seedᵢ · outputᵢ, in one reverse sweep. The sum ends with the shorter of the two lists.
#[must_use]
pub fn vjp<'g>(outputs: &[Expr<'g>], variables: &[Expr<'g>], seeds: &[Expr<'g>]) -> Vec<Expr<'g>> {
    let Some(graph) = outputs.first().or(variables.first()).map(|e| e.graph) else { return Vec::new() };
    let variables: Vec<Id> = variables.iter().map(|&e| graph.adopt(e).id).collect();
    let independent: FxHashSet<Id> = variables.iter().copied().collect();
    let adjoints = adjoints(graph, outputs, seeds, |id| independent.contains(&id));
    let zero = graph.number(0.0);
    variables.iter().map(|id| adjoints.get(id).copied().unwrap_or(zero)).collect()
}

/// The reverse sweep: the derivatives of Σ seedᵢ · outputᵢ by the nodes that count as variables.
fn adjoints<'g>(
    graph: &'g Graph,
    outputs: &[Expr<'g>],
    seeds: &[Expr<'g>],
    is_variable: impl Fn(Id) -> bool,
) -> FxHashMap<Id, Expr<'g>> {
    let outputs: Vec<Id> = outputs.iter().map(|&e| graph.adopt(e).id).collect();
    let order = graph.order(&outputs);
    let mut active: FxHashSet<Id> = FxHashSet::default();
    for &(id, node) in &order {
        if is_variable(id) || node.arguments().iter().any(|a| active.contains(a)) {
            active.insert(id);
        }
    }

    let mut adjoints: FxHashMap<Id, Expr<'g>> = FxHashMap::default();
    let accumulate = |adjoints: &mut FxHashMap<Id, Expr<'g>>, id: Id, term: Expr<'g>| {
        adjoints.entry(id).and_modify(|sum| *sum += term).or_insert(term);
    };
    for (&id, &seed) in outputs.iter().zip(seeds) {
        accumulate(&mut adjoints, id, graph.adopt(seed));
    }
    for &(id, node) in order.iter().rev() {
        if is_variable(id) {
            continue;
        }
        let Some(adjoint) = adjoints.remove(&id).filter(|_| active.contains(&id)) else { continue };
        let site = Site::new(graph, id, node);
        for (i, &a) in node.arguments().iter().enumerate() {
            if active.contains(&a) {
                accumulate(&mut adjoints, a, adjoint * site.partial(i));
            }
        }
    }
    adjoints
}

/// The Jacobian without its structural zeros, by rows: a reverse sweep for each of a few outputs, else one forward sweep.
#[must_use]
pub fn jacobian<'g>(outputs: &[Expr<'g>], variables: &[Expr<'g>]) -> Vec<Entry<'g>> {
    let Some(graph) = outputs.first().map(|e| e.graph) else { return Vec::new() };
    Variables::new(graph, variables).jacobian(outputs)
}

/// Variables to differentiate by, for many outputs one after the other: each costs what it depends on, however many variables
/// there are.
#[derive(Clone, Debug)]
pub struct Variables<'g> {
    graph: &'g Graph,
    count: usize,
    /// The columns of each variable: one, unless it is named twice.
    columns: FxHashMap<Id, Vec<usize>>,
}

impl<'g> Variables<'g> {
    /// These variables, in the order of their columns.
    #[must_use]
    pub fn new(graph: &'g Graph, variables: &[Expr<'g>]) -> Variables<'g> {
        let mut columns: FxHashMap<Id, Vec<usize>> = FxHashMap::default();
        for (column, &x) in variables.iter().enumerate() {
            columns.entry(graph.adopt(x).id).or_default().push(column);
        }
        Variables { graph, count: variables.len(), columns }
    }

    /// The nonzeros of an output's gradient with their columns, in one reverse sweep.
    #[must_use]
    pub fn gradient(&self, output: Expr<'g>) -> Vec<(usize, Expr<'g>)> {
        let seed = self.graph.number(1.0);
        let adjoints = adjoints(self.graph, &[output], &[seed], |id| self.columns.contains_key(&id));
        let nonzero = adjoints.into_iter().filter(|(_, value)| value.as_number() != Some(0.0));
        let placed =
            nonzero.flat_map(|(id, value)| self.columns[&id].iter().map(move |&column| (column, value)));
        let mut gradient: Vec<_> = placed.collect();
        gradient.sort_unstable_by_key(|&(column, _)| column);
        gradient
    }

    /// The Jacobian of outputs, as [`jacobian`] gives it.
    #[must_use]
    pub fn jacobian(&self, outputs: &[Expr<'g>]) -> Vec<Entry<'g>> {
        /// A reverse sweep visits all it depends on, so that many of them are dear even where the matrix is sparse.
        const FEW: usize = 8;
        if outputs.len() > FEW || outputs.len() >= self.count {
            return self.forward(outputs, |_, _| true);
        }
        let rows = outputs.iter().enumerate().flat_map(|(row, &output)| {
            self.gradient(output).into_iter().map(move |(column, value)| Entry { row, column, value })
        });
        rows.collect()
    }

    /// Forward sweep with one sparse row of derivatives per node, so that a node costs as many terms as
    /// variables it depends on.
    fn forward(&self, outputs: &[Expr<'g>], keep: impl Fn(usize, usize) -> bool) -> Vec<Entry<'g>> {
        type Row<'g> = Vec<(usize, Expr<'g>)>;
        let graph = self.graph;
        let outputs: Vec<Id> = outputs.iter().map(|&e| graph.adopt(e).id).collect();
        let one = graph.number(1.0);
        let mut rows: FxHashMap<Id, Row<'g>> = FxHashMap::default();
        for (id, node) in graph.order(&outputs) {
            if let Some(columns) = self.columns.get(&id) {
                rows.insert(id, columns.iter().map(|&column| (column, one)).collect());
                continue;
            }
            if !node.arguments().iter().any(|a| rows.contains_key(a)) {
                continue;
            }
            let site = Site::new(graph, id, node);
            let mut row: Row<'g> = Vec::new();
            for (i, a) in node.arguments().iter().enumerate() {
                let Some(inner) = rows.get(a) else { continue };
                let partial = site.partial(i);
                row = merge(row, inner.iter().map(|&(column, d)| (column, d * partial)));
            }
            rows.insert(id, row);
        }
        let mut entries = Vec::new();
        for (row, id) in outputs.iter().enumerate() {
            let found = rows.get(id).map_or(&[][..], Vec::as_slice).iter();
            let nonzero = found.filter(|(column, d)| keep(row, *column) && d.as_number() != Some(0.0));
            entries.extend(nonzero.map(|&(column, value)| Entry { row, column, value }));
        }
        entries
    }
}

/// Adds two sparse rows that are sorted by column.
fn merge<'g>(
    left: Vec<(usize, Expr<'g>)>,
    right: impl Iterator<Item = (usize, Expr<'g>)>,
) -> Vec<(usize, Expr<'g>)> {
    let mut merged = Vec::with_capacity(left.len());
    let mut left = left.into_iter().peekable();
    for (column, d) in right {
        merged.extend(std::iter::from_fn(|| left.next_if(|l| l.0 < column)));
        match left.next_if(|l| l.0 == column) {
            Some((_, e)) => merged.push((column, e + d)),
            None => merged.push((column, d)),
        }
    }
    merged.extend(left);
    merged
}

/// An applied operator seen by the chain rule.
struct Site<'g> {
    node: Node,
    arguments: [Expr<'g>; 3],
    result: Expr<'g>,
}

impl<'g> Site<'g> {
    fn new(graph: &'g Graph, id: Id, node: Node) -> Site<'g> {
        let result = Expr { graph, id };
        let mut arguments = [result; 3];
        for (argument, &id) in arguments.iter_mut().zip(node.arguments()) {
            argument.id = id;
        }
        Site { node, arguments, result }
    }

    fn partial(&self, index: usize) -> Expr<'g> {
        match self.node {
            Node::Apply(op, _) => {
                let row = op.row();
                (row.partial)(&self.arguments[..row.arity], self.result, index)
            }
            _ => self.result.like(0.0),
        }
    }
}

//! One element: symbols for the places of its nodes, and for what it has of its own.

use super::FieldError;
use super::vector::ExprVector;
use crate::mesh::Vector;
use leastaction_expr::{Expr, Graph};
use leastaction_mechanics::Implicit;

/// A node of an element.
#[derive(Clone, Copy, Debug)]
pub struct Point<'g> {
    /// Where it is.
    pub at: ExprVector<'g>,
    /// Where it is at rest.
    pub rest: ExprVector<'g>,
}

/// One element, in symbols: the places of its nodes now and at rest, and numbers that belong to its nodes or to itself.
#[derive(Clone, Debug)]
pub struct Element<'g> {
    graph: &'g Graph,
    points: Vec<Point<'g>>,
    node_values: Vec<Own<'g>>,
    element_values: Vec<Own<'g>>,
    pub(super) implicit: Vec<Implicit<'g>>,
}

/// Numbers that belong to nodes or elements: a symbol for each node of an element, or one, and the numbers.
#[derive(Clone, Debug)]
pub(super) struct Own<'g> {
    name: String,
    pub(super) symbols: Vec<Expr<'g>>,
    pub(super) values: Vec<f64>,
}

impl Own<'_> {
    /// Checks that there are as many numbers as nodes or elements, and that they are finite.
    fn check(&self, expected: usize, of: &'static str) -> Result<(), FieldError> {
        let (parameter, found) = (self.name.clone(), self.values.len());
        if found != expected {
            return Err(FieldError::Count { parameter, found, expected, of });
        }
        match self.values.iter().position(|value| !value.is_finite()) {
            Some(index) => Err(FieldError::NotFinite { parameter, index }),
            None => Ok(()),
        }
    }
}

/// What does not move: symbols, and for each element a value for each of them.
pub(super) struct Table<'g> {
    pub(super) symbols: Vec<Expr<'g>>,
    pub(super) values: Vec<f64>,
    pub(super) elements: usize,
}

impl<'g> Element<'g> {
    pub(super) fn new(graph: &'g Graph, arity: usize) -> Element<'g> {
        let vector = |what: &str, node: usize| {
            ["x", "y", "z"].map(|axis| graph.symbol(&format!("element_{what}{node}_{axis}")))
        };
        let points =
            (0..arity).map(|node| Point { at: vector("at", node), rest: vector("rest", node) }).collect();
        let (node_values, element_values, implicit) = Default::default();
        Element { graph, points, node_values, element_values, implicit }
    }

    /// The graph of its expressions.
    #[must_use]
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// A number as an expression.
    #[must_use]
    pub fn number(&self, value: f64) -> Expr<'g> {
        self.graph.number(value)
    }

    /// How many nodes it has.
    #[must_use]
    pub fn arity(&self) -> usize {
        self.points.len()
    }

    /// Where a node is.
    ///
    /// # Panics
    /// If the element has fewer nodes.
    #[must_use]
    pub fn at(&self, node: usize) -> ExprVector<'g> {
        self.points[node].at
    }

    /// Where a node is at rest.
    ///
    /// # Panics
    /// If the element has fewer nodes.
    #[must_use]
    pub fn rest(&self, node: usize) -> ExprVector<'g> {
        self.points[node].rest
    }

    /// Numbers of the nodes of the mesh, such as their masses: the symbols that stand for those of this element's nodes.
    pub fn node_values(&mut self, name: &str, values: Vec<f64>) -> Vec<Expr<'g>> {
        let symbol = |node: usize| self.graph.symbol(&format!("element_{name}{node}"));
        let symbols: Vec<_> = (0..self.arity()).map(symbol).collect();
        self.node_values.push(Own { name: name.to_owned(), symbols: symbols.clone(), values });
        symbols
    }

    /// A number of each element: the symbol that stands for this one's.
    pub fn element_values(&mut self, name: &str, values: Vec<f64>) -> Expr<'g> {
        let symbol = self.graph.symbol(&format!("element_{name}"));
        self.element_values.push(Own { name: name.to_owned(), symbols: vec![symbol], values });
        symbol
    }

    /// A number that is given by an equation: of the symbol that stands for it, `equation` makes what is zero; `solution` is its value.
    /// Forces follow from the equation ([`Implicit`]).
    pub fn implicit(
        &mut self,
        name: &str,
        solution: Expr<'g>,
        equation: impl FnOnce(Expr<'g>) -> Expr<'g>,
    ) -> Expr<'g> {
        let symbol = self.graph.symbol(&format!("element_{name}"));
        self.implicit.push(Implicit { symbol, equation: equation(symbol), solution });
        symbol
    }

    /// Whether a symbol stands for something that each element has its own of: a number, or where its nodes are at rest.
    pub(super) fn is_of_element(&self, symbol: Expr<'g>) -> bool {
        let rest = self.points.iter().flat_map(|point| point.rest);
        rest.chain(self.element_values.iter().flat_map(|own| own.symbols.iter().copied()))
            .any(|own| own == symbol)
    }

    /// Numbers of nodes, of which there are so many: the symbols for those of an element's nodes, and all of them.
    pub(super) fn values_of_nodes(&self, nodes: usize) -> Result<&[Own<'g>], FieldError> {
        self.node_values.iter().try_for_each(|own| own.check(nodes, "nodes"))?;
        Ok(&self.node_values)
    }

    /// The symbols of the coordinates of its nodes.
    pub(super) fn slots(&self) -> Vec<Expr<'g>> {
        self.points.iter().flat_map(|point| point.at).collect()
    }

    /// What does not move of many elements, by the nodes of each.
    pub(super) fn table(&self, nodes: &[u32], rest: &[Vector]) -> Result<Table<'g>, FieldError> {
        let (arity, elements) = (self.arity(), nodes.len() / self.arity());
        self.node_values.iter().try_for_each(|own| own.check(rest.len(), "nodes"))?;
        self.element_values.iter().try_for_each(|own| own.check(elements, "elements"))?;
        let own =
            self.node_values.iter().chain(&self.element_values).flat_map(|own| own.symbols.iter().copied());
        let symbols: Vec<_> = self.points.iter().flat_map(|point| point.rest).chain(own).collect();
        let mut values = Vec::with_capacity(elements * symbols.len());
        for (nodes, element) in nodes.chunks_exact(arity).zip(0..) {
            values.extend(nodes.iter().flat_map(|&node| rest[node as usize]));
            for own in &self.node_values {
                values.extend(nodes.iter().map(|&node| own.values[node as usize]));
            }
            values.extend(self.element_values.iter().map(|own| own.values[element]));
        }
        Ok(Table { symbols, values, elements })
    }
}

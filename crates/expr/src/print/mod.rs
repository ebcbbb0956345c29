//! Writing expressions: text that parses back, LaTeX, and functions in C and Rust.
//!
//! All of them see the part of the graph they need as a [`Dag`], decide which nodes get a name of their own
//! (shared ones, and those nested too deep), and write one definition per name. So the length of what is
//! written is linear in the number of nodes, however often parts are shared.

mod code;
mod greek;
mod language;
mod latex;
mod script;
mod symbol_latex;
mod text;

pub use code::{PrintError, c_function, rust_function};
pub use script::{julia_function, python_function};

use crate::graph::{Graph, Id, Node};
use crate::symbols::Symbol;

/// The part of a graph that some roots need. Nodes are numbered again, arguments before what uses them.
struct Dag {
    nodes: Vec<Node>,
    symbols: Vec<Symbol>,
    roots: Vec<Id>,
}

impl Dag {
    fn new(graph: &Graph, roots: &[Id]) -> Dag {
        let mut store = graph.store();
        let order = store.order(roots);
        let renumbered = |id: Id| Id(order.partition_point(|&other| other < id) as u32);
        let mut symbols = Vec::new();
        let nodes = order.iter().map(|&id| match store.node(id) {
            Node::Symbol(index) => {
                symbols.push(store.symbol(index));
                Node::Symbol(symbols.len() as u32 - 1)
            }
            Node::Apply(op, arguments) => Node::Apply(op, arguments.map(renumbered)),
            number @ Node::Number(_) => number,
        });
        let nodes = nodes.collect();
        let roots = roots.iter().map(|&id| renumbered(id)).collect();
        Dag { nodes, symbols, roots }
    }

    fn ids(&self) -> impl Iterator<Item = Id> + use<> {
        (0..self.nodes.len() as u32).map(Id)
    }

    fn node(&self, id: Id) -> &Node {
        &self.nodes[id.index()]
    }

    fn number(&self, id: Id) -> Option<f64> {
        match *self.node(id) {
            Node::Number(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// How often each node is an argument or a root.
    fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0_u32; self.nodes.len()];
        let arguments = self.nodes.iter().flat_map(Node::arguments);
        for id in arguments.chain(&self.roots) {
            uses[id.index()] += 1;
        }
        uses
    }

    /// The shared nodes to name so that the text stays in proportion to the graph. None if, written
    /// as a tree, the expression is not much larger than it is.
    fn repeated(&self) -> Vec<bool> {
        /// Smaller parts are repeated: a name would not be shorter.
        const WORTH_A_NAME: usize = 8;
        let tree = self.sizes(&vec![false; self.nodes.len()]);
        let whole = self.roots.iter().map(|id| tree[id.index()]).fold(0, usize::saturating_add);
        let mut named = vec![false; self.nodes.len()];
        if whole <= 4 * self.nodes.len() + 64 {
            return named;
        }
        let uses = self.uses();
        let mut sizes: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for (node, name) in self.nodes.iter().zip(&mut named) {
            let size = size(node, &sizes);
            *name = uses[sizes.len()] > 1 && size >= WORTH_A_NAME;
            sizes.push(if *name { 1 } else { size });
        }
        named
    }

    /// The number of nodes of each node written as a tree, where named ones count as one.
    fn sizes(&self, named: &[bool]) -> Vec<usize> {
        let mut sizes = Vec::with_capacity(self.nodes.len());
        for (node, &named) in self.nodes.iter().zip(named) {
            sizes.push(if named { 1 } else { size(node, &sizes) });
        }
        sizes
    }
}

fn size(node: &Node, sizes: &[usize]) -> usize {
    node.arguments().iter().map(|id| sizes[id.index()]).fold(1, usize::saturating_add)
}

/// Numbers the named nodes from 1, leaving out names `prefix1`, `prefix2`, … that are taken.
fn number_names(named: &[bool], prefix: &str, taken: impl Fn(&str) -> bool) -> Vec<Option<u64>> {
    let mut numbers = (1_u64..).filter(|number| !taken(&format!("{prefix}{number}")));
    named.iter().map(|&named| if named { numbers.next() } else { None }).collect()
}

/// The parts of a template: a text, and the index of the argument that follows it, for `#1`, `#2`, `#3`.
fn pieces(template: &'static str) -> impl Iterator<Item = (&'static str, Option<usize>)> {
    let mut rest = template;
    std::iter::from_fn(move || {
        let (before, after) = rest.split_once('#').unwrap_or((rest, ""));
        let index = after.bytes().next().map(|digit| usize::from(digit.wrapping_sub(b'1')));
        rest = after.get(1..).unwrap_or("");
        (index.is_some() || !before.is_empty()).then_some((before, index))
    })
}

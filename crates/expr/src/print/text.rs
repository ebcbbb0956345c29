//! Expressions as text that parses back to the same node.
//!
//! Parentheses are left out where the grammar, or the folding as nodes are made, gives the node back without them.
//! Beyond precedence that is:
//!
//! - a + (b + c) as `b + c + a`, and the same for products: folding puts commuting arguments in order;
//! - −(a − b) as `b - a`, a − (b − c) as `c - b + a`, and so on down a sum, if the innermost difference is between two terms that are
//!   not numbers: folding moves the sign of such a difference outwards;
//! - 2ᵏ·(a·b) as `2^k*a*b` unless `a` is a number: powers of two move outwards;
//! - −(a·b) as `-a*b` unless `a` is a difference: signs move outwards.

use super::{Dag, number_names};
use crate::Expr;
use crate::fold::is_power_of_two;
use crate::graph::{Id, Node};
use crate::op::{Form, Op};
use crate::parse::needs_quotes;
use crate::symbols::Symbol;
use rustc_hash::FxHashSet;
use std::fmt;

/// Nesting beyond this is named: the closing parenthesis would be hard to find.
const MAX_DEPTH: u32 = 100;

// How tightly a written form binds, on the scale of the operator table.
const SUM: u8 = 2;
const PRODUCT: u8 = 3;
const PREFIX: u8 = 4;
const POWER: u8 = 5;
const ATOM: u8 = 7;

/// Text that parses back to the same node of the same graph, if all numbers are finite.
///
/// Where parts are shared so much that the text would be far longer than the graph, or nested very
/// deep, they are defined first.
///
/// ```
/// # let graph = leastaction_expr::Graph::new();
/// let [m, v] = graph.symbols(["m", "v"]);
/// let mut e = -(0.5 * m * v * v - 1e-9);
/// assert_eq!(e.to_string(), "1e-9 - 0.5*m*v^2");
/// for _ in 0..9 {
///     e = e.sin() + e.cos();
/// }
/// assert!(e.to_string().starts_with("let t1 = 1e-9 - 0.5*m*v^2;\n"));
/// assert_eq!(graph.parse(&e.to_string())?, e);
/// # Ok::<(), leastaction_expr::ParseError>(())
/// ```
impl fmt::Display for Expr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_symbol() {
            Some(alone) => symbol(f, &alone),
            None => Text::new(Dag::new(self.graph, &[self.id])).write(f),
        }
    }
}

/// A number in the shortest form that reads back as the same.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if size == std::f64::consts::PI {
        return if value < 0.0 { "-pi".into() } else { "pi".into() };
    }
    if size.is_nan() {
        "nan".into()
    } else if size == 0.0 || (1e-4..1e16).contains(&size) || size.is_infinite() {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

/// A symbol, in backquotes where its name would mean something else or nothing.
fn symbol(f: &mut fmt::Formatter<'_>, symbol: &Symbol) -> fmt::Result {
    if needs_quotes(&symbol.name) {
        write!(f, "`{}`", symbol.name.replace('`', "``"))?;
    } else {
        f.write_str(&symbol.name)?;
    }
    (0..symbol.dots).try_for_each(|_| f.write_str("'"))
}

/// A node to be written as an operand: in parentheses if it binds less than `minimum`.
#[derive(Clone, Copy)]
struct Operand {
    id: Id,
    /// Whether the opposite is to be written; only for sums that have it as a form.
    negated: bool,
    minimum: u8,
}

fn operand(id: Id, minimum: u8) -> Operand {
    Operand { id, negated: false, minimum }
}

fn negated(id: Id) -> Operand {
    Operand { id, negated: true, minimum: SUM }
}

/// How a node is written.
enum Layout<'a> {
    Leaf,
    Prefix(Operand),
    Infix(Operand, &'static str, Operand),
    Call(&'static str, &'a [Id]),
}

/// What is known of a node's written form when those that use it are laid out.
#[derive(Clone, Copy)]
struct Written {
    binding: u8,
    depth: u32,
    /// The depth of the opposite, if that has a form without a leading minus.
    opposite: Option<u32>,
    /// Whether a power of two may be written before it without parentheses.
    scalable: bool,
    /// Whether a minus may be written before it without parentheses.
    negatable: bool,
}

struct Text {
    dag: Dag,
    named: Vec<bool>,
    written: Vec<Written>,
}

impl Text {
    fn new(dag: Dag) -> Text {
        let named = dag.repeated();
        let written = Vec::with_capacity(named.len());
        let mut text = Text { dag, named, written };
        for id in text.dag.ids() {
            let written = text.examine(id);
            text.named[id.index()] |= written.depth > MAX_DEPTH;
            text.written.push(written);
        }
        for root in &text.dag.roots {
            text.named[root.index()] = false;
        }
        text
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let free: FxHashSet<&str> = self.dag.symbols.iter().map(|symbol| &*symbol.name).collect();
        let names = number_names(&self.named, "t", |name| free.contains(name));
        for id in self.dag.ids() {
            if let Some(name) = names[id.index()] {
                write!(f, "let t{name} = ")?;
                self.write_node(f, &names, id)?;
                f.write_str(";\n")?;
            }
        }
        self.dag.roots.iter().try_for_each(|&root| self.write_node(f, &names, root))
    }

    /// Writes one definition. What is still to be written waits on a stack, the next on top.
    fn write_node(&self, f: &mut fmt::Formatter<'_>, names: &[Option<u64>], root: Id) -> fmt::Result {
        enum Work {
            Word(&'static str),
            Operand(Operand),
        }
        let mut stack = vec![Work::Operand(operand(root, 0))];
        while let Some(work) = stack.pop() {
            let next = match work {
                Work::Word(word) => {
                    f.write_str(word)?;
                    continue;
                }
                Work::Operand(next) => next,
            };
            if let Some(name) = names[next.id.index()].filter(|_| next.id != root) {
                write!(f, "t{name}")?;
                continue;
            }
            if next.id != root && self.in_parentheses(next) {
                f.write_str("(")?;
                stack.push(Work::Word(")"));
            }
            let (layout, binding) = self.layout(next.id, next.negated);
            match layout {
                Layout::Leaf => match *self.dag.node(next.id) {
                    Node::Symbol(index) => symbol(f, &self.dag.symbols[index as usize])?,
                    Node::Number(bits) => f.write_str(&number(f64::from_bits(bits)))?,
                    Node::Apply(op, _) => unreachable!("{op:?} is no leaf"),
                },
                Layout::Prefix(inner) => {
                    f.write_str("-")?;
                    stack.push(Work::Operand(inner));
                }
                Layout::Infix(left, sign, right) => {
                    let space = if binding <= SUM { " " } else { "" };
                    stack.push(Work::Operand(right));
                    stack.extend([space, sign, space].map(Work::Word));
                    stack.push(Work::Operand(left));
                }
                Layout::Call(name, arguments) => {
                    f.write_str(name)?;
                    f.write_str("(")?;
                    stack.push(Work::Word(")"));
                    for (i, &argument) in arguments.iter().enumerate().rev() {
                        stack.push(Work::Operand(operand(argument, 0)));
                        stack.extend((i > 0).then_some(Work::Word(", ")));
                    }
                }
            }
        }
        Ok(())
    }

    /// The form of a node, or of its opposite, and how tightly it binds. Needs what is known of its arguments.
    fn layout(&self, id: Id, opposite: bool) -> (Layout<'_>, u8) {
        let node = self.dag.node(id);
        let Node::Apply(op, [a, b, _]) = *node else {
            let minus = self.dag.number(id).is_some_and(f64::is_sign_negative);
            return (Layout::Leaf, if minus { PREFIX } else { ATOM });
        };
        if opposite {
            return (self.opposite_sum(op, a, b), SUM);
        }
        match (op, op.row().form) {
            (Op::Neg, _) if self.opposite_depth(a).is_some() => self.layout(a, true),
            (Op::Neg, _) if self.is(a, PRODUCT) && self.written[a.index()].negatable => {
                (Layout::Prefix(operand(a, PRODUCT)), PRODUCT)
            }
            (Op::Sub, _) if self.prefer_opposite(b, a) && !self.is_negative(a) => {
                (Layout::Infix(negated(b), "+", operand(a, PRODUCT)), SUM)
            }
            (Op::Mul, _) if self.dag.number(a).is_some_and(is_power_of_two) => {
                let flat = self.is(b, PRODUCT) && self.written[b.index()].scalable;
                let minimum = if flat { PRODUCT } else { PREFIX };
                (Layout::Infix(operand(a, PRODUCT), "*", operand(b, minimum)), PRODUCT)
            }
            (Op::Add | Op::Mul, Form::Infix { symbol, binding, .. }) => {
                let (a, b) = self.spine_first(a, b, binding);
                (Layout::Infix(operand(a, binding), symbol, operand(b, binding + 1)), binding)
            }
            (_, Form::Infix { symbol, binding, right: true }) => {
                (Layout::Infix(operand(a, binding + 1), symbol, operand(b, PREFIX)), binding)
            }
            (_, Form::Infix { symbol, binding, .. }) => {
                // Comparisons do not chain.
                let left = binding.max(SUM);
                (Layout::Infix(operand(a, left), symbol, operand(b, binding + 1)), binding)
            }
            (_, Form::Prefix { binding, .. }) => (Layout::Prefix(operand(a, POWER)), binding),
            (_, Form::Call) => (Layout::Call(op.row().name, node.arguments()), ATOM),
        }
    }

    /// The form of −(a + b) or −(a − b).
    fn opposite_sum(&self, op: Op, a: Id, b: Id) -> Layout<'_> {
        if op == Op::Add {
            let (a, b) = if self.opposite_depth(a) >= self.opposite_depth(b) { (a, b) } else { (b, a) };
            Layout::Infix(negated(a), "-", operand(b, PRODUCT))
        } else if self.prefer_opposite(a, b) {
            Layout::Infix(negated(a), "+", operand(b, PRODUCT))
        } else {
            Layout::Infix(operand(b, SUM), "-", operand(a, PRODUCT))
        }
    }

    /// Whether `opposite(x) + rest` reads better than `rest - (x)`.
    fn prefer_opposite(&self, x: Id, rest: Id) -> bool {
        self.opposite_depth(x)
            .is_some_and(|depth| !self.is(rest, SUM) || depth > self.written[rest.index()].depth)
    }

    /// Puts first the argument that continues the chain of sums or products; of two, the one nested deeper.
    /// If neither does, a symbol comes before other factors.
    fn spine_first(&self, a: Id, b: Id, binding: u8) -> (Id, Id) {
        let is_symbol = |id: Id| matches!(self.dag.node(id), Node::Symbol(_));
        let depth = |id: Id| self.is(id, binding).then(|| self.written[id.index()].depth);
        let rank = |id: Id| (depth(id), binding == PRODUCT && is_symbol(id));
        if self.dag.number(a).is_none() && rank(b) > rank(a) { (b, a) } else { (a, b) }
    }

    fn examine(&self, id: Id) -> Written {
        let (layout, binding) = self.layout(id, false);
        let opposite = match *self.dag.node(id) {
            Node::Apply(Op::Add, [a, b, _]) => self.opposite_depth(a).or(self.opposite_depth(b)).is_some(),
            Node::Apply(Op::Sub, [a, b, _]) => self.dag.number(a).or(self.dag.number(b)).is_none(),
            _ => false,
        };
        let (scalable, negatable) = match (self.dag.node(id), &layout) {
            (Node::Number(_), _) => (false, true),
            (Node::Apply(Op::Mul | Op::Div, _), Layout::Infix(left, _, right)) => {
                let numbers = self.dag.number(left.id).and(self.dag.number(right.id)).is_some();
                let first = self.written[left.id.index()];
                (first.scalable, first.negatable && !numbers)
            }
            (Node::Apply(op, _), _) => (*op != Op::Neg, !matches!(op, Op::Neg | Op::Sub)),
            (Node::Symbol(_), _) => (true, true),
        };
        let opposite = opposite.then(|| self.depth(&self.layout(id, true).0));
        Written { binding, depth: self.depth(&layout), opposite, scalable, negatable }
    }

    /// How many parentheses, calls, exponents and minus signs stand inside each other.
    fn depth(&self, layout: &Layout<'_>) -> u32 {
        let depth = |operand: &Operand| {
            let written = self.written[operand.id.index()];
            let inner = if operand.negated { written.opposite.unwrap_or(0) } else { written.depth };
            let inner = if self.named[operand.id.index()] { 0 } else { inner };
            inner + u32::from(self.in_parentheses(*operand))
        };
        match layout {
            Layout::Leaf => 0,
            Layout::Prefix(inner) => 1 + depth(inner),
            Layout::Infix(left, sign, right) => depth(left).max(depth(right) + u32::from(*sign == "^")),
            Layout::Call(_, arguments) => {
                1 + arguments.iter().map(|&id| depth(&operand(id, 0))).max().unwrap_or(0)
            }
        }
    }

    fn in_parentheses(&self, operand: Operand) -> bool {
        let binding = if operand.negated { SUM } else { self.written[operand.id.index()].binding };
        binding < operand.minimum && !self.named[operand.id.index()]
    }

    /// Whether it is written with a sign that binds so.
    fn is(&self, id: Id, binding: u8) -> bool {
        !self.named[id.index()] && self.written[id.index()].binding == binding
    }

    fn opposite_depth(&self, id: Id) -> Option<u32> {
        self.written[id.index()].opposite.filter(|_| !self.named[id.index()])
    }

    fn is_negative(&self, id: Id) -> bool {
        self.dag.number(id).is_some_and(|value| value < 0.0)
    }
}

//! Expressions as LaTeX, for people: products and sums are flat, whatever their order of evaluation.

use super::symbol_latex::{dotted, undotted};
use super::{Dag, number_names, pieces, text};
use crate::Expr;
use crate::fold::is_power_of_two;
use crate::graph::{Id, Node};
use crate::op::{Form, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// Nesting beyond this is defined apart.
const MAX_DEPTH: u32 = 16;

// How tightly a written form binds; an operand that binds less than required stands in parentheses.
const ANY: u8 = 0;
const BRANCHES: u8 = 1;
const SUM: u8 = 2;
const PRODUCT: u8 = 3;
const POWER: u8 = 5;
const ATOM: u8 = 6;

impl Expr<'_> {
    /// LaTeX for math mode.
    ///
    /// Greek letters are known by name and by character; what follows an underscore, and digits at the end, are a subscript;
    /// primes are dots. Where parts are shared or nested too much for a formula, they are defined first, in an
    /// `aligned` block.
    ///
    /// ```
    /// # let graph = leastaction_expr::Graph::new();
    /// let e = graph.parse("m*theta1'^2/2 - sqrt(x/a_max)*1e-9")?;
    /// assert_eq!(
    ///     e.latex(),
    ///     r"\frac{1}{2}\,m\,\dot{\theta}_{1}^{2} - 10^{-9}\,\sqrt{\frac{x}{a_{\mathrm{max}}}}"
    /// );
    /// # Ok::<(), leastaction_expr::ParseError>(())
    /// ```
    #[must_use]
    pub fn latex(self) -> String {
        Latex::new(Dag::new(self.graph, &[self.id])).write()
    }
}

struct Latex {
    dag: Dag,
    names: Vec<Option<u64>>,
}

/// What is still to be written.
enum Work {
    Word(Cow<'static, str>),
    /// A node, in parentheses if it binds less than `minimum`.
    Node {
        id: Id,
        minimum: u8,
    },
    /// A comparison as a condition, without the brackets that make it a number.
    Condition(Id),
}

fn word(text: impl Into<Cow<'static, str>>) -> Work {
    Work::Word(text.into())
}

fn node(id: Id, minimum: u8) -> Work {
    Work::Node { id, minimum }
}

impl Latex {
    fn new(dag: Dag) -> Latex {
        let mut named = dag.repeated();
        let mut depths: Vec<u32> = Vec::with_capacity(named.len());
        for id in dag.ids() {
            let step = |&a: &Id| {
                let inner = if named[a.index()] { 0 } else { depths[a.index()] };
                inner + u32::from(!continues(&dag, id, a))
            };
            let depth = dag.node(id).arguments().iter().map(step).max().unwrap_or(0);
            named[id.index()] |= depth > MAX_DEPTH;
            depths.push(depth);
        }
        for root in &dag.roots {
            named[root.index()] = false;
        }
        let taken: FxHashSet<String> =
            dag.symbols.iter().map(|symbol| undotted(&symbol.name).concat()).collect();
        let names = number_names(&named, "t", |name| taken.contains(&undotted(name).concat()));
        Latex { dag, names }
    }

    fn write(&self) -> String {
        let mut out = String::new();
        for id in self.dag.ids() {
            if let Some(name) = self.name(id) {
                out.push_str(if out.is_empty() { "\\begin{aligned}\n" } else { " \\\\\n" });
                out.push_str(&name);
                out.push_str(" &= ");
                self.write_node(&mut out, id);
            }
        }
        let alone = out.is_empty();
        for &root in &self.dag.roots {
            out.push_str(if alone { "" } else { " \\\\\n& " });
            self.write_node(&mut out, root);
        }
        out.push_str(if alone { "" } else { "\n\\end{aligned}" });
        out
    }

    fn name(&self, id: Id) -> Option<String> {
        self.names[id.index()].map(|number| undotted(&format!("t{number}")).concat())
    }

    /// Writes one definition. What is still to be written waits on a stack, the next on top.
    fn write_node(&self, out: &mut String, root: Id) {
        let mut stack = self.form(root, true).0;
        stack.reverse();
        while let Some(work) = stack.pop() {
            let below = stack.len();
            match work {
                Work::Word(word) => out.push_str(&word),
                Work::Condition(id) => stack.extend(self.form(id, true).0),
                Work::Node { id, minimum } => match self.name(id) {
                    Some(name) => out.push_str(&name),
                    None => {
                        let (form, binding) = self.form(id, false);
                        let (open, close) =
                            if binding < minimum { (r"\left(", r"\right)") } else { ("", "") };
                        stack.push(word(open));
                        stack.extend(form);
                        stack.push(word(close));
                    }
                },
            }
            stack[below..].reverse();
        }
    }

    /// How a node is written, and how tightly it binds.
    fn form(&self, id: Id, condition: bool) -> (Vec<Work>, u8) {
        let &Node::Apply(op, [a, b, _]) = self.dag.node(id) else { return self.leaf(id) };
        let (template, arguments) = (op.row().latex, self.dag.node(id).arguments());
        let filled = |minimum: u8| fill(template, |i| vec![node(arguments[i], minimum)]);
        match (op, op.row().form) {
            (Op::Add | Op::Sub | Op::Neg, _) => (self.sum(id), SUM),
            (Op::Mul, _) => (self.product(id), PRODUCT),
            (Op::Div, _) => (filled(ANY), POWER),
            (Op::Pow, _) => (self.power(a, vec![node(b, ANY)], self.dag.number(b)), POWER),
            (Op::Select, _) => {
                let argument = |i| if i == 0 { self.condition(a) } else { vec![node(arguments[i], SUM)] };
                (fill(template, argument), BRANCHES)
            }
            (_, Form::Infix { .. }) if condition => (filled(SUM), BRANCHES),
            (_, Form::Infix { .. }) => {
                // Iverson's bracket: 1 where it holds, else 0.
                let [open, close] = [r"\left[", r"\right]"].map(|end| vec![word(end)]);
                ([open, filled(SUM), close].into_iter().flatten().collect(), ATOM)
            }
            _ if named_function(template).is_some() => (filled(ANY), POWER),
            _ => (filled(ANY), ATOM),
        }
    }

    fn condition(&self, id: Id) -> Vec<Work> {
        let compares = matches!(self.dag.node(id), Node::Apply(Op::Lt | Op::Le | Op::Eq | Op::Ne, _));
        if compares && self.names[id.index()].is_none() {
            vec![Work::Condition(id)]
        } else {
            vec![node(id, SUM), word(r" \ne 0")]
        }
    }

    fn leaf(&self, id: Id) -> (Vec<Work>, u8) {
        let value = match *self.dag.node(id) {
            Node::Symbol(index) => {
                let symbol = &self.dag.symbols[index as usize];
                return (vec![word(dotted(symbol))], if symbol.dots > 3 { POWER } else { ATOM });
            }
            Node::Number(bits) => f64::from_bits(bits),
            Node::Apply(op, _) => unreachable!("{op:?} is no leaf"),
        };
        let (text, binding) = number(value.abs());
        if value.is_sign_negative() {
            (vec![word(format!("-{text}"))], SUM)
        } else {
            (vec![word(text)], binding)
        }
    }

    /// The terms with their signs; a positive one first if there is one.
    fn sum(&self, id: Id) -> Vec<Work> {
        let mut terms: Vec<(bool, Id)> = Vec::new();
        let mut stack = vec![(false, id)];
        while let Some((minus, next)) = stack.pop() {
            match *self.dag.node(next) {
                Node::Apply(Op::Neg, [a, ..]) if self.is_inline(next, id) => stack.push((!minus, a)),
                Node::Apply(Op::Add, [a, b, _]) if self.is_inline(next, id) => {
                    stack.extend(self.as_built(next, a, b).map(|term| (minus, term)));
                }
                Node::Apply(Op::Sub, [a, b, _]) if self.is_inline(next, id) => {
                    stack.extend([(!minus, b), (minus, a)]);
                }
                _ => terms.push((minus, next)),
            }
        }
        if let Some(first) = terms.iter().position(|(minus, _)| !minus) {
            terms[..=first].rotate_right(1);
        }
        let mut form = Vec::with_capacity(2 * terms.len());
        for (i, (minus, term)) in terms.into_iter().enumerate() {
            let negative = self.dag.number(term).filter(|&value| value < 0.0);
            form.push(word(match (i, minus ^ negative.is_some()) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            }));
            form.push(negative.map_or_else(|| node(term, PRODUCT), |value| word(number(-value).0)));
        }
        form
    }

    /// The factors, numbers first and equal ones as a power.
    fn product(&self, id: Id) -> Vec<Work> {
        let mut factors: Vec<(Id, u32)> = Vec::new();
        let mut places: FxHashMap<Id, usize> = FxHashMap::default();
        let mut stack = vec![id];
        while let Some(next) = stack.pop() {
            match *self.dag.node(next) {
                Node::Apply(Op::Mul, [a, b, _]) if self.is_inline(next, id) => {
                    stack.extend(self.as_built(next, a, b));
                }
                _ => {
                    let place = *places.entry(next).or_insert(factors.len());
                    if place == factors.len() {
                        factors.push((next, 0));
                    }
                    factors[place].1 += 1;
                }
            }
        }
        factors.sort_by_key(|&(factor, _)| self.dag.number(factor).is_none());
        let mut form = Vec::with_capacity(2 * factors.len());
        for (i, (factor, count)) in factors.into_iter().enumerate() {
            form.push(word(match i {
                0 => "",
                _ if self.begins_with_digit(factor) => r" \cdot ",
                _ => r"\,",
            }));
            match self.dag.number(factor) {
                _ if count > 1 => {
                    form.extend(self.power(factor, vec![word(count.to_string())], Some(count.into())));
                }
                Some(half) if (0.125..1.0).contains(&half) && is_power_of_two(half) => {
                    form.push(word(format!(r"\frac{{1}}{{{}}}", 1.0 / half)));
                }
                _ => form.push(node(factor, PRODUCT)),
            }
        }
        form
    }

    /// A power, with a whole exponent behind the function's name: `\sin^{2}`.
    fn power(&self, base: Id, exponent: Vec<Work>, value: Option<f64>) -> Vec<Work> {
        let whole = value.is_some_and(|n| n > 0.0 && n.fract() == 0.0);
        let exponent = [vec![word("^{")], exponent, vec![word("}")]].into_iter().flatten();
        if let Node::Apply(op, _) = self.dag.node(base)
            && let Some(name) = named_function(op.row().latex)
            && whole
            && self.names[base.index()].is_none()
        {
            let arguments = self.dag.node(base).arguments();
            let rest = fill(&op.row().latex[name.len()..], |i| vec![node(arguments[i], ANY)]);
            return [word(name)].into_iter().chain(exponent).chain(rest).collect();
        }
        [node(base, ATOM)].into_iter().chain(exponent).collect()
    }

    /// The arguments of a sum or product, last first. Canonical order puts the older first; people expect what
    /// was appended last, and symbols before other factors.
    fn as_built(&self, id: Id, a: Id, b: Id) -> [Id; 2] {
        let symbol = |argument: Id| matches!(self.dag.node(argument), Node::Symbol(_));
        let rank = |argument: Id| {
            let chain = continues(&self.dag, id, argument) && self.names[argument.index()].is_none();
            (chain, matches!(self.dag.node(id), Node::Apply(Op::Mul, _)) && symbol(argument))
        };
        if self.dag.number(a).is_none() && rank(b) > rank(a) { [a, b] } else { [b, a] }
    }

    fn begins_with_digit(&self, id: Id) -> bool {
        match *self.dag.node(id) {
            Node::Apply(Op::Pow, [base, ..]) => self.dag.number(base).is_some(),
            _ => self.dag.number(id).is_some(),
        }
    }

    /// Whether a node is written as part of the definition of `root`.
    fn is_inline(&self, id: Id, root: Id) -> bool {
        id == root || self.names[id.index()].is_none()
    }
}

/// Whether an argument is written as part of the same flat sum or product.
fn continues(dag: &Dag, id: Id, argument: Id) -> bool {
    let family = |id: Id| match dag.node(id) {
        Node::Apply(Op::Add | Op::Sub | Op::Neg, _) => Some(Op::Add),
        Node::Apply(Op::Mul, _) => Some(Op::Mul),
        _ => None,
    };
    family(id).is_some() && family(id) == family(argument)
}

fn fill(template: &'static str, argument: impl Fn(usize) -> Vec<Work>) -> Vec<Work> {
    let mut form = Vec::new();
    for (before, index) in pieces(template) {
        form.push(word(before));
        form.extend(index.into_iter().flat_map(&argument));
    }
    form
}

/// The part of a template before its parentheses: `\sin` of `\sin\left(#1\right)`.
fn named_function(template: &'static str) -> Option<&'static str> {
    template.split_once(r"\left(").map(|(name, _)| name).filter(|name| !name.is_empty())
}

/// A number that is not negative, and how tightly it binds.
fn number(value: f64) -> (String, u8) {
    let text = text::number(value);
    match (text.as_str(), text.split_once('e')) {
        ("pi", _) => (r"\pi".into(), ATOM),
        ("inf", _) => (r"\infty".into(), ATOM),
        ("nan", _) => (r"\mathrm{NaN}".into(), ATOM),
        (_, Some(("1", exponent))) => (format!("10^{{{exponent}}}"), POWER),
        (_, Some((digits, exponent))) => (format!(r"{digits} \cdot 10^{{{exponent}}}"), PRODUCT),
        _ => (text, ATOM),
    }
}

#[cfg(test)]
mod tests {
    use crate::Graph;

    fn check(cases: &[(&str, &str)]) {
        for (text, expected) in cases {
            assert_eq!(Graph::new().parse(text).unwrap().latex(), *expected, "`{text}`");
        }
    }

    #[test]
    fn sums_and_products() {
        check(&[
            ("a - (b - c) + 2", "a - b + c + 2"),
            ("b - a", "b - a"),
            ("-(a + b)*c", r"-c\,\left(a + b\right)"),
            ("-(a + b)", "-a - b"),
            ("-2 - x", "-2 - x"),
            ("0.5*m*v^2", r"\frac{1}{2}\,m\,v^{2}"),
            ("x*(3*y)", r"3\,y\,x"),
            ("0.1*(3*y)", r"0.1 \cdot 3\,y"),
            ("y*2^x", r"y \cdot 2^{x}"),
            ("1.5e-9*x", r"1.5 \cdot 10^{-9}\,x"),
            ("1e300*x", r"10^{300}\,x"),
            ("pi*x", r"\pi\,x"),
            ("(a + b)/c/d", r"\frac{\frac{a + b}{c}}{d}"),
        ]);
    }

    #[test]
    fn powers() {
        check(&[
            ("(a/b)^2", r"\left(\frac{a}{b}\right)^{2}"),
            ("(-a)^b", r"\left(-a\right)^{b}"),
            ("(a^b)^c", r"\left(a^{b}\right)^{c}"),
            ("a^b^c", "a^{b^{c}}"),
            ("sin(x)^2*tan(x)", r"\sin^{2}\left(x\right)\,\tan\left(x\right)"),
            ("sin(x)^-2", r"\left(\sin\left(x\right)\right)^{-2}"),
            ("abs(x)^3", r"\left|x\right|^{3}"),
            ("x''''^2", r"\left(x^{(4)}\right)^{2}"),
            ("1e-9^x", r"\left(10^{-9}\right)^{x}"),
            ("theta1'^2", r"\dot{\theta}_{1}^{2}"),
        ]);
    }

    #[test]
    fn comparisons_and_branches() {
        check(&[
            ("a <= b", r"a \le b"),
            ("2*(a < b)", r"2\,\left[a < b\right]"),
            ("select(a == b, x, -x)", r"\begin{cases} x & a = b \\ -x & \text{otherwise} \end{cases}"),
            ("select(c, x, y)", r"\begin{cases} x & c \ne 0 \\ y & \text{otherwise} \end{cases}"),
            ("sqrt(x) + cbrt(y)", r"\sqrt{x} + \sqrt[3]{y}"),
            ("1 - floor(select(c, 1, 2) + 1)", {
                r"1 - \left\lfloor \left(\begin{cases} 1 & c \ne 0 \\ 2 & \text{otherwise} \end{cases}\right) + 1 \right\rfloor"
            }),
        ]);
    }

    #[test]
    fn shared_and_deep_parts_are_defined_first() {
        let graph = Graph::new();
        let [x, t1] = graph.symbols(["x", "t1'"]);
        let mut e = x + t1;
        for _ in 0..50 {
            e = e.sin() * (e.cos() + x);
        }
        let latex = e.latex();
        assert!(latex.starts_with("\\begin{aligned}\nt_{2} &= ") && latex.ends_with("\n\\end{aligned}"));
        assert!(latex.len() < 6000, "{latex}");
        let deep = (0..100).fold(x, |e, _| e.exp()).latex();
        assert_eq!(deep.matches("&=").count(), 5);
    }

    #[test]
    fn large_expressions() {
        let graph = Graph::new();
        let [x, y] = graph.symbols(["x", "y"]);
        let sum = (0..1_000_000).fold(x, |e, k| e + (f64::from(k) + 0.3));
        assert_eq!(sum.latex().matches(" + ").count(), 1_000_000);
        let horner = (0..100_000).fold(x, |e, k| e * y + (f64::from(k) + 0.3));
        assert!(horner.latex().len() < 5_000_000);
        let nested = (0..1_000_000).fold(x, |e, _| e.sin());
        assert!(nested.latex().len() < 40_000_000);
    }
}

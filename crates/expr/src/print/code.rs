//! Expressions as a function in C or Rust: one statement per shared or long part, in order of evaluation.

use super::language::{C, Language, RUST};
use super::symbol_latex::digit;
use super::{Dag, greek, number_names, pieces};
use crate::Expr;
use crate::graph::{Graph, Id, Node};
use crate::op::{Form, Op};
use crate::symbols::Symbol;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// A part with more operators, symbols and numbers than this is a statement of its own.
const LONG: usize = 12;
/// Powers up to this are products; beyond it, the library's power is more accurate.
const LARGEST_PRODUCT: f64 = 32.0;

// How tightly a written form binds.
const BRANCHES: u8 = 0;
const SUM: u8 = 2;
const PRODUCT: u8 = 3;
const PREFIX: u8 = 4;
const ATOM: u8 = 7;

/// Why expressions cannot be written as a function.
///
/// ```
/// # use leastaction_expr::{Graph, c_function};
/// # let graph = Graph::new();
/// let [x, y] = graph.symbols(["x", "y"]);
/// let error = c_function("f", &[x], &[x * y]).unwrap_err();
/// assert_eq!(error.to_string(), "`y` is needed but is not an input: list it, or substitute a number for it");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PrintError {
    /// The function's name is a keyword or not an identifier.
    #[error("`{name}` cannot name a function: use letters, digits and underscores, and no keyword")]
    InvalidName {
        /// The name.
        name: String,
    },
    /// An input is not a symbol.
    #[error("input {index} is `{input}`, but inputs are symbols")]
    NotASymbol {
        /// The input's place.
        index: usize,
        /// The input.
        input: String,
    },
    /// A symbol is listed twice.
    #[error("`{symbol}` is an input twice")]
    RepeatedInput {
        /// The symbol.
        symbol: Symbol,
    },
    /// An output needs a symbol that is not an input.
    #[error("`{symbol}` is needed but is not an input: list it, or substitute a number for it")]
    MissingInput {
        /// The symbol.
        symbol: Symbol,
    },
    /// A number is infinite or not a number.
    #[error("the constant {value} is not finite")]
    NotFinite {
        /// The number.
        value: f64,
    },
}

/// A C function `void name(const double *in, double *out)` that computes the outputs from the inputs.
///
/// It needs only `math.h`. Inputs are read before outputs are written, so both may be the same array. What C
/// does not have stands before it as `static inline` functions named after it, so several functions fit in one file.
///
/// # Errors
/// [`PrintError`] for a name that is not one, inputs that are not distinct symbols, a symbol that is not an
/// input, or a number that is not finite.
///
/// ```
/// # use leastaction_expr::{Graph, c_function};
/// # let graph = Graph::new();
/// let [l, q] = graph.symbols(["l", "theta'"]);
/// let code = c_function("kinetic", &[l, q], &[0.5 * l * l * q * q])?;
/// assert_eq!(code, "\
/// ##include <math.h>
///
/// void kinetic(const double *in, double *out) {
///     const double l = in[0];
///     const double theta_dot = in[1]; // `theta'`
///     out[0] = 0.5 * (l * l * (theta_dot * theta_dot));
/// }
/// ");
/// # Ok::<(), leastaction_expr::PrintError>(())
/// ```
pub fn c_function(name: &str, inputs: &[Expr<'_>], outputs: &[Expr<'_>]) -> Result<String, PrintError> {
    let prefix = format!("{name}_");
    let Body { helpers, statements } = body(&C, name, &prefix, inputs, outputs)?;
    let helpers: String = helpers.iter().map(|helper| format!("{helper}\n")).collect();
    let signature = format!("void {name}(const double *in, double *out)");
    Ok(format!("#include <math.h>\n\n{helpers}{signature} {{\n{}}}\n", indented(&statements)))
}

/// A Rust function `pub fn name(input: &[f64; N], output: &mut [f64; M])` that computes the outputs from the
/// inputs.
///
/// It needs nothing but the standard library; what that does not have stands inside the function.
///
/// # Errors
/// As [`c_function`].
///
/// ```
/// # use leastaction_expr::{Graph, rust_function};
/// # let graph = Graph::new();
/// let [x, y] = graph.symbols(["x", "y"]);
/// let r = (x * x + y * y).sqrt();
/// let code = rust_function("circle", &[x, y], &[r, r.ln()])?;
/// assert_eq!(code, "\
/// pub fn circle(input: &[f64; 2], output: &mut [f64; 2]) {
///     let x: f64 = input[0];
///     let y: f64 = input[1];
///     let t1: f64 = (x * x + y * y).sqrt();
///     output[0] = t1;
///     output[1] = t1.ln();
/// }
/// ");
/// # Ok::<(), leastaction_expr::PrintError>(())
/// ```
pub fn rust_function(name: &str, inputs: &[Expr<'_>], outputs: &[Expr<'_>]) -> Result<String, PrintError> {
    let Body { helpers, statements } = body(&RUST, name, "", inputs, outputs)?;
    let (n, m) = (inputs.len(), outputs.len());
    // Symbols such as M or T keep their names.
    let all = format!("{name}{statements}");
    let snake = !all.contains(|c: char| c.is_ascii_uppercase()) && !all.contains("__");
    let allow = if snake { "" } else { "#[allow(non_snake_case)]\n" };
    let signature = format!("pub fn {name}(input: &[f64; {n}], output: &mut [f64; {m}])");
    Ok(format!("{allow}{signature} {{\n{}{}}}\n", indented(&helpers.concat()), indented(&statements)))
}

pub(super) struct Body {
    helpers: Vec<String>,
    pub(super) statements: String,
}

pub(super) fn indented(code: &str) -> String {
    code.lines().map(|line| format!("    {line}\n")).collect()
}

pub(super) fn body(
    language: &'static Language,
    name: &str,
    prefix: &str,
    inputs: &[Expr<'_>],
    outputs: &[Expr<'_>],
) -> Result<Body, PrintError> {
    if !is_plain_identifier(name) || !language.can_name_function(name) {
        return Err(PrintError::InvalidName { name: name.into() });
    }
    let symbols = distinct_symbols(inputs)?;
    let empty = Graph::new();
    let graph = outputs.first().map_or(&empty, |output| output.graph);
    let roots: Vec<Id> = outputs.iter().map(|&output| graph.adopt(output).id).collect();
    let dag = Dag::new(graph, &roots);
    if let Some(symbol) = dag.symbols.iter().find(|symbol| !symbols.contains(*symbol)) {
        return Err(PrintError::MissingInput { symbol: symbol.clone() });
    }
    let mut numbers = dag.ids().filter_map(|id| dag.number(id));
    if let Some(value) = numbers.find(|value| !value.is_finite()) {
        return Err(PrintError::NotFinite { value });
    }

    let helpers = language.helpers.iter().map(|(helper, _)| format!("{prefix}{helper}"));
    let mut taken: FxHashMap<String, u32> = helpers.map(|helper| (helper, 1)).collect();
    let variables: FxHashMap<Symbol, String> = inputs
        .iter()
        .filter_map(|input| input.as_symbol())
        .map(|symbol| (symbol.clone(), variable(&symbol, language, &mut taken)))
        .collect();
    let names = number_names(&statements(&dag), "t", |name| taken.contains_key(name));
    let mut code = Code { language, prefix, dag, variables, names, used: BTreeSet::new() };
    let statements = code.write(inputs);
    Ok(Body { helpers: code.helpers(), statements })
}

fn distinct_symbols(inputs: &[Expr<'_>]) -> Result<FxHashSet<Symbol>, PrintError> {
    let mut symbols = FxHashSet::default();
    for (index, input) in inputs.iter().enumerate() {
        let symbol = input.as_symbol();
        let symbol = symbol.ok_or_else(|| PrintError::NotASymbol { index, input: input.to_string() })?;
        if !symbols.insert(symbol.clone()) {
            return Err(PrintError::RepeatedInput { symbol });
        }
    }
    Ok(symbols)
}

fn is_plain_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name != "_"
}

/// A variable for a symbol, unlike any other: `theta_dot` for `θ'`.
fn variable(symbol: &Symbol, language: &Language, taken: &mut FxHashMap<String, u32>) -> String {
    let mut name = String::new();
    for c in symbol.name.trim_start_matches('_').chars() {
        match (greek::name(c), digit(c)) {
            (Some(letter), _) => name.push_str(letter),
            (_, Some(digit)) => name.push(digit),
            _ => name.push(if c.is_ascii_alphabetic() { c } else { '_' }),
        }
    }
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert(0, 'v');
    }
    match symbol.dots {
        0 => {}
        dots @ 1..=3 => name += &format!("_{}ot", "d".repeat(dots.into())),
        dots => name += &format!("_d{dots}"),
    }
    if language.is_reserved(&name) {
        name.push('_');
    }
    // For each name that is taken, the number that was last put behind it.
    let mut free = name.clone();
    while taken.contains_key(&free) {
        let number = taken.get_mut(&name).map_or(1, |last| {
            *last += 1;
            *last
        });
        free = format!("{name}_{number}");
    }
    taken.insert(free.clone(), 1);
    free
}

/// The nodes that are statements: shared, long, branches, and what is multiplied with itself.
fn statements(dag: &Dag) -> Vec<bool> {
    let uses = dag.uses();
    let mut named = vec![false; dag.nodes.len()];
    let mut sizes = vec![1_usize; dag.nodes.len()];
    let roots: FxHashSet<Id> = dag.roots.iter().copied().collect();
    for id in dag.ids() {
        let Node::Apply(op, [base, ..]) = *dag.node(id) else { continue };
        if small_power(dag, id).is_some() && matches!(dag.node(base), Node::Apply(..)) {
            named[base.index()] = true;
            sizes[base.index()] = 1;
        }
        let size = super::size(dag.node(id), &sizes);
        let apart = (size > LONG || op == Op::Select) && !roots.contains(&id);
        named[id.index()] = uses[id.index()] > 1 || apart;
        sizes[id.index()] = if named[id.index()] { 1 } else { size };
    }
    named
}

/// The exponent of a power that is written out as a product.
fn small_power(dag: &Dag, id: Id) -> Option<usize> {
    match *dag.node(id) {
        Node::Apply(Op::Pow, [_, exponent, _]) => {
            [2, 3].into_iter().find(|&n| dag.number(exponent) == Some(n as f64))
        }
        _ => None,
    }
}

struct Code<'a> {
    language: &'static Language,
    /// What stands before the names of helpers.
    prefix: &'a str,
    dag: Dag,
    variables: FxHashMap<Symbol, String>,
    names: Vec<Option<u64>>,
    used: BTreeSet<&'static str>,
}

impl Code<'_> {
    fn write(&mut self, inputs: &[Expr<'_>]) -> String {
        let mut out = self.inputs(inputs);
        let (declare, equals) = self.language.declare;
        for id in self.dag.ids() {
            if let Some(name) = self.names[id.index()] {
                let value = self.form(id).0;
                out += &format!("{declare}t{name}{equals}{value}{}\n", self.language.end);
            }
        }
        let output = self.language.arrays.1;
        for (i, root) in self.dag.roots.clone().into_iter().enumerate() {
            let value = self.operand(root, BRANCHES, "");
            out += &format!("{output}[{}] = {value}{}\n", self.language.first + i, self.language.end);
        }
        if self.dag.roots.is_empty() && !self.language.unused.is_empty() {
            out += &format!("{}\n", self.language.unused.replace('#', output));
        }
        out
    }

    /// The inputs that are used, as variables.
    fn inputs(&self, inputs: &[Expr<'_>]) -> String {
        let used: FxHashSet<&Symbol> = self.dag.symbols.iter().collect();
        let (declare, equals) = self.language.declare;
        let input = self.language.arrays.0;
        let mut out = String::new();
        for (i, symbol) in inputs.iter().filter_map(|input| input.as_symbol()).enumerate() {
            if used.contains(&symbol) {
                let variable = &self.variables[&symbol];
                let Language { first, end, comment, .. } = self.language;
                out += &format!("{declare}{variable}{equals}{input}[{}]{end}", first + i);
                let text = symbol.to_string();
                out += &match text == *variable {
                    true => "\n".into(),
                    false => format!(" {comment} `{}`\n", harmless(&text)),
                };
            }
        }
        if used.is_empty() && !self.language.unused.is_empty() {
            out += &format!("{}\n", self.language.unused.replace('#', input));
        }
        out
    }

    fn helpers(&self) -> Vec<String> {
        let used = self.language.helpers.iter().filter(|(name, _)| self.used.contains(name));
        used.map(|(_, source)| source.replace('@', self.prefix)).collect()
    }

    /// A node where something follows that binds this tightly. Parts that are not named are short, so
    /// the recursion is shallow.
    fn operand(&mut self, id: Id, minimum: u8, number_suffix: &str) -> String {
        if let Some(name) = self.names[id.index()] {
            return format!("t{name}");
        }
        let (text, binding) = match self.dag.node(id) {
            Node::Apply(..) => self.form(id),
            Node::Symbol(index) => (self.variables[&self.dag.symbols[*index as usize]].clone(), ATOM),
            Node::Number(bits) => {
                let value = f64::from_bits(*bits);
                (format!("{value:?}{number_suffix}"), if value.is_sign_negative() { PREFIX } else { ATOM })
            }
        };
        if binding < minimum { format!("({text})") } else { text }
    }

    /// How an operator is written, and how tightly it binds.
    fn form(&mut self, id: Id) -> (String, u8) {
        let mut node = *self.dag.node(id);
        let Node::Apply(op, ref mut arguments @ [a, b, _]) = node else {
            return (String::new(), ATOM);
        };
        let flat = self.continues(op, b) && !self.continues(op, a) && self.dag.number(a).is_none();
        if flat && matches!(op, Op::Add | Op::Mul) {
            arguments.swap(0, 1); // one pair of parentheses less
        }
        if let Some(count) = small_power(&self.dag, id) {
            let factor = self.operand(a, ATOM, self.language.number_suffix);
            return (vec![factor; count].join(" * "), PRODUCT);
        }
        if let Some(n) = self.dag.number(b)
            && op == Op::Pow
            && n.fract() == 0.0
            && n.abs() <= LARGEST_PRODUCT
        {
            if let Some(sign) = self.language.power {
                let base = self.operand(a, ATOM, "");
                let exponent = if n < 0.0 { format!("({n:?})") } else { format!("{n}") };
                return (format!("{base}{sign}{exponent}"), ATOM);
            }
            self.used.insert("integer_power");
            let base = self.operand(a, SUM, "");
            return (format!("{}integer_power({base}, {n})", self.prefix), ATOM);
        }
        let binding = match (op, op.row().form) {
            (Op::Add | Op::Sub | Op::Mul | Op::Div, Form::Infix { binding, .. }) => binding,
            (_, Form::Prefix { binding, .. }) => binding,
            (Op::Select, _) => BRANCHES,
            _ => ATOM,
        };
        let mut template = (self.language.template)(op.row());
        let mut text = String::new();
        if let Some(call) = template.strip_prefix('@') {
            self.used.extend(call.split_once('(').map(|(helper, _)| helper));
            text.push_str(self.prefix);
            template = call;
        }
        // Where all arguments are numbers, which only happens if the result is not finite, types cannot be inferred.
        let typed = node.arguments().iter().all(|&argument| self.dag.number(argument).is_some());
        for (before, index) in pieces(template) {
            text.push_str(before);
            let Some(index) = index else { continue };
            let receiver = template.contains(&format!("#{}.", index + 1));
            let minimum = match binding {
                _ if receiver || op == Op::Pow && self.language.power.is_some() => ATOM,
                SUM..=PREFIX => binding + u8::from(index == 1 || binding == PREFIX),
                _ => SUM,
            };
            let suffix = if typed || receiver { self.language.number_suffix } else { "" };
            text.push_str(&self.operand(node.arguments()[index], minimum, suffix));
        }
        (text, binding)
    }

    /// Whether a node is written with this sign.
    fn continues(&self, op: Op, id: Id) -> bool {
        let written = match *self.dag.node(id) {
            Node::Apply(Op::Pow, _) if small_power(&self.dag, id).is_some() => Some(Op::Mul),
            Node::Apply(op, _) => Some(op),
            _ => None,
        };
        written == Some(op) && self.names[id.index()].is_none()
    }
}

/// A symbol's name in a comment: nothing that ends the line or hides text.
fn harmless(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ' { c } else { '_' })
        .collect()
}

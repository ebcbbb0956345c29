//! Writes a program's instructions as rules of series.

use super::SeriesError;
use super::identities::Power;
use super::tape::{ENDLESS, Node, Rule, Start, Tape};
use crate::arithmetic::Arithmetic;
use crate::builder::Builder;
use crate::instruction::{Code, Operand, Test};
use crate::program::Program;
use leastaction_expr::Op;
use rustc_hash::FxHashMap;

/// Exponents up to this size are multiplied out.
const LARGEST_POWER: f64 = 64.0;

/// A tape in the making.
pub(super) struct Draft {
    pub(super) builder: Builder,
    pub(super) tape: Tape,
    known: FxHashMap<(Start, Rule), Node>,
    derivatives: FxHashMap<Node, Node>,
    /// Sine and cosine, or their hyperbolic kin, of a series.
    pairs: FxHashMap<(Node, bool), [Node; 2]>,
    /// The angles of sines and, if so, cosines.
    pub(super) angles: FxHashMap<Node, (Node, bool)>,
    /// Series that are powers, and those that were made as such, by base and exponent.
    pub(super) powers: FxHashMap<Node, Power>,
    pub(super) powers_made: FxHashMap<(Node, Node), Node>,
    /// Whether products of powers of one base become one.
    pub(super) joins: bool,
    /// When each series is computed.
    when: Vec<u32>,
}

impl Draft {
    pub(super) fn new(program: &Program, state_lengths: &[u32], joins: bool) -> Draft {
        let frame = Program { body: Vec::new(), outputs: Vec::new(), ..program.clone() };
        let (starts, rules, first, length) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (order, running, states, rates) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut draft = Draft {
            builder: Builder::with_constants(&program.constants, 0),
            tape: Tape { frame, starts, rules, first, length, order, running, states, rates },
            known: FxHashMap::default(),
            derivatives: FxHashMap::default(),
            pairs: FxHashMap::default(),
            angles: FxHashMap::default(),
            powers: FxHashMap::default(),
            powers_made: FxHashMap::default(),
            joins,
            when: Vec::new(),
        };
        for i in 0..program.inputs.len() {
            let (rule, length) = match state_lengths.get(i) {
                Some(&length) => (Rule::State(i as u32), length),
                None if i == state_lengths.len() => (Rule::Time, 2),
                None => (Rule::Constant, 1),
            };
            let node = draft.define(Start::Given(Operand::Input(i as u32)), rule, 0, length);
            draft.tape.states.extend((i < state_lengths.len()).then_some(node));
        }
        draft
    }

    pub(super) fn tape(mut self, program: &Program, states: usize) -> Result<Tape, SeriesError> {
        let mut temporaries: Vec<Node> = Vec::with_capacity(program.body.len());
        for (at, instruction) in program.body.iter().enumerate() {
            let arguments = instruction.operands.map(|o| self.operand(o, &temporaries));
            let node = self
                .instruction(instruction.code, arguments)
                .ok_or(SeriesError::NoSeries { at, instruction: *instruction })?;
            temporaries.push(node);
        }
        let rates = program.outputs[..states].iter().map(|&o| self.operand(o, &temporaries)).collect();
        let Draft { builder, mut tape, .. } = self;
        tape.rates = rates;
        tape.frame.constants = builder.constants;
        tape.mark();
        Ok(tape)
    }

    fn operand(&mut self, operand: Operand, temporaries: &[Node]) -> Node {
        match operand {
            Operand::Temporary(i) => temporaries[i as usize],
            Operand::Input(i) => i,
            shared => self.node(Start::Given(shared), Rule::Constant),
        }
    }

    pub(super) fn constant(&mut self, value: f64) -> Node {
        let operand = self.builder.constant(value);
        self.node(Start::Given(operand), Rule::Constant)
    }

    fn changes(&self, node: Node) -> bool {
        self.tape.length[node as usize] > 1
    }

    /// A place for a series that others refer to before it is defined.
    pub(super) fn reserve(&mut self) -> Node {
        let node = self.tape.rules.len() as Node;
        self.tape.starts.push(Start::Zero);
        self.tape.rules.push(Rule::Constant);
        self.tape.first.push(0);
        self.tape.length.push(ENDLESS);
        self.when.push(0);
        node
    }

    /// Defines a reserved series.
    pub(super) fn set(&mut self, node: Node, start: Start, rule: Rule) {
        self.tape.starts[node as usize] = start;
        self.tape.rules[node as usize] = rule;
        self.when[node as usize] = self.tape.order.len() as u32;
        self.tape.order.push(node);
    }

    pub(super) fn define(&mut self, start: Start, rule: Rule, first: u32, length: u32) -> Node {
        let node = self.reserve();
        self.tape.first[node as usize] = first;
        self.tape.length[node as usize] = length;
        self.set(node, start, rule);
        node
    }

    /// A series, or the equal one that is there already.
    pub(super) fn node(&mut self, start: Start, rule: Rule) -> Node {
        if let Some(&node) = self.known.get(&(start, rule)) {
            return node;
        }
        let (first, length) = self.extent(rule);
        let zero = first > 0 && !matches!(rule, Rule::Constant);
        let node = self.define(if zero { Start::Zero } else { start }, rule, first, length);
        self.known.insert((start, rule), node);
        node
    }

    /// The first order that can be nonzero, and the first from which on all are zero.
    fn extent(&self, rule: Rule) -> (u32, u32) {
        let of = |node: Node| (self.tape.first[node as usize], self.tape.length[node as usize]);
        let either = |a: (u32, u32), b: (u32, u32)| (a.0.min(b.0), a.1.max(b.1));
        let product = |a: (u32, u32), b: (u32, u32)| match (a.1, b.1) {
            (ENDLESS, _) | (_, ENDLESS) => (a.0 + b.0, ENDLESS),
            (m, n) => (a.0 + b.0, m + n - 1),
        };
        match rule {
            Rule::Constant => (0, 1),
            Rule::Time => (0, 2),
            Rule::State(i) => of(i),
            Rule::Rate(i) => (1, of(i).1),
            Rule::Derivative(u) => (of(u).0.max(1), of(u).1),
            Rule::Integral(u) | Rule::Same(u) | Rule::Neg(u) => of(u),
            Rule::Sum(_, [u, v]) => either(of(u), of(v)),
            Rule::Scale(Code::Mul, [u, v, _]) | Rule::Product(Code::Mul, [u, v, _]) => product(of(u), of(v)),
            Rule::Scale(_, [u, v, c]) | Rule::Product(_, [u, v, c]) => either(product(of(u), of(v)), of(c)),
            Rule::Square(Code::Mul, [u, _]) => product(of(u), of(u)),
            Rule::Square(_, [u, c]) => either(product(of(u), of(u)), of(c)),
            Rule::Quotient { arguments: [n, d, ..], .. } => match of(d).1 {
                1 => of(n),
                _ => (of(n).0, ENDLESS),
            },
            Rule::Root(_) | Rule::Power(_) => (0, ENDLESS),
            Rule::Inner(_) => (2, ENDLESS),
            Rule::Choose(_, [_, _, u, v]) | Rule::ChooseSign([_, u, v]) => either(of(u), of(v)),
            Rule::Flip([u, _]) => of(u),
        }
    }

    /// A value that does not change.
    pub(super) fn fixed(&mut self, code: Code, arguments: [Node; 4]) -> Node {
        self.node(Start::Apply(code, arguments), Rule::Constant)
    }

    pub(super) fn sum(&mut self, code: Code, u: Node, v: Node) -> Node {
        self.node(Start::Apply(code, [u, v, u, u]), Rule::Sum(code, [u, v]))
    }

    /// u · v, or one of the fused products with c.
    fn product(&mut self, code: Code, [u, v, c]: [Node; 3]) -> Node {
        if let Some(node) = self.turned(code, [u, v, c]) {
            return node;
        }
        self.product_from(Start::Apply(code, [u, v, c, u]), code, [u, v, c])
    }

    fn product_from(&mut self, start: Start, code: Code, [u, v, c]: [Node; 3]) -> Node {
        let rule = match (self.changes(u), self.changes(v)) {
            (false, _) => return self.multiple(start, code, [u, v, c]),
            (_, false) => return self.multiple(start, code, [v, u, c]),
            _ if code == Code::Mul
                && let Some(node) = self.joined(u, v, start) =>
            {
                return node;
            }
            _ if code == Code::Mul
                && let Some((factor, [u, v])) = self.without_factor([u, v]) =>
            {
                let product = self.times(u, v);
                return self.multiple(start, code, [factor, product, factor]);
            }
            _ if u == v => Rule::Square(code, [u, c]),
            _ if self.when[u as usize] > self.when[v as usize] => Rule::Product(code, [v, u, c]),
            _ => Rule::Product(code, [u, v, c]),
        };
        self.node(start, rule)
    }

    /// u · v, or a fused product, where u does not change. Multiples of multiples are multiples.
    fn multiple(&mut self, start: Start, code: Code, [mut u, mut v, c]: [Node; 3]) -> Node {
        let code = match code {
            Code::NegMulSub if self.number(c) == Some(0.0) => {
                u = self.fixed(Code::Math(Op::Neg), [u; 4]);
                Code::Mul
            }
            code => code,
        };
        if let (true, Rule::Scale(Code::Mul, [factor, inner, _])) =
            (self.changes(v), self.tape.rules[v as usize])
        {
            (u, v) = (self.fixed(Code::Mul, [u, factor, u, u]), inner);
        }
        let node = self.node(start, Rule::Scale(code, [u, v, c]));
        if code == Code::Mul {
            self.is_multiple(node, u, v);
        }
        node
    }

    /// Two series without the number that one of them is a multiple by, so that a product does not wait for it.
    fn without_factor(&self, [u, v]: [Node; 2]) -> Option<(Node, [Node; 2])> {
        let factor = |node: Node| match self.tape.rules[node as usize] {
            Rule::Scale(Code::Mul, [factor, inner, _]) if self.tape.first[inner as usize] == 0 => {
                Some((factor, inner))
            }
            _ => None,
        };
        match (factor(u), factor(v)) {
            (Some((factor, inner)), _) => Some((factor, [inner, v])),
            (None, Some((factor, inner))) => Some((factor, [u, inner])),
            (None, None) => None,
        }
    }

    fn times(&mut self, u: Node, v: Node) -> Node {
        self.product(Code::Mul, [u, v, u])
    }

    pub(super) fn quotient(&mut self, n: Node, d: Node) -> Node {
        let one = self.constant(1.0);
        let start = Start::Apply(Code::Div, [n, d, n, n]);
        if n != one && !self.changes(n) {
            let inverse = self.quotient(one, d);
            return self.multiple(start, Code::Mul, [n, inverse, n]);
        }
        let inverse = self.fixed(Code::Div, [one, d, one, one]);
        let whole = if self.tape.first[n as usize] == 0 && self.changes(d) {
            let quotient = self.fixed(Code::Div, [n, d, n, n]);
            self.fixed(Code::Mul, [quotient, inverse, quotient, quotient])
        } else {
            inverse
        };
        let numerator_last = self.when[n as usize] > self.when[d as usize];
        let node = self.node(start, Rule::Quotient { arguments: [n, d, inverse, whole], numerator_last });
        if n == one {
            self.is_inverse(node, d);
        }
        node
    }

    /// √u for the value y₀ that an instruction gives.
    fn root(&mut self, u: Node, start: Start) -> Node {
        let (half, y) = (self.constant(0.5), self.node(start, Rule::Constant));
        let slope = self.fixed(Code::Div, [half, y, half, half]);
        let node = self.node(start, Rule::Root([u, slope]));
        self.is_power(node, u, 0.5);
        node
    }

    /// D u.
    pub(super) fn derivative(&mut self, u: Node) -> Node {
        if let Some(&found) = self.derivatives.get(&u) {
            return found;
        }
        let rule = match self.tape.rules[u as usize] {
            Rule::State(i) => Rule::Rate(i),
            Rule::Integral(z) => Rule::Same(z),
            Rule::Neg(v) => Rule::Neg(self.derivative(v)),
            Rule::Sum(code, [v, w]) => match (self.changes(v), self.changes(w)) {
                (true, true) => Rule::Sum(code, [self.derivative(v), self.derivative(w)]),
                (true, false) => Rule::Same(self.derivative(v)),
                _ if code == Code::Add => Rule::Same(self.derivative(w)),
                _ => Rule::Neg(self.derivative(w)),
            },
            Rule::Scale(Code::Mul, [v, w, c]) => Rule::Scale(Code::Mul, [v, self.derivative(w), c]),
            _ => Rule::Derivative(u),
        };
        let node = match rule {
            Rule::Same(z) => z,
            rule => self.node(Start::Zero, rule),
        };
        self.derivatives.insert(u, node);
        node
    }

    /// The series with value y₀ and D y = z.
    fn integral(&mut self, start: Start, z: Node) -> Node {
        let node = self.reserve();
        self.set(node, start, Rule::Integral(z));
        node
    }

    /// exp u
    fn exponential(&mut self, u: Node, start: Start) -> Node {
        let (slope, y) = (self.derivative(u), self.reserve());
        let z = self.times(slope, y);
        self.set(y, start, Rule::Integral(z));
        y
    }

    /// Sine and cosine of u, or the hyperbolic ones: D s = c·D u, D c = ∓s·D u.
    pub(super) fn pair(&mut self, u: Node, circular: bool) -> [Node; 2] {
        let codes = if circular {
            [Code::Paired(Op::Sin), Code::Paired(Op::Cos)]
        } else {
            [Code::Math(Op::Sinh), Code::Math(Op::Cosh)]
        };
        self.pair_from(u, circular, codes.map(|code| Start::Apply(code, [u; 4])))
    }

    /// The same for the values that instructions give.
    pub(super) fn pair_from(&mut self, u: Node, circular: bool, starts: [Start; 2]) -> [Node; 2] {
        if let Some(&found) = self.pairs.get(&(u, circular)) {
            return found;
        }
        let slope = self.derivative(u);
        let [sine, cosine] = [self.reserve(), self.reserve()];
        let up = self.times(slope, cosine);
        let down = if circular {
            let zero = self.constant(0.0);
            self.product(Code::NegMulSub, [slope, sine, zero])
        } else {
            self.times(slope, sine)
        };
        // −s·D u − 0 has nothing at order 0.
        self.tape.first[down as usize] = 1;
        self.tape.starts[down as usize] = Start::Zero;
        self.set(sine, starts[0], Rule::Integral(up));
        self.set(cosine, starts[1], Rule::Integral(down));
        self.pairs.insert((u, circular), [sine, cosine]);
        if circular {
            self.angles.extend([(sine, (u, false)), (cosine, (u, true))]);
        }
        [sine, cosine]
    }

    /// y = f(u) with D y = g(y)·D u, where g is a polynomial of y: g = [`code`](Code)(y, y, c).
    fn riccati(&mut self, u: Node, start: Start, code: Code, c: Option<Node>) -> Node {
        let (slope, y, g) = (self.derivative(u), self.reserve(), self.reserve());
        let z = self.times(slope, g);
        self.set(y, start, Rule::Integral(z));
        let c = c.unwrap_or(y);
        self.set(g, Start::Apply(code, [y, y, c, y]), Rule::Square(code, [y, c]));
        y
    }

    /// The series with value y₀ and s·D y = D u.
    fn over(&mut self, u: Node, s: Node, start: Start) -> Node {
        let slope = self.derivative(u);
        let z = self.quotient(slope, s);
        self.integral(start, z)
    }

    fn instruction(&mut self, code: Code, arguments: [Node; 4]) -> Option<Node> {
        let code = match code {
            Code::Call(op) => Code::Math(op),
            code => code,
        };
        let used = &arguments[..code.arity()];
        let start = Start::Apply(code, arguments);
        let [u, v, c, d] = arguments;
        let fixed = matches!(code, Code::Floor | Code::Round | Code::Math(Op::Floor | Op::Sign));
        let compares = matches!(code, Code::Math(Op::Lt | Op::Le | Op::Eq | Op::Ne));
        if fixed || compares || used.iter().all(|&n| !self.changes(n)) {
            return Some(self.fixed(code, arguments));
        }
        Some(match code {
            Code::Add | Code::Sub => self.sum(code, u, v),
            Code::Mul => self.times(u, v),
            Code::MulAdd | Code::MulSub | Code::NegMulAdd | Code::NegMulSub => self.product(code, [u, v, c]),
            Code::Div => self.quotient(u, v),
            Code::Sqrt => self.root(u, start),
            Code::Min => self.node(start, Rule::Choose(Test::Less, [u, v, u, v])),
            Code::Max => self.node(start, Rule::Choose(Test::Less, [v, u, u, v])),
            Code::Select(test) => self.node(start, Rule::Choose(test, [u, v, c, d])),
            Code::SelectSign => self.node(start, Rule::ChooseSign([u, v, c])),
            Code::Paired(op) | Code::Math(op) => return self.function(op, start, [u, v, c]),
            _ => return None,
        })
    }

    fn function(&mut self, op: Op, start: Start, [u, v, c]: [Node; 3]) -> Option<Node> {
        Some(match op {
            Op::Add => self.sum(Code::Add, u, v),
            Op::Sub => self.sum(Code::Sub, u, v),
            Op::Mul => self.times(u, v),
            Op::Div => self.quotient(u, v),
            Op::Neg => self.node(start, Rule::Neg(u)),
            Op::Sqrt => self.root(u, start),
            Op::Pow => self.power(u, v, start),
            Op::Cbrt => {
                let third = self.constant(1.0 / 3.0);
                self.constant_power(u, third, start)
            }
            Op::Hypot => {
                let square = self.times(v, v);
                let sum = self.product(Code::MulAdd, [u, u, square]);
                self.root(sum, start)
            }
            Op::Exp => self.exponential(u, start),
            Op::Expm1 => {
                let exponential = self.exponential(u, Start::Apply(Code::Math(Op::Exp), [u; 4]));
                self.node(start, Rule::Same(exponential))
            }
            Op::Ln => self.over(u, u, start),
            Op::Ln1p => {
                let one = self.constant(1.0);
                let s = self.sum(Code::Add, one, u);
                self.over(u, s, start)
            }
            Op::Sin => self.pair(u, true)[0],
            Op::Cos => self.pair(u, true)[1],
            Op::Sinh => self.pair(u, false)[0],
            Op::Cosh => self.pair(u, false)[1],
            Op::Tan => {
                let one = self.constant(1.0);
                self.riccati(u, start, Code::MulAdd, Some(one))
            }
            Op::Tanh => {
                let one = self.constant(1.0);
                self.riccati(u, start, Code::NegMulAdd, Some(one))
            }
            Op::Logistic => self.riccati(u, start, Code::NegMulAdd, None),
            Op::Asin | Op::Acos => {
                let (one, mut slope) = (self.constant(1.0), self.derivative(u));
                let (low, high) = (self.sum(Code::Sub, one, u), self.sum(Code::Add, one, u));
                let square = self.times(low, high);
                let s = self.root(square, Start::Apply(Code::Sqrt, [square; 4]));
                if op == Op::Acos {
                    slope = self.node(Start::Zero, Rule::Neg(slope));
                }
                let z = self.quotient(slope, s);
                self.integral(start, z)
            }
            Op::Atan | Op::Atanh => {
                let one = self.constant(1.0);
                let s = if op == Op::Atan {
                    self.product(Code::MulAdd, [u, u, one])
                } else {
                    let (low, high) = (self.sum(Code::Sub, one, u), self.sum(Code::Add, one, u));
                    self.times(low, high)
                };
                self.over(u, s, start)
            }
            Op::Asinh | Op::Acosh => {
                let one = self.constant(1.0);
                let square = if op == Op::Asinh {
                    self.product(Code::MulAdd, [u, u, one])
                } else {
                    let (low, high) = (self.sum(Code::Sub, u, one), self.sum(Code::Add, u, one));
                    self.times(low, high)
                };
                let s = self.root(square, Start::Apply(Code::Sqrt, [square; 4]));
                self.over(u, s, start)
            }
            Op::Atan2 => {
                // (u² + v²)·D y = v·D u − u·D v
                let square = self.times(v, v);
                let s = self.product(Code::MulAdd, [u, u, square]);
                let mut slope = None;
                if self.changes(u) {
                    let du = self.derivative(u);
                    slope = Some(self.times(du, v));
                }
                if self.changes(v) {
                    let dv = self.derivative(v);
                    let turn = self.times(dv, u);
                    slope = Some(match slope {
                        Some(slope) => self.sum(Code::Sub, slope, turn),
                        None => self.node(Start::Zero, Rule::Neg(turn)),
                    });
                }
                let z = self.quotient(slope?, s);
                self.integral(start, z)
            }
            Op::Erf => {
                // D y = 2/√π·exp(−u²)·D u
                let zero = self.constant(0.0);
                let square = self.product(Code::NegMulSub, [u, u, zero]);
                let bell = self.exponential(square, Start::Apply(Code::Math(Op::Exp), [square; 4]));
                let factor = self.constant(std::f64::consts::FRAC_2_SQRT_PI);
                let (bell, slope) = (self.times(factor, bell), self.derivative(u));
                let z = self.times(slope, bell);
                self.integral(start, z)
            }
            Op::Abs => self.node(start, Rule::Flip([u, u])),
            Op::Min => self.node(start, Rule::Choose(Test::Less, [u, v, u, v])),
            Op::Max => self.node(start, Rule::Choose(Test::Less, [v, u, u, v])),
            Op::Select => {
                let zero = self.constant(0.0);
                self.node(start, Rule::Choose(Test::Differ, [u, zero, v, c]))
            }
            Op::Sign | Op::Floor | Op::Lt | Op::Le | Op::Eq | Op::Ne => return None, // they do not change
        })
    }

    /// uᵛ
    fn power(&mut self, u: Node, v: Node, start: Start) -> Node {
        if self.changes(v) {
            // exp(v ln u); ln u may be of a value that does not change.
            let ln = Start::Apply(Code::Math(Op::Ln), [u; 4]);
            let ln = if self.changes(u) { self.over(u, u, ln) } else { self.node(ln, Rule::Constant) };
            let exponent = self.times(v, ln);
            return self.exponential(exponent, start);
        }
        let exponent = self.number(v).unwrap_or(f64::NAN);
        if exponent.fract() == 0.0 && (0.0..=LARGEST_POWER).contains(&exponent) {
            return self.integer_power(u, exponent as u32, start);
        }
        if exponent == -1.0 || exponent == -2.0 {
            let one = self.constant(1.0);
            let inverse = self.quotient(one, u);
            return if exponent == -1.0 { inverse } else { self.times(inverse, inverse) };
        }
        if exponent == 0.5 {
            return self.root(u, start);
        }
        self.constant_power(u, v, start)
    }

    /// By repeated squaring; the last product has the value that the instruction gives.
    fn integer_power(&mut self, u: Node, n: u32, start: Start) -> Node {
        if n == 0 {
            return self.constant(1.0);
        }
        let mut factors = Vec::new();
        for bit in (0..n.ilog2()).rev() {
            factors.push(None);
            factors.extend((n >> bit & 1 == 1).then_some(Some(u)));
        }
        let mut result = u;
        for (i, factor) in factors.iter().enumerate() {
            let factor = factor.unwrap_or(result);
            let own = Start::Apply(Code::Mul, [result, factor, result, result]);
            let start = if i + 1 == factors.len() { start } else { own };
            result = self.product_from(start, Code::Mul, [result, factor, result]);
        }
        result
    }
}

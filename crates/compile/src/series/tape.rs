//! A program as a tape of power series: what each value's coefficients follow from.
//!
//! Along a solution every value of the program is a series u = Σ uₖ τᵏ. With D u = Σ k uₖ τᵏ (that is τ·du/dτ), an
//! analytic function y of u satisfies an equation such as D y = g·D u with g another series, so that a handful of rules
//! serves the whole table of operators (Jorba and Zou, doi:10.1080/10586458.2005.10128904; Griewank and Walther,
//! *Evaluating Derivatives*, SIAM 2008, ch. 13). For instance
//!
//! - y = exp u: D y = y·D u; sine and cosine: D s = c·D u, D c = −s·D u;
//! - y = uᵃ: u·D y = a·y·D u; y = atan u: (1 + u²)·D y = D u.
//!
//! What does not change along the solution has one coefficient, the time two: sums run over what can be nonzero only.

use super::SeriesError;
use super::draft::Draft;
use crate::factor::with_fewer_products;
use crate::instruction::{Code, Instruction, Operand, Test};
use crate::program::Program;
use leastaction_expr::Op;

/// A series, by its place.
pub(super) type Node = u32;

/// The length of a series that does not end.
pub(super) const ENDLESS: u32 = u32::MAX;

/// The order that ways to write a tape are compared at.
const USUAL: usize = 16;

/// Where the coefficient of order 0 comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Start {
    /// It is zero by its form and never asked for.
    Zero,
    /// An operand of the program that is not a temporary.
    Given(Operand),
    /// An instruction on coefficients of order 0.
    Apply(Code, [Node; 4]),
}

/// How the coefficient of order k ≥ 1 follows from those of other series of order k, and of all series below k.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Rule {
    /// There is none.
    Constant,
    /// 1 at order 1.
    Time,
    /// The state with this number: its rate of order k − 1, over k.
    State(u32),
    /// D of the state with this number: its rate of order k − 1.
    Rate(u32),
    /// D u
    Derivative(Node),
    /// The series y with D y = z.
    Integral(Node),
    /// u
    Same(Node),
    /// −u
    Neg(Node),
    /// u + v or u − v
    Sum(Code, [Node; 2]),
    /// u · v, where u does not change, or a fused product with a third
    Scale(Code, [Node; 3]),
    /// u · v, or a fused product with a third; v is computed after u
    Product(Code, [Node; 3]),
    /// u², or a fused square with another
    Square(Code, [Node; 2]),
    /// n / d, with 1/d₀ and, where n₀ is not zero by its form, n₀/d₀² at hand
    Quotient {
        /// n, d, 1/d₀, n₀/d₀²
        arguments: [Node; 4],
        /// Whether n is computed after d.
        numerator_last: bool,
    },
    /// The series y with y² = u, and 1/(2 y₀)
    Root([Node; 2]),
    /// uᵃ, with the inner terms of D u·y, 1/u₀, a y₀/u₀ and a + 1
    Power([Node; 5]),
    /// The terms of u · v that do not wait for its own order
    Inner([Node; 2]),
    /// c if a and b pass the test at order 0, else d
    Choose(Test, [Node; 4]),
    /// b if a is negative at order 0, else c
    ChooseSign([Node; 3]),
    /// u with its sign changed where that of another is set at order 0
    Flip([Node; 2]),
}

/// The tape.
pub(super) struct Tape {
    /// The program without body and outputs, with the constants that the tape needs.
    pub(super) frame: Program,
    pub(super) starts: Vec<Start>,
    pub(super) rules: Vec<Rule>,
    /// For each series, the first order that can be nonzero.
    pub(super) first: Vec<u32>,
    /// For each series, the first order from which on all are zero.
    pub(super) length: Vec<u32>,
    /// The order in which series are computed.
    pub(super) order: Vec<Node>,
    /// Those of them that are needed beyond order 0.
    pub(super) running: Vec<Node>,
    pub(super) states: Vec<Node>,
    pub(super) rates: Vec<Node>,
}

impl Tape {
    /// The tape of a program that computes the rates of its first inputs. The next input is the time, further ones do
    /// not change.
    pub(super) fn new(program: &Program, states: usize) -> Result<Tape, SeriesError> {
        let factored = with_fewer_products(program, states);
        let mut best = Tape::of(program, states, false)?;
        for (program, joins) in [(Some(program), true), (factored.as_ref(), false), (factored.as_ref(), true)]
        {
            let Some(program) = program else { continue };
            let tape = Tape::of(program, states, joins)?;
            if tape.work(USUAL) < best.work(USUAL) {
                best = tape;
            }
        }
        Ok(best)
    }

    fn of(program: &Program, states: usize, joins: bool) -> Result<Tape, SeriesError> {
        let mut lengths = vec![ENDLESS; states];
        loop {
            let tape = Draft::new(program, &lengths, joins).tape(program, states)?;
            // A state whose rate ends ends one order later, which may end other series in turn.
            let next: Vec<u32> =
                tape.rates.iter().map(|&f| tape.length[f as usize].saturating_add(1)).collect();
            if next == lengths {
                return Ok(tape);
            }
            lengths = next;
        }
    }

    /// Whether a coefficient can be nonzero.
    #[inline(always)]
    pub(super) fn has(&self, node: Node, order: usize) -> bool {
        self.first[node as usize] as usize <= order && order < self.length[node as usize] as usize
    }

    /// The orders that can be nonzero, as a range with its end included.
    #[inline(always)]
    pub(super) fn span(&self, node: Node) -> (usize, usize) {
        (self.first[node as usize] as usize, (self.length[node as usize] - 1) as usize)
    }

    /// Whether all coefficients of the states beyond an order are zero by their form.
    pub(super) fn ends(&self, order: usize) -> bool {
        self.states.iter().all(|&node| self.length[node as usize] as usize <= order + 1)
    }

    /// Whether the field has branches, beyond which its series do not reach.
    pub(super) fn branches(&self) -> bool {
        let jumps = |start: &Start| {
            use Code::{Call, Floor, Math, Max, Min, Round, Select, SelectSign};
            matches!(start, Start::Apply(Floor | Round | Min | Max | Select(_) | SelectSign, _))
                || matches!(start, Start::Apply(Math(op) | Call(op), _) if is_piecewise(*op))
        };
        self.starts.iter().any(jumps)
    }

    /// The number of products in the convolutions up to an order: what unrolled code is mostly made of.
    pub(super) fn work(&self, order: usize) -> usize {
        let each = |rule: &Rule| match rule {
            Rule::Product(..) | Rule::Quotient { .. } | Rule::Power(_) | Rule::Inner(_) => order * order / 2,
            Rule::Square(..) | Rule::Root(_) => order * order / 4,
            _ => order,
        };
        self.running.iter().map(|&n| each(&self.rules[n as usize])).sum()
    }
}

impl Tape {
    /// Finds what is needed beyond order 0.
    pub(super) fn mark(&mut self) {
        let mut needed = vec![false; self.rules.len()];
        let mut open = self.states.clone();
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut needed[node as usize], true) {
                continue;
            }
            match self.rules[node as usize] {
                Rule::Constant | Rule::Time => {}
                Rule::State(i) | Rule::Rate(i) => open.push(self.rates[i as usize]),
                Rule::Derivative(u) | Rule::Integral(u) | Rule::Same(u) | Rule::Neg(u) => open.push(u),
                Rule::Sum(_, nodes) | Rule::Square(_, nodes) => open.extend(nodes),
                Rule::Scale(_, nodes) | Rule::Product(_, nodes) => open.extend(nodes),
                Rule::Quotient { arguments, .. } => open.extend(arguments),
                Rule::Root([u, slope]) | Rule::Flip([u, slope]) => open.extend([u, slope]),
                Rule::Power(nodes) => open.extend(nodes),
                Rule::Inner(nodes) => open.extend(nodes),
                Rule::Choose(_, nodes) => open.extend(nodes),
                Rule::ChooseSign(nodes) => open.extend(nodes),
            }
        }
        let runs = |&node: &Node| needed[node as usize] && self.length[node as usize] > 1;
        self.running = self.order.iter().copied().filter(runs).collect();
    }
}

/// Whether an operator is not analytic inside its domain.
fn is_piecewise(op: Op) -> bool {
    use Op::{Abs, Eq, Floor, Le, Lt, Max, Min, Ne, Select, Sign};
    matches!(op, Abs | Eq | Floor | Le | Lt | Max | Min | Ne | Select | Sign)
}

impl SeriesError {
    /// What an instruction is called in an error.
    pub(super) fn name(instruction: &Instruction) -> String {
        match instruction.code {
            Code::Math(op) | Code::Call(op) | Code::Paired(op) => op.row().name.to_owned(),
            code => format!("{code:?}"),
        }
    }
}

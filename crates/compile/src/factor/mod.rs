//! Writes polynomials of a program with fewer instructions.
//!
//! Gradients by the chain rule come out as l·(a·(l·(x·b) + u)) − …, with products by parameters on the way and with sums that are multiplied
//! again and again. Here a value is a scale, which no lane changes and which is hoisted, times what changes; scales are gathered until
//! something needs the value itself. A sum that is needed once is multiplied out into what needs it, and the factor that most terms share is taken
//! out again; of that and the form as it stands, what costs less is written: fewer instructions, or fewer products of what changes.
//!
//! Rounding: a sum of which two terms are exact, such as a difference of coordinates, is never taken apart. In all others terms carry errors as
//! large as those that multiplying out adds.

mod polynomial;
mod scale;
mod write;

use crate::builder::Builder;
use crate::fuse::{self, use_counts};
use crate::hoist;
use crate::instruction::{Code, Instruction, Operand};
use crate::program::Program;
use leastaction_expr::Op;
use polynomial::{Term, is_delicate, sort};
use rustc_hash::FxHashSet;
use scale::{ONE, Scale, Scales};

/// The most terms that are multiplied out.
const MOST_TERMS: usize = 16;

/// How deep a value may be built from others that are not written.
const DEEPEST: u32 = 64;

/// What became of a value.
enum Value {
    /// It is a scale times what is written, or 0.
    Written(Option<Term>),
    /// It is needed once, by a polynomial perhaps.
    Open(Open),
}

/// A polynomial that is not written.
#[derive(Clone)]
struct Open {
    terms: Vec<Term>,
    /// How deep it is built of others that are not written.
    depth: u32,
    /// Whether it is more than a sum as it stands: something was multiplied out or came together.
    spread: bool,
}

impl Open {
    /// Whether it is a scale times what is written, or 0.
    fn is_written(&self) -> bool {
        self.terms.len() < 2 && self.terms.iter().all(|term| term.factors.len() < 2)
    }
}

struct Factor<'a> {
    program: &'a Program,
    builder: Builder,
    uniforms: Builder,
    scales: Scales,
    /// For each scale, where it is written.
    scaled: Vec<Option<Operand>>,
    /// Scales times values that several instructions need.
    wanted: FxHashSet<(Scale, Operand)>,
    values: Vec<Value>,
    cost: Cost,
    /// Whether polynomials are preferred where they cost as much.
    eager: bool,
    /// Whether there were such.
    tied: bool,
}

/// What there should be less of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cost {
    /// Instructions, after fusion.
    Instructions,
    /// Products of two values that change. Two sums are multiplied out as well.
    Products,
}

/// The program, which has been lowered but not fused, with fewer instructions, as far as it goes; and whether it depends on `eager`.
pub(crate) fn with_fewer_instructions(program: &Program, eager: bool) -> (Program, bool) {
    factored(program, Cost::Instructions, eager)
}

/// The finished program of the first outputs with fewer products of values that change: of series these are convolutions, beside which sums and
/// multiples take next to no time. `None` if there are none to save.
pub(crate) fn with_fewer_products(program: &Program, outputs: usize) -> Option<Program> {
    let plain = fuse::unfused(program, outputs);
    let (factored, _) = factored(&plain, Cost::Products, false);
    let count = |program: &Program| program.body.iter().filter(|i| is_product(i)).count();
    (count(&factored) < count(&plain)).then(|| hoist::hoist(fuse::fuse(factored)))
}

fn factored(program: &Program, cost: Cost, eager: bool) -> (Program, bool) {
    let uses = use_counts(&program.body, &program.outputs);
    let absorbs = absorbing(program);
    let mut factor = Factor {
        program,
        builder: Builder::with_constants(&program.constants, program.body.len()),
        uniforms: Builder::with_body(&program.uniforms),
        scales: Scales::new(),
        scaled: Vec::new(),
        wanted: FxHashSet::default(),
        values: Vec::with_capacity(program.body.len()),
        cost,
        eager,
        tied: false,
    };
    for at in 0..program.body.len() {
        let value = factor.value(at, absorbs[at]);
        factor.values.push(value);
        // What nothing needs is left open and not written.
        if uses[at] > 1 {
            factor.write(at, absorbs[at]);
        }
        if (uses[at] > 1 || !absorbs[at])
            && let Value::Written(Some(Term { scale, factors, .. })) = factor.values[at]
            && let [core] = *factors
        {
            factor.wanted.insert((scale, core));
        }
    }
    let outputs = program.outputs.iter().map(|&o| factor.operand(o)).collect();
    let Factor { builder: Builder { constants, body, .. }, uniforms, tied, .. } = factor;
    let (inputs, parameters) = (program.inputs.clone(), program.parameters.clone());
    (Program { inputs, parameters, constants, uniforms: uniforms.body, body, outputs }, tied)
}

/// Of each value, whether all that need it can take over its scale.
fn absorbing(program: &Program) -> Vec<bool> {
    let mut absorbs = vec![true; program.body.len()];
    let takes = |i: &&Instruction| !is_polynomial(i.code) && i.code != Code::Div;
    let others = program.body.iter().filter(takes).flat_map(|i| i.arguments());
    for operand in others.chain(&program.outputs) {
        if let Operand::Temporary(at) = operand {
            absorbs[*at as usize] = false;
        }
    }
    absorbs
}

/// Whether an instruction is a product of two values that change.
fn is_product(instruction: &Instruction) -> bool {
    instruction.code == Code::Mul && !instruction.arguments().iter().any(|o| o.is_uniform())
}

fn is_polynomial(code: Code) -> bool {
    matches!(code, Code::Add | Code::Sub | Code::Mul | Code::Math(Op::Neg))
}

impl Factor<'_> {
    /// What an instruction gives.
    fn value(&mut self, at: usize, absorbs: bool) -> Value {
        let instruction = self.program.body[at];
        let arguments = instruction.arguments();
        let [a, b, ..] = instruction.operands;
        if instruction.code == Code::Div
            && let Some(value) = self.quotient(a, b, absorbs)
        {
            return value;
        }
        if is_polynomial(instruction.code) {
            for again in [false, true] {
                if again {
                    // Too long: its arguments are written, and are factors then.
                    for &o in arguments {
                        self.term(o);
                    }
                }
                let value = match instruction.code {
                    Code::Mul => self.times(a, b),
                    Code::Math(_) => self.plus(&[(a, true)]),
                    code => self.plus(&[(a, false), (b, code == Code::Sub)]),
                };
                let Some(open) = value else { continue };
                if open.is_written() {
                    return Value::Written(open.terms.first().copied());
                }
                if !is_delicate(&open.terms) {
                    return Value::Open(open);
                }
                self.values.push(Value::Open(open));
                let written = self.write(at, absorbs);
                self.values.pop();
                return Value::Written(written);
            }
        }
        let operands: Vec<Operand> = arguments.iter().map(|&o| self.operand(o)).collect();
        Value::Written(self.plain(instruction.code, &operands))
    }

    /// An instruction as it stands.
    fn plain(&mut self, code: Code, operands: &[Operand]) -> Option<Term> {
        if !operands.iter().all(|o| o.is_uniform()) {
            return Some(Term::value(self.builder.push(code, operands)));
        }
        let value = self.uniform(code, operands);
        self.scales.of(1.0, &[(value, 1)]).map(Term::uniform)
    }

    fn uniform(&mut self, code: Code, operands: &[Operand]) -> Operand {
        match self.uniforms.push(code, operands) {
            Operand::Temporary(at) => Operand::Uniform(at),
            other => other,
        }
    }

    /// a/b.
    fn quotient(&mut self, a: Operand, b: Operand, absorbs: bool) -> Option<Value> {
        let below = self.term(b)?;
        if below.factors.is_empty() {
            self.scales.divides(below.scale);
            let scaled = |factor: &mut Self, term: &Term| {
                let scale = factor.scales.over(term.scale, below.scale)?;
                Some(Term { scale, ..term.negated(below.negative) })
            };
            let Open { terms, depth, .. } = self.open(a);
            let terms: Option<Vec<Term>> = terms.iter().map(|term| scaled(self, term)).collect();
            let open = Open { terms: terms?, depth: depth + 1, spread: true };
            if open.is_written() {
                return Some(Value::Written(open.terms.first().copied()));
            }
            if open.depth <= DEEPEST && !is_delicate(&open.terms) {
                return Some(Value::Open(open));
            }
            let above = self.term(a)?;
            return scaled(self, &above).map(|term| Value::Written(Some(term)));
        }
        let above = self.term(a)?;
        let scale = self.scales.over(above.scale, below.scale)?;
        let (mut rest, mut first) = (scale, above.factors.first().copied());
        if first.is_none() && !absorbs {
            (first, rest) = (Some(self.scale(scale)), ONE);
        }
        let first = first.unwrap_or_else(|| Operand::Constant(self.builder.place(1.0)));
        let core = self.builder.push(Code::Div, &[first, below.factors[0]]);
        let term = Term { scale: rest, ..Term::value(core).negated(above.negative != below.negative) };
        Some(Value::Written(Some(term)))
    }

    /// A value as a polynomial of what is written.
    fn open(&mut self, operand: Operand) -> Open {
        let term = match operand {
            Operand::Temporary(at) => match &self.values[at as usize] {
                Value::Written(term) => *term,
                Value::Open(open) => return open.clone(),
            },
            other => self.term(other),
        };
        Open { terms: term.into_iter().collect(), depth: 0, spread: false }
    }

    /// A constant, a parameter or a uniform.
    fn leaf(&mut self, operand: Operand) -> Option<Term> {
        let Operand::Constant(place) = operand else {
            return self.scales.of(1.0, &[(operand, 1)]).map(Term::uniform);
        };
        let number = self.program.constants[place as usize];
        if number == 0.0 {
            return None;
        }
        // An extreme number is a value like a parameter.
        match self.scales.of(number.abs(), &[]) {
            Some(scale) => Some(Term::uniform(scale).negated(number < 0.0)),
            None => self.scales.of(1.0, &[(operand, 1)]).map(Term::uniform),
        }
    }

    /// The product of two values; `None` if it is too long, or both are sums that are not to be multiplied out.
    fn times(&mut self, a: Operand, b: Operand) -> Option<Open> {
        let (mut many, mut one) = (self.open(a), self.open(b));
        if many.terms.len() < one.terms.len() {
            (many, one) = (one, many);
        }
        many.depth = 1 + many.depth.max(one.depth);
        let count = many.terms.len() * one.terms.len();
        if one.terms.len() > 1 && (self.cost == Cost::Instructions || count > MOST_TERMS * MOST_TERMS) {
            return None;
        }
        many.spread |= count > 1;
        let mut terms = Vec::with_capacity(count);
        for (a, b) in many.terms.iter().flat_map(|a| one.terms.iter().map(move |b| (a, b))) {
            terms.push(self.product_of(a, b)?);
        }
        sort(&mut terms);
        many.terms = if one.terms.len() > 1 { self.merged(&terms)? } else { terms };
        (many.terms.len() <= MOST_TERMS && many.depth <= DEEPEST).then_some(many)
    }

    fn product_of(&mut self, a: &Term, b: &Term) -> Option<Term> {
        let (scale, factors) = (self.scales.times(a.scale, b.scale)?, a.factors.times(&b.factors)?);
        Some(Term { negative: a.negative != b.negative, scale, factors })
    }

    /// The sum of values, some of them negative; `None` if it is too long.
    fn plus(&mut self, values: &[(Operand, bool)]) -> Option<Open> {
        let mut sum = Open { terms: Vec::new(), depth: 0, spread: false };
        for &(value, negative) in values {
            let open = self.open(value);
            sum.terms.extend(open.terms.iter().map(|term| term.negated(negative)));
            (sum.depth, sum.spread) = (sum.depth.max(open.depth + 1), sum.spread || open.spread);
        }
        sort(&mut sum.terms);
        let merged = self.merged(&sum.terms)?;
        sum.spread |= merged.len() < sum.terms.len();
        sum.terms = merged;
        (sum.terms.len() <= MOST_TERMS && sum.depth <= DEEPEST).then_some(sum)
    }

    /// Terms in the order of their factors, with those of the same factors made one.
    fn merged(&mut self, terms: &[Term]) -> Option<Vec<Term>> {
        let mut sum: Vec<Term> = Vec::with_capacity(terms.len());
        for term in terms {
            match sum.last().copied() {
                Some(last) if *last.factors == *term.factors => {
                    sum.pop();
                    sum.extend(self.joined(&last, term)?);
                }
                _ => sum.push(*term),
            }
        }
        Some(sum)
    }

    /// The sum of two terms of the same factors: none if it is 0, `None` if it cannot be written as one.
    fn joined(&mut self, a: &Term, b: &Term) -> Option<Option<Term>> {
        let alike = a.negative == b.negative;
        if a.scale == b.scale && !alike {
            return Some(None);
        }
        let [x, y] = [a.scale, b.scale].map(|scale| self.scales.monomial(scale).clone());
        if x.powers == y.powers {
            let number = if alike { x.number() + y.number() } else { x.number() - y.number() };
            let scale = self.scales.of(number.abs(), &x.powers)?;
            return Some(Some(Term { scale, ..a.negated(number < 0.0) }));
        }
        let code = if alike { Code::Add } else { Code::Sub };
        let [u, v] = [a.scale, b.scale].map(|scale| self.scale(scale));
        let value = self.uniform(code, &[u, v]);
        let scale = self.scales.of(1.0, &[(value, 1)])?;
        Some(Some(Term { scale, ..*a }))
    }
}

//! Writes polynomials of a program with fewer products: a product of two series is a convolution, while a sum or a multiple costs next to nothing.
//!
//! Gradients by the chain rule come out as a·(x·b) − c·(x·d). Multiplied out, and with the factor that most terms share taken out again, that is
//! x·(a·b − c·d): a product less, and what is in parentheses may be there already. What is needed once is multiplied out into what needs it;
//! and only where that saves products is it written so, for elsewhere it would only lose accuracy.

use crate::builder::Builder;
use crate::fuse::use_counts;
use crate::instruction::{Code, Instruction, Operand};
use crate::program::Program;
use leastaction_expr::Op;

/// The most terms that are multiplied out, and the most factors of one.
const MOST_TERMS: usize = 16;
const MOST_FACTORS: usize = 8;

/// A term: a number, times values in their order.
#[derive(Clone, Debug, PartialEq)]
struct Term {
    number: f64,
    factors: Vec<Operand>,
}

/// A sum of terms in the order of their factors, which differ.
type Polynomial = Vec<Term>;

/// What became of a value.
enum Value {
    /// It is written, here.
    Written(Operand),
    /// It is needed once, by a polynomial perhaps: what it is, and how many products it takes as it stands.
    Open(Polynomial, usize),
}

struct Factor<'a> {
    program: &'a Program,
    builder: Builder,
    values: Vec<Value>,
    saved: bool,
}

/// The program of the first outputs with fewer products; `None` if there are none to save.
pub(super) fn factored(program: &Program, outputs: usize) -> Option<Program> {
    let uses = use_counts(&program.body, &program.outputs[..outputs]);
    let builder = Builder::with_constants(&program.constants, program.body.len());
    let values = Vec::with_capacity(program.body.len());
    let mut factor = Factor { program, builder, values, saved: false };
    for (at, instruction) in program.body.iter().enumerate() {
        let value = factor.value(instruction);
        factor.values.push(value);
        // What nothing needs is left open and not written.
        if uses[at] > 1 {
            factor.write(at);
        }
    }
    let outputs = program.outputs[..outputs].iter().map(|&o| factor.operand(o)).collect();
    let Factor { builder: Builder { constants, body, .. }, saved, .. } = factor;
    saved.then(|| Program { constants, body, outputs, ..program.clone() })
}

/// Whether a value changes along the motion, as far as one can see here.
fn changes(operand: Operand) -> bool {
    !operand.is_uniform()
}

fn times(a: &Polynomial, b: &Polynomial) -> Polynomial {
    let product = |(a, b): (&Term, &Term)| {
        let mut factors = [a.factors.as_slice(), b.factors.as_slice()].concat();
        factors.sort_unstable();
        Term { number: a.number * b.number, factors }
    };
    a.iter().flat_map(|a| b.iter().map(move |b| product((a, b)))).collect()
}

fn scaled(a: &Polynomial, number: f64) -> Polynomial {
    a.iter().map(|term| Term { number: number * term.number, factors: term.factors.clone() }).collect()
}

/// The sum of two polynomials, or of terms in any order.
fn plus(a: Polynomial, b: Polynomial) -> Polynomial {
    let mut all = [a, b].concat();
    all.sort_by(|a, b| a.factors.cmp(&b.factors));
    let mut sum: Polynomial = Vec::with_capacity(all.len());
    for term in all {
        match sum.last_mut() {
            Some(last) if last.factors == term.factors => last.number += term.number,
            _ => sum.push(term),
        }
    }
    sum.retain(|term| term.number != 0.0);
    sum
}

/// The changing factors of a term.
fn changing(term: &Term) -> impl Iterator<Item = Operand> {
    term.factors.iter().copied().filter(|&factor| changes(factor))
}

/// The factor that most products share, if two do.
fn shared(polynomial: &Polynomial) -> Option<Operand> {
    let products = || polynomial.iter().filter(|term| changing(term).count() > 1);
    let mut factors: Vec<Operand> = products().flat_map(changing).collect();
    factors.sort_unstable();
    factors.dedup();
    let count = |factor: Operand| products().filter(|term| term.factors.contains(&factor)).count();
    let best = factors.into_iter().map(|factor| (count(factor), factor)).max()?;
    (best.0 > 1).then_some(best.1)
}

/// A polynomial as `factor` times the first, plus the second.
fn divided(polynomial: &Polynomial, factor: Operand) -> (Polynomial, Polynomial) {
    let (mut with, without): (Polynomial, Polynomial) = polynomial
        .iter()
        .cloned()
        .partition(|term| changing(term).count() > 1 && term.factors.contains(&factor));
    for term in &mut with {
        if let Some(place) = term.factors.iter().position(|&f| f == factor) {
            term.factors.remove(place);
        }
    }
    (plus(with, Vec::new()), without)
}

/// The products that [`Factor::polynomial`] takes.
fn cost(polynomial: &Polynomial) -> usize {
    match shared(polynomial) {
        Some(factor) => {
            let (with, without) = divided(polynomial, factor);
            1 + cost(&with) + cost(&without)
        }
        None => polynomial.iter().map(|term| changing(term).count().saturating_sub(1)).sum(),
    }
}

impl Factor<'_> {
    /// What an instruction gives.
    fn value(&mut self, instruction: &Instruction) -> Value {
        let arguments = instruction.arguments();
        let [a, b, c, _] = instruction.operands;
        let code = match instruction.code {
            Code::Math(Op::Add) => Code::Add,
            Code::Math(Op::Sub) => Code::Sub,
            Code::Math(Op::Mul) => Code::Mul,
            code => code,
        };
        let is_polynomial = matches!(
            code,
            Code::Add
                | Code::Sub
                | Code::Mul
                | Code::MulAdd
                | Code::MulSub
                | Code::NegMulAdd
                | Code::NegMulSub
        ) || code == Code::Math(Op::Neg);
        if !is_polynomial {
            let operands: Vec<Operand> = arguments.iter().map(|&o| self.operand(o)).collect();
            return Value::Written(self.builder.push(instruction.code, &operands));
        }
        for _ in 0..2 {
            let one = |factor: &Self, o: Operand, sign: f64| scaled(&factor.expanded(o), sign);
            let product =
                |factor: &Self, sign: f64| scaled(&times(&factor.expanded(a), &factor.expanded(b)), sign);
            let found = match code {
                Code::Add => plus(one(self, a, 1.0), one(self, b, 1.0)),
                Code::Sub => plus(one(self, a, 1.0), one(self, b, -1.0)),
                Code::Math(_) => one(self, a, -1.0),
                Code::Mul => plus(product(self, 1.0), Vec::new()),
                Code::MulAdd => plus(product(self, 1.0), one(self, c, 1.0)),
                Code::MulSub => plus(product(self, 1.0), one(self, c, -1.0)),
                Code::NegMulAdd => plus(product(self, -1.0), one(self, c, 1.0)),
                _ => plus(product(self, -1.0), one(self, c, -1.0)),
            };
            let fits =
                found.len() <= MOST_TERMS && found.iter().all(|term| term.factors.len() <= MOST_FACTORS);
            if fits && found.iter().all(|term| term.number.is_finite()) {
                let multiplies = !matches!(code, Code::Add | Code::Sub | Code::Math(_));
                let own = usize::from(multiplies && self.does_change(a) && self.does_change(b));
                let cost = own + arguments.iter().map(|&o| self.cost(o)).sum::<usize>();
                return Value::Open(found, cost);
            }
            // Too long: its arguments are written, and are factors then.
            for &o in arguments {
                self.operand(o);
            }
        }
        let operands: Vec<Operand> = arguments.iter().map(|&o| self.operand(o)).collect();
        Value::Written(self.builder.push(instruction.code, &operands))
    }

    /// A value as a polynomial of what is written.
    fn expanded(&self, operand: Operand) -> Polynomial {
        let alone = |factor: Operand| vec![Term { number: 1.0, factors: vec![factor] }];
        match operand {
            Operand::Constant(place) => {
                let number = self.program.constants[place as usize];
                if number == 0.0 { Vec::new() } else { vec![Term { number, factors: Vec::new() }] }
            }
            Operand::Temporary(at) => match &self.values[at as usize] {
                Value::Written(value) => alone(*value),
                Value::Open(polynomial, _) => polynomial.clone(),
            },
            other => alone(other),
        }
    }

    fn cost(&self, operand: Operand) -> usize {
        match operand {
            Operand::Temporary(at) => match &self.values[at as usize] {
                Value::Written(_) => 0,
                Value::Open(_, cost) => *cost,
            },
            _ => 0,
        }
    }

    fn does_change(&self, operand: Operand) -> bool {
        match operand {
            Operand::Temporary(at) => match &self.values[at as usize] {
                Value::Written(value) => changes(*value),
                Value::Open(polynomial, _) => polynomial.iter().any(|term| changing(term).next().is_some()),
            },
            other => changes(other),
        }
    }

    /// An operand of the new program.
    fn operand(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Temporary(at) => self.write(at as usize),
            other => other,
        }
    }

    /// Writes a value: with fewer products, or as it stood.
    fn write(&mut self, at: usize) -> Operand {
        let written = match &self.values[at] {
            Value::Written(value) => return *value,
            Value::Open(polynomial, before) if cost(polynomial) < *before => {
                let polynomial = polynomial.clone();
                self.saved = true;
                self.polynomial(polynomial)
            }
            Value::Open(..) => {
                let instruction = self.program.body[at];
                let operands: Vec<Operand> =
                    instruction.arguments().iter().map(|&o| self.operand(o)).collect();
                self.builder.push(instruction.code, &operands)
            }
        };
        self.values[at] = Value::Written(written);
        written
    }

    /// Writes a polynomial.
    fn polynomial(&mut self, polynomial: Polynomial) -> Operand {
        let Some(factor) = shared(&polynomial) else { return self.sum(&polynomial) };
        let (with, mut without) = divided(&polynomial, factor);
        let (number, with) = primitive(with);
        let inner = self.polynomial(with);
        let product = self.builder.push(Code::Mul, &[factor, inner]);
        without.push(Term { number, factors: vec![product] });
        self.polynomial(plus(without, Vec::new()))
    }

    /// Writes a sum of products, a positive one first.
    fn sum(&mut self, terms: &Polynomial) -> Operand {
        let first = terms.iter().position(|term| term.number > 0.0).unwrap_or(0);
        let rest = (0..terms.len()).filter(|&at| at != first);
        let mut sum = None;
        for term in std::iter::once(first).chain(rest).filter_map(|at| terms.get(at)) {
            sum = Some(self.more(sum, term));
        }
        sum.unwrap_or_else(|| Operand::Constant(self.builder.place(0.0)))
    }

    /// A term more.
    fn more(&mut self, sum: Option<Operand>, term: &Term) -> Operand {
        let mut fixed: Vec<Operand> = term.factors.iter().copied().filter(|&f| !changes(f)).collect();
        if term.number.abs() != 1.0 || term.factors.is_empty() {
            fixed.push(Operand::Constant(self.builder.place(term.number.abs())));
        }
        let mut factors: Vec<Operand> = changing(term).collect();
        if let Some(multiple) = self.product(&fixed) {
            // The number last, so that the product can be found again with another.
            factors = self.product(&factors).into_iter().chain([multiple]).collect();
        }
        let last = factors.pop().unwrap_or(Operand::Constant(0)); // not reached: there is a factor or a number
        let (product, minus) = (self.product(&factors), term.number < 0.0);
        let zero = Operand::Constant(self.builder.place(0.0));
        match (product, sum, minus) {
            (Some(product), Some(sum), false) => self.builder.push(Code::MulAdd, &[product, last, sum]),
            (Some(product), Some(sum), true) => self.builder.push(Code::NegMulAdd, &[product, last, sum]),
            (Some(product), None, false) => self.builder.push(Code::Mul, &[product, last]),
            (Some(product), None, true) => self.builder.push(Code::NegMulSub, &[product, last, zero]),
            (None, Some(sum), false) => self.builder.push(Code::Add, &[sum, last]),
            (None, Some(sum), true) => self.builder.push(Code::Sub, &[sum, last]),
            (None, None, false) => last,
            (None, None, true) => self.builder.push(Code::Sub, &[zero, last]),
        }
    }

    fn product(&mut self, factors: &[Operand]) -> Option<Operand> {
        factors.iter().copied().reduce(|a, b| self.builder.push(Code::Mul, &[a, b]))
    }
}

/// A number times a polynomial whose first term has the number 1, or at least a positive one: so that what differs by a number only is
/// found again. Numbers are divided only where that is exact.
fn primitive(mut polynomial: Polynomial) -> (f64, Polynomial) {
    let first = polynomial.first().map_or(1.0, |term| term.number);
    let exact = |term: &Term| ((term.number / first).mul_add(first, -term.number)) == 0.0;
    let number = if polynomial.iter().all(exact) { first } else { first.signum() };
    polynomial.iter_mut().for_each(|term| term.number /= number);
    (number, polynomial)
}

//! Writes polynomials of a program with fewer instructions.
//!
//! Gradients by the chain rule come out as l·(a·(l·(x·b) + u)) − …, with products by parameters on the way and with sums that are multiplied
//! again and again. Here a value is a scale, which no lane changes and which is hoisted, times what changes; scales are gathered until
//! something needs the value itself. A sum that is needed once is multiplied out into what needs it, and the factor that most terms share is taken
//! out again; of that and the form as it stands, what takes fewer instructions is written.
//!
//! Rounding: a sum of which two terms are exact, such as a difference of coordinates, is never taken apart. In all others terms carry errors as
//! large as those that multiplying out adds.

mod polynomial;
mod scale;

use crate::builder::Builder;
use crate::fuse::use_counts;
use crate::instruction::{Code, Instruction, Operand};
use crate::program::Program;
use leastaction_expr::Op;
use polynomial::{Factors, Term, divided, is_delicate, is_plain, shared};
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
    /// Whether polynomials are preferred where they take as many instructions.
    eager: bool,
    /// Whether there were such.
    tied: bool,
}

/// The program, which has been lowered but not fused, with fewer instructions, as far as it goes; and whether it depends on `eager`.
pub(crate) fn factored(program: &Program, eager: bool) -> (Program, bool) {
    let uses = use_counts(&program.body, &program.outputs);
    let absorbs = absorbing(program);
    let mut factor = Factor {
        program,
        builder: Builder::with_constants(&program.constants, program.body.len()),
        uniforms: Builder::default(),
        scales: Scales::new(),
        scaled: Vec::new(),
        wanted: FxHashSet::default(),
        values: Vec::with_capacity(program.body.len()),
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
                let found = match instruction.code {
                    Code::Mul => self.times(a, b),
                    Code::Math(_) => self.plus(&[(a, true)]),
                    code => self.plus(&[(a, false), (b, code == Code::Sub)]),
                };
                let Some(open) = found else { continue };
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
        let found = self.scales.of(number.abs(), &[]);
        match found {
            Some(scale) => Some(Term::uniform(scale).negated(number < 0.0)),
            None => self.scales.of(1.0, &[(operand, 1)]).map(Term::uniform),
        }
    }

    /// The product of two values, one of which is a term; `None` if it is too long.
    fn times(&mut self, a: Operand, b: Operand) -> Option<Open> {
        let (mut many, mut one) = (self.open(a), self.open(b));
        if many.terms.len() < one.terms.len() {
            (many, one) = (one, many);
        }
        many.depth = 1 + many.depth.max(one.depth);
        match one.terms[..] {
            [] => many.terms.clear(),
            [one] => {
                many.spread |= many.terms.len() > 1;
                for term in &mut many.terms {
                    *term = self.product_of(term, &one)?;
                }
                many.terms.sort_by(|a, b| a.factors.cmp(&b.factors));
            }
            _ => return None,
        }
        (many.depth <= DEEPEST).then_some(many)
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
        sum.terms.sort_by(|a, b| a.factors.cmp(&b.factors));
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

    /// Where a scale is written.
    fn scale(&mut self, scale: Scale) -> Operand {
        if let Some(&Some(known)) = self.scaled.get(scale as usize) {
            return known;
        }
        let monomial = self.scales.monomial(scale).clone();
        let one = Operand::Constant(self.builder.place(1.0));
        let mut above =
            (monomial.number() != 1.0).then(|| Operand::Constant(self.builder.place(monomial.number())));
        let mut below = None;
        for &(value, power) in &monomial.powers {
            for _ in 0..power.unsigned_abs() {
                let part = if power > 0 { &mut above } else { &mut below };
                *part = Some(part.map_or(value, |product| self.uniform(Code::Mul, &[product, value])));
            }
        }
        let above = above.unwrap_or(one);
        let found = below.map_or(above, |below| self.uniform(Code::Div, &[above, below]));
        self.scaled.resize(self.scaled.len().max(scale as usize + 1), None);
        self.scaled[scale as usize] = Some(found);
        found
    }

    /// An operand of the new program.
    fn operand(&mut self, operand: Operand) -> Operand {
        let Operand::Temporary(at) = operand else { return operand };
        let Some(term) = self.write(at as usize, false) else {
            return Operand::Constant(self.builder.place(0.0));
        };
        let (known, scale) = (self.scale(term.scale), term.scale);
        let signed = |factor: &mut Self, value: Operand| match (term.negative, value) {
            (false, value) => value,
            (true, Operand::Constant(place)) => {
                let number = factor.builder.constants[place as usize];
                Operand::Constant(factor.builder.place(-number))
            }
            (true, value) if value.is_uniform() => factor.uniform(Code::Math(Op::Neg), &[value]),
            (true, value) => factor.builder.push(Code::Math(Op::Neg), &[value]),
        };
        let Some(&core) = term.factors.first() else { return signed(self, known) };
        if scale == ONE {
            return signed(self, core);
        }
        match self.builder.find(Code::Mul, &[known, core]) {
            Some(product) => signed(self, product),
            None => {
                let known = signed(self, known);
                self.builder.push(Code::Mul, &[known, core])
            }
        }
    }

    /// A value as a scale times what is written.
    fn term(&mut self, operand: Operand) -> Option<Term> {
        match operand {
            Operand::Temporary(at) => self.write(at as usize, true),
            Operand::Input(_) => Some(Term::value(operand)),
            other => self.leaf(other),
        }
    }

    /// Writes a value, in the form that takes fewer instructions.
    fn write(&mut self, at: usize, absorbs: bool) -> Option<Term> {
        let open = match &self.values[at] {
            Value::Written(term) => return *term,
            Value::Open(open) => open.clone(),
        };
        let written = match open.terms[..] {
            [] => None,
            [term] => Some(self.multiplied(term)),
            ref terms if !open.spread && is_plain(terms) => self.structure(at, absorbs),
            _ => {
                let begin = self.builder.body.len();
                let factored = self.polynomial(&open.terms, absorbs);
                let after = self.cost(begin, factored, absorbs);
                let tail = self.builder.body[begin..].to_vec();
                self.builder.truncate(begin);
                let plain = self.structure(at, absorbs);
                let before = self.cost(begin, plain, absorbs);
                let tied = after == before && self.builder.body[begin..] != tail[..];
                self.tied |= tied;
                if after < before || tied && self.eager {
                    self.builder.truncate(begin);
                    self.polynomial(&open.terms, absorbs)
                } else {
                    plain
                }
            }
        };
        self.values[at] = Value::Written(written);
        written
    }

    /// The instructions since `begin`, after fusion.
    fn cost(&self, begin: usize, term: Option<Term>, absorbs: bool) -> usize {
        let body = &self.builder.body[begin..];
        let product = |operand: &Operand| match operand {
            Operand::Temporary(at) => {
                (*at as usize).checked_sub(begin).is_some_and(|at| body[at].code == Code::Mul)
            }
            _ => false,
        };
        let fuses = |i: &&Instruction| i.code != Code::Mul && i.arguments().iter().any(product);
        let pending = term.is_some_and(|term| term.scale != ONE && !absorbs);
        body.len() - body.iter().filter(fuses).count() + usize::from(pending)
    }

    /// A value in the form as it stands.
    fn structure(&mut self, at: usize, absorbs: bool) -> Option<Term> {
        let term = self.form(at, absorbs)?;
        Some(self.multiplied(term))
    }

    /// The same, but a product is left as a term.
    fn form(&mut self, at: usize, absorbs: bool) -> Option<Term> {
        if let Value::Written(term) = self.values[at] {
            return term;
        }
        let Instruction { code, operands: [a, b, ..] } = self.program.body[at];
        let mut form = |o: Operand| match o {
            Operand::Temporary(at) => self.form(at as usize, true),
            other => self.term(other),
        };
        let first = form(a);
        if code == Code::Math(Op::Neg) {
            return first.map(|term| term.negated(true));
        }
        let second = form(b);
        match code {
            Code::Mul => {
                let (mut first, mut second) = (first?, second?);
                if first.factors.times(&second.factors).is_none() {
                    (first, second) = (self.multiplied(first), self.multiplied(second));
                }
                self.product_of(&first, &second)
            }
            Code::Div => {
                let (first, second) = (first?, second?);
                let scale = self.scales.over(first.scale, second.scale)?;
                Some(Term { scale, ..first.negated(second.negative) })
            }
            _ => {
                let second = second.map(|term| term.negated(code == Code::Sub));
                let mut terms: Vec<Term> = [first, second].into_iter().flatten().collect();
                terms.sort_by(|a, b| a.factors.cmp(&b.factors));
                let terms = self.merged(&terms).unwrap_or(terms);
                self.sum(&terms, absorbs)
            }
        }
    }

    /// A polynomial, with factors that terms share taken out.
    fn polynomial(&mut self, terms: &[Term], absorbs: bool) -> Option<Term> {
        let Some(factor) = shared(terms) else { return self.sum(terms, absorbs) };
        let (with, mut without) = divided(terms, factor);
        let inner = self.polynomial(&with, true);
        if let Some(inner) = inner {
            let core = inner.factors.first().map(|&core| self.builder.push(Code::Mul, &[factor, core]));
            without.push(Term { factors: Factors::one(core.unwrap_or(factor)), ..inner });
        }
        match without[..] {
            [] => None,
            [term] => Some(self.multiplied(term)),
            _ => {
                without.sort_by(|a, b| a.factors.cmp(&b.factors));
                let terms = self.merged(&without).unwrap_or(without);
                self.polynomial(&terms, absorbs)
            }
        }
    }

    /// A sum of terms as they are, less a scale that they share.
    fn sum(&mut self, terms: &[Term], absorbs: bool) -> Option<Term> {
        let (&first, rest) = terms.split_first()?;
        if rest.is_empty() {
            return Some(self.multiplied(first));
        }
        let scale = self.common(terms, absorbs);
        let less = |scales: &mut Scales, term: &Term| {
            let scale = scales.over(term.scale, scale)?;
            Some(Term { scale, ..*term })
        };
        let mut left = Vec::with_capacity(terms.len());
        for term in terms {
            left.push(less(&mut self.scales, term)?);
        }
        // Products are fused into sums, but for the first.
        let start = left.iter().position(|t| t.factors.is_empty() || t.factors.len() == 1 && t.scale == ONE);
        left[..=start.unwrap_or(0)].rotate_right(1);
        let negative = left[0].negative;
        let mut sum = None;
        for term in left {
            let value = self.full(&term);
            sum = Some(match sum {
                None => value,
                Some(sum) => {
                    let code = if term.negative == negative { Code::Add } else { Code::Sub };
                    self.builder.push(code, &[sum, value])
                }
            });
        }
        Some(Term { negative, scale, factors: Factors::one(sum?) })
    }

    /// The scale that is best taken out of a sum.
    fn common(&mut self, terms: &[Term], absorbs: bool) -> Scale {
        let mut best = (self.left(terms, ONE).unwrap_or(usize::MAX), ONE);
        for term in terms.iter().filter(|term| term.scale != ONE) {
            if let Some(left) = self.left(terms, term.scale) {
                best = best.min((left + usize::from(!absorbs), term.scale));
            }
        }
        best.1
    }

    /// The products by scales that are left in a sum if a scale is taken out; `None` if it cannot be.
    fn left(&mut self, terms: &[Term], scale: Scale) -> Option<usize> {
        let mut count = 0;
        for term in terms {
            let rest = self.scales.shared(term.scale, scale)?;
            count += usize::from(
                rest != ONE && !term.factors.is_empty() && self.ready(rest, &term.factors).is_none(),
            );
        }
        Some(count)
    }

    /// The factor that is needed with this scale anyway.
    fn ready(&self, scale: Scale, factors: &Factors) -> Option<Operand> {
        factors.iter().copied().find(|&factor| self.wanted.contains(&(scale, factor)))
    }

    /// A term with its scale, but without its sign.
    fn full(&mut self, term: &Term) -> Operand {
        let scale = self.scale(term.scale);
        if term.factors.is_empty() {
            return scale;
        }
        if term.scale == ONE {
            return self.product(&term.factors);
        }
        if let Some(factor) = self.ready(term.scale, &term.factors) {
            let scaled = self.builder.push(Code::Mul, &[scale, factor]);
            let rest = term.factors.without(factor);
            return match rest.times(&Factors::one(scaled)) {
                Some(factors) => self.product(&factors),
                None => scaled, // not reached: a factor was taken out
            };
        }
        let product = self.product(&term.factors);
        self.builder.push(Code::Mul, &[scale, product])
    }

    /// A term with its product written.
    fn multiplied(&mut self, term: Term) -> Term {
        match term.factors.len() {
            0 | 1 => term,
            _ => Term { factors: Factors::one(self.product(&term.factors)), ..term },
        }
    }

    /// A product of one factor or more, by what is there already where that is possible.
    fn product(&mut self, factors: &Factors) -> Operand {
        let mut factors = *factors;
        while let [a, b, ref more @ ..] = *factors {
            if more.is_empty() {
                return self.builder.push(Code::Mul, &[a, b]);
            }
            let mut pairs = (0..factors.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
            let known = pairs.find_map(|(j, i)| {
                let (a, b) = (factors[j], factors[i]);
                self.builder.find(Code::Mul, &[a, b]).map(|product| (a, b, product))
            });
            let (a, b, product) = known.unwrap_or_else(|| (a, b, self.builder.push(Code::Mul, &[a, b])));
            let rest = factors.without(a).without(b);
            factors = rest.times(&Factors::one(product)).unwrap_or(rest);
        }
        factors[0]
    }
}

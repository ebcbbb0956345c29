//! Writes what is needed: scales, products and sums.

use super::polynomial::{Factors, Term, divided, is_plain, shared, sort};
use super::scale::{ONE, Scale, Scales};
use super::{Cost, Factor, Value, is_product};
use crate::instruction::{Code, Instruction, Operand};
use leastaction_expr::Op;

impl Factor<'_> {
    /// Where a scale is written.
    pub(super) fn scale(&mut self, scale: Scale) -> Operand {
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
        let scaled = below.map_or(above, |below| self.uniform(Code::Div, &[above, below]));
        self.scaled.resize(self.scaled.len().max(scale as usize + 1), None);
        self.scaled[scale as usize] = Some(scaled);
        scaled
    }

    /// An operand of the new program.
    pub(super) fn operand(&mut self, operand: Operand) -> Operand {
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
    pub(super) fn term(&mut self, operand: Operand) -> Option<Term> {
        match operand {
            Operand::Temporary(at) => self.write(at as usize, true),
            Operand::Input(_) => Some(Term::value(operand)),
            other => self.leaf(other),
        }
    }

    /// Writes a value, in the form that costs less.
    pub(super) fn write(&mut self, at: usize, absorbs: bool) -> Option<Term> {
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

    /// What the instructions since `begin` cost.
    fn cost(&self, begin: usize, term: Option<Term>, absorbs: bool) -> usize {
        let body = &self.builder.body[begin..];
        if self.cost == Cost::Products {
            return body.iter().filter(|i| is_product(i)).count();
        }
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
                sort(&mut terms);
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
                sort(&mut without);
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
            return self.product(&term.factors.without(factor).with(scaled));
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
            factors = factors.without(a).without(b).with(product);
        }
        factors[0]
    }
}

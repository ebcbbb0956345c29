//! Polynomials: sums of terms, each a scale times values that change.

use super::scale::{ONE, Scale};
use crate::instruction::Operand;

/// The most factors of a term.
const MOST_FACTORS: usize = 8;

/// Values that change, in their order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factors {
    count: u8,
    list: [Operand; MOST_FACTORS],
}

impl Factors {
    pub(super) const NONE: Factors = Factors { count: 0, list: [Operand::Constant(0); MOST_FACTORS] };

    pub(super) fn one(value: Operand) -> Factors {
        Factors { count: 1, list: [value; MOST_FACTORS] }
    }

    /// The factors of a product; `None` if they are too many.
    pub(super) fn times(&self, other: &Factors) -> Option<Factors> {
        let count = self.len() + other.len();
        if count > MOST_FACTORS {
            return None;
        }
        let mut list = self.list;
        list[self.len()..count].copy_from_slice(other);
        list[..count].sort_unstable();
        Some(Factors { count: count as u8, list })
    }

    /// The factors without one of them.
    pub(super) fn without(&self, factor: Operand) -> Factors {
        let Some(at) = self.iter().position(|&f| f == factor) else {
            unreachable!("{factor:?} is not one of {self:?}");
        };
        let mut rest = *self;
        rest.list.copy_within(at + 1..self.len(), at);
        rest.count -= 1;
        rest
    }

    /// The factors with another in the place of one that was taken out.
    pub(super) fn with(&self, factor: Operand) -> Factors {
        match self.times(&Factors::one(factor)) {
            Some(factors) => factors,
            None => unreachable!("there is no room for {factor:?} beside {self:?}"),
        }
    }
}

impl std::ops::Deref for Factors {
    type Target = [Operand];

    fn deref(&self) -> &[Operand] {
        &self.list[..usize::from(self.count)]
    }
}

/// A term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub(super) negative: bool,
    pub(super) scale: Scale,
    pub(super) factors: Factors,
}

impl Term {
    /// A value itself.
    pub(super) fn value(value: Operand) -> Term {
        Term { negative: false, scale: ONE, factors: Factors::one(value) }
    }

    pub(super) fn uniform(scale: Scale) -> Term {
        Term { negative: false, scale, factors: Factors::NONE }
    }

    pub(super) fn negated(self, negative: bool) -> Term {
        Term { negative: self.negative != negative, ..self }
    }

    /// Whether it carries no error of rounding that is worth mentioning: products of inputs, and what does not change.
    fn is_exact(&self) -> bool {
        self.factors.iter().all(|factor| matches!(factor, Operand::Input(_)))
    }
}

/// Whether a sum can be much more accurate than its terms: then it is not multiplied out, nor taken apart.
pub(super) fn is_delicate(terms: &[Term]) -> bool {
    terms.iter().filter(|term| term.is_exact()).count() > 1
}

/// Puts terms in the order of their factors.
#[allow(clippy::unnecessary_sort_by)] // a key would be borrowed from the term
pub(super) fn sort(terms: &mut [Term]) {
    terms.sort_by(|a, b| (*a.factors).cmp(&*b.factors));
}

/// Whether there is nothing that could be taken out of a sum.
pub(super) fn is_plain(terms: &[Term]) -> bool {
    terms.iter().all(|term| term.scale == ONE) && shared(terms).is_none()
}

/// The factor that most products share, if two do.
pub(super) fn shared(terms: &[Term]) -> Option<Operand> {
    let products = || terms.iter().filter(|term| term.factors.len() > 1);
    let mut best: Option<(usize, Operand)> = None;
    for (at, term) in products().enumerate() {
        for &factor in term.factors.iter() {
            let holds = |term: &&Term| term.factors.contains(&factor);
            // Counted where it is met first.
            if !products().take(at).any(|term| holds(&term)) {
                best = best.max(Some((products().filter(holds).count(), factor)));
            }
        }
    }
    best.filter(|&(count, _)| count > 1).map(|(_, factor)| factor)
}

/// A polynomial as `factor` times the first, plus the second.
pub(super) fn divided(terms: &[Term], factor: Operand) -> (Vec<Term>, Vec<Term>) {
    let (mut with, without): (Vec<Term>, Vec<Term>) =
        terms.iter().partition(|term| term.factors.len() > 1 && term.factors.contains(&factor));
    with.iter_mut().for_each(|term| term.factors = term.factors.without(factor));
    (with, without)
}

//! What no lane changes, as a product: a positive number, times powers of uniform values. It costs nothing, for it is hoisted.

use crate::instruction::Operand;
use rustc_hash::{FxHashMap, FxHashSet};

/// A scale, by its place in the list.
pub(super) type Scale = u32;

/// The scale 1.
pub(super) const ONE: Scale = 0;

/// Products of more powers than this are not gathered: with large parameters they could overflow.
const MOST_POWERS: u32 = 8;

/// Numbers outside of these bounds are not gathered.
const NUMBERS: std::ops::Range<f64> = 1e-100..1e100;

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Monomial {
    bits: u64,
    /// In the order of the values; no power is 0.
    pub(super) powers: Vec<(Operand, i8)>,
}

impl Monomial {
    pub(super) fn number(&self) -> f64 {
        f64::from_bits(self.bits)
    }
}

/// All scales of a program, each once.
pub(super) struct Scales {
    list: Vec<Monomial>,
    known: FxHashMap<Monomial, Scale>,
    joined: FxHashMap<(Scale, Scale, bool), Option<Scale>>,
    /// What the program divides by already, so that it is not 0.
    nonzero: FxHashSet<Operand>,
}

impl Scales {
    pub(super) fn new() -> Scales {
        let one = Monomial { bits: 1f64.to_bits(), powers: Vec::new() };
        Scales {
            known: FxHashMap::from_iter([(one.clone(), ONE)]),
            list: vec![one],
            joined: FxHashMap::default(),
            nonzero: FxHashSet::default(),
        }
    }

    pub(super) fn monomial(&self, scale: Scale) -> &Monomial {
        &self.list[scale as usize]
    }

    /// A number times a value; `None` if the number is not positive, or extreme.
    pub(super) fn of(&mut self, number: f64, powers: &[(Operand, i8)]) -> Option<Scale> {
        if !NUMBERS.contains(&number) {
            return None;
        }
        let monomial = Monomial { bits: number.to_bits(), powers: powers.to_vec() };
        Some(*self.known.entry(monomial).or_insert_with_key(|monomial| {
            self.list.push(monomial.clone());
            self.list.len() as Scale - 1
        }))
    }

    /// a·b.
    pub(super) fn times(&mut self, a: Scale, b: Scale) -> Option<Scale> {
        match (a, b) {
            (a, ONE) => Some(a),
            (ONE, b) => Some(b),
            (a, b) => self.join(a.min(b), a.max(b), false),
        }
    }

    /// a/b.
    pub(super) fn over(&mut self, a: Scale, b: Scale) -> Option<Scale> {
        match (a, b) {
            (a, ONE) => Some(a),
            (a, b) if a == b => Some(ONE),
            (a, b) => self.join(a, b, true),
        }
    }

    fn join(&mut self, a: Scale, b: Scale, over: bool) -> Option<Scale> {
        if let Some(&found) = self.joined.get(&(a, b, over)) {
            return found;
        }
        let (x, y) = (&self.list[a as usize], &self.list[b as usize]);
        let number = if over { x.number() / y.number() } else { x.number() * y.number() };
        let mut powers = x.powers.clone();
        for &(value, power) in &y.powers {
            let power = if over { -power } else { power };
            match powers.binary_search_by_key(&value, |&(value, _)| value) {
                Ok(at) if powers[at].1 + power == 0 => drop(powers.remove(at)),
                Ok(at) => powers[at].1 += power,
                Err(at) => powers.insert(at, (value, power)),
            }
        }
        let size: u32 = powers.iter().map(|&(_, power)| u32::from(power.unsigned_abs())).sum();
        let joined = if size <= MOST_POWERS { self.of(number, &powers) } else { None };
        self.joined.insert((a, b, over), joined);
        joined
    }

    /// Remembers that the program divides by a scale.
    pub(super) fn divides(&mut self, scale: Scale) {
        let powers = &self.list[scale as usize].powers;
        self.nonzero.extend(powers.iter().filter(|(_, power)| *power > 0).map(|&(value, _)| value));
    }

    /// a/b, if that divides by nothing that the program does not divide by already.
    pub(super) fn shared(&mut self, a: Scale, b: Scale) -> Option<Scale> {
        let quotient = self.over(a, b)?;
        let has = |value: Operand| {
            let powers = &self.list[a as usize].powers;
            powers.iter().find(|(v, _)| *v == value).map_or(0, |&(_, power)| power)
        };
        let safe = |&(value, power): &(Operand, i8)| {
            power > 0 || power >= has(value) || self.nonzero.contains(&value)
        };
        self.list[quotient as usize].powers.iter().all(safe).then_some(quotient)
    }
}

//! Expressions as sums of products of powers of atoms: symbols, functions, and sums that stay in brackets.

use super::ratio::Ratio;
use crate::graph::{Graph, Id, Node};
use crate::op::Op;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// An atom, by its number.
pub(super) type AtomId = u32;

/// A product of powers of atoms, in their order.
pub(super) type Product = Vec<(AtomId, i32)>;

/// A sum of products.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Poly(pub(super) BTreeMap<Product, Ratio>);

/// What is multiplied.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Atom {
    Symbol(Id),
    Call(Op, Vec<Poly>),
    /// A sum in brackets.
    Group(Poly),
}

/// Sums do not grow larger than this: more is no textbook's.
const MOST: usize = 400;

/// All atoms.
#[derive(Default)]
pub(super) struct Atoms {
    pub(super) all: Vec<Atom>,
    symbols: FxHashMap<Id, AtomId>,
}

impl Poly {
    pub(super) fn number(value: Ratio) -> Poly {
        let mut poly = Poly::default();
        poly.add(Product::new(), value);
        poly
    }

    pub(super) fn of(product: Product, coefficient: Ratio) -> Poly {
        let mut poly = Poly::default();
        poly.add(product, coefficient);
        poly
    }

    pub(super) fn add(&mut self, product: Product, coefficient: Ratio) {
        let sum = self.0.get(&product).map_or(coefficient, |before| before.plus(coefficient));
        if sum.is_zero() {
            self.0.remove(&product);
        } else {
            self.0.insert(product, sum);
        }
    }

    pub(super) fn plus(mut self, other: &Poly) -> Poly {
        other.0.iter().for_each(|(product, &coefficient)| self.add(product.clone(), coefficient));
        self
    }

    pub(super) fn scaled(&self, by: Ratio) -> Poly {
        Poly(
            self.0
                .iter()
                .map(|(product, c)| (product.clone(), c.times(by)))
                .filter(|(_, c)| !c.is_zero())
                .collect(),
        )
    }

    pub(super) fn negated(&self) -> Poly {
        self.scaled(Ratio::Exact(-1, 1))
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    /// The only term, if there is one.
    pub(super) fn single(&self) -> Option<(&Product, Ratio)> {
        let (product, &coefficient) = self.0.iter().next()?;
        (self.0.len() == 1).then_some((product, coefficient))
    }

    pub(super) fn as_number(&self) -> Option<Ratio> {
        match self.single() {
            None if self.is_zero() => Some(Ratio::Exact(0, 1)),
            Some((product, value)) if product.is_empty() => Some(value),
            _ => None,
        }
    }
}

/// A product times another.
pub(super) fn multiplied(a: &Product, b: &Product) -> Product {
    let mut all: BTreeMap<AtomId, i32> = a.iter().copied().collect();
    for &(atom, power) in b {
        *all.entry(atom).or_insert(0) += power;
    }
    all.into_iter().filter(|(_, power)| *power != 0).collect()
}

impl Atoms {
    pub(super) fn atom(&mut self, atom: Atom) -> AtomId {
        if let Atom::Symbol(id) = atom {
            let next = self.all.len() as AtomId;
            let known = *self.symbols.entry(id).or_insert(next);
            if known == next {
                self.all.push(atom);
            }
            return known;
        }
        let known = self.all.iter().position(|other| *other == atom);
        known.unwrap_or_else(|| {
            self.all.push(atom);
            self.all.len() - 1
        }) as AtomId
    }

    pub(super) fn times(&mut self, a: &Poly, b: &Poly) -> Option<Poly> {
        if a.0.len() * b.0.len() > 4 * MOST {
            return None;
        }
        let mut product = Poly::default();
        let mut more = Vec::new();
        for (x, &c) in &a.0 {
            for (y, &d) in &b.0 {
                let both = multiplied(x, y);
                // The square of a root is what stands under it.
                match both.iter().position(|&(atom, n)| {
                    n >= 2 && n % 2 == 0 && matches!(self.all[atom as usize], Atom::Call(Op::Sqrt, _))
                }) {
                    Some(place) => more.push((both, place, c.times(d))),
                    None => product.add(both, c.times(d)),
                }
            }
        }
        for (mut both, place, coefficient) in more {
            let (atom, n) = both.remove(place);
            let Atom::Call(_, under) = self.all[atom as usize].clone() else {
                unreachable!("a root is a call")
            };
            let whole = self.power(&under[0], n / 2)?;
            let part = self.times(&Poly::of(both, coefficient), &whole)?;
            product = product.plus(&part);
        }
        (product.0.len() <= MOST).then_some(product)
    }

    /// A whole power.
    pub(super) fn power(&mut self, base: &Poly, n: i32) -> Option<Poly> {
        if let Some((product, coefficient)) = base.single() {
            let product =
                product.iter().map(|&(atom, power)| (atom, power * n)).filter(|(_, n)| *n != 0).collect();
            let once = Poly::of(product, coefficient.power(n)?);
            return self.times(&once, &Poly::number(Ratio::ONE));
        }
        if (0..=3).contains(&n) {
            let mut product = Poly::number(Ratio::ONE);
            for _ in 0..n {
                product = self.times(&product, base)?;
            }
            return Some(product);
        }
        if base.is_zero() {
            return None;
        }
        let (inside, content) = self.without_content(base);
        let group = self.atom(Atom::Group(inside));
        let content = self.power(&content, n)?;
        self.times(&Poly::of(vec![(group, n)], Ratio::ONE), &content)
    }

    /// A sum without what all of its terms have in common, and that.
    pub(super) fn without_content(&self, sum: &Poly) -> (Poly, Poly) {
        if let Some((product, number)) = sum.single() {
            return (Poly::number(Ratio::ONE), Poly::of(product.clone(), number));
        }
        let mut terms = sum.0.iter();
        let Some((first, &ratio)) = terms.next() else { return (sum.clone(), Poly::number(Ratio::ONE)) };
        let (mut product, mut number) =
            (first.clone(), if ratio.is_negative() { ratio.negated() } else { ratio });
        for (other, &ratio) in terms {
            number = number.common(ratio);
            product = common(&product, other);
        }
        // The first term is positive.
        if ratio.is_negative() {
            number = number.negated();
        }
        let Some(inverse) = number.inverse() else { return (sum.clone(), Poly::number(Ratio::ONE)) };
        let away: Product = product.iter().map(|&(atom, n)| (atom, -n)).collect();
        let inside =
            Poly(sum.0.iter().map(|(term, &c)| (multiplied(term, &away), c.times(inverse))).collect());
        (inside, Poly::of(product, number))
    }

    /// A function of sums.
    fn call(&mut self, op: Op, mut arguments: Vec<Poly>) -> Poly {
        let numbers: Option<Vec<f64>> = arguments.iter().map(|a| Some(a.as_number()?.value())).collect();
        if let Some(numbers) = numbers {
            let value = (op.row().value)(&numbers);
            if value.fract() == 0.0 && value.is_finite() {
                return Poly::number(Ratio::of(value));
            }
        }
        let mut sign = Ratio::ONE;
        if matches!(op, Op::Sin | Op::Cos | Op::Tan | Op::Abs)
            && arguments[0].0.values().next().is_some_and(|first| first.is_negative())
        {
            arguments[0] = arguments[0].negated();
            if matches!(op, Op::Sin | Op::Tan) {
                sign = Ratio::Exact(-1, 1);
            }
        }
        let atom = self.atom(Atom::Call(op, arguments));
        Poly::of(vec![(atom, 1)], sign)
    }

    /// An expression; none if it is too large, or has no value.
    pub(super) fn read(&mut self, graph: &Graph, roots: &[Id]) -> Option<Vec<Poly>> {
        let mut known: FxHashMap<Id, Poly> = FxHashMap::default();
        for (id, node) in graph.order(roots) {
            let argument = |i: usize| &known[&node.arguments()[i]];
            let poly = match node {
                Node::Number(bits) => {
                    let value = f64::from_bits(bits);
                    if !value.is_finite() {
                        return None;
                    }
                    if value == 0.0 { Poly::default() } else { Poly::number(Ratio::of(value)) }
                }
                Node::Symbol(_) => {
                    let atom = self.atom(Atom::Symbol(id));
                    Poly::of(vec![(atom, 1)], Ratio::ONE)
                }
                Node::Apply(Op::Add, _) => argument(0).clone().plus(argument(1)),
                Node::Apply(Op::Sub, _) => argument(0).clone().plus(&argument(1).negated()),
                Node::Apply(Op::Neg, _) => argument(0).negated(),
                Node::Apply(Op::Mul, _) => self.times(argument(0), argument(1))?,
                Node::Apply(Op::Div, _) => {
                    let inverse = self.power(argument(1), -1)?;
                    self.times(argument(0), &inverse)?
                }
                Node::Apply(Op::Pow, _) => {
                    let (base, exponent) = (argument(0).clone(), argument(1).as_number());
                    match exponent.map(Ratio::value) {
                        Some(n) if n.fract() == 0.0 && n.abs() <= 12.0 => self.power(&base, n as i32)?,
                        Some(n) if (2.0 * n).fract() == 0.0 && n.abs() <= 12.0 => {
                            let root = self.call(Op::Sqrt, vec![base]);
                            self.power(&root, (2.0 * n) as i32)?
                        }
                        _ => self.call(Op::Pow, vec![base, argument(1).clone()]),
                    }
                }
                Node::Apply(op, _) => {
                    let arguments = node.arguments().iter().map(|a| known[a].clone()).collect();
                    self.call(op, arguments)
                }
            };
            if poly.0.len() > MOST {
                return None;
            }
            let poly = self.trigonometric(poly)?;
            known.insert(id, poly);
        }
        Some(roots.iter().map(|id| known[id].clone()).collect())
    }
}

/// What two products have in common, with negative powers too.
fn common(a: &Product, b: &Product) -> Product {
    let power = |product: &Product, atom: AtomId| {
        product.iter().find(|(other, _)| *other == atom).map_or(0, |(_, n)| *n)
    };
    let atoms: std::collections::BTreeSet<AtomId> = a.iter().chain(b).map(|(atom, _)| *atom).collect();
    let both = atoms.into_iter().map(|atom| (atom, power(a, atom).min(power(b, atom))));
    both.filter(|(_, n)| *n != 0).collect()
}

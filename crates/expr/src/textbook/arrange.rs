//! Sums as they are printed: in which order, and what stands before brackets.

use super::poly::{Atom, AtomId, Poly, Product, multiplied};
use super::ratio::Ratio;
use super::{SymbolKind, Textbook};
use crate::op::{Form, Op};
use crate::{Expr, Graph};
use std::collections::BTreeMap;

/// A printed sum.
pub(super) struct Shown(Vec<Term>);

/// A term: its sign, and what is above and below the line.
struct Term {
    negative: bool,
    above: Vec<Factor>,
    below: Vec<Factor>,
}

/// A factor in both notations, and whether a power of it needs brackets.
#[derive(Clone)]
struct Factor {
    text: String,
    latex: String,
    power: i32,
    /// A sum in brackets, which has none of its own.
    sum: bool,
    /// A function in LaTeX, whose power stands behind its name.
    function: Option<(String, String)>,
}

impl Factor {
    fn number(value: &str) -> Factor {
        Factor { text: value.to_owned(), latex: value.to_owned(), power: 1, sum: false, function: None }
    }

    fn in_text(&self, alone: bool) -> String {
        let base = if self.sum && !(alone && self.power == 1) {
            format!("({})", self.text)
        } else {
            self.text.clone()
        };
        if self.power == 1 { base } else { format!("{base}^{}", self.power) }
    }

    fn in_latex(&self, alone: bool) -> String {
        if let (Some((name, argument)), true) = (&self.function, self.power != 1) {
            return format!("{name}^{{{}}}{argument}", self.power);
        }
        let bracketed = self.sum && !(alone && self.power == 1);
        let base = if bracketed { format!(r"\left({}\right)", self.latex) } else { self.latex.clone() };
        if self.power == 1 { base } else { format!("{base}^{{{}}}", self.power) }
    }
}

impl Term {
    fn text(&self) -> String {
        let product = |factors: &[Factor]| {
            let alone = factors.len() == 1;
            factors.iter().map(|factor| factor.in_text(alone)).collect::<Vec<_>>().join("*")
        };
        let many = self.above.len() > 1 || !self.below.is_empty();
        let above = match (&self.above[..], many) {
            ([], _) => "1".to_owned(),
            ([one], true) => one.in_text(false),
            (all, _) => product(all),
        };
        match &self.below[..] {
            [] => above,
            [one] => format!("{above}/{}", one.in_text(false)),
            all => format!("{above}/({})", product(all)),
        }
    }

    fn latex(&self) -> String {
        let product = |factors: &[Factor], alone: bool| match factors {
            [] => "1".to_owned(),
            all => all
                .iter()
                .map(|factor| factor.in_latex(alone && all.len() == 1))
                .collect::<Vec<_>>()
                .join(r" \, "),
        };
        if self.below.is_empty() {
            return product(&self.above, false);
        }
        // Functions and brackets stand behind the fraction, unless there is a sum below it.
        let whole = self.above.len() == 1 || self.below.iter().any(|factor| factor.sum);
        let split = self.above.iter().position(|factor| !whole && (factor.function.is_some() || factor.sum));
        let (inside, behind) = self.above.split_at(split.unwrap_or(self.above.len()));
        let fraction = format!(r"\frac{{{}}}{{{}}}", product(inside, true), product(&self.below, true));
        match behind {
            [] => fraction,
            behind => format!(r"{fraction} \, {}", product(behind, false)),
        }
    }
}

impl Shown {
    pub(super) fn text(&self) -> String {
        self.joined(Term::text)
    }

    pub(super) fn latex(&self) -> String {
        self.joined(Term::latex)
    }

    fn joined(&self, write: impl Fn(&Term) -> String) -> String {
        let mut text = String::new();
        for term in &self.0 {
            let sign = match (text.is_empty(), term.negative) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            text.push_str(sign);
            text.push_str(&write(term));
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }
}

/// The place of a factor in its product.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Symbol(SymbolKind, usize),
    Group,
    Function(usize, AtomId),
    Last(usize),
}

impl<'g> Textbook<'g> {
    /// A sum with its common factors in front of brackets: terms that move alike stand together.
    pub(super) fn arranged(&self, sum: &Poly) -> Shown {
        let mut groups: BTreeMap<Product, Poly> = BTreeMap::new();
        for (product, &coefficient) in &sum.0 {
            let (own, moving): (Product, Product) =
                product.iter().partition(|(atom, _)| self.is_parameter(*atom));
            groups.entry(moving).or_default().add(own, coefficient);
        }
        let mut groups: Vec<(Product, Poly)> = groups.into_iter().collect();
        self.gather_accelerations(&mut groups);
        groups.sort_by_key(|(moving, _)| self.rank_of(moving));
        let mut terms = Vec::new();
        for (moving, coefficient) in &groups {
            match moving.is_empty() {
                false => terms.push(self.term(moving, coefficient)),
                // Nothing moves in it: there is nothing to put in front of brackets.
                true => terms.extend(
                    coefficient
                        .0
                        .iter()
                        .map(|(own, &number)| self.term(moving, &Poly::of(own.clone(), number))),
                ),
            }
        }
        // What does not move stands in front of what is taken away from it, and of sines and cosines.
        if let Some((moving, still)) = groups.last()
            && moving.is_empty()
            && terms[terms.len() - still.0.len()..].iter().all(|term| !term.negative)
        {
            let functions = groups
                .iter()
                .flat_map(|(moving, _)| moving)
                .all(|(atom, _)| matches!(self.rank(*atom), Rank::Function(..)));
            if functions || terms[0].negative {
                terms.rotate_right(still.0.len());
            }
        }
        Shown(terms)
    }

    /// A sum over a divisor.
    pub(super) fn fraction(&self, above: &Poly, divisor: AtomId) -> Shown {
        Shown(vec![self.term(&vec![(divisor, -1)], above)])
    }

    /// All that is multiplied by an acceleration becomes one group.
    fn gather_accelerations(&self, groups: &mut Vec<(Product, Poly)>) {
        let acceleration = |(moving, _): &(Product, Poly)| {
            let found =
                moving.iter().find(|(atom, n)| *n == 1 && self.part(*atom) == SymbolKind::Acceleration);
            found.map(|(atom, _)| *atom)
        };
        let mut gathered: BTreeMap<AtomId, Vec<(Product, Poly)>> = BTreeMap::new();
        let mut others = Vec::new();
        for group in groups.drain(..) {
            match acceleration(&group) {
                Some(atom) => gathered.entry(atom).or_default().push(group),
                None => others.push(group),
            }
        }
        for (atom, mut alike) in gathered {
            if alike.len() > 1 {
                let mut whole = Poly::default();
                for (moving, coefficient) in &alike {
                    let rest: Product = moving.iter().filter(|(other, _)| *other != atom).copied().collect();
                    for (own, &number) in &coefficient.0 {
                        whole.add(multiplied(own, &rest), number);
                    }
                }
                alike = vec![(Product::from_iter([(atom, 1)]), whole)];
            }
            others.append(&mut alike);
        }
        *groups = others;
    }

    /// Accelerations in their order, then products of velocities, then the rest.
    fn rank_of(&self, moving: &Product) -> (bool, usize, i32, Vec<(AtomId, i32)>) {
        let acceleration = moving.iter().find_map(|&(atom, _)| match &self.atoms.all[atom as usize] {
            Atom::Symbol(id) => match self.parts.get(id) {
                Some((SymbolKind::Acceleration, place)) => Some(*place),
                _ => None,
            },
            _ => None,
        });
        let speed: i32 = moving
            .iter()
            .filter(|(atom, _)| self.part(*atom) == SymbolKind::Velocity)
            .map(|(_, n)| n.max(&0))
            .sum();
        let powers = moving.iter().map(|&(atom, n)| (atom, -n)).collect();
        (moving.is_empty(), acceleration.unwrap_or(0), -speed, powers)
    }

    fn rank(&self, atom: AtomId) -> Rank {
        match &self.atoms.all[atom as usize] {
            Atom::Symbol(id) => match self.parts.get(id) {
                Some((SymbolKind::Acceleration, place)) => Rank::Last(*place),
                Some((part, place)) => Rank::Symbol(*part, *place),
                None => Rank::Symbol(SymbolKind::Coordinate, usize::MAX),
            },
            Atom::Group(_) => Rank::Group,
            Atom::Call(op, _) => Rank::Function(usize::from(*op != Op::Sqrt), atom),
        }
    }

    fn term(&self, moving: &Product, coefficient: &Poly) -> Term {
        let (inside, content) = self.atoms.without_content(coefficient);
        let (own, number) = content.single().map_or((Product::new(), Ratio::ONE), |(p, n)| (p.clone(), n));
        let negative = number.is_negative();
        let number = if negative { number.negated() } else { number };
        let mut factors: Vec<(Rank, Factor)> = Vec::new();
        for (atom, power) in multiplied(&own, moving) {
            factors.push((self.rank(atom), self.factor(atom, power)));
        }
        if inside.as_number().is_none_or(|one| !one.is_one()) {
            let shown = self.arranged(&inside);
            let sum =
                Factor { text: shown.text(), latex: shown.latex(), power: 1, sum: true, function: None };
            factors.push((Rank::Symbol(SymbolKind::Parameter, usize::MAX), sum));
        }
        factors.sort_by(|a, b| a.0.cmp(&b.0));
        let (above, below): (Vec<_>, Vec<_>) =
            factors.into_iter().map(|(_, factor)| factor).partition(|factor| factor.power > 0);
        let mut above: Vec<Factor> = above;
        let mut below: Vec<Factor> =
            below.into_iter().map(|factor| Factor { power: -factor.power, ..factor }).collect();
        let (numerator, denominator) = match number {
            Ratio::Exact(n, d) => ((n != 1).then(|| n.to_string()), (d != 1).then(|| d.to_string())),
            Ratio::Real(value) => (Some(value.to_string()), None),
        };
        above.splice(0..0, numerator.map(|n| Factor::number(&n)));
        below.splice(0..0, denominator.map(|d| Factor::number(&d)));
        Term { negative, above, below }
    }

    fn factor(&self, atom: AtomId, power: i32) -> Factor {
        let plain = |expr: Expr<'g>| Factor {
            text: expr.to_string(),
            latex: expr.latex(),
            power,
            sum: false,
            function: None,
        };
        match &self.atoms.all[atom as usize] {
            Atom::Symbol(id) => plain(self.graph.at(*id)),
            Atom::Group(sum) => {
                let shown = self.arranged(sum);
                Factor { text: shown.text(), latex: shown.latex(), power, sum: true, function: None }
            }
            Atom::Call(op, arguments) if matches!(op.row().form, Form::Call) => {
                let shown: Vec<Shown> = arguments.iter().map(|a| self.arranged(a)).collect();
                let inside = shown.iter().map(Shown::text).collect::<Vec<_>>().join(", ");
                let text = format!("{}({inside})", op.row().name);
                let single = shown.len() == 1
                    && matches!(op, Op::Sin | Op::Cos | Op::Tan | Op::Sinh | Op::Cosh | Op::Tanh | Op::Ln);
                if *op == Op::Sqrt {
                    return Factor {
                        text,
                        latex: format!(r"\sqrt{{{}}}", shown[0].latex()),
                        power,
                        sum: false,
                        function: None,
                    };
                }
                if !single {
                    return Factor { text, ..plain(self.call(*op, arguments)) };
                }
                let simple = arguments[0]
                    .single()
                    .is_some_and(|(product, n)| n.is_one() && matches!(&product[..], [(_, 1)]));
                let argument = match simple {
                    true => format!("{{{}}}", shown[0].latex()),
                    false => format!(r"\left({}\right)", shown[0].latex()),
                };
                let name = format!(r"\{}", op.row().name);
                Factor {
                    text,
                    latex: format!("{name}{argument}"),
                    power,
                    sum: false,
                    function: Some((name, argument)),
                }
            }
            Atom::Call(op, arguments) => Factor { sum: true, ..plain(self.call(*op, arguments)) },
        }
    }

    fn call(&self, op: Op, arguments: &[Poly]) -> Expr<'g> {
        let arguments: Vec<Expr<'g>> = arguments.iter().map(|a| self.expression_of(a)).collect();
        self.graph.apply(op, &arguments)
    }

    /// A sum as an expression.
    pub(super) fn expression_of(&self, sum: &Poly) -> Expr<'g> {
        let graph: &'g Graph = self.graph;
        graph.sum(sum.0.iter().map(|(product, coefficient)| {
            product.iter().fold(graph.number(coefficient.value()), |whole, &(atom, n)| {
                let base = match &self.atoms.all[atom as usize] {
                    Atom::Symbol(id) => graph.at(*id),
                    Atom::Group(sum) => self.expression_of(sum),
                    Atom::Call(op, arguments) => self.call(*op, arguments),
                };
                whole * base.pow(n)
            })
        }))
    }
}

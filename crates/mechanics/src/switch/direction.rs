//! Directions: lengths of velocities that forces are divided by, as dry friction in the plane is, −μ v/|v|. At rest there is none.
//!
//! A force P/D whose divisor D has the length N = |a| of a vector a as a factor, and that vanishes without a, is linear in the direction u = a/N where the
//! motion comes to rest. It becomes an expression of u and of N as symbols of their own. What stands for u follows from the motion, or, at rest, from what holds it
//! there ([`slide`](super::slide)); any length that is small enough stands for N then.

use crate::equations::depend;
use leastaction_expr::{Expr, Graph, Id, Node, Op, Substitution};
use rustc_hash::FxHashMap;

/// What stands for a length at rest: 2⁻³⁰⁰. Products with it lose no digit, and sums with anything that matters do not see it.
pub(super) const AT_REST: f64 = 4.909_093_465_297_727e-91;

/// A length of velocities, as it is written with velocities, and a vector that has it.
#[derive(Clone, Debug)]
pub(crate) struct Length<'g> {
    pub(crate) length: Expr<'g>,
    /// Each component as a product: what does not depend on velocities, and what does.
    components: Vec<[Expr<'g>; 2]>,
}

/// The lengths of velocities that expressions are divided by.
pub(crate) fn divisors<'g>(
    graph: &'g Graph,
    expressions: &[Expr<'g>],
    velocities: &[Expr<'g>],
) -> Vec<Expr<'g>> {
    let roots: Vec<_> = expressions.iter().map(|e| e.id()).collect();
    let mut found: Vec<Expr<'g>> = Vec::new();
    for (_, node) in graph.order(&roots) {
        let Node::Apply(Op::Div, [_, divisor, _]) = node else { continue };
        for (factor, _) in factors(graph.at(divisor)) {
            let is_length = matches!(graph.node(factor.id()), Node::Apply(Op::Sqrt | Op::Hypot, _));
            if is_length && depend(&[factor], velocities) && !found.contains(&factor) {
                found.push(factor);
            }
        }
    }
    found
}

impl<'g> Length<'g> {
    /// A length whose square is a sum of squares of what depends on velocities, and of nothing else.
    pub(crate) fn new(length: Expr<'g>, velocities: &[Expr<'g>]) -> Option<Length<'g>> {
        let graph = length.graph();
        let components = match graph.node(length.id()) {
            Node::Apply(Op::Hypot, [a, b, _]) => {
                let part = |id: Id| [graph.number(1.0), graph.at(id)];
                [a, b].map(part).into_iter().filter(|[_, part]| part.as_number() != Some(0.0)).collect()
            }
            Node::Apply(Op::Sqrt, [square, ..]) => squares(graph.at(square), graph.number(1.0), velocities)?,
            _ => return None,
        };
        let moves = |[coefficient, part]: &[Expr<'g>; 2]| {
            depend(&[*part], velocities) && !depend(&[*coefficient], velocities)
        };
        components.iter().all(moves).then_some(Length { length, components })
    }
}

/// The components of a vector whose square, times another one, is a sum.
fn squares<'g>(sum: Expr<'g>, scale: Expr<'g>, velocities: &[Expr<'g>]) -> Option<Vec<[Expr<'g>; 2]>> {
    let graph = sum.graph();
    if let Node::Apply(Op::Add, [a, b, _]) = graph.node(sum.id()) {
        let mut components = squares(graph.at(a), scale, velocities)?;
        components.extend(squares(graph.at(b), scale, velocities)?);
        return Some(components);
    }
    let (moving, still): (Vec<_>, Vec<_>) =
        factors(sum).into_iter().partition(|(factor, _)| depend(&[*factor], velocities));
    let root = |&(factor, power): &(Expr<'g>, i32)| match power % 2 {
        0 => factor.pow(f64::from(power / 2)),
        _ => factor.pow(f64::from(power)).sqrt(),
    };
    let is_negative =
        |&(factor, power): &(Expr<'g>, i32)| power % 2 != 0 && factor.as_number().is_some_and(|x| x < 0.0);
    if still.iter().any(is_negative) {
        return None;
    }
    let scale = still.iter().fold(scale, |scale, factor| scale * root(factor));
    match moving[..] {
        [(part, 2)] => Some(vec![[scale, part]]),
        [(sum, 1)] if matches!(graph.node(sum.id()), Node::Apply(Op::Add, _)) => {
            squares(sum, scale, velocities)
        }
        _ => None,
    }
}

/// The factors of a product with their powers, each once.
fn factors(e: Expr<'_>) -> Vec<(Expr<'_>, i32)> {
    let (graph, mut open, mut found) = (e.graph(), vec![(e, 1)], Vec::<(Expr<'_>, i32)>::new());
    while let Some((e, power)) = open.pop() {
        let at = |id: Id| graph.at(id);
        match graph.node(e.id()) {
            Node::Apply(Op::Neg, [a, ..]) => open.extend([(at(a), power), (graph.number(-1.0), power)]),
            Node::Apply(Op::Mul, [a, b, _]) => open.extend([(at(a), power), (at(b), power)]),
            Node::Apply(Op::Div, [a, b, _]) => open.extend([(at(a), power), (at(b), -power)]),
            Node::Apply(Op::Pow, [a, n, _]) if at(n).as_number().is_some_and(|n| n.fract() == 0.0) => {
                let n = at(n).as_number().map_or(1, |n| n as i32);
                open.push((at(a), n * power));
            }
            _ => match found.iter_mut().find(|(factor, _)| *factor == e) {
                Some((_, known)) => *known += power,
                None => found.push((e, power)),
            },
        }
    }
    found
}

/// A length with its symbols.
pub(super) struct Contact<'g> {
    /// The length, as it is written.
    pub(super) written: String,
    /// What stands for the length, and for the components of the direction.
    pub(super) length: Expr<'g>,
    pub(super) direction: Vec<Expr<'g>>,
    /// The vector, in phase space.
    pub(super) vector: Vec<Expr<'g>>,
    /// What lengths are, and what becomes of velocities where they are divided by it: as they are written with velocities, and with momenta.
    forms: [(Expr<'g>, Substitution<'g>, Substitution<'g>); 2],
}

impl<'g> Contact<'g> {
    /// The contact of a length, where velocities are these in phase space.
    pub(super) fn new(
        graph: &'g Graph,
        place: usize,
        Length { length, components }: &Length<'g>,
        momenta: &[Expr<'g>],
        velocities: &Substitution<'g>,
    ) -> Contact<'g> {
        let symbol = graph.symbol(&format!("length {place}"));
        let direction: Vec<_> =
            (0..components.len()).map(|i| graph.symbol(&format!("direction {place} {i}"))).collect();
        let form = |in_phase_space: bool| {
            let place = |e: Expr<'g>| if in_phase_space { velocities.apply(&[e])[0] } else { e };
            let mut moving = Substitution::new(graph);
            let mut at_rest = Substitution::new(graph);
            at_rest.replace(place(*length), graph.number(0.0));
            moving.replace(place(*length), symbol);
            for ([coefficient, part], &u) in components.iter().zip(&direction) {
                // Numbers in a velocity, as a mass, are drawn together with others: what is left is the momentum.
                let (base, scale) = bare(place(*part), momenta);
                moving.replace(base, symbol * u / (place(*coefficient) * scale));
                at_rest.replace(base, graph.number(0.0));
            }
            (place(*length), moving, at_rest)
        };
        let vector: Vec<_> = components.iter().map(|[c, part]| *c * *part).collect();
        Contact {
            written: length.to_string(),
            length: symbol,
            vector: velocities.apply(&vector),
            forms: [form(false), form(true)],
            direction,
        }
    }

    /// Whether a divisor has this length as a factor.
    fn divides(&self, below: Expr<'g>) -> bool {
        let factors = factors(below);
        let is_length = |factor: Expr<'g>| self.forms.iter().any(|(length, ..)| factor == *length);
        factors.iter().any(|(factor, power)| *power > 0 && is_length(*factor))
    }

    /// A quotient by this length as an expression of the direction, if it is one that vanishes without it.
    fn directed(&self, above: Expr<'g>, below: Expr<'g>) -> Option<Expr<'g>> {
        self.forms.iter().find_map(|(length, moving, at_rest)| {
            let divides = factors(below).iter().any(|(factor, power)| factor == length && *power > 0);
            let vanishes = || at_rest.apply(&[above])[0].as_number() == Some(0.0);
            (divides && vanishes()).then(|| moving.apply(&[above])[0] / moving.apply(&[below])[0])
        })
    }

    /// A divisor that is not 0 at rest.
    fn guarded(&self, below: Expr<'g>) -> Option<Expr<'g>> {
        let lengths = self.forms.iter().map(|(length, ..)| *length);
        let mut lengths = lengths
            .filter(|length| factors(below).iter().any(|(factor, power)| factor == length && *power > 0));
        let length = lengths.next()?;
        Some(below.substitute(&[(length, length + length.equals(0.0))]))
    }
}

/// A velocity that is a momentum, or a sum of them, times what does not depend on momenta.
fn bare<'g>(velocity: Expr<'g>, momenta: &[Expr<'g>]) -> (Expr<'g>, Expr<'g>) {
    let (moving, still): (Vec<_>, Vec<_>) =
        factors(velocity).into_iter().partition(|(factor, _)| depend(&[*factor], momenta));
    match moving[..] {
        [(base, 1)] => {
            let scale = still.iter().map(|(factor, power)| factor.pow(f64::from(*power)));
            (base, scale.fold(velocity.like(1.0), |scale, factor| scale * factor))
        }
        _ => (velocity, velocity.like(1.0)),
    }
}

/// Expressions of directions, in place of quotients by lengths.
pub(super) fn directed<'g>(contacts: &[Contact<'g>], expressions: &[Expr<'g>]) -> Vec<Expr<'g>> {
    let by_direction = |above, below| contacts.iter().find_map(|contact| contact.directed(above, below));
    rebuilt(contacts, expressions, &by_direction)
}

/// Expressions that are 0 at rest where directions have no meaning.
pub(super) fn guarded<'g>(contacts: &[Contact<'g>], expressions: &[Expr<'g>]) -> Vec<Expr<'g>> {
    let by_guard = |above, below| {
        let contact = contacts.iter().find(|contact| contact.directed(above, below).is_some())?;
        contact.guarded(below).map(|below| above / below)
    };
    rebuilt(contacts, expressions, &by_guard)
}

/// A sum of quotients by lengths that do not vanish at rest, and of what is none: times a velocity they may, as in x' · (1 + μ/N).
#[derive(Clone)]
struct Open<'g> {
    quotients: Vec<[Expr<'g>; 2]>,
    rest: Expr<'g>,
}

impl<'g> Open<'g> {
    fn times(&self, factor: Expr<'g>) -> Open<'g> {
        let quotients = self.quotients.iter().map(|&[above, below]| [above * factor, below]);
        Open { quotients: quotients.collect(), rest: self.rest * factor }
    }

    fn plus(mut self, other: Open<'g>) -> Open<'g> {
        self.quotients.extend(other.quotients);
        Open { rest: self.rest + other.rest, ..self }
    }

    fn value(&self) -> Expr<'g> {
        self.quotients.iter().fold(self.rest, |sum, &[above, below]| sum + above / below)
    }
}

/// Expressions with others in place of quotients by lengths.
fn rebuilt<'g>(
    contacts: &[Contact<'g>],
    expressions: &[Expr<'g>],
    quotient: &dyn Fn(Expr<'g>, Expr<'g>) -> Option<Expr<'g>>,
) -> Vec<Expr<'g>> {
    let Some(graph) = expressions.first().map(|e| e.graph()) else { return Vec::new() };
    let roots: Vec<_> = expressions.iter().map(|e| e.id()).collect();
    let mut images: FxHashMap<Id, Expr<'g>> = FxHashMap::default();
    let mut open: FxHashMap<Id, Open<'g>> = FxHashMap::default();
    for (id, node) in graph.order(&roots) {
        let Node::Apply(op, [a, b, _]) = node else { continue };
        let image = |id: &Id| images.get(id).copied().unwrap_or(graph.at(*id));
        let is_open = [a, b].map(|id| open.contains_key(&id));
        let part =
            |id: Id| open.get(&id).cloned().unwrap_or(Open { quotients: Vec::new(), rest: image(&id) });
        let sum = match op {
            Op::Div if contacts.iter().any(|contact| contact.divides(graph.at(b))) => {
                Some(Open { quotients: vec![[image(&a), graph.at(b)]], rest: graph.number(0.0) })
            }
            Op::Mul if is_open[0] => Some(part(a).times(image(&b))),
            Op::Mul if is_open[1] => Some(part(b).times(image(&a))),
            Op::Neg if is_open[0] => Some(part(a).times(graph.number(-1.0))),
            Op::Add if is_open != [false; 2] => Some(part(a).plus(part(b))),
            Op::Sub if is_open != [false; 2] => Some(part(a).plus(part(b).times(graph.number(-1.0)))),
            _ => None,
        };
        if let Some(Open { quotients, mut rest }) = sum {
            let all = quotients.len();
            let left: Vec<_> = quotients
                .into_iter()
                .filter(|&[above, below]| match quotient(above, below) {
                    Some(image) => {
                        rest += image;
                        false
                    }
                    None => true,
                })
                .collect();
            let (found, sum) = (left.len() < all, Open { quotients: left, rest });
            if found {
                images.insert(id, sum.value());
            }
            if !sum.quotients.is_empty() {
                open.insert(id, sum);
            }
            if found {
                continue;
            }
        }
        let image = |id: &Id| images.get(id).copied().unwrap_or(graph.at(*id));
        let arguments: Vec<_> = node.arguments().iter().map(image).collect();
        let image = graph.apply(op, &arguments);
        if image.id() != id {
            images.insert(id, image);
        }
    }
    roots.iter().map(|id| images.get(id).copied().unwrap_or(graph.at(*id))).collect()
}

//! Values of expressions at points without pattern, to decide what folding cannot see: whether an expression is
//! zero everywhere, and whether a matrix is singular everywhere.
//!
//! Two functions that are analytic and agree at points without pattern agree everywhere. So a verdict may rest on values only if
//!
//! - nothing is piecewise: `min`, `select`, comparisons and their like stand for numbers of which nothing is known
//!   (`select` for any mixture of its branches), so that what vanishes does so whichever branch is taken;
//! - nothing is lost on the way to the value: no factor underflows, no function is flat to rounding, and no
//!   term of a sum disappears in the rounding of another. Points where that happens do not count as agreement.

use leastaction_expr::{Expr, Graph, Id, Node, Op, Random};
use rustc_hash::FxHashMap;

/// Points at the scale of everyday numbers; those where the expression is not defined do not count.
pub(crate) const POINTS: u64 = 8;
/// Points at scales of all sizes after those: powers of ten, parameters, and numbers in the expressions.
const SCALED: u64 = 24;
/// Points that must agree.
const ENOUGH: usize = 2;
/// How much each operation is disturbed to learn how much of a value is rounding.
const NOISE: f64 = 1e-12;
const DISTURBANCES: usize = 4;
/// How much an argument is changed to learn whether a function answers to it.
const NUDGE: f64 = 1e-3;

/// Whether an expression is zero everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Zero,
    NotZero,
    /// Values cannot tell.
    Unknown,
}

/// How far a value can be trusted to show what it was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Trust {
    Full,
    /// The value is right, but something in it is too small to be seen.
    Blind,
    /// Out of the range of numbers somewhere.
    None,
}

/// A node at a point: its value, how much of it is rounding, and how far to trust it.
#[derive(Clone, Copy)]
struct Seen {
    value: f64,
    disturbed: [f64; DISTURBANCES],
    moved: f64,
    trust: Trust,
    /// Whether something piecewise, of which nothing is known, is part of it.
    guessed: bool,
}

impl Seen {
    fn exact(value: f64, guessed: bool) -> Seen {
        Seen { value, disturbed: [value; DISTURBANCES], moved: 0.0, trust: Trust::Full, guessed }
    }

    /// Whether the value is more than rounding.
    fn is_significant(&self) -> bool {
        self.value.abs() > self.moved
    }

    /// Whether this disappears in the rounding of another value.
    fn is_swallowed_by(&self, other: &Seen) -> bool {
        let noise = other.moved.max(4.0 * NOISE * other.value.abs());
        self.is_significant() && self.value.abs() <= noise
    }
}

/// Where to evaluate: parameters near their defaults, everything else at sizes from 1/8 to 1, positive at the even points, all negative at the first odd one; then at scales of all sizes.
pub(crate) struct Probe<'g> {
    graph: &'g Graph,
    parameters: FxHashMap<Id, f64>,
}

impl<'g> Probe<'g> {
    pub(crate) fn new(graph: &'g Graph, parameters: &[(Expr<'g>, f64)]) -> Probe<'g> {
        Probe { graph, parameters: parameters.iter().map(|(p, value)| (p.id(), *value)).collect() }
    }

    /// Whether an expression is certainly zero everywhere.
    pub(crate) fn is_zero(&self, e: Expr<'g>) -> bool {
        self.zeros(&[e]) == [true]
    }

    /// Which expressions are certainly zero everywhere.
    pub(crate) fn zeros(&self, expressions: &[Expr<'g>]) -> Vec<bool> {
        self.verdicts(expressions).into_iter().map(|verdict| verdict == Verdict::Zero).collect()
    }

    /// Which expressions are zero everywhere: folded to zero, or nothing but rounding at every point tried.
    ///
    /// What is rounding shows when every operation is disturbed a little: a value that changes by as much as itself
    /// carries no information (J. Vignes, A stochastic arithmetic for reliable scientific computation,
    /// Math. Comput. Simul. 35, 1993).
    pub(crate) fn verdicts(&self, expressions: &[Expr<'g>]) -> Vec<Verdict> {
        let folded = expressions.iter().map(|e| match e.as_number() {
            Some(0.0) => Some(Verdict::Zero),
            Some(_) => Some(Verdict::NotZero),
            None => None,
        });
        let mut verdicts: Vec<Option<Verdict>> = folded.collect();
        let mut agreeing = vec![0; expressions.len()];
        for point in 0..POINTS + SCALED {
            let open: Vec<usize> = (0..expressions.len()).filter(|&i| verdicts[i].is_none()).collect();
            if open.is_empty() {
                break;
            }
            let roots: Vec<Id> = open.iter().map(|&i| expressions[i].id()).collect();
            for (&i, seen) in open.iter().zip(self.look(&roots, point)) {
                if seen.trust == Trust::None {
                    continue;
                }
                if seen.is_significant() {
                    let verdict = if seen.guessed { Verdict::Unknown } else { Verdict::NotZero };
                    verdicts[i] = Some(verdict);
                } else if seen.trust == Trust::Full {
                    agreeing[i] += 1;
                }
            }
        }
        let decided = |agreeing| if agreeing < ENOUGH { Verdict::Unknown } else { Verdict::Zero };
        verdicts.into_iter().zip(agreeing).map(|(v, agreeing)| v.unwrap_or(decided(agreeing))).collect()
    }

    /// The values of several expressions at one of the first points; and whether nothing is lost in any of them.
    pub(crate) fn values(&self, roots: &[Expr<'g>], point: u64) -> (Vec<f64>, bool) {
        let roots: Vec<Id> = roots.iter().map(|e| e.id()).collect();
        let seen = self.look(&roots, point);
        let clear = seen.iter().all(|seen| seen.trust == Trust::Full);
        (seen.into_iter().map(|seen| seen.value).collect(), clear)
    }

    fn look(&self, roots: &[Id], point: u64) -> Vec<Seen> {
        let order = self.graph.order(roots);
        let scales = if point < POINTS { Vec::new() } else { self.scales(&order) };
        let mut places: FxHashMap<Id, usize> = FxHashMap::default();
        places.reserve(order.len());
        let mut known: Vec<Seen> = Vec::with_capacity(order.len());
        for (place, &(id, node)) in order.iter().enumerate() {
            let seen = match node {
                Node::Number(bits) => Seen::exact(f64::from_bits(bits), false),
                Node::Symbol(_) => Seen::exact(self.symbol(id, point, &scales), false),
                Node::Apply(Op::Select, [condition, yes, no]) => {
                    let share = 0.1 + 0.8 * random(condition.index() as u64, point + 1);
                    select(share, &known[places[&yes]], &known[places[&no]])
                }
                Node::Apply(op, _) if is_piecewise(op) => Seen::exact(self.symbol(id, point, &scales), true),
                Node::Apply(op, _) => {
                    let arguments: Vec<(Seen, bool)> = node
                        .arguments()
                        .iter()
                        .map(|a| (known[places[a]], matches!(order[places[a]].1, Node::Number(_))))
                        .collect();
                    apply(id, op, &arguments)
                }
            };
            places.insert(id, place);
            known.push(seen);
        }
        roots.iter().map(|id| known[places[id]]).collect()
    }

    /// The sizes that numbers in a problem have.
    fn scales(&self, order: &[(Id, Node)]) -> Vec<f64> {
        let numbers = order.iter().filter_map(|(id, node)| match node {
            Node::Number(bits) => Some(f64::from_bits(*bits).abs()),
            _ => self.parameters.get(id).map(|p| p.abs()),
        });
        let numbers = numbers.filter(|v| v.is_normal());
        numbers.chain((-4..=4).map(|k| 10f64.powi(3 * k))).collect()
    }

    fn symbol(&self, id: Id, point: u64, scales: &[f64]) -> f64 {
        let seed = id.index() as u64;
        let r = random(seed, point + 1);
        let coin = random(seed, !point) < 0.5;
        match self.parameters.get(&id) {
            Some(&default) if default != 0.0 => default * (0.75 + 0.5 * r),
            _ if scales.is_empty() => {
                let negative = point == 1 || point % 2 == 1 && coin;
                let size = if point % 4 < 2 { 0.5 } else { 1.0 };
                size * (0.25 + 0.75 * r) * if negative { -1.0 } else { 1.0 }
            }
            _ => {
                // One scale for all symbols at every other point: sums of very different sizes would hide a part of themselves.
                let chooser = if point.is_multiple_of(2) { point } else { seed };
                let choice = random(chooser, point ^ 0x5ca1e) * scales.len() as f64;
                let scale = scales[(choice as usize).min(scales.len() - 1)];
                scale * (0.25 + 3.75 * r) * if coin { -1.0 } else { 1.0 }
            }
        }
    }
}

/// Whether an operator has branches that a point may not take.
fn is_piecewise(op: Op) -> bool {
    use Op::{Abs, Eq, Floor, Le, Lt, Max, Min, Ne, Select, Sign};
    matches!(op, Lt | Le | Eq | Ne | Abs | Sign | Floor | Min | Max | Select)
}

/// A mixture of two branches. What vanishes for every mixture vanishes for both.
fn select(share: f64, yes: &Seen, no: &Seen) -> Seen {
    let mix = |yes: f64, no: f64| share * yes + (1.0 - share) * no;
    let mut disturbed = yes.disturbed;
    disturbed.iter_mut().zip(no.disturbed).for_each(|(yes, no)| *yes = mix(*yes, no));
    let value = mix(yes.value, no.value);
    let moved = disturbed.iter().fold(0.0f64, |m, d| m.max((d - value).abs()));
    let blind = yes.is_swallowed_by(no) || no.is_swallowed_by(yes);
    let trust = if blind { Trust::Blind } else { Trust::Full };
    let trust = if value.is_finite() { trust } else { Trust::None };
    Seen { value, disturbed, moved, trust: trust.max(yes.trust).max(no.trust), guessed: true }
}

/// An operator at a point, given its arguments and whether they are numbers.
fn apply(id: Id, op: Op, arguments: &[(Seen, bool)]) -> Seen {
    let evaluate = |pick: &dyn Fn(usize, &Seen) -> f64| {
        let mut x = [0.0; 3];
        x.iter_mut().zip(arguments).enumerate().for_each(|(i, (x, (seen, _)))| *x = pick(i, seen));
        (op.row().value)(&x[..arguments.len()])
    };
    let value = evaluate(&|_, seen| seen.value);
    let mut disturbed = [0.0; DISTURBANCES];
    for (k, d) in disturbed.iter_mut().enumerate() {
        let noise = NOISE * (random(id.index() as u64, !(k as u64 + 1)) - 0.5);
        *d = evaluate(&|_, seen| seen.disturbed[k]) * (1.0 + noise);
    }
    let moved = disturbed.iter().fold(0.0f64, |m, d| m.max((d - value).abs()));
    let guessed = arguments.iter().any(|(seen, _)| seen.guessed);
    let mut trust = arguments.iter().map(|(seen, _)| seen.trust).max().unwrap_or(Trust::Full);
    let seen = Seen { value, disturbed, moved, trust, guessed };

    let all_significant = arguments.iter().all(|(seen, _)| seen.is_significant());
    let out_of_range = |v: f64| !v.is_finite() || v.is_subnormal();
    if out_of_range(value) || disturbed.iter().any(|d| !d.is_finite()) {
        trust = Trust::None;
    }
    match op {
        Op::Add | Op::Sub => {
            let (a, b) = (&arguments[0].0, &arguments[1].0);
            if a.is_swallowed_by(b) || b.is_swallowed_by(a) {
                trust = trust.max(Trust::Blind);
            }
        }
        Op::Neg => {}
        Op::Mul | Op::Div => {
            if value == 0.0 && all_significant {
                trust = Trust::None;
            }
        }
        _ => {
            // A function that turns what is known into noise, or that does not answer to an argument, hides it.
            let flat = |i: usize| {
                let nudged =
                    evaluate(&|j, seen| if i == j { seen.value * (1.0 + NUDGE) } else { seen.value });
                (nudged - value).abs() <= 4.0 * NOISE * value.abs()
            };
            let hides = |(i, (argument, number)): (usize, &(Seen, bool))| {
                !number && argument.is_significant() && flat(i)
            };
            if all_significant && !seen.is_significant() || arguments.iter().enumerate().any(hides) {
                trust = trust.max(Trust::Blind);
            }
            if value == 0.0 && all_significant {
                trust = Trust::None;
            }
        }
    }
    Seen { trust, ..seen }
}

/// A number in [0, 1) that looks random.
fn random(a: u64, b: u64) -> f64 {
    Random::at(a, b).between(0.0, 1.0)
}

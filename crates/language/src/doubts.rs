//! What is no mistake, and yet hardly meant: names that nothing uses, angles that look like degrees, gravity that points up, events that cannot happen.

use crate::diagnostic::Diagnostic;
use crate::reader::Reader;
use crate::role::Role;
use crate::source_map::Mention;
use leastaction_expr::{Expr, Id, Kind, Node, Op, Span, Token, tokens};
use std::collections::{HashMap, HashSet};

/// Something that is hardly meant, at its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubt {
    /// Of which kind it is.
    pub kind: DoubtKind,
    /// What is doubtful, where, and what may have been meant.
    pub diagnostic: Diagnostic,
    /// The line of the text that it is in, counted from 1.
    pub line: usize,
}

/// Kinds of doubts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DoubtKind {
    /// A name that nothing uses.
    Unused,
    /// An angle that looks like degrees.
    Degrees,
    /// Gravity that points up.
    GravityUp,
    /// An event that cannot happen.
    Never,
}

impl DoubtKind {
    /// A short name, for machines.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            DoubtKind::Unused => "unused",
            DoubtKind::Degrees => "degrees",
            DoubtKind::GravityUp => "gravity-up",
            DoubtKind::Never => "never",
        }
    }
}

/// Everything doubtful in a text that was read, in its order.
pub(crate) fn doubts(reader: &Reader<'_, '_>) -> Vec<Doubt> {
    let Ok(tokens) = tokens(reader.source) else { return Vec::new() };
    let mut all = unused(reader, &tokens);
    all.extend(degrees(reader, &tokens));
    all.extend(gravity_up(reader));
    all.extend(never(reader));
    let mut all: Vec<Doubt> = all
        .into_iter()
        .filter_map(|(kind, diagnostic)| {
            let diagnostic = reader.setup.source_map.sheets.traced_all(diagnostic);
            let start = diagnostic.span.filter(|span| span.end <= reader.source.len())?.start;
            let line = 1 + reader.source[..reader.source.floor_char_boundary(start)].matches('\n').count();
            Some(Doubt { kind, diagnostic, line })
        })
        .collect();
    all.sort_by_key(|doubt| doubt.diagnostic.span.map(|span| span.start));
    // What is repeated is doubtful once.
    all.dedup_by(|one, other| one.kind == other.kind && one.diagnostic.span == other.diagnostic.span);
    all
}

type Found = Vec<(DoubtKind, Diagnostic)>;

/// A name without its parts and indices.
fn base(name: &str) -> &str {
    let name = name.trim_matches('`');
    &name[..name.find(['.', '[', '\'']).unwrap_or(name.len())]
}

/// Parameters, inputs, definitions and functions that stand nowhere but where they are declared.
fn unused(reader: &Reader<'_, '_>, tokens: &[Token]) -> Found {
    let mut count: HashMap<&str, usize> = HashMap::new();
    for token in tokens.iter().filter(|token| matches!(token.kind, Kind::Name | Kind::Quoted)) {
        *count.entry(base(&reader.source[token.span.start..token.span.end])).or_default() += 1;
    }
    let looked_for =
        |role: Role| matches!(role, Role::Parameter | Role::Input | Role::Definition | Role::Function);
    let declared = reader.names.iter().filter(|(_, (role, span))| {
        looked_for(*role) && reader.setup.source_map.sheets.traced(*span).end <= reader.source.len()
    });
    let mut seen = HashSet::new();
    let found = declared.filter_map(|(name, (role, span))| {
        // What a part declares is written there without the name of its place.
        let name = base(name.rsplit('.').next().unwrap_or(name));
        if count.get(name).copied().unwrap_or(0) > 1 || !seen.insert(name.to_owned()) {
            return None;
        }
        let wrong = Diagnostic::at(*span, format!("the {} `{name}` is never used", role.noun()));
        Some((DoubtKind::Unused, wrong.help("use it, or remove it")))
    });
    found.collect()
}

/// A number that people write for an angle in degrees.
fn looks_like_degrees(value: f64) -> bool {
    (10.0..=720.0).contains(&value.abs()) && value % 5.0 == 0.0
}

fn in_degrees(span: Span, what: &str, value: f64) -> (DoubtKind, Diagnostic) {
    let wrong =
        Diagnostic::at(span, format!("{what} is {value}, which looks like degrees: angles are in radians"));
    (DoubtKind::Degrees, wrong.help(format!("if degrees are meant, write `{value}*pi/180`")))
}

/// Numbers in trigonometric functions and turns, and starts and parameters that stand alone in such functions.
fn degrees(reader: &Reader<'_, '_>, tokens: &[Token]) -> Found {
    let text = |token: &Token| &reader.source[token.span.start..token.span.end];
    let mut found = Found::new();
    let mut angles: HashSet<&str> = HashSet::new();
    for window in tokens.windows(4) {
        let [word, open, inside, after] = window else { continue };
        let is_function = word.kind == Kind::Name && ["sin", "cos", "tan"].contains(&text(word));
        if is_function && open.kind == Kind::Sign("(") {
            match inside.kind {
                Kind::Number(value) if after.kind == Kind::Sign(")") && looks_like_degrees(value) => {
                    found.push(in_degrees(inside.span, "the angle", value));
                }
                Kind::Name if matches!(after.kind, Kind::Sign(")" | "+" | "-")) => {
                    angles.insert(text(inside));
                }
                _ => {}
            }
        }
        let turns = word.kind == Kind::Name && ["turned", "by"].contains(&text(word));
        if let (true, Kind::Number(value)) = (turns, open.kind)
            && looks_like_degrees(value)
            && !matches!(inside.kind, Kind::Sign("*" | "/"))
        {
            found.push(in_degrees(open.span, "the angle", value));
        }
    }
    for term in reader.setup.start.iter().filter(|term| angles.contains(base(&term.name))) {
        if let (Ok(value), Some(span)) =
            (reader.evaluate(term.value), reader.setup.source_map.find(Mention::Start, &term.name))
            && !term.name.ends_with('\'')
            && looks_like_degrees(value)
        {
            found.push(in_degrees(span, &format!("`{}` at the start", term.name), value));
        }
    }
    for name in angles {
        if let Some((Role::Parameter, span)) = reader.names.get(name)
            && let Some(value) = reader.parameters.get(&reader.graph.symbol(name).id())
            && looks_like_degrees(*value)
        {
            found.push(in_degrees(*span, &format!("the angle `{name}`"), *value));
        }
    }
    found
}

/// Gravity along the axis that leads up in pictures.
fn gravity_up(reader: &Reader<'_, '_>) -> Found {
    let Some(span) = reader.setup.source_map.find(Mention::Gravity, "") else { return Found::new() };
    let pull: Option<Vec<f64>> = reader.pull.iter().map(|&x| reader.evaluate(x).ok()).collect();
    match pull.as_deref() {
        Some([rest @ .., up]) if !rest.is_empty() && *up > 0.0 && rest.iter().all(|x| *x == 0.0) => {
            let axis = if rest.len() == 1 { "y" } else { "z" };
            let wrong = Diagnostic::at(span, format!("gravity points up: {axis} leads upwards in pictures"));
            let remedy = if rest.len() == 1 { "`gravity [0, -g]`" } else { "`gravity [0, 0, -g]`" };
            vec![(
                DoubtKind::GravityUp,
                wrong.help(format!("write the acceleration with a minus, as {remedy}")),
            )]
        }
        _ => Found::new(),
    }
}

/// Events whose difference of both sides has one sign wherever the motion is.
fn never(reader: &Reader<'_, '_>) -> Found {
    let mut found = Found::new();
    for event in reader.setup.events.iter().filter(|event| !event.ticks) {
        let [low, high] = range(reader, event.value);
        let Some(span) = reader.setup.source_map.find(Mention::Event, &event.name) else { continue };
        if low < 0.0 && high > 0.0 {
            continue;
        }
        let touches = low == 0.0 || high == 0.0;
        let wrong = Diagnostic::at(
            span,
            match touches {
                true => format!(
                    "the event `{}` can never happen: the difference of its sides does not change its sign",
                    event.name
                ),
                false => format!("the event `{}` can never happen: its sides are never equal", event.name),
            },
        );
        found.push((DoubtKind::Never, match touches {
            true => wrong.help("an event is where the difference passes 0: look for what does, such as a velocity where something is largest"),
            false => wrong.help(format!("the difference of its sides is {}", between(low, high))),
        }));
    }
    found
}

/// A range in words.
fn between(low: f64, high: f64) -> String {
    let [low, high] = [low, high].map(|x| (1e4 * x).round() / 1e4);
    match (low.is_finite(), high.is_finite()) {
        (true, true) => format!("from {low} to {high}"),
        (true, false) => format!("{low} or more"),
        _ => format!("{high} or less"),
    }
}

const ALL: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// The least and the largest value that an expression can have, whatever coordinates, velocities and time are; wider than that where it is not known.
fn range(reader: &Reader<'_, '_>, expr: Expr<'_>) -> [f64; 2] {
    let order = expr.graph().order(&[expr.id()]);
    let mut known: HashMap<Id, [f64; 2]> = HashMap::with_capacity(order.len());
    for (id, node) in order {
        let at = |k: usize| node.arguments().get(k).and_then(|id| known.get(id)).copied().unwrap_or(ALL);
        let range = match node {
            Node::Number(bits) => [f64::from_bits(bits); 2],
            Node::Symbol(_) => reader.parameters.get(&id).map_or(ALL, |&value| [value; 2]),
            Node::Apply(Op::Mul, arguments) if arguments[0] == arguments[1] => {
                let [low, high] = at(0);
                let least = if low <= 0.0 && high >= 0.0 { 0.0 } else { low.abs().min(high.abs()) };
                [least * least, (low * low).max(high * high)]
            }
            Node::Apply(op, _) => of(op, at(0), at(1)),
        };
        let is_sound = !range[0].is_nan() && !range[1].is_nan() && range[0] <= range[1];
        known.insert(id, if is_sound { range } else { ALL });
    }
    known.get(&expr.id()).copied().unwrap_or(ALL)
}

/// The range of an operator's value from those of its arguments.
fn of(op: Op, [a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    use std::f64::consts::{FRAC_PI_2, PI};
    let exact = a == b && c == d;
    let corners = |all: [f64; 4]| {
        // 0 times something without bound is between both signs of it.
        if all.iter().any(|x| x.is_nan()) {
            return ALL;
        }
        [
            all.iter().copied().fold(f64::INFINITY, f64::min),
            all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ]
    };
    match op {
        Op::Add => [a + c, b + d],
        Op::Sub => [a - d, b - c],
        Op::Neg => [-b, -a],
        Op::Mul => corners([a * c, a * d, b * c, b * d]),
        Op::Div if c > 0.0 || d < 0.0 => corners([a / c, a / d, b / c, b / d]),
        Op::Pow if exact => [a.powf(c); 2],
        Op::Pow if c == d && c > 0.0 && (a >= 0.0 || c % 2.0 == 0.0) => {
            let least = if a <= 0.0 && b >= 0.0 { 0.0 } else { a.abs().min(b.abs()) };
            [least.powf(c), a.abs().max(b.abs()).powf(c)]
        }
        Op::Sqrt => [a.max(0.0).sqrt(), b.max(0.0).sqrt()],
        Op::Hypot => [0.0, f64::INFINITY],
        Op::Exp => [a.exp(), b.exp()],
        Op::Sin | Op::Cos if a < b => [-1.0, 1.0],
        Op::Sin => [a.sin(); 2],
        Op::Cos => [a.cos(); 2],
        Op::Tanh => [a.tanh(), b.tanh()],
        Op::Erf => [-1.0, 1.0],
        Op::Logistic => [0.0, 1.0],
        Op::Atan => [a.atan(), b.atan()],
        Op::Atan2 => [-PI, PI],
        Op::Asin => [-FRAC_PI_2, FRAC_PI_2],
        Op::Acos => [0.0, PI],
        Op::Cosh => [1.0, f64::INFINITY],
        Op::Abs => {
            let least = if a <= 0.0 && b >= 0.0 { 0.0 } else { a.abs().min(b.abs()) };
            [least, a.abs().max(b.abs())]
        }
        Op::Min => [a.min(c), b.min(d)],
        Op::Max => [a.max(c), b.max(d)],
        _ => ALL,
    }
}

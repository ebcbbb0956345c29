//! How it starts and runs, and what to look at: `start`, `tolerance`, `run`, `output`, `invariant`.

use super::declare::only;
use super::pose::pose;
use crate::diagnostic::Diagnostic;
use crate::explain::meant;
use crate::reader::{AXES, Reader};
use crate::role::Role;
use crate::source_map::Mention;
use leastaction_expr::{Kind, Parser, Span, Value, nearest};
use leastaction_mechanics::{Term, integral, momentum};

type Outcome = Result<(), Diagnostic>;

/// `start NAME = VALUE, …`, where a name is a coordinate, a velocity or a momentum, and `start BODY at …`.
pub(super) fn start<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    loop {
        if reader.is_of_mesh(parser) {
            super::nodes::start(reader, parser)?;
            if !parser.accept(",") {
                return Ok(());
            }
            continue;
        }
        let (base, mut span) = parser.name()?;
        let mut name = base.into_owned();
        while parser.accept("'") {
            name.push('\'');
            span = span.to(parser.previous());
        }
        if let Some((Role::Body, _)) = reader.names.get(&name) {
            pose(reader, parser, &name, span)?;
            if !parser.accept(",") {
                return Ok(());
            }
            continue;
        }
        if !reader.can_start(&name) {
            return Err(reader.no_start(&name, span, "start"));
        }
        if let Some(first) = reader.setup.source_map.find(Mention::Start, &name) {
            return Err(Diagnostic::at(span, format!("the start of `{name}` is given twice"))
                .related(first, "given here first")
                .help("remove one of them"));
        }
        reader.sign(parser, "=", "`=` and the value at the start")?;
        let (value, place) = reader.scalar(parser)?;
        only(reader, value, place, &[], "a start is a number, or an expression of parameters")?;
        reader.setup.source_map.mark(Mention::Start, &name, span);
        reader.setup.start.push(Term { name, value });
        if !parser.accept(",") {
            return Ok(());
        }
    }
}

/// `tolerance NAME = VALUE, …`, where a name is a coordinate or a momentum: the absolute tolerance of its own.
pub(super) fn tolerance<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    if let Some(step) = reader.setup.source_map.find(Mention::Clause, "step") {
        return Err(step_or_tolerance(parser.peek().span, step));
    }
    loop {
        let (name, span) = parser.name()?;
        let name = name.into_owned();
        if let Kind::Sign("'") = parser.peek().kind {
            let span = span.to(parser.peek().span);
            let wrong = Diagnostic::at(
                span,
                format!("`{name}'` has no tolerance: a state is of coordinates and momenta"),
            );
            return Err(
                wrong.help(format!("give that of the coordinate `{name}`, or of its momentum `p_{name}`"))
            );
        }
        if !reader.can_start(&name) {
            return Err(reader.no_start(&name, span, "tolerance"));
        }
        if let Some(first) = reader.setup.source_map.mark(Mention::Tolerance, &name, span) {
            return Err(Diagnostic::at(span, format!("the tolerance of `{name}` is given twice"))
                .related(first, "given here first")
                .help("remove one of them"));
        }
        reader.sign(parser, "=", "`=` and the absolute tolerance")?;
        let (value, place) = reader.clause_number(parser, "tolerance")?;
        if value <= 0.0 {
            let wrong =
                Diagnostic::at(place, format!("the tolerance of `{name}` is {value}: it must be positive"));
            return Err(wrong.help("leave it out to have only the relative tolerance"));
        }
        // A state is the momentum of what it is the rate of.
        let is_state = reader.states.contains(&name);
        let name = if is_state { momentum(&integral(&name)) } else { name };
        reader.setup.plan.absolutes.push((name, value));
        if !parser.accept(",") {
            return Ok(());
        }
    }
}

/// Says that a run has a step or tolerances.
fn step_or_tolerance(here: Span, other: Span) -> Diagnostic {
    Diagnostic::at(here, "a run has `step` or a `tolerance`, not both")
        .related(other, "given here")
        .help("remove one of them")
}

const CLAUSES: [&str; 7] = ["method", "step", "tol", "atol", "until", "every", "samples"];

/// `run method NAME, step H, tol TOL, atol TOL, until T, every DT, samples N`
pub(super) fn run<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    loop {
        let token = parser.peek();
        let (word, span) = parser.name()?;
        if !CLAUSES.contains(&&*word) || token.kind == Kind::Quoted {
            let wrong = Diagnostic::at(span, format!("a run has no `{word}`"));
            return Err(match meant(&word, &CLAUSES) {
                Some(other) => wrong.help(format!("did you mean `{other}`?")),
                None => wrong.help(format!("it has {}", CLAUSES.join(", "))),
            });
        }
        if let Some(first) = reader.setup.source_map.find(Mention::Clause, &word) {
            let wrong =
                Diagnostic::at(span, format!("`{word}` is given twice")).related(first, "given here first");
            return Err(wrong.help("remove one of them"));
        }
        clause(reader, parser, &word, span)?;
        reader.setup.source_map.mark(Mention::Clause, &word, span.to(parser.previous()));
        if !parser.accept(",") {
            return Ok(());
        }
    }
}

fn clause<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    word: &str,
    span: Span,
) -> Outcome {
    let conflicts: &[&str] = match word {
        "step" => &["tol", "atol"],
        "tol" | "atol" => &["step"],
        "every" => &["samples"],
        "samples" => &["every"],
        _ => &[],
    };
    for conflict in conflicts {
        let Some(other) = reader.setup.source_map.find(Mention::Clause, conflict) else { continue };
        return Err(Diagnostic::at(span, format!("a run has `{word}` or `{conflict}`, not both"))
            .related(other, "given here")
            .help("remove one of them"));
    }
    if word == "method" {
        let (name, place) = hyphenated(parser)?;
        reader.setup.plan.method = Some(name);
        reader.setup.source_map.mark(Mention::Clause, word, place);
        return Ok(());
    }
    if word == "step"
        && let Some(other) = reader.setup.source_map.find(Mention::Statement, "tolerance")
    {
        return Err(step_or_tolerance(span, other));
    }
    let Some(clause) = CLAUSES.into_iter().find(|clause| *clause == word) else {
        unreachable!("only known clauses are read, and not `{word}`")
    };
    let (value, place) = reader.clause_number(parser, clause)?;
    let wrong = |why: &str| Err(Diagnostic::at(place, format!("`{word}` is {value}: {why}")));
    match word {
        "until" => reader.setup.plan.until = value,
        _ if value <= 0.0 => return wrong("it must be positive"),
        "step" => reader.setup.plan.step = Some(value),
        "tol" if value >= 1.0 => return wrong("a relative tolerance is less than 1"),
        "tol" => reader.setup.plan.tolerance = Some(value),
        "atol" => reader.setup.plan.absolute = Some(value),
        "every" => reader.setup.plan.every = Some(value),
        _ if value.fract() != 0.0 || value > 1e9 => return wrong("it must be a whole number up to 1e9"),
        _ => reader.setup.plan.samples = Some(value as u64),
    }
    Ok(())
}

/// The name of a method or a field, which may have hyphens and digits: all that follows without a space.
pub(super) fn hyphenated<'g, 's>(parser: &mut Parser<'g, 's>) -> Result<(String, Span), Diagnostic> {
    let (_, mut span) = parser.name()?;
    while let Kind::Sign("-") | Kind::Name | Kind::Number(_) = parser.peek().kind
        && parser.peek().span.start == span.end
    {
        span = span.to(parser.advance().span);
    }
    Ok((parser.text(span).to_owned(), span))
}

/// `output NAME = EXPRESSION, …`
pub(super) fn output<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    loop {
        let begin = parser.peek().span;
        let label = reader.label(parser, "=")?;
        let start = parser.peek().span;
        let value = reader.value(parser)?;
        let span = start.to(parser.previous());
        let name =
            label.unwrap_or_else(|| parser.text(span).split_whitespace().collect::<Vec<_>>().join(" "));
        if let Some(first) = reader.setup.source_map.mark(Mention::Output, &name, begin.to(span)) {
            return Err(Diagnostic::at(begin.to(span), format!("there are two outputs `{name}`"))
                .related(first, "the first one")
                .help("rename one of them"));
        }
        let terms: Vec<_> = match value {
            Value::Scalar(value) => vec![Term { name, value }],
            Value::Vector(components) => {
                let parts = components.into_iter().zip(AXES);
                parts.map(|(value, axis)| Term { name: format!("{name}.{axis}"), value }).collect()
            }
        };
        for term in terms {
            if reader.is_plain(&term) {
                reader.setup.plain.insert(term.name.clone());
            }
            reader.setup.outputs.push(term);
        }
        if !parser.accept(",") {
            return Ok(());
        }
    }
}

/// `invariant NAME = EXPRESSION, …`
pub(super) fn invariant<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    loop {
        let (name, _) = parser.name()?;
        reader.sign(parser, "=", "`=` and what is conserved")?;
        let (value, _) = reader.scalar(parser)?;
        reader.setup.invariants.push(Term { name: name.into_owned(), value });
        if !parser.accept(",") {
            return Ok(());
        }
    }
}

impl<'g> Reader<'g, '_> {
    /// Whether a name means this value by itself, and not because somebody defined it so.
    fn is_plain(&self, term: &Term<'g>) -> bool {
        if self.is_measured(&term.name) && term.value == self.graph.symbol(&term.name) {
            return true;
        }
        let root = term.name.split(['.', '\'']).next().unwrap_or("");
        if self.node_named(root).is_some() {
            return self.scope.get(&term.name) == Some(&Value::Scalar(term.value));
        }
        let defined = matches!(
            self.names.get(root),
            None | Some((Role::Definition | Role::Function | Role::Parameter | Role::Input, _))
        );
        (!defined || root == "t") && self.scope.get(&term.name) == Some(&Value::Scalar(term.value))
    }
}

impl<'g, 's> Reader<'g, 's> {
    /// A number of a clause: what its parameters are fixed for may be replaced for a run.
    fn clause_number(
        &self,
        parser: &mut Parser<'g, 's>,
        clause: &'static str,
    ) -> Result<(f64, Span), Diagnostic> {
        let before = self.fixed.borrow().len();
        let number = self.number(parser)?;
        self.fixed.borrow_mut()[before..].iter_mut().for_each(|fixed| fixed.clause = Some(clause));
        Ok(number)
    }

    /// Whether a mesh, or a node of one, stands here.
    pub(super) fn is_of_mesh(&self, parser: &Parser<'g, 's>) -> bool {
        let text = parser.text(parser.peek().span);
        let name = text.split('[').next().unwrap_or(text);
        // Coordinates of nodes, such as `block[17].x`, are names like others.
        !text.contains('.') && matches!(self.names.get(name), Some((Role::Mesh, _)))
    }

    /// Whether a name is that of a coordinate of a node.
    fn is_node_coordinate(&self, name: &str) -> bool {
        let parts = name.rsplit_once('.').filter(|(_, axis)| AXES.contains(axis));
        parts.is_some_and(|(node, _)| self.node_named(node).is_some())
    }
}

impl Reader<'_, '_> {
    /// Whether a start may set a name.
    pub(super) fn can_start(&self, name: &str) -> bool {
        let base = name.strip_suffix('\'').unwrap_or(name);
        self.numbered.contains_key(base)
            || self.states.iter().any(|state| state == name)
            || self.is_node_coordinate(base)
            || matches!(self.names.get(name), Some((Role::Momentum, _)))
            || self.is_unnamed_momentum(name)
    }

    /// Whether a name is that of a coordinate.
    pub(super) fn is_place(&self, name: &str) -> bool {
        self.numbered.contains_key(name) || self.is_node_coordinate(name)
    }

    /// Says that a start, or a tolerance, cannot be of a name.
    pub(super) fn no_start(&self, name: &str, span: Span, statement: &str) -> Diagnostic {
        let start = statement == "start";
        let known = |name: &String| self.can_start(name) && (start || !name.ends_with('\''));
        let has = if start { "a start sets" } else { "a tolerance is of" };
        let all = self.coordinates.iter().flat_map(|name| [name.clone(), format!("{name}'"), momentum(name)]);
        let momenta = self.names.iter().filter(|(_, (role, _))| *role == Role::Momentum);
        let all = all.chain(momenta.map(|(name, _)| name.clone())).chain(self.states.iter().cloned());
        let all: Vec<String> = all.filter(known).collect();
        match self.names.get(name.trim_end_matches('\'')) {
            Some((Role::Parameter, place)) if start => {
                return Diagnostic::at(
                    span,
                    format!("`{name}` is a parameter: it has its value from the beginning"),
                )
                .related(*place, "declared here")
                .help(format!("change it there, or for one run with `--set {name}=…`"));
            }
            Some((
                role @ (Role::Particle
                | Role::Point
                | Role::Definition
                | Role::Input
                | Role::Parameter
                | Role::Body),
                _,
            )) => {
                return Diagnostic::at(span, format!("`{name}` is {}: {has} coordinates", role.what()))
                    .help(format!("{has} {}", few(&all)));
            }
            _ => {}
        }
        let kinds = if start { "coordinate, velocity or momentum" } else { "coordinate or momentum" };
        let wrong = Diagnostic::at(span, format!("`{name}` is no {kinds}")).unknown(name);
        match nearest(name, all.iter().map(String::as_str)) {
            Some(other) => wrong.help(format!("did you mean `{other}`?")),
            None if all.is_empty() => wrong.help(format!("declare `coord {name}` above")),
            None => wrong.help(format!("{has} {}", few(&all))),
        }
    }
}

/// Some names in words.
pub(super) fn few(names: &[String]) -> String {
    const FEW: usize = 6;
    let shown: Vec<_> = names.iter().take(FEW).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > FEW { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

//! How it starts and runs, and what to look at: `start`, `run`, `output`, `invariant`, `event`.

use super::declare::only;
use super::pose::pose;
use crate::diagnostic::Diagnostic;
use crate::reader::{AXES, Reader, Role};
use crate::setup::{Alarm, Sense};
use leastaction_expr::{Kind, Parser, Span, Value, nearest};
use leastaction_mechanics::Term;

type Outcome = Result<(), Diagnostic>;

/// `start NAME = VALUE, …`, where a name is a coordinate, a velocity or a momentum, and `start BODY at …`.
pub(super) fn start<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    loop {
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
        let base = name.strip_suffix('\'').unwrap_or(&name);
        let coordinate = matches!(reader.names.get(base), Some((Role::Coordinate, _)));
        let known = if coordinate { Vec::new() } else { reader.start_names() };
        if !coordinate && !known.contains(&name) {
            let wrong = Diagnostic::at(span, format!("`{name}` is no coordinate, velocity or momentum"));
            return Err(match nearest(&name, known.iter().map(String::as_str)) {
                Some(other) => wrong.unknown(&name).help(format!("did you mean `{other}`?")),
                None => wrong.unknown(&name),
            });
        }
        if let Some((_, first)) = reader.starts.iter().find(|(other, _)| *other == name) {
            return Err(Diagnostic::at(span, format!("the start of `{name}` is given twice"))
                .related(*first, "given here first")
                .help("remove one of them"));
        }
        reader.sign(parser, "=", "`=` and the value at the start")?;
        let (value, place) = reader.scalar(parser)?;
        only(reader, value, place, &[], "a start is a number, or an expression of parameters")?;
        reader.starts.push((name.clone(), span));
        reader.setup.start.push(Term { name, value });
        if !parser.accept(",") {
            return Ok(());
        }
    }
}

const CLAUSES: [&str; 6] = ["method", "step", "tol", "until", "every", "samples"];

/// `run method NAME, step H, tol TOL, until T, every DT, samples N`
pub(super) fn run<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    loop {
        let token = parser.peek();
        let (word, span) = parser.name()?;
        if !CLAUSES.contains(&&*word) || token.kind == Kind::Quoted {
            let wrong = Diagnostic::at(span, format!("a run has no `{word}`"));
            return Err(match nearest(&word, CLAUSES.into_iter()) {
                Some(other) => wrong.help(format!("did you mean `{other}`?")),
                None => wrong.help(format!("it has {}", CLAUSES.join(", "))),
            });
        }
        if let Some((_, first)) = reader.clauses.iter().find(|(other, _)| *other == *word) {
            let wrong =
                Diagnostic::at(span, format!("`{word}` is given twice")).related(*first, "given here first");
            return Err(wrong.help("remove one of them"));
        }
        clause(reader, parser, &word, span)?;
        reader.clauses.push((word.into_owned(), span));
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
    let conflict = match word {
        "step" => "tol",
        "tol" => "step",
        "every" => "samples",
        "samples" => "every",
        _ => "",
    };
    if let Some((_, other)) = reader.clauses.iter().find(|(other, _)| other == conflict) {
        return Err(Diagnostic::at(span, format!("a run has `{word}` or `{conflict}`, not both"))
            .related(*other, "given here")
            .help("remove one of them"));
    }
    if word == "method" {
        let (name, place) = method(parser)?;
        reader.setup.plan.method = Some(name);
        reader.clauses.push(("method name".to_owned(), place));
        return Ok(());
    }
    let (value, place) = reader.number(parser)?;
    let wrong = |why: &str| Err(Diagnostic::at(place, format!("`{word}` is {value}: {why}")));
    match word {
        "until" => reader.setup.plan.until = value,
        _ if value <= 0.0 => return wrong("it must be positive"),
        "step" => reader.setup.plan.step = Some(value),
        "tol" if value >= 1.0 => return wrong("a relative tolerance is less than 1"),
        "tol" => reader.setup.plan.tolerance = Some(value),
        "every" => reader.setup.plan.every = Some(value),
        _ if value.fract() != 0.0 || value > 1e9 => return wrong("it must be a whole number up to 1e9"),
        _ => reader.setup.plan.samples = Some(value as u64),
    }
    Ok(())
}

/// A method's name, which may have hyphens and digits: all that follows without a space.
fn method<'g, 's>(parser: &mut Parser<'g, 's>) -> Result<(String, Span), Diagnostic> {
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
        let label = reader.label(parser, "=")?;
        let start = parser.peek().span;
        let value = reader.value(parser)?;
        let span = start.to(parser.previous());
        let name =
            label.unwrap_or_else(|| parser.text(span).split_whitespace().collect::<Vec<_>>().join(" "));
        if reader.setup.outputs.iter().any(|term| term.name == name) {
            return Err(
                Diagnostic::at(span, format!("there are two outputs `{name}`")).help("rename one of them")
            );
        }
        match value {
            Value::Scalar(value) => reader.setup.outputs.push(Term { name, value }),
            Value::Vector(components) => {
                let parts = components.into_iter().zip(AXES);
                let terms = parts.map(|(value, axis)| Term { name: format!("{name}.{axis}"), value });
                reader.setup.outputs.extend(terms);
            }
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

/// `event [NAME:] EXPRESSION = EXPRESSION [, rising | falling] [, stop]`
pub(super) fn event<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let name = reader.term_name(parser, "event", ":")?;
    let (left, _) = reader.scalar(parser)?;
    reader.sign(parser, "=", "an operator, or `=` and what it passes")?;
    let (right, _) = reader.scalar(parser)?;
    let mut alarm = Alarm { name, value: left - right, sense: Sense::Both, stop: false };
    while parser.accept(",") {
        if parser.accept_word("rising") {
            alarm.sense = Sense::Rising;
        } else if parser.accept_word("falling") {
            alarm.sense = Sense::Falling;
        } else if parser.accept_word("stop") {
            alarm.stop = true;
        } else {
            return Err(parser.unexpected("`rising`, `falling` or `stop`").into());
        }
    }
    reader.setup.alarms.push(alarm);
    Ok(())
}

impl Reader<'_, '_> {
    /// What a start may set.
    fn start_names(&self) -> Vec<String> {
        let coordinates = self.coordinates.iter();
        let named: Vec<&String> = self
            .names
            .iter()
            .filter(|(_, (role, _))| *role == Role::Momentum)
            .map(|(name, _)| name)
            .collect();
        // Momenta without a name are called after their coordinates.
        let momenta = self.coordinates.iter().skip(named.len()).map(|name| format!("p_{name}"));
        let own = coordinates.flat_map(|name| [name.clone(), format!("{name}'")]);
        own.chain(momenta).chain(named.into_iter().cloned()).collect()
    }
}

//! What to look out for along the way, and what is reset there: `event`; and what is set again and again: `every`.

use super::run::few;
use crate::diagnostic::Diagnostic;
use crate::reader::{Reader, symbols};
use crate::role::Role;
use crate::setup::{Direction, Event};
use crate::source_map::Mention;
use leastaction_expr::{Kind, Parser, Span, nearest};
use leastaction_mechanics::{Term, difference, integral};

type Outcome = Result<(), Diagnostic>;

/// What may follow a comma.
const CLAUSES: [&str; 5] = ["rising", "falling", "stop", "set", "finally"];

/// `event [NAME:] EXPRESSION = EXPRESSION [, rising | falling] [, stop] [, set NAME = EXPRESSION, …] [, finally set NAME = EXPRESSION, …]`
pub(super) fn event<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let start = parser.peek().span;
    let name = reader.term_name(parser, Mention::Event, ":")?;
    let (left, _) = reader.scalar(parser)?;
    reader.sign(parser, "=", "an operator, or `=` and what it passes")?;
    let (right, _) = reader.scalar(parser)?;
    let mut event = Event {
        name,
        value: difference(left, right),
        ticks: false,
        direction: Direction::Both,
        stop: false,
        sets: Vec::new(),
        finally: Vec::new(),
    };
    let (mut places, mut final_places, mut is_final) = (Vec::new(), Vec::new(), false);
    while parser.accept(",") {
        let word = clause(parser);
        if word.is_some() {
            parser.advance();
        }
        match word {
            Some("rising") => event.direction = Direction::Rising,
            Some("falling") => event.direction = Direction::Falling,
            Some("stop") => event.stop = true,
            Some("finally") => {
                let place = parser.previous();
                if event.sets.is_empty() {
                    let wrong = Diagnostic::at(place, "there is nothing that this could come after");
                    return Err(wrong.help("what is set finally ends what `set` would repeat without end: write `set …, finally set …`"));
                }
                reader.word(
                    parser,
                    "set",
                    "`set` and what is set where the event would happen without end",
                )?;
                is_final = true;
                set(reader, parser, false, (&mut event.finally, &mut final_places))?;
            }
            None if event.sets.is_empty() => {
                return Err(parser.unexpected("`rising`, `falling`, `stop` or `set`").into());
            }
            Some(_) | None if is_final => {
                set(reader, parser, false, (&mut event.finally, &mut final_places))?
            }
            Some(_) | None => set(reader, parser, false, (&mut event.sets, &mut places))?,
        }
    }
    reader.setup.source_map.mark(Mention::Event, &event.name, start.to(parser.previous()));
    reader.setup.events.push(event);
    Ok(())
}

/// `every [NAME:] TIME set NAME = EXPRESSION, …`
pub(super) fn every<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let start = parser.peek().span;
    let name = match parser.peek_next().kind {
        Kind::Sign(":") => reader.term_name(parser, Mention::Event, ":")?,
        _ => reader.next_name("every"),
    };
    let (value, place) = reader.scalar(parser)?;
    match reader.evaluate(value) {
        Ok(period) if period > 0.0 && period.is_finite() => {}
        Ok(period) => {
            return Err(Diagnostic::at(
                place,
                format!("this is {period}: the time between ticks must be above 0"),
            ));
        }
        Err(unbound) => {
            let wrong =
                Diagnostic::at(place, format!("the time between ticks depends on `{}`", unbound.symbol));
            return Err(wrong.help(
                "use numbers and parameters only; what happens where something comes true is an `event`",
            ));
        }
    }
    // As that of an event, the list of what is set may follow a comma.
    let _ = parser.accept(",");
    reader.word(parser, "set", "`set` and what is set at each tick")?;
    let (direction, sets) = (Direction::Both, Vec::new());
    let mut event = Event { name, value, ticks: true, direction, stop: false, sets, finally: Vec::new() };
    let mut places = Vec::new();
    loop {
        set(reader, parser, true, (&mut event.sets, &mut places))?;
        if !parser.accept(",") {
            break;
        }
        // It may be said again.
        if clause(parser) == Some("set") {
            parser.advance();
        }
    }
    reader.setup.source_map.mark(Mention::Event, &event.name, start.to(parser.previous()));
    reader.setup.events.push(event);
    Ok(())
}

/// The clause that begins here, unless it is the name of something that is set.
fn clause(parser: &Parser<'_, '_>) -> Option<&'static str> {
    let token = parser.peek();
    let is_name = matches!(parser.peek_next().kind, Kind::Sign("=" | "'"));
    let text = parser.text(token.span);
    CLAUSES.into_iter().find(|word| token.kind == Kind::Name && !is_name && *word == text)
}

/// `NAME = EXPRESSION`, where a name is a coordinate, a velocity, a momentum, a state, a parameter or an input.
fn set<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    ticks: bool,
    (sets, places): (&mut Vec<Term<'g>>, &mut Vec<Span>),
) -> Outcome {
    let (base, mut span) = parser.name()?;
    let mut name = base.into_owned();
    while parser.accept("'") {
        name.push('\'');
        span = span.to(parser.previous());
    }
    if !reader.can_start(&name) {
        settable(reader, &name, span)?.ok_or_else(|| no_set(reader, &name, span, ticks))?;
    }
    if let Some(first) = sets.iter().position(|term| term.name == name) {
        return Err(Diagnostic::at(span, format!("`{name}` is set twice"))
            .related(places[first], "set here first")
            .help("remove one of them: all are set at once, from the state before"));
    }
    let is_velocity = |name: &str| name.ends_with('\'');
    let is_state = |name: &str| {
        reader.states.iter().any(|state| state == name) || reader.set.iter().any(|(set, _)| set == name)
    };
    let is_momentum = |name: &str| !(is_velocity(name) || reader.is_place(name) || is_state(name));
    let mixed = sets.iter().position(|other| {
        is_velocity(&name) && is_momentum(&other.name) || is_momentum(&name) && is_velocity(&other.name)
    });
    if let Some(other) = mixed {
        return Err(Diagnostic::at(span, "an event sets velocities or momenta, not both")
            .related(places[other], "set here")
            .help("momenta follow from velocities, and velocities from momenta: set one kind of them"));
    }
    if parser.peek().kind == Kind::Sign("==") {
        return Err(Diagnostic::at(parser.peek().span, "`==` compares").help("what is set has one `=`"));
    }
    reader.sign(parser, "=", "`=` and what it is set to")?;
    let (value, _) = reader.scalar(parser)?;
    sets.push(Term { name, value });
    places.push(span);
    Ok(())
}

/// Lets events set a parameter, or an input that is stated without time; `None` if the name is of something else.
fn settable(reader: &mut Reader<'_, '_>, name: &str, span: Span) -> Result<Option<()>, Diagnostic> {
    let Some((role @ (Role::Parameter | Role::Input), place)) = reader.names.get(name).copied() else {
        return Ok(None);
    };
    if reader.set.iter().any(|(set, _)| set == name) {
        return Ok(Some(()));
    }
    let symbol = reader.graph.symbol(name);
    let value = match role {
        Role::Parameter => symbol,
        _ => match reader.setup.model.stated(symbol) {
            Some(value) if !symbols(value).contains(&"t".to_owned()) => value,
            Some(_) => {
                let wrong =
                    Diagnostic::at(span, format!("`{name}` follows the time: an event cannot set it"));
                return Err(wrong.related(place, "declared here").help(format!(
                    "switch it by a parameter that the event sets: `param on = 1`, `select(on > 0.5, {name}, 0)` where it acts, and `set on = 0`"
                )));
            }
            None => {
                let wrong = Diagnostic::at(
                    span,
                    format!("`{name}` has no value at the start: an event cannot set it"),
                );
                return Err(wrong
                    .related(place, "declared here")
                    .help(format!("give it one: `input {name} = 0`")));
            }
        },
    };
    let whole = integral(name);
    if let Some((first, place)) = reader.names.get(&whole) {
        let wrong = Diagnostic::at(
            span,
            format!(
                "`{name}` cannot be set: its integral over time is called `{whole}`, which is {} already",
                first.what()
            ),
        );
        return Err(wrong.related(*place, "declared here").help("rename one of them"));
    }
    reader.setup.model.settable(symbol);
    reader.names.insert(whole, (Role::State, place));
    reader.setup.start.push(Term { name: name.to_owned(), value });
    reader.set.push((name.to_owned(), span));
    Ok(Some(()))
}

/// What cannot be set because its value is needed as a number when the text is read.
pub(crate) fn used_up(reader: &Reader<'_, '_>) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    let fixed = reader.fixed.borrow();
    for (name, span) in &reader.set {
        let ticks = reader.setup.events.iter().filter(|event| event.ticks);
        let ticks = ticks.filter(|event| symbols(event.value).contains(name));
        let ticks = ticks.filter_map(|event| reader.setup.source_map.find(Mention::Event, &event.name));
        let numbers = fixed.iter().filter(|fixed| fixed.parameter == *name).map(|fixed| fixed.span);
        if let Some(place) = numbers.chain(ticks).next() {
            let refused =
                Diagnostic::at(*span, format!("`{name}` cannot be set: it decides what stays along a run"));
            wrong.push(
                refused
                    .related(place, "its value at the start is used here")
                    .help("write a number there, or another parameter that no event sets"),
            );
        }
    }
    wrong
}

/// Says that an event cannot set something.
fn no_set(reader: &Reader<'_, '_>, name: &str, span: Span, ticks: bool) -> Diagnostic {
    let base = name.trim_end_matches('\'');
    let what = match reader.names.get(base) {
        Some((role @ Role::Definition, place)) => Some((role, *place)),
        _ => None,
    };
    if let Some((role, place)) = what {
        let wrong = Diagnostic::at(span, format!("`{name}` is {}: an event cannot set it", role.what()));
        return wrong.related(place, "declared here").help(
            "an event sets coordinates, their velocities or momenta, parameters, inputs and states: set what it is made of",
        );
    }
    if name.ends_with("''") && reader.can_start(base) {
        return Diagnostic::at(span, format!("`{name}` is an acceleration, which forces set"))
            .help(format!("set the velocity: `set {base}' = …`"));
    }
    let wrong =
        Diagnostic::at(span, format!("`{name}` is no coordinate, velocity or momentum")).unknown(name);
    let all: Vec<String> = reader
        .coordinates
        .iter()
        .flat_map(|name| [name.clone(), format!("{name}'")])
        .chain(reader.states.iter().cloned())
        .collect();
    match nearest(name, all.iter().map(String::as_str)) {
        Some(other) => wrong.help(format!("did you mean `{other}`?")),
        None if ticks && base == name => {
            wrong.help(format!("declare what holds its value between ticks, above this line: `state {name}`"))
        }
        None => wrong.help(format!("an event sets {}", few(&all))),
    }
}

//! Where bodies start: `start BODY at …`, and rotations.

use super::body::refused;
use super::clause::{numbers, one_of, twice};
use crate::diagnostic::Diagnostic;
use crate::reader::Reader;
use crate::source_map::Mention;
use leastaction_expr::{Kind, Parser, Span};
use leastaction_mechanics::{Body, BodyError, Loose, Placed, Pose, Rotation, Term};

type Outcome = Result<(), Diagnostic>;

const TURNS: [&str; 3] = ["zxz", "about", "quaternion"];
const CLAUSES: [&str; 6] = ["at", "from", "holding", "turned", "moving", "spinning"];

/// `ANGLE`, `zxz [φ, θ, ψ]`, `about AXIS by ANGLE` or `quaternion [w, x, y, z]`.
pub(super) fn turn<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
) -> Result<Rotation, Diagnostic> {
    Ok(turn_and_angles(reader, parser)?.0)
}

/// A rotation, with Euler's angles if it is given by them.
fn turn_and_angles<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
) -> Result<(Rotation, Option<[f64; 3]>), Diagnostic> {
    let start = parser.peek().span;
    let is_turn = TURNS.contains(&parser.text(start)) && !reader.names.contains_key(parser.text(start));
    if !is_turn {
        return Ok((Rotation::angle(reader.number(parser)?.0), None));
    }
    let (word, _) = one_of(parser, &TURNS, "a rotation")?;
    let rotation = match word {
        "zxz" => {
            let [phi, theta, psi] = numbers(reader, parser, 3)?;
            return Ok((Rotation::zxz(phi, theta, psi), Some([phi, theta, psi])));
        }
        "about" => {
            let axis = numbers(reader, parser, 3)?;
            one_of(parser, &["by"], "`by` and the angle")?;
            Rotation::about(axis, reader.number(parser)?.0)
        }
        _ => Rotation::quaternion(quaternion(reader, parser)?),
    };
    let rotation =
        rotation.map_err(|error| refused(start.to(parser.previous()), BodyError::Rotation(error)))?;
    Ok((rotation, None))
}

fn quaternion<'g, 's>(reader: &Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<[f64; 4], Diagnostic> {
    let start = parser.peek().span;
    let value = reader.value(parser)?;
    let span = start.to(parser.previous());
    let leastaction_expr::Value::Vector(components) = &value else {
        return Err(Diagnostic::at(span, "a quaternion [w, x, y, z] is expected here, not a number"));
    };
    let known: Vec<f64> = components.iter().map(|&c| reader.known(c, span)).collect::<Result<_, _>>()?;
    known.try_into().map_err(|_| {
        Diagnostic::at(span, format!("a quaternion [w, x, y, z] is expected here, not {}", value.shape()))
    })
}

/// What a pose has been given, and where.
#[derive(Default)]
struct Given {
    place: Option<Pose>,
    holding: Option<[f64; 3]>,
    turned: Option<Rotation>,
    /// Euler's angles and their rates.
    rates: Option<([f64; 3], [f64; 3])>,
    moving: [f64; 3],
    spinning: Option<[f64; 3]>,
    in_body: bool,
}

/// `at PLACE | from PLACE to PLACE [holding POINT] [turned TURN [rates RATES]] [moving VELOCITY] [spinning RATE [in body]]`,
/// after the name of a body.
pub(super) fn pose<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    name: &str,
    span: Span,
) -> Outcome {
    let body = reader.setup.model.body_named(name).map_err(|error| refused(span, error))?;
    let dimensions = body.dimensions();
    let mut given = Given::default();
    let mut seen: Vec<(&'static str, Span)> = Vec::new();
    while parser.peek().kind != Kind::End && parser.peek().kind != Kind::Sign(",") {
        let (word, place) = one_of(parser, &CLAUSES, "a word that says where the body is and how it moves")?;
        if let Some((_, first)) = seen.iter().find(|(other, _)| *other == word) {
            return Err(twice(word, place, *first));
        }
        check_conflict(word, place, &seen)?;
        clause(reader, parser, word, dimensions, &mut given)?;
        let place = place.to(parser.previous());
        seen.push((word, place));
        if word == "turned" && given.rates.is_some() {
            check_conflict("rates", place, &seen)?;
            seen.push(("rates", place));
        }
    }
    let is_said = |word: &str| seen.iter().any(|(other, _)| *other == word);
    let place = match given.place {
        Some(place) => place,
        None => loose(&given, name, span, dimensions, &seen)?,
    };
    let mut pose = place.moving(given.moving);
    // A body is where its centre of mass is, as in joints.
    let centre = (!is_said("from")).then(|| body.centre_in_frame());
    let held = given.holding.or(centre);
    pose = held.map_or(pose, |point| pose.holding(point));
    pose = given.turned.map_or(pose, |rotation| pose.turned(rotation));
    pose = match (given.rates, given.in_body) {
        (Some((angles, rates)), _) => pose.zxz(angles, rates),
        (None, true) => pose.spinning_in_body(given.spinning.unwrap_or_default()),
        (None, false) => pose.spinning(given.spinning.unwrap_or_default()),
    };
    // How it moves follows from joints, as far as it is not said; and so does where it is.
    let spins = given.spinning.is_some() || given.rates.is_some();
    if is_said("moving") && !spins && !is_said("holding") {
        let mut body = loose_body(&body, Placed::Given, None);
        body.moving = true;
        reader.setup.loose.push(body);
    } else if !is_said("moving") {
        let placed = match (given.place, given.turned) {
            (Some(_), _) => Placed::Given,
            (None, Some(_)) => Placed::Turned,
            (None, None) => Placed::Free,
        };
        let spin = spins.then(|| pose.angular_velocity());
        reader.setup.loose.push(loose_body(&body, placed, spin));
    }
    let whole = span.to(parser.previous());
    let values = body.start(&pose).map_err(|error| refused(whole, error))?;
    for (coordinate, value) in values {
        if let Some(first) = reader.setup.source_map.find(Mention::Start, coordinate) {
            return Err(Diagnostic::at(span, format!("the start of `{name}` is given twice"))
                .related(first, "given here first")
                .help("remove one of them"));
        }
        reader.setup.start.push(Term { name: coordinate.to_owned(), value: reader.graph.number(value) });
    }
    for coordinate in body.nodes().concat() {
        reader.setup.source_map.mark(Mention::Start, &coordinate.to_string(), span);
        reader.setup.source_map.mark(Mention::Start, &format!("{coordinate}'"), span);
    }
    Ok(())
}

/// A body whose place, or how it moves, follows from joints and constraints.
pub(crate) fn loose_body(body: &Body<'_>, placed: Placed, spin: Option<[f64; 3]>) -> Loose {
    let nodes = body.nodes();
    let nodes = nodes.iter().map(|node| node.iter().map(ToString::to_string).collect()).collect();
    Loose { name: body.name().to_owned(), nodes, placed, spin, moving: false }
}

/// Where the search for the place of a body begins that is not given: at the origin. What would have no meaning without a place is refused.
fn loose(
    given: &Given,
    name: &str,
    span: Span,
    dimensions: usize,
    seen: &[(&'static str, Span)],
) -> Result<Pose, Diagnostic> {
    let x = if dimensions == 2 { "[X, Y]" } else { "[X, Y, Z]" };
    let needs_place = seen.iter().find(|(word, _)| matches!(*word, "holding" | "moving"));
    if needs_place.is_some() || seen.is_empty() {
        let wrong = Diagnostic::at(span, format!("where the body `{name}` starts is not said"));
        return Err(match needs_place {
            Some((word, place)) => wrong.related(*place, format!("`{word}` is said of a place")),
            None => wrong,
        }
        .help(format!("write `start {name} at {x}`, or `start {name} from {x} to {x}`")));
    }
    if given.in_body && given.turned.is_none() {
        return Err(Diagnostic::at(
            span,
            format!("how the body `{name}` is turned at the start is not said"),
        )
        .help(format!("write `start {name} turned … spinning … in body`, or where it is")));
    }
    Ok(if dimensions == 2 { Pose::at([0.0; 2]) } else { Pose::at([0.0; 3]) })
}

/// What says the same thing another way.
fn check_conflict(word: &str, place: Span, seen: &[(&'static str, Span)]) -> Outcome {
    let against: &[&str] = match word {
        "from" => &["at", "holding", "turned"],
        "at" | "holding" | "turned" => &["from"],
        "spinning" => &["rates"],
        "rates" => &["spinning"],
        _ => &[],
    };
    match seen.iter().find(|(other, _)| against.contains(other)) {
        Some((other, first)) => {
            Err(Diagnostic::at(place, format!("a pose has `{other}` or `{word}`, not both"))
                .related(*first, "given here")
                .help("remove one of them"))
        }
        None => Ok(()),
    }
}

fn clause<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    word: &str,
    dimensions: usize,
    given: &mut Given,
) -> Outcome {
    match word {
        "at" => {
            let [x, y, z] = numbers(reader, parser, dimensions)?;
            given.place = Some(if dimensions == 2 { Pose::at([x, y]) } else { Pose::at([x, y, z]) });
        }
        "from" => {
            let start = parser.peek().span;
            let from = numbers(reader, parser, dimensions)?;
            one_of(parser, &["to"], "`to` and the place its x axis points to")?;
            let to = numbers(reader, parser, dimensions)?;
            let pose = match dimensions {
                2 => Pose::between([from[0], from[1]], [to[0], to[1]]),
                _ => Pose::between(from, to),
            };
            let span = start.to(parser.previous());
            let same = |_| Diagnostic::at(span, "both ends are one place, so there is no direction");
            let pose = pose.map_err(same)?;
            given.place = Some(pose);
            given.turned = Some(pose.rotation());
        }
        "holding" => given.holding = Some(numbers(reader, parser, dimensions)?),
        "moving" => given.moving = numbers(reader, parser, dimensions)?,
        "turned" => {
            let (rotation, angles) = turn_and_angles(reader, parser)?;
            given.turned = Some(rotation);
            if let Some(angles) = angles
                && parser.accept_word("rates")
            {
                given.rates = Some((angles, numbers(reader, parser, 3)?));
            }
        }
        _ => {
            given.spinning = Some(match dimensions {
                2 => [0.0, 0.0, reader.number(parser)?.0],
                _ => numbers(reader, parser, 3)?,
            });
            if dimensions == 3 && parser.accept_word("in") {
                one_of(parser, &["body"], "`body`: the axes that turn with it")?;
                given.in_body = true;
            }
        }
    }
    Ok(())
}

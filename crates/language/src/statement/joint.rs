//! What is between bodies: `joint`, `spring`, `damper`.

use super::body::refused;
use super::clause::{one_of, twice};
use super::pose::turn;
use crate::diagnostic::Diagnostic;
use crate::reader::{Reader, symbols};
use crate::role::Role;
use leastaction_expr::{Expr, Kind, Parser, Span, Value, nearest};
use leastaction_mechanics::{Body, BodyError, BodySite, Point, Rotation};

type Outcome = Result<(), Diagnostic>;

/// An end of a joint or spring.
#[derive(Clone, Debug)]
pub(crate) struct End<'g> {
    pub(crate) point: Point<'g>,
    /// The place that it is, if that has a name.
    pub(crate) name: Option<String>,
    /// The body that it is on.
    pub(crate) body: Option<String>,
    /// Whether it depends on coordinates.
    moves: bool,
}

/// A joint or a spring.
#[derive(Clone, Debug)]
pub(crate) struct Link<'g> {
    pub(crate) name: String,
    pub(crate) kind: LinkKind,
    pub(crate) ends: [End<'g>; 2],
}

/// What a link does, as far as it can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkKind {
    /// Its ends are one point.
    Joint,
    /// One end slides along an axis through the other.
    Slider,
    /// A massless rod.
    Rod,
    Spring,
}

const KINDS: [&str; 8] =
    ["ball", "pin", "hinge", "universal", "cylindrical", "prismatic", "fixed", "distance"];

/// `joint NAME KIND A to B [axis AXIS [and AXIS]] [length LENGTH]`
pub(super) fn joint<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let (name, span) = reader.new_name(parser, Role::Joint)?;
    let (kind, place) = one_of(parser, &KINDS, "the kind of joint").map_err(|wrong| {
        // The name is forgotten easily.
        if KINDS.contains(&name.as_str()) {
            let help = format!("a joint has a name before its kind: `joint NAME {name} …`");
            return Diagnostic::at(span, "the joint has no name").help(help);
        }
        wrong
    })?;
    let start = parser.peek().span;
    let [a, b] = ends(reader, parser, "to")?;
    let both = start.to(parser.previous());
    let Clauses { axes, length } = clauses(reader, parser)?;
    let lacks =
        |what: &str, help: &str| Err(Diagnostic::at(place, format!("`{kind}` needs {what}")).help(help));
    if let Some((_, span)) = axes.first().filter(|_| ["ball", "pin", "fixed", "distance"].contains(&kind)) {
        return Err(Diagnostic::at(*span, format!("a joint `{kind}` has no axis")).help("leave it out"));
    }
    if let Some((_, span)) = length.filter(|_| kind != "distance") {
        return Err(Diagnostic::at(span, format!("a joint `{kind}` has no length")).help("leave it out"));
    }
    if let Some((_, span)) = axes.get(1).filter(|_| kind == "prismatic") {
        let help = "to turn the axes of an end write `turned …` after it";
        return Err(Diagnostic::at(*span, "a joint `prismatic` has one axis").help(help));
    }
    let flat = a.point.position().len() == 2 && b.point.position().len() == 2;
    if flat && ["hinge", "universal", "cylindrical"].contains(&kind) {
        let help = "in the plane there are `pin`, `prismatic`, `fixed` and `distance`";
        return Err(Diagnostic::at(place, format!("`{kind}` is a joint of space")).help(help));
    }
    let model = &mut reader.setup.model;
    let added = match (kind, &axes[..], length) {
        ("ball" | "pin", ..) => model.ball(&name, &a.point, &b.point),
        ("fixed", ..) => model.fixed(&name, &a.point, &b.point),
        ("distance", _, Some((length, _))) => model.distance(&name, &a.point, &b.point, length),
        ("distance", ..) => return lacks("a length", "write `length L` after the ends"),
        ("universal", [(u, _), (w, _)], _) => model.universal(&name, &a.point, u, &b.point, w),
        ("universal", ..) => {
            return lacks(
                "two axes",
                "write `axis [X, Y, Z] and [X, Y, Z]` after the ends: one of each body",
            );
        }
        (_, [], _) => return lacks("an axis", "write `axis [X, Y, Z]` after the ends"),
        ("prismatic", [(u, _), ..], _) => model.prismatic(&name, &a.point, &b.point, u),
        (_, [(u, span), rest @ ..], _) => {
            let b = match rest.first() {
                Some((w, second)) => {
                    turned_onto(&b.point, u, w).map_err(|error| refused(span.to(*second), error))?
                }
                None => b.point.clone(),
            };
            match kind {
                "hinge" => model.hinge(&name, &a.point, &b, u),
                _ => model.cylindrical(&name, &a.point, &b, u),
            }
        }
    };
    added.map_err(|error| {
        let axis = axes.first().map(|(_, span)| *span);
        let about_axis = matches!(
            &error,
            BodyError::ZeroAxis { .. } | BodyError::Dimensions { what: BodySite::Axis(_), .. }
        );
        let about_length = matches!(&error, BodyError::NotPositive { .. });
        let blamed = if about_axis { axis } else { length.map(|(_, span)| span).filter(|_| about_length) };
        refused(blamed.unwrap_or(both), error)
    })?;
    reader.declare(&name, span, Role::Joint);
    let kind = match kind {
        "cylindrical" | "prismatic" => LinkKind::Slider,
        "distance" => LinkKind::Rod,
        _ => LinkKind::Joint,
    };
    if kind == LinkKind::Joint {
        // What does not move is the simpler one of two names for one place.
        let simpler = if b.body.is_none() { &b } else { &a };
        reader.define(&name, &Value::Vector(simpler.point.position()));
        reader.points.insert(name.clone(), simpler.clone());
    }
    reader.links.push(Link { name, kind, ends: [a, b] });
    Ok(())
}

/// The point with its axes turned so that the direction u in them is w in those it had.
fn turned_onto<'g>(point: &Point<'g>, u: &[f64], w: &[f64]) -> Result<Point<'g>, BodyError> {
    let three = |axis: &[f64]| {
        let mut all = [0.0; 3];
        all.iter_mut().zip(axis).for_each(|(to, x)| *to = *x);
        all
    };
    Ok(point.turned(&Rotation::shortest(three(u), three(w))?))
}

/// What may follow the ends of a joint.
#[derive(Default)]
struct Clauses<'g> {
    axes: Vec<(Vec<f64>, Span)>,
    length: Option<(Expr<'g>, Span)>,
}

fn clauses<'g, 's>(reader: &Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<Clauses<'g>, Diagnostic> {
    let mut found = Clauses::default();
    while parser.peek().kind != Kind::End {
        let (word, span) = one_of(parser, &["axis", "length"], "`axis`, `length`, or the end")?;
        if word == "length" {
            if let Some((_, first)) = found.length {
                return Err(twice(word, span, first));
            }
            found.length = Some(reader.scalar(parser)?);
            continue;
        }
        if let Some((_, first)) = found.axes.first() {
            return Err(twice(word, span, *first));
        }
        found.axes.push(axis(reader, parser)?);
        if parser.accept_word("and") {
            found.axes.push(axis(reader, parser)?);
        }
    }
    Ok(found)
}

fn axis<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
) -> Result<(Vec<f64>, Span), Diagnostic> {
    let (components, span) = reader.vector(parser)?;
    let known: Result<Vec<f64>, _> = components.into_iter().map(|c| reader.known(c, span)).collect();
    Ok((known?, span))
}

/// `spring [NAME] from A to B stiffness K length L`
pub(super) fn spring<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let name = own_name(reader, parser, "spring")?;
    let start = parser.peek().span;
    one_of(parser, &["from"], "`from` and one end")?;
    let [a, b] = ends(reader, parser, "to")?;
    let both = start.to(parser.previous());
    one_of(parser, &["stiffness"], "`stiffness` and the stiffness")?;
    let (stiffness, _) = reader.scalar(parser)?;
    one_of(parser, &["length"], "`length` and the length at rest, which may be 0")?;
    let (length, _) = reader.scalar(parser)?;
    let added = reader.setup.model.spring(&name, &a.point, &b.point, stiffness, length);
    added.map_err(|error| refused(both, error))?;
    reader.links.push(Link { name, kind: LinkKind::Spring, ends: [a, b] });
    Ok(())
}

/// `damper [NAME] from A to B rate C`
pub(super) fn damper<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let name = own_name(reader, parser, "damper")?;
    let start = parser.peek().span;
    one_of(parser, &["from"], "`from` and one end")?;
    let [a, b] = ends(reader, parser, "to")?;
    let both = start.to(parser.previous());
    one_of(parser, &["rate"], "`rate` and the force per speed")?;
    let (resistance, _) = reader.scalar(parser)?;
    let added = reader.setup.model.damper(&name, &a.point, &b.point, resistance);
    added.map_err(|error| refused(both, error))
}

/// A name before `from`, or one that is made.
fn own_name<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    kind: &'static str,
) -> Result<String, Diagnostic> {
    let token = parser.peek();
    let named = match token.kind {
        Kind::Quoted => true,
        Kind::Name => parser.text(token.span) != "from",
        _ => false,
    };
    if named { Ok(parser.name()?.0.into_owned()) } else { Ok(reader.next_name(kind)) }
}

/// Two ends, of which one moves.
fn ends<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    between: &'static str,
) -> Result<[End<'g>; 2], Diagnostic> {
    let start = parser.peek().span;
    let first = either(reader, parser)?;
    one_of(parser, &[between], "`to` and the other end")?;
    let second = either(reader, parser)?;
    let span = start.to(parser.previous());
    // The ground has as many dimensions as the other end.
    let origin = |other: &End<'g>, turn: Rotation| {
        let model = &reader.setup.model;
        let point = match other.point.position().len() {
            2 => model.anchor([0.0, 0.0]),
            _ => model.anchor([0.0, 0.0, 0.0]),
        };
        End { point: point.turned(&turn), name: None, body: None, moves: false }
    };
    let still =
        || Diagnostic::at(span, "neither end moves").help("one of them must be on a body or a particle");
    let (first, second) = match (first, second) {
        (Either::At(first), Either::At(second)) => (*first, *second),
        (Either::At(first), Either::Ground(turn)) => {
            let second = origin(&first, turn);
            (*first, second)
        }
        (Either::Ground(turn), Either::At(second)) => (origin(&second, turn), *second),
        (Either::Ground(_), Either::Ground(_)) => return Err(still()),
    };
    if !first.moves && !second.moves {
        return Err(still());
    }
    if first.body.is_none() && first.point.position() == second.point.position() {
        return Err(Diagnostic::at(span, "both ends are the same point").help("give two different ones"));
    }
    Ok([first, second])
}

/// An end, or the origin of the ground, whose dimensions are those of the other end.
enum Either<'g> {
    At(Box<End<'g>>),
    Ground(Rotation),
}

/// `BODY [at PLACE]`, a particle or a point by its name, `ground [at PLACE]`, or a position; each may be `turned`.
fn either<'g, 's>(reader: &Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<Either<'g>, Diagnostic> {
    let token = parser.peek();
    let name = parser.text(token.span);
    if token.kind == Kind::Name && name == "ground" && !reader.names.contains_key(name) {
        parser.advance();
        if !parser.accept_word("at") {
            return Ok(Either::Ground(turned(reader, parser)?));
        }
        let (position, span) = reader.vector(parser)?;
        return position_end(reader, parser, &position, span).map(|end| Either::At(Box::new(end)));
    }
    end(reader, parser).map(|end| Either::At(Box::new(end)))
}

/// `BODY [at PLACE]`, a particle or a point by its name, or a position; each may be `turned`.
pub(super) fn end<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
) -> Result<End<'g>, Diagnostic> {
    let token = parser.peek();
    let name = parser.text(token.span);
    let operated = matches!(parser.peek_next().kind, Kind::Sign("+" | "-" | "*" | "/" | "^" | "'" | "("));
    if token.kind != Kind::Name || operated {
        let (position, span) = reader.vector(parser)?;
        return position_end(reader, parser, &position, span);
    }
    match reader.names.get(name) {
        Some((Role::Body, _)) => body_end(reader, parser),
        Some((Role::Particle | Role::Point | Role::Joint, _)) => {
            parser.advance();
            if let Some(end) = reader.points.get(name) {
                let point = end.point.turned(&turned(reader, parser)?);
                return Ok(End { point, ..end.clone() });
            }
            let place = reader.places.iter().find(|place| place.name == name);
            let Some(place) = place else { return Err(no_place(name, token.span)) };
            let end = position_end(reader, parser, &place.at, token.span)?;
            Ok(End { name: Some(name.to_owned()), ..end })
        }
        Some(_) => {
            let (position, span) = reader.vector(parser)?;
            position_end(reader, parser, &position, span)
        }
        None if name.contains('.') => {
            let (position, span) = reader.vector(parser)?;
            position_end(reader, parser, &position, span)
        }
        None => {
            let wrong = Diagnostic::at(token.span, format!("there is no body, particle or point `{name}`"));
            let known = reader.places.iter().map(|place| place.name.as_str()).chain(["ground"]);
            Err(match nearest(name, known) {
                Some(other) => wrong.unknown(name).help(format!("did you mean `{other}`?")),
                None => wrong.unknown(name).help(
                    "an end is `BODY at [X, Y]`, the name of a particle or point, `ground`, or a position",
                ),
            })
        }
    }
}

/// Says of a slider or a massless link that its name is no place.
pub(super) fn no_place(name: &str, span: Span) -> Diagnostic {
    let wrong = format!("the joint `{name}` does not hold two points together, so it is no place");
    Diagnostic::at(span, wrong).help("name a point of one of its bodies: `point NAME on BODY at …`")
}

/// `[turned TURN]`
fn turned<'g, 's>(reader: &Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<Rotation, Diagnostic> {
    if parser.accept_word("turned") { turn(reader, parser) } else { Ok(Rotation::NONE) }
}

/// An end at a position of the world, which may move.
fn position_end<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    position: &[Expr<'g>],
    span: Span,
) -> Result<End<'g>, Diagnostic> {
    let model = &reader.setup.model;
    let point = match *position {
        [x, y] => model.anchor([x, y]),
        [x, y, z] => model.anchor([x, y, z]),
        _ => {
            return Err(Diagnostic::at(
                span,
                "a position in the plane or in space is expected here, not a number",
            )
            .help("for what moves along a line, write an energy: `potential k*(x - l)^2/2`"));
        }
    };
    let moves = position.iter().any(|&e| symbols(e).iter().any(|name| reader.numbered.contains_key(name)));
    Ok(End { point: point.turned(&turned(reader, parser)?), name: None, body: None, moves })
}

/// `BODY [at PLACE] [turned TURN]`
fn body_end<'g, 's>(reader: &Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<End<'g>, Diagnostic> {
    let (name, span) = parser.name()?;
    let body = body_named(reader, &name, span)?;
    let placed = parser.accept_word("at");
    let point = if placed { point_of(reader, parser, &body)? } else { body.centre() };
    let own = (!placed).then(|| name.to_string());
    let point = point.turned(&turned(reader, parser)?);
    Ok(End { point, name: own, body: Some(name.into_owned()), moves: true })
}

/// `BODY at PLACE`, after `point NAME on`.
pub(super) fn on_body<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    own: &str,
) -> Result<End<'g>, Diagnostic> {
    let (name, span) = parser.name()?;
    let body = body_named(reader, &name, span)?;
    one_of(parser, &["at"], "`at` and the place in the frame of the body")?;
    let point = point_of(reader, parser, &body)?;
    let point = point.turned(&turned(reader, parser)?);
    Ok(End { point, name: Some(own.to_owned()), body: Some(name.into_owned()), moves: true })
}

fn point_of<'g, 's>(
    reader: &Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    body: &Body<'g>,
) -> Result<Point<'g>, Diagnostic> {
    let (place, span) = reader.vector(parser)?;
    let point = match place[..] {
        [x, y] => body.point([x, y]),
        [x, y, z] => body.point([x, y, z]),
        _ => body.point([place[0]]),
    };
    point.map_err(|error| refused(span, error))
}

/// The body of this name.
pub(super) fn body_named<'g>(
    reader: &Reader<'g, '_>,
    name: &str,
    span: Span,
) -> Result<Body<'g>, Diagnostic> {
    let found = reader.setup.model.body_named(name);
    found.map_err(|error| match reader.names.get(name) {
        Some((role, place)) => Diagnostic::at(span, format!("`{name}` is {}, not a body", role.what()))
            .related(*place, "declared here"),
        None => {
            let nearest = if let BodyError::Unknown { nearest, .. } = error { nearest } else { None };
            let wrong = Diagnostic::at(span, format!("there is no body `{name}`")).unknown(name);
            match nearest {
                Some(other) => wrong.help(format!("did you mean `{other}`?")),
                None => wrong.help(format!("declare it above: `body {name} …`")),
            }
        }
    })
}

//! How it is drawn: `draw`.

use super::joint::no_place;
use crate::density::Density;
use crate::diagnostic::Diagnostic;
use crate::drawing::{MeshPart, Part, Spot, Tint};
use crate::explain::meant;
use crate::meshes::MovingMesh;
use crate::picture::body_part;
use crate::reader::Reader;
use crate::role::Role;
use leastaction_expr::{Kind, Parser, Span, nearest};

type Outcome = Result<(), Diagnostic>;

const PARTS: [&str; 8] = ["rod", "spring", "dot", "trail", "body", "line", "curve", "mesh"];

/// A curve is drawn as so many straight pieces.
const PIECES: u32 = 200;

/// `draw [only] rod A to B, spring A to B, dot A [mass M], trail A, body A, line A to B to …, curve POSITION for NAME from A to B,
/// mesh NAME [by QUANTITY]`
pub(super) fn draw<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let before = reader.fixed.borrow().len();
    let drawn = parts(reader, parser);
    // Many trajectories are not drawn, so their parameters may be anything here.
    reader.fixed.borrow_mut().truncate(before);
    drawn
}

fn parts<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    reader.draws_only |= parser.accept_word("only");
    loop {
        let (word, span) = parser.name()?;
        let part = match &*word {
            "rod" | "spring" => {
                let from = spot(reader, parser)?;
                reader.word(parser, "to", "`to` and the other end")?;
                let to = spot(reader, parser)?;
                if word == "rod" { Part::Rod(from, to) } else { Part::Spring(from, to) }
            }
            "dot" => dot(reader, parser)?,
            "trail" => Part::Trail(spot(reader, parser)?),
            "body" => body(reader, parser)?,
            "line" => {
                let mut points = vec![fixed(reader, parser)?];
                while parser.accept_word("to") {
                    points.push(fixed(reader, parser)?);
                }
                Part::Line(points)
            }
            "curve" => curve(reader, parser)?,
            "mesh" => Part::Mesh(mesh(reader, parser)?),
            _ => {
                let wrong = Diagnostic::at(span, format!("a drawing has no `{word}`"));
                return Err(match meant(&word, &PARTS) {
                    Some(other) => wrong.help(format!("did you mean `{other}`?")),
                    None => wrong.help(format!("it has {}", PARTS.join(", "))),
                });
            }
        };
        reader.setup.drawing.parts.push(part);
        if !parser.accept(",") {
            return Ok(());
        }
    }
}

/// A dot has the area of its mass: that of the particle, unless another is given, and a little for a point.
fn dot<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<Part, Diagnostic> {
    let start = parser.peek().span;
    let at = spot(reader, parser)?;
    let span = start.to(parser.previous());
    if parser.accept_word("mass") {
        let (mass, place) = reader.number(parser)?;
        if mass <= 0.0 {
            return Err(Diagnostic::at(place, format!("the mass of a dot is {mass}: it must be positive")));
        }
        return Ok(Part::Dot { at, mass });
    }
    let own = match &at {
        Spot::Of(name) => reader.places.iter().find(|place| place.name == *name).and_then(|place| place.mass),
        Spot::At(_) => None,
    };
    let mass = own.map(|mass| reader.known(mass, span)).transpose()?;
    Ok(Part::Dot { at, mass: mass.unwrap_or(1.0) })
}

/// A particle, a point, a body or a joint by its name, or a fixed position.
fn spot<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<Spot, Diagnostic> {
    let token = parser.peek();
    let name = parser.text(token.span);
    if token.kind == Kind::Name && reader.places.iter().any(|place| place.name == name) {
        parser.advance();
        return Ok(Spot::Of(name.to_owned()));
    }
    if let Some(end) = reader.points.get(name).cloned() {
        parser.advance();
        return Ok(reader.spot(&end, name));
    }
    if let Some((Role::Joint, _)) = reader.names.get(name) {
        return Err(no_place(name, token.span));
    }
    if token.kind == Kind::Name && !reader.names.contains_key(name) {
        let wrong =
            Diagnostic::at(token.span, format!("there is no particle, point or body `{name}`")).unknown(name);
        return Err(match nearest(name, reader.places.iter().map(|place| place.name.as_str())) {
            Some(other) => wrong.help(format!("did you mean `{other}`?")),
            None => wrong.help("give the name of one, or a fixed position such as `[0, 1]`"),
        });
    }
    fixed(reader, parser).map(Spot::At)
}

/// A position that does not move.
fn fixed<'g, 's>(reader: &Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<[f64; 3], Diagnostic> {
    let (components, span) = reader.vector(parser)?;
    numbers(reader, &components, span)
        .map_err(|wrong| wrong.help("to draw what moves, declare `point NAME at …` and draw it by its name"))
}

fn numbers<'g>(
    reader: &Reader<'g, '_>,
    components: &[leastaction_expr::Expr<'g>],
    span: Span,
) -> Result<[f64; 3], Diagnostic> {
    let mut position = [0.0; 3];
    for (to, &component) in position.iter_mut().zip(components) {
        *to = reader.known(component, span)?;
    }
    Ok(position)
}

/// `body NAME`
fn body<'g, 's>(reader: &Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<Part, Diagnostic> {
    let (name, span) = parser.name()?;
    if let Some(part) = body_part(reader, &name) {
        return Ok(Part::Body(part));
    }
    if matches!(reader.names.get(&*name), Some((Role::Body, _))) {
        let wrong = Diagnostic::at(span, format!("the body `{name}` has no shape that could be drawn"));
        return Err(wrong.help(format!("draw its centre, `dot {name}`, or give it a shape with lengths")));
    }
    let wrong = Diagnostic::at(span, format!("there is no body `{name}`")).unknown(&name);
    Err(match nearest(&name, reader.shaped.iter().map(|shaped| shaped.name.as_str())) {
        Some(other) => wrong.help(format!("did you mean `{other}`?")),
        None => wrong.help("declare it before it is drawn, as `body wheel planar disk 1 mass 1`"),
    })
}

/// `mesh NAME [by speed | strain | nothing | FIELD]`
fn mesh<'g, 's>(reader: &Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<MeshPart, Diagnostic> {
    let (name, span) = parser.name()?;
    let Some(entry) = reader.meshes.iter().find(|entry| entry.moving.name == *name) else {
        let wrong = Diagnostic::at(span, format!("there is no mesh `{name}`")).unknown(&name);
        return Err(match nearest(&name, reader.meshes.iter().map(|entry| entry.moving.name.as_str())) {
            Some(other) => wrong.help(format!("did you mean `{other}`?")),
            None => {
                wrong.help("declare it before it is drawn, as `mesh block box [1, 1, 1] cells [4, 4, 4]`")
            }
        });
    };
    let part = MeshPart::of(&entry.moving);
    if !parser.accept_word("by") {
        return Ok(part);
    }
    let (word, span) = parser.name()?;
    let tint = Tint::ALL.into_iter().find(|tint| tint.name() == &*word);
    let field = entry.moving.fields.iter().zip(&entry.fields).find(|(field, _)| field.name == *word);
    match (tint, field) {
        (Some(tint), None) => Ok(MeshPart { tint, ..part }),
        (None, Some((field, (_, nodes)))) if !nodes.is_empty() => {
            Ok(part.by_energy(Density::new(&word, field.over, nodes, &entry.moving.mesh)))
        }
        (None, Some(_)) => {
            let wrong = format!("a mesh cannot be coloured by `{word}`: its pairs are not listed");
            Err(Diagnostic::at(span, wrong).help("use another field, or `speed`"))
        }
        (Some(_), Some(_)) => {
            let wrong = format!("`{word}` is both a field and what every mesh can be coloured by");
            Err(Diagnostic::at(span, wrong).help("rename the field"))
        }
        (None, None) => Err(no_tint(reader, &entry.moving, &word, span)),
    }
}

/// Says what a mesh can be coloured by.
fn no_tint(reader: &Reader<'_, '_>, mesh: &MovingMesh, word: &str, span: Span) -> Diagnostic {
    let wrong = Diagnostic::at(span, format!("a mesh cannot be coloured by `{word}`"));
    let elsewhere =
        reader.meshes.iter().find(|entry| entry.moving.fields.iter().any(|field| field.name == word));
    if let Some(other) = elsewhere {
        return wrong.help(format!("`{word}` is a field on `{}`, not on `{}`", other.moving.name, mesh.name));
    }
    let tints = Tint::ALL;
    let fields = mesh.fields.iter().map(|field| field.name.as_str());
    let names: Vec<&str> = tints.iter().map(Tint::name).chain(fields).collect();
    match nearest(word, names.iter().copied()) {
        Some(other) => wrong.help(format!("did you mean `{other}`?")),
        None => wrong.help(format!(
            "it is coloured by one of {}, or a field that is declared above",
            names.join(", ")
        )),
    }
}

/// `curve POSITION for NAME from A to B`
fn curve<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<Part, Diagnostic> {
    // The name stands behind the expression that uses it.
    let mut ahead = parser.clone();
    while ahead.peek().kind != Kind::End && !ahead.accept_word("for") {
        ahead.advance();
    }
    let (name, _) = match ahead.peek().kind {
        Kind::Name => ahead.name()?,
        _ => {
            let wrong = Diagnostic::from(ahead.unexpected("`for NAME from A to B`"));
            return Err(
                wrong.help("a curve says what it runs along, as `draw curve [s, s^2] for s from 0 to 1`")
            );
        }
    };
    let symbol = reader.graph.symbol(&format!("curve({name})"));
    let hidden = reader.scope.replace(&name, Some(symbol.into()));
    let position = reader.vector(parser);
    reader.scope.replace(&name, hidden);
    let (position, span) = position?;
    reader.word(parser, "for", "`for NAME from A to B`")?;
    parser.name()?;
    reader.word(parser, "from", "`from` and where the curve begins")?;
    let (from, _) = reader.number(parser)?;
    reader.word(parser, "to", "`to` and where the curve ends")?;
    let (to, _) = reader.number(parser)?;
    let mut points = Vec::with_capacity(PIECES as usize + 1);
    for i in 0..=PIECES {
        reader.parameters.insert(symbol.id(), from + (to - from) * f64::from(i) / f64::from(PIECES));
        let point = numbers(reader, &position, span);
        reader.parameters.remove(&symbol.id());
        points.push(point?);
    }
    Ok(Part::Line(points))
}

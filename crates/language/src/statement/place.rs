//! Where things are: `particle`, `point`, `gravity`.

use crate::diagnostic::Diagnostic;
use crate::reader::{Position, Reader};
use crate::role::Role;
use crate::source_map::Mention;
use leastaction_expr::{Expr, Parser, Value};
use leastaction_mechanics::{Particle, TermKind, gravity_on};

type Outcome = Result<(), Diagnostic>;

/// `particle NAME mass MASS at POSITION`
pub(super) fn particle<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let (name, span) = reader.new_name(parser, Role::Particle)?;
    reader.word(parser, "mass", "`mass` and the particle's mass")?;
    let (masses, mass_span) = reader.vector(parser)?;
    reader.word(parser, "at", "`at` and the particle's position")?;
    let (position, at) = reader.vector(parser)?;
    let inertias = match masses[..] {
        [mass] => vec![mass; position.len()],
        _ if masses.len() == position.len() => masses.clone(),
        _ => {
            let (inertias, axes) = (masses.len(), position.len());
            return Err(Diagnostic::at(
                mass_span,
                format!("{inertias} masses are given for {axes} coordinates"),
            )
            .related(at, "the position")
            .help("give one mass, or one for each component of the position"));
        }
    };
    let mass = masses.first().copied();
    reader.setup.model.push_particle(Particle { name: name.clone(), inertias, position: position.clone() });
    reader.declare(&name, span, Role::Particle);
    reader.declare_energy(TermKind::Kinetic.word(), &name);
    reader.declare_energy(TermKind::Potential.word(), &gravity_on(&name));
    reader.setup.source_map.mark(Mention::Mass, &name, mass_span);
    reader.setup.source_map.mark(Mention::Position, &name, at);
    place(reader, &name, position, mass);
    Ok(())
}

/// `point NAME at POSITION` and `point NAME on BODY at PLACE`
pub(super) fn point<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let (name, span) = reader.new_name(parser, Role::Point)?;
    if parser.accept_word("on") {
        let end = super::joint::on_body(reader, parser, &name)?;
        let position = end.point.position();
        let particle = Particle { name: name.clone(), inertias: Vec::new(), position: position.clone() };
        reader.setup.model.push_particle(particle);
        reader.declare(&name, span, Role::Point);
        reader.points.insert(name.clone(), end);
        place(reader, &name, position, None);
        return Ok(());
    }
    reader.word(parser, "at", "`at` and the point's position")?;
    let (position, at) = reader.vector(parser)?;
    reader.setup.source_map.mark(Mention::Position, &name, at);
    let particle = Particle { name: name.clone(), inertias: Vec::new(), position: position.clone() };
    reader.setup.model.push_particle(particle);
    reader.declare(&name, span, Role::Point);
    place(reader, &name, position, None);
    Ok(())
}

/// Makes the name of a place a vector.
pub(super) fn place<'g>(reader: &mut Reader<'g, '_>, name: &str, at: Vec<Expr<'g>>, mass: Option<Expr<'g>>) {
    reader.define(name, &Value::Vector(at.clone()));
    reader.places.push(Position { name: name.to_owned(), at, mass });
}

/// `gravity ACCELERATION`
pub(super) fn gravity<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let (acceleration, place) = reader.vector(parser)?;
    reader.setup.source_map.mark(Mention::Gravity, "", place);
    reader.pull.clone_from(&acceleration);
    let model = &mut reader.setup.model;
    match acceleration[..] {
        [x] => model.gravity([x]),
        [x, y] => model.gravity([x, y]),
        [x, y, z, ..] => model.gravity([x, y, z]),
        [] => {}
    }
    Ok(())
}

//! Energies, forces and constraints.

use super::body::refused;
use super::joint::end;
use crate::diagnostic::Diagnostic;
use crate::reader::{AXES, Reader};
use crate::role::Role;
use crate::setup::Setup;
use crate::source_map::Mention;
use leastaction_expr::{Expr, Parser, Value, nearest};
use leastaction_mechanics::{Model, TermKind, suffixed};

type Outcome = Result<(), Diagnostic>;

/// `kinetic [NAME =] ENERGY`
pub(super) fn kinetic<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    term(reader, parser, TermKind::Kinetic, Model::kinetic)
}

/// `potential [NAME =] ENERGY`
pub(super) fn potential<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    term(reader, parser, TermKind::Potential, Model::potential)
}

/// `lagrangian [NAME =] EXPRESSION`
pub(super) fn lagrangian<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    term(reader, parser, TermKind::Lagrangian, Model::lagrangian)
}

/// `hamiltonian [NAME =] EXPRESSION`
pub(super) fn hamiltonian<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    term(reader, parser, TermKind::Hamiltonian, Model::hamiltonian)
}

/// `dissipation [NAME =] EXPRESSION`
pub(super) fn dissipation<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    term(reader, parser, TermKind::Dissipation, Model::dissipation)
}

fn term<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
    kind: TermKind,
    add: fn(&mut Model<'g>, &str, Expr<'g>),
) -> Outcome {
    let start = parser.peek().span;
    let name = reader.term_name(parser, Mention::Term(kind), "=")?;
    let (value, place) = reader.scalar(parser)?;
    reader.setup.source_map.mark(Mention::Term(kind), &name, start.to(place));
    let Some(value) = reader.without_many(kind, &name, value, start.to(place))? else { return Ok(()) };
    add(&mut reader.setup.model, &name, value);
    if kind != TermKind::Dissipation {
        reader.declare_energy(kind.word(), &name);
    }
    Ok(())
}

/// `force COORDINATE = EXPRESSION, …`, `force BODY [at PLACE] = VECTOR, …`, and the same for particles and points.
pub(super) fn force<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    loop {
        if reader.is_of_mesh(parser) {
            super::nodes::force(reader, parser)?;
            if !parser.accept(",") {
                return Ok(());
            }
            continue;
        }
        let place = parser.text(parser.peek().span);
        if let Some((Role::Body | Role::Particle | Role::Point, _)) = reader.names.get(place) {
            push(reader, parser)?;
            if !parser.accept(",") {
                return Ok(());
            }
            continue;
        }
        let (name, span) = parser.name()?;
        let coordinate = match reader.names.get(&*name) {
            Some((Role::Coordinate, _)) => reader.graph.symbol(&name),
            Some((role, _)) => {
                return Err(Diagnostic::at(span, format!("a force cannot act on {} `{name}`", role.noun()))
                    .help("forces act on coordinates, bodies, particles and points: `force x = …` adds to the equation of motion of `x`"));
            }
            None => {
                let coordinates = reader.names.iter().filter(|(_, (role, _))| *role == Role::Coordinate);
                let wrong = Diagnostic::at(span, format!("there is no coordinate `{name}`")).unknown(&name);
                return Err(match nearest(&name, coordinates.map(|(name, _)| name.as_str())) {
                    Some(other) => wrong.help(format!("did you mean `{other}`?")),
                    None => wrong.help(format!("coordinates are {}", super::run::few(&reader.coordinates))),
                });
            }
        };
        reader.sign(parser, "=", "`=` and the force")?;
        let (value, place) = reader.scalar(parser)?;
        reader.setup.source_map.mark(Mention::Force, &name, place);
        reader.setup.model.force(coordinate, value);
        if !parser.accept(",") {
            return Ok(());
        }
    }
}

/// A force at a point: of a body, of a particle, or any other that moves.
fn push<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let end = end(reader, parser)?;
    reader.sign(parser, "=", "`=` and the force")?;
    let (force, span) = reader.vector(parser)?;
    let model = &mut reader.setup.model;
    let pushed = match force[..] {
        [x, y] => model.push(&end.point, [x, y]),
        [x, y, z] => model.push(&end.point, [x, y, z]),
        _ => {
            return Err(
                Diagnostic::at(span, "a force is a vector here").help("give a component for each axis")
            );
        }
    };
    pushed.map_err(|error| refused(span, error))
}

/// `torque BODY = TORQUE, …`: a number in the plane, a vector in space.
pub(super) fn torque<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    loop {
        let (name, span) = parser.name()?;
        let body = super::joint::body_named(reader, &name, span)?;
        reader.sign(parser, "=", "`=` and the torque")?;
        let (torque, place) = reader.vector(parser)?;
        let model = &mut reader.setup.model;
        let turned = match (body.dimensions(), &torque[..]) {
            (2, &[torque]) => model.planar_torque(&body, torque),
            (3, &[x, y, z]) => model.torque(&body, [x, y, z]),
            (2, _) => {
                return Err(Diagnostic::at(place, "a torque in the plane is a number")
                    .help("counterclockwise it is positive"));
            }
            _ => return Err(Diagnostic::at(place, "a torque in space is a vector of 3")),
        };
        turned.map_err(|error| refused(span, error))?;
        if !parser.accept(",") {
            return Ok(());
        }
    }
}

/// `constraint [NAME:] EXPRESSION = EXPRESSION`, of numbers or of vectors.
pub(super) fn constraint<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let start = parser.peek().span;
    let name = reader.term_name(parser, Mention::Term(TermKind::Constraint), ":")?;
    let left = reader.value(parser)?;
    if !parser.accept("=") {
        return Err(parser.unexpected_operand("an operator, or `=` and what it is equal to").into());
    }
    let right = reader.value(parser)?;
    let place = start.to(parser.previous());
    reader.setup.source_map.mark(Mention::Term(TermKind::Constraint), &name, place);
    let Setup { model, source_map, .. } = &mut reader.setup;
    match (left, right) {
        (Value::Scalar(left), Value::Scalar(right)) => {
            // Gears: when their angles are where they were follows from numbers only.
            let proportions = model.angle_proportions(left - right);
            let mut values = Vec::with_capacity(proportions.len());
            for parameter in proportions {
                values.push((parameter, reader.graph.number(reader.known(parameter, place)?)));
            }
            let (left, right) = (left.substitute(&values), right.substitute(&values));
            reader.constraints.push(left - right);
            reader.setup.model.constraint(&name, left, right);
        }
        (Value::Vector(left), Value::Vector(right)) if left.len() == right.len() => {
            for ((left, right), axis) in left.into_iter().zip(right).zip(AXES) {
                let name = suffixed(&name, axis);
                source_map.mark(Mention::Term(TermKind::Constraint), &name, place);
                model.constraint(&name, left, right);
            }
        }
        (left, right) => {
            let (left, right) = (left.shape(), right.shape());
            return Err(Diagnostic::at(place, format!("{left} cannot be equal to {right}")).help(
                "compare numbers with numbers, and vectors with vectors of as many components, as `[0, 0]`",
            ));
        }
    }
    Ok(())
}

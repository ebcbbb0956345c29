//! Bodies with their shapes.

use crate::drawing::{BodyPart, BodyShape, PlacedShape, Spot};
use crate::reader::{Reader, Shaped, symbols_in};
use crate::statement::{End, LinkKind};
use leastaction_expr::Expr;
use leastaction_mechanics::Body;
use std::collections::{HashMap, HashSet};

/// The bodies that have a shape.
pub(super) fn body_parts(reader: &Reader<'_, '_>) -> Vec<BodyPart> {
    // The shapes of a body were read together.
    let bodies = reader.shaped.chunk_by(|a, b| a.name == b.name);
    bodies.filter_map(|shapes| part(reader, shapes)).collect()
}

/// A body of this name as it is drawn, if it has a shape.
pub(crate) fn body_part(reader: &Reader<'_, '_>, name: &str) -> Option<BodyPart> {
    part(reader, reader.shaped.chunk_by(|a, b| a.name == b.name).find(|shapes| shapes[0].name == name)?)
}

/// The body that these are the shapes of.
fn part<'g>(reader: &Reader<'g, '_>, shapes: &[Shaped<'g>]) -> Option<BodyPart> {
    let body = reader.setup.model.body_named(&shapes[0].name).ok()?;
    let mut own = body.nodes().into_iter().skip(1);
    let nodes = body.extends().map(|has| {
        let node = has.then(|| own.next()).flatten();
        node.map(|node| node.iter().map(ToString::to_string).collect())
    });
    let shapes: Vec<_> = shapes.iter().filter_map(|shaped| placed(reader, &body, shaped)).collect();
    (!shapes.is_empty()).then(|| BodyPart { name: body.name().to_owned(), shapes, nodes })
}

/// A shape of a body, where it is in it.
fn placed<'g>(reader: &Reader<'g, '_>, body: &Body<'g>, shaped: &Shaped<'g>) -> Option<PlacedShape> {
    let lengths: Option<Vec<f64>> = shaped.lengths.iter().map(|&x| reader.evaluate(x).ok()).collect();
    let shape = match (shaped.word, &lengths?[..]) {
        ("rod", &[length]) => BodyShape::Rod(length),
        ("disk", &[radius]) => BodyShape::Disk(radius),
        ("plate", &[a, b]) => BodyShape::Plate([a, b]),
        ("cuboid", &[a, b, c]) => BodyShape::Cuboid([a, b, c]),
        ("sphere", &[radius]) => BodyShape::Sphere(radius),
        ("cylinder", &[radius, height]) => BodyShape::Cylinder { radius, height },
        ("cone", &[radius, height]) => BodyShape::Cone { radius, height },
        _ => return None,
    };
    let turn = shaped.turn.rows();
    let in_shape =
        |u: [f64; 3]| -> [f64; 3] { std::array::from_fn(|j| (0..3).map(|k| u[k] * turn[k][j]).sum()) };
    let mut offset = body.centre_in_frame().map(|x| -x);
    for (to, &x) in offset.iter_mut().zip(&shaped.centre) {
        *to += reader.evaluate(x).ok()?;
    }
    Some(PlacedShape { shape, offset: in_shape(offset), axes: body.principal_axes().map(in_shape) })
}

/// The spots that are points of bodies within their shapes.
#[derive(Default)]
pub(super) struct Owned {
    /// By name, with the names of the bodies.
    named: HashMap<String, Vec<String>>,
    /// Those that stand still.
    fixed: Vec<([f64; 3], String)>,
}

impl Owned {
    /// The bodies that a spot is a point of.
    pub(super) fn of(&self, spot: &Spot) -> HashSet<&str> {
        match spot {
            Spot::Of(name) => self.named.get(name).into_iter().flatten().map(String::as_str).collect(),
            Spot::At(at) => {
                self.fixed.iter().filter(|(own, _)| own == at).map(|(_, body)| body.as_str()).collect()
            }
        }
    }

    fn add(&mut self, spot: Spot, body: &str) {
        match spot {
            Spot::Of(name) => self.named.entry(name).or_default().push(body.to_owned()),
            Spot::At(at) => self.fixed.push((at, body.to_owned())),
        }
    }
}

/// The spots that are points of these bodies within their shapes.
pub(super) fn owned<'g>(reader: &Reader<'g, '_>, bodies: &[BodyPart]) -> Owned {
    let mut owned = Owned::default();
    let by_name: HashMap<&str, &BodyPart> = bodies.iter().map(|body| (body.name.as_str(), body)).collect();
    for body in bodies {
        owned.add(Spot::Of(body.name.clone()), &body.name);
    }
    let mut own = |end: &End<'g>, spots: Vec<Spot>| {
        let Some(body) = end.body.as_deref().and_then(|name| by_name.get(name)) else { return };
        let along = along_axes(reader, body, &end.point.position());
        let within = |placed: &PlacedShape, along: [f64; 3]| {
            let place = |j: usize| (0..3).map(|i| placed.axes[i][j] * along[i]).sum();
            placed.contains(std::array::from_fn(place))
        };
        if along.is_some_and(|along| body.shapes.iter().any(|placed| within(placed, along))) {
            spots.into_iter().for_each(|spot| owned.add(spot, &body.name));
        }
    };
    for (name, end) in &reader.points {
        own(end, vec![Spot::Of(name.clone())]);
    }
    for link in &reader.links {
        let spots = match link.kind {
            // The ends are one point, under whatever name it is drawn.
            LinkKind::Joint => {
                let names = link.ends.iter().filter_map(|end| end.name.clone()).chain([link.name.clone()]);
                let fixed = link.ends.iter().filter_map(|end| still(reader, end));
                let all: Vec<Spot> = names.map(Spot::Of).chain(fixed.map(Spot::At)).collect();
                [all.clone(), all]
            }
            _ => ["from", "to"].map(|end| vec![Spot::Of(format!("{}.{end}", link.name))]),
        };
        for (end, spots) in link.ends.iter().zip(spots) {
            own(end, spots);
        }
    }
    owned
}

/// Where an end is that does not move.
fn still<'g>(reader: &Reader<'g, '_>, end: &End<'g>) -> Option<[f64; 3]> {
    let mut at = [0.0; 3];
    for (to, x) in at.iter_mut().zip(end.point.position()) {
        *to = reader.evaluate(x).ok()?;
    }
    Some(at)
}

/// Where a point of a body is along its principal axes: where it is while the body stands at the origin with these axes along those of the world.
fn along_axes(reader: &Reader<'_, '_>, body: &BodyPart, position: &[Expr<'_>]) -> Option<[f64; 3]> {
    let model_body = reader.setup.model.body_named(&body.name).ok()?;
    let centre: Vec<String> = model_body.nodes().first()?.iter().map(ToString::to_string).collect();
    let value = |name: &str| {
        let node = |(i, names): (usize, &Option<Vec<String>>)| {
            names.as_ref()?.iter().position(|own| own == name).map(|axis| f64::from(u8::from(axis == i)))
        };
        let at_centre = centre.iter().any(|own| own == name).then_some(0.0);
        at_centre.or_else(|| body.nodes.iter().enumerate().find_map(node))
    };
    let mut along = [0.0; 3];
    for (to, &x) in along.iter_mut().zip(position) {
        let known = symbols_in(x).into_iter().map(|symbol| {
            let known = reader.parameters.get(&symbol.id()).copied();
            Some((symbol, known.or_else(|| value(&symbol.to_string()))?))
        });
        *to = x.eval(&known.collect::<Option<Vec<_>>>()?).ok()?;
    }
    Some(along)
}

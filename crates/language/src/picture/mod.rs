//! What is drawn unless a text says otherwise.

mod shapes;

pub(crate) use shapes::body_part;

use crate::drawing::{MeshPart, Part, Spot};
use crate::reader::{Position, Reader, symbols_in};
use crate::statement::{End, LinkKind};
use leastaction_expr::{Expr, Id};
use leastaction_mechanics::Particle;
use std::collections::{HashMap, HashSet};

/// So many places leave trails; of more, only the last one does.
const TRAILS: usize = 3;

/// Adds to what the text draws what is drawn anyway, but for what it draws in another way.
pub(crate) fn complete(reader: &mut Reader<'_, '_>) {
    let usual = picture(reader);
    let parts = &mut reader.setup.drawing.parts;
    let mut all: Vec<Part> =
        usual.into_iter().filter(|part| !parts.iter().any(|own| own.replaces(part))).collect();
    all.append(parts);
    all.sort_by_key(Part::layer);
    *parts = all;
}

/// Every mesh, every body with its shape, every other place as a dot, what has mass and points that move with trails, and a rod wherever
/// two places, or a place and the origin, stay at a distance.
fn picture<'g>(reader: &mut Reader<'g, '_>) -> Vec<Part> {
    let bodies = shapes::body_parts(reader);
    let owned = shapes::owned(reader, &bodies);
    let links = links(reader);
    let reader = &*reader;
    let places = &reader.places;
    let mut parts: Vec<Part> =
        reader.setup.meshes.iter().map(|mesh| Part::Mesh(MeshPart::of(mesh))).collect();
    let of = |place: &Position<'_>| Spot::Of(place.name.clone());
    let massive: Vec<_> = places.iter().filter(|place| place.mass.is_some()).collect();
    let moving = |place: &&Position<'g>| place.at.iter().any(|x| reader.evaluate(*x).is_err());
    let points: Vec<_> = places.iter().filter(|place| place.mass.is_none()).filter(moving).collect();
    // A trail behind everything is too much of it: points are there to be looked at, and the last mass swings widest.
    let all: Vec<_> = massive.iter().chain(&points).copied().collect();
    let trailing = match (all.len(), points.len(), massive.len()) {
        (..=TRAILS, ..) => &all[..],
        (_, 1..=TRAILS, _) => &points[..],
        (_, _, ..=TRAILS) => &massive[..],
        _ => massive.last().map_or(&[][..], std::slice::from_ref),
    };
    parts.extend(trailing.iter().map(|place| Part::Trail(of(place))));
    let probe = Probe::new(reader);
    for (i, place) in places.iter().enumerate().take(MANY) {
        match (0..i).rev().find(|&other| probe.stays(i, Some(other))) {
            Some(other) => parts.push(Part::Rod(of(&places[other]), of(place))),
            None if probe.stays(i, None) => parts.push(Part::Rod(Spot::At([0.0; 3]), of(place))),
            None => {}
        }
    }
    parts.extend(links.into_iter().filter(|part| !parts.contains(part)).collect::<Vec<_>>());
    // What reaches from one point of a body to another within its shape would hide the shape.
    parts.retain(|part| match part {
        Part::Rod(from, to) => owned.of(from).is_disjoint(&owned.of(to)),
        _ => true,
    });
    let shaped: HashSet<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
    let is_shaped = |place: &&&Position<'_>| shaped.contains(place.name.as_str());
    let value = |mass| reader.evaluate(mass).ok().filter(|m| m.is_finite() && *m > 0.0);
    parts.extend(
        massive
            .iter()
            .filter(|place| !is_shaped(place))
            .map(|place| Part::Dot { at: of(place), mass: place.mass.and_then(value).unwrap_or(1.0) }),
    );
    parts.extend(bodies.into_iter().map(Part::Body));
    parts
}

/// Springs, massless links, and what reaches from the centre of a body to its joints, springs and points.
fn links(reader: &mut Reader<'_, '_>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut arms: Vec<(Spot, String)> = Vec::new();
    for link in reader.links.clone() {
        let names = match link.kind {
            LinkKind::Joint => [link.name.clone(), link.name.clone()],
            _ => [format!("{}.from", link.name), format!("{}.to", link.name)],
        };
        // Where two points are one, the one that has a name already, or stands still, is where they are.
        let spots = match link.kind {
            LinkKind::Joint => {
                let [a, b] = &link.ends;
                let plain = if a.name.is_some() || a.body.is_none() { a } else { b };
                let spot = reader.spot(plain, &names[0]);
                [spot.clone(), spot]
            }
            _ => [reader.spot(&link.ends[0], &names[0]), reader.spot(&link.ends[1], &names[1])],
        };
        match link.kind {
            LinkKind::Rod => parts.push(Part::Rod(spots[0].clone(), spots[1].clone())),
            LinkKind::Spring => parts.push(Part::Spring(spots[0].clone(), spots[1].clone())),
            LinkKind::Joint | LinkKind::Slider => {}
        }
        for (end, spot) in link.ends.into_iter().zip(spots) {
            arms.extend(end.body.map(|body| (spot, body)));
        }
    }
    let mut named: Vec<_> =
        reader.points.iter().filter(|(name, _)| reader.places.iter().any(|p| p.name == **name)).collect();
    named.sort_by_key(|(name, _)| name.as_str());
    arms.extend(
        named.into_iter().filter_map(|(name, end)| Some((Spot::Of(name.clone()), end.body.clone()?))),
    );
    for (spot, body) in arms {
        let arm = Part::Rod(spot.clone(), Spot::Of(body.clone()));
        if spot != Spot::Of(body) && !parts.contains(&arm) {
            parts.push(arm);
        }
    }
    parts
}

impl<'g> Reader<'g, '_> {
    /// Where an end is drawn. What moves and is no place by itself is made one, under the name given for it.
    pub(crate) fn spot(&mut self, end: &End<'g>, name: &str) -> Spot {
        if let Some(place) = &end.name {
            return Spot::Of(place.clone());
        }
        let position = end.point.position();
        let mut at = [0.0; 3];
        let known = at.iter_mut().zip(&position).all(|(to, x)| match self.evaluate(*x) {
            Ok(value) => {
                *to = value;
                true
            }
            Err(_) => false,
        });
        if known {
            return Spot::At(at);
        }
        let model = &mut self.setup.model;
        if !model.has_place(name) {
            model.push_particle(Particle { name: name.to_owned(), inertias: Vec::new(), position });
        }
        Spot::Of(name.to_owned())
    }
}

/// Rods are looked for among so many places.
const MANY: usize = 100;

/// Points without pattern, at which what folding cannot see is seen.
const POINTS: usize = 5;

/// A constraint is looked at among so many.
const MOST_CONSTRAINTS: usize = 1000;

/// Numbers at points without pattern.
type Values = [f64; POINTS];

/// What places and constraints are at points without pattern.
struct Probe {
    places: Vec<Option<Vec<Values>>>,
    constraints: Vec<Values>,
}

impl Probe {
    fn new(reader: &Reader<'_, '_>) -> Probe {
        let names = reader.coordinates.iter().map(String::as_str).chain(["t"]);
        let coordinates: HashMap<Id, usize> =
            names.enumerate().map(|(i, name)| (reader.graph.symbol(name).id(), i)).collect();
        let values = |expr: Expr<'_>| values(reader, &coordinates, expr);
        let places = reader.places.iter().take(MANY);
        let places = places.map(|place| place.at.iter().map(|&x| values(x)).collect()).collect();
        let constraints = reader.constraints.iter().take(MOST_CONSTRAINTS).filter_map(|&c| values(c));
        Probe { places, constraints: constraints.collect() }
    }

    /// Whether a place moves at a constant distance from another, or from the origin: in all coordinates, or where a constraint
    /// demands it.
    fn stays(&self, place: usize, other: Option<usize>) -> bool {
        let Some(Some(place)) = self.places.get(place) else { return false };
        let origin = vec![[0.0; POINTS]; place.len()];
        let other = match other.map(|other| &self.places[other]) {
            Some(Some(other)) if other.len() == place.len() => other,
            Some(_) => return false,
            None => &origin,
        };
        let apart: Vec<Values> =
            place.iter().zip(other).map(|(a, b)| std::array::from_fn(|k| a[k] - b[k])).collect();
        let squares: Values = std::array::from_fn(|k| apart.iter().map(|d| d[k] * d[k]).sum());
        let still = apart.iter().all(|d| constant(d));
        let held = |values: &Values| {
            let scale = (squares[1] - squares[0]) / (values[1] - values[0]);
            let rest: Values = std::array::from_fn(|k| squares[k] - scale * values[k]);
            scale.is_finite() && constant(&rest)
        };
        !still && (constant(&squares) || self.constraints.iter().any(held))
    }
}

/// Whether numbers are one, but for rounding.
fn constant(values: &[f64]) -> bool {
    let size = values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    values.iter().all(|x| (x - values[0]).abs() <= 1e-9 * size)
}

/// An expression at points without pattern.
fn values(reader: &Reader<'_, '_>, coordinates: &HashMap<Id, usize>, expr: Expr<'_>) -> Option<Values> {
    let symbols = symbols_in(expr);
    let mut found = [0.0; POINTS];
    for (k, value) in found.iter_mut().enumerate() {
        let number = |i: usize| {
            (((1 + i) as f64 + 0.37 * (1 + k) as f64).powi(2) * 0.618_033_988_749_895).fract() - 0.4
        };
        let given = |symbol: Expr<'_>| match reader.parameters.get(&symbol.id()) {
            Some(value) => Some(*value),
            None => coordinates.get(&symbol.id()).map(|&i| number(i)),
        };
        let given: Option<Vec<_>> = symbols.iter().map(|&symbol| Some((symbol, given(symbol)?))).collect();
        *value = expr.eval(&given?).ok().filter(|value| value.is_finite())?;
    }
    Some(found)
}

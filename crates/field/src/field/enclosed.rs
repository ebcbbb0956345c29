//! The volume that a closed surface encloses, kept by an energy: V is one number of all triangles, and so this is no sum over elements.
//!
//! E = K/2 (V − V₀)²/V₀ with V = ⅙ Σ a · (b × c) over the outward triangles: ∂E/∂x = K (V/V₀ − 1) ∂V/∂x.

use super::FieldError;
use crate::geometry::{cross, dot, minus};
use crate::mesh::Mesh;
use crate::topology::is_closed;
use leastaction_mechanics::{Batch, EnergyFacts, Opaque, OpaqueEnergy};

/// A closed surface, by the rows of what it reads.
struct EnclosedVolume {
    /// The coordinates it reads, three for each node.
    coordinates: Vec<u32>,
    /// The nodes of each triangle among those.
    triangles: Vec<[u32; 3]>,
    rest: f64,
    bulk: f64,
}

/// An energy that keeps the volume that the surface of a mesh encloses as it is at rest, with this bulk modulus: K/2 (V − V₀)²/V₀. Node i of the
/// mesh has the coordinates from first + 3i on.
///
/// ```
/// use leastaction_field::{Mesh, enclosed_volume, lumped_masses, Nodes};
/// # use leastaction_expr::Graph;
/// # use leastaction_mechanics::Model;
/// let graph = Graph::new();
/// let mut model = Model::new(&graph);
/// let balloon = Mesh::sphere(1.0, 2)?;
/// let nodes = Nodes::new(&mut model, "balloon", &balloon, &lumped_masses(&balloon, 0.1)?)?;
/// model.potential("air", enclosed_volume(&balloon, nodes.first() as u32, 1e5)?);
/// # let mut dynamics = model.system()?.dynamics()?;
/// # let mut state = vec![0.0; 6 * balloon.nodes().len()];
/// # let (q, _) = state.split_at_mut(3 * balloon.nodes().len());
/// # nodes.place(dynamics.system(), &balloon.nodes().iter().map(|x| x.map(|x| 1.1 * x)).collect::<Vec<_>>(), q);
/// # let mut energy = [0.0];
/// # dynamics.energy(&[0.0], &state, &mut energy)?;
/// # assert!((energy[0] - 5e4 * balloon.volume() * 0.331f64.powi(2)).abs() < 1e-8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`FieldError`] if the surface is not closed or encloses nothing, or the modulus is not finite.
pub fn enclosed_volume(mesh: &Mesh, first: u32, bulk: f64) -> Result<Opaque, FieldError> {
    let surface = mesh.surface();
    if !is_closed(&surface) {
        return Err(FieldError::NotClosed);
    }
    let rest = mesh.volume();
    if rest <= 0.0 {
        return Err(FieldError::NoVolume { volume: rest });
    }
    if !bulk.is_finite() {
        return Err(FieldError::NotFinite { parameter: "bulk".to_owned(), index: 0 });
    }
    let mut nodes: Vec<u32> = surface.as_flattened().to_vec();
    nodes.sort_unstable();
    nodes.dedup();
    let place = |node: u32| nodes.partition_point(|&other| other < node) as u32;
    let triangles = surface.iter().map(|triangle| triangle.map(place)).collect();
    let coordinates =
        nodes.iter().flat_map(|&node| (0..3).map(move |axis| first + 3 * node + axis)).collect();
    Ok(Opaque::new(EnclosedVolume { coordinates, triangles, rest, bulk }))
}

/// The vectors of one lane.
#[derive(Clone, Copy)]
struct Lane<'a> {
    rows: &'a [f64],
    stride: usize,
    lane: usize,
}

impl Lane<'_> {
    fn at(self, node: u32) -> [f64; 3] {
        std::array::from_fn(|axis| self.rows[(3 * node as usize + axis) * self.stride + self.lane])
    }
}

impl EnclosedVolume {
    /// The corners of each triangle from the first node, so that far from the origin no digits are lost.
    fn corners(&self, q: Lane<'_>) -> impl Iterator<Item = ([u32; 3], [[f64; 3]; 3])> {
        let origin = q.at(0);
        self.triangles.iter().map(move |&nodes| (nodes, nodes.map(|node| minus(q.at(node), origin))))
    }

    fn volume(&self, q: Lane<'_>) -> f64 {
        self.corners(q).map(|(_, [a, b, c])| dot(a, cross(b, c))).sum::<f64>() / 6.0
    }
}

impl OpaqueEnergy for EnclosedVolume {
    fn facts(&self) -> EnergyFacts {
        EnergyFacts { coordinates: self.coordinates.clone(), parameters: Vec::new(), time: false }
    }

    fn energy(&self, at: Batch<'_>, _: &mut [f64], out: &mut [f64]) {
        for (lane, energy) in out.iter_mut().enumerate() {
            let growth = self.volume(Lane { rows: at.q, stride: at.stride, lane }) - self.rest;
            *energy = 0.5 * self.bulk * growth * growth / self.rest;
        }
    }

    fn gradient(&self, at: Batch<'_>, _: &mut [f64], out: &mut [f64]) {
        out.fill(0.0);
        for lane in 0..at.t.len() {
            let q = Lane { rows: at.q, stride: at.stride, lane };
            let pressure = self.bulk * (self.volume(q) / self.rest - 1.0) / 6.0;
            for (nodes, [a, b, c]) in self.corners(q) {
                for (node, (b, c)) in nodes.into_iter().zip([(b, c), (c, a), (a, b)]) {
                    let slope = cross(b, c);
                    for axis in 0..3 {
                        out[(3 * node as usize + axis) * at.stride + lane] += pressure * slope[axis];
                    }
                }
            }
        }
    }

    fn hessian_product(&self, at: Batch<'_>, direction: &[f64], _: &mut [f64], out: &mut [f64]) {
        out.fill(0.0);
        for lane in 0..at.t.len() {
            let q = Lane { rows: at.q, stride: at.stride, lane };
            let d = Lane { rows: direction, stride: at.stride, lane };
            let pressure = self.bulk * (self.volume(q) / self.rest - 1.0) / 6.0;
            // Corners are taken from the first node, which moves, too; in sum over a closed surface that is nothing.
            let growth = |(nodes, [a, b, c]): ([u32; 3], [[f64; 3]; 3])| {
                let [da, db, dc] = nodes.map(|node| d.at(node));
                dot(da, cross(b, c)) + dot(db, cross(c, a)) + dot(dc, cross(a, b))
            };
            let growth = self.corners(q).map(growth).sum::<f64>() / 6.0;
            let swelling = self.bulk * growth / self.rest / 6.0;
            for (nodes, [a, b, c]) in self.corners(q) {
                let [da, db, dc] = nodes.map(|node| d.at(node));
                let around = [(b, c, db, dc), (c, a, dc, da), (a, b, da, db)];
                for (node, (b, c, db, dc)) in nodes.into_iter().zip(around) {
                    let (slope, one, other) = (cross(b, c), cross(db, c), cross(b, dc));
                    for axis in 0..3 {
                        let change = swelling * slope[axis] + pressure * (one[axis] + other[axis]);
                        out[(3 * node as usize + axis) * at.stride + lane] += change;
                    }
                }
            }
        }
    }
}

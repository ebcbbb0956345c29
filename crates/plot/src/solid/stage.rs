//! Where things stand before the viewer.

use super::buffer::{Corner, DepthBuffer, Pigment, Spot};
use super::form::Form;
use super::light::lit;
use super::skin::Skin;
use crate::moment::Moment;
use crate::view::{Fit, View};

/// Faces that meet at a flatter angle than this are one smooth surface: its cosine.
const CREASE: f32 = 0.75;

/// The back of a face is so much darker.
const BACK: f32 = 0.82;

/// Edges are drawn where they are at least so long on average, in pixels of the picture.
const LONG_EDGES: f64 = 14.0;

/// How a buffer sees space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stage {
    pub(crate) view: View,
    /// In pixels of the buffer.
    pub(crate) fit: Fit,
    /// How far from the viewer the middle is: distances are measured from there, so that few digits are enough.
    pub(crate) depth: f64,
    /// Pixels of the buffer per length of the picture.
    pub(crate) grain: f64,
}

impl Stage {
    /// Where a position is on the buffer.
    pub(crate) fn spot(&self, position: [f64; 3]) -> Spot {
        let [x, y] = self.fit.pixel(self.view.project(position));
        [x as f32, y as f32, ((self.view.toward(position) - self.depth) * self.fit.scale) as f32]
    }

    /// Lays a mesh into a buffer. Tones, from 0 to 1, are those of its nodes; without them it is plain.
    pub(crate) fn mesh(&self, buffer: &mut DepthBuffer, skin: &Skin, positions: &[[f64; 3]], tones: &[f32]) {
        if positions.is_empty() {
            return;
        }
        let pigment = if tones.is_empty() { Pigment::Plain } else { Pigment::Scale };
        let tone = |node: u32| tones.get(node as usize).copied().unwrap_or(0.0);
        let spots: Vec<Spot> = positions.iter().map(|&at| self.spot(at)).collect();
        let spot = |node: u32| spots[node as usize];
        let normals: Vec<Normal> = skin.faces.iter().map(|&face| Normal::of(face.map(spot))).collect();
        let edge =
            (skin.side * self.fit.scale >= LONG_EDGES * self.grain).then_some(0.45 * self.grain as f32);
        for (&face, &normal) in skin.faces.iter().zip(&normals) {
            // Whatever one sees is lit from the side of the viewer.
            let (sign, dim) = match normal.unit[2] < 0.0 {
                true => (-1.0, if skin.open { BACK } else { 1.0 }),
                false => (1.0, 1.0),
            };
            let corners = face.map(|node| {
                let smooth = smooth(normal, skin.around(node).iter().map(|&face| normals[face as usize]));
                Corner { at: spot(node), light: dim * lit(smooth.map(|x| sign * x)), tone: tone(node) }
            });
            buffer.triangle(corners, pigment, edge);
        }
        let radius = (1.8 * self.grain) as f32;
        for &[a, b] in &skin.segments {
            buffer.rod([spot(a), spot(b)], radius, pigment, [tone(a), tone(b)]);
        }
        let radius = (skin.radius * self.fit.scale).clamp(1.5 * self.grain, 26.0 * self.grain) as f32;
        for &node in &skin.loose {
            buffer.ball(spot(node), radius, pigment, tone(node));
        }
    }

    /// Lays a body into a buffer.
    pub(crate) fn form(&self, buffer: &mut DepthBuffer, form: &Form, moment: &Moment<'_>) {
        let Some(placement) = form.placement(moment) else { return };
        let view = self.view;
        for facet in &form.faces {
            let corners = facet.map(|(at, normal)| {
                let along = placement.direction(normal);
                let ([right, up], toward) = (view.project(along), view.toward(along));
                // Whatever one sees is lit from the side of the viewer.
                let sign = if toward < 0.0 { -1.0 } else { 1.0 };
                let light = lit([right, up, toward].map(|x| (sign * x) as f32));
                Corner { at: self.spot(placement.point(at)), light, tone: 0.0 }
            });
            buffer.triangle(corners, Pigment::Plain, None);
        }
    }

    /// Lays what a mesh leaves of a light straight above into a buffer, on a ground at this height.
    pub(crate) fn shadow(&self, buffer: &mut DepthBuffer, skin: &Skin, positions: &[[f64; 3]], height: f64) {
        if positions.is_empty() {
            return;
        }
        let spots: Vec<Spot> = positions.iter().map(|&[x, y, _]| self.spot([x, y, height])).collect();
        let spot = |node: u32| spots[node as usize];
        for &face in &skin.faces {
            let corners = face.map(|node| Corner { at: spot(node), light: 1.0, tone: 0.0 });
            buffer.triangle(corners, Pigment::Shadow, None);
        }
        for &[a, b] in &skin.segments {
            buffer.rod([spot(a), spot(b)], (1.2 * self.grain) as f32, Pigment::Shadow, [0.0; 2]);
        }
        let radius = (0.8 * skin.radius * self.fit.scale).clamp(self.grain, 20.0 * self.grain) as f32;
        for &node in &skin.loose {
            buffer.ball(spot(node), radius, Pigment::Shadow, 0.0);
        }
    }
}

/// The normal of a face, to the right, up and towards the viewer, and twice its area.
#[derive(Clone, Copy, Debug)]
struct Normal {
    unit: [f32; 3],
    area: f32,
}

impl Normal {
    fn of([a, b, c]: [Spot; 3]) -> Normal {
        // Pixels count from the top.
        let edge = |p: Spot, q: Spot| [q[0] - p[0], p[1] - q[1], q[2] - p[2]];
        let (u, v) = (edge(a, b), edge(a, c));
        let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        let area = cross.iter().map(|x| x * x).sum::<f32>().sqrt();
        let some = area > 0.0 && area.is_finite();
        Normal {
            unit: if some { cross.map(|x| x / area) } else { [0.0, 0.0, 1.0] },
            area: if some { area } else { 0.0 },
        }
    }
}

/// The normal at a corner of a face: the mean of the faces there which are nearly in one plane with it.
fn smooth(own: Normal, around: impl Iterator<Item = Normal>) -> [f32; 3] {
    let mut sum = [0.0_f32; 3];
    for other in around {
        let cosine: f32 = own.unit.iter().zip(other.unit).map(|(a, b)| a * b).sum();
        if cosine > CREASE {
            sum.iter_mut().zip(other.unit).for_each(|(sum, x)| *sum += other.area * x);
        }
    }
    let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 { sum.map(|x| x / length) } else { own.unit }
}

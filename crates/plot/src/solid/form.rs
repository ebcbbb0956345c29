//! Bodies with shapes: what is seen of them, and where it is at a moment.

use crate::moment::Moment;
use crate::scene::Whereabouts;
use leastaction_language::{BodyPart, BodyShape, PlacedShape};
use std::f64::consts::{PI, TAU};

/// A circle has so many corners.
const ROUND: usize = 48;

/// A ball has so many rings from pole to pole.
const RINGS: usize = 20;

/// Lines on a surface are so far above it, of its size, so that it does not swallow them.
const ABOVE: f64 = 0.004;

/// A corner of a face, and the direction in which the surface looks there.
pub(crate) type Facet = [([f64; 3], [f64; 3]); 3];

/// A shape of a body, ready to be placed at any moment.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    centre: Whereabouts,
    /// The offsets of the nodes among the coordinates; nothing until they are found.
    nodes: [Option<[Option<usize>; 3]>; 3],
    names: [Option<Vec<String>>; 3],
    axes: [[f64; 3]; 3],
    /// Its middle as seen from the centre of mass of the body.
    offset: [f64; 3],
    /// The ends of a rod; it is drawn as a line.
    pub(crate) ends: Option<[[f64; 3]; 2]>,
    /// Points that its outline goes through, from wherever it is seen.
    pub(crate) corners: Vec<[f64; 3]>,
    /// Lines on it, by which one sees how it is turned.
    pub(crate) marks: Vec<Vec<[f64; 3]>>,
    pub(crate) faces: Vec<Facet>,
    planar: bool,
}

/// Where a body is and how it is turned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    centre: [f64; 3],
    /// The images of the axes of its shape.
    axes: [[f64; 3]; 3],
}

impl Placement {
    /// Where a point of the shape is.
    pub(crate) fn point(&self, place: [f64; 3]) -> [f64; 3] {
        let arm = self.direction(place);
        std::array::from_fn(|d| self.centre[d] + arm[d])
    }

    /// The middle of the shape, and the images of its axes.
    pub(crate) fn frame(&self) -> [[f64; 3]; 4] {
        let [x, y, z] = self.axes;
        [self.centre, x, y, z]
    }

    /// Where a direction of the shape leads.
    pub(crate) fn direction(&self, u: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|d| (0..3).map(|j| u[j] * self.axes[j][d]).sum())
    }
}

impl Form {
    /// The shapes of a body, whose centre of mass is there.
    pub(crate) fn all(body: &BodyPart, centre: Whereabouts) -> impl Iterator<Item = Form> {
        body.shapes.iter().map(move |placed| Form::new(body, placed, centre))
    }

    fn new(body: &BodyPart, placed: &PlacedShape, centre: Whereabouts) -> Form {
        let shape = placed.shape;
        let ends = match shape {
            BodyShape::Rod(length) => Some([-0.5, 0.5].map(|side| [side * length, 0.0, 0.0])),
            _ => None,
        };
        Form {
            centre,
            nodes: [None; 3],
            names: body.nodes.clone(),
            axes: placed.axes,
            offset: placed.offset,
            ends,
            corners: corners(shape),
            marks: marks(shape),
            faces: faces(shape),
            planar: matches!(centre, Whereabouts::Moving(_, 2)),
        }
    }

    /// Finds the nodes among the coordinates, by their names.
    pub(crate) fn find_nodes(&mut self, position: &impl Fn(&str) -> Option<usize>) {
        for (node, names) in self.nodes.iter_mut().zip(&self.names) {
            *node = names.as_ref().map(|names| {
                let mut all = [None; 3];
                all.iter_mut().zip(names).for_each(|(to, name)| *to = position(name));
                all
            });
        }
    }

    /// Where it is at a moment; nowhere if that cannot be told.
    pub(crate) fn placement(&self, moment: &Moment<'_>) -> Option<Placement> {
        let centre = self.centre.position(moment.places)?;
        let dimensions = if self.planar { 2 } else { 3 };
        let mut principal: [Option<[f64; 3]>; 3] = [None; 3];
        for (i, axis) in principal.iter_mut().enumerate().filter(|(i, _)| self.names[*i].is_some()) {
            let mut along = [0.0; 3];
            for d in 0..dimensions {
                along[d] = moment.coordinates.get(self.nodes[i]?[d]?)? - centre[d];
            }
            *axis = Some(along);
        }
        let axes = complete(principal, self.planar)?;
        let turned = std::array::from_fn(|j| {
            std::array::from_fn(|d| (0..3).map(|i| self.axes[i][j] * axes[i][d]).sum())
        });
        let body = Placement { centre, axes: turned };
        let placement = Placement { centre: body.point(self.offset), axes: turned };
        placement.point([1.0; 3]).iter().all(|x| x.is_finite()).then_some(placement)
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// All axes, from those that have nodes. What a rod in space does not tell is chosen: it is round.
fn complete(axes: [Option<[f64; 3]>; 3], planar: bool) -> Option<[[f64; 3]; 3]> {
    const Z: [f64; 3] = [0.0, 0.0, 1.0];
    Some(match axes {
        [Some(x), Some(y), Some(z)] => [x, y, z],
        [Some(x), Some(y), None] => [x, y, cross(x, y)],
        [Some(x), None, Some(z)] => [x, cross(z, x), z],
        [None, Some(y), Some(z)] => [cross(y, z), y, z],
        [Some(x), None, None] if planar => [x, cross(Z, x), Z],
        [None, Some(y), None] if planar => [cross(y, Z), y, Z],
        [None, None, None] => return None,
        single => {
            let (i, axis) = single.iter().enumerate().find_map(|(i, axis)| Some((i, (*axis)?)))?;
            let other = if axis[2].abs() < 0.9 { Z } else { [1.0, 0.0, 0.0] };
            let across = cross(other, axis);
            let size = across.iter().map(|x| x * x).sum::<f64>().sqrt();
            let across = across.map(|x| x / size);
            let mut all = [[0.0; 3]; 3];
            all[i] = axis;
            all[(i + 1) % 3] = across;
            all[(i + 2) % 3] = cross(axis, across);
            all
        }
    })
}

fn circle(radius: f64, z: f64) -> Vec<[f64; 3]> {
    let angle = |i: usize| TAU * i as f64 / ROUND as f64;
    (0..ROUND).map(|i| [radius * angle(i).cos(), radius * angle(i).sin(), z]).collect()
}

fn box_corners([a, b, c]: [f64; 3]) -> Vec<[f64; 3]> {
    let side = |bit: usize| if bit == 0 { -0.5 } else { 0.5 };
    (0..8).map(|i| [side(i & 1) * a, side(i >> 1 & 1) * b, side(i >> 2) * c]).collect()
}

fn corners(shape: BodyShape) -> Vec<[f64; 3]> {
    match shape {
        BodyShape::Rod(length) => vec![[-length / 2.0, 0.0, 0.0], [length / 2.0, 0.0, 0.0]],
        BodyShape::Disk(radius) => circle(radius, 0.0),
        BodyShape::Plate([a, b]) => box_corners([a, b, 0.0])[..4].to_vec(),
        BodyShape::Cuboid(sides) => box_corners(sides),
        BodyShape::Sphere(radius) => {
            let ring = |i: usize| {
                let along = PI * i as f64 / RINGS as f64;
                circle(radius * along.sin(), radius * along.cos())
            };
            (0..=RINGS).flat_map(ring).collect()
        }
        BodyShape::Cylinder { radius, height } => {
            [circle(radius, -height / 2.0), circle(radius, height / 2.0)].concat()
        }
        BodyShape::Cone { radius, height } => {
            let mut all = circle(radius, -height / 4.0);
            all.push([0.0, 0.0, 0.75 * height]);
            all
        }
    }
}

fn marks(shape: BodyShape) -> Vec<Vec<[f64; 3]>> {
    let out = 1.0 + ABOVE;
    match shape {
        BodyShape::Rod(_) | BodyShape::Plate(_) => Vec::new(),
        // On both sides, of which one is seen.
        BodyShape::Disk(radius) => [-1.0, 1.0].map(|side| spoke(radius, side * ABOVE * radius)).to_vec(),
        BodyShape::Cuboid(sides) => {
            let all = box_corners(sides.map(|side| side * out));
            let edges = (0..8).flat_map(|i| [1, 2, 4].map(|bit| (i, i | bit))).filter(|(i, j)| i != j);
            edges.map(|(i, j)| vec![all[i], all[j]]).collect()
        }
        BodyShape::Sphere(radius) => {
            let mut equator = circle(radius * out, 0.0);
            equator.push(equator[0]);
            let meridian = equator.iter().map(|[x, y, _]| [*x, 0.0, *y]).collect();
            vec![equator, meridian]
        }
        BodyShape::Cylinder { radius, height } => {
            let up = height / 2.0 * out;
            let side = vec![[radius * out, 0.0, -up], [radius * out, 0.0, up]];
            vec![spoke(radius, up), spoke(radius, -up), side]
        }
        BodyShape::Cone { radius, height } => {
            let base = -height / 4.0 - ABOVE * height;
            vec![vec![[0.0, 0.0, 0.75 * height], [radius * out, 0.0, base]], spoke(radius, base)]
        }
    }
}

fn spoke(radius: f64, z: f64) -> Vec<[f64; 3]> {
    vec![[0.0, 0.0, z], [radius, 0.0, z]]
}

fn faces(shape: BodyShape) -> Vec<Facet> {
    match shape {
        BodyShape::Rod(_) => Vec::new(),
        BodyShape::Disk(radius) => fan([0.0; 3], &circle(radius, 0.0), [0.0, 0.0, 1.0]),
        BodyShape::Plate([a, b]) => {
            let all = box_corners([a, b, 0.0]);
            fan(all[0], &[all[1], all[3], all[2]], [0.0, 0.0, 1.0])
        }
        BodyShape::Cuboid(sides) => {
            let all = box_corners(sides);
            let side = |axis: usize, bit: usize| {
                let [u, v] = [1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3)];
                let first = bit << axis;
                let mut normal = [0.0; 3];
                normal[axis] = if bit == 0 { -1.0 } else { 1.0 };
                fan(all[first], &[all[first | u], all[first | u | v], all[first | v]], normal)
            };
            (0..3).flat_map(|axis| [side(axis, 0), side(axis, 1)]).flatten().collect()
        }
        BodyShape::Sphere(radius) => {
            let ring = |i: usize| {
                let along = PI * i as f64 / RINGS as f64;
                circle(radius * along.sin(), radius * along.cos())
            };
            let rings: Vec<_> = (0..=RINGS).map(ring).collect();
            let normal = |at: [f64; 3]| at.map(|x| x / radius);
            rings.windows(2).flat_map(|pair| band(&pair[0], &pair[1], normal)).collect()
        }
        BodyShape::Cylinder { radius, height } => {
            let [low, high] = [-height / 2.0, height / 2.0].map(|z| circle(radius, z));
            let mut all = band(&low, &high, |[x, y, _]| [x / radius, y / radius, 0.0]);
            all.extend(fan([0.0, 0.0, -height / 2.0], &closed(&low), [0.0, 0.0, -1.0]));
            all.extend(fan([0.0, 0.0, height / 2.0], &closed(&high), [0.0, 0.0, 1.0]));
            all
        }
        BodyShape::Cone { radius, height } => {
            let base = circle(radius, -height / 4.0);
            let slope = radius.hypot(height);
            // The normals at the tip are those of each side.
            let tip = vec![[0.0, 0.0, 0.75 * height]; ROUND];
            let normal = |i: usize| {
                let angle = TAU * i as f64 / ROUND as f64;
                let across = height / slope;
                [across * angle.cos(), across * angle.sin(), radius / slope]
            };
            let mut all = Vec::new();
            for i in 0..ROUND {
                let j = (i + 1) % ROUND;
                all.push([(base[i], normal(i)), (base[j], normal(j)), (tip[i], normal(i))]);
            }
            all.extend(fan([0.0, 0.0, -height / 4.0], &closed(&base), [0.0, 0.0, -1.0]));
            all
        }
    }
}

fn closed(rim: &[[f64; 3]]) -> Vec<[f64; 3]> {
    rim.iter().chain(&rim[..1]).copied().collect()
}

/// Triangles around a point; a circle around its middle is closed.
fn fan(middle: [f64; 3], rim: &[[f64; 3]], normal: [f64; 3]) -> Vec<Facet> {
    let around = rim.len() == ROUND;
    let rim = if around { closed(rim) } else { rim.to_vec() };
    rim.windows(2).map(|pair| [(middle, normal), (pair[0], normal), (pair[1], normal)]).collect()
}

/// Triangles between two rims with as many corners.
fn band(low: &[[f64; 3]], high: &[[f64; 3]], normal: impl Fn([f64; 3]) -> [f64; 3]) -> Vec<Facet> {
    let mut all = Vec::new();
    let corner = |at: [f64; 3]| (at, normal(at));
    for i in 0..low.len() {
        let j = (i + 1) % low.len();
        all.push([corner(low[i]), corner(low[j]), corner(high[j])]);
        all.push([corner(low[i]), corner(high[j]), corner(high[i])]);
    }
    all
}

/// The outline of points of a plane: the corners of the smallest convex polygon that holds them (A. M. Andrew, Information Processing Letters 9 (1979)
/// 216, doi:10.1016/0020-0190(79)90072-3).
pub(crate) fn outline(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let left = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0.0
    };
    let chain = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut chain: Vec<[f64; 2]> = Vec::new();
        for point in points {
            while let [.., a, b] = chain[..]
                && !left(a, b, point)
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut all = chain(&mut points.iter().copied());
    all.extend(chain(&mut points.iter().rev().copied()));
    all
}

#[cfg(test)]
mod tests {
    use super::{Form, box_corners, faces, outline};
    use crate::moment::Moment;
    use crate::scene::Whereabouts;
    use leastaction_language::{BodyPart, BodyShape, PlacedShape};

    const SHAPES: [BodyShape; 6] = [
        BodyShape::Disk(2.0),
        BodyShape::Plate([1.0, 2.0]),
        BodyShape::Cuboid([1.0, 2.0, 3.0]),
        BodyShape::Sphere(1.5),
        BodyShape::Cylinder { radius: 1.0, height: 3.0 },
        BodyShape::Cone { radius: 1.0, height: 2.0 },
    ];

    #[test]
    fn surfaces_have_the_area_of_their_shapes() {
        use std::f64::consts::PI;
        let cone = PI + PI * 5.0_f64.sqrt();
        let areas = [4.0 * PI, 2.0, 22.0, 9.0 * PI, 8.0 * PI, cone];
        for (shape, area) in SHAPES.into_iter().zip(areas) {
            let triangle = |facet: &super::Facet| {
                let [a, b, c] = facet.map(|(at, _)| at);
                let [u, v] = [b, c].map(|p| std::array::from_fn(|d| p[d] - a[d]));
                super::cross(u, v).iter().map(|x| x * x).sum::<f64>().sqrt() / 2.0
            };
            let found: f64 = faces(shape).iter().map(triangle).sum();
            assert!((found / area - 1.0).abs() < 0.01, "{shape:?}: {found} of {area}");
            // Every corner is on the shape, and looks away from its middle.
            for (at, normal) in faces(shape).into_iter().flatten() {
                assert!(shape.contains(at), "{shape:?} {at:?}");
                let length: f64 = normal.iter().map(|x| x * x).sum();
                assert!((length - 1.0).abs() < 1e-9, "{shape:?} {normal:?}");
                let out: f64 = at.iter().zip(normal).map(|(x, n)| x * n).sum();
                assert!(out > -1e-9, "{shape:?} {at:?} {normal:?}");
            }
        }
    }

    #[test]
    fn outlines_are_convex_and_closed_around_everything() {
        let square = outline(vec![[0.0, 0.0], [1.0, 1.0], [0.5, 0.2], [1.0, 0.0], [0.0, 1.0], [0.5, 0.0]]);
        assert_eq!(square, [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
        assert_eq!(outline(vec![[1.0, 2.0], [1.0, 2.0]]), [[1.0, 2.0]]);
        assert_eq!(box_corners([2.0; 3]).len(), 8);
    }

    #[test]
    fn bodies_are_where_their_nodes_say() {
        // A plate that stands at (1, 2, 3), its x axis along y and its y axis along z.
        let names = |node: char| Some(["x", "y", "z"].map(|axis| format!("p_{node}{axis}")).to_vec());
        let placed = |offset: [f64; 3]| PlacedShape {
            shape: BodyShape::Plate([2.0, 4.0]),
            offset,
            axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        };
        let part = BodyPart {
            name: "p".to_owned(),
            shapes: vec![placed([0.0; 3]), placed([0.0, 0.5, 0.0])],
            nodes: [names('a'), names('b'), None],
        };
        let mut forms: Vec<Form> = Form::all(&part, Whereabouts::Moving(0, 3)).collect();
        let form = &mut forms[0];
        let all = ["p_ax", "p_ay", "p_az", "p_bx", "p_by", "p_bz"];
        let coordinates = [1.0, 3.0, 3.0, 1.0, 2.0, 4.0];
        let places = [1.0, 2.0, 3.0];
        let moment = Moment { places: &places, coordinates: &coordinates, ..Moment::default() };
        assert!(form.placement(&moment).is_none(), "its nodes are not known yet");
        form.find_nodes(&|name| all.iter().position(|other| *other == name));
        let placement = form.placement(&moment).expect("a place");
        assert_eq!(placement.point([1.0, 2.0, 0.0]), [1.0, 3.0, 5.0]);
        assert_eq!(placement.direction([0.0, 0.0, 1.0]), [1.0, 0.0, 0.0]);
        // The other shape is half a length farther along the y axis of the body, which is that of z.
        forms[1].find_nodes(&|name| all.iter().position(|other| *other == name));
        let other = forms[1].placement(&moment).expect("a place");
        assert_eq!(other.point([1.0, 2.0, 0.0]), [1.0, 3.0, 5.5]);
    }
}

//! How a system is drawn, as plain data.

use crate::density::Density;
use crate::meshes::MovingMesh;
use leastaction_field::Mesh;
use std::sync::Arc;

/// The parts of a drawing, back to front. Lengths are those of the model: (x, y) with y up, and where places have three dimensions
/// (x, y, z) with z up.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Drawing {
    /// The parts.
    pub parts: Vec<Part>,
}

/// A part of a drawing.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A straight line between two spots.
    Rod(Spot, Spot),
    /// A zigzag between two spots.
    Spring(Spot, Spot),
    /// A disc at a spot, with an area in proportion to the mass.
    Dot {
        /// Where.
        at: Spot,
        /// What its area stands for.
        mass: f64,
    },
    /// The path a spot has left behind.
    Trail(Spot),
    /// Something that stands still: a line through these points.
    Line(Vec<[f64; 3]>),
    /// A rigid body with its shape, turned as it is.
    Body(BodyPart),
    /// A mesh: its surface with light and shade, its segments as ropes, and nodes without cells as balls.
    Mesh(MeshPart),
}

/// A rigid body that is drawn with its shape. Its centre of mass is the place of its name.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyPart {
    /// Its name.
    pub name: String,
    /// What it looks like: one shape, or several that were put together.
    pub shapes: Vec<PlacedShape>,
    /// The names of the coordinates of its nodes, the points at distance 1 from its centre on those principal axes that have one.
    pub nodes: [Option<Vec<String>>; 3],
}

/// A shape of a body, and where it is in the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedShape {
    /// The shape.
    pub shape: BodyShape,
    /// Its own centre of mass as seen from that of the body, in the axes in which the shape is given.
    pub offset: [f64; 3],
    /// The principal axes of the body, as rows, in the axes in which the shape is given.
    pub axes: [[f64; 3]; 3],
}

impl PlacedShape {
    /// Whether a point lies in it, or on it. The point is given from the centre of mass of the body, in the axes of the shape.
    #[must_use]
    pub fn contains(&self, point: [f64; 3]) -> bool {
        self.shape.contains(std::array::from_fn(|d| point[d] - self.offset[d]))
    }
}

/// The shape of a body, around its centre of mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodyShape {
    /// Thin and so long, along x.
    Rod(f64),
    /// Thin, in the plane of x and y, with this radius.
    Disk(f64),
    /// Thin, in the plane of x and y, with these sides.
    Plate([f64; 2]),
    /// With these sides.
    Cuboid([f64; 3]),
    /// With this radius.
    Sphere(f64),
    /// With its axis along z.
    Cylinder {
        /// The radius.
        radius: f64,
        /// The height.
        height: f64,
    },
    /// With its axis along z and its tip at the upper end; the base is a quarter of the height below the centre of mass.
    Cone {
        /// The radius of the base.
        radius: f64,
        /// The height.
        height: f64,
    },
}

impl BodyShape {
    /// Whether a point of its frame lies in it, or on it.
    #[must_use]
    pub fn contains(&self, [x, y, z]: [f64; 3]) -> bool {
        let within = |value: f64, most: f64, size: f64| value <= most + 1e-6 * size;
        let sides = |[a, b, c]: [f64; 3]| {
            let size = a.max(b).max(c);
            [(x, a), (y, b), (z, c)].into_iter().all(|(x, side)| within(x.abs(), side / 2.0, size))
        };
        match *self {
            BodyShape::Rod(length) => sides([length, 0.0, 0.0]),
            BodyShape::Disk(radius) => within(x.hypot(y), radius, radius) && within(z.abs(), 0.0, radius),
            BodyShape::Plate([a, b]) => sides([a, b, 0.0]),
            BodyShape::Cuboid(all) => sides(all),
            BodyShape::Sphere(radius) => within(x.hypot(y).hypot(z), radius, radius),
            BodyShape::Cylinder { radius, height } => {
                within(x.hypot(y), radius, radius) && within(z.abs(), height / 2.0, height)
            }
            BodyShape::Cone { radius, height } => {
                let above = z + height / 4.0;
                within(-above, 0.0, height)
                    && within(above, height, height)
                    && within(x.hypot(y), radius * (1.0 - above / height).max(0.0), radius)
            }
        }
    }
}

/// A mesh that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshPart {
    /// Its name.
    pub name: String,
    /// Its cells, and where its nodes are at rest.
    pub mesh: Arc<Mesh>,
    /// The number of its first node among the places; the others follow.
    pub first: usize,
    /// What its colours stand for.
    pub tint: Tint,
    /// The energy that they stand for, if it is that of a field.
    pub density: Option<Arc<Density>>,
}

/// What the colours of a mesh stand for.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Tint {
    /// Nothing: it has one colour.
    Plain,
    /// How fast its nodes are.
    #[default]
    Speed,
    /// How much its surface, or a rope, is stretched and sheared: the norm of Green's strain ½ (FᵀF − 1), averaged at the nodes.
    Strain,
    /// The energy of the field of this name: its density at the nodes.
    Energy(Arc<str>),
}

impl MeshPart {
    /// A mesh as it is drawn if nothing else is said.
    #[must_use]
    pub fn of(mesh: &MovingMesh) -> MeshPart {
        let MovingMesh { name, mesh, first_place, .. } = mesh;
        let (name, mesh, first) = (name.clone(), mesh.clone(), *first_place);
        MeshPart { name, mesh, first, tint: Tint::default(), density: None }
    }

    /// The mesh, coloured by an energy.
    #[must_use]
    pub fn by_energy(self, density: Density) -> MeshPart {
        MeshPart {
            tint: Tint::Energy(density.field.as_str().into()),
            density: Some(Arc::new(density)),
            ..self
        }
    }
}

impl Tint {
    /// Everything that colours of any mesh can stand for.
    pub const ALL: [Tint; 3] = [Tint::Plain, Tint::Speed, Tint::Strain];

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Tint::Plain => "nothing",
            Tint::Speed => "speed",
            Tint::Strain => "strain",
            Tint::Energy(field) => field,
        }
    }
}

/// A place in a drawing.
#[derive(Clone, Debug, PartialEq)]
pub enum Spot {
    /// Where a particle or point of the model is, by its name.
    Of(String),
    /// A fixed position; in a plane, the last number is 0.
    At([f64; 3]),
}

impl From<&str> for Spot {
    fn from(name: &str) -> Spot {
        Spot::Of(name.to_owned())
    }
}

impl From<[f64; 2]> for Spot {
    fn from([x, y]: [f64; 2]) -> Spot {
        Spot::At([x, y, 0.0])
    }
}

impl From<[f64; 3]> for Spot {
    fn from(position: [f64; 3]) -> Spot {
        Spot::At(position)
    }
}

impl Drawing {
    /// An empty drawing.
    #[must_use]
    pub fn new() -> Drawing {
        Drawing::default()
    }

    /// The energies by which meshes are coloured, in the order of the parts.
    pub fn densities(&self) -> impl Iterator<Item = &Arc<Density>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Mesh(mesh) => mesh.density.as_ref(),
            _ => None,
        })
    }

    fn with(mut self, part: Part) -> Drawing {
        self.parts.push(part);
        self
    }

    /// The drawing with a rod.
    #[must_use]
    pub fn rod(self, from: impl Into<Spot>, to: impl Into<Spot>) -> Drawing {
        self.with(Part::Rod(from.into(), to.into()))
    }

    /// The drawing with a spring.
    #[must_use]
    pub fn spring(self, from: impl Into<Spot>, to: impl Into<Spot>) -> Drawing {
        self.with(Part::Spring(from.into(), to.into()))
    }

    /// The drawing with a disc that stands for a mass.
    #[must_use]
    pub fn dot(self, at: impl Into<Spot>, mass: f64) -> Drawing {
        self.with(Part::Dot { at: at.into(), mass })
    }

    /// The drawing with the path that a spot leaves.
    #[must_use]
    pub fn trail(self, of: impl Into<Spot>) -> Drawing {
        self.with(Part::Trail(of.into()))
    }

    /// The drawing with a body.
    #[must_use]
    pub fn body(self, body: BodyPart) -> Drawing {
        self.with(Part::Body(body))
    }

    /// The drawing with a mesh, by the number of its first node among the places.
    #[must_use]
    pub fn mesh(self, name: &str, mesh: impl Into<Arc<Mesh>>, first: usize, tint: Tint) -> Drawing {
        self.with(Part::Mesh(MeshPart {
            name: name.to_owned(),
            mesh: mesh.into(),
            first,
            tint,
            density: None,
        }))
    }

    /// The drawing with a line through points of a plane.
    #[must_use]
    pub fn line(self, points: impl IntoIterator<Item = [f64; 2]>) -> Drawing {
        self.with(Part::Line(points.into_iter().map(|[x, y]| [x, y, 0.0]).collect()))
    }
}

impl Part {
    /// The spots the part is drawn at; none for a line or a mesh, and for a body where its centre is.
    #[must_use]
    pub fn spots(&self) -> Vec<Spot> {
        match self {
            Part::Rod(from, to) | Part::Spring(from, to) => vec![from.clone(), to.clone()],
            Part::Dot { at, .. } => vec![at.clone()],
            Part::Trail(of) => vec![of.clone()],
            Part::Body(body) => vec![Spot::Of(body.name.clone())],
            Part::Line(_) | Part::Mesh(_) => Vec::new(),
        }
    }

    /// Whether the part is drawn in place of another one: it is of the same thing at the same spots.
    #[must_use]
    pub(crate) fn replaces(&self, other: &Part) -> bool {
        match (self, other) {
            (Part::Rod(a, b) | Part::Spring(a, b), Part::Rod(c, d) | Part::Spring(c, d)) => {
                (a, b) == (c, d) || (a, b) == (d, c)
            }
            (Part::Dot { at, .. }, Part::Dot { at: other, .. }) => at == other,
            (Part::Trail(of), Part::Trail(other)) => of == other,
            (Part::Body(body), Part::Body(other)) => body.name == other.name,
            (Part::Mesh(mesh), Part::Mesh(other)) => mesh.name == other.name,
            _ => false,
        }
    }

    /// How far in front it is in a picture that nobody has put in order.
    pub(crate) fn layer(&self) -> u8 {
        match self {
            Part::Mesh(_) => 0,
            Part::Line(_) => 1,
            Part::Trail(_) => 2,
            Part::Body(_) => 3,
            Part::Rod(..) | Part::Spring(..) => 4,
            Part::Dot { .. } => 5,
        }
    }
}

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
    /// A mesh: its surface with light and shade, its segments as ropes, and nodes without cells as balls.
    Mesh(MeshPart),
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
    /// The spots the part is drawn at; none for a line or a mesh.
    #[must_use]
    pub fn spots(&self) -> Vec<&Spot> {
        match self {
            Part::Rod(from, to) | Part::Spring(from, to) => vec![from, to],
            Part::Dot { at, .. } => vec![at],
            Part::Trail(of) => vec![of],
            Part::Line(_) | Part::Mesh(_) => Vec::new(),
        }
    }
}

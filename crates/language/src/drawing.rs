//! How a system is drawn, as plain data.

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

    /// The drawing with a line through points of a plane.
    #[must_use]
    pub fn line(self, points: impl IntoIterator<Item = [f64; 2]>) -> Drawing {
        self.with(Part::Line(points.into_iter().map(|[x, y]| [x, y, 0.0]).collect()))
    }
}

impl Part {
    /// The spots the part is drawn at; none for a line.
    #[must_use]
    pub fn spots(&self) -> Vec<&Spot> {
        match self {
            Part::Rod(from, to) | Part::Spring(from, to) => vec![from, to],
            Part::Dot { at, .. } => vec![at],
            Part::Trail(of) => vec![of],
            Part::Line(_) => Vec::new(),
        }
    }
}

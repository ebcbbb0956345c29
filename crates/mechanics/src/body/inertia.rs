//! How mass is spread in a body: mass, centre of mass and second moments.
//!
//! With the second moments of mass per unit mass about the centre, Σ = ∫ x xᵀ dm / m, the tensor of inertia is
//! I = m (tr Σ · 1 − Σ), and Σ = ½ tr I/m · 1 − I/m. A tensor belongs to a distribution of mass if and only if Σ has no negative
//! principal value, which is the triangle inequality of the principal moments of inertia.

use super::rotation::Rotation;
use super::vector::{
    IDENTITY, Matrix, Vector, apply, dot, minus, outer, plus, principal, product, scaled, trace, transpose,
    zip,
};

/// Mass, centre of mass and second moments of a body, in a frame of its own.
///
/// ```
/// use leastaction_mechanics::{Inertia, Matter, Rotation};
///
/// // A hammer: an ash handle along x, and at its end a steel head across it.
/// let handle = Inertia::cylinder(Matter::Density(700.0), 0.012, 0.3)?;
/// let handle = handle.turned(&Rotation::about([0.0, 1.0, 0.0], std::f64::consts::FRAC_PI_2)?);
/// let head = Inertia::cuboid(Matter::Density(7850.0), [0.03, 0.03, 0.1])?.moved([0.15, 0.0, 0.0]);
/// let hammer = handle.with(&head);
/// assert!((hammer.mass() - 0.8015).abs() < 1e-4 && (hammer.centre()[0] - 0.1322).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia {
    mass: f64,
    centre: Vector,
    /// ∫ (x − c)(x − c)ᵀ dm / m.
    second: Matrix,
}

/// How much matter there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Matter {
    /// So much mass. A plain number is one.
    Mass(f64),
    /// So much mass per volume; per area of what is flat, per length of a rod.
    Density(f64),
}

impl From<f64> for Matter {
    fn from(mass: f64) -> Matter {
        Matter::Mass(mass)
    }
}

/// Why no body has such an inertia.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InertiaError {
    /// The mass or density is not positive.
    #[error("the {what} is {value}: it must be positive and finite")]
    BadMatter {
        /// "mass" or "density".
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A length is not positive.
    #[error("the {what} of the {shape} is {value}: it must be positive and finite")]
    BadSize {
        /// The shape.
        shape: &'static str,
        /// Which length.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A moment is infinite or NaN.
    #[error("the {what} has {value} in it: numbers must be finite")]
    NotFinite {
        /// What has it.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A moment is negative.
    #[error("the {what} about or along principal axis {} is {value}: moments cannot be negative", axis + 1)]
    Negative {
        /// "moment of inertia" or "second moment".
        what: &'static str,
        /// The axis, from 0.
        axis: usize,
        /// The moment.
        value: f64,
    },
    /// One principal moment of inertia is larger than the two others together.
    #[error(
        "the principal moments of inertia {}, {} and {} belong to no body: {} > {} + {} violates the triangle inequality",
        .moments[0], .moments[1], .moments[2], .moments[*.largest], .moments[(.largest + 1) % 3], .moments[(.largest + 2) % 3]
    )]
    Triangle {
        /// The moments.
        moments: [f64; 3],
        /// The one that is too large, from 0.
        largest: usize,
    },
    /// A tensor is not symmetric.
    #[error(
        "the tensor of inertia is not symmetric: I[{row}][{column}] = {value} and I[{column}][{row}] = {mirror}"
    )]
    NotSymmetric {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry.
        value: f64,
        /// The entry mirrored at the diagonal.
        mirror: f64,
    },
}

impl Inertia {
    /// What rounding, or digits typed by hand, may take from the triangle inequality: this part of the trace.
    const SLACK: f64 = 1e-6;

    /// All mass in one point.
    ///
    /// # Errors
    /// [`InertiaError`] if the mass is not positive.
    pub fn point(mass: f64) -> Result<Inertia, InertiaError> {
        Inertia::new(Matter::Mass(mass), 1.0, [0.0; 3])
    }

    /// By the second moments of mass per unit mass along x, y and z, ∫ x² dm / m and so on, about the centre of mass, which is the
    /// origin.
    ///
    /// # Errors
    /// [`InertiaError`] if the mass is not positive, or a moment is negative.
    pub fn second_moments(mass: f64, moments: [f64; 3]) -> Result<Inertia, InertiaError> {
        finite("list of second moments", &moments)?;
        if let Some(axis) = moments.iter().position(|&m| m < 0.0) {
            return Err(InertiaError::Negative { what: "second moment", axis, value: moments[axis] });
        }
        Inertia::new(Matter::Mass(mass), 1.0, moments)
    }

    /// By the moments of inertia about x, y and z, which are principal axes through the centre of mass.
    ///
    /// # Errors
    /// [`InertiaError`] if the mass is not positive, a moment is negative, or one is larger than the others together.
    pub fn principal(mass: f64, moments: [f64; 3]) -> Result<Inertia, InertiaError> {
        let [a, b, c] = moments;
        Inertia::tensor(mass, [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]])
    }

    /// By the tensor of inertia about the centre of mass, which is the origin; its axes need not be principal ones.
    ///
    /// # Errors
    /// As [`Inertia::principal`], and if the tensor is not symmetric.
    pub fn tensor(mass: f64, tensor: [[f64; 3]; 3]) -> Result<Inertia, InertiaError> {
        tensor.iter().try_for_each(|row| finite("tensor of inertia", row))?;
        let size = tensor.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
        for (row, column) in [(0, 1), (0, 2), (1, 2)] {
            let (value, mirror) = (tensor[row][column], tensor[column][row]);
            if (value - mirror).abs() > 1e-12 * size {
                return Err(InertiaError::NotSymmetric { row, column, value, mirror });
            }
        }
        let symmetric = zip(&tensor, &transpose(&tensor), |a, b| 0.5 * (a + b));
        let (moments, _) = principal(&symmetric);
        if let Some(axis) = moments.iter().position(|&m| m < -Inertia::SLACK * size) {
            return Err(InertiaError::Negative { what: "moment of inertia", axis, value: moments[axis] });
        }
        let inertia = Inertia::new(Matter::Mass(mass), 1.0, [0.0; 3])?;
        let half = 0.5 * trace(&symmetric);
        let second = zip(&IDENTITY, &symmetric, |one, i| (half * one - i) / mass);
        let (values, axes) = principal(&second);
        if values.iter().any(|&s| s < -Inertia::SLACK * half / mass) {
            let largest = (0..3).fold(0, |i, j| if moments[j] > moments[i] { j } else { i });
            return Err(InertiaError::Triangle { moments, largest });
        }
        Ok(Inertia { second: without_negative(second, values, axes), ..inertia })
    }

    /// A body in the plane by its mass and its moment of inertia about the centre of mass, which is all that matters there.
    ///
    /// # Errors
    /// [`InertiaError`] if one of them is not positive.
    pub fn planar(mass: f64, moment: f64) -> Result<Inertia, InertiaError> {
        positive("body", "moment of inertia", moment)?;
        let mut inertia = Inertia::new(Matter::Mass(mass), 1.0, [0.0; 3])?;
        inertia.second[0][0] = moment / mass;
        Ok(inertia)
    }

    /// By an amount of matter in a measure (volume, area or length) with these second moments about the origin.
    pub(crate) fn new(matter: Matter, measure: f64, [a, b, c]: [f64; 3]) -> Result<Inertia, InertiaError> {
        let (what, value, mass) = match matter {
            Matter::Mass(mass) => ("mass", mass, mass),
            Matter::Density(density) => ("density", density, density * measure),
        };
        if !(value > 0.0 && mass.is_finite() && mass > 0.0) {
            return Err(InertiaError::BadMatter { what, value });
        }
        let second = [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]];
        Ok(Inertia { mass, centre: [0.0; 3], second })
    }

    /// A body of this mass with second moments about a centre.
    pub(crate) fn about(mass: f64, centre: Vector, second: Matrix) -> Inertia {
        Inertia { mass, centre, second }
    }

    /// The same body in a frame in which it is moved by an offset.
    #[must_use]
    pub fn moved(&self, offset: [f64; 3]) -> Inertia {
        Inertia { centre: plus(self.centre, offset), ..*self }
    }

    /// The same body in a frame in which it is turned about the origin.
    #[must_use]
    pub fn turned(&self, rotation: &Rotation) -> Inertia {
        let r = rotation.rows();
        let second = product(&product(&r, &self.second), &transpose(&r));
        Inertia { mass: self.mass, centre: apply(&r, self.centre), second }
    }

    /// Two bodies as one, in the frame that both are given in.
    #[must_use]
    pub fn with(&self, other: &Inertia) -> Inertia {
        let mass = self.mass + other.mass;
        let [a, b] = [self.mass / mass, other.mass / mass];
        let centre = plus(scaled(a, self.centre), scaled(b, other.centre));
        let apart = minus(other.centre, self.centre);
        // The parallel-axis theorem, where both distances from the common centre are parts of the one between them.
        let spread = outer(apart, apart).map(|row| row.map(|x| a * b * x));
        let second = zip(&zip(&self.second, &other.second, |x, y| a * x + b * y), &spread, |x, y| x + y);
        Inertia { mass, centre, second }
    }

    /// The mass.
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// The centre of mass.
    #[must_use]
    pub fn centre(&self) -> [f64; 3] {
        self.centre
    }

    /// The second moments per unit mass about the centre of mass, ∫ (x − c)(x − c)ᵀ dm / m.
    #[must_use]
    pub fn second(&self) -> [[f64; 3]; 3] {
        self.second
    }

    /// The tensor of inertia about the centre of mass.
    #[must_use]
    pub fn about_centre(&self) -> [[f64; 3]; 3] {
        self.about_point(self.centre)
    }

    /// The tensor of inertia about any point of the frame, by the parallel-axis theorem (J. Steiner).
    #[must_use]
    pub fn about_point(&self, point: [f64; 3]) -> [[f64; 3]; 3] {
        let apart = minus(self.centre, point);
        let second = zip(&self.second, &outer(apart, apart), |a, b| a + b);
        let trace = trace(&second);
        zip(&IDENTITY, &second, |one, s| self.mass * (trace * one - s))
    }

    /// The principal second moments λ per unit mass, and the principal axes as the rows of a rotation. Moments that are lost in the
    /// rounding of the largest are 0.
    #[must_use]
    pub fn principal_axes(&self) -> ([f64; 3], [[f64; 3]; 3]) {
        thin(principal(&self.second))
    }

    /// The same in the plane z = 0, where only moments along x and y count.
    pub(crate) fn principal_axes_in_plane(&self) -> ([f64; 3], [[f64; 3]; 3]) {
        let mut flat = self.second;
        (0..3).for_each(|i| (flat[2][i], flat[i][2]) = (0.0, 0.0));
        thin(principal(&flat))
    }
}

/// A moment below this part of the largest is taken to be 0: a rod, a disk or a point.
const THIN: f64 = 1e-12;

fn thin((mut values, axes): (Vector, Matrix)) -> (Vector, Matrix) {
    let largest = values.iter().fold(0.0f64, |m, v| m.max(*v));
    values.iter_mut().filter(|v| **v <= THIN * largest).for_each(|v| *v = 0.0);
    (values, axes)
}

/// Σ λᵢ aᵢaᵢᵀ with negative λ raised to 0; the matrix itself if there is none.
fn without_negative(second: Matrix, values: Vector, axes: Matrix) -> Matrix {
    if values.iter().all(|&v| v >= 0.0) {
        return second;
    }
    let raised = values.map(|v| v.max(0.0));
    let columns = transpose(&axes);
    let entry = |i: usize, j: usize| dot(std::array::from_fn(|k| raised[k] * columns[i][k]), columns[j]);
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}

pub(crate) fn finite(what: &'static str, numbers: &[f64]) -> Result<(), InertiaError> {
    match numbers.iter().find(|x| !x.is_finite()) {
        Some(&value) => Err(InertiaError::NotFinite { what, value }),
        None => Ok(()),
    }
}

pub(crate) fn positive(shape: &'static str, what: &'static str, value: f64) -> Result<(), InertiaError> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(InertiaError::BadSize { shape, what, value }) }
}

//! Points of bodies and of the world.

use super::error::{BodyError, BodySite};
use super::rotation::Rotation;
use super::vector::{IDENTITY, Matrix, Vector, across, apply, combination, dot, plus, product, unit};
use super::{Body, Frame};
use crate::model::Model;
use leastaction_expr::{Expr, IntoExpr};

/// A point that moves with a body, or is anchored in the world, together with axes through it.
///
/// Its position is affine in the nodes of the body: x₀ + Σ cᵢ (xᵢ − x₀). The axes of a [hinge](Model::hinge) and its kin are given
/// in the axes of the point, which are those of the body's frame unless it is [turned](Point::turned).
#[derive(Clone, Debug)]
pub struct Point<'g> {
    /// The body; none for the world.
    pub(crate) body: Option<String>,
    pub(crate) dimensions: usize,
    pub(crate) position: [Expr<'g>; 3],
    pub(crate) frame: Frame<'g>,
    /// The principal axes of the body in the axes of the point, as rows.
    axes: Matrix,
}

impl<'g> Model<'g> {
    /// A point of the world, in the plane or in space: to join bodies to. Its position may depend on parameters and time; if it
    /// depends on coordinates, it is a particle's. Its axes are those of the world.
    pub fn anchor<const D: usize>(&self, position: [impl IntoExpr<'g>; D]) -> Point<'g> {
        const { assert!(D == 2 || D == 3, "a point of the plane or of space") };
        let mut at = [self.number(0.0); 3];
        at.iter_mut().zip(position).for_each(|(to, x)| *to = x.into_expr(self.graph));
        let axes = IDENTITY.map(|row| row.map(|x| self.number(x)));
        Point { body: None, dimensions: D, position: at, frame: Frame::Full(axes), axes: IDENTITY }
    }
}

impl<'g> Body<'g> {
    /// The point of the body at this place of its own frame.
    ///
    /// # Errors
    /// [`BodyError`] if it has not as many dimensions as the body, a number is not finite, or the body is a rod and the point is not
    /// on it.
    pub fn point<X: IntoExpr<'g> + Copy>(&self, place: impl AsRef<[X]>) -> Result<Point<'g>, BodyError> {
        let what = || BodySite::BodyPoint(self.name.clone());
        let (place, expected) = (place.as_ref(), self.dimensions);
        if place.len() != expected {
            return Err(BodyError::Dimensions { what: what(), found: place.len(), expected });
        }
        let graph = self.mass.graph();
        let mut local = [graph.number(0.0); 3];
        for (to, x) in local.iter_mut().zip(place) {
            *to = x.into_expr(graph);
            if let Some(value) = to.as_number().filter(|x| !x.is_finite()) {
                return Err(BodyError::NotFinite { what: what(), value });
            }
        }
        let reach =
            local.iter().filter_map(|x| x.as_number()).chain(self.origin).fold(0.0f64, |m, x| m.max(x.abs()));
        let steps: [Expr<'g>; 3] = std::array::from_fn(|i| {
            let terms = (0..3).map(|j| self.axes[i][j] * (local[j] - self.origin[j]));
            let sum = graph.sum(terms);
            match sum.as_number() {
                Some(rounding) if rounding.abs() <= 4.0 * f64::EPSILON * reach => graph.number(0.0),
                _ => sum,
            }
        });
        let off = |axis: Option<usize>| (0..3).any(|i| Some(i) != axis && steps[i].as_number() != Some(0.0));
        let refuse = |remedy| {
            let (body, kind) = (self.name.clone(), self.frame.kind());
            Err(BodyError::Undefined { body, kind, what: BodySite::Own("a point off it"), remedy })
        };
        let arm = |axes: &[[Expr<'g>; 3]; 3]| {
            std::array::from_fn(|d| graph.sum((0..3).map(|i| steps[i] * axes[i][d])))
        };
        let zero = [graph.number(0.0); 3];
        let position = match &self.frame {
            Frame::Point if off(None) => return refuse("take its centre, or give it second moments"),
            Frame::Rod(axis, _) if off(Some(*axis)) => {
                return refuse("take a point on its axis, or give it second moments across");
            }
            Frame::Point => self.centre,
            Frame::Rod(axis, e) => {
                let mut axes = [zero; 3];
                axes[*axis] = *e;
                plus(self.centre, arm(&axes))
            }
            Frame::Full(axes) => plus(self.centre, arm(axes)),
        };
        Ok(self.mark(position))
    }

    /// The centre of mass.
    #[must_use]
    pub fn centre(&self) -> Point<'g> {
        self.mark(self.centre)
    }

    fn mark(&self, position: [Expr<'g>; 3]) -> Point<'g> {
        let (body, dimensions) = (Some(self.name.clone()), self.dimensions);
        Point { body, dimensions, position, frame: self.frame.clone(), axes: self.axes }
    }
}

impl<'g> Point<'g> {
    /// The position in the world.
    #[must_use]
    pub fn position(&self) -> Vec<Expr<'g>> {
        self.position[..self.dimensions].to_vec()
    }

    /// The same point with its axes turned against those of the body.
    #[must_use]
    pub fn turned(&self, rotation: &Rotation) -> Point<'g> {
        Point { axes: product(&self.axes, &rotation.rows()), ..self.clone() }
    }

    /// The direction in the world of a direction in the axes of the point, if the body can tell it.
    ///
    /// # Errors
    /// [`BodyError`] if the body is a point, or a rod that points elsewhere.
    pub fn direction(&self, direction: impl AsRef<[f64]>) -> Result<Vec<Expr<'g>>, BodyError> {
        let (name, direction) = (self.name(), direction.as_ref());
        let found = direction.len();
        if found != self.dimensions {
            let what = BodySite::Direction(name.to_owned());
            return Err(BodyError::Dimensions { what, found, expected: self.dimensions });
        }
        let mut all = [0.0; 3];
        all[..found].copy_from_slice(direction);
        let u = unit(all).ok_or_else(|| BodyError::ZeroAxis { owner: name.to_owned() })?;
        self.unit_direction(u).map(|e| e[..found].to_vec()).ok_or_else(|| BodyError::Undefined {
            body: name.to_owned(),
            kind: self.frame.kind(),
            what: BodySite::Own("a direction other than its axis"),
            remedy: "give it second moments across",
        })
    }

    pub(crate) fn name(&self) -> &str {
        self.body.as_deref().unwrap_or("the world")
    }

    /// The direction in the world of a unit vector in the axes of the point; none if the body cannot tell it.
    pub(crate) fn unit_direction(&self, u: Vector) -> Option<[Expr<'g>; 3]> {
        let along = apply(&self.axes, u);
        match &self.frame {
            Frame::Full(axes) => Some(combination(along, axes)),
            Frame::Rod(axis, e) => {
                let straight = (along[*axis].abs() - 1.0).abs() <= ALIKE;
                let sign = along[*axis].signum();
                straight.then(|| e.map(|x| sign * x))
            }
            Frame::Point => None,
        }
    }

    /// The rod's own direction in the axes of the point.
    pub(crate) fn rod(&self) -> Option<Vector> {
        match self.frame {
            Frame::Rod(axis, _) => Some(self.axes[axis]),
            _ => None,
        }
    }

    /// Two directions of the world at right angles to a unit vector in the axes of the point.
    pub(crate) fn across(&self, u: Vector) -> Option<[[Expr<'g>; 3]; 2]> {
        let [v, w] = across(u);
        self.unit_direction(v).zip(self.unit_direction(w)).map(|(v, w)| [v, w])
    }
}

/// How far the cosine of an angle may be off for directions to be the same, or at right angles.
pub(crate) const ALIKE: f64 = 1e-9;

/// Whether two unit vectors are at right angles.
pub(crate) fn square(u: Vector, v: Vector) -> bool {
    dot(u, v).abs() <= ALIKE
}

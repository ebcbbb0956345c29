//! Joints: constraints between points of bodies, none more than needed in general position.
//!
//! | joint | in space | in the plane |
//! |---|---|---|
//! | ball | x_A = x_B | the same: a pin |
//! | hinge | ball, u_A·v_B = u_A·w_B = 0 | – |
//! | universal | ball, u_A·w_B = 0 | – |
//! | cylindrical | u_A·v_B = u_A·w_B = 0, d·v_B = d·w_B = 0 | – |
//! | prismatic | axes alike, d·v_B = d·w_B = 0 | axes alike, d·v_B = 0 |
//! | fixed | ball, axes alike | ball, axes alike |
//! | distance | \|d\|² = l² | the same |
//!
//! Here d = x_A − x_B, u is the axis, and v and w are at right angles to it and to each other. "Axes alike" is x_A·y_B = y_A·z_B = z_A·x_B = 0
//! for the axes of the two points, x_A·y_B = 0 in the plane. A rod has one axis only: it is held by the conditions that concern it.

use super::error::{BodyError, BodySite};
use super::point::{Point, square};
use super::suffixed;
use super::vector::{IDENTITY, Vector, dot, minus, unit};
use crate::model::Model;
use leastaction_expr::{Expr, IntoExpr};

impl<'g> Model<'g> {
    /// A ball joint: two points are one. In the plane this is a pin.
    ///
    /// # Errors
    /// [`BodyError`] if the points belong to one body, to another model, or to spaces of different dimensions.
    pub fn ball(&mut self, name: &str, a: &Point<'g>, b: &Point<'g>) -> Result<(), BodyError> {
        self.check_joint(name, a, b)?;
        for (d, axis) in ["x", "y", "z"].into_iter().enumerate().take(a.dimensions) {
            self.constraint(&suffixed(name, axis), a.position[d], b.position[d]);
        }
        Ok(())
    }

    /// A pin in the plane: two points are one. The same as [`Model::ball`].
    ///
    /// # Errors
    /// As [`Model::ball`].
    pub fn pin(&mut self, name: &str, a: &Point<'g>, b: &Point<'g>) -> Result<(), BodyError> {
        self.ball(name, a, b)
    }

    /// A hinge in space: two points are one, and so are the directions of an axis, which is given in the axes of both points.
    ///
    /// # Errors
    /// As [`Model::ball`], and if the axis has no length, or a body cannot tell it: a rod turns about axes along or across it.
    pub fn hinge(
        &mut self,
        name: &str,
        a: &Point<'g>,
        b: &Point<'g>,
        axis: impl AsRef<[f64]>,
    ) -> Result<(), BodyError> {
        let u = self.check_axis(name, a, b, axis.as_ref(), "pin")?;
        let turning = parallel(name, a, b, u)?;
        self.ball(name, a, b)?;
        self.vanish(name, &turning);
        Ok(())
    }

    /// A universal joint in space (Cardan's): two points are one, and an axis of `a` stays at right angles to an axis of `b`.
    ///
    /// # Errors
    /// As [`Model::hinge`].
    pub fn universal(
        &mut self,
        name: &str,
        a: &Point<'g>,
        axis_of_a: impl AsRef<[f64]>,
        b: &Point<'g>,
        axis_of_b: impl AsRef<[f64]>,
    ) -> Result<(), BodyError> {
        let u = self.check_axis(name, a, b, axis_of_a.as_ref(), "pin")?;
        let w = self.check_axis(name, a, b, axis_of_b.as_ref(), "pin")?;
        let cosine = dot(world_direction(name, a, u)?, world_direction(name, b, w)?);
        self.ball(name, a, b)?;
        self.vanish(name, &[("turn", cosine)]);
        Ok(())
    }

    /// A cylindrical joint in space: the point of `a` slides along an axis through the point of `b`, and turns about it.
    ///
    /// # Errors
    /// As [`Model::hinge`].
    pub fn cylindrical(
        &mut self,
        name: &str,
        a: &Point<'g>,
        b: &Point<'g>,
        axis: impl AsRef<[f64]>,
    ) -> Result<(), BodyError> {
        let u = self.check_axis(name, a, b, axis.as_ref(), "pin")?;
        let (turning, sliding) = (parallel(name, a, b, u)?, sideways(name, a, b, u)?);
        self.vanish(name, &turning);
        self.vanish(name, &sliding);
        Ok(())
    }

    /// A slider: the point of `a` moves along an axis through the point of `b` and does not turn against it. A point mass only moves.
    ///
    /// # Errors
    /// As [`Model::ball`], and if the axis has no length, or `b` cannot tell it.
    pub fn prismatic(
        &mut self,
        name: &str,
        a: &Point<'g>,
        b: &Point<'g>,
        axis: impl AsRef<[f64]>,
    ) -> Result<(), BodyError> {
        self.check_joint(name, a, b)?;
        let u = self.axis(name, a, axis.as_ref())?;
        let (turning, sliding) = (alike(name, a, b)?, sideways(name, a, b, u)?);
        self.vanish(name, &turning);
        self.vanish(name, &sliding);
        Ok(())
    }

    /// Two bodies as one: points and their axes are the same.
    ///
    /// # Errors
    /// As [`Model::ball`], and if a body cannot tell its axes.
    pub fn fixed(&mut self, name: &str, a: &Point<'g>, b: &Point<'g>) -> Result<(), BodyError> {
        self.check_joint(name, a, b)?;
        let turning = alike(name, a, b)?;
        self.ball(name, a, b)?;
        self.vanish(name, &turning);
        Ok(())
    }

    /// A massless link: two points stay at a distance.
    ///
    /// # Errors
    /// As [`Model::ball`], and if the distance is not positive.
    pub fn distance(
        &mut self,
        name: &str,
        a: &Point<'g>,
        b: &Point<'g>,
        length: impl IntoExpr<'g>,
    ) -> Result<(), BodyError> {
        self.check_joint(name, a, b)?;
        let length = length.into_expr(self.graph);
        self.check_positive(BodySite::Size("length", name.to_owned()), length)?;
        let apart = minus(a.position, b.position);
        self.constraint(name, dot(apart, apart), length * length);
        Ok(())
    }

    fn vanish(&mut self, name: &str, conditions: &[(&'static str, Expr<'g>)]) {
        for (part, value) in conditions {
            self.constraint(&suffixed(name, part), *value, 0.0);
        }
    }

    pub(crate) fn check_joint(&self, joint: &str, a: &Point<'g>, b: &Point<'g>) -> Result<(), BodyError> {
        self.check_point(joint, a)?;
        self.check_point(joint, b)?;
        match &a.body {
            Some(body) if a.body == b.body => {
                return Err(BodyError::Itself { joint: joint.to_owned(), body: body.clone() });
            }
            _ => {}
        }
        let free = if a.body.is_some() { b } else { a };
        let bound = if a.body.is_some() { a } else { b };
        if free.dimensions != bound.dimensions {
            let what = BodySite::JointPoint { body: free.name().to_owned(), joint: joint.to_owned() };
            return Err(BodyError::Dimensions { what, found: free.dimensions, expected: bound.dimensions });
        }
        Ok(())
    }

    /// Checks that a point belongs to this model.
    pub(crate) fn check_point(&self, joint: &str, point: &Point<'g>) -> Result<(), BodyError> {
        if let Some(value) = point.position.iter().filter_map(|x| x.as_number()).find(|x| !x.is_finite()) {
            return Err(BodyError::NotFinite { what: BodySite::Point(joint.to_owned()), value });
        }
        let Some(name) = &point.body else { return Ok(()) };
        let own = self.bodies.named(name);
        let same = own.is_some_and(|body| std::ptr::eq(body.mass().graph(), point.position[0].graph()));
        if same { Ok(()) } else { Err(BodyError::Stranger { holder: joint.to_owned(), body: name.clone() }) }
    }

    fn check_axis(
        &self,
        joint: &str,
        a: &Point<'g>,
        b: &Point<'g>,
        axis: &[f64],
        planar: &'static str,
    ) -> Result<Vector, BodyError> {
        self.check_joint(joint, a, b)?;
        if a.dimensions == 2 {
            let what = BodySite::SpaceJoint(joint.to_owned(), planar);
            return Err(BodyError::Dimensions { what, found: 2, expected: 3 });
        }
        self.axis(joint, a, axis)
    }

    fn axis(&self, joint: &str, a: &Point<'g>, axis: &[f64]) -> Result<Vector, BodyError> {
        let found = axis.len();
        if found != a.dimensions {
            let what = BodySite::Axis(joint.to_owned());
            return Err(BodyError::Dimensions { what, found, expected: a.dimensions });
        }
        if let Some(&value) = axis.iter().find(|x| !x.is_finite()) {
            return Err(BodyError::NotFinite { what: BodySite::Axis(joint.to_owned()), value });
        }
        let mut all = [0.0; 3];
        all[..found].copy_from_slice(axis);
        unit(all).ok_or_else(|| BodyError::ZeroAxis { owner: joint.to_owned() })
    }
}

/// Conditions, each with the part of the joint's name that tells it.
type Conditions<'g> = Vec<(&'static str, Expr<'g>)>;

/// The direction of the world that a body gives to a unit vector in the axes of a point.
fn world_direction<'g>(joint: &str, point: &Point<'g>, u: Vector) -> Result<[Expr<'g>; 3], BodyError> {
    point.unit_direction(u).ok_or_else(|| refusal(joint, point, "give it second moments across"))
}

fn refusal(joint: &str, point: &Point<'_>, remedy: &'static str) -> BodyError {
    let (body, kind) = (point.name().to_owned(), point.frame.kind());
    BodyError::Undefined { body, kind, what: BodySite::Axis(joint.to_owned()), remedy }
}

/// That the directions of a unit vector in the axes of two points are the same.
fn parallel<'g>(joint: &str, a: &Point<'g>, b: &Point<'g>, u: Vector) -> Result<Conditions<'g>, BodyError> {
    // The one that has all axes says what is across.
    for (one, other) in [(a, b), (b, a)] {
        if let (Some(e), Some([v, w])) = (one.unit_direction(u), other.across(u)) {
            return Ok(vec![("turn1", dot(e, v)), ("turn2", dot(e, w))]);
        }
        // A rod across the axis stays across it: turning about itself is nothing.
        if let (Some(rod), Some(e)) = (one.rod().filter(|&rod| square(rod, u)), other.unit_direction(u)) {
            return Ok(vec![("turn", dot(world_direction(joint, one, rod)?, e))]);
        }
    }
    let loose = if a.across(u).is_none() { a } else { b };
    Err(refusal(joint, loose, "use a ball, an axis along or across a rod, or give it second moments across"))
}

/// That the axes of two points are the same.
fn alike<'g>(joint: &str, a: &Point<'g>, b: &Point<'g>) -> Result<Conditions<'g>, BodyError> {
    for (one, other) in [(a, b), (b, a)] {
        let Some([ex, ey, ez]) = all_axes(other) else { continue };
        if let Some([fx, fy, fz]) = all_axes(one) {
            if a.dimensions == 2 {
                return Ok(vec![("turn", dot(fx, ey))]);
            }
            return Ok(vec![("turn1", dot(fx, ey)), ("turn2", dot(fy, ez)), ("turn3", dot(fz, ex))]);
        }
        return match one.rod() {
            Some(rod) => parallel(joint, one, other, rod),
            None => Ok(Vec::new()),
        };
    }
    if a.rod().is_none() && b.rod().is_none() {
        return Ok(Vec::new());
    }
    Err(refusal(joint, a, "give one of the two second moments across, or make them one body"))
}

fn all_axes<'g>(point: &Point<'g>) -> Option<[[Expr<'g>; 3]; 3]> {
    let [x, y, z] = IDENTITY.map(|u| point.unit_direction(u));
    Some([x?, y?, z?])
}

/// That a point of `a` is on the axis through the point of `b`.
fn sideways<'g>(joint: &str, a: &Point<'g>, b: &Point<'g>, u: Vector) -> Result<Conditions<'g>, BodyError> {
    let apart = minus(a.position, b.position);
    if b.dimensions == 2 {
        let v = world_direction(joint, b, [-u[1], u[0], 0.0])?;
        return Ok(vec![("slide", dot(apart, v))]);
    }
    let [v, w] = b
        .across(u)
        .ok_or_else(|| refusal(joint, b, "swap the two points, or give it second moments across"))?;
    Ok(vec![("slide1", dot(apart, v)), ("slide2", dot(apart, w))])
}

//! What pulls at bodies: springs, dampers, forces at points, torques.
//!
//! A force F at x(q) does the work F·ẋ, so its generalized force on a coordinate is F·∂x/∂q; a torque τ does τ·ω, which is
//! linear in the velocities of the nodes.

use super::Body;
use super::error::{BodyError, BodySite};
use super::point::Point;
use super::vector::{dot, minus};
use crate::equations::symbols_of;
use crate::model::Model;
use leastaction_expr::{Expr, IntoExpr, vjp};

impl<'g> Model<'g> {
    /// A spring between two points: the potential energy ½k(|d| − l)².
    ///
    /// # Errors
    /// [`BodyError`] if the points belong to one body, to another model, or to spaces of different dimensions.
    pub fn spring(
        &mut self,
        name: &str,
        a: &Point<'g>,
        b: &Point<'g>,
        stiffness: impl IntoExpr<'g>,
        rest_length: impl IntoExpr<'g>,
    ) -> Result<(), BodyError> {
        self.check_joint(name, a, b)?;
        let (k, l) = (stiffness.into_expr(self.graph), rest_length.into_expr(self.graph));
        for (what, value) in [("stiffness", k), ("rest length", l)] {
            let known = value.eval(&self.parameters).ok();
            if let Some(value) = known.filter(|x| !x.is_finite()) {
                return Err(BodyError::NotFinite { what: BodySite::Size(what, name.to_owned()), value });
            }
        }
        let apart = minus(a.position, b.position);
        let square = dot(apart, apart);
        // Without a rest length the root, which has no derivative at 0, is not needed.
        let stretch = match l.as_number() {
            Some(0.0) => square,
            _ => (square.sqrt() - l).pow(2.0),
        };
        self.potential(name, 0.5 * k * stretch);
        Ok(())
    }

    /// A damper between two points: it resists their coming nearer and going apart with the force −c d|d|/dt.
    ///
    /// # Errors
    /// As [`Model::spring`].
    pub fn damper(
        &mut self,
        name: &str,
        a: &Point<'g>,
        b: &Point<'g>,
        resistance: impl IntoExpr<'g>,
    ) -> Result<(), BodyError> {
        self.check_joint(name, a, b)?;
        let c = resistance.into_expr(self.graph);
        if let Some(value) = c.eval(&self.parameters).ok().filter(|x| !x.is_finite()) {
            return Err(BodyError::NotFinite { what: BodySite::Size("resistance", name.to_owned()), value });
        }
        let apart = minus(a.position, b.position);
        let along = dot(apart, self.velocities(apart));
        self.dissipation(name, 0.5 * c * along * along / dot(apart, apart));
        Ok(())
    }

    /// A force at a point, in the axes of the world: F·∂x/∂q on every coordinate that moves it.
    ///
    /// # Errors
    /// [`BodyError`] if the point belongs to another model, or the force has other dimensions.
    pub fn push<F: IntoExpr<'g> + Copy>(
        &mut self,
        point: &Point<'g>,
        force: impl AsRef<[F]>,
    ) -> Result<(), BodyError> {
        self.check_point("a force", point)?;
        let force: Vec<_> = force.as_ref().iter().map(|f| f.into_expr(self.graph)).collect();
        let (found, expected) = (force.len(), point.dimensions);
        if found != expected {
            return Err(BodyError::Dimensions {
                what: BodySite::Force(point.name().to_owned()),
                found,
                expected,
            });
        }
        let coordinates = self.moving_in(&point.position);
        let shares = vjp(&point.position[..expected], &coordinates, &force);
        self.add_forces(&coordinates, &shares);
        Ok(())
    }

    /// A torque on a body, in the axes of the world.
    ///
    /// # Errors
    /// [`BodyError`] if the body belongs to another model, moves in the plane, or is a point.
    pub fn torque(&mut self, body: &Body<'g>, torque: [impl IntoExpr<'g>; 3]) -> Result<(), BodyError> {
        self.check_point("a torque", &body.centre())?;
        let torque = torque.map(|t| t.into_expr(self.graph));
        self.add_turning(body, &body.angular_velocity()?, &torque);
        Ok(())
    }

    /// A torque on a body in the plane, counterclockwise.
    ///
    /// # Errors
    /// [`BodyError`] if the body belongs to another model, moves in space, or is a point.
    pub fn planar_torque(&mut self, body: &Body<'g>, torque: impl IntoExpr<'g>) -> Result<(), BodyError> {
        self.check_point("a torque", &body.centre())?;
        let torque = torque.into_expr(self.graph);
        self.add_turning(body, &[body.angular_rate()?], &[torque]);
        Ok(())
    }

    /// The forces τ·∂ω/∂q̇ of torques.
    fn add_turning(&mut self, body: &Body<'g>, rates: &[Expr<'g>], torques: &[Expr<'g>]) {
        let coordinates = self.moving_in(&body.nodes().concat());
        let velocities: Vec<_> = coordinates.iter().map(|&q| self.velocity(q)).collect();
        self.add_forces(&coordinates, &vjp(rates, &velocities, torques));
    }

    /// The symbols in expressions that are neither parameters nor time.
    fn moving_in(&self, expressions: &[Expr<'g>]) -> Vec<Expr<'g>> {
        let fixed = |symbol: &Expr<'g>| *symbol == self.time || self.defaults.contains_key(&symbol.id());
        symbols_of(expressions).into_iter().filter(|symbol| !fixed(symbol)).collect()
    }

    fn add_forces(&mut self, coordinates: &[Expr<'g>], shares: &[Expr<'g>]) {
        for (&coordinate, &share) in coordinates.iter().zip(shares) {
            if share.as_number() != Some(0.0) {
                self.force(coordinate, share);
            }
        }
    }
}

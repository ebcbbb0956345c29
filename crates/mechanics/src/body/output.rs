//! What a body does, as expressions of coordinates and velocities: orientation, angles, angular velocity, momenta.
//!
//! With the axes eᵢ in the world, ω = ½ Σ eᵢ × ėᵢ. The momenta are those of the nodes, m ẋ₀ and m Σ λᵢ eᵢ × ėᵢ, so translations and
//! rotations conserve them exactly, whatever the constraints.

use super::error::{BodyError, BodySite};
use super::point::Point;
use super::vector::{combination, cross, dot, minus, plus, rates, transpose};
use super::{Body, Frame};
use crate::model::Model;
use leastaction_expr::Expr;

impl<'g> Body<'g> {
    /// The velocity of the centre of mass.
    #[must_use]
    pub fn velocity(&self) -> Vec<Expr<'g>> {
        rates(self.centre)[..self.dimensions].to_vec()
    }

    /// The rotation matrix, by rows: its columns are the axes of the body's frame in the world. In the plane it has the z axis too.
    ///
    /// # Errors
    /// [`BodyError::Undefined`] for a rod in space and for a point.
    pub fn orientation(&self) -> Result<[[Expr<'g>; 3]; 3], BodyError> {
        let axes = self.full("its orientation")?;
        let columns = transpose(&self.axes).map(|weights| combination(weights, axes));
        Ok(std::array::from_fn(|i| std::array::from_fn(|j| columns[j][i])))
    }

    /// The angle of a body in the plane, in [−π, π], counterclockwise.
    ///
    /// # Errors
    /// [`BodyError`] for a body in space, and for a point.
    pub fn angle(&self) -> Result<Expr<'g>, BodyError> {
        self.in_plane("the angle")?;
        let [[cosine, ..], [sine, ..], _] = self.orientation()?;
        Ok(sine.atan2(cosine))
    }

    /// The unit quaternion \[w, x, y, z\] of the orientation, with w ≥ 0, by S. W. Shepperd's choice of the largest part
    /// (doi:10.2514/3.55767b). Where w passes 0, its sign jumps.
    ///
    /// # Errors
    /// As [`Body::orientation`].
    pub fn quaternion(&self) -> Result<[Expr<'g>; 4], BodyError> {
        let m = self.orientation()?;
        let four = [
            1.0 + m[0][0] + m[1][1] + m[2][2],
            1.0 + m[0][0] - m[1][1] - m[2][2],
            1.0 - m[0][0] + m[1][1] - m[2][2],
            1.0 - m[0][0] - m[1][1] + m[2][2],
        ];
        let (a, b, c) = (m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]);
        let (d, e, f) = (m[0][1] + m[1][0], m[0][2] + m[2][0], m[1][2] + m[2][1]);
        let rows = [[four[0], a, b, c], [a, four[1], d, e], [b, d, four[2], f], [c, e, f, four[3]]];
        // Of two rows the one with the larger diagonal, and of the winners again.
        let pick = |i: (Expr<'g>, [Expr<'g>; 4]), j: (Expr<'g>, [Expr<'g>; 4])| {
            let first = i.0.ge(j.0);
            (i.0.max(j.0), std::array::from_fn(|k| first.select(i.1[k], j.1[k])))
        };
        let low = pick((four[0], rows[0]), (four[1], rows[1]));
        let high = pick((four[2], rows[2]), (four[3], rows[3]));
        let (_, row) = pick(low, high);
        let length = (row[0] * row[0] + row[1] * row[1] + row[2] * row[2] + row[3] * row[3]).sqrt();
        let sign = row[0].lt(0.0).select(-1.0, 1.0);
        Ok(row.map(|part: Expr<'g>| sign * part / length))
    }

    /// Euler's angles (φ, θ, ψ) of R_z(φ) R_x(θ) R_z(ψ). At θ = 0 and π only φ ± ψ is determined.
    ///
    /// # Errors
    /// As [`Body::orientation`].
    pub fn zxz(&self) -> Result<[Expr<'g>; 3], BodyError> {
        let m = self.orientation()?;
        let theta = m[0][2].hypot(m[1][2]).atan2(m[2][2]);
        Ok([m[0][2].atan2(-m[1][2]), theta, m[2][0].atan2(m[2][1])])
    }

    /// Roll, pitch and yaw of R_z(yaw) R_y(pitch) R_x(roll). At pitch ±π/2 only yaw ∓ roll is determined.
    ///
    /// # Errors
    /// As [`Body::orientation`].
    pub fn roll_pitch_yaw(&self) -> Result<[Expr<'g>; 3], BodyError> {
        let m = self.orientation()?;
        let pitch = (-m[2][0]).atan2(m[0][0].hypot(m[1][0]));
        Ok([m[2][1].atan2(m[2][2]), pitch, m[1][0].atan2(m[0][0])])
    }

    /// The angular velocity in the axes of the world. That of a rod in space is across it: spin about its own axis is nothing.
    ///
    /// # Errors
    /// [`BodyError::Undefined`] for a point.
    pub fn angular_velocity(&self) -> Result<[Expr<'g>; 3], BodyError> {
        match &self.frame {
            Frame::Rod(_, e) => Ok(cross(*e, rates(*e))),
            Frame::Full(axes) if self.dimensions == 2 => {
                // All axes of the plane turn alike: one does.
                let zero = self.mass.like(0.0);
                let own = self.nodes.iter().position(Option::is_some);
                let own = axes[own.unwrap_or_else(|| unreachable!("a frame is made of nodes"))];
                Ok([zero, zero, cross(own, rates(own))[2]])
            }
            Frame::Full(axes) => {
                let [x, y, z] = axes.map(|e| cross(e, rates(e)));
                Ok(plus(plus(x, y), z).map(|sum| 0.5 * sum))
            }
            Frame::Point => Err(self.undefined("its angular velocity", "give it second moments")),
        }
    }

    /// The angular velocity in the axes of the body's frame.
    ///
    /// # Errors
    /// [`BodyError::Undefined`] for a rod in space and for a point.
    pub fn angular_velocity_in_body(&self) -> Result<[Expr<'g>; 3], BodyError> {
        let axes = *self.full("its angular velocity in its own axes")?;
        if self.dimensions == 2 {
            return self.angular_velocity();
        }
        let [x, y, z] = axes;
        let [vx, vy, vz] = axes.map(|e| rates(e));
        let own = [dot(vy, z), dot(vz, x), dot(vx, y)];
        Ok(transpose(&self.axes).map(|row| {
            let terms = row.iter().zip(own).map(|(&weight, rate)| weight * rate);
            self.mass.graph().sum(terms)
        }))
    }

    /// The angular velocity of a body in the plane, counterclockwise.
    ///
    /// # Errors
    /// [`BodyError`] for a body in space, and for a point.
    pub fn angular_rate(&self) -> Result<Expr<'g>, BodyError> {
        self.in_plane("the angular rate")?;
        Ok(self.angular_velocity()?[2])
    }

    /// The momentum m ẋ₀.
    #[must_use]
    pub fn momentum(&self) -> Vec<Expr<'g>> {
        self.velocity().into_iter().map(|v| self.mass * v).collect()
    }

    /// The angular momentum about the centre of mass, in the axes of the world. In the plane it is along z.
    #[must_use]
    pub fn angular_momentum(&self) -> [Expr<'g>; 3] {
        let zero = [self.mass.like(0.0); 3];
        let arms = self.nodes.iter().zip(self.moments);
        let parts = arms.filter_map(|(node, moment)| {
            let e = minus((*node)?, self.centre);
            Some(cross(e, rates(e)).map(|x| self.mass * moment * x))
        });
        parts.fold(zero, plus)
    }

    /// The angular momentum about a point that stands still.
    ///
    /// # Errors
    /// [`BodyError::Dimensions`] if the point is of another space.
    pub fn angular_momentum_about(&self, point: &Point<'g>) -> Result<[Expr<'g>; 3], BodyError> {
        if point.dimensions != self.dimensions {
            let what = BodySite::MomentumPoint(self.name.clone());
            return Err(BodyError::Dimensions { what, found: point.dimensions, expected: self.dimensions });
        }
        let arm = minus(self.centre, point.position);
        let orbital = cross(arm, rates(self.centre)).map(|x| self.mass * x);
        Ok(plus(self.angular_momentum(), orbital))
    }

    fn full(&self, what: &'static str) -> Result<&[[Expr<'g>; 3]; 3], BodyError> {
        match &self.frame {
            Frame::Full(axes) => Ok(axes),
            _ => Err(self.undefined(what, "give it second moments across")),
        }
    }

    fn in_plane(&self, what: &'static str) -> Result<(), BodyError> {
        if self.dimensions == 2 {
            return Ok(());
        }
        let what = BodySite::Planar(what, self.name.clone());
        Err(BodyError::Dimensions { what, found: self.dimensions, expected: 2 })
    }

    fn undefined(&self, what: &'static str, remedy: &'static str) -> BodyError {
        let (body, kind) = (self.name.clone(), self.frame.kind());
        BodyError::Undefined { body, kind, what: BodySite::Own(what), remedy }
    }
}

impl<'g> Model<'g> {
    /// The momentum of all particles and bodies.
    #[must_use]
    pub fn total_momentum(&self) -> [Expr<'g>; 3] {
        self.moving().fold([self.number(0.0); 3], |sum, (_, p)| plus(sum, p))
    }

    /// The angular momentum of all particles and bodies about the origin.
    #[must_use]
    pub fn total_angular_momentum(&self) -> [Expr<'g>; 3] {
        let orbital = self.moving().fold([self.number(0.0); 3], |sum, (x, p)| plus(sum, cross(x, p)));
        self.bodies().iter().fold(orbital, |sum, body| plus(sum, body.angular_momentum()))
    }

    /// Position and momentum of all that has mass; the bodies' centres are among the particles.
    fn moving(&self) -> impl Iterator<Item = ([Expr<'g>; 3], [Expr<'g>; 3])> {
        let particles = self.particles.iter().filter(|p| !p.inertias.is_empty());
        let particles = particles.map(|particle| {
            let mut x = [self.number(0.0); 3];
            x.iter_mut().zip(&particle.position).for_each(|(to, &from)| *to = from);
            let mut p = self.velocities(x);
            p.iter_mut().zip(&particle.inertias).for_each(|(p, &m)| *p = m * *p);
            (x, p)
        });
        let nodes = self.lumped.iter().flat_map(move |nodes| {
            (0..nodes.masses.len()).map(move |node| {
                let mut x = [self.number(0.0); 3];
                let own = &self.all_coordinates()[nodes.first + node * nodes.width..][..nodes.width];
                x.iter_mut().zip(own).for_each(|(to, &from)| *to = from);
                let mass = nodes.mass(node, self.time);
                (x, self.velocities(x).map(|v| mass * v))
            })
        });
        particles.chain(nodes)
    }
}

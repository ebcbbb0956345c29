//! Where a body is and how it moves, in numbers: for starts, and from states.

use super::error::{BodyError, BodySite};
use super::rotation::{Rotation, RotationError};
use super::vector::{Vector, apply, cross, minus, norm, plus, transpose, unit};
use super::{Body, Frame};
use crate::dynamics::Dynamics;
use crate::state::State;

/// Where a body is, how it is turned, and how it moves.
///
/// ```
/// # use leastaction_expr::Graph;
/// # use leastaction_mechanics::{Inertia, Model};
/// use leastaction_mechanics::{Pose, Rotation};
/// # let graph = Graph::new();
/// # let mut model = Model::new(&graph);
/// # let top = model.body("top", Inertia::sphere(1.0, 0.1)?)?;
/// // A top that leans by half a radian, stands on its tip at the origin and spins about its own axis.
/// let pose = Pose::at([0.0, 0.0, 0.0]).holding([0.0, 0.0, -0.1]).turned(Rotation::zxz(0.0, 0.5, 0.0)).spinning_in_body([0.0, 0.0, 50.0]);
/// let start = top.start(&pose)?;
/// # assert_eq!(start[2].0, "top_z");
/// # assert!((start[2].1 - 0.1 * 0.5f64.cos()).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    dimensions: usize,
    /// Where the point is.
    at: Vector,
    /// The point, in the body's frame.
    point: Vector,
    velocity: Vector,
    rotation: Rotation,
    spin: Vector,
    /// Whether the spin is given in the body's axes.
    in_body: bool,
}

impl Pose {
    /// The origin of the body's frame is there, at rest and not turned.
    #[must_use]
    pub fn at<const D: usize>(position: [f64; D]) -> Pose {
        const { assert!(D == 2 || D == 3, "a place of the plane or of space") };
        Pose {
            dimensions: D,
            at: three(position),
            point: [0.0; 3],
            velocity: [0.0; 3],
            rotation: Rotation::NONE,
            spin: [0.0; 3],
            in_body: false,
        }
    }

    /// The origin of the body's frame is halfway between two places, and its x axis points from the first to the second: where a
    /// rod of that length is.
    ///
    /// # Errors
    /// [`RotationError`] if the places are one, or a number is not finite.
    pub fn between<const D: usize>(from: [f64; D], to: [f64; D]) -> Result<Pose, RotationError> {
        let (a, b) = (three(from), three(to));
        if let Some(&value) = a.iter().chain(&b).find(|x| !x.is_finite()) {
            return Err(RotationError::NotFinite { value });
        }
        let along = unit(minus(b, a)).ok_or(RotationError::Zero { what: "axis" })?;
        let middle: [f64; D] = std::array::from_fn(|d| from[d] + 0.5 * (to[d] - from[d]));
        let rotation = match D {
            3 => Rotation::shortest([1.0, 0.0, 0.0], along)?,
            _ => Rotation::angle(along[1].atan2(along[0])),
        };
        Ok(Pose::at(middle).turned(rotation))
    }

    /// It is this point of the body's frame that is there, and has the velocity.
    #[must_use]
    pub fn holding<const D: usize>(self, point: [f64; D]) -> Pose {
        Pose { point: three(point), ..self }
    }

    /// How the body is turned.
    #[must_use]
    pub fn turned(self, rotation: Rotation) -> Pose {
        Pose { rotation, ..self }
    }

    /// The velocity of the point.
    #[must_use]
    pub fn moving<const D: usize>(self, velocity: [f64; D]) -> Pose {
        Pose { velocity: three(velocity), ..self }
    }

    /// The angular velocity in the axes of the world.
    #[must_use]
    pub fn spinning(self, rate: [f64; 3]) -> Pose {
        Pose { spin: rate, in_body: false, ..self }
    }

    /// The angular velocity in the axes of the body.
    #[must_use]
    pub fn spinning_in_body(self, rate: [f64; 3]) -> Pose {
        Pose { spin: rate, in_body: true, ..self }
    }

    /// How the body is turned, and its angular velocity, by Euler's angles (φ, θ, ψ) of [`Rotation::zxz`] and their rates:
    /// ω = φ̇ ẑ + θ̇ n + ψ̇ e₃ with the line of nodes n.
    #[must_use]
    pub fn zxz(self, [phi, theta, psi]: [f64; 3], rates: [f64; 3]) -> Pose {
        let rotation = Rotation::zxz(phi, theta, psi);
        let nodes = [phi.cos(), phi.sin(), 0.0];
        let third = rotation.apply([0.0, 0.0, 1.0]);
        let up = [0.0, 0.0, 1.0];
        let rate = |d: usize| rates[0] * up[d] + rates[1] * nodes[d] + rates[2] * third[d];
        self.turned(rotation).spinning(std::array::from_fn(rate))
    }

    /// The angular velocity in the plane, counterclockwise.
    #[must_use]
    pub fn turning(self, rate: f64) -> Pose {
        self.spinning([0.0, 0.0, rate])
    }

    /// The position of the point.
    #[must_use]
    pub fn position(&self) -> [f64; 3] {
        self.at
    }

    /// How the body is turned.
    #[must_use]
    pub fn rotation(&self) -> Rotation {
        self.rotation
    }

    /// The velocity of the point.
    #[must_use]
    pub fn velocity(&self) -> [f64; 3] {
        self.velocity
    }

    /// The angular velocity in the axes of the world.
    #[must_use]
    pub fn angular_velocity(&self) -> [f64; 3] {
        if self.in_body { self.rotation.apply(self.spin) } else { self.spin }
    }

    /// The angular velocity in the axes of the body.
    #[must_use]
    pub fn angular_velocity_in_body(&self) -> [f64; 3] {
        if self.in_body { self.spin } else { self.rotation.back(self.spin) }
    }

    /// Where another point of the body's frame is.
    #[must_use]
    pub fn position_of(&self, point: [f64; 3]) -> [f64; 3] {
        plus(self.at, self.rotation.apply(minus(point, self.point)))
    }

    /// The velocity of another point of the body's frame.
    #[must_use]
    pub fn velocity_of(&self, point: [f64; 3]) -> [f64; 3] {
        let arm = self.rotation.apply(minus(point, self.point));
        plus(self.velocity, cross(self.angular_velocity(), arm))
    }
}

impl<'g> Body<'g> {
    /// The values of the body's coordinates and velocities in a pose, as [`Dynamics::start`] takes them.
    ///
    /// # Errors
    /// [`BodyError`] if the pose is of another space, turns a body out of the plane, or has a number that is not finite.
    pub fn start(&self, pose: &Pose) -> Result<Vec<(&str, f64)>, BodyError> {
        if pose.dimensions != self.dimensions {
            let what = BodySite::Pose(self.name.clone());
            return Err(BodyError::Dimensions { what, found: pose.dimensions, expected: self.dimensions });
        }
        let numbers = [pose.at, pose.point, pose.velocity, pose.spin].concat();
        let finite = |x: &&f64| !x.is_finite();
        let turned = pose.rotation.rows().concat();
        if let Some(&value) = numbers.iter().chain(&turned).find(finite) {
            return Err(BodyError::NotFinite { what: BodySite::PoseNumber(self.name.clone()), value });
        }
        let spin = pose.angular_velocity();
        if self.dimensions == 2 {
            let out = |what| Err(BodyError::OutOfPlane { body: self.name.clone(), what });
            let z = pose.rotation.apply([0.0, 0.0, 1.0]);
            if norm(minus(z, [0.0, 0.0, 1.0])) > 1e-12 {
                return out("its rotation");
            }
            if spin[0] != 0.0 || spin[1] != 0.0 {
                return out("its angular velocity");
            }
        }
        let centre = pose.position_of(self.origin);
        let velocity = pose.velocity_of(self.origin);
        let mut values = vec![(centre, velocity)];
        for (axis, node) in self.axes.iter().zip(&self.nodes) {
            if node.is_some() {
                let e = pose.rotation.apply(*axis);
                values.push((plus(centre, e), plus(velocity, cross(spin, e))));
            }
        }
        let flat = |pick: fn(&(Vector, Vector)) -> Vector| {
            values.iter().flat_map(move |pair| pick(pair)[..self.dimensions].to_vec()).collect::<Vec<_>>()
        };
        let (positions, velocities) = (flat(|pair| pair.0), flat(|pair| pair.1));
        let names = self.names.iter();
        let coordinates = names.clone().zip(positions).map(|((q, _), x)| (q.as_str(), x));
        Ok(coordinates.chain(names.zip(velocities).map(|((_, v), x)| (v.as_str(), x))).collect())
    }

    /// Where the body is in a state, and how it moves: of the origin of its frame. A rod in space is turned the shortest way from its
    /// direction in the frame, and does not spin about itself; a point is not turned.
    ///
    /// # Errors
    /// [`BodyError`] if the system does not have the body, or the state does not fit.
    pub fn pose(&self, dynamics: &mut Dynamics, state: &State) -> Result<Pose, BodyError> {
        let ([centre, velocity], arms) = self.read(dynamics, state)?;
        let (rotation, spin) = match &self.frame {
            Frame::Point => (Rotation::NONE, [0.0; 3]),
            Frame::Rod(axis, _) => {
                let [e, v] = known(arms[*axis]);
                (Rotation::shortest(self.axes[*axis], e)?, cross(e, v))
            }
            Frame::Full(_) => self.turn(arms)?,
        };
        let pose = Pose {
            dimensions: self.dimensions,
            at: centre,
            point: self.origin,
            velocity,
            rotation,
            spin,
            in_body: false,
        };
        Ok(Pose {
            at: pose.position_of([0.0; 3]),
            velocity: pose.velocity_of([0.0; 3]),
            point: [0.0; 3],
            ..pose
        })
    }

    /// The rotation and the angular velocity of principal axes and their rates.
    fn turn(&self, arms: [Option<Moving>; 3]) -> Result<(Rotation, Vector), BodyError> {
        let quarter = |[x, y, _]: Vector| [-y, x, 0.0];
        let back = |[x, y, _]: Vector| [y, -x, 0.0];
        let (axes, spin) = if self.dimensions == 2 {
            let z = [0.0, 0.0, 1.0];
            let [own, rate] = known(arms.into_iter().flatten().next());
            let axes = match [arms[0], arms[1]] {
                [Some([x, _]), Some([y, _])] => [x, y, z],
                [Some([x, _]), None] => [x, quarter(x), z],
                [None, y] => [back(known(y)[0]), known(y)[0], z],
            };
            (axes, [0.0, 0.0, cross(own, rate)[2]])
        } else {
            // An axis of a flat body is across the two others.
            let axes: [Moving; 3] = std::array::from_fn(|i| {
                arms[i].unwrap_or_else(|| {
                    let ([a, da], [b, db]) = (known(arms[(i + 1) % 3]), known(arms[(i + 2) % 3]));
                    [cross(a, b), plus(cross(da, b), cross(a, db))]
                })
            });
            let turns = axes.map(|[e, v]| cross(e, v));
            (axes.map(|[e, _]| e), plus(plus(turns[0], turns[1]), turns[2]).map(|x| 0.5 * x))
        };
        // Columns of the world's rotation: Σ over principal axes of (direction in the world) × (axis in the frame).
        let world = transpose(&axes);
        let rows = world.map(|row| apply(&transpose(&self.axes), row));
        Ok((Rotation::matrix(rows)?, spin))
    }

    /// The centre in a state, and from it the arms to the nodes that there are.
    fn read(
        &self,
        dynamics: &mut Dynamics,
        state: &State,
    ) -> Result<(Moving, [Option<Moving>; 3]), BodyError> {
        let mut velocities = vec![0.0; state.q.len()];
        dynamics.velocities(&[state.t], &state.block(), &mut velocities)?;
        let mut names = self.names.chunks_exact(self.dimensions);
        let mut next = || -> Result<Moving, BodyError> {
            let mut node = [[0.0; 3]; 2];
            let Some(names) = names.next() else { unreachable!("a node has its coordinates") };
            for (d, (name, rate)) in names.iter().enumerate() {
                let system = dynamics.system();
                (node[0][d], node[1][d]) = match system.coordinates().position(name) {
                    Some(at) => (state.q[at], velocities[at]),
                    None if system.held().iter().any(|(held, _)| held == name) => {
                        (dynamics.held_value(state.t, name)?, dynamics.held_value(state.t, rate)?)
                    }
                    None => {
                        let (holder, body) = ("the system".into(), self.name.clone());
                        return Err(BodyError::Stranger { holder, body });
                    }
                };
            }
            Ok(node)
        };
        let centre = next()?;
        let mut arms = [None; 3];
        for (arm, _) in arms.iter_mut().zip(&self.nodes).filter(|(_, node)| node.is_some()) {
            let [at, rate] = next()?;
            *arm = Some([minus(at, centre[0]), minus(rate, centre[1])]);
        }
        Ok((centre, arms))
    }
}

/// A vector, and its rate.
type Moving = [Vector; 2];

/// An arm that the frame of the body is made of.
fn known(arm: Option<Moving>) -> Moving {
    arm.unwrap_or_else(|| unreachable!("a frame is made of the arms that a body has"))
}

fn three<const D: usize>(given: [f64; D]) -> Vector {
    let mut all = [0.0; 3];
    all.iter_mut().zip(given).for_each(|(to, from)| *to = from);
    all
}

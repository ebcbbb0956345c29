//! Rigid bodies as Cartesian points, and what joins them.
//!
//! A body has its centre of mass x₀ and, on each principal axis along which it extends, a node xᵢ at distance 1. With the
//! second moments of mass λᵢ per unit mass along these axes,
//!
//! $$T = \tfrac12\operatorname{Tr}(\dot X M \dot X^{\mathsf T}) = \tfrac m2|\dot x_0|^2 + \tfrac m2\sum_i\lambda_i|\dot
//! x_i-\dot x_0|^2,\qquad M = m\begin{pmatrix}1+\sum\lambda&-\lambda^{\mathsf T}\\-\lambda&\operatorname{diag}\lambda\end{pmatrix}$$
//!
//! so masses are constant, and all points of the body are affine in the nodes. It stays rigid because the axes eᵢ = xᵢ − x₀
//! stay of length 1 and at right angles: |eᵢ|² = 1, eᵢ·eⱼ = 0. That is the same as fixing the distances of all nodes, |xᵢ − xⱼ|² = 2 −
//! 2 eᵢ·eⱼ, but in these combinations G M⁻¹ Gᵀ is diagonal. (M. Finzi, K. A. Wang and A. G. Wilson, arXiv:2010.13581,
//! section 5.)
//!
//! A point has no node beside its centre; a rod has one; a flat body has two, in space its third axis is e₁ × e₂; in the plane the
//! second axis of a rod is the first one turned by a quarter.

mod error;
mod force;
mod inertia;
mod joint;
mod output;
mod point;
mod pose;
mod rotation;
mod shapes;
mod surface;
mod vector;

pub use error::{BodyError, BodySite};
pub use inertia::{Inertia, InertiaError, Matter};
pub use point::Point;
pub use pose::Pose;
pub use rotation::{Rotation, RotationError};
pub use surface::{Surface, SurfaceError};

use crate::equations::symbols_of;
use crate::model::{Model, Particle};
use leastaction_expr::{Expr, IntoExpr, Rebind, Rebinding, nearest, rebind};
use std::collections::HashMap;
use vector::{IDENTITY, Matrix, Vector, cross, dot, minus, rates};

/// A rigid body of a [`Model`]. Its coordinates are those of its centre of mass, `top_x`, `top_y` and `top_z` for a body
/// `top`, and of its nodes, `top_ax` to `top_cz`: the points `a`, `b` and `c` at distance 1 from it on its principal axes.
#[derive(Clone, Debug)]
pub struct Body<'g> {
    name: String,
    dimensions: usize,
    mass: Expr<'g>,
    /// Second moments per unit mass along the principal axes; 0 where there is no node.
    moments: [Expr<'g>; 3],
    /// The centre of mass in the world; z is 0 in the plane.
    centre: [Expr<'g>; 3],
    /// The nodes, on the axes that have one.
    nodes: [Option<[Expr<'g>; 3]>; 3],
    frame: Frame<'g>,
    /// The centre of mass in the body's own frame.
    origin: Vector,
    /// The principal axes in the body's own frame, as rows.
    axes: Matrix,
    /// The names of coordinates and velocities, for starts.
    names: Vec<(String, String)>,
}

rebind!(Body { mass, moments, centre, nodes, frame; name, dimensions, origin, axes, names });

/// The bodies of a model, found by name however many there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bodies<'g> {
    list: Vec<Body<'g>>,
    places: HashMap<String, usize>,
}

rebind!(Bodies { list; places });

impl<'g> Bodies<'g> {
    fn named(&self, name: &str) -> Option<&Body<'g>> {
        self.places.get(name).map(|&place| &self.list[place])
    }

    /// The body whose axes a constraint keeps straight, and at right angles to each other.
    pub(crate) fn kept_rigid_by(&self, constraint: &str) -> Option<&str> {
        let pairs = || NODES.iter().flat_map(|a| NODES.map(|b| format!("{a}{b}")));
        let keeps = |body: &&Body<'g>| pairs().any(|pair| suffixed(&body.name, &pair) == constraint);
        self.list.iter().find(keeps).map(|body| body.name.as_str())
    }

    fn push(&mut self, body: Body<'g>) {
        self.places.insert(body.name.clone(), self.list.len());
        self.list.push(body);
    }
}

/// The directions of the world that a body, or the world, can tell.
#[derive(Clone, Debug)]
pub(crate) enum Frame<'g> {
    /// None: a point.
    Point,
    /// That of the principal axis with this index: a rod in space.
    Rod(usize, [Expr<'g>; 3]),
    /// All: three axes.
    Full([[Expr<'g>; 3]; 3]),
}

impl Rebind for Frame<'_> {
    type To<'h> = Frame<'h>;

    fn rebind<'h>(&self, graphs: Rebinding<'_, 'h>) -> Frame<'h> {
        match self {
            Frame::Point => Frame::Point,
            Frame::Rod(index, axis) => Frame::Rod(*index, axis.rebind(graphs)),
            Frame::Full(axes) => Frame::Full(axes.rebind(graphs)),
        }
    }
}

const AXES: [char; 3] = ['x', 'y', 'z'];
/// The name of a part, before the indices of what it belongs to: `bar_x`, `bar_x[3]`.
///
/// ```
/// use leastaction_mechanics::suffixed;
///
/// assert_eq!([suffixed("bar", "x"), suffixed("bar[3]", "x"), suffixed("leg[1].bar", "x")], ["bar_x", "bar_x[3]", "leg[1].bar_x"]);
/// ```
#[must_use]
pub fn suffixed(name: &str, part: &str) -> String {
    let last = name.rfind('.').map_or(0, |dot| dot + 1);
    let (base, indices) = name.split_at(name[last..].find('[').map_or(name.len(), |at| last + at));
    format!("{base}_{part}{indices}")
}

const NODES: [char; 3] = ['a', 'b', 'c'];

impl<'g> Model<'g> {
    /// Adds a rigid body in space. Its frame, in which its [points](Body::point) are given, is the one its inertia is given in.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// use leastaction_mechanics::{Inertia, Model};
    ///
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let bob = model.body("bob", Inertia::cone(0.1, 0.03, 0.08)?)?;
    /// model.ball("pivot", &bob.point([0.0, 0.0, 0.06])?, &model.anchor([0.0, 0.0, 0.0]))?;
    /// model.gravity([0.0, 0.0, -9.81]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BodyError`] if the name is taken, or the inertia has a number in it that is not finite.
    pub fn body(&mut self, name: &str, inertia: Inertia) -> Result<Body<'g>, BodyError> {
        check_finite(name, &inertia)?;
        let (moments, axes) = inertia.principal_axes();
        let moments = moments.map(|m| self.number(m));
        self.add_body(name, 3, self.number(inertia.mass()), moments, inertia.centre(), axes)
    }

    /// Adds a rigid body that moves in the plane z = 0 of its inertia's frame.
    ///
    /// # Errors
    /// [`BodyError`] if the name is taken, or the inertia has a number in it that is not finite.
    pub fn planar_body(&mut self, name: &str, inertia: Inertia) -> Result<Body<'g>, BodyError> {
        check_finite(name, &inertia)?;
        let (moments, axes) = inertia.principal_axes_in_plane();
        let moments = moments.map(|m| self.number(m));
        let [x, y, _] = inertia.centre();
        self.add_body(name, 2, self.number(inertia.mass()), moments, [x, y, 0.0], axes)
    }

    /// Adds a rigid body by its mass and its second moments per unit mass along its axes, which are principal ones through its centre
    /// of mass. All of them may be expressions of parameters: a rod of length l has `[l*l/12.0, 0, 0]`. Two moments
    /// make a body of the plane, three one of space. A moment that is the number 0 means that the body does not extend that way.
    ///
    /// # Errors
    /// [`BodyError`] if the name is taken, or the defaults of the parameters make a mass that is not positive or a moment that is negative.
    pub fn body_with_moments(
        &mut self,
        name: &str,
        mass: impl IntoExpr<'g>,
        moments: impl AsRef<[Expr<'g>]>,
    ) -> Result<Body<'g>, BodyError> {
        let mass = mass.into_expr(self.graph);
        let moments = moments.as_ref();
        let dimensions = moments.len();
        if dimensions != 2 && dimensions != 3 {
            let what = BodySite::Body(name.to_owned());
            return Err(BodyError::Dimensions { what, found: dimensions, expected: 3 });
        }
        self.check_positive(BodySite::Mass(name.to_owned()), mass)?;
        let mut all = [self.number(0.0); 3];
        for (to, &moment) in all.iter_mut().zip(moments) {
            *to = self.graph.adopt(moment);
            if to.as_number() != Some(0.0) {
                self.check_positive(BodySite::Moment(name.to_owned()), *to)?;
            }
        }
        self.add_body(name, dimensions, mass, all, [0.0; 3], IDENTITY)
    }

    /// The body of this name.
    ///
    /// # Errors
    /// [`BodyError::Unknown`] if there is none.
    pub fn body_named(&self, name: &str) -> Result<Body<'g>, BodyError> {
        self.bodies.named(name).cloned().ok_or_else(|| BodyError::Unknown {
            name: name.to_owned(),
            nearest: nearest(name, self.bodies().iter().map(|body| body.name.as_str())),
        })
    }

    /// The bodies, in the order in which they were added.
    #[must_use]
    pub fn bodies(&self) -> &[Body<'g>] {
        &self.bodies.list
    }

    fn add_body(
        &mut self,
        name: &str,
        dimensions: usize,
        mass: Expr<'g>,
        moments: [Expr<'g>; 3],
        origin: Vector,
        axes: Matrix,
    ) -> Result<Body<'g>, BodyError> {
        if self.bodies.named(name).is_some() {
            return Err(BodyError::Twice { name: name.to_owned() });
        }
        let zero = self.number(0.0);
        let mut names = Vec::new();
        let mut node = |prefix: &str| {
            let mut at = [zero; 3];
            for (x, axis) in at.iter_mut().zip(AXES).take(dimensions) {
                let own = suffixed(name, &format!("{prefix}{axis}"));
                *x = self.coordinate(&own);
                names.push((own.clone(), own + "'"));
            }
            at
        };
        let centre = node("");
        let nodes: [_; 3] = std::array::from_fn(|i| {
            (moments[i].as_number() != Some(0.0)).then(|| node(&NODES[i].to_string()))
        });
        let frame = Frame::new(dimensions, nodes.map(|node| node.map(|node| minus(node, centre))), zero);

        let (inertias, position) = (vec![mass; dimensions], centre[..dimensions].to_vec());
        self.push_particle(Particle { name: name.into(), inertias, position });
        let arms: Vec<(usize, [Expr<'g>; 3])> =
            nodes.iter().enumerate().filter_map(|(i, node)| Some((i, minus((*node)?, centre)))).collect();
        if !arms.is_empty() {
            let turning = arms.iter().map(|&(i, e)| {
                let v = rates(e);
                moments[i] * dot(v, v)
            });
            let turning = 0.5 * mass * self.graph.sum(turning);
            self.kinetic(&format!("turning of {name}"), turning);
        }
        for (at, &(i, e)) in arms.iter().enumerate() {
            self.constraint(&suffixed(name, &format!("{0}{0}", NODES[i])), dot(e, e), 1.0);
            for &(j, f) in &arms[..at] {
                self.constraint(&suffixed(name, &format!("{}{}", NODES[j], NODES[i])), dot(f, e), 0.0);
            }
        }
        let body =
            Body { name: name.into(), dimensions, mass, moments, centre, nodes, frame, origin, axes, names };
        self.bodies.push(body.clone());
        Ok(body)
    }

    /// Checks a value that should be positive, where the defaults of the parameters tell it.
    pub(crate) fn check_positive(&self, what: BodySite, value: Expr<'g>) -> Result<(), BodyError> {
        let known = symbols_of(&[value]).into_iter().filter_map(|s| Some((s, *self.defaults.get(&s.id())?)));
        match value.eval(&known.collect::<Vec<_>>()) {
            Ok(value) if !value.is_finite() => Err(BodyError::NotFinite { what, value }),
            Ok(value) if value <= 0.0 => Err(BodyError::NotPositive { what, value }),
            _ => Ok(()),
        }
    }
}

/// Checks that an inertia was not moved or turned by what is no number.
fn check_finite(name: &str, inertia: &Inertia) -> Result<(), BodyError> {
    let numbers = inertia.second().into_iter().flatten().chain(inertia.centre()).chain([inertia.mass()]);
    match numbers.into_iter().find(|x| !x.is_finite()) {
        Some(value) => Err(BodyError::NotFinite { what: BodySite::Inertia(name.to_owned()), value }),
        None => Ok(()),
    }
}

impl<'g> Frame<'g> {
    /// The frame of the axes that a body has.
    fn new(dimensions: usize, axes: [Option<[Expr<'g>; 3]>; 3], zero: Expr<'g>) -> Frame<'g> {
        if dimensions == 2 {
            let z = [zero, zero, zero.like(1.0)];
            return match [axes[0], axes[1]] {
                [None, None] => Frame::Point,
                [Some(x), None] => Frame::Full([x, [-x[1], x[0], zero], z]),
                [None, Some(y)] => Frame::Full([[y[1], -y[0], zero], y, z]),
                [Some(x), Some(y)] => Frame::Full([x, y, z]),
            };
        }
        match axes {
            [Some(x), Some(y), Some(z)] => Frame::Full([x, y, z]),
            [Some(x), Some(y), None] => Frame::Full([x, y, cross(x, y)]),
            [Some(x), None, Some(z)] => Frame::Full([x, cross(z, x), z]),
            [None, Some(y), Some(z)] => Frame::Full([cross(y, z), y, z]),
            [None, None, None] => Frame::Point,
            single => {
                let rod = single.iter().enumerate().find_map(|(i, axis)| Some((i, (*axis)?)));
                rod.map_or(Frame::Point, |(i, axis)| Frame::Rod(i, axis))
            }
        }
    }

    /// What it is, in words.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Frame::Point => "a point",
            Frame::Rod(..) => "a rod",
            Frame::Full(_) => "a solid",
        }
    }
}

impl<'g> Body<'g> {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its centre of mass is in its frame.
    #[must_use]
    pub fn centre_in_frame(&self) -> [f64; 3] {
        self.origin
    }

    /// 2 in the plane, 3 in space.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The mass.
    #[must_use]
    pub fn mass(&self) -> Expr<'g> {
        self.mass
    }

    /// The nodes: the centre of mass, then the points at distance 1 from it on those principal axes that have one.
    #[must_use]
    pub fn nodes(&self) -> Vec<Vec<Expr<'g>>> {
        let all = [Some(self.centre)].into_iter().chain(self.nodes);
        all.flatten().map(|node| node[..self.dimensions].to_vec()).collect()
    }

    /// Along which principal axes it extends, and so has a node.
    #[must_use]
    pub fn extends(&self) -> [bool; 3] {
        self.nodes.map(|node| node.is_some())
    }

    /// The principal axes in the body's own frame, as rows.
    #[must_use]
    pub fn principal_axes(&self) -> [[f64; 3]; 3] {
        self.axes
    }

    /// The second moments of mass per unit mass along the axes of the nodes.
    #[must_use]
    pub fn moments(&self) -> Vec<Expr<'g>> {
        let moments = self.moments.iter().zip(self.nodes).filter(|(_, node)| node.is_some());
        moments.map(|(&moment, _)| moment).collect()
    }
}

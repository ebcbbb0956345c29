//! A heavy symmetric top on a ball joint.
//!
//! In Euler's angles, with I₁ about the pivot across the axis and I₃ along it,
//!
//! $$L=\tfrac{I_1}2(\dot\theta^2+\dot\varphi^2\sin^2\theta)+\tfrac{I_3}2(\dot\psi+\dot\varphi\cos\theta)^2-mgl\cos\theta;$$
//!
//! here as four Cartesian points, which constraints keep rigid and at the pivot (M. Finzi, K. A. Wang and A. G. Wilson, arXiv:2010.13581).

use crate::drawing::Drawing;
use crate::entry::{Entry, Plan, Setup};
use leastaction_expr::Graph;
use leastaction_mechanics::{Model, Pose};

pub(super) const ENTRY: Entry = Entry {
    name: "gyroscope",
    about: "a spinning top on a pivot: it precesses and nods",
    size: None,
    build: |graph, _| build(graph),
};

const MASS: f64 = 0.1;
/// Second moments per unit mass along the principal axes, the third of which is that of symmetry.
const MOMENTS: [f64; 3] = [0.2413784, 0.2413784, 0.0369415];
/// From the pivot to the centre of mass.
const HEIGHT: f64 = 0.2217285;

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let m = model.parameter("m", MASS);
    let moments = MOMENTS.map(|moment| model.number(moment));
    let sound = "the top is sound";
    let top = model.body_with_moments("top", m, moments).expect(sound);
    let foot = [0.0, 0.0, -HEIGHT];
    let pivot = model.anchor([0.0, 0.0, 0.0]);
    model.ball("pivot", &top.point(foot).expect(sound), &pivot).expect(sound);
    model.gravity([0.0, 0.0, -9.81]);
    let about_pivot = top.angular_momentum_about(&pivot).expect(sound);
    let start = Pose::at([0.0, 0.0, 0.0]).holding(foot).zxz([0.0, 0.8, 0.0], [0.0, 0.0, 10.5]);
    Setup::new(model, Plan { step: 0.002, until: 2.0 })
        .starting(top.start(&start).expect(sound))
        .conserving("vertical angular momentum", about_pivot[2])
        .drawn(Drawing::new().trail("top").rod([0.0, 0.0], "top").dot("top", MASS))
}

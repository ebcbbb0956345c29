//! A heavy symmetric top on a ball joint.
//!
//! In Euler's angles, with I₁ about the pivot across the axis and I₃ along it,
//!
//! $$L=\tfrac{I_1}2(\dot\theta^2+\dot\varphi^2\sin^2\theta)+\tfrac{I_3}2(\dot\psi+\dot\varphi\cos\theta)^2-mgl\cos\theta;$$
//!
//! here as four Cartesian points, which constraints keep rigid and at the pivot (M. Finzi, K. A. Wang and A. G. Wilson, NeurIPS 2020,
//! arXiv:2010.13581).

use crate::entry::{Entry, Plan, Setup};
use crate::random::Random;
use leastaction_expr::Graph;
use leastaction_language::Drawing;
use leastaction_mechanics::{Body, Model, Pose};

pub(super) const ENTRY: Entry = Entry {
    name: "gyroscope",
    about: "a spinning top on a pivot: it precesses and nods",
    size: None,
    build: |graph, _| build(graph),
};

const MASS: f64 = 0.1;
/// Second moments per unit mass along the principal axes, the third of which is that of symmetry.
const MOMENTS: [f64; 3] = [0.2413784, 0.2413784, 0.0369415];
/// The pivot, from the centre of mass.
const FOOT: [f64; 3] = [0.0, 0.0, -0.2217285];
const SOUND: &str = "the top is sound";

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let top = top(&mut model);
    let pivot = model.anchor([0.0, 0.0, 0.0]);
    model.ball("pivot", &top.point(FOOT).expect(SOUND), &pivot).expect(SOUND);
    model.gravity([0.0, 0.0, -9.81]);
    let about_pivot = top.angular_momentum_about(&pivot).expect(SOUND);
    Setup::new(model, Plan { step: 0.002, until: 2.0 })
        .starting(place([0.0, 0.8, 0.0], [0.0, 0.0, 10.5]))
        .conserving("vertical angular momentum", about_pivot[2])
        .drawn(Drawing::new().trail("top").rod([0.0, 0.0, 0.0], "top").dot("top", MASS))
        .sampled(draw)
}

fn top<'g>(model: &mut Model<'g>) -> Body<'g> {
    let m = model.parameter("m", MASS);
    let moments = MOMENTS.map(|moment| model.number(moment));
    model.body_with_moments("top", m, moments).expect(SOUND)
}

/// The values of the nodes' coordinates and velocities at Euler's angles and their rates.
fn place(angles: [f64; 3], rates: [f64; 3]) -> Vec<(String, f64)> {
    let graph = Graph::new();
    let top = top(&mut Model::new(&graph));
    let pose = Pose::at([0.0, 0.0, 0.0]).holding(FOOT).zxz(angles, rates);
    top.start(&pose).expect(SOUND).into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn draw(random: &mut Random) -> Vec<(String, f64)> {
    let angles = [(); 3].map(|()| random.between(-1.5, 1.5));
    let (precession, nutation) = (random.between(-4.5, 4.5), random.between(-0.3, 0.3));
    let sense = if random.between(-1.0, 1.0) < 0.0 { -1.0 } else { 1.0 };
    place(angles, [precession, nutation, sense * 1.5 * (7.0 + random.normal())])
}

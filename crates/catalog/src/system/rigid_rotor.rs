//! A body that nothing acts on.
//!
//! Its angular velocity in its own axes follows Euler's equations, I₁ω̇₁ = (I₂ − I₃)ω₂ω₃ and so on, whose solutions are C. G. J.
//! Jacobi's elliptic functions (masses and starts: M. Finzi, K. A. Wang and A. G. Wilson, NeurIPS 2020, arXiv:2010.13581).

use crate::entry::{Entry, Plan, Setup};
use crate::random::Random;
use leastaction_expr::Graph;
use leastaction_language::Drawing;
use leastaction_mechanics::{Body, Model, Pose};

pub(super) const ENTRY: Entry = Entry {
    name: "rigid-rotor",
    about: "a free rigid body without symmetry, tumbling",
    size: None,
    build: |graph, _| build(graph),
};

const MASS: f64 = 0.1;
/// Second moments per unit mass along the principal axes.
const MOMENTS: [f64; 3] = [0.00298513, 0.09906337, 0.02110851];
const SOUND: &str = "the rotor is sound";

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let rotor = rotor(&mut model);
    model.point("tip", [0, 1, 2].map(|d| rotor.nodes()[1][d]));
    let (momentum, angular_momentum) = (model.total_momentum(), model.total_angular_momentum());
    let mut setup = Setup::new(model, Plan { step: 0.005, until: 5.0 })
        .starting(place([0.0, 0.0, 0.0], [0.1, 0.05, -0.1], [0.3, 0.8, -0.5], [1.5, 0.4, 2.0]))
        .drawn(Drawing::new().trail("tip").rod("rotor", "tip").dot("rotor", MASS))
        .sampled(draw);
    for (axis, (p, l)) in ["x", "y", "z"].into_iter().zip(momentum.into_iter().zip(angular_momentum)) {
        setup = setup.conserving(&format!("momentum {axis}"), p);
        setup = setup.conserving(&format!("angular momentum {axis}"), l);
    }
    setup
}

fn rotor<'g>(model: &mut Model<'g>) -> Body<'g> {
    let m = model.parameter("m", MASS);
    let moments = MOMENTS.map(|moment| model.number(moment));
    model.body_with_moments("rotor", m, moments).expect(SOUND)
}

/// The values of the nodes' coordinates and velocities at a centre of mass and Euler's angles, and their rates.
fn place(at: [f64; 3], velocity: [f64; 3], angles: [f64; 3], rates: [f64; 3]) -> Vec<(String, f64)> {
    let graph = Graph::new();
    let rotor = rotor(&mut Model::new(&graph));
    let pose = Pose::at(at).moving(velocity).zxz(angles, rates);
    rotor.start(&pose).expect(SOUND).into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn draw(random: &mut Random) -> Vec<(String, f64)> {
    let [at, velocity, angles, rates] =
        [(); 4].map(|()| random.normals().map(|x| (2.0 * x).clamp(-3.0, 3.0)));
    place(at.map(|x| 0.1 * x), velocity.map(|v| 0.1 * v), angles, rates)
}

//! A body that nothing acts on.
//!
//! Its angular velocity in its own axes follows Euler's equations, I₁ω̇₁ = (I₂ − I₃)ω₂ω₃ and so on, whose solutions are C. G. J.
//! Jacobi's elliptic functions.

use crate::drawing::Drawing;
use crate::entry::{Entry, Plan, Setup};
use leastaction_expr::Graph;
use leastaction_mechanics::{Model, Pose};

pub(super) const ENTRY: Entry = Entry {
    name: "rigid-rotor",
    about: "a free rigid body without symmetry, tumbling",
    size: None,
    build: |graph, _| build(graph),
};

const MASS: f64 = 0.1;
/// Second moments per unit mass along the principal axes.
const MOMENTS: [f64; 3] = [0.00298513, 0.09906337, 0.02110851];

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let m = model.parameter("m", MASS);
    let moments = MOMENTS.map(|moment| model.number(moment));
    let sound = "the rotor is sound";
    let rotor = model.body_with_moments("rotor", m, moments).expect(sound);
    model.point("tip", [0, 1, 2].map(|d| rotor.nodes()[1][d]));
    let start = Pose::at([0.0, 0.0, 0.0]).moving([0.1, 0.05, -0.1]).zxz([0.3, 0.8, -0.5], [1.5, 0.4, 2.0]);
    let (momentum, angular_momentum) = (model.total_momentum(), model.total_angular_momentum());
    let mut setup = Setup::new(model, Plan { step: 0.005, until: 5.0 })
        .starting(rotor.start(&start).expect(sound))
        .drawn(Drawing::new().trail("tip").rod("rotor", "tip").dot("rotor", MASS));
    for (axis, (p, l)) in ["x", "y", "z"].into_iter().zip(momentum.into_iter().zip(angular_momentum)) {
        setup = setup.conserving(&format!("momentum {axis}"), p);
        setup = setup.conserving(&format!("angular momentum {axis}"), l);
    }
    setup
}

//! A wing nut that turns over and over: two pairs of masses at ±r₁ and ±r₂ on a rigid cross, spinning about its middle axis.
//!
//! $$T=m_1\dot r_1^2+m_2\dot r_2^2,\qquad|r_1|=|r_2|=R,\quad r_1\cdot r_2=0$$
//!
//! About r₂, r₁×r₂ and r₁ the moments of inertia are 2R²(m₁, m₁+m₂, m₂). The forces that hold the cross together,
//! m₁r̈₁ = λ₁r₁ + ½γr₂ and m₂r̈₂ = λ₂r₂ + ½γr₁, are
//!
//! $$\lambda_i=-\frac{m_i\dot r_i^2}{R^2},\qquad\gamma=-\frac{4m_1m_2\,\dot r_1\cdot\dot r_2}{(m_1+m_2)R^2}$$

use crate::entry::{Entry, Plan, Setup};
use leastaction_expr::{Expr, Graph};
use leastaction_language::Drawing;
use leastaction_mechanics::Model;

pub(super) const ENTRY: Entry = Entry {
    name: "dzhanibekov",
    about: "a cross that spins about its middle axis and flips over and over",
    size: None,
    build: |graph, _| build(graph),
};

fn build(graph: &Graph) -> Setup<'_> {
    const SPIN: [f64; 3] = [0.0, 0.01, 1.0];
    let mut model = Model::new(graph);
    let [m1, m2, radius] = model.parameters([("m1", 0.1), ("m2", 1.0), ("R", 1.0)]);
    let arms = ["1", "2"].map(|i| ["x", "y", "z"].map(|axis| model.coordinate(&format!("{axis}{i}"))));
    let mut drawing = Drawing::new();
    for ((arm, mass), (near, far)) in
        arms.into_iter().zip([m1, m2]).zip([("arm1", "arm1 across"), ("arm2", "arm2 across")])
    {
        // One place stands for the pair of masses: the other one is its mirror image.
        model.particle(near, 2.0 * mass, arm);
        model.point(far, arm.map(|x| -x));
        model.constraint(near, dot(arm, arm), radius * radius);
        drawing = drawing.rod(near, far);
    }
    model.constraint("right angle", dot(arms[0], arms[1]), 0.0);
    for (name, mass) in [("arm1", 0.1), ("arm1 across", 0.1), ("arm2", 1.0), ("arm2 across", 1.0)] {
        drawing = drawing.dot(name, mass);
    }
    let rates = arms.map(|arm| model.velocities(arm));
    let masses = [m1, m2];
    let spin = |k: usize| {
        let [a, b] = [(k + 1) % 3, (k + 2) % 3];
        let share = |i: usize| 2.0 * masses[i] * (arms[i][a] * rates[i][b] - arms[i][b] * rates[i][a]);
        share(0) + share(1)
    };
    let spins = [0, 1, 2].map(spin);
    let mut setup = Setup::new(model, Plan { step: 0.01, until: 50.0 });
    for (axis, spin) in ["x", "y", "z"].iter().zip(spins) {
        setup = setup.conserving(&format!("angular momentum about {axis}"), spin);
    }
    // r₁ = ẑ and r₂ = x̂ move with ω × r.
    let [wx, wy, wz] = SPIN;
    setup
        .starting([("z1", 1.0), ("x2", 1.0)])
        .starting([("x1'", wy), ("y1'", -wx), ("y2'", wz), ("z2'", -wy)])
        .drawn(drawing)
}

fn dot<'g>(a: [Expr<'g>; 3], b: [Expr<'g>; 3]) -> Expr<'g> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

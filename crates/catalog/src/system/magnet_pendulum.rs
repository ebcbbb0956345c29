//! A pendulum in space whose bob is a magnet, above two magnets that repel it.
//!
//! $$V=mgz+\sum_i\frac{r_i^2\,\mu\cdot\mu_i-3(\mu\cdot r_i)(\mu_i\cdot r_i)}{4\pi r_i^5},\qquad|x|=l,$$
//!
//! with the bob's dipole μ = q x/l along the rod, dipoles μᵢ = q ẑ below at xᵢ = (±0.1, 0, −1.05), rᵢ = xᵢ − x, and μ₀ = 1. A published version has the other sign before the
//! first term, a slip (M. Finzi, K. A. Wang and A. G. Wilson, NeurIPS 2020, arXiv:2010.13581: the rest of the system is theirs).

use crate::entry::{Entry, Plan, Setup};
use crate::random::Random;
use crate::spherical::direction;
use leastaction_expr::{Expr, Graph};
use leastaction_language::Drawing;
use leastaction_mechanics::Model;
use std::f64::consts::{FRAC_PI_2, PI};

pub(super) const ENTRY: Entry = Entry {
    name: "magnet-pendulum",
    about: "a pendulum in space with a magnet for a bob, above two that repel it",
    size: None,
    build: |graph, _| build(graph),
};

const MAGNETS: [(&str, [f64; 3]); 2] =
    [("right magnet", [0.1, 0.0, -1.05]), ("left magnet", [-0.1, 0.0, -1.05])];

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let [m, l, g, q] = model.parameters([("m", 3.0), ("l", 1.0), ("g", 9.81), ("q", 0.3)]);
    let bob = model.coordinates(["x", "y", "z"]);
    model.particle("bob", m, bob);
    let zero = graph.number(0.0);
    model.gravity([zero, zero, -g]);
    let moment = bob.map(|x| q * x / l);
    let mut drawing = Drawing::new().trail("bob");
    for (name, at) in MAGNETS {
        let r = [0, 1, 2].map(|k| at[k] - bob[k]);
        let (across, along) = (q * moment[2], dot(moment, r) * q * r[2]);
        model.potential(name, (across - 3.0 * along / dot(r, r)) / (4.0 * PI * dot(r, r).pow(1.5)));
        drawing = drawing.dot(at, 1.0);
    }
    model.constraint("rod", dot(bob, bob), l * l);
    let mut setup = Setup::new(model, Plan { step: 0.005, until: 5.0 })
        .drawn(drawing.rod([0.0, 0.0, 0.0], "bob").dot("bob", 3.0))
        .sampled(draw);
    setup.start = place([PI + 0.3, FRAC_PI_2 + 0.2], [0.0, 0.4]);
    setup
}

fn dot<'g>(a: [Expr<'g>; 3], b: [Expr<'g>; 3]) -> Expr<'g> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn place(angles: [f64; 2], rates: [f64; 2]) -> Vec<(String, f64)> {
    let [position, velocity] = direction(angles, rates);
    let names = ["x", "y", "z", "x'", "y'", "z'"].map(str::to_owned);
    names.into_iter().zip(position.into_iter().chain(velocity)).collect()
}

fn draw(random: &mut Random) -> Vec<(String, f64)> {
    let [phi, phi_rate, theta, theta_rate] = random.normals();
    place([PI + 0.3 * phi, FRAC_PI_2 + 0.2 * theta], [0.05 * phi_rate, 0.4 * theta_rate])
}

//! The Sun and the outer planets as point masses, in astronomical units, days and solar masses.
//!
//! $$T=\sum_i\tfrac12m_i|\dot x_i|^2,\qquad V=-\sum_{i<j}\frac{G\,m_im_j}{|x_i-x_j|}$$
//!
//! Positions and velocities are those of 5 September 1994, with the Sun at rest at the origin and counted with the inner planets' mass (E. Hairer,
//! C. Lubich and G. Wanner, *Geometric Numerical Integration*, 2006, section I.2.4).

use crate::entry::{Entry, Plan, Setup};
use leastaction_expr::{Expr, Graph};
use leastaction_language::Drawing;
use leastaction_mechanics::Model;

pub(super) const ENTRY: Entry = Entry {
    name: "outer-solar-system",
    about: "the Sun with Jupiter, Saturn, Uranus, Neptune and Pluto, for 200 000 days",
    size: None,
    build: |graph, _| build(graph),
};

const GRAVITY: f64 = 2.95912208286e-4;

/// Name, mass, position, velocity.
type Planet = (&'static str, f64, [f64; 3], [f64; 3]);

#[rustfmt::skip]
const PLANETS: [Planet; 6] = [
    ("sun",     1.00000597682,     [0.0, 0.0, 0.0],                         [0.0, 0.0, 0.0]),
    ("jupiter", 0.000954786104043, [-3.5023653, -3.8169847, -1.5507963],    [0.00565429, -0.0041249, -0.00190589]),
    ("saturn",  0.000285583733151, [9.0755314, -3.0458353, -1.6483708],     [0.00168318, 0.00483525, 0.00192462]),
    ("uranus",  4.37273164546e-5,  [8.310142, -16.2901086, -7.2521278],     [0.00354178, 0.00137102, 0.00055029]),
    ("neptune", 5.17759138449e-5,  [11.4707666, -25.7294829, -10.8169456],  [0.0028893, 0.00114527, 0.00039677]),
    ("pluto",   1.0 / 1.3e8,       [-15.5387357, -25.2225594, -3.1902382],  [0.00276725, -0.00170702, -0.00136504]),
];

struct Body<'g> {
    mass: Expr<'g>,
    position: [Expr<'g>; 3],
    velocity: [Expr<'g>; 3],
}

impl<'g> Body<'g> {
    fn angular_momentum(&self, axis: usize) -> Expr<'g> {
        let [a, b] = [(axis + 1) % 3, (axis + 2) % 3];
        self.mass * (self.position[a] * self.velocity[b] - self.position[b] * self.velocity[a])
    }
}

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let constant = model.parameter("G", GRAVITY);
    let bodies = PLANETS.map(|(name, mass, ..)| {
        let mass = model.parameter(&format!("m_{name}"), mass);
        let position = ["x", "y", "z"].map(|axis| model.coordinate(&format!("{axis}_{name}")));
        model.particle(name, mass, position);
        Body { mass, position, velocity: model.velocities(position) }
    });
    for (i, a) in bodies.iter().enumerate() {
        for (j, b) in bodies.iter().enumerate().skip(i + 1) {
            let square = |k: usize| (a.position[k] - b.position[k]).pow(2.0);
            let distance = (square(0) + square(1) + square(2)).sqrt();
            let name = format!("{}–{}", PLANETS[i].0, PLANETS[j].0);
            model.potential(&name, -(constant * a.mass * b.mass / distance));
        }
    }
    let mut setup = Setup::new(model, Plan { step: 10.0, until: 200_000.0 });
    for (k, axis) in ["x", "y", "z"].iter().enumerate() {
        let momentum = graph.sum(bodies.iter().map(|b| b.mass * b.velocity[k]));
        setup = setup.conserving(&format!("momentum along {axis}"), momentum);
    }
    for (k, axis) in ["x", "y", "z"].iter().enumerate() {
        let spin = graph.sum(bodies.iter().map(|b| b.angular_momentum(k)));
        setup = setup.conserving(&format!("angular momentum about {axis}"), spin);
    }
    for (name, _, position, velocity) in PLANETS {
        for (k, axis) in ["x", "y", "z"].iter().enumerate() {
            setup.start.push((format!("{axis}_{name}"), position[k]));
            setup.start.push((format!("{axis}_{name}'"), velocity[k]));
        }
    }
    let drawing = PLANETS.iter().fold(Drawing::new(), |drawing, (name, ..)| drawing.trail(*name));
    setup.drawn(PLANETS.iter().fold(drawing, |drawing, (name, mass, ..)| drawing.dot(*name, *mass)))
}

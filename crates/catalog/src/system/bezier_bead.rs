//! A bead that slides along a Bézier curve between soft ends, without gravity.
//!
//! $$x(s)=\sum_{i=0}^{4}\binom4i s^i(1-s)^{4-i}\,c_i$$

use crate::entry::{Entry, Plan, Setup};
use crate::wall::wall;
use leastaction_expr::{Expr, Graph};
use leastaction_language::Drawing;
use leastaction_mechanics::Model;

pub(super) const ENTRY: Entry = Entry {
    name: "bezier-bead",
    about: "a bead that slides along a Bézier curve at constant speed",
    size: None,
    build: |graph, _| build(graph),
};

const CONTROL: [[f64; 2]; 5] = [[-1.0, -1.0], [-2.0, 1.0], [0.0, 1.0], [1.0, -1.0], [2.0, 1.0]];
const BINOMIAL: [f64; 5] = [1.0, 4.0, 6.0, 4.0, 1.0];

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let [m, height, width] = model.parameters([("m", 1.0), ("height", 5.0), ("width", 0.05)]);
    let s = model.coordinate("s"); // `t` is time
    model.particle("bead", m, [0, 1].map(|axis| curve(s, axis)));
    model.potential("ends", 1.0 - wall(s, 0.0, height, width) + wall(s, 1.0, height, width));
    let points = (0..=60).map(|i| [0, 1].map(|axis| point(f64::from(i) / 60.0, axis)));
    Setup::new(model, Plan { step: 0.001, until: 20.0 })
        .starting([("s", 0.5), ("s'", 0.25)])
        .drawn(Drawing::new().line(points).dot("bead", 1.0))
}

fn curve(s: Expr<'_>, axis: usize) -> Expr<'_> {
    let terms = CONTROL.iter().zip(BINOMIAL).enumerate();
    let term = |(i, (c, b)): (usize, (&[f64; 2], f64))| {
        (b * c[axis]) * s.pow(i as f64) * (1.0 - s).pow(4.0 - i as f64)
    };
    s.graph().sum(terms.map(term))
}

fn point(s: f64, axis: usize) -> f64 {
    let terms = CONTROL.iter().zip(BINOMIAL).zip(0..);
    terms.map(|((c, b), i)| b * c[axis] * s.powi(i) * (1.0 - s).powi(4 - i)).sum()
}

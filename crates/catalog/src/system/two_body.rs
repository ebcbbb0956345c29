//! Two masses that attract each other, in polar coordinates about their centre of mass.

use crate::entry::{Entry, Plan, Setup};
use leastaction_expr::Graph;
use leastaction_language::Drawing;
use leastaction_mechanics::Model;

pub(super) const ENTRY: Entry = Entry {
    name: "two-body",
    about: "two masses on Kepler ellipses about their centre of mass",
    size: None,
    build: |graph, _| build(graph),
};

fn build(graph: &Graph) -> Setup<'_> {
    let mut model = Model::new(graph);
    let [m1, m2] = model.parameters([("m1", 5.0), ("m2", 0.5)]);
    let [r, th] = model.coordinates(["r", "th"]);
    let total = m1 + m2;
    let [near, far] = [-(r * m2 / total), r * m1 / total];
    model.particle("sun", m1, [near * th.cos(), near * th.sin()]);
    model.particle("planet", m2, [far * th.cos(), far * th.sin()]);
    model.potential("gravity", -(m1 * m2 / r));
    Setup::new(model, Plan { step: 0.001, until: 20.0 })
        .starting([("r", 2.0), ("th'", 0.5)])
        .drawn(Drawing::new().trail("sun").trail("planet").dot("sun", 5.0).dot("planet", 0.5))
}

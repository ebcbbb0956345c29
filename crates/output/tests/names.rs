//! What is recorded of a system, by name.

use leastaction_expr::Graph;
use leastaction_mechanics::Model;
use leastaction_output::Record;

#[test]
fn a_name_is_recorded_if_it_is_one_of_a_column() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y, u] = model.coordinates(["x", "y", "u"]);
    let dust = model.coordinate_block("dust", 2, &["x", "y"]).unwrap();
    model.particle("bob", 1.0, [x, y]);
    model.particle("cart", 2.0, [u, graph.number(0.0)]);
    model.lumped("dust", dust, &[1.0, 2.0], None);
    model.constraint("rod", x * x + y * y, 1.0);
    model.hold("clamp", [(dust.symbol(1, 0), 0.5), (u, 1.0)]);
    let system = model.system().unwrap();
    let blank = Record::blank(&system, std::iter::empty());
    let columns: Vec<String> = blank.columns().map(|(_, name, _)| name).collect();
    assert!(
        columns.contains(&"dust[1].x".to_owned()) && columns.contains(&"bob.y".to_owned()),
        "{columns:?}"
    );
    for name in columns.iter().map(String::as_str).chain(["violation", "violation'"]) {
        assert!(Record::has(&system, name), "{name}");
    }
    for name in ["jacobi", "bob", "bob.z", "dust[2].x", "lambda_", "reaction_rod", "p_u", "x''", ""] {
        assert!(!columns.contains(&name.to_owned()) && !Record::has(&system, name), "{name}");
    }
}

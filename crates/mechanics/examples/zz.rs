use leastaction_expr::Graph;
use leastaction_mechanics::{Model, Quantity};
fn angles(graph: &Graph, count: usize) -> Model<'_> {
    let mut model = Model::new(graph);
    let (mut x, mut y) = (model.number(0.0), model.number(0.0));
    for i in 0..count {
        let angle = model.coordinate(&format!("th{i}"));
        x += angle.sin();
        y -= angle.cos();
        model.particle(&format!("bob{i}"), 1.0, [x, y]);
    }
    model.gravity([0.0, -9.81]);
    model
}
fn main() {
    for n in [2, 5, 10, 20] {
        let g = Graph::new();
        let s = angles(&g, n).system().unwrap();
        for q in [Quantity::Accelerations, Quantity::Field] {
            let k = s.kernel(q).unwrap();
            let mut counts = std::collections::BTreeMap::new();
            for i in k.source().body() {
                *counts
                    .entry(format!("{:?}", i).split(['{', '(', ' ', ',']).take(4).collect::<String>())
                    .or_insert(0) += 1;
            }
            println!(
                "{n} {q:?} source {} native {} code {}",
                k.source().body().len(),
                k.program().body().len(),
                k.code_len()
            );
            if n == 2 {
                println!("{:?}", counts);
            }
        }
    }
}

use leastaction_expr::Graph;
use leastaction_integrate::*;
use leastaction_mechanics::Model;
use std::time::Instant;
fn main() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [a, b] = model.coordinates(["a", "b"]);
    let elbow = [a.sin(), -a.cos()];
    model.particle("elbow", 1.0, elbow);
    model.particle("hand", 1.5, [elbow[0] + b.sin(), elbow[1] - b.cos()]);
    model.gravity([0.0, -9.81]);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("a", 0.9), ("b", -0.4), ("a'", 0.3), ("b'", 0.8)]).unwrap();
    let y = start.block();
    let mut out = vec![0.0; 4];
    let now = Instant::now();
    for _ in 0..1_000_000 { dynamics.field(&[0.0], std::hint::black_box(&y), &mut out).unwrap(); }
    println!("field {:.1} ns", now.elapsed().as_nanos() as f64 / 1e6);
    let mut y2 = y.clone();
    let now = Instant::now();
    for _ in 0..1_000_000 { for i in 0..4 { y2[i] = y2[i] + 1e-3; if y2[i] > 3.0 { y2[i] = -3.0; } } dynamics.field(&[0.0], std::hint::black_box(&y2), &mut out).unwrap(); }
    println!("field, moving {:.1} ns", now.elapsed().as_nanos() as f64 / 1e6);
    for name in ["implicit-midpoint", "gauss4", "gauss6", "gauss8", "gauss12", "stormer-verlet", "lobatto-pair4"] {
        let run = Integrator::named(name, 0.01).unwrap().ends_only();
        let now = Instant::now();
        let end = run.run(&mut dynamics, &start, 1000.0).unwrap();
        let w = end.work();
        let per = now.elapsed().as_nanos() as f64 / w.steps as f64;
        println!("{name:20} {per:.0} ns/step, {:.2} evals, {:.2} iterations, {:.1} ns/eval {:e}", w.evaluations as f64 / w.steps as f64, w.iterations as f64 / w.steps as f64, per * w.steps as f64 / w.evaluations as f64, 0.0);
    }
}

use leastaction_expr::Graph;
use leastaction_integrate::*;
use leastaction_mechanics::Model;
use std::ops::ControlFlow;
fn main() {
    let e = 0.2f64;
    let args: Vec<String> = std::env::args().collect();
    let per: f64 = args[2].parse().unwrap();
    let steps: f64 = args[3].parse().unwrap();
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("planet", 1.0, [x, y]);
    model.potential("gravity", -1.0 / (x * x + y * y).sqrt());
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("x", 1.0 - e), ("y'", ((1.0 + e) / (1.0 - e)).sqrt())]).unwrap();
    let h = std::f64::consts::TAU / per;
    let run = Integrator::named(&args[1], h).unwrap().every((steps / 20.0) as u64);
    let now = std::time::Instant::now();
    let end = run.observe(&mut dynamics, &start, h * steps, |s| {
        let mut en = [0.0];
        // the energy of the state with its carry, to first order
        s.dynamics.energy(&[s.t], s.block.values(), &mut en)?;
        let y = s.block.values();
        println!("{:9} {:+.2e} {:+.2e}", s.step, (en[0] + 0.5) / 0.5, (y[0] * y[3] - y[1] * y[2]) / (1.0 - e * e).sqrt() - 1.0);
        Ok(ControlFlow::Continue(()))
    }).unwrap();
    println!("{:?} {:.2} iterations {:.0} ns/step", end.work, end.work.iterations as f64 / end.work.steps as f64, now.elapsed().as_nanos() as f64 / steps);
}

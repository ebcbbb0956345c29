//! What does a gradient cost? The time of a run with its gradient, as a multiple of the run alone, for one parameter and for a thousand.

use leastaction_expr::Graph;
use leastaction_integrate::{Integrator, Seed, Tape, Tolerance};
use leastaction_mechanics::{Dynamics, Model, State};
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: usize = 9;

/// A system with its start, a method, when the run ends, and by which parameters it is differentiated; by all if none are named.
type Case = (&'static str, (Dynamics, State), Integrator, f64, &'static [usize]);

/// The shortest of some rounds.
fn shortest(mut work: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..ROUNDS).map(time).min().unwrap_or_default()
}

/// A double pendulum.
fn pendulum() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, l, g] = model.parameters([("m", 1.0), ("l", 1.0), ("g", 9.81)]);
    let [a, b] = model.coordinates(["a", "b"]);
    let elbow = [l * a.sin(), -l * a.cos()];
    model.particle("elbow", m, elbow);
    model.particle("hand", 1.5, [elbow[0] + b.sin(), elbow[1] - b.cos()]);
    model.gravity([graph.number(0.0), -g]);
    begin(&model, &[("a".to_owned(), 0.9), ("b".to_owned(), -0.4)])
}

/// A chain of so many masses on the line, each with a spring of its own stiffness and hardness to the next.
fn chain(count: usize) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let names = |letter: &str| (0..count).map(|i| (format!("{letter}{i}"), 1.0)).collect::<Vec<_>>();
    let (k, c) = (model.parameter_list(&names("k")), model.parameter_list(&names("c")));
    let q = model.coordinate_list(&(0..count).map(|i| format!("x{i}")).collect::<Vec<_>>());
    let mut before = graph.number(0.0);
    for i in 0..count {
        model.particle(&format!("mass{i}"), 1.0, [q[i]]);
        let d = q[i] - before;
        model.potential(&format!("spring{i}"), k[i] * d * d / 2.0 + c[i] * d.pow(4.0) / 4.0);
        before = q[i];
    }
    begin(&model, &[(format!("x{}", count - 1), 0.5)])
}

fn begin(model: &Model<'_>, start: &[(String, f64)]) -> (Dynamics, State) {
    let mut dynamics = model.system().expect("a model").dynamics().expect("parameters");
    let start: Vec<(&str, f64)> = start.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let state = dynamics.start(&start).expect("a start");
    (dynamics, state)
}

fn main() {
    println!(
        "| system | method | by | run | kept to go back | with its gradient | ratio | with eight gradients, ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let pace = |name: &str, step: f64| Integrator::named(name, step).expect("a method").ends_only();
    let adaptive = Integrator::named("dop853", Tolerance::relative(1e-9)).expect("a method").ends_only();
    let cases: [Case; 6] = [
        ("double pendulum", pendulum(), pace("rk4", 1e-3), 50.0, &[1]),
        ("double pendulum", pendulum(), pace("dop853", 1e-2), 200.0, &[1]),
        ("double pendulum", pendulum(), adaptive, 200.0, &[1]),
        ("500 masses", chain(500), pace("verlet", 1e-2), 50.0, &[0]),
        ("500 masses", chain(500), pace("verlet", 1e-2), 50.0, &[]),
        ("500 masses", chain(500), pace("rk4", 1e-2), 20.0, &[]),
    ];
    for (system, (dynamics, start), integrator, end, by) in cases {
        let all: Vec<usize> = (0..dynamics.parameters().len()).collect();
        let by = if by.is_empty() { &all } else { by };
        let seed = Seed::new().end(&vec![1.0; start.block().len()]);
        let seeds = vec![seed.clone(); 8];
        let gradient = || {
            let tape = Tape::record_with(&integrator, &dynamics, &start, end, by, 1 << 25);
            let gradient = tape.as_ref().map(|tape| tape.gradient(&seed));
            black_box(gradient.expect("a run").expect("a gradient"));
        };
        gradient(); // compiles
        let mut own = dynamics.clone();
        let alone = shortest(|| {
            black_box(integrator.run(&mut own, &start, end).expect("a run"));
        });
        let kept = shortest(|| {
            black_box(Tape::record_with(&integrator, &dynamics, &start, end, by, 1 << 25).expect("a run"));
        });
        let both = shortest(gradient);
        let eight = shortest(|| {
            let tape = Tape::record_with(&integrator, &dynamics, &start, end, by, 1 << 25).expect("a run");
            black_box(tape.gradients(&seeds).expect("gradients"));
        });
        let ratio = |time: Duration| time.as_secs_f64() / alone.as_secs_f64();
        println!(
            "| {system} | {} | {} | {alone:.1?} | {kept:.1?} | {both:.1?} | {:.2} | {:.2} |",
            integrator.card().name,
            by.len(),
            ratio(both),
            ratio(eight)
        );
    }
}

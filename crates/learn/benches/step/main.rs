//! An optimizer step of a constrained Hamiltonian network, beside the products of matrices that it cannot do without.
//!
//! `cargo bench -p leastaction-learn --bench step [-- THREADS]`: the 3-pendulum, a batch of 200 chunks, four steps of the 3/8 rule, three layers of 256 units, single precision.

use leastaction_catalog::Entry;
use leastaction_expr::Graph;
use leastaction_learn::architecture::{Structure, chnn};
use leastaction_learn::{Architecture, Chunks, Loss, Objective, Predictor, step};
use leastaction_network::{Activation, Initial};
use std::time::Instant;

mod products;

const HIDDEN: usize = products::HIDDEN;
const BATCH: usize = 200;

fn main() {
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let all = if asked.is_empty() { vec![1, 2] } else { asked };
    println!("| threads | a step | its products alone | step / products |\n|---|---|---|---|");
    for threads in all {
        let mut step = optimizer_step(threads);
        let mut ratios = Vec::new();
        let mut best = [f64::INFINITY; 2];
        for _ in 0..9 {
            let times = [timed(&mut step), timed(&mut || products::of_a_step(threads))];
            ratios.push(times[0] / times[1]);
            best = [best[0].min(times[0]), best[1].min(times[1])];
        }
        ratios.sort_by(f64::total_cmp);
        let flop =
            6.0 * 2.0 * (7 * HIDDEN + 2 * HIDDEN * HIDDEN) as f64 * (products::EVALUATIONS * BATCH) as f64;
        println!(
            "| {threads} | {:.1} ms | {:.1} ms ({:.0} GFLOP/s) | {:.2} (median of turns {:.2}) |",
            1e3 * best[0],
            1e3 * best[1],
            flop / best[1] / 1e9,
            best[0] / best[1],
            ratios[ratios.len() / 2]
        );
    }
}

/// Seconds of the best of some runs.
fn timed(run: &mut dyn FnMut()) -> f64 {
    let each = |_| {
        let begun = Instant::now();
        run();
        begun.elapsed().as_secs_f64()
    };
    (0..5).map(each).fold(f64::INFINITY, f64::min)
}

fn optimizer_step(threads: usize) -> impl FnMut() {
    let graph = Graph::new();
    let entry = Entry::named("n-pendulum").expect("it is in the catalog");
    let setup = entry.setup(&graph);
    let mut dynamics = setup.model.system().expect("it is sound").dynamics().expect("it has defaults");
    let structure = Structure::of(&setup.model).expect("it is Cartesian");
    let chnn = chnn(structure, &[HIDDEN; 3], Activation::Tanh).expect("layers have units");
    let begun = Instant::now();
    let predictor = Predictor::new(&chnn, step::three_eighths, 1).expect("it compiles");
    eprintln!("compiled in {:.0} ms", 1e3 * begun.elapsed().as_secs_f64());
    let mut states = Vec::new();
    for seed in 0..BATCH as u64 {
        let start = entry.sample(None, &mut dynamics, seed).expect("there is one");
        let y = start.block();
        let mut velocities = [0.0; 6];
        dynamics.velocities(&[0.0], &y, &mut velocities).expect("masses are positive");
        (0..5).for_each(|_| states.extend(y[..6].iter().chain(&velocities)));
    }
    let mut parameters = chnn.layout().drawn(Initial::Orthogonal, 1);
    let mut optimizer = leastaction_learn::train::AdamW::new(
        parameters.len(),
        leastaction_learn::train::AdamWOptions::default(),
    );
    let mut objective = Objective::<f32>::new(&predictor, Loss::Absolute, 0.03, threads);
    let mut gradient = vec![0.0; parameters.len()];
    move || {
        let batch = Chunks { states: &states, samples: 5, dimension: 12 };
        let loss = objective.loss_and_gradient(&parameters, batch, &mut gradient);
        assert!(loss.is_finite(), "{loss}");
        optimizer.step(1e-6, &gradient, &mut parameters);
    }
}

//! Do a cloth of 100 × 100 cells and a jelly cube of 20³ move in real time? Seconds of the clock for each second of the motion of
//! systems of the catalog by `verlet`, the best of some runs: below 1 is faster than real time.
//!
//! Numbers are the system to run (1 the cloth, 2 the cube) and a step in place of its own.

use leastaction_expr::Graph;
use leastaction_simulate::{Overrides, Source};
use std::time::Instant;

/// A system of the catalog, cells along an edge, its step, and how long it moves.
const BODIES: [(&str, f64, f64, f64); 2] =
    [("hanging-cloth", 100.0, 2.5e-4, 0.5), ("jelly-cube", 20.0, 2e-3, 1.0)];
const RUNS: usize = 4;

fn main() {
    let numbers: Vec<f64> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    println!("| body | degrees of freedom | step | clock, s/s | energy drift |\n|---|---|---|---|---|");
    for (number, (system, cells, step, until)) in (1..).zip(BODIES) {
        if numbers.first().is_some_and(|&only| only != f64::from(number)) {
            continue;
        }
        let step = numbers.get(1).copied().unwrap_or(step);
        let overrides = Overrides {
            parameters: vec![("n".to_owned(), cells)],
            method: Some("verlet".to_owned()),
            step: Some(step),
            until: Some(until),
            samples: Some(1),
            ..Overrides::default()
        };
        let source = Source::catalog(system, None).expect("it is in the catalog");
        let simulation = source.simulation(&Graph::new(), &overrides).expect("it compiles");
        let (mut best, mut drift) = (f64::MAX, 0.0);
        for _ in 0..RUNS {
            let begun = Instant::now();
            let run = simulation.run().expect("it runs");
            best = best.min(begun.elapsed().as_secs_f64());
            let mut dynamics = simulation.dynamics.clone();
            drift = run.trajectory.energy_drift(&mut dynamics).expect("it has an energy");
        }
        let degrees = simulation.dynamics.system().degrees();
        println!("| {system} | {degrees} | {step} | {:.2} | {drift:.1e} |", best / until);
    }
}

//! The outer planets for nearly three thousand years.
#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use common::begin;
use leastaction_expr::Graph;
use leastaction_integrate::{Integrator, Tolerance};

/// Adaptive methods of high order keep the energy to a few roundings.
#[test]
fn outer_planets_keep_their_energy() {
    let graph = Graph::new();
    let (_, mut dynamics, start) = begin(&graph, "outer-solar-system");
    let run = Integrator::named("taylor", Tolerance::relative(1e-16)).unwrap().every(20);
    let clock = std::time::Instant::now();
    let orbits = run.run(&mut dynamics, &start, 1e6).unwrap();
    let drift = orbits.energy_drift(&mut dynamics).unwrap();
    println!("taylor: {drift:.1e} after {} steps, {:?}", orbits.work().steps, clock.elapsed());
    assert!(drift <= 5e-15, "{drift:e}");
}

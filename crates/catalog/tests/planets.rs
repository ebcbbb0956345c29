//! The outer planets for nearly three thousand years, by series.

use crate::common::begin;
use leastaction_expr::Graph;
use leastaction_integrate::{Integrator, Pace, Tolerance};

/// What is left of the energy error is rounding of the field: a random walk, whose length shrinks as the root of the step. Over a
/// million days it was measured as 2.3e−15 with steps of 50 days, and 5e−15 with steps that a tolerance of 1e−16 allows, of 250 days.
#[test]
fn outer_planets_keep_their_energy() {
    let paces = [(Pace::Step(50.0), 5e-15), (Pace::Tolerance(Tolerance::relative(1e-16)), 1.5e-14)];
    for (pace, allowed) in paces {
        let graph = Graph::new();
        let (_, mut dynamics, start) = begin(&graph, "outer-solar-system");
        let run = Integrator::named("taylor", pace.clone()).unwrap().every(20);
        let orbits = run.run(&mut dynamics, &start, 1e6).unwrap();
        let drift = orbits.energy_drift(&mut dynamics).unwrap();
        println!("taylor with {pace}: {drift:.1e} after {} steps", orbits.work().steps);
        assert!(drift <= allowed, "{drift:e} with {pace}");
    }
}

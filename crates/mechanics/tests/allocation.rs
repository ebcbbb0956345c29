//! Once a quantity has been asked for, evaluating it again allocates nothing.

use crate::common::zoo::zoo;
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, Query};
use leastaction_testing::{CountingAllocator, allocations};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn evaluations_allocate_nothing() {
    for mut case in zoo() {
        let n = case.state.q.len();
        let places: usize = case.dynamics.system().places().iter().map(|p| p.dimensions).sum();
        let shares = case.dynamics.system().shares().len();
        let queries: [(&str, usize, Query); 12] = [
            ("field", 2 * n, Dynamics::rates),
            ("kick", n, Dynamics::kick),
            ("drift", n, Dynamics::drift),
            ("momenta", n, Dynamics::momenta),
            ("pushes", n, Dynamics::momentum_rates),
            ("accelerations", n, Dynamics::accelerations),
            ("mass matrix", n * n, Dynamics::mass_matrix),
            ("jacobian", 4 * n * n, Dynamics::jacobian),
            ("positions", places, Dynamics::positions),
            ("energy", 1, Dynamics::energy),
            ("kinetic energy", 1, Dynamics::kinetic_energy),
            ("shares", shares, Dynamics::shares),
        ];
        for (what, rows, query) in queries {
            for width in [1, LANES] {
                // Half speed, so that momenta can be read as velocities.
                let block: Vec<f64> = case.state.block().iter().flat_map(|y| vec![0.3 * y; width]).collect();
                let (times, mut out) = (vec![case.state.t; width], vec![0.0; rows * width]);
                query(&mut case.dynamics, &times, &block, &mut out).unwrap();
                let before = allocations();
                query(&mut case.dynamics, &times, &block, &mut out).unwrap();
                let count = allocations() - before;
                assert_eq!(count, 0, "{}: {what} in {width} lanes", case.name);
            }
        }
    }
}

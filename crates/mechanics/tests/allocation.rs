//! Once a quantity has been asked for, evaluating it again allocates nothing.

mod common;

use common::zoo::zoo;
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, Query};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

#[test]
fn evaluations_allocate_nothing() {
    for mut case in zoo() {
        let n = case.state.q.len();
        let places: usize = case.dynamics.system().places().iter().map(|p| p.dimensions).sum();
        let shares = case.dynamics.system().shares().len();
        let queries: [(&str, usize, Query); 12] = [
            ("field", 2 * n, Dynamics::field),
            ("kick", n, Dynamics::kick),
            ("drift", n, Dynamics::drift),
            ("momenta", n, Dynamics::momenta),
            ("pushes", n, Dynamics::pushes),
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
                let before = ALLOCATIONS.with(Cell::get);
                query(&mut case.dynamics, &times, &block, &mut out).unwrap();
                let count = ALLOCATIONS.with(Cell::get) - before;
                assert_eq!(count, 0, "{}: {what} in {width} lanes", case.name);
            }
        }
    }
}

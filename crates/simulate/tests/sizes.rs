//! Large models: what they take is in proportion to them.

use leastaction_expr::Graph;
use leastaction_simulate::{Overrides, Source};
use leastaction_testing::{CountingAllocator, allocated_bytes};
use std::fmt::Write as _;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// As many free coordinates as asked for, each of which has a momentum that is conserved.
fn free(count: usize) -> Source {
    let mut text = "coord x0".to_owned();
    (1..count).for_each(|i| write!(text, ", x{i}").unwrap());
    text += "\nlagrangian x0'^2";
    (1..count).for_each(|i| write!(text, " + x{i}'^2").unwrap());
    text += "\nstart x0' = 1\nrun until 1, samples 2\n";
    Source::text("free", &text)
}

/// The bytes that are allocated to read, run and measure a model, all of them together.
fn bytes(source: &Source) -> f64 {
    let before = allocated_bytes();
    let run = source.simulation(&Graph::new(), &Overrides::default()).unwrap().run().unwrap();
    let measured = run.measure().unwrap();
    assert_eq!(measured.conserved.len(), run.trajectory.end().q.len() + 1);
    assert!(measured.conserved.iter().all(|quantity| quantity.drift.change == 0.0));
    (allocated_bytes() - before) as f64
}

#[test]
fn uncoupled_coordinates_take_memory_in_proportion() {
    let (small, large) = (bytes(&free(1000)), bytes(&free(4000)));
    assert!(large < 6.0 * small, "{small:e} bytes for 1000 coordinates, {large:e} for 4000");
}

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

/// Pendulums, each on a rod of its own: a constraint, so that very many of them read nodes whose masses are numbers.
fn pendulums(count: usize) -> Source {
    let text = format!(
        "coord x[{count}], y[{count}]\nparticle b[i] mass 2 at [x[i], y[i]] for i in 1..{count}\ngravity [0, -9.81]\n\
         constraint rod[i]: x[i]^2 + y[i]^2 = 1 for i in 1..{count}\nstart x[i] = 1 for i in 1..{count}\n\
         run until 0.02, step 0.005, method rattle, samples 2\n"
    );
    Source::text("pendulums", &text)
}

#[test]
fn very_many_pendulums_swing_as_one_does() {
    let end = |count: usize| {
        let graph = Graph::new();
        let run = pendulums(count).simulation(&graph, &Overrides::default()).unwrap().run().unwrap();
        run.trajectory.end()
    };
    let (one, many) = (end(1), end(16_384));
    assert!(one.q[1] < -1e-3, "it falls");
    for (pendulum, (q, p)) in many.q.chunks(2).zip(many.p.chunks(2)).enumerate() {
        for axis in 0..2 {
            let off = (q[axis] - one.q[axis]).abs().max((p[axis] - one.p[axis]).abs());
            assert!(off < 1e-13, "{pendulum}: off by {off:e}");
        }
    }
}

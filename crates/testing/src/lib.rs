//! What the tests of several crates share: random choices that a seed repeats, and a count of allocations.

mod allocations;

pub use allocations::{CountingAllocator, allocated_bytes, allocations};
pub use leastaction_expr::Random;

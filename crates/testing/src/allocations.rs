//! Counting allocations, for tests that promise none, or few bytes.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting. A test makes it the global one:
///
/// ```
/// use leastaction_testing::{CountingAllocator, allocations};
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator;
///
/// let before = allocations();
/// let kept = Vec::<f64>::with_capacity(8);
/// assert!(allocations() > before);
/// # drop(kept);
/// ```
pub struct CountingAllocator;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        BYTES.with(|bytes| bytes.set(bytes.get() + layout.size() as u64));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System`, through `alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// How often this thread has allocated, if [`CountingAllocator`] is the global allocator.
#[must_use]
pub fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

/// How many bytes this thread has allocated in all, freed ones included, if [`CountingAllocator`] is the global allocator.
#[must_use]
pub fn allocated_bytes() -> u64 {
    BYTES.with(Cell::get)
}

//! Steps allocate nothing.
#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use common::{double_pendulum, driven_pendulum};
use leastaction_compile::LANES;
use leastaction_integrate::{ALL, Block, Integrator};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `System`, through `alloc` above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn steps_allocate_nothing() {
    for card in ALL {
        for (mut dynamics, start) in [double_pendulum(), driven_pendulum()] {
            let state = start.block();
            for mut block in [Block::one(&state), Block::lanes([state.as_slice(); LANES])] {
                let (mut before, mut during) = (None, 0);
                let run = Integrator::new(card, 0.01);
                run.march(&mut dynamics, 0.0, &mut block, 10.0, |_| {
                    let now = ALLOCATIONS.with(Cell::get);
                    during = now - *before.get_or_insert(now);
                    Ok(ControlFlow::Continue(()))
                })
                .unwrap();
                assert_eq!(during, 0, "{} in {} lanes", card.name, block.width());
            }
        }
    }
    let before = ALLOCATIONS.with(Cell::get);
    drop(std::hint::black_box(vec![1]));
    assert_eq!(ALLOCATIONS.with(Cell::get) - before, 1, "the counter counts");
}

//! Steps allocate nothing.

use crate::common::{links, suited};
use leastaction_compile::LANES;
use leastaction_integrate::{ALL, Block, Density, Integrator, Keeps, Sample};
use leastaction_testing::{CountingAllocator, allocations};
use std::ops::ControlFlow;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn steps_allocate_nothing() {
    for card in ALL {
        for (mut dynamics, start) in suited(card) {
            let state = start.block();
            for mut block in [Block::one(&state), Block::lanes([state.as_slice(); LANES])] {
                let (mut before, mut during) = (None, 0);
                let run = Integrator::new(card, 0.01);
                run.march(&mut dynamics, 0.0, &mut block, 10.0, |_| {
                    let now = allocations();
                    during = now - *before.get_or_insert(now);
                    Ok(ControlFlow::Continue(()))
                })
                .unwrap();
                assert_eq!(during, 0, "{} in {} lanes", card.name, block.width());
            }
        }
    }
    for card in ALL.iter().filter(|card| card.keeps.contains(&Keeps::Reversible)) {
        let (mut dynamics, start) = suited(card).pop().unwrap();
        let state = start.block();
        for mut block in [Block::one(&state), Block::lanes([state.as_slice(); LANES])] {
            let run = Integrator::new(card, Density::natural(0.01)).ends_only();
            let mut counts = Vec::with_capacity(4);
            // The first run makes room for what the density is evaluated of.
            for start in [0.0, 1.0] {
                let mut count = |_: Sample<'_>| {
                    counts.push(allocations());
                    Ok(ControlFlow::Continue(()))
                };
                run.march(&mut dynamics, start, &mut block, start + 1.0, &mut count).unwrap();
            }
            assert_eq!(counts[3] - counts[2], 0, "{} in {} lanes", card.name, block.width());
        }
    }
    // With constraints, and samples between steps that are moved onto them.
    let (mut dynamics, start) = links();
    let facts = dynamics.system().facts().clone();
    for card in ALL.iter().filter(|card| card.needs.met_by(&facts)) {
        let state = start.block();
        for mut block in [Block::one(&state), Block::lanes([state.as_slice(); LANES])] {
            let (mut before, mut during) = (None, 0);
            let run = Integrator::new(card, 0.01).spaced(0.013);
            run.march(&mut dynamics, 0.0, &mut block, 1.0, |sample| {
                // The first projection of a sample makes room for what it needs.
                let now = allocations();
                if sample.t > 0.05 {
                    during = now - *before.get_or_insert(now);
                }
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
            assert_eq!(during, 0, "{} with constraints in {} lanes", card.name, block.width());
        }
    }
    let before = allocations();
    drop(std::hint::black_box(vec![1]));
    assert_eq!(allocations() - before, 1, "the counter counts");
}

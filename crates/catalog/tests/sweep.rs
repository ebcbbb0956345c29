//! What every entry of the catalog promises.

mod common;

use common::begin;
use leastaction_catalog::{ALL, Entry, EntryError, Spot};
use leastaction_expr::Graph;
use leastaction_integrate::{Card, Integrator, Keeps};
use std::ops::ControlFlow;

#[test]
fn names_are_unique_and_found() {
    for entry in ALL {
        assert_eq!(Entry::named(entry.name).unwrap().about, entry.about);
        assert_eq!(ALL.iter().filter(|other| other.name == entry.name).count(), 1);
        assert!(entry.about.len() <= 90 && !entry.about.ends_with('.'));
    }
}

#[test]
fn misspelt_names_are_mended() {
    let message = |name| Entry::named(name).unwrap_err().to_string();
    assert_eq!(
        message("dubble-pendulum"),
        "there is no system `dubble-pendulum`: did you mean `double-pendulum`?"
    );
    assert!(message("gyroscope").contains("choose one of pendulum, double-pendulum, "));
}

#[test]
fn sizes_are_checked() {
    let graph = Graph::new();
    let refused = |name, size| Entry::named(name).unwrap().setup_sized(&graph, size).err();
    assert_eq!(refused("pendulum", 3), Some(EntryError::FixedSize { name: "pendulum" }));
    assert_eq!(refused("coupled-chain", 0), Some(EntryError::BadSize { name: "coupled-chain", size: 0 }));
    assert_eq!(
        refused("coupled-chain", 1001),
        Some(EntryError::BadSize { name: "coupled-chain", size: 1001 })
    );
    assert_eq!(refused("coupled-chain", 1), None);
}

#[test]
fn drawings_show_what_is_there() {
    let graph = Graph::new();
    for entry in ALL {
        let (setup, dynamics, _) = begin(&graph, entry.name);
        let places = dynamics.system().places();
        let mut shown = 0;
        for spot in setup.drawing.parts.iter().flat_map(|part| part.spots()) {
            if let Spot::Of(name) = spot {
                let place = places.iter().find(|place| place.name == *name);
                let place = place.unwrap_or_else(|| panic!("{}: no {name}", entry.name));
                assert!(place.dimensions >= 2);
                shown += 1;
            }
        }
        assert!(shown > 0, "{} is not drawn", entry.name);
    }
}

/// Every plan runs, with a symplectic method whose energy error stays bounded, and every invariant holds along it.
#[test]
fn plans_conserve_energy_and_invariants() {
    for entry in ALL {
        let graph = Graph::new();
        let (setup, mut dynamics, start) = begin(&graph, entry.name);
        assert!(dynamics.system().conserved().contains(&"energy"), "{}", entry.name);
        let equations = setup.model.equations().unwrap();
        for term in &setup.invariants {
            assert_eq!(equations.is_conserved(term.value), Some(true), "{}: {}", entry.name, term.name);
        }
        let invariants: Vec<_> = setup
            .invariants
            .iter()
            .map(|term| dynamics.observable(&term.value.to_string()).unwrap())
            .collect();

        let plan = setup.plan;
        let card = Card::named(plan.method).unwrap();
        assert!(card.keeps.contains(&Keeps::Symplectic));
        let (mut at_start, mut now) = (None, vec![0.0; invariants.len()]);
        let (mut worst_energy, mut energy, mut first) = (0.0_f64, [0.0], None);
        let scale = leastaction_integrate::energy_scale(&mut dynamics, &start).unwrap();
        let run = Integrator::new(card, plan.step).every(10);
        run.observe(&mut dynamics, &start, plan.until, |sample| {
            let y = sample.block.values();
            sample.dynamics.energy(&[sample.t], y, &mut energy)?;
            worst_energy = worst_energy.max((energy[0] - *first.get_or_insert(energy[0])).abs() / scale);
            for (invariant, value) in invariants.iter().zip(now.chunks_exact_mut(1)) {
                sample.dynamics.observe(*invariant, &[sample.t], y, value)?;
            }
            let before: &Vec<f64> = at_start.get_or_insert_with(|| now.clone());
            let size = before.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
            for ((a, b), term) in before.iter().zip(&now).zip(&setup.invariants) {
                assert!((a - b).abs() <= 1e-12 * size, "{}: {} from {a} to {b}", entry.name, term.name);
            }
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        println!("{:24} energy error {worst_energy:.1e}", entry.name);
        assert!(worst_energy < 1e-2, "{}: energy changes by {worst_energy}", entry.name);
    }
}

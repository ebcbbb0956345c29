//! What every entry of the catalog promises.

use crate::common::{begin, violation};
use leastaction_catalog::{ALL, Entry, EntryError};
use leastaction_expr::{Graph, Owned};
use leastaction_integrate::{Choice, Keeps, Pace};
use leastaction_language::{Part, Spot};
use std::sync::Arc;

#[test]
fn names_are_unique_and_found() {
    for entry in ALL {
        let about = Entry::named(entry.name).unwrap().about();
        assert_eq!(about, entry.about());
        assert_eq!(ALL.iter().filter(|other| other.name == entry.name).count(), 1);
        assert!((10..=90).contains(&about.len()) && !about.ends_with('.'));
    }
}

#[test]
fn misspelt_names_are_mended() {
    let message = |name| Entry::named(name).unwrap_err().to_string();
    assert_eq!(
        message("dubble-pendulum"),
        "there is no system `dubble-pendulum`: did you mean `double-pendulum`?"
    );
    assert!(message("wing-nut").contains("choose one of pendulum, double-pendulum, "));
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
            if let Spot::Of(name) = &spot {
                let place = places.iter().find(|place| place.name == *name);
                let place = place.unwrap_or_else(|| panic!("{}: no {name}", entry.name));
                assert!(place.dimensions >= 2);
                shown += 1;
            }
        }
        let meshes = setup.drawing.parts.iter().filter(|part| matches!(part, Part::Mesh(_))).count();
        assert_eq!(meshes, setup.meshes.len(), "{}: meshes are not drawn", entry.name);
        assert!(shown + meshes > 0, "{} is not drawn", entry.name);
    }
}

/// Every plan runs, with a method that keeps constraints, and the symplectic form unless there is dissipation; its energy error stays bounded,
/// and every invariant holds along it. Where energy is lost, it falls.
#[test]
fn plans_conserve_energy_and_invariants() {
    for entry in ALL {
        let graph = Graph::new();
        let (setup, mut dynamics, start) = begin(&graph, entry.name);
        let facts = dynamics.system().facts().clone();
        let conserves = dynamics.system().conserves_energy();
        // Energy is lost to friction, or comes in by what moves as it must.
        let driven = !facts.autonomous || facts.jacobi;
        assert_eq!(conserves, !facts.dissipative && !driven, "{}", entry.name);
        let equations = setup.model.equations().unwrap();
        for term in &setup.invariants {
            // What holds on the constraints only cannot be seen from the expressions; the run below sees it.
            let known = equations.is_conserved(term.value);
            let sure = known == Some(true) || known.is_none() && dynamics.system().facts().constrained;
            assert!(sure, "{}: {}", entry.name, term.name);
        }
        let momenta = dynamics
            .system()
            .conserved()
            .into_iter()
            .filter(|name| !matches!(name.as_ref(), "energy" | "jacobi"));
        let mut kept: Vec<String> = momenta.collect();
        kept.extend(setup.invariants.iter().map(|term| term.value.to_string()));

        let plan = setup.plan;
        let chosen = Choice::new(&mut dynamics, &start, plan.until, plan.step.map(Pace::Step)).unwrap();
        let claims: Vec<_> = chosen.integrator.card().kept_in(&facts).collect();
        for what in [Keeps::Symplectic, Keeps::Constraints] {
            assert!(claims.contains(&what) || !what.is_there(&facts), "{}: {}", entry.name, chosen.why);
        }
        let run = chosen.integrator.every(10).run(&mut dynamics, &start, plan.until).unwrap();
        for text in kept {
            let what = dynamics.observable(&text).unwrap();
            let drift = run.drift(&mut dynamics, what).unwrap();
            assert!(drift < 1e-12, "{}: {text} drifts by {drift:e}", entry.name);
        }
        assert!(violation(&mut dynamics, &run) < 1e-12, "{}", entry.name);
        if facts.dissipative {
            let energies = run.energies(&mut dynamics).unwrap();
            assert!(energies.windows(2).all(|pair| pair[1] <= pair[0]), "{}: {energies:?}", entry.name);
            continue;
        }
        if driven {
            continue;
        }
        let worst_energy = run.energy_drift(&mut dynamics).unwrap();
        println!("{:24} energy error {worst_energy:.1e}: {}", entry.name, chosen.why);
        assert!(worst_energy < 1e-2, "{}: energy changes by {worst_energy}", entry.name);
    }
}

/// A setup that is kept with its graph is the same in another thread.
#[test]
fn setups_can_be_kept_and_sent() {
    fn is_kept_and_shared<T: Send + Sync + 'static>(_: &T) {}
    for entry in ALL {
        let graph = Arc::new(Graph::new());
        let setup = entry.setup(&graph);
        let kept = Owned::new(Arc::clone(&graph), &setup);
        is_kept_and_shared(&kept);
        let elsewhere = std::thread::spawn(move || format!("{:?}", kept.get()));
        assert_eq!(elsewhere.join().unwrap(), format!("{setup:?}"), "{}", entry.name);
    }
}

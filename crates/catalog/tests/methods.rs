//! Every method on every system of the catalog that it applies to.
#![allow(clippy::unwrap_used)] // a test may panic

mod common;

use common::begin;
use leastaction_catalog::ALL as SYSTEMS;
use leastaction_expr::Graph;
use leastaction_integrate::{ALL as METHODS, Density, Integrator, Keeps, Pace, Sizing, Tolerance};

/// A twentieth of each plan, at every pace that the method can go at: it comes to the end, and the energy stays what it was, as well as can
/// be expected of the order. What a method cannot do it refuses.
#[test]
fn methods_run_wherever_they_apply() {
    for entry in SYSTEMS {
        let graph = Graph::new();
        let (setup, mut dynamics, start) = begin(&graph, entry.name);
        let plan = setup.plan;
        for card in METHODS {
            // One binding of the copies for all coordinates does not suit masses that are a billion times apart.
            if card.name.starts_with("tao") && entry.name == "outer-solar-system" {
                continue;
            }
            let mut paces = vec![Pace::Step(0.5 * plan.step)];
            if card.sizing != Sizing::Given {
                paces.push(Pace::Tolerance(Tolerance::relative(1e-8)));
            }
            if card.keeps.contains(&Keeps::Reversible) {
                let wanted = format!("1 + 0.1*sin(t/{})", 20.0 * plan.step);
                paces.push(Pace::Density(Density::of(&wanted, 0.5 * plan.step)));
            }
            for pace in paces {
                let run = Integrator::new(card, pace.clone()).at_most(200_000).every(10);
                let made = run.run(&mut dynamics, &start, plan.until / 20.0);
                if !card.needs.met_by(dynamics.system().facts()) {
                    assert!(made.is_err(), "{} on {}", card.name, entry.name);
                    continue;
                }
                let made =
                    made.unwrap_or_else(|e| panic!("{} on {} with {pace}: {e}", card.name, entry.name));
                let drift = made.energy_drift(&mut dynamics).unwrap();
                let bound = match (&pace, card.order) {
                    (Pace::Tolerance(_), _) => 1e-5,
                    (_, 1) => 0.2,
                    (_, 2..=3) => 0.02,
                    _ => 1e-4,
                };
                assert!(
                    drift <= bound,
                    "{} on {} with {pace}: energy is {drift:e} off",
                    card.name,
                    entry.name
                );
            }
        }
    }
}

//! Every method on every system of the catalog that it applies to.

use crate::common::{begin, energy, violation};
use leastaction_catalog::ALL as SYSTEMS;
use leastaction_expr::Graph;
use leastaction_integrate::{
    ALL as METHODS, Density, Failed, Integrator, Keeps, Pace, RunError, Sizing, Tolerance,
};
use leastaction_mechanics::{Dynamics, State};

/// A twentieth of each plan, or so much less as the system is larger, at every pace that the method can go at: it comes to the end, constraints are kept to rounding, and the energy stays
/// what it was, or falls as it must, as well as can be expected of the order. What a method cannot do it refuses.
fn sweep(constrained: bool) {
    let mut wrong = Vec::new();
    for entry in SYSTEMS {
        let graph = Graph::new();
        let (setup, mut dynamics, start) = begin(&graph, entry.name);
        let (plan, facts) = (&setup.plan, dynamics.system().facts().clone());
        let step = plan.step.unwrap();
        // What all methods do for a rope and for atoms they do for larger meshes, slowly.
        if facts.constrained != constrained || start.q.len() > 64 {
            continue;
        }
        // Steps of implicit methods cost the cube of the size.
        let until = plan.until / 20.0 / (start.q.len() as f64 / 20.0).powi(2).max(1.0);
        let left = energy_left(&mut dynamics, &start, until);
        for card in METHODS {
            // One binding of the copies for all coordinates does not suit masses that are a billion times apart.
            if card.name.starts_with("tao") && entry.name == "outer-solar-system" {
                continue;
            }
            let mut paces = vec![Pace::Step(0.5 * step)];
            if card.sizing != Sizing::Given {
                paces.push(Pace::Tolerance(Tolerance::relative(1e-8)));
            }
            if card.kept_in(&facts).any(|kept| kept == Keeps::Reversible) {
                let wanted = format!("1 + 0.1*sin(t/{})", 20.0 * step);
                paces.push(Pace::Density(Density::of(&wanted, 0.5 * step)));
            }
            for pace in paces {
                let mut complain =
                    |what: String| wrong.push(format!("{} on {} with {pace}: {what}", card.name, entry.name));
                let run = Integrator::new(card, pace.clone()).at_most(200_000).every(10);
                let trajectory = run.run(&mut dynamics, &start, until);
                let trajectory = match (trajectory, card.needs.met_by(&facts)) {
                    (Ok(trajectory), true) => trajectory,
                    (Ok(_), false) => {
                        complain(format!("it needs {}, and does not miss it", card.needs));
                        continue;
                    }
                    (Err(Failed { error: RunError::Constrained { .. }, .. }), false) if constrained => {
                        continue;
                    }
                    (Err(Failed { error: RunError::NotApplicable { .. }, .. }), false) if !constrained => {
                        continue;
                    }
                    (Err(failed), _) => {
                        complain(failed.to_string());
                        continue;
                    }
                };
                let off = violation(&mut dynamics, &trajectory);
                // Corrections that are rounding along nearly dependent directions are left out (Bricard's mechanism: 2.6e-12; the wheels of a
                // bicycle: 7.5e-12).
                if off > 1e-11 {
                    complain(format!("constraints are {off:e} off"));
                }
                let drift = match !dynamics.system().conserves_energy() {
                    true => {
                        (energy(&mut dynamics, &trajectory.end()) - left).abs()
                            / energy(&mut dynamics, &start)
                    }
                    false => trajectory.energy_drift(&mut dynamics).unwrap(),
                };
                let bound = match (&pace, card.order) {
                    (Pace::Tolerance(_), _) => 1e-5,
                    (_, 1) => 0.2,
                    (_, 2..=3) => 0.02,
                    _ => 1e-4,
                };
                if drift > bound || drift.is_nan() {
                    complain(format!("energy is {drift:e} off"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn methods_run_wherever_they_apply() {
    sweep(false);
}

#[test]
fn methods_keep_constraints_wherever_they_apply() {
    sweep(true);
}

/// The energy at the end of a run with nearly all digits.
fn energy_left(dynamics: &mut Dynamics, start: &State, until: f64) -> f64 {
    let run = Integrator::named("dop853", Tolerance::relative(1e-12)).unwrap();
    let end = run.run(dynamics, start, until).unwrap().end();
    energy(dynamics, &end)
}

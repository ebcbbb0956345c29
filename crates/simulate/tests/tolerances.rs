//! Absolute tolerances as a text says them.

use leastaction_expr::Graph;
use leastaction_integrate::{ALL, Card, Sizing, Work};
use leastaction_simulate::{Overrides, Source};

/// Two oscillators; the second is fast, and small.
const TWO: &str =
    "coord x, y\nkinetic x'^2/2 + y'^2/2\npotential x^2/2 + 5000*y^2 + x^2*y\nstart x = 1, y = 1e-3\n";

/// Where a text ends, and by how much work.
fn end(text: &str, asked: &Overrides) -> (Vec<f64>, Work) {
    let run = Source::text("model", text).simulation(&Graph::new(), asked).unwrap().run().unwrap();
    (run.trajectory.end().block(), run.trajectory.work())
}

fn by(method: &str) -> Overrides {
    Overrides { method: Some(method.to_owned()), ..Overrides::default() }
}

/// Who needs no digits of the fast one says so, and has longer steps; the slow one is as good as before.
#[test]
fn a_coordinate_may_have_a_tolerance_of_its_own() {
    // That judges all coordinates together, and goes by the smallest of their tolerances.
    let together = |card: &Card| card.name == "ias15";
    for card in ALL.iter().filter(|card| card.sizing != Sizing::Given && !together(card)) {
        let (tight, work) = end(TWO, &by(card.name));
        let (loose, less) = end(&format!("{TWO}tolerance y = 1e-4, p_y = 1e-2\n"), &by(card.name));
        assert!(10 * less.steps < 9 * work.steps, "{}: {} steps, and {}", card.name, less.steps, work.steps);
        assert!((tight[0] - loose[0]).abs() < 1e-5, "{}: {tight:?} {loose:?}", card.name);
        assert_ne!(tight, loose, "{}", card.name);
    }
}

/// The same number for all of them is that of `run atol`; `--atol` takes the place of both, and `--step` that of all.
#[test]
fn tolerances_of_all_and_of_each_agree() {
    let (all, each) = ("run atol 1e-7", "tolerance x = 1e-7, y = 1e-7, p_x = 1e-7, p_y = 1e-7");
    let and_one = "run atol 1e-7\ntolerance y = 1e-4";
    let [all, each, and_one] = [all, each, and_one].map(|tolerance| format!("{TWO}{tolerance}\n"));
    assert_eq!(end(&all, &by("dop853")), end(&each, &by("dop853")));
    assert_ne!(end(&all, &by("dop853")), end(&and_one, &by("dop853")));
    let asked = Overrides { absolute: Some(1e-8), ..by("dop853") };
    assert_eq!(end(TWO, &asked), end(&each, &asked));
    let asked = Overrides { step: Some(1e-3), ..by("dop853") };
    assert_eq!(end(TWO, &asked), end(&each, &asked));
    let asked = Overrides { tolerance: Some(1e-6), ..by("dop853") };
    assert_ne!(end(TWO, &asked), end(&each, &asked));
}

/// What is held, or replaced by other coordinates, is no part of the state.
#[test]
fn what_is_no_part_of_the_state_has_no_tolerance() {
    let text = "coord x, y\nparticle ball mass 1 at [x, y]\nmomentum px, py\nhamiltonian px^2 + py^2\ntolerance p_x = 1e-6\n";
    let refused = Source::text("model", text).simulation(&Graph::new(), &Overrides::default());
    assert!(refused.is_err());
}

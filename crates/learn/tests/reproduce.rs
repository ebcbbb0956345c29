//! The comparison: what is done is not done again, what was broken off goes on to the same results, and nothing of another comparison is mixed in.

use leastaction_learn::architecture::ALL;
use leastaction_learn::reproduce::{
    Budget, CASES, ReproduceError, Reproduction, curves_csv, markdown, results_csv,
};
use leastaction_learn::train::OptimizerKind;
use std::ops::ControlFlow;

#[test]
fn comparisons_go_on_where_they_were_broken_off() {
    let root = std::env::temp_dir().join(format!("leastaction-reproduce-{}", std::process::id()));
    let budget = Budget {
        split: [12, 4, 3],
        hidden: vec![6],
        optimizer: OptimizerKind::Soap,
        steps: 5,
        batch: 10,
        seeds: 1,
        substeps: 1,
    };
    let comparison = |name: &str| Reproduction {
        folder: root.join(name),
        budget: budget.clone(),
        cases: CASES[..2].iter().collect(),
        architectures: ALL.iter().filter(|card| ["chnn", "hnn"].contains(&card.name)).collect(),
        threads: 1,
    };
    let whole = comparison("whole").run(|_| ControlFlow::Continue(())).unwrap().unwrap();
    assert_eq!(whole.len(), 2 * 3);
    // The truth, moved by 1e−4, stays near.
    assert!(whole[0].name == "truth" && whole[0].geometric_mean < 1e-3, "{:?}", whole[0]);
    // A network in angles has no constraints to violate, and one of another kind does not keep them exactly.
    assert!(whole.iter().filter(|o| o.name == "hnn").all(|o| o.violation_most < 1e-12));
    assert!(whole.iter().filter(|o| o.name == "chnn").all(|o| o.violation_most > 1e-12));

    let mut calls = 0;
    let mut broken = 0;
    let parts = loop {
        calls += 1;
        let mut left = 3;
        let done = comparison("parts").run(|place| {
            assert!((0.0..=1.0).contains(&place.fraction));
            left -= 1;
            if left <= 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match done.unwrap() {
            Some(parts) => break parts,
            None => broken += 1,
        }
        assert!(calls < 50, "it gets on");
    };
    assert!(broken >= 3, "{broken}");
    let timeless = |outcomes: &[leastaction_learn::reproduce::Outcome]| {
        let outcomes: Vec<_> = outcomes
            .iter()
            .map(|outcome| leastaction_learn::reproduce::Outcome { seconds: 0.0, ..outcome.clone() })
            .collect();
        (results_csv(&outcomes), curves_csv(&outcomes))
    };
    assert_eq!(timeless(&parts), timeless(&whole));
    let report = markdown(&whole, &budget, "leastaction learn reproduce", 1);
    assert!(report.contains("| 2-Pendulum |") && report.contains("| truth | CHNN | HNN |"), "{report}");
    assert_eq!(curves_csv(&whole).lines().count(), 1 + 6 * 100);

    // Other settings, and damage.
    let mut other = comparison("whole");
    other.budget.steps = 6;
    let wrong = other.run(|_| ControlFlow::Continue(())).unwrap_err();
    assert!(wrong.to_string().contains("it has `steps 5`, and `steps 6` is asked for"), "{wrong}");
    other.budget = Budget { split: [13, 4, 3], ..budget.clone() };
    let wrong = other.run(|_| ControlFlow::Continue(())).unwrap_err();
    assert!(matches!(wrong, ReproduceError::Other { .. }), "{wrong}");
    let result = root.join("whole/results/1-Pendulum-chnn-0.npz");
    let mut bytes = std::fs::read(&result).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&result, bytes).unwrap();
    let wrong = comparison("whole").run(|_| ControlFlow::Continue(())).unwrap_err();
    assert!(matches!(wrong, ReproduceError::Damaged { .. }), "{wrong}");
    std::fs::remove_dir_all(root).unwrap();
}

//! Predictions are judged by the true system: by closed forms of its energy and its constraints.

use leastaction_learn::data::{Origin, Starts};
use leastaction_learn::evaluate::{Judge, SMALLEST, curvature, perturbed};
use leastaction_learn::{Chunks, Dataset, DatasetPlan, Loss, Objective, Recipe, Split};
use leastaction_simulate::{Overrides, Source};
use std::ops::ControlFlow;

#[test]
fn energies_and_constraints_are_those_of_the_true_system() {
    let source = Source::catalog("n-pendulum", Some(1)).unwrap();
    let (l, m, g) = (1.172151, 1.039051, 9.81);
    let origin = Origin::new(&source, &Overrides::default());
    // Two trajectories of three samples: at rest below, and turned by a right angle.
    let low = [0.0, -l, 0.0, 0.0];
    let side = [l, 0.0, 0.0, 1.0];
    let truth = [low, low, low, side, side, side].concat();
    let mut judge = Judge::new(&origin, 0.1, 3, truth.clone()).unwrap();
    assert_eq!(judge.starts(), [low, side].concat());
    let same = judge.judge(&truth).unwrap();
    let least = [same.summary.mean, same.energy_mean];
    assert!(least.iter().all(|mean| (mean / SMALLEST - 1.0).abs() < 1e-12), "{least:?}");
    assert!(same.violation_most < 1e-12);

    // Longer rods, and another speed, at the last sample; the second one runs away.
    let mut found = truth.clone();
    found[8..12].copy_from_slice(&[0.0, -1.1 * l, 0.5, 0.0]);
    found[20..24].fill(f64::NAN);
    let judged = judge.judge(&found).unwrap();
    assert_eq!(judged.summary.lost, 1);
    let energies = [-m * g * l, -m * g * 1.1 * l + 0.5 * m * 0.25];
    let expected = (energies[0] - energies[1]).abs() / (energies[0].abs() + energies[1].abs());
    // Of two trajectories at the last sample, the geometric mean with 1.
    assert!((judged.energy.middle[2] - expected.sqrt()).abs() < 1e-12);
    assert_eq!(judged.violation.unwrap().middle[2], f64::INFINITY);
    // The model states its rods by squares of lengths, or by lengths.
    let [squares, lengths] = [0.21 * l * l, 0.1 * l];
    let near = |value: f64| (judged.violation_most - value).abs() < 1e-9;
    assert!(near(squares) || near(squares / 2.0) || near(lengths), "{}", judged.violation_most);
}

#[test]
fn the_truth_goes_on_beyond_the_data() {
    let plan = DatasetPlan {
        split: [1, 0, 2],
        samples: 30,
        dt: Some(0.03),
        starts: Starts::Catalog,
        seed: 1,
        noise: 0.0,
        tolerance: 1e-11,
        threads: 1,
    };
    let source = Source::catalog("n-pendulum", Some(2)).unwrap();
    let go_on = |_| ControlFlow::Continue(());
    let long = Dataset::generate(&source, &Overrides::default(), &plan, go_on).unwrap();
    let short = DatasetPlan { samples: 10, ..plan };
    let mut short = Dataset::generate(&source, &Overrides::default(), &short, go_on).unwrap();
    let again = perturbed(&short, 30, 0.0, 5, 1).unwrap();
    let most = again.iter().zip(long.part(Split::Test)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(most < 1e-8, "{most}");
    short.keep_tests(1);
    assert_eq!((short.split, short.part(Split::Test).len()), ([1, 0, 1], 10 * 8));
    assert_eq!(perturbed(&short, 30, 0.0, 5, 1).unwrap(), again[..30 * 8]);
}

#[test]
fn the_curvature_of_a_loss_is_that_of_its_differences() {
    let dataset = super::gradients::dataset("n-pendulum", Some(1), 12, 5);
    let recipe = Recipe { hidden: vec![3], ..Recipe::named("chnn").unwrap() };
    let predictor = recipe.predictor(&dataset.origin).unwrap();
    let parameters = predictor.layout().drawn(leastaction_network::Initial::Orthogonal, 7);
    let chunks = dataset.chunks(Split::Training, 5, 0).unwrap();
    let chunks = Chunks { states: &chunks, samples: 5, dimension: 4 };
    let n = parameters.len();
    // All of them, by second differences of the loss.
    let mut objective = Objective::<f64>::new(&predictor, Loss::Squared, dataset.dt, 1);
    let h = 1e-3;
    let mut at = |i: usize, a: f64, j: usize, b: f64| {
        let mut moved = parameters.clone();
        moved[i] += a * h;
        moved[j] += b * h;
        objective.loss(&moved, chunks)
    };
    let mut matrix = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            let sum = at(i, 1.0, j, 1.0) - at(i, 1.0, j, -1.0) - at(i, -1.0, j, 1.0) + at(i, -1.0, j, -1.0);
            matrix[i * n + j] = sum / (4.0 * h * h);
        }
    }
    let (mut expected, _) = leastaction_linear::eigen::symmetric(&matrix, n).unwrap();
    expected.reverse();
    let found = curvature(&predictor, &parameters, dataset.dt, chunks, 4, 2);
    assert!(found.converged, "{found:?}");
    for (found, expected) in found.values.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-4 * expected.abs().max(1e-3), "{found} {expected}");
    }
    // By the formula, of eigenvalues that are told.
    let curvature =
        leastaction_learn::evaluate::Curvature { values: vec![4.0, 2.0, 4e-3, -1.0], converged: true };
    let by_hand = 1.0 / 1.001 + 0.5 / 0.501 + 0.5;
    assert!((curvature.effective_dimension(1e-3) - by_hand).abs() < 1e-12);
    let cut = leastaction_learn::evaluate::Curvature { values: vec![4.0, 2.0], converged: true };
    assert!(curvature.complete(1e-3, 100) && !cut.complete(1e-3, 100) && cut.complete(1e-3, 2));
}

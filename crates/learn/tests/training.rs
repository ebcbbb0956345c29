//! Datasets, training, checkpoints: the same bits again, whatever happened in between, and nothing that is damaged.

use leastaction_learn::data::Starts;
use leastaction_learn::evaluate::{perturbed, rollout, summarize};
use leastaction_learn::train::{Ending, OptimizerKind, TrainError, Trainer, TrainingPlan};
use leastaction_learn::{DataError, Dataset, DatasetPlan, Recipe, Split};
use leastaction_simulate::{Overrides, Source};
use std::ops::ControlFlow;
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("leastaction-learn-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn pendulum(size: usize, split: [usize; 3]) -> Dataset {
    let plan = DatasetPlan {
        split,
        samples: 20,
        dt: Some(0.03),
        starts: Starts::Catalog,
        seed: 5,
        noise: 0.0,
        tolerance: 1e-10,
        threads: 2,
    };
    let source = Source::catalog("n-pendulum", Some(size)).unwrap();
    Dataset::generate(&source, &Overrides::default(), &plan, |_| ControlFlow::Continue(())).unwrap()
}

fn small(steps: u64) -> (Recipe, TrainingPlan) {
    let mut recipe = Recipe::named("chnn").unwrap();
    recipe.hidden = vec![24, 24];
    let plan =
        TrainingPlan { steps, batch: 20, validate_every: 7, seed: 3, rate: 1e-2, ..TrainingPlan::default() };
    (recipe, plan)
}

#[test]
fn datasets_are_the_motion_of_the_model_and_read_back() {
    let dataset = pendulum(2, [10, 4, 6]);
    assert_eq!(dataset.names, ["x1", "y1", "x2", "y2", "x1'", "y1'", "x2'", "y2'"]);
    assert_eq!(dataset.part(Split::Test).len(), 6 * 20 * 8);
    // The energy of m = 1.172151, 1.039051 under g = 9.81 stays as it is.
    for trajectory in dataset.states.chunks_exact(20 * 8) {
        let energy = |z: &[f64]| {
            let speed = |i: usize| 0.5 * (z[4 + 2 * i].powi(2) + z[5 + 2 * i].powi(2)) + 9.81 * z[2 * i + 1];
            1.172151 * speed(0) + 1.039051 * speed(1)
        };
        let (start, end) = (energy(&trajectory[..8]), energy(&trajectory[19 * 8..]));
        assert!((start - end).abs() < 1e-7, "{start} {end}");
    }
    let folder = folder("data");
    let path = folder.join("two.npz");
    dataset.write(&path).unwrap();
    assert_eq!(Dataset::read(&path).unwrap(), dataset);
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(&path, &bytes).unwrap();
    assert!(matches!(Dataset::read(&path), Err(DataError::Read { .. })));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn training_learns_and_has_the_same_bits_however_it_is_broken_off() {
    OptimizerKind::ALL.into_iter().for_each(breaks_off_and_goes_on);
}

fn breaks_off_and_goes_on(optimizer: OptimizerKind) {
    let dataset = pendulum(1, [40, 10, 10]);
    let (recipe, plan) = small(120);
    let plan = TrainingPlan { optimizer, ..plan };
    let mut whole = Trainer::new(&recipe, &dataset, &plan, 1).unwrap();
    assert_eq!(whole.run(|_| Ok(ControlFlow::Continue(()))).unwrap(), Ending::Complete);
    let (first, last) = (&whole.rows()[0], &whole.rows()[whole.rows().len() - 1]);
    assert!(last.validated < 0.2 * first.validated, "{first:?} {last:?}");

    let folder = folder(optimizer.name());
    let path = folder.join("checkpoint.npz");
    for (stop, threads) in [(1, 2), (63, 1), (64, 3)] {
        let mut part = Trainer::new(&recipe, &dataset, &plan, threads).unwrap();
        let ending = part.run(|trainer| {
            trainer.save(&path)?;
            Ok(if trainer.step() == stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        assert_eq!(ending.unwrap(), Ending::Interrupted);
        let mut rest = Trainer::new(&recipe, &dataset, &plan, 2).unwrap();
        rest.resume(&path).unwrap();
        assert_eq!(rest.step(), stop);
        rest.run(|_| Ok(ControlFlow::Continue(()))).unwrap();
        let bits = |list: &[f64]| list.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(rest.parameters()), bits(whole.parameters()), "{stop}");
        assert_eq!(rest.best(), whole.best());
        let state_of = |trainer: &Trainer| {
            trainer.rows().iter().map(|row| (row.step, row.loss.to_bits())).collect::<Vec<_>>()
        };
        assert_eq!(state_of(&rest), state_of(&whole));
    }

    // Another seed, other data, damage.
    let wrong = TrainingPlan { optimizer: OptimizerKind::ALL[(optimizer as usize + 1) % 3], ..plan.clone() };
    let wrong = Trainer::new(&recipe, &dataset, &wrong, 1).unwrap().resume(&path).unwrap_err();
    assert!(wrong.to_string().contains(&format!("it has `optimizer {optimizer}`")), "{wrong}");
    let other = TrainingPlan { seed: 4, ..plan.clone() };
    let wrong = Trainer::new(&recipe, &dataset, &other, 1).unwrap().resume(&path).unwrap_err();
    assert!(wrong.to_string().contains("it has `seed 3`, and `seed 4` is asked for"), "{wrong}");
    let moved = Dataset { states: dataset.states.iter().map(|z| z + 1e-9).collect(), ..dataset.clone() };
    let wrong = Trainer::new(&recipe, &moved, &plan, 1).unwrap().resume(&path).unwrap_err();
    assert!(matches!(wrong, TrainError::Other { .. }));
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let wrong = Trainer::new(&recipe, &dataset, &plan, 1).unwrap().resume(&path).unwrap_err();
    assert!(matches!(wrong, TrainError::Read { .. }), "{wrong}");
    std::fs::write(&path, &bytes[..middle]).unwrap();
    assert!(Trainer::new(&recipe, &dataset, &plan, 1).unwrap().resume(&path).is_err());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn numbers_learn_at_a_rate_of_their_own_and_do_not_decay() {
    let dataset = pendulum(2, [20, 0, 0]);
    let (recipe, plan) = small(20);
    let learned = |numbers: f64, decay: f64| {
        let plan = TrainingPlan { numbers, decay, ..plan.clone() };
        let mut trainer = Trainer::new(&recipe, &dataset, &plan, 1).unwrap();
        let first = trainer.layout().first_number();
        trainer.run(|_| Ok(ControlFlow::Continue(()))).unwrap();
        trainer.parameters()[first..].to_vec()
    };
    assert_eq!(learned(0.0, 1e-4), [0.0; 2]);
    let way = |numbers: &[f64]| numbers.iter().map(|x| x.abs()).sum::<f64>();
    let (slow, fast) = (learned(1.0, 1e-4), learned(10.0, 1e-4));
    assert!(way(&fast) > 3.0 * way(&slow), "{fast:?} {slow:?}");
    // Of a decay that leaves no weight as it is, numbers see nothing but other predictions.
    assert!(way(&learned(10.0, 10.0)) > 0.3 * way(&fast));
    let wrong = Trainer::new(&recipe, &dataset, &TrainingPlan { numbers: -1.0, ..plan }, 1).err().unwrap();
    assert!(wrong.to_string().contains("rate of numbers"), "{wrong}");
}

#[test]
fn what_runs_away_is_said() {
    let dataset = pendulum(1, [20, 0, 0]);
    let (recipe, plan) = small(50);
    let plan = TrainingPlan { rate: 1e4, ..plan };
    let mut trainer = Trainer::new(&recipe, &dataset, &plan, 1).unwrap();
    let wrong = trainer.run(|_| Ok(ControlFlow::Continue(()))).unwrap_err();
    assert!(matches!(wrong, TrainError::NotFinite { .. }), "{wrong}");
    let wrong = Trainer::new(&recipe, &dataset, &TrainingPlan { batch: 21, ..plan }, 1).err().unwrap();
    assert!(wrong.to_string().contains("from 1 to 20"), "{wrong}");
}

#[test]
fn perturbed_motion_is_off_by_about_what_it_was_moved_by() {
    let dataset = pendulum(2, [1, 0, 8]);
    let moved = perturbed(&dataset, 20, 1e-4, 1, 2).unwrap();
    let (summary, _) = summarize(&moved, dataset.part(Split::Test), 8, 20);
    assert!((5e-6..2e-4).contains(&summary.geometric_mean), "{summary:?}");
    assert_eq!(summary.lost, 0);
}

#[test]
fn rollouts_are_the_predictions_that_are_trained() {
    let dataset = pendulum(1, [9, 0, 0]);
    let (recipe, _) = small(1);
    let predictor = recipe.predictor(&dataset.origin).unwrap();
    let parameters = predictor.layout().drawn(leastaction_network::Initial::Orthogonal, 1);
    let starts: Vec<f64> =
        dataset.states.chunks_exact(20 * 4).flat_map(|trajectory| trajectory[..4].to_vec()).collect();
    let all = rollout(&predictor, &parameters, dataset.dt, &starts, 5, 2);
    let truth = dataset.chunks(Split::Training, 20, 0).unwrap();
    let chunks: Vec<f64> =
        truth.chunks_exact(20 * 4).flat_map(|trajectory| trajectory[..5 * 4].to_vec()).collect();
    let sum: f64 = all.iter().zip(&chunks).map(|(a, b)| (a - b).abs()).sum();
    let mut objective = leastaction_learn::Objective::<f64>::new(
        &predictor,
        leastaction_learn::Loss::Absolute,
        dataset.dt,
        1,
    );
    let batch = leastaction_learn::Chunks { states: &chunks, samples: 5, dimension: 4 };
    let loss = objective.loss(&parameters, batch);
    assert!((loss - sum / (9.0 * 4.0 * 4.0)).abs() < 1e-13, "{loss}");
}

/// Data are of a model in an angle, with friction at its pivot; what learns them knows the place of the bob.
#[test]
fn friction_is_learned() {
    const ANGLE: &str = "param c = 0.3\ncoord th\nparticle bob mass 1 at [sin(th), -cos(th)]\ngravity [0, -9.81]\n\
        dissipation pivot = c*th'^2/2\nstart th = 1\nrun until 1\n";
    const PLACE: &str = "coord x, y\nparticle bob mass 1 at [x, y]\nconstraint rod: x^2 + y^2 = 1\nstart x = 1\nrun until 1\n";
    let plan = DatasetPlan {
        split: [60, 10, 0],
        samples: 5,
        dt: Some(0.05),
        starts: Starts::Sampled(vec!["th=uniform(-2,2)".to_owned(), "th'=uniform(-3,3)".to_owned()]),
        seed: 5,
        noise: 0.0,
        tolerance: 1e-10,
        threads: 2,
    };
    let (angle, place) = (Source::text("angle", ANGLE), Source::text("place", PLACE));
    let none = Overrides::default();
    let angles = Dataset::generate(&angle, &none, &plan, |_| ControlFlow::Continue(())).unwrap();
    let placed = |state: &[f64]| {
        let (sin, cos) = state[0].sin_cos();
        [sin, -cos, state[1] * cos, state[1] * sin]
    };
    let dataset = Dataset {
        origin: leastaction_learn::data::Origin::new(&place, &none),
        names: ["x", "y", "x'", "y'"].map(str::to_owned).to_vec(),
        states: angles.states.chunks_exact(2).flat_map(placed).collect(),
        ..angles
    };
    let (mut recipe, plan) = small(400);
    (recipe.damping, recipe.hidden) = (true, vec![16, 16]);
    let plan = TrainingPlan { single: false, ..plan };
    let mut trainer = Trainer::new(&recipe, &dataset, &plan, 2).unwrap();
    trainer.run(|_| Ok(ControlFlow::Continue(()))).unwrap();
    // The friction by the mass: only this can be seen.
    let numbers = &trainer.parameters()[trainer.layout().first_number()..];
    let found = numbers[1] * numbers[1] / numbers[0].exp();
    assert!((found - 0.3).abs() < 0.02, "{found}, {numbers:?}, {:?}", trainer.rows().last());
}

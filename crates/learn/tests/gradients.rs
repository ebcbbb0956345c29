//! Gradients of every architecture's loss by every parameter, against differences; and charts there and back.

use leastaction_expr::{Graph, Random};
use leastaction_learn::architecture::{ALL, Chart, Site};
use leastaction_learn::data::{Origin, Starts};
use leastaction_learn::{Chunks, Dataset, DatasetPlan, Loss, Objective, Recipe, Split, step};
use leastaction_network::Initial;
use leastaction_simulate::{Overrides, Source};
use std::ops::ControlFlow;

/// Systems with starts drawn at random: name, size.
const SYSTEMS: [(&str, Option<usize>); 6] = [
    ("n-pendulum", Some(1)),
    ("n-pendulum", Some(3)),
    ("coupled-pendulums", None),
    ("magnet-pendulum", None),
    ("gyroscope", None),
    ("rigid-rotor", None),
];

pub(crate) fn dataset(system: &str, size: Option<usize>, count: usize, samples: usize) -> Dataset {
    let plan = DatasetPlan {
        split: [count, 0, 0],
        samples,
        dt: Some(0.02),
        starts: Starts::Catalog,
        seed: 11,
        noise: 0.0,
        tolerance: 1e-10,
        threads: 2,
    };
    let source = Source::catalog(system, size).unwrap();
    Dataset::generate(&source, &Overrides::default(), &plan, |_| ControlFlow::Continue(())).unwrap()
}

/// Compares all derivatives with differences of fourth order, for weights that are drawn.
pub(crate) fn check_gradient(recipe: &Recipe, dataset: &Dataset, what: &str) {
    let predictor = recipe.predictor(&dataset.origin).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut random = Random::new(2);
    let mut parameters = predictor.layout().drawn(Initial::Orthogonal, 4);
    parameters.iter_mut().for_each(|p| *p += 0.1 * random.normal());
    let states =
        predictor.states(&dataset.chunks(Split::Training, dataset.samples, 0).unwrap(), dataset.samples);
    let batch = Chunks { states: &states, samples: dataset.samples, dimension: predictor.dimension() };
    // Squares, as sizes have corners.
    let mut objective = Objective::<f64>::new(&predictor, Loss::Squared, dataset.dt, 2);
    let mut gradient = vec![0.0; parameters.len()];
    let loss = objective.loss_and_gradient(&parameters, batch, &mut gradient);
    assert!((loss - objective.loss(&parameters, batch)).abs() <= 1e-15 * loss, "{what}");
    let size = gradient.iter().fold(0.0_f64, |size, g| size.max(g.abs()));
    assert!(size > 0.0, "{what}");
    let mut worst = (0.0, 0);
    let h = 1e-3;
    for place in 0..parameters.len() {
        let mut at = |k: f64| {
            let mut moved = parameters.clone();
            moved[place] += k * h;
            objective.loss(&moved, batch)
        };
        let slope = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * h);
        let error = (slope - gradient[place]).abs() / size;
        if error > worst.0 {
            worst = (error, place);
        }
    }
    assert!(worst.0 < 1e-6, "{what}: parameter {} of {} is off by {:e}", worst.1, parameters.len(), worst.0);
}

#[test]
fn gradients_of_every_architecture_are_differences() {
    for (system, size) in SYSTEMS {
        let dataset = dataset(system, size, 5, 3);
        // The last one learns what a text says, and has a test of its own.
        for card in ALL.iter().filter(|card| card.name != "known") {
            let mut recipe = Recipe::named(card.name).unwrap();
            recipe.hidden = vec![5, 4];
            check_gradient(&recipe, &dataset, &format!("{} of {system} {size:?}", card.name));
        }
    }
}

#[test]
fn gradients_go_back_through_every_step() {
    let dataset = dataset("n-pendulum", Some(2), 4, 3);
    for step in step::ALL {
        let mut recipe = Recipe::named("chnn").unwrap();
        (recipe.hidden, recipe.step, recipe.substeps) = (vec![5, 4], step, 2);
        check_gradient(&recipe, &dataset, step.name);
    }
}

#[test]
fn gradients_go_back_through_friction() {
    for (system, size) in [("n-pendulum", Some(2)), ("gyroscope", None)] {
        let dataset = dataset(system, size, 4, 3);
        for name in ["chnn", "clnn", "hnn", "delan"] {
            let mut recipe = Recipe::named(name).unwrap();
            (recipe.hidden, recipe.damping) = (vec![5, 4], true);
            check_gradient(&recipe, &dataset, &format!("{name} of {system} with friction"));
        }
    }
}

#[test]
fn charts_lead_there_and_back_and_angles_do_not_jump() {
    for (system, size) in SYSTEMS {
        let dataset = dataset(system, size, 6, 60);
        let predictor = Recipe::named("hnn").unwrap().predictor(&dataset.origin).unwrap();
        let states = predictor.states(&dataset.states, dataset.samples);
        let back = predictor.states_of_system(&states);
        for (found, expected) in back.iter().zip(&dataset.states) {
            assert!((found - expected).abs() < 1e-8 * (1.0 + expected.abs()), "{system}: {found} {expected}");
        }
        // Rates are those of the coordinates: between neighbours, to the third order.
        let (d, n) = (predictor.dimension(), predictor.dimension() / 2);
        if system.starts_with("n-") {
            for pair in states
                .chunks_exact(60 * d)
                .flat_map(|trajectory| trajectory.chunks_exact(d).zip(trajectory[d..].chunks_exact(d)))
            {
                for i in 0..n {
                    let mean = 0.5 * (pair.0[n + i] + pair.1[n + i]) * dataset.dt;
                    assert!((pair.1[i] - pair.0[i] - mean).abs() < 0.05, "{system}");
                }
            }
        }
    }
}

#[test]
fn angles_of_any_system_are_found() {
    let angles = |system: &str| {
        let (graph, source) = (Graph::new(), Source::catalog(system, None).unwrap());
        let origin = Origin::new(&source, &Overrides::default());
        let setup = origin.setup(&graph).unwrap();
        let chart = Chart::of(&Site { setup: &setup, system, text: &origin.text }).unwrap();
        (chart.degrees(), chart.feature_count())
    };
    assert_eq!(angles("double-pendulum"), (2, 4));
    assert_eq!(angles("spring-on-rail"), (3, 4));
    assert_eq!(angles("henon-heiles"), (2, 2));
}

#[test]
fn what_does_not_go_together_is_refused() {
    let origin = |system| Origin::new(&Source::catalog(system, None).unwrap(), &Overrides::default());
    let message =
        |name, system| Recipe::named(name).unwrap().predictor(&origin(system)).unwrap_err().to_string();
    assert!(
        message("chnn", "double-pendulum").contains("Cartesian"),
        "{}",
        message("chnn", "double-pendulum")
    );
    assert!(message("hnn", "four-bar").contains("constraints"), "{}", message("hnn", "four-bar"));
    let wrong = Recipe::named("gan").unwrap_err().to_string();
    assert!(wrong.contains("neural-ode"), "{wrong}");
    let refused = |recipe: &Recipe| recipe.predictor(&origin("n-pendulum")).unwrap_err().to_string();
    let mut recipe = Recipe::named("hnn").unwrap();
    recipe.step = leastaction_learn::step_named("rattle").unwrap();
    assert!(refused(&recipe).contains("use `rk38`"), "{}", refused(&recipe));
    let recipe = Recipe { damping: true, step: recipe.step, ..Recipe::named("chnn").unwrap() };
    assert!(refused(&recipe).contains("without damping"), "{}", refused(&recipe));
    let recipe = Recipe { damping: true, ..Recipe::named("neural-ode").unwrap() };
    assert!(refused(&recipe).contains("leave the damping out"), "{}", refused(&recipe));
    let mut recipe = Recipe::named("clnn").unwrap();
    recipe.damping = true;
    assert_eq!(Recipe::read(&recipe.lines()).unwrap(), recipe);
    recipe.removed = vec![3];
    let wrong = recipe.predictor(&origin("n-pendulum")).unwrap_err().to_string();
    assert!(wrong.contains("there are 3, counted from 0"), "{wrong}");
    assert_eq!(Recipe::read(&recipe.lines()).unwrap(), recipe);
}

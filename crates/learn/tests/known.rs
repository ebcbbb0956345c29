//! Networks among the energies of a model of one's own: gradients, and a force that is found.

use crate::gradients::check_gradient;
use leastaction_expr::Graph;
use leastaction_learn::data::{Origin, Starts};
use leastaction_learn::evaluate::{rollout, summarize};
use leastaction_learn::train::{TrainError, Trainer, TrainingPlan};
use leastaction_learn::{Dataset, DatasetPlan, Recipe, Split};
use leastaction_simulate::{Overrides, Source};
use std::ops::ControlFlow;

/// A pendulum with friction on a cart, and a spring that nobody knows of.
const TRUTH: &str = "param g = 9.81, k = 3, c = 0.1\ncoord x, th\nparticle cart mass 2 at [x, 0]\nparticle bob mass 1 at [x + sin(th), -cos(th)]\n\
    gravity [0, -g]\npotential spring = k*x^2/2 + x^4\ndissipation pivot = c*th'^2/2\nstart th = 1\nrun until 2\n";
const KNOWN: &str = "param g = 9.81, c = 0.1\ncoord x, th\nparticle cart mass 2 at [x, 0]\nparticle bob mass 1 at [x + sin(th), -cos(th)]\n\
    gravity [0, -g]\nnetwork extra of x hidden 12, 12 # what is it?\ndissipation pivot = c*th'^2/2\nstart th = 1\nrun until 2\n";

fn dataset(text: &str, starts: &[&str], split: [usize; 3], samples: usize) -> Dataset {
    let plan = DatasetPlan {
        split,
        samples,
        dt: Some(0.05),
        starts: Starts::Sampled(starts.iter().map(|text| (*text).to_owned()).collect()),
        seed: 2,
        noise: 0.0,
        tolerance: 1e-11,
        threads: 2,
    };
    let source = Source::text("truth", text);
    Dataset::generate(&source, &Overrides::default(), &plan, |_| ControlFlow::Continue(())).unwrap()
}

fn origin(text: &str) -> Origin {
    Origin::new(&Source::text("known", text), &Overrides::default())
}

const STARTS: [&str; 4] = ["x=uniform(-1,1)", "th=uniform(-1,1)", "x'=uniform(-1,1)", "th'=uniform(-2,2)"];

#[test]
fn gradients_of_texts_are_differences() {
    let free = Dataset { origin: origin(KNOWN), ..dataset(TRUTH, &STARTS, [5, 0, 0], 3) };
    check_gradient(&Recipe::named("known").unwrap(), &free, "a pendulum on a cart");
    // On a constraint, with two networks, one of them of an angle.
    let text = "coord x, y, th\nparticle bob mass 1.3 at [x, y]\nparticle hand mass 0.4 at [x + 0.5*sin(th), y - 0.5*cos(th)]\n\
        constraint rod: x^2 + y^2 = 1\n";
    let truth = format!("{text}potential v = y*9 + cos(th)\nstart x = 1\nrun until 1\n");
    let known = format!(
        "{text}network one of x, y hidden 5\nnetwork two of cos(th), sin(th), x hidden 4, 3 units softplus\nstart x = 1\nrun until 1\n"
    );
    let held = Dataset {
        origin: origin(&known),
        ..dataset(&truth, &["th=uniform(-1,1)", "th'=uniform(-1,1)"], [5, 0, 0], 3)
    };
    check_gradient(&Recipe::named("known").unwrap(), &held, "a hand on a rod");
}

#[test]
fn a_force_that_a_text_lacks_is_found_and_the_text_runs() {
    let data = dataset(TRUTH, &STARTS, [80, 10, 5], 20);
    let plan = TrainingPlan {
        steps: 500,
        batch: 40,
        rate: 1e-2,
        validate_every: 20,
        single: false,
        ..TrainingPlan::default()
    };
    let recipe = Recipe::named("known").unwrap();
    let mut trainer = Trainer::of(&recipe, &origin(KNOWN), &data, &plan, 2).unwrap();
    trainer.run(|_| Ok(ControlFlow::Continue(()))).unwrap();
    let learned = trainer.learned();
    let predictor = learned.predictor().unwrap();
    let truth = data.part(Split::Test);
    let starts: Vec<f64> = truth.chunks_exact(80).flat_map(|trajectory| &trajectory[..4]).copied().collect();
    let found = rollout(&predictor, &learned.parameters, 0.05, &starts, 20, 1);
    let (summary, _) = summarize(&found, truth, 4, 20);
    assert!(summary.geometric_mean < 3e-3, "{summary:?}");

    // The force of the spring, as the network gives it, by differences of what it moves: as a model again.
    let folder = std::env::temp_dir().join(format!("leastaction-known-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let weights = folder.join("extra.safetensors");
    learned.write(&weights, trainer.layout()).unwrap();
    let text = learned.motion(&weights, &std::fs::read(&weights).unwrap()).unwrap().unwrap();
    assert!(text.contains("network extra of x from \"extra.safetensors\" hash \""), "{text}");
    assert!(text.contains("# what is it?") && !text.contains("hidden"), "{text}");
    std::fs::write(folder.join("extra.motion"), &text).unwrap();
    let source = Source::file(&folder.join("extra.motion").to_string_lossy()).unwrap();
    let graph = Graph::new();
    let mut dynamics = source.problem(&graph, &Overrides::default()).unwrap().dynamics;
    for x in [-0.8_f64, -0.3, 0.0, 0.5, 0.9] {
        // At rest with the pendulum hanging down, nothing else acts on the cart.
        let mut acceleration = [0.0; 2];
        dynamics.accelerations(&[0.0], &[x, 0.0, 0.0, 0.0], &mut acceleration).unwrap();
        let force = acceleration[0] * 3.0 + acceleration[1];
        let expected = -3.0 * x - 4.0 * x.powi(3);
        assert!((force - expected).abs() < 0.15, "{x}: {force} {expected}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn texts_that_cannot_be_learned_are_refused() {
    let data = dataset(TRUTH, &STARTS, [3, 0, 0], 5);
    let plan = TrainingPlan { batch: 3, ..TrainingPlan::default() };
    let wrong =
        |text: &str| match Trainer::of(&Recipe::named("known").unwrap(), &origin(text), &data, &plan, 1) {
            Err(wrong) => wrong,
            Ok(_) => panic!("{text}"),
        };
    assert!(wrong(TRUTH).to_string().contains("--model"), "{}", wrong(TRUTH));
    let other = KNOWN.replace("coord x, th", "coord th, x");
    assert!(matches!(wrong(&other), TrainError::Names { .. }));
    let timed =
        KNOWN.replace("gravity [0, -g]", "force push = sin(t) on x").replace("param g = 9.81, ", "param ");
    let message = wrong(&timed).to_string();
    assert!(message.contains("depend on time") || message.contains("text"), "{message}");
    let energy = KNOWN.replace("hidden 12, 12", "hidden 12, 12\nhamiltonian p_x^2/2 + p_th^2/2");
    assert!(wrong(&energy).to_string().len() > 10);
}

//! What was learned is a model again, which moves as its predictions do.

use crate::gradients::dataset;
use leastaction_expr::Graph;
use leastaction_learn::evaluate::{rollout, summarize};
use leastaction_learn::{Learned, Recipe, step_named};
use leastaction_network::Initial;
use leastaction_simulate::{Overrides, Source};

#[test]
fn learned_models_are_run_by_the_engine() {
    for (system, size, name, step, damping) in [
        ("n-pendulum", Some(2), "chnn", "rk38", false),
        ("gyroscope", None, "clnn", "rk38", false),
        ("coupled-pendulums", None, "chnn", "rk38", false),
        ("n-pendulum", Some(2), "chnn", "rk38", true),
        ("gyroscope", None, "clnn", "rk38", true),
        ("n-pendulum", Some(3), "clnn", "rattle", false),
        ("gyroscope", None, "chnn", "rattle", false),
    ] {
        let dataset = dataset(system, size, 3, 10);
        let mut recipe = Recipe::named(name).unwrap();
        (recipe.hidden, recipe.substeps, recipe.damping) = (vec![9, 8], 8, damping);
        recipe.step = step_named(step).unwrap();
        // The engine takes the same steps, or its own, which are all but exact.
        let own = step == "rattle";
        if own {
            recipe.substeps = 2;
        }
        let predictor = recipe.predictor(&dataset.origin).unwrap();
        let mut parameters = predictor.layout().drawn(Initial::Orthogonal, 6);
        let first = predictor.layout().first_number();
        (first..parameters.len()).for_each(|k| parameters[k] = 0.1 * (k - first) as f64 - 0.2);
        let learned = Learned {
            recipe,
            origin: dataset.origin.clone(),
            dt: dataset.dt,
            parameters,
            training: String::new(),
        };

        let folder = std::env::temp_dir().join(format!("leastaction-motion-{system}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let weights = folder.join("learned.safetensors");
        learned.write(&weights, predictor.layout()).unwrap();
        assert_eq!(Learned::read(&weights).unwrap().0, learned);
        let bytes = std::fs::read(&weights).unwrap();
        let text = learned.motion(&weights, &bytes).unwrap().unwrap();
        let path = folder.join("learned.motion");
        std::fs::write(&path, &text).unwrap();
        let source = Source::file(&path.to_string_lossy()).unwrap();

        let (samples, d) = (10, dataset.dimension());
        let predicted =
            rollout(&predictor, &learned.parameters, dataset.dt, &dataset.states[..d], samples, 1);
        let names = dataset.names.iter().cloned();
        let asked = Overrides {
            start: names.zip(dataset.states[..d].iter().copied()).collect(),
            until: Some(dataset.dt * (samples - 1) as f64),
            every: Some(dataset.dt),
            method: Some(if own { "rattle" } else { "dop853" }.to_owned()),
            tolerance: (!own).then_some(1e-11),
            step: own.then_some(dataset.dt / 2.0),
            ..Overrides::default()
        };
        let run = source
            .simulation(&Graph::new(), &asked)
            .unwrap_or_else(|error| panic!("{text}\n{error}"))
            .run()
            .unwrap();
        let drift = run.measure().unwrap().energy.drift.relative();
        assert!(own || (drift < 1e-8) != damping, "{system} {name}: {drift}");
        let mut found = Vec::new();
        for sample in 0..samples {
            let state = run.trajectory.state(sample).unwrap();
            found.extend(state.q.iter().copied().chain(run.velocities(&state).unwrap()));
        }
        let (summary, _) = summarize(&found, &predicted, d, samples);
        let within = if own { 2e-8 } else { 3e-7 };
        assert!(summary.mean < within, "{system} {name} {step} {damping}: {summary:?}");

        // Another file of weights, and a damaged one.
        let mut wrong = bytes;
        let last = wrong.len() - 20;
        wrong[last] ^= 1;
        std::fs::write(&weights, &wrong).unwrap();
        let error = source.simulation(&Graph::new(), &Overrides::default()).err().unwrap().to_string();
        assert!(error.contains("hash"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}

//! What was learned is a model again, which moves as its predictions do.

use crate::gradients::dataset;
use leastaction_expr::Graph;
use leastaction_learn::evaluate::{rollout, summarize};
use leastaction_learn::{Learned, Recipe};
use leastaction_network::Initial;
use leastaction_simulate::{Overrides, Source};

#[test]
fn learned_models_are_run_by_the_engine() {
    for (system, size, name) in
        [("n-pendulum", Some(2), "chnn"), ("gyroscope", None, "clnn"), ("coupled-pendulums", None, "chnn")]
    {
        let dataset = dataset(system, size, 3, 10);
        let mut recipe = Recipe::named(name).unwrap();
        (recipe.hidden, recipe.substeps) = (vec![9, 8], 8);
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
        let predicted = rollout(&predictor, &learned.parameters, dataset.dt, &dataset.states[..d], samples);
        let names = dataset.names.iter().cloned();
        let asked = Overrides {
            start: names.zip(dataset.states[..d].iter().copied()).collect(),
            until: Some(dataset.dt * (samples - 1) as f64),
            every: Some(dataset.dt),
            method: Some("dop853".to_owned()),
            tolerance: Some(1e-11),
            ..Overrides::default()
        };
        let run = source
            .simulation(&Graph::new(), &asked)
            .unwrap_or_else(|error| panic!("{text}\n{error}"))
            .run()
            .unwrap();
        assert!(run.measure().unwrap().energy.drift.relative() < 1e-8, "{system}");
        let mut found = Vec::new();
        for sample in 0..samples {
            let state = run.trajectory.state(sample).unwrap();
            found.extend(state.q.iter().copied().chain(run.velocities(&state).unwrap()));
        }
        let (summary, _) = summarize(&found, &predicted, d, samples);
        assert!(summary.mean < 3e-7, "{system}: {summary:?}");

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

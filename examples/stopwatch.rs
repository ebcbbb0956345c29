//! Times a model from its text, as JSON: `stopwatch FILE METHOD TOLERANCE REPEATS`. `make compare` puts it beside other programs.

use leastaction::{Graph, Integrator, Tolerance, language};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, method, tolerance, repeats] = &arguments[..] else {
        return Err("stopwatch FILE METHOD TOLERANCE REPEATS".into());
    };
    let integrator = Integrator::named(method, Tolerance::relative(tolerance.parse()?))?.ends_only();
    let source = std::fs::read_to_string(file)?;

    let before = Instant::now();
    let graph = Graph::new();
    let setup = language::read(&graph, &source, &[])?;
    let mut dynamics = setup.model.system()?.dynamics()?;
    setup.bind(&mut dynamics)?;
    let start = dynamics.start(&setup.start(&dynamics)?)?;
    let ready = before.elapsed();

    // A method compiles its steps in each run, so that its time is in these.
    let (mut runs, mut end) = (Vec::new(), start.clone());
    for _ in 0..repeats.parse()? {
        let before = Instant::now();
        end = integrator.run(&mut dynamics, &start, setup.plan.until)?.end();
        runs.push(before.elapsed().as_secs_f64());
    }
    let mut velocities = vec![0.0; end.q.len()];
    dynamics.velocities(&[end.t], &end.block(), &mut velocities)?;
    let state: Vec<f64> = end.q.iter().copied().chain(velocities).collect();
    println!(r#"{{"ready": {}, "runs": {runs:?}, "state": {state:?}}}"#, ready.as_secs_f64());
    Ok(())
}

//! A model from a text, integrated and measured from Rust.

use leastaction::output::Record;
use leastaction::{Choice, Graph, language};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let source = include_str!("../book/models/atwood.motion");
    let graph = Graph::new();
    let setup = language::read(&graph, source, &[("M", 2.2)])?;

    // Compile the equations of motion, and begin where the file says.
    let mut dynamics = setup.model.system()?.dynamics()?;
    let start = dynamics.start(&setup.start(&dynamics)?)?;

    // Nobody named a method, so one is chosen.
    let Choice { integrator, why } = Choice::new(&mut dynamics, &start, setup.plan.until, None)?;
    let integrator = integrator.spaced(0.01);
    let run = integrator.run(&mut dynamics, &start, setup.plan.until)?;
    println!("{} was chosen: {why}", integrator.card().name);
    println!("{} steps, the energy is off by {:.0e}", run.work().steps, run.energy_drift(&mut dynamics)?);

    // All that can be told about the samples, column by column.
    let record = Record::new(&run, &mut dynamics, &[])?;
    for (_, name, values) in record.columns() {
        let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(a, b), &x| (a.min(x), b.max(x)));
        println!("{name:>12} from {low:8.3} to {high:8.3}");
    }
    Ok(())
}

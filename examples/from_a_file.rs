//! A model with all that its text says, run from Rust: its method, samples, outputs and events.

use leastaction::{Graph, Overrides, Source};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let source = Source::text("ball", include_str!("../book/models/ball.motion"));
    let run = source.simulation(&Graph::new(), &Overrides::default())?.run()?;
    let (method, drift) = (run.simulation.integrator.card().name, run.energy()?.drift.relative());
    println!("{method}, energy off by {drift:.0e}");
    run.events().for_each(|(name, crossings)| println!("{name}: {} times", crossings.len()));
    run.record()?.columns().for_each(|(_, name, all)| println!("{name:>9} = {:.6}", all[all.len() - 1]));
    Ok(())
}

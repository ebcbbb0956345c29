//! A text with all it says, run from Rust: its method, samples, outputs and events.

use leastaction::{Graph, Overrides, Source};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let source = Source::text("ball", include_str!("../book/models/ball.motion"));
    let run = source.simulation(&Graph::new(), &Overrides::default())?.run()?;
    println!(
        "{}, energy off by {:.0e}",
        run.simulation.integrator.card().name,
        run.energy()?.drift.relative()
    );
    run.events().for_each(|(name, crossings)| println!("{name}: {} times", crossings.len()));
    for (_, name, values) in run.record()?.columns() {
        let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(a, b), &x| (a.min(x), b.max(x)));
        println!("{name:>12} from {low:8.3} to {high:8.3}");
    }
    Ok(())
}

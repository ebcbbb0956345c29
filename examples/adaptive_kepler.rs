//! A comet with eccentricity 0.9, a hundred times around the sun: fixed steps, naive adaptive steps, and adaptive steps that keep
//! the structure of the motion, with about as many steps each.
//!
//! ```text
//! cargo run --release --example adaptive_kepler
//! ```

use leastaction::{Block, Card, Density, Dynamics, Graph, Integrator, Keeps, Model, State, Sundman};
use std::error::Error;
use std::f64::consts::TAU;
use std::ops::ControlFlow;

const ORBITS: f64 = 100.0;
const END: f64 = ORBITS * TAU;
/// About 420 steps for an orbit.
const EPSILON: f64 = 0.02;
/// The step that is wanted, up to a factor: Kepler's third law.
const WANTED: &str = "(x^2 + y^2)^(3/4)";

/// Times, energies, how many steps, and where it ended.
type Outcome = (Vec<f64>, Vec<f64>, u64, State);

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    let r = (x * x + y * y).sqrt();
    model.particle("comet", 1.0, [x, y]);
    model.potential("gravity", -1.0 / r);
    let equations = model.equations()?;
    let sundman = equations.in_fictitious_time(r.pow(1.5))?;
    let mut dynamics = equations.system()?.dynamics()?;
    let start = dynamics.start(&[("x", 0.1), ("y'", 19f64.sqrt())])?;

    println!("| method | pace | steps | largest energy error | drift of the energy | error of the place |");
    println!("|---|---|---|---|---|---|");
    for name in ["verlet", "implicit-midpoint", "blanes-moan4-rkn", "blanes-moan6", "kahan-li8"] {
        let Ok(card) = Card::named(name) else { continue };
        let density = run(&Integrator::new(card, Density::of(WANTED, EPSILON)), &mut dynamics, &start)?;
        let fixed = Integrator::new(card, END / density.2 as f64);
        report(card, "fixed", run(&fixed, &mut dynamics, &start), &start);
        report(card, "naive: h = εQ(y)", naive(card, &mut dynamics, &start), &start);
        report(card, "density", Ok(density), &start);
        let natural = Integrator::new(card, Density::natural(EPSILON * 5f64.powf(0.25)));
        report(card, "density, natural", run(&natural, &mut dynamics, &start), &start);
        if card.needs.met_by(sundman.system().facts()) && card.keeps.contains(&Keeps::Symplectic) {
            report(card, "fictitious time", fictitious(card, &sundman, &mut dynamics, &start), &start);
        }
    }
    Ok(())
}

fn run(method: &Integrator, dynamics: &mut Dynamics, start: &State) -> Result<Outcome, Box<dyn Error>> {
    let orbits = method.run(dynamics, start, END)?;
    Ok((orbits.times().to_vec(), orbits.energies(dynamics)?, orbits.work().steps, orbits.end()))
}

fn fictitious(
    card: &'static Card,
    sundman: &Sundman,
    dynamics: &mut Dynamics,
    start: &State,
) -> Result<Outcome, Box<dyn Error>> {
    let orbits = Integrator::new(card, EPSILON).run_in_fictitious_time(sundman, dynamics, start, END)?;
    Ok((orbits.times().to_vec(), orbits.energies(dynamics)?, orbits.work().steps, orbits.end()))
}

/// What not to do: each step from the state at its beginning.
fn naive(card: &'static Card, dynamics: &mut Dynamics, start: &State) -> Result<Outcome, Box<dyn Error>> {
    let (mut times, mut energies, mut energy) = (Vec::new(), Vec::new(), [0.0]);
    let (mut t, mut block) = (start.t, Block::one(&start.block()));
    while t < END {
        let [x, y] = [block.values()[0], block.values()[1]];
        let end = (t + EPSILON * (x * x + y * y).powf(0.75)).min(END);
        let step = Integrator::new(card, end - t);
        step.march(dynamics, t, &mut block, end, |_| Ok(ControlFlow::Continue(())))?;
        t = end;
        dynamics.energy(&[t], block.values(), &mut energy)?;
        times.push(t);
        energies.push(energy[0]);
    }
    let count = times.len() as u64;
    Ok((times, energies, count, State::from_block(t, block.values(), 2)))
}

fn report(card: &Card, pace: &str, outcome: Result<Outcome, Box<dyn Error>>, start: &State) {
    match outcome {
        Err(error) => println!("| {} | {pace} | – | {error} | | |", card.name),
        Ok((times, energies, steps, end)) => {
            let worst = energies.iter().map(|e| (e + 0.5).abs() / 0.5).fold(0.0, f64::max);
            let drift = slope(&times, &energies) * END / 0.5;
            // After whole periods the comet is where it began.
            let off = (end.q[0] - start.q[0]).hypot(end.q[1] - start.q[1]);
            println!("| {} | {pace} | {steps} | {worst:.1e} | {drift:.1e} | {off:.1e} |", card.name);
        }
    }
}

/// The slope of the line through points.
fn slope(x: &[f64], y: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mx, my) = (mean(x), mean(y));
    let pairs = || x.iter().zip(y).map(|(x, y)| (x - mx, y - my));
    pairs().map(|(x, y)| x * y).sum::<f64>() / pairs().map(|(x, _)| x * x).sum::<f64>()
}

//! How do long chains scale? A hanging chain of N point masses in the plane, and one of N rigid rods in space, both shaken, by `rattle`.
//!
//! A rod is two points, its centre and one at unit distance along it (as [`Model`] sees it, coordinates with a constant mass matrix), so that a
//! chain of N rods has 6 N coordinates and 4 N constraints.

use leastaction_expr::{Expr, Graph};
use leastaction_integrate::{Integrator, Work};
use leastaction_mechanics::{Dynamics, Model, State};
use std::time::{Duration, Instant};

const GRAVITY: f64 = 9.81;

/// A model, and where its motion starts.
type Chain<'g> = (Model<'g>, Vec<(String, f64)>);

/// The angle of a link to the vertical, which grows towards the free end, and how fast it changes: neighbours are shaken to opposite sides.
fn shaken(link: usize, count: usize) -> (f64, f64) {
    let speed = 0.5 * GRAVITY.sqrt();
    (0.5 * (link + 1) as f64 / count as f64, if link % 2 == 0 { speed } else { -speed })
}

/// Points of mass 1 in the plane, one below the other at a distance of 1.
fn points(graph: &Graph, count: usize) -> Chain<'_> {
    let mut model = Model::new(graph);
    let [m, l, g] = model.parameters([("m", 1.0), ("l", 1.0), ("g", GRAVITY)]);
    let mut start = Vec::with_capacity(4 * count);
    let (mut above, mut place, mut speed) = ([graph.number(0.0); 2], [0.0; 2], [0.0; 2]);
    for i in 0..count {
        let names = [format!("x{i}"), format!("y{i}")];
        let [x, y] = names.each_ref().map(|name| model.coordinate(name));
        model.particle(&format!("mass {i}"), m, [x, y]);
        let (dx, dy) = (x - above[0], y - above[1]);
        model.constraint(&format!("link {i}"), dx * dx + dy * dy, l * l);
        above = [x, y];
        let (angle, rate) = shaken(i, count);
        let (sin, cos) = angle.sin_cos();
        for (d, name) in names.into_iter().enumerate() {
            place[d] += [sin, -cos][d];
            speed[d] += [cos, sin][d] * rate;
            start.push((format!("{name}'"), speed[d]));
            start.push((name, place[d]));
        }
    }
    model.gravity([graph.number(0.0), -g]);
    (model, start)
}

fn squares<'g>([x, y, z]: [Expr<'g>; 3]) -> Expr<'g> {
    x * x + y * y + z * z
}

/// Rods of mass 1 and length 1 in space, joined end to end.
fn rods(graph: &Graph, count: usize) -> Chain<'_> {
    let mut model = Model::new(graph);
    let [m, g] = model.parameters([("m", 1.0), ("g", GRAVITY)]);
    let moment = m / 12.0; // ∫ s² dm along a rod of length 1
    let mut start = Vec::with_capacity(12 * count);
    let (mut above, mut hook, mut swing) = ([graph.number(0.0); 3], [0.0; 3], [0.0; 3]);
    for i in 0..count {
        let names = |point: &str| ["x", "y", "z"].map(|axis| format!("{axis}{point}{i}"));
        let (centres, tips) = (names("c"), names("e"));
        let centre = centres.each_ref().map(|name| model.coordinate(name));
        let tip = tips.each_ref().map(|name| model.coordinate(name));
        let along: [Expr<'_>; 3] = std::array::from_fn(|d| tip[d] - centre[d]);
        let (speed, turn) = (model.velocities(centre), model.velocities(along));
        model.kinetic(&format!("rod {i}"), 0.5 * m * squares(speed) + 0.5 * moment * squares(turn));
        model.potential(&format!("weight {i}"), m * g * centre[2]);
        model.constraint(&format!("unit {i}"), squares(along), 1.0);
        for d in 0..3 {
            model.constraint(&format!("joint {i} {d}"), centre[d] - 0.5 * along[d], above[d]);
            above[d] = centre[d] + 0.5 * along[d];
        }
        let (angle, rate) = shaken(i, count);
        let ((sin, cos), (east, north)) = (angle.sin_cos(), (4.0 * angle).sin_cos());
        let direction = [sin * north, sin * east, -cos];
        let change = [cos * north, cos * east, sin].map(|x| x * rate);
        for d in 0..3 {
            for (name, at) in [(&centres[d], 0.5), (&tips[d], 1.5)] {
                start.push((name.clone(), hook[d] + at * direction[d]));
                start.push((format!("{name}'"), swing[d] + at * change[d]));
            }
            hook[d] += direction[d];
            swing[d] += change[d];
        }
    }
    (model, start)
}

/// What a run is judged by.
struct Report {
    made: Duration,
    per_step: Duration,
    iterations: f64,
    /// Of positions, relative to the length of the chain.
    violation: f64,
    energy: f64,
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |m, x| m.max(x.abs()))
}

fn energy(dynamics: &mut Dynamics, y: &[f64]) -> f64 {
    let mut energy = [0.0];
    dynamics.energy(&[0.0], y, &mut energy).expect("a chain has energy");
    energy[0]
}

fn measure(count: usize, chain: fn(&Graph, usize) -> Chain<'_>) -> Report {
    let begun = Instant::now();
    let graph = Graph::new();
    let (model, start) = chain(&graph, count);
    let mut dynamics =
        model.system().expect("a chain is a good model").dynamics().expect("masses are positive");
    let made = begun.elapsed();
    let start: Vec<(&str, f64)> = start.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let start = dynamics.start(&start).expect("a chain hangs together");

    // The tension at the top, Nmg, makes waves there the fastest: ω = 2√(Ng/l).
    let step = 0.1 / (count as f64 * GRAVITY).sqrt();
    let run = Integrator::named("rattle", step).expect("there is such a method").ends_only();
    let mut go = |state: &State, steps: u64| {
        let until = state.t + step * steps as f64;
        let (begun, done) = (Instant::now(), run.run(&mut dynamics, state, until).expect("it runs"));
        (begun.elapsed(), done.end(), done.work())
    };
    // Kernels are compiled, and guesses have a past, after the first steps.
    let steps = (2_000_000 / count as u64).clamp(100, 20_000);
    let (_, warm, _) = go(&start, 10);
    let (elapsed, end, work): (Duration, State, Work) = go(&warm, steps);

    let block = end.block();
    let rows = dynamics.system().constraints().len();
    let (mut positions, mut velocities) = (vec![0.0; rows], vec![0.0; rows]);
    dynamics.violations(&[end.t], &block, &mut positions, &mut velocities).expect("slices fit");
    let (before, after) = (energy(&mut dynamics, &start.block()), energy(&mut dynamics, &block));
    Report {
        made,
        per_step: elapsed / steps as u32,
        iterations: work.iterations as f64 / steps as f64,
        violation: largest(&positions) / count as f64,
        energy: ((after - before) / before).abs(),
    }
}

fn main() {
    let chains: [(&str, fn(&Graph, usize) -> Chain<'_>, &[usize]); 2] = [
        ("point masses in the plane", points, &[10, 100, 1000, 10_000, 100_000]),
        ("rigid rods in space", rods, &[10, 100, 1000, 10_000]),
    ];
    let limit = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(usize::MAX);
    for (name, chain, counts) in chains {
        println!("hanging chains of N {name}, shaken, by `rattle` in one thread\n");
        println!(
            "| N | model to system | step | per link | iterations | constraint error / N | energy error |"
        );
        println!("|---|---|---|---|---|---|---|");
        for &count in counts.iter().filter(|&&count| count <= limit) {
            let Report { made, per_step, iterations, violation, energy } = measure(count, chain);
            let link = per_step.as_secs_f64() * 1e6 / count as f64;
            println!(
                "| {count} | {made:.2?} | {per_step:.2?} | {link:.3} µs | {iterations:.1} | {violation:.1e} | {energy:.1e} |"
            );
        }
        println!();
    }
}

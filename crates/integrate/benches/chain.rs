//! How do long chains scale? A hanging chain of N point masses in the plane, and one of N rigid rods in space, both shaken, by `rattle`.
//!
//! A rod is two points, its centre and one at unit distance along it, so that a chain of N rods has 6 N coordinates and 4 N constraints.

use leastaction_expr::Graph;
use leastaction_integrate::{Block, End, Integrator};
use leastaction_mechanics::{Dynamics, Inertia, Model, Pose};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

const GRAVITY: f64 = 9.81;
const ROUNDS: u64 = 10;

/// A model, and where its motion starts.
type Chain<'g> = (Model<'g>, Vec<(String, f64)>);
type Make = fn(&Graph, usize) -> Chain<'_>;

/// The angle of a link to the vertical, which grows towards the free end, and how fast it changes: neighbours are shaken to opposite sides.
fn shaken(link: usize, count: usize) -> (f64, f64) {
    let speed = 0.5 * GRAVITY.sqrt();
    (0.5 * (link + 1) as f64 / count as f64, if link.is_multiple_of(2) { speed } else { -speed })
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

/// Rods of mass 1 and length 1 in space, joined end to end.
fn rods(graph: &Graph, count: usize) -> Chain<'_> {
    let mut model = Model::new(graph);
    let (mut start, mut above) = (Vec::with_capacity(12 * count), model.anchor([0.0; 3]));
    let (mut hook, mut swing) = ([0.0; 3], [0.0; 3]);
    for i in 0..count {
        let rod = Inertia::rod(1.0, 1.0).expect("a rod has mass and length");
        let rod = model.body(&format!("rod{i}"), rod).expect("names differ");
        let end = |x: f64| rod.point([x, 0.0, 0.0]).expect("a point of the rod");
        model.ball(&format!("joint{i}"), &end(-0.5), &above).expect("points of two bodies");
        above = end(0.5);
        let (angle, rate) = shaken(i, count);
        let ((sin, cos), (east, north)) = (angle.sin_cos(), (4.0 * angle).sin_cos());
        let (along, aside) = ([sin * north, sin * east, -cos], [cos * north, cos * east, sin]);
        let at = |part: f64| std::array::from_fn(|d| hook[d] + part * along[d]);
        let speed: [f64; 3] = std::array::from_fn(|d| swing[d] + 0.5 * rate * aside[d]);
        // along × aside
        let spin = [east, -north, 0.0].map(|x| rate * x);
        let pose = Pose::between(at(0.0), at(1.0)).expect("the ends differ").moving(speed).spinning(spin);
        let values = rod.start(&pose).expect("a pose in space").into_iter();
        start.extend(values.map(|(name, value)| (name.to_owned(), value)));
        (hook, swing) = (at(1.0), std::array::from_fn(|d| swing[d] + rate * aside[d]));
    }
    model.gravity([0.0, 0.0, -GRAVITY]);
    (model, start)
}

/// What a run is judged by.
struct Report {
    construction: Duration,
    per_step: Duration,
    iterations: f64,
    /// Of positions, relative to the length of the chain.
    violation: f64,
    energy: f64,
}

fn energy(dynamics: &mut Dynamics, y: &[f64]) -> f64 {
    let mut energy = [0.0];
    dynamics.energy(&[0.0], y, &mut energy).expect("a chain has energy");
    energy[0]
}

fn measure(count: usize, chain: Make) -> Report {
    let begun = Instant::now();
    let graph = Graph::new();
    let (model, start) = chain(&graph, count);
    let mut dynamics =
        model.system().expect("a chain is a good model").dynamics().expect("masses are positive");
    let construction = begun.elapsed();
    let start: Vec<(&str, f64)> = start.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let start = dynamics.start(&start).expect("a chain hangs together");

    // The tension at the top, Nmg, makes waves there the fastest: ω = 2√(Ng/l).
    let step = 0.1 / (count as f64 * GRAVITY).sqrt();
    let steps = (200_000 / count as u64).clamp(20, 2000);
    let run = Integrator::named("rattle", step).expect("there is such a method").every(steps);
    let mut block = Block::one(&start.block());
    let end = step * (steps * (ROUNDS + 1)) as f64;
    // The first round compiles kernels, and gives guesses a past.
    let (mut before, mut best) = (Instant::now(), Duration::MAX);
    let ended = run.march(&mut dynamics, start.t, &mut block, end, |sample| {
        if sample.step > steps {
            best = best.min(before.elapsed());
        }
        before = Instant::now();
        Ok(ControlFlow::Continue(()))
    });
    let End { t, work, .. } = ended.expect("it runs");

    let rows = dynamics.system().constraints().len();
    let (mut positions, mut velocities) = (vec![0.0; rows], vec![0.0; rows]);
    dynamics.violations(&[t], block.values(), &mut positions, &mut velocities).expect("slices fit");
    let (first, last) = (energy(&mut dynamics, &start.block()), energy(&mut dynamics, block.values()));
    Report {
        construction,
        per_step: best / steps as u32,
        iterations: work.iterations as f64 / work.steps as f64,
        violation: positions.iter().fold(0.0f64, |m, x| m.max(x.abs())) / count as f64,
        energy: ((last - first) / first).abs(),
    }
}

fn main() {
    let chains: [(&str, Make, &[usize]); 2] = [
        ("point masses in the plane", points, &[10, 100, 1000, 10_000, 100_000]),
        ("rigid rods in space", rods, &[10, 100, 1000, 10_000]),
    ];
    let limit = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(usize::MAX);
    for (name, chain, counts) in chains {
        println!("hanging chains of N {name}, shaken, by `rattle` in one thread, best of {ROUNDS} rounds\n");
        println!(
            "| N | model to system | step | per link | iterations | constraint error / N | energy error |"
        );
        println!("|---|---|---|---|---|---|---|");
        for &count in counts.iter().filter(|&&count| count <= limit) {
            let Report { construction, per_step, iterations, violation, energy } = measure(count, chain);
            let link = per_step.as_secs_f64() * 1e6 / count as f64;
            println!(
                "| {count} | {construction:.2?} | {per_step:.2?} | {link:.3} µs | {iterations:.1} | {violation:.1e} | {energy:.1e} |"
            );
        }
        println!();
    }
}

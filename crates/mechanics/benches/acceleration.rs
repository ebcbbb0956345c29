//! What does one acceleration cost? A hanging chain of N unit masses on unit rods in the plane, from the model to the kernel and then for
//! each call: in angles, where the mass matrix is full, and in positions, where rods are constraints.
//!
//! With `--json` each row is one line of JSON, with times in seconds; a number is the largest N.

use leastaction_expr::Graph;
use leastaction_mechanics::{Model, Quantity};
use std::hint::black_box;
use std::time::{Duration, Instant};

const GRAVITY: f64 = 9.81;
/// The way from a model to the first acceleration is taken again and again for this long; the best counts.
const MADE: Duration = Duration::from_millis(300);
/// Samples are this short so that some of them are not interrupted, and are taken for so long.
const SAMPLE: Duration = Duration::from_micros(200);
const SAMPLED: Duration = Duration::from_millis(1500);

/// Accelerations, of angles, their rates and their accelerations.
type Expected = fn(&[f64], &[f64], &[f64]) -> Vec<f64>;

/// A chain in some coordinates.
struct Picture {
    name: &'static str,
    model: fn(&Graph, usize) -> Model<'_>,
    /// The coordinates and their rates, of angles and their rates.
    state: fn(&[f64], &[f64]) -> Vec<f64>,
    expected: Expected,
    /// The kernel, if there is one for all.
    quantity: Option<Quantity>,
    counts: &'static [usize],
}

const PICTURES: [Picture; 2] = [
    Picture {
        name: "angles",
        model: angles,
        state: |angles, rates| [angles, rates].concat(),
        expected: |_, _, bends| bends.to_vec(),
        quantity: Some(Quantity::Accelerations),
        counts: &[2, 5, 10, 20, 50, 100],
    },
    Picture {
        name: "positions",
        model: positions,
        state: |angles, rates| {
            let along = angles.iter().map(|th| [th.sin(), -th.cos()]);
            let turning = angles.iter().zip(rates).map(|(th, w)| [w * th.cos(), w * th.sin()]);
            [hung(along), hung(turning)].concat()
        },
        expected: |angles, rates, bends| {
            let turning = angles.iter().zip(rates).zip(bends);
            hung(turning.map(|((th, w), b)| {
                let (sin, cos) = th.sin_cos();
                [b * cos - w * w * sin, b * sin + w * w * cos]
            }))
        },
        quantity: None,
        counts: &[2, 5, 10, 50, 100, 1000, 10_000, 100_000],
    },
];

/// Each mass hangs on the one before it: sums.
fn hung(links: impl Iterator<Item = [f64; 2]>) -> Vec<f64> {
    let sums = links.scan([0.0; 2], |sum, link| {
        (0..2).for_each(|d| sum[d] += link[d]);
        Some(*sum)
    });
    sums.flatten().collect()
}

fn angles(graph: &Graph, count: usize) -> Model<'_> {
    let mut model = Model::new(graph);
    let (mut x, mut y) = (model.number(0.0), model.number(0.0));
    for i in 0..count {
        let angle = model.coordinate(&format!("th{i}"));
        x += angle.sin();
        y -= angle.cos();
        model.particle(&format!("bob{i}"), 1.0, [x, y]);
    }
    model.gravity([0.0, -GRAVITY]);
    model
}

fn positions(graph: &Graph, count: usize) -> Model<'_> {
    let mut model = Model::new(graph);
    let mut above = [graph.number(0.0); 2];
    for i in 0..count {
        let [x, y] = model.coordinates([&*format!("x{i}"), &*format!("y{i}")]);
        model.particle(&format!("bob{i}"), 1.0, [x, y]);
        let (dx, dy) = (x - above[0], y - above[1]);
        model.constraint(&format!("rod{i}"), dx * dx + dy * dy, 1.0);
        above = [x, y];
    }
    model.gravity([0.0, -GRAVITY]);
    model
}

/// Angles to the vertical and their rates between −½ and ½, by a linear congruence (D. Knuth, MMIX).
fn start(count: usize) -> (Vec<f64>, Vec<f64>) {
    let mut seed = count as u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let angles = (0..count).map(|_| next()).collect();
    (angles, (0..count).map(|_| next()).collect())
}

/// The accelerations of the angles: by the tensions T of the rods, which follow from each other's,
///
/// $$T_{i-1}\cos(\theta_{i-1}-\theta_i)-2T_i+T_{i+1}\cos(\theta_{i+1}-\theta_i)=-\dot\theta_i^2,\qquad
/// \ddot\theta_i=T_{i+1}\sin(\theta_{i+1}-\theta_i)+T_{i-1}\sin(\theta_{i-1}-\theta_i)$$
///
/// with T = 0 below the last, and at the top $-T_1+T_2\cos(\theta_2-\theta_1)=-\dot\theta_1^2-g\cos\theta_1$ and
/// $\ddot\theta_1=T_2\sin(\theta_2-\theta_1)-g\sin\theta_1$.
fn by_tensions(angles: &[f64], rates: &[f64]) -> Vec<f64> {
    let count = angles.len();
    let turn = |i: usize, j: usize| (angles[j] - angles[i]).sin_cos();
    // Elimination from the top: T_i = above_i + share_i T_{i+1}.
    let (mut above, mut share) = (vec![0.0; count], vec![0.0; count]);
    for i in 0..count {
        let (mut pivot, mut right) = (2.0, rates[i] * rates[i]);
        match i.checked_sub(1) {
            None => (pivot, right) = (1.0, right + GRAVITY * angles[0].cos()),
            Some(before) => {
                let cos = turn(i, before).1;
                pivot -= cos * share[before];
                right += cos * above[before];
            }
        }
        above[i] = right / pivot;
        share[i] = if i + 1 < count { turn(i, i + 1).1 / pivot } else { 0.0 };
    }
    let mut tensions = above;
    (0..count - 1).rev().for_each(|i| tensions[i] += share[i] * tensions[i + 1]);
    let bend = |i: usize| {
        let below = if i + 1 < count { tensions[i + 1] * turn(i, i + 1).0 } else { 0.0 };
        match i.checked_sub(1) {
            None => below - GRAVITY * angles[0].sin(),
            Some(before) => below + tensions[before] * turn(i, before).0,
        }
    };
    (0..count).map(bend).collect()
}

/// The same by the full mass matrix M_ij = (N − max(i, j)) cos(θ_i − θ_j), by Cholesky's factors.
fn by_masses(angles: &[f64], rates: &[f64]) -> Vec<f64> {
    let count = angles.len();
    let hanging = |i: usize, j: usize| (count - i.max(j)) as f64;
    let mut x: Vec<f64> = (0..count)
        .map(|i| {
            let pull = |j: usize| hanging(i, j) * (angles[i] - angles[j]).sin() * rates[j] * rates[j];
            -(0..count).map(pull).sum::<f64>() - GRAVITY * hanging(i, i) * angles[i].sin()
        })
        .collect();
    let mut lower = vec![0.0; count * count];
    for i in 0..count {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| lower[i * count + k] * lower[j * count + k]).sum();
            let rest = hanging(i, j) * (angles[i] - angles[j]).cos() - sum;
            lower[i * count + j] = if i == j { rest.sqrt() } else { rest / lower[j * count + j] };
        }
        let sum: f64 = (0..i).map(|k| lower[i * count + k] * x[k]).sum();
        x[i] = (x[i] - sum) / lower[i * count + i];
    }
    for i in (0..count).rev() {
        let sum: f64 = (i + 1..count).map(|k| lower[k * count + i] * x[k]).sum();
        x[i] = (x[i] - sum) / lower[i * count + i];
    }
    x
}

/// What a chain is judged by.
struct Report {
    /// Model to equations, to the system, to the first acceleration; and all.
    setup: [Duration; 4],
    instructions: Option<usize>,
    call: f64,
    /// The largest differences to both ways by hand, relative to the largest acceleration.
    errors: [Option<f64>; 2],
}

fn measure(picture: &Picture, count: usize) -> Report {
    let (angles, rates) = start(count);
    let state = (picture.state)(&angles, &rates);
    let mut a = vec![0.0; state.len() / 2];
    let mut setup = [Duration::MAX; 4];
    let first = Instant::now();
    let mut dynamics = loop {
        let (graph, begun) = (Graph::new(), Instant::now());
        let equations = (picture.model)(&graph, count).equations().expect("a chain is a good model");
        let derived = begun.elapsed();
        let system = equations.system().expect("a chain is a good model");
        let mut dynamics = system.dynamics().expect("masses are positive");
        let compiled = begun.elapsed();
        dynamics.accelerations(&[0.0], &state, &mut a).expect("the lengths fit");
        let all = begun.elapsed();
        let spent = [derived, compiled - derived, all - compiled, all];
        setup.iter_mut().zip(spent).for_each(|(best, spent)| *best = spent.min(*best));
        if first.elapsed() > MADE {
            break dynamics;
        }
    };
    let errors = [(usize::MAX, by_tensions as fn(&[f64], &[f64]) -> Vec<f64>), (1000, by_masses)];
    let errors = errors.map(|(largest, by_hand)| {
        let by_hand =
            (count <= largest).then(|| (picture.expected)(&angles, &rates, &by_hand(&angles, &rates)))?;
        let size = by_hand.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        Some(a.iter().zip(by_hand).fold(0.0f64, |m, (a, b)| m.max((a - b).abs())) / size)
    });

    let mut call = || {
        dynamics.accelerations(black_box(&[0.0]), black_box(&state), &mut a).expect("the lengths fit");
        black_box(&a);
    };
    let begun = Instant::now();
    call();
    let calls = (SAMPLE.as_nanos() / begun.elapsed().as_nanos().max(1) + 1) as u32;
    let (begun, mut best) = (Instant::now(), Duration::MAX);
    while begun.elapsed() < SAMPLED {
        let sample = Instant::now();
        (0..calls).for_each(|_| call());
        best = best.min(sample.elapsed());
    }
    let kernel = picture.quantity.and_then(|quantity| dynamics.system().kernel(quantity).ok());
    let instructions = kernel.map(|kernel| kernel.program().body().len());
    Report { setup, instructions, call: best.as_secs_f64() / f64::from(calls), errors }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let json = arguments.iter().any(|argument| argument == "--json");
    let limit = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(usize::MAX);
    if !json {
        println!(
            "accelerations of a hanging chain of N unit masses in the plane, one state, one thread, best of many\n"
        );
        println!(
            "| N | in | instructions | call | per link | equations | system | first call | model to kernel | error, tensions | error, full matrix |"
        );
        println!("|---|---|---|---|---|---|---|---|---|---|---|");
    }
    for picture in &PICTURES {
        for &count in picture.counts.iter().filter(|&&count| count <= limit) {
            let Report { setup, instructions, call, errors } = measure(picture, count);
            if json {
                let or_null = |x: Option<String>| x.unwrap_or_else(|| "null".to_owned());
                println!(
                    "{{\"peer\": \"leastaction\", \"problem\": \"p5\", \"what\": \"{}\", \"threads\": 1, \"N\": {count}, \"best\": {call:.5e}, \"per_link\": {:.5e}, \"compile_s\": {:.5e}, \"instructions\": {}, \"check\": {:.2e}, \"check_dense\": {}}}",
                    picture.name,
                    call / count as f64,
                    setup[3].as_secs_f64(),
                    or_null(instructions.map(|n| n.to_string())),
                    errors[0].unwrap_or(f64::NAN),
                    or_null(errors[1].map(|e| format!("{e:.2e}"))),
                );
                continue;
            }
            let [derived, compiled, first, all] = setup.map(|t| format!("{:.2} ms", t.as_secs_f64() * 1e3));
            let or_dash = |x: Option<String>| x.unwrap_or_else(|| "–".to_owned());
            println!(
                "| {count} | {} | {} | {:.3} µs | {:.4} µs | {derived} | {compiled} | {first} | {all} | {} | {} |",
                picture.name,
                or_dash(instructions.map(|n| n.to_string())),
                call * 1e6,
                call * 1e6 / count as f64,
                or_dash(errors[0].map(|e| format!("{e:.1e}"))),
                or_dash(errors[1].map(|e| format!("{e:.1e}"))),
            );
        }
    }
}

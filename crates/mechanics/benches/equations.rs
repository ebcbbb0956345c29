//! What do energies cost? The vector field of pendulums written as a map, against closed forms written by hand; and the way
//! from a model to a system.

#[path = "../../compile/benches/pendulum/hand.rs"]
mod hand;
#[path = "../../compile/benches/pendulum/timing.rs"]
mod timing;

use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_mechanics::{Dynamics, Model, Quantity, Query, System};
use std::hint::black_box;
use std::time::{Duration, Instant};
use timing::{Candidate, ROUNDS, time};

type Hand = fn(&[f64], &mut [f64]);

/// A chain of pendulums, said by where its masses are; unit masses and lengths, as numbers or as parameters.
fn chain(graph: &Graph, links: usize, parameters: bool) -> Model<'_> {
    let mut model = Model::new(graph);
    let (mut x, mut y) = (model.number(0.0), model.number(0.0));
    for i in 0..links {
        let mut one = |name: &str| match parameters {
            true => model.parameter(&format!("{name}{i}"), 1.0),
            false => model.number(1.0),
        };
        let [m, l] = [one("m"), one("l")];
        let angle = model.coordinate(&format!("th{i}"));
        x += l * angle.sin();
        y -= l * angle.cos();
        model.particle(&format!("bob{i}"), m, [x, y]);
    }
    model.gravity([0.0, -9.81]);
    model
}

fn system(links: usize, parameters: bool) -> System {
    chain(&Graph::new(), links, parameters).system().expect("the chain is a good model")
}

fn main() {
    println!(
        "vector field of n-link pendulums written as maps; ns per evaluation, best of {ROUNDS} rounds; × is the ratio to code by hand\n"
    );
    println!("| system | code | instructions | one state | × | lane of 8 | × |");
    println!("|---|---|---|---|---|---|---|");
    let [double, five] = lanes_by_hand();
    report("double pendulum", 2, hand::double, double);
    report("5-link pendulum", 5, hand::chain::<5>, five);
    println!(
        "\n| links | model to equations | equations to system | first field | all | field, one state | field, lane of 8 |"
    );
    println!("|---|---|---|---|---|---|---|");
    for links in [2, 5, 10, 20, 50, 100] {
        report_compilation(links);
    }
}

#[cfg(target_arch = "x86_64")]
fn lanes_by_hand() -> [Option<Hand>; 2] {
    if !hand::lanes::available() {
        return [None; 2];
    }
    // SAFETY: the features were detected.
    [Some(|x, y| unsafe { hand::lanes::double(x, y) }), Some(|x, y| unsafe { hand::lanes::chain::<5>(x, y) })]
}

#[cfg(not(target_arch = "x86_64"))]
fn lanes_by_hand() -> [Option<Hand>; 2] {
    [None; 2]
}

fn report(name: &str, links: usize, hand: Hand, hand_lanes: Option<Hand>) {
    let size = 2 * links;
    let start: Vec<f64> = (0..size).map(|i| 0.3 + 0.1 * (i % links) as f64).collect();
    let block: Vec<f64> = start.iter().flat_map(|y| (0..LANES).map(move |l| y + 0.01 * l as f64)).collect();
    let queries: [(&str, Quantity, usize, Query); 2] = [
        ("accelerations", Quantity::Accelerations, links, Dynamics::accelerations),
        ("field in phase space", Quantity::Rates, size, Dynamics::rates),
    ];
    let evaluations = 2000;
    let (mut single, mut lanes): (Vec<Candidate<'_>>, Vec<Candidate<'_>>) = (Vec::new(), Vec::new());
    single.push(("by hand".into(), Box::new(feed(&start, evaluations, hand))));
    if let Some(hand) = hand_lanes {
        lanes.push(("by hand".into(), Box::new(feed(&block, evaluations, hand))));
    }
    let mut instructions = vec![String::new()];
    for parameters in [false, true] {
        for (what, quantity, rows, query) in queries {
            let system = system(links, parameters);
            let what =
                format!("{what}{}", if parameters { ", masses and lengths as parameters" } else { "" });
            let body = system.kernel(quantity).map_or(0, |kernel| kernel.program().body().len());
            instructions.push(body.to_string());
            let mut one = system.dynamics().expect("unit masses");
            let mut eight = one.clone();
            single.push((
                what.clone(),
                Box::new(feed(&start, evaluations, move |y, f| {
                    query(&mut one, &[0.0], y, &mut f[..rows]).expect("the lengths fit");
                })),
            ));
            lanes.push((
                what,
                Box::new(feed(&block, evaluations, move |y, f| {
                    query(&mut eight, &[0.0; LANES], y, &mut f[..rows * LANES]).expect("the lengths fit");
                })),
            ));
        }
    }
    let (single, lanes) = (time(single, evaluations), time(lanes, evaluations * LANES));
    let by_hand = lanes.iter().find(|(what, _)| what == "by hand").map(|(_, t)| *t);
    for (i, (what, t)) in single.iter().enumerate() {
        let lane = lanes.iter().find(|(other, _)| other == what).map(|(_, t)| *t);
        let number = |v: Option<f64>| v.map_or("–".to_owned(), |v| format!("{v:.2}"));
        println!(
            "| {} | {what} | {} | {t:.1} | {:.2} | {} | {} |",
            if i == 0 { name } else { "" },
            instructions[i],
            t / single[0].1,
            number(lane),
            number(lane.zip(by_hand).map(|(lane, hand)| lane / hand)),
        );
    }
}

/// Evaluations that each depend on the one before, as in an integrator.
fn feed(start: &[f64], evaluations: usize, mut step: impl FnMut(&[f64], &mut [f64])) -> impl FnMut() {
    let (mut y, mut f) = (start.to_vec(), vec![0.0; start.len()]);
    move || {
        for _ in 0..evaluations {
            step(&y, &mut f);
            y.iter_mut().zip(&f).for_each(|(y, f)| *y += 1e-12 * f);
        }
        black_box(&y);
    }
}

fn report_compilation(links: usize) {
    let mut best = [Duration::MAX; 4];
    for _ in 0..if links > 20 { 3 } else { ROUNDS } {
        let graph = Graph::new();
        let begin = Instant::now();
        let equations = chain(&graph, links, true).equations().expect("the chain is a good model");
        let derived = begin.elapsed();
        let system = equations.system().expect("the chain is a good model");
        let compiled = begin.elapsed();
        let mut dynamics = system.dynamics().expect("unit masses");
        let y = vec![0.3; 2 * links];
        dynamics.rates(&[0.0], &y, &mut vec![0.0; 2 * links]).expect("the lengths fit");
        let all = begin.elapsed();
        for (best, t) in best.iter_mut().zip([derived, compiled - derived, all - compiled, all]) {
            *best = t.min(*best);
        }
    }
    let [derive, compile, first, all] = best.map(|t| t.as_secs_f64() * 1e3);
    let mut one = system(links, true).dynamics().expect("unit masses");
    let mut eight = one.clone();
    let (start, block) = (vec![0.3; 2 * links], vec![0.3; 2 * links * LANES]);
    let evaluations = 1 + 20_000 / (links * links);
    let single = time(
        vec![(
            "one".into(),
            Box::new(feed(&start, evaluations, move |y, f| {
                one.rates(&[0.0], y, f).expect("the lengths fit")
            })),
        )],
        evaluations,
    );
    let lanes = time(
        vec![(
            "eight".into(),
            Box::new(feed(&block, evaluations, move |y, f| {
                eight.rates(&[0.0; LANES], y, f).expect("the lengths fit");
            })),
        )],
        evaluations * LANES,
    );
    println!(
        "| {links} | {derive:.2} ms | {compile:.2} ms | {first:.2} ms | {all:.2} ms | {:.0} ns | {:.0} ns |",
        single[0].1, lanes[0].1
    );
}

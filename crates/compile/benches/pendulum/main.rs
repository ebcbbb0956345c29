//! How close does generated code come to code written by hand?
//!
//! For a double, a 5-link and a 20-link pendulum: one evaluation of the vector field by hand and by every
//! backend, one state at a time (each depends on the one before) and 512 states in lanes; then the time to
//! compile. Candidates run in turn, and each keeps its best time, so that a busy machine disturbs the ratios little.

mod derived;
mod hand;
mod timing;

use leastaction_compile::{Backend, Evaluator, Kernel, Program};
use leastaction_expr::{Graph, operations};
use std::hint::black_box;
use std::time::{Duration, Instant};
use timing::{Candidate, ROUNDS, time};

const STATES: usize = 512;

type Hand = fn(&[f64], &mut [f64]);

struct Case {
    name: &'static str,
    links: usize,
    hand: Hand,
    hand_lanes: Option<Hand>,
}

/// Evaluates one state.
type Step = Box<dyn FnMut(&[f64], &mut [f64])>;

fn main() {
    println!(
        "vector field of n-link pendulums; ns per evaluation, best of {ROUNDS} rounds; × is the ratio to hand-written code\n"
    );
    println!("| system | operations | code | one state | × | lane of {STATES} | × |");
    println!("|---|---|---|---|---|---|---|");
    for case in cases() {
        report(&case);
    }
    println!(
        "\n| links | operations | instructions | derive | build | native code | build + native per operation |"
    );
    println!("|---|---|---|---|---|---|---|");
    for links in [2, 5, 10, 20, 30, 40] {
        report_compilation(links);
    }
}

fn cases() -> [Case; 3] {
    #[cfg(target_arch = "x86_64")]
    let lanes: [Option<Hand>; 3] = if hand::lanes::available() {
        // SAFETY: the features were detected.
        [
            Some(|x, y| unsafe { hand::lanes::double(x, y) }),
            Some(|x, y| unsafe { hand::lanes::chain::<5>(x, y) }),
            Some(|x, y| unsafe { hand::lanes::chain::<20>(x, y) }),
        ]
    } else {
        [None; 3]
    };
    #[cfg(not(target_arch = "x86_64"))]
    let lanes: [Option<Hand>; 3] = [None; 3];
    [
        Case { name: "double pendulum", links: 2, hand: hand::double, hand_lanes: lanes[0] },
        Case { name: "5-link pendulum", links: 5, hand: hand::chain::<5>, hand_lanes: lanes[1] },
        Case { name: "20-link pendulum", links: 20, hand: hand::chain::<20>, hand_lanes: lanes[2] },
    ]
}

fn report(case: &Case) {
    let graph = Graph::new();
    let (inputs, outputs) = derived::field(&graph, case.links);
    let program = Program::build(&inputs, &[], &outputs).expect("the field uses only its inputs");
    let backends: Vec<Backend> = Backend::ALL.into_iter().filter(|b| b.is_available()).collect();
    let evaluators = || -> Vec<Evaluator> {
        let kernel = |&b| Kernel::with_backend(program.clone(), b).expect("the backend is available");
        backends.iter().map(|b| kernel(b).evaluator(&[]).expect("there are no parameters")).collect()
    };
    let (start, blocks) = states(case.links);
    check(case, &mut evaluators(), &start, &blocks);

    let count = 2 * case.links;
    let chain = |mut step: Step, evaluations: usize| {
        let (mut y, mut f) = (start.clone(), vec![0.0; count]);
        move || {
            for _ in 0..evaluations {
                step(&y, &mut f);
                // The next state depends on this result, as in an integrator.
                y.iter_mut().zip(&f).for_each(|(y, f)| *y += 1e-9 * f);
            }
            black_box(&y);
        }
    };
    let evaluations = 200_000 / (case.links * case.links * case.links);
    let mut single: Vec<Candidate<'_>> =
        vec![("hand".into(), Box::new(chain(Box::new(case.hand), evaluations)))];
    for (backend, mut evaluator) in backends.iter().zip(evaluators()) {
        let step = move |y: &[f64], f: &mut [f64]| evaluator.eval(y, f).expect("the lengths fit");
        single.push((backend.to_string(), Box::new(chain(Box::new(step), evaluations))));
    }
    let single = time(single, evaluations);

    let mut out = vec![0.0; blocks.len()];
    let out = std::cell::RefCell::new(&mut out);
    let repeats = evaluations.div_ceil(STATES).max(2);
    let mut lanes: Vec<Candidate<'_>> = Vec::new();
    if let Some(hand) = case.hand_lanes {
        let (blocks, out) = (&blocks, &out);
        lanes.push((
            "hand".into(),
            Box::new(move || (0..repeats).for_each(|_| hand(black_box(blocks), &mut out.borrow_mut()))),
        ));
    }
    for (backend, mut evaluator) in backends.iter().zip(evaluators()) {
        let (blocks, out) = (&blocks, &out);
        lanes.push((
            backend.to_string(),
            Box::new(move || {
                for _ in 0..repeats {
                    evaluator.eval_lanes(black_box(blocks), &mut out.borrow_mut()).expect("the lengths fit");
                }
            }),
        ));
    }
    let lanes = time(lanes, repeats * STATES);

    let hand_lanes = lanes.iter().find(|(name, _)| name == "hand").map(|(_, t)| *t);
    for (i, (name, t)) in single.iter().enumerate() {
        let (system, count) =
            if i == 0 { (case.name, operations(&outputs).to_string()) } else { ("", String::new()) };
        let lane = lanes.iter().find(|(other, _)| other == name).map(|(_, t)| *t);
        let number = |v: Option<f64>, digits: usize| v.map_or("–".to_owned(), |v| format!("{v:.digits$}"));
        let ratio = lane.zip(hand_lanes).map(|(lane, hand)| lane / hand);
        println!(
            "| {system} | {count} | {name} | {t:.1} | {:.2} | {} | {} |",
            t / single[0].1,
            number(lane, 2),
            number(ratio, 2)
        );
    }
}

/// A start for one state, and blocks of lanes of nearby ones.
fn states(links: usize) -> (Vec<f64>, Vec<f64>) {
    let start: Vec<f64> = (0..2 * links).map(|i| 0.3 + 0.1 * (i % links) as f64).collect();
    let mut blocks = vec![0.0; STATES * 2 * links];
    for (k, value) in blocks.iter_mut().enumerate() {
        let (row, lane) = (k / 8, k % 8);
        *value = start[row % (2 * links)] + 0.01 * (row / (2 * links) * 8 + lane) as f64;
    }
    (start, blocks)
}

/// All candidates compute the same field.
fn check(case: &Case, evaluators: &mut [Evaluator], start: &[f64], blocks: &[f64]) {
    let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + b.abs()));
    let mut expected = vec![0.0; start.len()];
    (case.hand)(start, &mut expected);
    let mut expected_lanes = vec![0.0; blocks.len()];
    evaluators[0].eval_lanes(blocks, &mut expected_lanes).expect("the lengths fit");
    if let Some(hand) = case.hand_lanes {
        let mut found = vec![0.0; blocks.len()];
        hand(blocks, &mut found);
        assert!(close(&found, &expected_lanes), "{}: hand-written lanes differ", case.name);
    }
    for evaluator in evaluators {
        let mut found = vec![0.0; start.len()];
        evaluator.eval(start, &mut found).expect("the lengths fit");
        assert!(close(&found, &expected), "{}: {found:?} is not {expected:?}", case.name);
        let mut found = vec![0.0; blocks.len()];
        evaluator.eval_lanes(blocks, &mut found).expect("the lengths fit");
        assert!(close(&found, &expected_lanes), "{}: lanes differ", case.name);
    }
}

fn report_compilation(links: usize) {
    let backend = Backend::best();
    let mut best = [Duration::MAX; 3];
    let (mut count, mut instructions) = (0, 0);
    for _ in 0..ROUNDS {
        let graph = Graph::new();
        let begin = Instant::now();
        let (inputs, outputs) = derived::field(&graph, links);
        let derived = begin.elapsed();
        let begin = Instant::now();
        let program = Program::build(&inputs, &[], &outputs).expect("the field uses only its inputs");
        let built = begin.elapsed();
        count = operations(&outputs);
        instructions = program.body().len();
        let begin = Instant::now();
        black_box(Kernel::with_backend(program, backend).expect("the backend is available"));
        for (best, t) in best.iter_mut().zip([derived, built, begin.elapsed()]) {
            *best = t.min(*best);
        }
    }
    let [derive, build, native] = best.map(|t| t.as_secs_f64() * 1e3);
    let each = (build + native) * 1e6 / count as f64;
    println!(
        "| {links} | {count} | {instructions} | {derive:.2} ms | {build:.2} ms | {native:.2} ms | {each:.0} ns |"
    );
}

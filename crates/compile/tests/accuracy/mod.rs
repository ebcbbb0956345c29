//! Every function of the table is within 2 ulp of its exact value, on its whole domain: as compiled code, and as
//! the table's scalar `value`.
//!
//! Results are first compared with correctly rounded ones; those that differ, and some that do not, are measured
//! against exact values of hundreds of bits. `--nocapture` shows the table of largest errors; `ACCURACY='tanh;x^5'`
//! measures only these.

mod exact;
mod points;
mod specials;

use crate::common::Random;
use exact::Exact;
use leastaction_compile::{Evaluator, Kernel, LANES, Program};
use leastaction_expr::{Graph, Op, Parity};
use std::f64::consts::FRAC_PI_2;
use std::sync::Mutex;

/// The promise, in units in the last place.
const LIMIT: f64 = 2.0;

/// Operators that round once, or not at all. Every other one is measured.
#[rustfmt::skip]
const EXACT: [Op; 15] = [
    Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Neg, Op::Lt, Op::Le, Op::Eq, Op::Ne, Op::Abs, Op::Sign, Op::Floor,
    Op::Min, Op::Max, Op::Select,
];

/// Constant exponents: those with expansions of their own, and some for the general power.
const EXPONENTS: [f64; 44] = [
    2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0, 13.0, 15.0, 31.0, 32.0, 47.0, 63.0, 64.0, 65.0, -1.0,
    -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0, -12.0, -13.0, -33.0, -64.0, -0.5, 1.5, -1.5, 2.5, -2.5, 3.5,
    -3.5, 5.5, 12.5, -12.5, 63.5, 0.3, -6.1, 1e3,
];

/// A function in one of the ways a program can ask for it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Case {
    op: Op,
    /// Whether sine and cosine of the same argument are compiled together.
    paired: bool,
    /// The second argument, if it is a constant.
    exponent: Option<f64>,
}

impl Case {
    fn all() -> Vec<Case> {
        let functions = Op::ALL.iter().filter(|op| !EXACT.contains(op));
        let alone = functions.map(|&op| Case { op, paired: false, exponent: None });
        let paired = [Op::Sin, Op::Cos].map(|op| Case { op, paired: true, exponent: None });
        let powers = EXPONENTS.map(|y| Case { op: Op::Pow, paired: false, exponent: Some(y) });
        alone.chain(paired).chain(powers).collect()
    }

    fn name(&self) -> String {
        let name = self.op.row().name;
        match self.exponent {
            Some(y) => format!("x^{y}"),
            None if self.paired => format!("{name}, paired"),
            None => name.to_owned(),
        }
    }

    fn compile(&self) -> Kernel {
        let graph = Graph::new();
        let [x, y] = graph.symbols(["x", "y"]);
        let arguments = match (self.op.row().arity, self.exponent) {
            (_, Some(exponent)) => vec![x, graph.number(exponent)],
            (1, None) => vec![x],
            _ => vec![x, y],
        };
        let mut outputs = vec![graph.apply(self.op, &arguments)];
        if self.paired {
            outputs.push(if self.op == Op::Sin { x.cos() } else { x.sin() });
        }
        let program = Program::build(&[x, y], &[], &outputs).expect("a function of x and y");
        Kernel::compile(program).expect("a backend")
    }

    fn table(&self, arguments: [f64; 2]) -> f64 {
        (self.op.row().value)(&arguments[..self.op.row().arity])
    }
}

/// A compiled function, applied to points.
struct Compiled {
    evaluator: Evaluator,
    outputs: usize,
}

impl Compiled {
    fn new(case: &Case) -> Compiled {
        let kernel = case.compile();
        let outputs = kernel.program().outputs().len();
        Compiled { evaluator: kernel.evaluator(&[]).expect("no parameters"), outputs }
    }

    /// The values at whole blocks of points.
    fn values(&mut self, points: &[[f64; 2]]) -> Vec<f64> {
        let blocks = points.chunks_exact(LANES);
        let inputs: Vec<f64> =
            blocks.flat_map(|block| (0..2).flat_map(|i| block.iter().map(move |p| p[i]))).collect();
        let mut outputs = vec![0.0; points.len() / LANES * LANES * self.outputs];
        self.evaluator.eval_lanes(&inputs, &mut outputs).expect("whole blocks");
        outputs.chunks_exact(LANES * self.outputs).flat_map(|block| block[..LANES].to_vec()).collect()
    }
}

/// The largest error that was met, and where.
#[derive(Clone, Copy)]
struct Worst {
    error: f64,
    at: [f64; 2],
    found: f64,
    /// How many errors were measured exactly.
    measured: usize,
}

impl Worst {
    const NONE: Worst = Worst { error: 0.0, at: [0.0; 2], found: 0.0, measured: 0 };

    fn note(&mut self, error: f64, at: [f64; 2], found: f64) {
        if error > self.error {
            (self.error, self.at, self.found) = (error, at, found);
        }
    }
}

/// Doubles in order as integers: neighbours differ by 1, and both zeros are 0.
fn ordinal(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
}

/// Compares values with exact ones.
fn compare(case: &Case, points: &[[f64; 2]], values: &[f64], exact: &mut Exact, worst: &mut Worst) {
    for (i, (&at, &found)) in points.iter().zip(values).enumerate() {
        let finite = at[..case.op.row().arity].iter().all(|v| v.is_finite());
        let sample = i % 128 == 0;
        let expected = match exact::rounded(case.op, at) {
            Some(expected) => expected,
            None if finite => exact.nearest(case.op, at),
            None => continue, // the table of special values has these
        };
        if expected.is_nan() && found.is_nan() {
            continue;
        }
        if expected.is_nan() || found.is_nan() || expected.is_sign_negative() != found.is_sign_negative() {
            worst.note(f64::INFINITY, at, found);
            continue;
        }
        if expected == found && (expected == 0.0 || expected.is_infinite()) {
            continue;
        }
        let distance = ordinal(expected).abs_diff(ordinal(found));
        // A result next to the correctly rounded one is off by 1.5 ulp at most: no need to measure them all.
        if finite && (distance >= 2 || (distance == 1 && i % 8 == 0) || sample) {
            worst.measured += 1;
            worst.note(exact.error(case.op, at, found), at, found);
        } else if !finite && distance > 0 {
            worst.note(f64::INFINITY, at, found);
        }
    }
}

/// Measures all cases on all cores and prints the table of largest errors.
fn sweep(count: usize) {
    let mut cases = Case::all();
    if let Ok(only) = std::env::var("ACCURACY") {
        cases.retain(|case| only.split(';').any(|name| case.name() == name));
    }
    let queue = Mutex::new(cases.iter().enumerate().rev().collect::<Vec<_>>());
    let results = Mutex::new(vec![[Worst::NONE; 2]; cases.len()]);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut exact = Exact::new();
                loop {
                    let Some((i, case)) = queue.lock().expect("no panic").pop() else { break };
                    let mut compiled = Compiled::new(case);
                    let mut random = Random::new(i as u64);
                    let mut worst = [Worst::NONE; 2];
                    let mut left = count;
                    while left > 0 {
                        let size = left.min(4096);
                        left -= size;
                        let points: Vec<_> = (0..size.next_multiple_of(LANES))
                            .map(|_| points::arguments(case.op, case.exponent, &mut random))
                            .collect();
                        let values = compiled.values(&points);
                        compare(case, &points, &values, &mut exact, &mut worst[0]);
                        // The scalar routine has no special cases for exponents and pairs.
                        if case.exponent.is_none() && !case.paired {
                            let values: Vec<f64> = points.iter().map(|&p| case.table(p)).collect();
                            compare(case, &points, &values, &mut exact, &mut worst[1]);
                        }
                    }
                    results.lock().expect("no panic")[i] = worst;
                }
            });
        }
    });
    let results = results.into_inner().expect("no panic");
    println!("| function | instructions | compiled, ulp | at | table, ulp | at |");
    println!("|---|---|---|---|---|---|");
    for (case, [compiled, table]) in cases.iter().zip(&results) {
        let column = |worst: &Worst| match (worst.measured, case.op.row().arity) {
            (0, _) => "– | –".to_owned(),
            (_, 1) => format!("{:.2} | {:e}", worst.error, worst.at[0]),
            _ => format!("{:.2} | {:e}, {:e}", worst.error, worst.at[0], worst.at[1]),
        };
        let instructions = case.compile().program().body().len();
        println!("| {} | {instructions} | {} | {} |", case.name(), column(compiled), column(table));
    }
    for (case, worst) in cases.iter().zip(&results) {
        for (worst, what) in worst.iter().zip(["compiled", "the table's"]) {
            assert!(
                worst.error <= LIMIT,
                "{what} {} is off by {} ulp: it gives {:e} at {:?}",
                case.name(),
                worst.error,
                worst.found,
                worst.at
            );
        }
        assert!(worst[0].measured > count / 1000, "{}: few errors were measured", case.name());
    }
}

#[test]
fn functions_are_within_two_ulp() {
    sweep(3000);
}

#[test]
#[ignore = "takes minutes"]
fn functions_are_within_two_ulp_at_a_million_points_each() {
    sweep(1 << 20);
}

#[test]
fn odd_and_even_functions_are_exactly_so() {
    let cases = Case::all().into_iter().filter_map(|case| case.op.parity().map(|parity| (case, parity)));
    for (case, parity) in cases {
        let mut compiled = Compiled::new(&case);
        let mut random = Random::new(7);
        let points: Vec<_> = (0..8192).map(|_| points::arguments(case.op, None, &mut random)).collect();
        let opposite: Vec<_> = points.iter().map(|p| [-p[0], p[1]]).collect();
        let table = |points: &[[f64; 2]]| points.iter().map(|&p| case.table(p)).collect::<Vec<_>>();
        let pairs =
            [(compiled.values(&points), compiled.values(&opposite)), (table(&points), table(&opposite))];
        for (values, mirrored) in pairs {
            for ((at, a), b) in points.iter().zip(values).zip(mirrored) {
                let b = if parity == Parity::Odd { -b } else { b };
                assert!(
                    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
                    "{} at {}: {a:e} {b:e}",
                    case.name(),
                    at[0]
                );
            }
        }
    }
}

#[test]
fn bounded_functions_stay_in_bounds() {
    let bounded = [Op::Sin, Op::Cos, Op::Tanh, Op::Logistic, Op::Erf];
    for case in Case::all().into_iter().filter(|case| bounded.contains(&case.op)) {
        let mut random = Random::new(11);
        // Near the multiples of π/2, where rounding errors could lead over 1, and everywhere else.
        let extremes =
            (0..1 << 16).map(|k| [f64::from(k - (1 << 15)) * FRAC_PI_2 + random.between(-2e-8, 2e-8), 0.0]);
        let mut points: Vec<_> = extremes.collect();
        points.extend((0..1 << 14).map(|_| points::arguments(case.op, None, &mut random)));
        let table = points.iter().map(|&p| case.table(p)).collect();
        for values in [Compiled::new(&case).values(&points), table] {
            for (at, value) in points.iter().zip(values) {
                assert!(value.abs() <= 1.0 || value.is_nan(), "{} at {} is {value:e}", case.name(), at[0]);
            }
        }
    }
}

#[test]
fn special_values_are_exact() {
    for &(op, at, expected) in specials::TABLE {
        let case = Case { op, paired: false, exponent: None };
        let mut cases = vec![case];
        match op {
            Op::Sin | Op::Cos => cases.push(Case { paired: true, ..case }),
            Op::Pow if at[1].is_finite() => cases.push(Case { exponent: Some(at[1]), ..case }),
            _ => {}
        }
        for case in cases {
            let found = [Compiled::new(&case).values(&[at; LANES])[0], case.table(at)];
            for found in found {
                let same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
                assert!(same, "{}{at:?} is {expected:e}, not {found:e}", case.name());
            }
        }
    }
}

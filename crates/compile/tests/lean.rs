//! Programs of few instructions compute what their expressions say, and as accurately.

use leastaction_compile::{Code, Instruction, Kernel, Operand, Program};
use leastaction_expr::{Expr, Graph, Op};
use leastaction_testing::Random;

/// Numbers modulo a prime: equal polynomials have equal values there, without rounding, and others hardly ever (Schwartz,
/// doi:10.1145/322217.322225).
const PRIME: i128 = (1 << 61) - 1;

fn power(mut base: i128, mut exponent: i128) -> i128 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % PRIME;
        }
        base = base * base % PRIME;
        exponent >>= 1;
    }
    result
}

fn inverse(a: i128) -> i128 {
    power(a.rem_euclid(PRIME), PRIME - 2)
}

/// The fraction of small numbers that a constant is, up to rounding, by its continued fraction; `None` for others.
fn fraction(value: f64) -> Option<i128> {
    let (mut before, mut now, mut rest) = ((0, 1), (1, 0), value.abs());
    loop {
        let whole = rest.floor();
        let next = (whole as i128 * now.0 + before.0, whole as i128 * now.1 + before.1);
        (before, now) = (now, next);
        if (now.0 as f64 / now.1 as f64 - value.abs()).abs() <= 1e-13 * value.abs() {
            break;
        }
        if now.1 > 100_000 {
            return None;
        }
        rest = 1.0 / (rest - whole);
    }
    Some(now.0 * inverse(now.1) % PRIME * if value < 0.0 { -1 } else { 1 })
}

fn modular(code: Code, [a, b, c]: [i128; 3]) -> i128 {
    let value = match code {
        Code::Add => a + b,
        Code::Sub => a - b,
        Code::Mul => a * b,
        Code::Div => a * inverse(b),
        Code::MulAdd => a * b + c,
        Code::MulSub => a * b - c,
        Code::NegMulAdd => c - a * b,
        Code::NegMulSub => -(a * b) - c,
        Code::Math(Op::Neg) => -a,
        // A function is any function: a polynomial that nothing else here is.
        Code::Sqrt => power(a, 5) + 7,
        Code::Math(Op::Sin) | Code::Paired(Op::Sin) => power(a, 7) + 11,
        Code::Math(Op::Cos) | Code::Paired(Op::Cos) => power(a, 9) + 13,
        other => panic!("{other:?} is not written here"),
    };
    value.rem_euclid(PRIME)
}

/// A value and how wrong it may be, to first order (J. Wilkinson, Rounding Errors in Algebraic Processes, 1963).
fn bounded(code: Code, arguments: [(f64, f64); 3]) -> (f64, f64) {
    let [a, b, c] = arguments.map(|(value, _)| value);
    let value = code.value([a, b, c, c], 0.0);
    let mut bound = f64::EPSILON * value.abs();
    for (i, (_, wrong)) in arguments.into_iter().enumerate() {
        let mut moved = [a, b, c, c];
        moved[i] += 1024.0 * wrong; // so that the rounding of this difference is small
        bound += (code.value(moved, 0.0) - value).abs() / 1024.0;
    }
    (value, bound)
}

/// The outputs of a program in any arithmetic.
fn run<T: Copy>(program: &Program, leaf: impl Fn(Operand) -> T, apply: impl Fn(Code, [T; 3]) -> T) -> Vec<T> {
    let (mut uniforms, mut temporaries) = (Vec::new(), Vec::new());
    let value = |operand: Operand, uniforms: &[T], temporaries: &[T]| match operand {
        Operand::Uniform(i) => uniforms[i as usize],
        Operand::Temporary(i) => temporaries[i as usize],
        other => leaf(other),
    };
    let each = |i: &Instruction, uniforms: &[T], temporaries: &[T]| {
        let [a, b, c, _] = i.operands.map(|o| value(o, uniforms, temporaries));
        // What is not an argument is repeated, and does not count.
        match i.arguments().len() {
            1 => apply(i.code, [a, a, a]),
            2 => apply(i.code, [a, b, b]),
            _ => apply(i.code, [a, b, c]),
        }
    };
    for instruction in program.uniforms() {
        uniforms.push(each(instruction, &uniforms, &[]));
    }
    for instruction in program.body() {
        temporaries.push(each(instruction, &uniforms, &temporaries));
    }
    program.outputs().iter().map(|&o| value(o, &uniforms, &temporaries)).collect()
}

/// Sums, products and quotients at random, with parameters, and with some functions.
fn expressions<'g>(random: &mut Random, symbols: &[Expr<'g>], steps: usize) -> Vec<Expr<'g>> {
    let mut known = symbols.to_vec();
    for _ in 0..steps {
        let from = |random: &mut Random, known: &[Expr<'g>]| {
            let recent = known.len().saturating_sub(8);
            if random.chance(0.6) { random.pick(&known[recent..]) } else { random.pick(known) }
        };
        let (x, y) = (from(random, &known), from(random, &known));
        known.push(match random.below(14) {
            0..3 => x + y,
            3..6 => x - y,
            6..10 => x * y,
            10 => random.pick(&[-1.0, 2.0, 0.5, 3.0]) * x,
            11 => x / random.pick(symbols),
            12 => x.sin(),
            _ => x.cos(),
        });
    }
    known
}

#[test]
fn random_programs_are_the_same_algebra_and_as_accurate_and_not_longer() {
    let (mut lengths, mut worst, mut compared) = ([0, 0], 0.0f64, 0);
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let graph = Graph::new();
        let inputs: Vec<Expr<'_>> =
            (0..2 + random.below(4)).map(|i| graph.symbol(&format!("x{i}"))).collect();
        let parameters: Vec<Expr<'_>> =
            (0..random.below(4)).map(|i| graph.symbol(&format!("k{i}"))).collect();
        let symbols = [inputs.as_slice(), &parameters].concat();
        let steps = 5 + random.below(60);
        let known = expressions(&mut random, &symbols, steps);
        let outputs: Vec<_> =
            (0..1 + random.below(4)).map(|_| random.pick(&known[known.len() / 2..])).collect();
        let plain = Program::build(&inputs, &parameters, &outputs).unwrap();
        let lean = Program::lean(&inputs, &parameters, &outputs).unwrap();
        let again = Program::lean(&inputs, &parameters, &outputs).unwrap();
        assert_eq!(lean.to_string(), again.to_string());
        [&plain, &lean].iter().zip(&mut lengths).for_each(|(p, length)| *length += p.body().len());

        let numbers: Vec<i128> = (0..20).map(|_| i128::from(random.bits() >> 4) % PRIME).collect();
        let [expected, found] = [&plain, &lean].map(|program| {
            let leaf = |operand: Operand| match operand {
                Operand::Constant(i) => fraction(program.constants()[i as usize]).unwrap_or_default(),
                Operand::Parameter(i) => numbers[i as usize],
                Operand::Input(i) => numbers[10 + i as usize],
                _ => unreachable!("not a leaf"),
            };
            run(program, leaf, modular)
        });
        // Functions of numbers are numbers already.
        let fractions = [&plain, &lean].map(|p| p.constants().iter().all(|&c| fraction(c).is_some()));
        compared += usize::from(fractions == [true; 2]);
        let same = fractions != [true; 2]
            || expected.iter().zip(&found).all(|(a, b)| (a - b).rem_euclid(PRIME) == 0);
        assert!(same, "seed {seed}\n{plain}\n{lean}");

        let values: Vec<f64> = (0..20).map(|_| random.between(0.5, 2.0)).collect();
        let [expected, found] = [&plain, &lean].map(|program| {
            let leaf = |operand: Operand| match operand {
                Operand::Constant(i) => (program.constants()[i as usize], 0.0),
                Operand::Parameter(i) => (values[i as usize], 0.0),
                Operand::Input(i) => (values[10 + i as usize], 0.0),
                _ => unreachable!("not a leaf"),
            };
            run(program, leaf, bounded)
        });
        for ((a, bound), (b, own)) in expected.iter().zip(&found) {
            if a.is_finite() && *bound < 1e-6 * a.abs() {
                assert!((a - b).abs() <= bound + own, "seed {seed}: {a} {b}\n{plain}\n{lean}");
                worst = worst.max(own / (bound + f64::EPSILON * a.abs()));
            }
        }
    }
    println!("{lengths:?} instructions, errors at most {worst} times as large, {compared} compared");
    assert!(compared > 2000, "{compared}");
    assert!(100 * lengths[1] < 95 * lengths[0], "{lengths:?}");
    assert!(worst < 8.0, "{worst}");
}

/// Differences of inputs are exact where they are small, so that multiplying out would lose all digits.
#[test]
fn differences_of_inputs_are_not_taken_apart() {
    let graph = Graph::new();
    let [x, y, k, l] = graph.symbols(["x", "y", "k", "l"]);
    let outputs = [k * (x - y) + l * x, k * (l * x + k * (x - y)) / l];
    let program = Program::lean(&[x, y], &[k, l], &outputs).unwrap();
    let (k, l) = (3.0, f64::powi(2.0, -60));
    let mut evaluator = Kernel::compile(program).unwrap().evaluator(&[k, l]).unwrap();
    let (y, d) = (1e8, f64::powi(2.0, -26));
    let mut found = [0.0; 2];
    evaluator.eval(&[y + d, y], &mut found).unwrap();
    let sum = k * d + l * (y + d);
    for (found, expected) in found.into_iter().zip([sum, k * sum / l]) {
        assert!((found / expected - 1.0).abs() < 1e-15, "{found} for {expected}");
    }
}

/// A parameter that nothing is divided by may be 0.
#[test]
fn nothing_is_divided_by_what_may_be_zero() {
    let graph = Graph::new();
    let [x, y, l, g, k] = graph.symbols(["x", "y", "l", "g", "k"]);
    let moment = (g * x.sin() + l * y.cos()) * k * x;
    let program = Program::lean(&[x, y], &[l, g, k], &[moment]).unwrap();
    let mut evaluator = Kernel::compile(program).unwrap().evaluator(&[1.0; 3]).unwrap();
    for (l, g) in [(0.0, 2.0), (2.0, 0.0), (0.0, 0.0)] {
        let mut found = [0.0];
        evaluator.set_parameters(&[l, g, 3.0]).unwrap();
        evaluator.eval(&[0.3, 0.7], &mut found).unwrap();
        let expected = (g * 0.3f64.sin() + l * 0.7f64.cos()) * 0.9;
        assert!((found[0] - expected).abs() < 1e-15, "{found:?} for {expected}");
    }
}

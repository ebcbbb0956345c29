//! Coefficients against closed forms, against derivatives of the expression graph, and form against form.

#![allow(clippy::unwrap_used)] // a test may panic

use super::*;
use crate::arithmetic::Arithmetic;
use crate::builder::Builder;
use crate::hoist::hoist;
use crate::instruction::{Code, Operand, Test};
use crate::random::{Random, wild};
use leastaction_expr::{Expr, Graph, Op, Symbol, jvp};

fn forms() -> Vec<Form> {
    let backends = Backend::ALL.into_iter().filter(|b| b.is_available()).map(Form::Unrolled);
    backends.chain([Form::Compact]).collect()
}

/// The coefficients of every form and width, which must agree bit for bit.
fn coefficients(program: &Program, states: usize, order: usize, parameters: &[f64], at: &[f64]) -> Vec<f64> {
    let mut first: Option<Vec<u64>> = None;
    let mut values = vec![0.0; states * order];
    for form in forms() {
        let series = Series::with_form(program, states, order, form).unwrap();
        let mut evaluator = series.evaluator(parameters).unwrap();
        evaluator.eval(at, &mut values).unwrap();
        // The other lanes hold other numbers.
        let lane = 3;
        let inputs: Vec<f64> = at
            .iter()
            .flat_map(|x| (0..LANES).map(move |l| if l == lane { *x } else { 0.1 * l as f64 }))
            .collect();
        let mut wide = vec![0.0; states * order * LANES];
        evaluator.eval_lanes(&inputs, &mut wide).unwrap();
        let narrow: Vec<f64> = wide.iter().skip(lane).step_by(LANES).copied().collect();
        for found in [&values, &narrow] {
            let bits: Vec<u64> =
                found.iter().map(|v| if v.is_nan() { u64::MAX } else { v.to_bits() }).collect();
            let expected = first.get_or_insert_with(|| bits.clone());
            let differs = expected.iter().zip(&bits).position(|(a, b)| a != b);
            if let Some(i) = differs {
                panic!(
                    "{form:?}: coefficient {i} is {:e}, not {:e}\n{program}",
                    f64::from_bits(bits[i]),
                    f64::from_bits(expected[i])
                );
            }
        }
    }
    values
}

fn assert_close(found: f64, expected: f64, ulps: f64, what: &str) {
    let error = (found - expected).abs();
    assert!(error <= ulps * f64::EPSILON * expected.abs(), "{what}: {found:e}, not {expected:e}");
}

#[test]
fn exponential_and_logistic() {
    let graph = Graph::new();
    let [x, y, k] = graph.symbols(["x", "y", "k"]);
    // x = e^{kt} and y = 1/(1 + e^{-t}), whose powers satisfy k yₖ = Σ.
    let program = Program::build(&[x, y], &[k], &[k * x, y * (1.0 - y)]).unwrap();
    let found = coefficients(&program, 2, 30, &[1.5], &[2.0, 0.5]);
    let mut expected = 2.0;
    for order in 1..=30 {
        expected *= 1.5 / order as f64;
        assert_close(found[2 * (order - 1)], expected, 2.0 * order as f64, "exp");
    }
    // Around 1/2 the logistic function is 1/2 + tanh(t/2)/2: t/4 − t³/48 + t⁵/480 − 17 t⁷/80640 + …
    for (order, value) in [(1, 0.25), (2, 0.0), (3, -1.0 / 48.0), (5, 1.0 / 480.0), (7, -17.0 / 80640.0)] {
        let error = (found[2 * (order - 1) + 1] - value).abs();
        assert!(error <= 4.0 * f64::EPSILON * value.abs(), "logistic of order {order}");
    }
}

#[test]
fn sine_cosine_and_tangent() {
    let graph = Graph::new();
    let [s, c, w, t] = graph.symbols(["s", "c", "w", "t"]);
    // An oscillator; and z' = 1 + z² with z = tan t, also as a function of the time.
    let program = Program::build(&[s, c, w, t], &[], &[c, -s, 1.0 + w * w]).unwrap();
    let found = coefficients(&program, 3, 30, &[], &[0.6, 0.8, 0.0, 0.0]);
    let mut factorial = 1.0;
    let angle = 0.6f64.asin();
    for order in 1..=30usize {
        factorial *= order as f64;
        let phase = angle + order as f64 * std::f64::consts::FRAC_PI_2;
        let error = (found[3 * (order - 1)] - phase.sin() / factorial).abs();
        assert!(error <= 1e-14 / factorial, "sine of order {order}");
    }
    // (1, 3, 5, 7, 9): 1, 1/3, 2/15, 17/315, 62/2835
    let tangent = [1.0, 0.0, 1.0 / 3.0, 0.0, 2.0 / 15.0, 0.0, 17.0 / 315.0, 0.0, 62.0 / 2835.0];
    for (i, expected) in tangent.into_iter().enumerate() {
        assert_close(found[3 * i + 2], expected, 8.0, "tangent");
    }
    let outputs = [t.tan() * 1.0, t.sin(), t.cos()];
    let program = Program::build(&[s, c, w, t], &[], &outputs).unwrap();
    let found = coefficients(&program, 3, 10, &[], &[0.0, 0.0, 0.0, 0.0]);
    // The integral of tan is t²/2 + t⁴/12 + t⁶/45 + …
    for (order, expected) in [(1, 0.0), (2, 0.5), (4, 1.0 / 12.0), (6, 1.0 / 45.0)] {
        assert!((found[3 * (order - 1)] - expected).abs() <= 1e-16, "integral of the tangent");
    }
}

#[test]
fn a_circular_and_an_eccentric_orbit() {
    let graph = Graph::new();
    let [x, y, u, v] = graph.symbols(["x", "y", "u", "v"]);
    let cube = (x * x + y * y).pow(-1.5);
    let program = Program::build(&[x, y, u, v], &[], &[u, v, -x * cube, -y * cube]).unwrap();
    let found = coefficients(&program, 4, 30, &[], &[1.0, 0.0, 0.0, 1.0]);
    let mut factorial = 1.0;
    for order in 1..=30usize {
        factorial *= order as f64;
        let phase = (order % 4) as f64 * std::f64::consts::FRAC_PI_2;
        for (i, expected) in [phase.cos(), phase.sin()].into_iter().enumerate() {
            // Terms of order 1 cancel to 1/k!: what is left is their rounding.
            let error = (found[4 * (order - 1) + i] - expected / factorial).abs();
            assert!(error <= 1e-15, "order {order}: {error:e}");
        }
    }
    // Perihelion at e = 1/2: r'' = −1/r² + h²/r³ with h² = 3/2·1/2 and r = 1/2: known low derivatives.
    let e = 0.5f64;
    let (r, speed) = (1.0 - e, ((1.0 + e) / (1.0 - e)).sqrt());
    let found = coefficients(&program, 4, 4, &[], &[r, 0.0, 0.0, speed]);
    assert_close(found[4], -0.5 / (r * r), 4.0, "x'' / 2");
    assert_close(found[4 * 2 + 1], -speed / (r * r * r) / 6.0, 4.0, "y''' / 6");
}

/// The derivatives of a solution, from derivatives of its field: y⁽ᵏ⁺¹⁾ = (y⁽ᵏ⁾)' along (f, 1).
fn derivatives<'g>(
    states: &[Expr<'g>],
    time: Expr<'g>,
    field: &[Expr<'g>],
    order: usize,
) -> Vec<Vec<Expr<'g>>> {
    let mut along: Vec<(Expr<'g>, Expr<'g>)> = states.iter().copied().zip(field.iter().copied()).collect();
    along.push((time, time.like(1.0)));
    let mut all = vec![field.to_vec()];
    for _ in 1..order {
        let next = jvp(all.last().unwrap(), &along);
        all.push(next);
    }
    all
}

/// Compares with derivatives of the graph at some points.
fn check_field(name: &str, build: impl for<'g> Fn([Expr<'g>; 4]) -> [Expr<'g>; 2], points: &[[f64; 4]]) {
    const ORDER: usize = 6;
    let graph = Graph::new();
    let [x, y, t, k] = graph.symbols(["x", "y", "t", "k"]);
    let field = build([x, y, t, k]);
    let program = Program::build(&[x, y, t], &[k], &field).unwrap();
    let derivatives = derivatives(&[x, y], t, &field, ORDER);
    for at in points {
        let found = coefficients(&program, 2, ORDER, &at[3..], &at[..3]);
        let mut factorial = 1.0;
        for order in 1..=ORDER {
            factorial *= order as f64;
            for i in 0..2 {
                let values = [(x, at[0]), (y, at[1]), (t, at[2]), (k, at[3])];
                let expected = derivatives[order - 1][i].eval(&values).unwrap() / factorial;
                let size = expected.abs().max(1.0);
                let error = (found[2 * (order - 1) + i] - expected).abs();
                assert!(
                    error <= 1e-12 * size,
                    "{name} of order {order}, state {i}, at {at:?}: {:e}, not {expected:e}\n{program}",
                    found[2 * (order - 1) + i]
                );
            }
        }
    }
}

#[test]
fn every_operator_agrees_with_derivatives_of_the_graph() {
    let points = [[0.4, 0.7, 0.3, 1.3], [0.25, -0.6, 0.8, 0.7], [0.8, 0.15, -0.2, 2.5]];
    for &op in Op::ALL {
        let name = op.row().name;
        check_field(
            name,
            |[x, y, t, k]| {
                let graph = x.graph();
                let swing = 0.3 * (x * y + t); // within (−1, 1)
                let positive = 0.5 + x * x + 0.1 * t * y;
                let above = if op == Op::Acosh { 1.0 + positive } else { positive };
                let f = match op.row().arity {
                    1 if matches!(op, Op::Sqrt | Op::Ln | Op::Acosh | Op::Cbrt) => graph.apply(op, &[above]),
                    1 => graph.apply(op, &[swing]),
                    2 if op == Op::Pow => graph.apply(op, &[positive, swing]),
                    2 => graph.apply(op, &[swing, positive]),
                    _ => graph.apply(op, &[x.lt(k), swing, positive]),
                };
                // The other argument constant, and one function of another.
                let g = match op.row().arity {
                    1 => graph.apply(op, &[0.25 * t + 0.1 * k + if op == Op::Acosh { 1.5 } else { 0.2 }]),
                    2 => graph.apply(op, &[k, positive]) + graph.apply(op, &[positive, k]),
                    _ => graph.apply(op, &[y.lt(x), k, t * t * t]),
                };
                [f + 0.1 * y, g - f * f]
            },
            &points,
        );
    }
}

#[test]
fn powers_fused_products_and_negations() {
    let points = [[0.4, 0.7, 0.3, 1.3], [1.25, -0.6, 0.8, 0.7]];
    for exponent in [-3.0, -2.5, -2.0, -1.5, -1.0, -0.5, 0.5, 1.5, 2.0, 2.3, 3.0, 4.0, 5.0, 6.0, 7.0, 11.0] {
        check_field(
            "power",
            |[x, y, t, k]| [(x + 0.1 * t).pow(exponent), (k * x + 0.2).pow(exponent) - y],
            &points,
        );
    }
    check_field("products", |[x, y, t, k]| [x * y - t * x, t * t - x * y * k], &points);
    check_field("squares", |[x, y, t, _]| [x * x - y, -(y * y) - x * t * t], &points);
    check_field("negations", |[x, y, t, k]| [-(x * y + k * t), -(x * x) + -(t * y)], &points);
    check_field("constants", |[x, y, t, k]| [k + 0.0 * x, x * t + y * k], &points);
    check_field("quotients", |[x, y, t, k]| [1.0 / (x + t * t) + x / k, (x + y) / (2.0 + x * y)], &points);
    check_field(
        "signs",
        |[x, y, t, k]| [(k * (-x).abs()).sin() * t, (x - 5.0).abs().sqrt() - y.floor()],
        &points,
    );
}

/// Sums of e^h − 1 and of h/(1 − h) to their last bit, with what they lack, in every form and width.
#[test]
fn polynomials_are_summed_to_the_last_bit() {
    let graph = Graph::new();
    let [x, y] = graph.symbols(["x", "y"]);
    let program = Program::build(&[x, y], &[], &[x, y * y]).unwrap();
    let order = 24;
    // h/(1 − h) by its own coefficients, which are exactly 1; exact but for its remainder h²⁵ < 1e−25.
    for step in (1..=60).map(|k| 0.0013 * f64::from(k)) {
        let mut first = None;
        for form in forms() {
            let series = Series::with_form(&program, 2, order, form).unwrap();
            assert!(!series.ends() && !series.branches());
            let mut evaluator = series.evaluator(&[]).unwrap();
            let [mut one, mut wide] = [1, LANES].map(|width| series.expansion(width).unwrap());
            let mut sums = [0.0; 6];
            one.inputs_mut().fill(1.0);
            evaluator.expand(&mut one).unwrap();
            evaluator.sum(&mut one, &[step], &mut sums).unwrap();
            let mut steps = [0.5 * step; LANES];
            steps[5] = step;
            let mut many = [0.0; 6 * LANES];
            wide.inputs_mut().fill(1.0);
            evaluator.expand(&mut wide).unwrap();
            evaluator.sum(&mut wide, &steps, &mut many).unwrap();
            assert_eq!(std::array::from_fn(|i| many[i * LANES + 5]), sums);
            // The slopes: eʰ, and 1/(1 − h)².
            assert_close(sums[4], step.exp(), 4.0, "slope");
            assert_close(sums[5], (1.0 - step).powi(-2), 4.0, "slope");
            assert_eq!(*first.get_or_insert(sums), sums, "{form:?}");
            // h/(1 − h) = s + r: with q = 1 − h rounded and its error, r = (h − s q − s e)/q.
            let q = 1.0 - step;
            let e = (1.0 - q) - step;
            let rest = ((-sums[1]).mul_add(q, step) - sums[1] * e) / q;
            assert!(
                (rest - sums[3]).abs() <= 1e-3 * f64::EPSILON * sums[1],
                "{step}: {rest:e} {:e}",
                sums[3]
            );
            assert!(rest.abs() <= 0.51 * f64::EPSILON * sums[1]);
            assert!((sums[0] - step.exp_m1()).abs() <= 2.0 * f64::EPSILON * sums[0]);
        }
    }
    let series = Series::new(&program, 2, order).unwrap();
    let (mut evaluator, mut expansion) = (series.evaluator(&[]).unwrap(), series.expansion(1).unwrap());
    assert!(evaluator.sum(&mut expansion, &[0.1, 0.2], &mut [0.0; 6]).is_err());
    assert!(evaluator.sum(&mut expansion, &[0.1], &mut [0.0; 4]).is_err());
    assert!(evaluator.reach(&expansion, &mut [0.0; 2]).is_err());
    assert!(series.expansion(3).is_err());
    let mut other = Series::new(&program, 2, order - 1).unwrap().expansion(1).unwrap();
    assert!(evaluator.expand(&mut other).is_err());
    assert!(evaluator.reach(&other, &mut [0.0]).is_err());
    assert!(evaluator.sum(&mut other, &[0.1], &mut [0.0; 6]).is_err());
    let flight = Program::build(&[x, y], &[], &[y, graph.number(-9.81)]).unwrap();
    assert!(Series::new(&flight, 2, 3).unwrap().ends());
    let wedge = Program::build(&[x, y], &[], &[y, -x.sign()]).unwrap();
    assert!(Series::new(&wedge, 2, 3).unwrap().branches());
}

/// Of 1/(1 − t) all coefficients are 1: with N of them, a step of ε^{1/(N+1)} leaves the remainder ε. In every form and width, and where only every
/// fourth order is there; not where the series ends, or is not finite.
#[test]
fn the_tolerance_tells_how_far_a_series_reaches() {
    let graph = Graph::new();
    let [x, y] = graph.symbols(["x", "y"]);
    let program = Program::build(&[x, y], &[], &[x * x, y * y]).unwrap();
    for (order, tolerance) in [(4, 1e-3), (12, 1e-9), (20, 1e-15)] {
        let expected = f64::powf(tolerance, 1.0 / (order as f64 + 1.0));
        let mut first = None;
        for form in forms() {
            let series = Series::with_form(&program, 2, order, form).unwrap();
            let mut evaluator = series.evaluator(&[]).unwrap();
            let [mut one, mut wide] = [1, LANES].map(|width| series.expansion(width).unwrap());
            one.tolerate(tolerance, &[0.0]);
            one.inputs_mut().copy_from_slice(&[1.0, 0.5]);
            evaluator.expand(&mut one).unwrap();
            let mut step = [0.0];
            evaluator.reach(&one, &mut step).unwrap();
            assert!((step[0] / expected - 1.0).abs() < 5e-3, "{form:?}: {} {expected}", step[0]);
            assert_eq!(*first.get_or_insert(step), step, "{form:?}");
            // Twice as fast, at rest, gone, and the same.
            wide.tolerate(tolerance, &[0.0]);
            wide.inputs_mut().fill(1.0);
            for (lane, [x, y]) in
                [[2.0, 1.0], [0.0, 0.0], [f64::INFINITY, 1.0], [1.0, 0.5]].into_iter().enumerate()
            {
                (wide.inputs_mut()[lane], wide.inputs_mut()[LANES + lane]) = (x, y);
            }
            evaluator.expand(&mut wide).unwrap();
            let mut steps = [0.0; LANES];
            evaluator.reach(&wide, &mut steps).unwrap();
            assert!((2.0 * steps[0] / expected - 1.0).abs() < 5e-3, "{form:?}: {}", steps[0]);
            assert!(
                steps[1] == f64::INFINITY && steps[2].is_nan() && steps[3] == step[0],
                "{form:?}: {steps:?}"
            );
            // An absolute tolerance allows as much; a larger one more.
            one.tolerate(0.0, &[tolerance]);
            evaluator.reach(&one, &mut step).unwrap();
            assert!(step[0] >= 0.99 * f64::powf(tolerance, 1.0 / (order as f64 - 3.0)), "{form:?}");
        }
    }
    // 1/(1 − t⁴), with the time as a state: of orders 17 to 20 only the last is there.
    let program = Program::build(&[x, y], &[], &[graph.number(1.0), 4.0 * x.pow(3.0) * y * y]).unwrap();
    for form in forms() {
        let series = Series::with_form(&program, 2, 20, form).unwrap();
        let (mut evaluator, mut expansion) = (series.evaluator(&[]).unwrap(), series.expansion(1).unwrap());
        expansion.tolerate(1e-10, &[0.0]);
        expansion.inputs_mut().copy_from_slice(&[0.0, 1.0]);
        evaluator.expand(&mut expansion).unwrap();
        let mut step = [0.0];
        evaluator.reach(&expansion, &mut step).unwrap();
        assert!((step[0] / 1e-10f64.powf(1.0 / 21.0) - 1.0).abs() < 5e-3, "{form:?}: {}", step[0]);
    }
}

/// Powers of one base, sines and cosines of sums, and polynomials that are factored: with fewer convolutions, and the same series.
#[test]
fn identities_save_convolutions() {
    let points = [[0.4, 0.7, 0.3, 1.3], [1.25, -0.6, 0.8, 0.7]];
    check_field(
        "angles",
        |[x, y, t, k]| {
            let (a, b, c, d) = (x + t, k * y, y, x);
            let f = a.cos() * b.cos() + a.sin() * b.sin() + 2.0 * (d.cos() * c.sin() - c.cos() * d.sin());
            [f * (b.sin() * a.sin() - a.cos() * b.cos()), c.sin() * d.cos() + d.sin() * c.cos() - f * x]
        },
        &points,
    );
    check_field(
        "turns",
        |[x, y, _, k]| [x.sin() * y.cos() - k * (x.cos() * y.sin()), y.cos() * x.cos() - y.sin() * x.sin()],
        &points,
    );
    check_field(
        "powers",
        |[x, y, t, k]| {
            let r = (x * x + y * y + t).sqrt();
            [k / (r * r * r) * x - 2.0 / r, -3.0 * y * (0.5 / r) * (1.0 / r).pow(2.0) + r]
        },
        &points,
    );
    check_field(
        "factors",
        |[x, y, t, k]| {
            let s = x.exp();
            let c = s * y.sin();
            [
                x * (c * y) - k * (y * (c * t)) - 3.0 * x,
                (x - y) * c - y * (k - c * x) + (x + 2.0 * t) * (y - 1.0),
            ]
        },
        &points,
    );
    let graph = Graph::new();
    let [x, y, u, v] = graph.symbols(["x", "y", "u", "v"]);
    let work = |f: [_; 4]| {
        let program = Program::build(&[x, y, u, v], &[], &f).unwrap();
        Tape::new(&program, 4).unwrap().work(100) / 5000
    };
    // Two squares, each half of a convolution, a power, and two products.
    let r = (x * x + y * y).sqrt();
    assert_eq!(work([u, v, -x / (r * r * r), -y / (r * r * r)]), 4);
    // The sine and cosine of x − y, and a product: u cos(x − y) by the chain rule.
    let (sines, cosines) = ([x.sin(), y.sin()], [x.cos(), y.cos()]);
    let chained = |i: usize, j: usize| cosines[i] * (u * sines[j]) - sines[i] * (u * cosines[j]);
    assert_eq!(work([u, v, chained(0, 1), chained(1, 0)]), 3);
}

/// A power of a state that is zero has a series if its exponent is a whole number.
#[test]
fn whole_powers_of_zero() {
    let graph = Graph::new();
    let [x, y] = graph.symbols(["x", "y"]);
    let program = Program::build(&[x, y], &[], &[graph.number(1.0), x.pow(5.0) - x.pow(6.0)]).unwrap();
    let found = coefficients(&program, 2, 8, &[], &[0.0, 0.0]);
    let y: Vec<f64> = found.iter().skip(1).step_by(2).copied().collect();
    assert_eq!(y, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0 / 6.0, -1.0 / 7.0, 0.0]);
}

/// Random code over everything that has a series.
fn field(random: &mut Random) -> (Program, usize) {
    const CODES: [Code; 13] = [
        Code::Add,
        Code::Sub,
        Code::Mul,
        Code::Div,
        Code::Sqrt,
        Code::MulAdd,
        Code::MulSub,
        Code::NegMulAdd,
        Code::NegMulSub,
        Code::Min,
        Code::Max,
        Code::Floor,
        Code::SelectSign,
    ];
    let (states, extra, parameters) = (1 + random.below(5), random.below(3), random.below(3));
    let names = |count: usize, letter: &str| -> Vec<Symbol> {
        (0..count).map(|i| Symbol { name: format!("{letter}{i}").into(), dots: 0 }).collect()
    };
    let mut builder = Builder::default();
    let mut values: Vec<Operand> = (0..states + extra).map(|i| Operand::Input(i as u32)).collect();
    values.extend((0..parameters).map(|i| Operand::Parameter(i as u32)));
    values.extend((0..2 + random.below(3)).map(|_| builder.constant(random.below(9) as f64 / 2.0 - 1.5)));
    for _ in 0..1 + random.below(30) {
        let code = match random.below(10) {
            0..6 => random.pick(&CODES),
            6 => Code::Select(random.pick(&Test::ALL)),
            7 => Code::Call(random.pick(Op::ALL)),
            _ => Code::Math(random.pick(Op::ALL)),
        };
        let arguments: Vec<Operand> = (0..code.arity()).map(|_| random.pick(&values)).collect();
        let value = builder.push(code, &arguments);
        values.push(value);
    }
    let outputs =
        (0..states).map(|i| values[values.len() - 1 - random.below(values.len().min(4 + i))]).collect();
    let Builder { constants, body, .. } = builder;
    let (inputs, parameters) = (names(states + extra, "x"), names(parameters, "p"));
    let program = Program { inputs, parameters, constants, uniforms: Vec::new(), body, outputs };
    (if random.chance(0.7) { hoist(program) } else { program }, states)
}

#[test]
fn forms_agree_on_random_programs() {
    let mut numbers = 0;
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let (program, states) = field(&mut random);
        let order = 1 + random.below(9);
        let value = |random: &mut Random| {
            if random.chance(0.95) { random.between(-2.0, 2.0) } else { wild(random) }
        };
        let parameters: Vec<f64> = program.parameters.iter().map(|_| random.between(-2.0, 2.0)).collect();
        let at: Vec<f64> = program.inputs.iter().map(|_| value(&mut random)).collect();
        let found = coefficients(&program, states, order, &parameters, &at);
        numbers += usize::from(found.iter().all(|c| c.is_finite()));
    }
    assert!(numbers > 200, "too few numbers: {numbers}");
}

#[test]
fn parameters_change_and_bad_arguments_are_refused() {
    let graph = Graph::new();
    let [x, k] = graph.symbols(["x", "k"]);
    let program = Program::build(&[x], &[k], &[k.exp() * x]).unwrap();
    for form in forms() {
        let series = Series::with_form(&program, 1, 3, form).unwrap();
        let mut evaluator = series.evaluator(&[0.0]).unwrap();
        let mut out = [0.0; 3];
        evaluator.eval(&[1.0], &mut out).unwrap();
        assert_eq!(out, [1.0, 0.5, 0.5 * (1.0 / 3.0)]);
        evaluator.set_parameters(&[2f64.ln()]).unwrap();
        evaluator.eval(&[1.0], &mut out).unwrap();
        assert_close(out[1], 2.0, 4.0, "changed");
        let logarithm = |lane: usize| (2.0 + 0.1 * lane as f64).ln();
        (0..LANES).for_each(|lane| evaluator.set_parameters_in(lane, &[logarithm(lane)]).unwrap());
        let mut wide = vec![0.0; LANES * out.len()];
        evaluator.eval_lanes(&[1.0; LANES], &mut wide).unwrap();
        for lane in 0..LANES {
            evaluator.set_parameters(&[logarithm(lane)]).unwrap();
            evaluator.eval(&[1.0], &mut out).unwrap();
            let found: Vec<f64> = wide.iter().skip(lane).step_by(LANES).copied().collect();
            assert_eq!(found, out, "lane {lane}");
        }
        assert!(evaluator.set_parameters_in(LANES, &[1.0]).is_err());
        assert!(evaluator.set_parameters(&[f64::NAN]).is_err());
        assert!(evaluator.set_parameters(&[]).is_err());
        assert!(evaluator.eval(&[1.0, 2.0], &mut out).is_err());
        assert!(evaluator.eval(&[1.0], &mut out[..2]).is_err());
        assert!(evaluator.eval_lanes(&[1.0; 9], &mut [0.0; 24]).is_err());
        assert!(evaluator.eval_lanes(&[1.0; 8], &mut [0.0; 23]).is_err());
    }
    assert!(matches!(Series::new(&program, 2, 3), Err(SeriesError::Shape { .. })));
    for order in [0, 1000] {
        assert!(matches!(Series::new(&program, 1, order), Err(SeriesError::Order { .. })));
    }
    let error = Series::new(&Program::build(&[x], &[], &[x.sin()]).unwrap().expanded(), 1, 3).unwrap_err();
    assert!(error.to_string().contains("has no Taylor series"), "{error}");
}

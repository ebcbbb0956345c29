//! A step assembled from calls against the same step made of kernel calls.

use leastaction_compile::{
    Arithmetic, Assembly, AssemblyError, Backend, BuildError, Evaluator, Kernel, LANES, Operand, Program,
};
use leastaction_expr::{Graph, Symbol};

fn symbol(name: &str) -> Symbol {
    Symbol { name: name.into(), dots: 0 }
}

/// A driven pendulum with friction: sine and cosine, powers, parameters alone, the time.
fn field() -> Program {
    let graph = Graph::new();
    let [q, v, t, g, l, c] = graph.symbols(["q", "v", "t", "g", "l", "c"]);
    let force =
        -(g / l).sqrt() * q.sin() - c * v * v.abs() + (c * t).cos() * q.cos() * (1.0 + v * v).pow(-1.5);
    Program::build(&[q, v, t], &[g, l, c], &[v, force]).unwrap()
}

/// The classical Runge–Kutta step of (q, v, t, h).
fn step() -> Program {
    let field = field();
    let inputs: Vec<Symbol> = ["q", "v", "t", "h"].map(symbol).to_vec();
    let mut a = Assembly::new(&inputs, field.parameters()).unwrap();
    let [q, v, t, h] = [0, 1, 2, 3].map(|i| a.input(i));
    let half = a.constant(0.5);
    let half = a.mul(half, h);
    let mut rates: Vec<Vec<Operand>> = vec![a.call(&field, &[q, v, t]).unwrap()];
    for ahead in [half, half, h] {
        let last = rates[rates.len() - 1].clone();
        let (x, y, s) = (a.mul_add(ahead, last[0], q), a.mul_add(ahead, last[1], v), a.add(t, ahead));
        let next = a.call(&field, &[x, y, s]).unwrap();
        rates.push(next);
    }
    let (two, sixth) = (a.constant(2.0), a.constant(1.0 / 6.0));
    let sixth = a.mul(sixth, h);
    let mut ends = Vec::new();
    for (i, start) in [q, v].into_iter().enumerate() {
        let middle = a.add(rates[1][i], rates[2][i]);
        let outer = a.add(rates[0][i], rates[3][i]);
        let sum = a.mul_add(two, middle, outer);
        ends.push(a.mul_add(sixth, sum, start));
    }
    // A compensated difference: what is lost when the first is added to the second.
    let sum = a.add(q, v);
    let back = a.sub(sum, q);
    ends.push(a.sub(v, back));
    a.finish(&ends).unwrap()
}

fn by_calls(mut rates: impl FnMut(&[f64; 3]) -> [f64; 2], [q, v, t, h]: [f64; 4]) -> [f64; 3] {
    let half = 0.5 * h;
    let mut k = vec![rates(&[q, v, t])];
    for ahead in [half, half, h] {
        let last = k[k.len() - 1];
        let at = [ahead.mul_add(last[0], q), ahead.mul_add(last[1], v), t + ahead];
        k.push(rates(&at));
    }
    let sixth = 1.0 / 6.0 * h;
    let end = |i: usize, start: f64| sixth.mul_add(2f64.mul_add(k[1][i] + k[2][i], k[0][i] + k[3][i]), start);
    [end(0, q), end(1, v), v - ((q + v) - q)]
}

#[test]
fn an_assembled_step_equals_calls_bit_for_bit() {
    let (field, step) = (field(), step());
    assert_eq!(step.parameters(), field.parameters());
    for backend in Backend::ALL.into_iter().filter(|b| b.is_available()) {
        let evaluator = |p: &Program| -> Evaluator {
            Kernel::with_backend(p.clone(), backend).unwrap().evaluator(&[9.81, 2.0, 0.3]).unwrap()
        };
        let (mut one, mut whole) = (evaluator(&field), evaluator(&step));
        for parameters in [[9.81, 2.0, 0.3], [1.0, 0.7, 1.9]] {
            one.set_parameters(&parameters).unwrap();
            whole.set_parameters(&parameters).unwrap();
            let value = |lane: usize, i: usize| 0.37 * (lane as f64 + 1.0) * (i as f64 - 1.3);
            let mut inputs = [0.0; 4 * LANES];
            for (place, x) in inputs.iter_mut().enumerate() {
                *x = value(place % LANES, place / LANES);
            }
            let mut many = [0.0; 3 * LANES];
            whole.eval_lanes(&inputs, &mut many).unwrap();
            for lane in 0..LANES {
                let at = [0, 1, 2, 3].map(|i| value(lane, i));
                let rates = |at: &[f64; 3]| {
                    let mut out = [0.0; 2];
                    one.eval(at, &mut out).unwrap();
                    out
                };
                let expected = by_calls(rates, at);
                let mut single = [0.0; 3];
                whole.eval(&at, &mut single).unwrap();
                assert_eq!(single.map(f64::to_bits), expected.map(f64::to_bits), "{backend}, lane {lane}");
                let lanes = [0, 1, 2].map(|i| many[i * LANES + lane].to_bits());
                assert_eq!(lanes, expected.map(f64::to_bits), "{backend}, lane {lane}");
            }
        }
    }
    // The compensated difference is not zero in all of them.
    let (q, v) = (0.1, 1e-9);
    assert_ne!(v - ((q + v) - q), 0.0);
}

#[test]
fn calls_share_what_depends_on_parameters_alone() {
    let (field, step) = (field(), step());
    // √(g/l) once; and the constants of the step itself.
    let roots = step.uniforms().iter().filter(|i| format!("{i:?}").starts_with("Sqrt")).count();
    assert_eq!(roots, 1, "{step}");
    assert!(step.uniforms().len() <= field.uniforms().len() + 2, "{step}");
    assert!(step.body().len() < 4 * field.body().len() + 25, "{step}");
}

#[test]
fn what_cannot_be_called_is_refused() {
    let field = field();
    let twice = Assembly::new(&[symbol("q"), symbol("q")], &[]).err().unwrap();
    assert!(matches!(twice, BuildError::DuplicateSymbol { .. }));
    let mut a = Assembly::new(&[symbol("q"), symbol("g")], &[]).unwrap();
    let q = a.input(0);
    let error = a.call(&field, &[q]).unwrap_err();
    assert_eq!(error.to_string(), "the program has 3 inputs, 1 arguments were given");
    let error = a.call(&field, &[q, q, q]).unwrap_err();
    assert!(matches!(error, AssemblyError::ParameterIsInput { .. }), "{error}");
    let bad = a.constant(f64::NAN);
    assert!(matches!(a.finish(&[bad]), Err(BuildError::NonFiniteConstant { .. })));
}

/// A sine that was paired with a cosine stays a sine where nothing needs the cosine any more.
#[test]
fn a_sine_may_lose_its_cosine() {
    let graph = Graph::new();
    let x = graph.symbol("x");
    let both = Program::build(&[x], &[], &[x.sin(), x.cos()]).unwrap();
    for kept in 0..2 {
        let mut assembly = Assembly::with_inputs(1, &[]).unwrap();
        let input = assembly.input(0);
        let outputs = assembly.call(&both, &[input]).unwrap();
        let program = assembly.finish(&[outputs[kept]]).unwrap();
        for backend in Backend::ALL.into_iter().filter(|b| b.is_available()) {
            let mut one = Kernel::with_backend(program.clone(), backend).unwrap().evaluator(&[]).unwrap();
            let (mut out, mut lanes) = ([0.0], [0.0; LANES]);
            one.eval(&[0.75], &mut out).unwrap();
            one.eval_lanes(&[0.75; LANES], &mut lanes).unwrap();
            let exact = [0.75_f64.sin(), 0.75_f64.cos()][kept];
            assert!((out[0] - exact).abs() < 1e-15 && lanes == [out[0]; LANES], "{backend}: {out:?}");
        }
    }
}

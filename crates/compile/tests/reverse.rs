//! The reverse of a program gives the derivatives that a sweep forward gives, for every operator, for random programs, on every backend and in lanes.

use crate::common::{Random, expressions};
use leastaction_compile::{
    Arithmetic, Assembly, Backend, Code, Instruction, Kernel, LANES, Operand, Program, ReverseError, Test,
};
use leastaction_expr::{Graph, Op};

/// A number with its derivative in one direction, and the size of the terms that went into the derivative.
#[derive(Clone, Copy, Debug)]
struct Dual {
    value: f64,
    slope: f64,
    size: f64,
}

/// All inputs and parameters of a program.
fn variables(program: &Program) -> Vec<Operand> {
    let inputs = (0..program.inputs().len()).map(|i| Operand::Input(i as u32));
    inputs.chain((0..program.parameters().len()).map(|i| Operand::Parameter(i as u32))).collect()
}

/// The derivatives of an instruction by its arguments, found without the compiler.
fn slopes(instruction: &Instruction, arguments: &[f64], value: f64) -> Vec<f64> {
    let flag = |test: bool| f64::from(u8::from(test));
    match (instruction.code, arguments) {
        (Code::Add, _) => vec![1.0, 1.0],
        (Code::Sub, _) => vec![1.0, -1.0],
        (Code::Mul, &[a, b]) => vec![b, a],
        (Code::Div, &[_, b]) => vec![1.0 / b, -value / b],
        (Code::Sqrt, _) => vec![0.5 / value],
        (Code::MulAdd, &[a, b, _]) => vec![b, a, 1.0],
        (Code::MulSub, &[a, b, _]) => vec![b, a, -1.0],
        (Code::NegMulAdd, &[a, b, _]) => vec![-b, -a, 1.0],
        (Code::NegMulSub, &[a, b, _]) => vec![-b, -a, -1.0],
        (Code::Floor | Code::Round, _) => vec![0.0],
        (Code::Select(test), &[a, b, ..]) => {
            vec![0.0, 0.0, flag(test.holds(a, b)), flag(!test.holds(a, b))]
        }
        (Code::Math(op) | Code::Paired(op), _) => {
            let graph = Graph::new();
            let symbols = &graph.symbols(["a", "b", "c"])[..arguments.len()];
            let values: Vec<_> = symbols.iter().copied().zip(arguments.iter().copied()).collect();
            let y = graph.apply(op, symbols);
            symbols.iter().map(|&s| y.derivative(s).eval(&values).unwrap()).collect()
        }
        other => panic!("{other:?} is not written here"),
    }
}

/// The outputs with their derivatives along a direction, by a sweep forward.
fn forward(program: &Program, at: &[f64], direction: &[f64]) -> Vec<Dual> {
    let inputs = program.inputs().len();
    let leaf = |i: usize| Dual { value: at[i], slope: direction[i], size: direction[i].abs() };
    let (mut uniforms, mut temporaries): (Vec<Dual>, Vec<Dual>) = (Vec::new(), Vec::new());
    let find = |operand: Operand, uniforms: &[Dual], temporaries: &[Dual]| match operand {
        Operand::Constant(i) => Dual { value: program.constants()[i as usize], slope: 0.0, size: 0.0 },
        Operand::Input(i) => leaf(i as usize),
        Operand::Parameter(i) => leaf(inputs + i as usize),
        Operand::Uniform(i) => uniforms[i as usize],
        Operand::Temporary(i) => temporaries[i as usize],
    };
    let apply = |instruction: &Instruction, uniforms: &[Dual], temporaries: &[Dual]| {
        let arguments: Vec<Dual> =
            instruction.arguments().iter().map(|&a| find(a, uniforms, temporaries)).collect();
        let values: Vec<f64> = arguments.iter().map(|a| a.value).collect();
        let four = std::array::from_fn(|i| values.get(i).copied().unwrap_or(values[0]));
        let value = instruction.code.value(four, 0.0);
        let (mut slope, mut size) = (0.0, 0.0);
        for (argument, by) in arguments.iter().zip(slopes(instruction, &values, value)) {
            // A branch that is left out adds nothing, whatever it is, and neither does what does not change.
            let chooses =
                matches!(instruction.code, Code::Select(_) | Code::Math(Op::Select | Op::Min | Op::Max));
            if argument.size != 0.0 && !(by == 0.0 && chooses) {
                slope += by * argument.slope;
                // A slope such as 1 − tanh² is off by rounding of 1.
                size += (by.abs() + 1e-3) * argument.size;
            }
        }
        Dual { value, slope, size }
    };
    for instruction in program.uniforms() {
        let dual = apply(instruction, &uniforms, &temporaries);
        uniforms.push(dual);
    }
    for instruction in program.body() {
        let dual = apply(instruction, &uniforms, &temporaries);
        temporaries.push(dual);
    }
    program.outputs().iter().map(|&o| find(o, &uniforms, &temporaries)).collect()
}

/// λᵀ J at a point, on one backend.
fn backward(reverse: &Program, backend: Backend, at: &[f64], parameters: usize, seeds: &[f64]) -> Vec<f64> {
    let (inputs, parameters) = at.split_at(at.len() - parameters);
    let kernel = Kernel::with_backend(reverse.clone(), backend).unwrap();
    let mut gradient = vec![0.0; reverse.outputs().len()];
    let mut evaluator = kernel.evaluator(parameters).unwrap();
    evaluator.eval(&[inputs, seeds].concat(), &mut gradient).unwrap();
    gradient
}

/// λᵀ (J v) by a sweep forward is (λᵀ J) v by the reverse, in every direction v of the axes. Returns how many were compared.
fn check(program: &Program, random: &mut Random, at: &[f64]) -> usize {
    let by = variables(program);
    let reverse = program.reverse(&by).unwrap();
    let seeds: Vec<f64> = program.outputs().iter().map(|_| random.between(-2.0, 2.0)).collect();
    let parameters = program.parameters().len();
    let gradient = backward(&reverse, Backend::Interpreter, at, parameters, &seeds);
    let mut compared = 0;
    for axis in 0..at.len() {
        let mut direction = vec![0.0; at.len()];
        direction[axis] = 1.0;
        let outputs = forward(program, at, &direction);
        let expected: f64 = outputs.iter().zip(&seeds).map(|(o, seed)| o.slope * seed).sum();
        let size: f64 = outputs.iter().zip(&seeds).map(|(o, seed)| (o.size * seed).abs()).sum();
        // What overflows, or is not differentiable where it is, has no derivative to compare with.
        if !(size < 1e30 && outputs.iter().all(|o| o.value.is_finite())) {
            continue;
        }
        assert!(
            (gradient[axis] - expected).abs() <= 1e-12 * size,
            "{program}\nat {at:?}, by variable {axis}: {} and not {expected}, of terms of {size}",
            gradient[axis]
        );
        compared += 1;
    }
    for backend in Backend::ALL.into_iter().filter(|b| b.is_available()) {
        let other = backward(&reverse, backend, at, parameters, &seeds);
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        assert!(gradient.iter().zip(&other).all(same), "{backend}: {other:?} and not {gradient:?}");
    }
    compared
}

#[test]
fn every_operator_is_reversed() {
    let mut random = Random::new(1);
    for &op in Op::ALL {
        let graph = Graph::new();
        let symbols = &graph.symbols(["a", "b", "c"])[..op.row().arity];
        let mut compared = 0;
        // Every argument as an input, as a parameter, and as a constant.
        for kinds in 0..3_usize.pow(symbols.len() as u32) {
            let kind = |i: usize| kinds / 3_usize.pow(i as u32) % 3;
            for _ in 0..40 {
                let values: Vec<f64> = symbols.iter().map(|_| random.between(-2.5, 2.5)).collect();
                let of: Vec<_> = (0..symbols.len())
                    .map(|i| if kind(i) == 2 { graph.number(values[i]) } else { symbols[i] })
                    .collect();
                let listed = |wanted: usize| (0..symbols.len()).filter(move |&i| kind(i) == wanted);
                let inputs: Vec<_> = listed(0).map(|i| symbols[i]).collect();
                let parameters: Vec<_> = listed(1).map(|i| symbols[i]).collect();
                let Ok(program) = Program::build(&inputs, &parameters, &[graph.apply(op, &of)]) else {
                    continue; // folded to what is not finite
                };
                let at: Vec<f64> = listed(0).chain(listed(1)).map(|i| values[i]).collect();
                compared += check(&program, &mut random, &at);
            }
        }
        assert!(compared > 20, "{}: only {compared} points", op.row().name);
    }
}

/// The table's own derivatives are compared with differences in `expr`; here the whole way is, once.
#[test]
fn differences_confirm_a_program_of_many_functions() {
    let graph = Graph::new();
    let [x, y, k] = graph.symbols(["x", "y", "k"]);
    let f = (x * y).sin() * (k * x).exp() + x.hypot(y).pow(1.5) / (1.0 + y * y).sqrt();
    let g = (x.lt(y)).select(x.tanh() * k, y.ln() * x) - (k * y).erf().atan2(x);
    let program = Program::lean(&[x, y], &[k], &[f, g]).unwrap();
    let reverse = program.reverse(&variables(&program)).unwrap();
    let (at, seeds) = ([0.7, 1.3, 0.4], [1.5, -0.75]);
    let gradient = backward(&reverse, Backend::best(), &at, 1, &seeds);
    let value = |at: [f64; 3]| -> f64 {
        let values: Vec<_> = [x, y, k].into_iter().zip(at).collect();
        [f, g].iter().zip(seeds).map(|(e, seed)| seed * e.eval(&values).unwrap()).sum()
    };
    for axis in 0..3 {
        // Extrapolated twice, as for the operator table.
        let slopes = [1.0, 0.5, 0.25].map(|part| {
            let h = part / 128.0;
            let moved = |by: f64| {
                let mut at = at;
                at[axis] += by;
                value(at)
            };
            (moved(h) - moved(-h)) / (2.0 * h)
        });
        let [ab, bc] = [0, 1].map(|i| (4.0 * slopes[i + 1] - slopes[i]) / 3.0);
        let difference = (16.0 * bc - ab) / 15.0;
        assert!((gradient[axis] - difference).abs() < 1e-9, "{} and not {difference}", gradient[axis]);
    }
}

fn sweep(seed: u64, programs: usize) {
    let mut random = Random::new(seed);
    let mut compared = 0;
    for _ in 0..programs {
        let graph = Graph::new();
        let symbols = graph.symbols(["a", "b", "c", "d", "e"]);
        let steps = 1 + random.below(40);
        let known = expressions(&graph, &mut random, &symbols, steps);
        let outputs: Vec<_> = (0..1 + random.below(4)).map(|i| known[known.len() - 1 - i]).collect();
        let (inputs, parameters) = symbols.split_at(random.below(6));
        let build = if random.chance(0.5) { Program::build } else { Program::lean };
        let Ok(program) = build(inputs, parameters, &outputs) else { continue };
        let at: Vec<f64> = symbols.iter().map(|_| random.between(-2.0, 2.0)).collect();
        compared += check(&program, &mut random, &at);
    }
    assert!(compared > programs, "only {compared} derivatives were finite");
}

#[test]
fn random_programs_are_reversed() {
    sweep(2, 300);
}

#[test]
#[ignore = "minutes"]
fn many_random_programs_are_reversed() {
    (3..40).for_each(|seed| sweep(seed, 1000));
}

#[test]
fn lanes_have_the_bits_of_single_states() {
    let graph = Graph::new();
    let [q, v, g, l] = graph.symbols(["q", "v", "g", "l"]);
    let program = Program::lean(&[q, v], &[g, l], &[v, -(g / l) * q.sin() - v * v.abs()]).unwrap();
    let reverse = program.reverse(&variables(&program)).unwrap();
    for backend in Backend::ALL.into_iter().filter(|b| b.is_available()) {
        let mut evaluator =
            Kernel::with_backend(reverse.clone(), backend).unwrap().evaluator(&[9.81, 1.0]).unwrap();
        let mut random = Random::new(5);
        let block: Vec<f64> = (0..4 * LANES).map(|_| random.between(-2.0, 2.0)).collect();
        let mut parameters = [[0.0; 2]; LANES];
        for (lane, own) in parameters.iter_mut().enumerate() {
            *own = [random.between(1.0, 10.0), random.between(0.5, 2.0)];
            evaluator.set_parameters_in(lane, own).unwrap();
        }
        let mut many = [0.0; 4 * LANES];
        evaluator.eval_lanes(&block, &mut many).unwrap();
        for (lane, own) in parameters.iter().enumerate() {
            let alone: Vec<f64> = block.iter().skip(lane).step_by(LANES).copied().collect();
            let mut one = [0.0; 4];
            evaluator.set_parameters(own).unwrap();
            evaluator.eval(&alone, &mut one).unwrap();
            assert!(one.iter().zip(many.iter().skip(lane).step_by(LANES)).all(|(a, b)| a == b));
        }
    }
}

/// What a choice leaves out adds nothing, although its derivatives are infinite or NaN there.
#[test]
fn branches_that_are_left_out_add_nothing() {
    let graph = Graph::new();
    let [x, y] = graph.symbols(["x", "y"]);
    let risky =
        [x.sqrt() * x.ln(), 1.0 / x, y / x.sqrt(), x.pow(0.3), (x - 2.0).acosh() * y, (y / x).atan2(x)];
    for branch in risky {
        let program = Program::build(&[x, y], &[], &[x.lt(0.5).select(x * x * y, branch)]).unwrap();
        let reverse = program.reverse(&variables(&program)).unwrap();
        for at in [-1.0, 0.0] {
            let gradient = backward(&reverse, Backend::best(), &[at, 3.0], 0, &[1.0]);
            assert_eq!(gradient, [6.0 * at, at * at], "{branch}");
        }
    }
}

/// The reverse of the reverse has the second derivatives.
#[test]
fn a_reverse_has_a_reverse() {
    let graph = Graph::new();
    let [x, y, k] = graph.symbols(["x", "y", "k"]);
    let energy = k * (x * y).cos() + (x - y).exp() / (1.0 + k * x * x);
    let program = Program::build(&[x, y], &[k], &[energy]).unwrap();
    let by = variables(&program);
    let gradient = program.reverse(&by).unwrap();
    let hessian = gradient.reverse(&by).unwrap();
    let (at, direction) = ([0.3, -0.8], [0.5, 2.0, -1.0]);
    let mut product = [0.0; 3];
    let mut evaluator = Kernel::compile(hessian).unwrap().evaluator(&[1.25]).unwrap();
    evaluator.eval(&[&at[..], &[1.0], &direction].concat(), &mut product).unwrap();
    let values = [(x, at[0]), (y, at[1]), (k, 1.25)];
    for (i, &a) in [x, y, k].iter().enumerate() {
        let row = [x, y, k].map(|b| energy.derivative(a).derivative(b).eval(&values).unwrap());
        let exact: f64 = row.iter().zip(direction).map(|(h, d)| h * d).sum();
        assert!((product[i] - exact).abs() < 1e-13 * 10.0, "{} and not {exact}", product[i]);
    }
}

/// Signs as `Arithmetic` writes them are reversed; other work on bits is refused, as functions that were written out are.
#[test]
fn signs_are_reversed_and_bits_refused() {
    let mut assembly = Assembly::with_inputs(2, &[]).unwrap();
    let (a, b) = (assembly.input(0), assembly.input(1));
    let negated = assembly.neg(a);
    let size = assembly.abs(a);
    let flipped = assembly.flip_sign(a, b);
    let chosen = assembly.select_sign(b, a, 3.0);
    let least = assembly.min(a, b);
    let most = assembly.max(a, b);
    let floored = assembly.floor(a);
    let either = assembly.select(Test::NotLess, a, b, a, b);
    let outputs = [negated, size, flipped, chosen, least, most, floored, either];
    let program = assembly.finish(&outputs).unwrap();
    let reverse = program.reverse(&variables(&program)).unwrap();
    for (place, slopes) in [
        (
            [-2.0, -1.0],
            [[-1.0, 0.0], [-1.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0; 2], [0.0, 1.0]],
        ),
        (
            [3.0, 2.0],
            [[-1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0; 2], [0.0, 1.0], [1.0, 0.0], [0.0; 2], [1.0, 0.0]],
        ),
    ] {
        for (output, slope) in slopes.into_iter().enumerate() {
            let mut seeds = [0.0; 8];
            seeds[output] = 1.0;
            let gradient = backward(&reverse, Backend::best(), &place, 0, &seeds);
            assert_eq!(gradient, slope, "output {output} at {place:?}");
        }
    }
    let graph = Graph::new();
    let x = graph.symbol("x");
    let sine = Program::build(&[x], &[], &[x.sin()]).unwrap();
    assert!(matches!(sine.expanded().reverse(&[Operand::Input(0)]), Err(ReverseError::Bits { .. })));
    for variable in [Operand::Input(1), Operand::Parameter(0), Operand::Temporary(0)] {
        assert_eq!(sine.reverse(&[variable]).unwrap_err(), ReverseError::NotAVariable { variable });
    }
}

//! Kernels as a user meets them: values, lanes, parameters, and every way to get them wrong.

use leastaction_compile::{
    ArgumentError, BACKEND_VARIABLE, Backend, BuildError, CompileError, Kernel, LANES, Program,
};
use leastaction_expr::{Expr, Graph};

fn backends() -> impl Iterator<Item = Backend> {
    Backend::ALL.into_iter().filter(|b| b.is_available())
}

#[test]
fn every_backend_evaluates_one_state_and_lanes() {
    let graph = Graph::new();
    let [x, y, k] = graph.symbols(["x", "y", "k"]);
    let outputs = [k * x.sin() * y, x, k, graph.number(2.5), k.exp() + y, x.lt(y).select(x, k)];
    let program = Program::build(&[x, y], &[k], &outputs).unwrap();
    for backend in backends() {
        let mut evaluator =
            Kernel::with_backend(program.clone(), backend).unwrap().evaluator(&[0.5]).unwrap();
        for blocks in [0, 1, 2, 9, 17] {
            let inputs: Vec<f64> = (0..blocks * 2 * LANES).map(|i| 0.1 * i as f64 - 3.0).collect();
            let mut lanes = vec![0.0; blocks * outputs.len() * LANES];
            evaluator.eval_lanes(&inputs, &mut lanes).unwrap();
            for state in 0..blocks * LANES {
                let place = |component: usize, each: usize| {
                    (state / LANES * each + component) * LANES + state % LANES
                };
                let at = [inputs[place(0, 2)], inputs[place(1, 2)]];
                let mut single = [0.0; 6];
                evaluator.eval(&at, &mut single).unwrap();
                for (i, output) in outputs.iter().enumerate() {
                    let expected = output.eval(&[(x, at[0]), (y, at[1]), (k, 0.5)]).unwrap();
                    assert_eq!(single[i], lanes[place(i, 6)], "{backend}: one state and lanes");
                    assert!(
                        (single[i] - expected).abs() <= 4e-16 * expected.abs().max(1.0),
                        "{backend}: output {i}"
                    );
                }
            }
        }
    }
}

#[test]
fn parameters_change_without_recompiling() {
    let graph = Graph::new();
    let [x, k, l] = graph.symbols(["x", "k", "l"]);
    let program = Program::build(&[x], &[k, l], &[k / l * x]).unwrap();
    assert_eq!(program.uniforms().len(), 1, "k / l is hoisted");
    for backend in backends() {
        let kernel = Kernel::with_backend(program.clone(), backend).unwrap();
        let mut evaluator = kernel.evaluator(&kernel.parameters(&[("l", 2.0), ("k", 6.0)]).unwrap()).unwrap();
        let mut out = [0.0];
        evaluator.eval(&[5.0], &mut out).unwrap();
        assert_eq!(out, [15.0]);
        evaluator.set_parameters(&[1.0, 4.0]).unwrap();
        evaluator.eval(&[8.0], &mut out).unwrap();
        assert_eq!(out, [2.0]);
    }
}

#[test]
fn lanes_may_have_parameters_of_their_own() {
    for backend in backends() {
        let graph = Graph::new();
        let [q, g, l] = graph.symbols(["q", "g", "l"]);
        // An input, a parameter and a uniform as outputs, too.
        let program =
            Program::build(&[q], &[g, l], &[(g / l).sqrt() * q.sin() + 3.0 * g, q, l, g / l]).unwrap();
        let kernel = Kernel::with_backend(program, backend).unwrap();
        let parameters = |lane: usize| [9.81 + 0.1 * lane as f64, 1.0 / (1.0 + lane as f64)];
        let mut evaluator = kernel.evaluator(&[1.0, 2.0]).unwrap();
        for lane in 0..LANES {
            evaluator.set_parameters_in(lane, &parameters(lane)).unwrap();
        }
        let inputs: Vec<f64> = (0..9 * LANES).map(|i| 0.3 + i as f64).collect();
        let mut outputs = vec![0.0; 9 * 4 * LANES];
        evaluator.eval_lanes(&inputs, &mut outputs).unwrap();
        let mut alone = kernel.evaluator(&[1.0, 2.0]).unwrap();
        for (i, &q) in inputs.iter().enumerate() {
            let (block, lane) = (i / LANES, i % LANES);
            let (mut single, mut expected) = ([0.0; 4], [0.0; 4]);
            evaluator.eval(&[q], &mut single).unwrap();
            assert_eq!(single[1..], [q, 2.0, 0.5], "single states keep their parameters");
            alone.set_parameters(&parameters(lane)).unwrap();
            alone.eval(&[q], &mut expected).unwrap();
            let found: [f64; 4] = std::array::from_fn(|k| outputs[(block * 4 + k) * LANES + lane]);
            assert_eq!(found.map(f64::to_bits), expected.map(f64::to_bits), "{backend}, lane {lane}");
        }
        let mut bad = |lane, values: &[f64]| evaluator.set_parameters_in(lane, values).unwrap_err();
        assert_eq!(bad(8, &[1.0, 1.0]), ArgumentError::NoLane { lane: 8 });
        assert!(matches!(bad(0, &[1.0]), ArgumentError::WrongLength { .. }));
        assert!(matches!(bad(0, &[1.0, f64::NAN]), ArgumentError::NonFiniteParameter { .. }));
        let mut again = vec![0.0; outputs.len()];
        evaluator.eval_lanes(&inputs, &mut again).unwrap();
        assert_eq!(again, outputs, "what was refused changes nothing");
        // Setting all sets every lane.
        evaluator.set_parameters(&[2.0, 4.0]).unwrap();
        evaluator.eval_lanes(&inputs, &mut again).unwrap();
        assert!(again.chunks_exact(LANES).skip(2).step_by(4).flatten().all(|l| *l == 4.0));
    }
}

#[test]
fn a_program_may_have_no_inputs_or_no_outputs() {
    let graph = Graph::new();
    let k = graph.symbol("k");
    for backend in backends() {
        let constant = Program::build(&[], &[k], &[k * 2.0]).unwrap();
        let mut evaluator = Kernel::with_backend(constant, backend).unwrap().evaluator(&[3.0]).unwrap();
        let mut out = [0.0; 2 * LANES];
        evaluator.eval_lanes(&[], &mut out).unwrap();
        assert_eq!(out, [6.0; 2 * LANES]);
        let nothing = Program::build(&[k], &[], &[]).unwrap();
        let mut evaluator = Kernel::with_backend(nothing, backend).unwrap().evaluator(&[]).unwrap();
        evaluator.eval(&[1.0], &mut []).unwrap();
        evaluator.eval_lanes(&[0.0; LANES], &mut []).unwrap();
    }
}

#[test]
fn wrong_programs_are_refused() {
    let graph = Graph::new();
    let [x, y] = graph.symbols(["x", "y"]);
    let refuse = |inputs: &[Expr<'_>], parameters: &[Expr<'_>], output: Expr<'_>| {
        Program::build(inputs, parameters, &[output]).unwrap_err()
    };
    let error = refuse(&[x], &[], x * y);
    assert_eq!(error.to_string(), "`y` is neither an input nor a parameter: add it to one of the two lists");
    assert!(matches!(refuse(&[x], &[x], x), BuildError::DuplicateSymbol { .. }));
    let error = refuse(&[x], &[y + 1.0], x);
    assert_eq!(error.to_string(), "parameter 0 is `y + 1`: only symbols can be given values");
    for value in [f64::NAN, f64::INFINITY] {
        assert!(matches!(refuse(&[x], &[], x * value), BuildError::NonFiniteConstant { .. }));
    }
}

#[test]
fn wrong_arguments_are_refused() {
    let graph = Graph::new();
    let [x, y, k] = graph.symbols(["x", "y", "k"]);
    let program = Program::build(&[x, y], &[k], &[x + y * k]).unwrap();
    for backend in backends() {
        let kernel = Kernel::with_backend(program.clone(), backend).unwrap();
        let missing = kernel.parameters(&[]).unwrap_err();
        assert_eq!(missing.to_string(), "the parameter `k` has no value");
        let unknown = kernel.parameters(&[("k", 1.0), ("z", 1.0)]).unwrap_err();
        assert_eq!(unknown.to_string(), "there is no parameter `z`");
        let twice = kernel.parameters(&[("k", 1.0), ("k", 2.0)]).unwrap_err();
        assert_eq!(twice.to_string(), "the parameter `k` is given twice");
        let few = kernel.evaluator(&[]).err().unwrap();
        assert_eq!(few, ArgumentError::WrongLength { what: "parameters", expected: 1, found: 0 });
        assert!(matches!(kernel.evaluator(&[f64::NAN]), Err(ArgumentError::NonFiniteParameter { .. })));

        let mut evaluator = kernel.evaluator(&[2.0]).unwrap();
        let mut out = [0.0];
        let few = evaluator.eval(&[1.0], &mut out).unwrap_err();
        assert_eq!(few.to_string(), "2 inputs are expected, 1 were given");
        assert!(evaluator.eval(&[1.0, 2.0], &mut []).is_err());
        let partial = evaluator.eval_lanes(&[0.0; 2 * LANES + 1], &mut [0.0; LANES]).unwrap_err();
        assert!(matches!(partial, ArgumentError::PartialBlock { each: 2, .. }));
        assert!(evaluator.eval_lanes(&[0.0; 2 * LANES], &mut [0.0; LANES - 1]).is_err());
        // A refused change leaves the old parameters.
        assert!(evaluator.set_parameters(&[f64::INFINITY]).is_err());
        evaluator.eval(&[1.0, 2.0], &mut out).unwrap();
        assert_eq!(out, [5.0]);
    }
}

#[test]
fn backends_have_names() {
    for backend in Backend::ALL {
        assert_eq!(backend.to_string().parse::<Backend>().unwrap(), backend);
    }
    let error = "gpu".parse::<Backend>().unwrap_err();
    assert!(matches!(error, CompileError::UnknownBackend { .. }));
    assert!(error.to_string().contains("LEASTACTION_BACKEND"));
}

/// Compiles something and prints the backend; run by [`the_variable_forces_a_backend`] in a process of its own.
#[test]
#[ignore = "a helper of another test"]
fn print_backend() {
    let graph = Graph::new();
    match Kernel::compile(Program::build(&[], &[], &[graph.number(1.0)]).unwrap()) {
        Ok(kernel) => println!("backend: {}", kernel.backend()),
        Err(error) => println!("error: {error}"),
    }
}

#[test]
fn the_variable_forces_a_backend() {
    let run = |value: Option<&str>| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "kernel::print_backend", "--ignored", "--nocapture"])
            .env_remove(BACKEND_VARIABLE);
        if let Some(value) = value {
            command.env(BACKEND_VARIABLE, value);
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    for backend in Backend::ALL {
        let said = run(Some(&backend.to_string()));
        let expected = if backend.is_available() { "backend: " } else { "error: this machine cannot run" };
        assert!(said.contains(expected) && said.contains(&backend.to_string()), "{said}");
    }
    assert!(run(Some("gpu")).contains("error: there is no backend `gpu`"));
    for unset in [None, Some("")] {
        assert!(run(unset).contains(&format!("backend: {}", Backend::best())));
    }
}

#[test]
fn a_hundred_thousand_operations_compile() {
    many_operations_compile(100_000);
}

#[test]
#[ignore = "long"]
fn a_million_operations_compile() {
    many_operations_compile(1_000_000);
}

/// A chain of operations that wait for each other, and terms that do not.
fn many_operations_compile(count: u32) {
    let graph = Graph::new();
    let x = graph.symbol("x");
    let chain = (0..count / 4).fold(x, |y, _| ((y + x) / (1.0 + y)).sqrt() * x);
    let terms: Vec<_> = (0..count).map(|i| (x + f64::from(i)).sqrt()).collect();
    for output in [chain, graph.sum(terms)] {
        let program = Program::build(&[x], &[], &[output]).unwrap();
        assert!(program.to_string().lines().count() > count as usize / 2);
        let expected = output.eval(&[(x, 1.0)]).unwrap();
        for backend in backends() {
            let mut evaluator =
                Kernel::with_backend(program.clone(), backend).unwrap().evaluator(&[]).unwrap();
            let mut out = [0.0];
            evaluator.eval(&[1.0], &mut out).unwrap();
            assert!((out[0] - expected).abs() <= 1e-12 * expected.abs(), "{backend}: {} {expected}", out[0]);
        }
    }
}

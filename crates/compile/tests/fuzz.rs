//! Every backend gives the same bits: random programs over all operators, against the meaning of each instruction.

use crate::common::{Random, expressions, number};
use leastaction_compile::{Backend, Code, Evaluator, Instruction, Kernel, LANES, Operand, Program};
use leastaction_expr::{Expr, Graph, Op, substitute};
use std::collections::BTreeSet;

/// The program as its instructions are defined, one lane at a time.
fn reference(program: &Program, parameters: &[f64], inputs: &[f64]) -> Vec<f64> {
    let (mut uniforms, mut temporaries) = (Vec::new(), Vec::new());
    let value = |operand: Operand, uniforms: &[f64], temporaries: &[f64]| match operand {
        Operand::Constant(i) => program.constants()[i as usize],
        Operand::Parameter(i) => parameters[i as usize],
        Operand::Uniform(i) => uniforms[i as usize],
        Operand::Input(i) => inputs[i as usize],
        Operand::Temporary(i) => temporaries[i as usize],
    };
    let run = |instruction: &Instruction, uniforms: &[f64], temporaries: &[f64]| {
        let limit = match instruction.code {
            Code::Repair { limit, .. } => program.constants()[limit as usize],
            _ => 0.0,
        };
        instruction.code.value(instruction.operands.map(|o| value(o, uniforms, temporaries)), limit)
    };
    for instruction in program.uniforms() {
        uniforms.push(run(instruction, &uniforms, &[]));
    }
    for instruction in program.body() {
        temporaries.push(run(instruction, &uniforms, &temporaries));
    }
    program.outputs().iter().map(|&o| value(o, &uniforms, &temporaries)).collect()
}

const MODES: [&str; 2] = ["one state", "lanes"];

/// What the fuzz test saw in one mode of one backend.
#[derive(Default)]
struct Tally {
    programs: usize,
    lanes: usize,
    numbers: usize,
}

fn fuzz(programs: usize, seed: u64) {
    let backends: Vec<Backend> = Backend::ALL.into_iter().filter(|b| b.is_available()).collect();
    let mut tallies: Vec<[Tally; 2]> = backends.iter().map(|_| Default::default()).collect();
    let mut seen: BTreeSet<Op> = BTreeSet::new();
    for index in 0..programs {
        let mut random = Random::new(seed.wrapping_add(index as u64));
        let graph = Graph::new();
        let mut inputs: Vec<_> = (0..1 + random.below(5)).map(|i| graph.symbol(&format!("x{i}"))).collect();
        let parameters: Vec<_> = (0..random.below(4)).map(|i| graph.symbol(&format!("k{i}"))).collect();
        let symbols: Vec<_> = inputs.iter().chain(&parameters).copied().collect();
        let most = if random.chance(0.1) { 300 } else { 40 };
        let steps = 3 + random.below(most);
        let known = expressions(&graph, &mut random, &symbols, steps);
        let mut outputs: Vec<Expr<'_>> = (0..1 + random.below(6))
            .map(|_| random.pick(&known[known.len() / 2..]))
            .chain(known.last().copied())
            .collect();
        if random.chance(0.2) {
            // The same of other inputs, several times: what native code packs into vectors.
            let (first, firsts) = (outputs.clone(), inputs.clone());
            for copy in 0..1 + random.below(10) {
                let other = |i: usize| graph.symbol(&format!("y{copy}x{i}"));
                let others: Vec<_> = firsts.iter().enumerate().map(|(i, &x)| (x, other(i))).collect();
                outputs.extend(substitute(&first, &others));
                inputs.extend(others.iter().map(|(_, y)| y));
            }
        }
        for (_, node) in graph.order(&outputs.iter().map(|e| e.id()).collect::<Vec<_>>()) {
            if let leastaction_expr::Node::Apply(op, _) = node {
                seen.insert(op);
            }
        }
        let program = Program::build(&inputs, &parameters, &outputs).expect("all symbols are given");
        let given: [Vec<f64>; LANES] =
            std::array::from_fn(|_| parameters.iter().map(|_| random.between(-3.0, 3.0)).collect());
        let blocks = 1 + random.below(3) * random.below(5);
        let states: Vec<Vec<f64>> =
            (0..blocks * LANES).map(|_| inputs.iter().map(|_| number(&mut random)).collect()).collect();
        // The program as the interpreter runs it, with constant powers written out, is what each instruction means.
        let meaning =
            Kernel::with_backend(program.clone(), Backend::Interpreter).expect("it runs everywhere");
        // Single states have the parameters of lane 0.
        let value = |lane: usize, s: &Vec<f64>| reference(meaning.program(), &given[lane], s);
        let expected: [Vec<Vec<f64>>; 2] = [
            states.iter().map(|s| value(0, s)).collect(),
            states.iter().enumerate().map(|(lane, s)| value(lane % LANES, s)).collect(),
        ];
        for (backend, tally) in backends.iter().zip(&mut tallies) {
            let kernel = Kernel::with_backend(program.clone(), *backend).expect("the backend is available");
            let mut evaluator = kernel.evaluator(&given[0]).expect("parameters fit");
            for (lane, given) in given.iter().enumerate() {
                evaluator.set_parameters_in(lane, given).expect("parameters fit");
            }
            let found = run_both(&mut evaluator, &states, outputs.len());
            for (((mode, found), expected), tally) in MODES.iter().zip(found).zip(&expected).zip(tally) {
                tally.programs += 1;
                for ((found, expected), state) in found.iter().zip(expected).zip(&states) {
                    for (o, (f, e)) in found.iter().zip(expected).enumerate() {
                        tally.lanes += 1;
                        tally.numbers += usize::from(!e.is_nan());
                        assert!(
                            f.to_bits() == e.to_bits() || (f.is_nan() && e.is_nan()),
                            "{backend} {mode}, seed {}: output {o} at {state:?} is {f:e}, not {e:e}\n{program}",
                            seed.wrapping_add(index as u64)
                        );
                    }
                }
            }
        }
    }
    for (backend, tally) in backends.iter().zip(&tallies) {
        for (mode, tally) in MODES.iter().zip(tally) {
            println!(
                "{backend} {mode}: {} programs, {} lanes, {} not NaN",
                tally.programs, tally.lanes, tally.numbers
            );
            assert!(tally.numbers > 50 * programs, "too few lanes were really compared");
            assert!(2 * tally.numbers > tally.lanes, "most lanes should hold numbers");
        }
    }
    let missing: Vec<_> = Op::ALL.iter().filter(|op| !seen.contains(op)).collect();
    assert!(missing.is_empty(), "operators that no program used: {missing:?}");
}

/// Outputs of all states, one state at a time and in lanes.
fn run_both(evaluator: &mut Evaluator, states: &[Vec<f64>], outputs: usize) -> [Vec<Vec<f64>>; 2] {
    let single = states.iter().map(|state| {
        let mut out = vec![0.0; outputs];
        evaluator.eval(state, &mut out).expect("the lengths fit");
        out
    });
    let single: Vec<_> = single.collect();
    let each = states[0].len();
    let mut packed = vec![0.0; states.len() * each];
    for (s, state) in states.iter().enumerate() {
        for (i, &x) in state.iter().enumerate() {
            packed[(s / LANES * each + i) * LANES + s % LANES] = x;
        }
    }
    let mut out = vec![0.0; states.len() * outputs];
    evaluator.eval_lanes(&packed, &mut out).expect("the lengths fit");
    let lane = |s: usize| (0..outputs).map(|o| out[(s / LANES * outputs + o) * LANES + s % LANES]).collect();
    [single, (0..states.len()).map(lane).collect()]
}

#[test]
fn backends_agree_on_random_programs() {
    fuzz(2_000, 1);
}

#[test]
#[ignore = "long: a hundred thousand programs"]
fn backends_agree_on_a_hundred_thousand_random_programs() {
    fuzz(100_000, 1 << 40);
}

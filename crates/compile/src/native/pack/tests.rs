//! What is packed, and what is left alone. That packed code computes the same is tested with all native code.

use super::super::Isa;
use super::super::sequence::{Action, Sequence};
use super::pack;
use crate::instruction::Code;
use crate::program::Program;
use crate::series::{Form, Series};
use crate::{Backend, Kernel};
use leastaction_expr::{Expr, Graph};

/// Steps of one width.
fn count(sequence: &Sequence, width: u8, wanted: impl Fn(Code) -> bool) -> usize {
    let of = |action: Action| matches!(action, Action::Operate(code) if wanted(code));
    sequence.steps.iter().filter(|step| step.width == width && of(step.action)).count()
}

/// The field of bodies that attract each other, as masses times accelerations.
fn attraction(bodies: usize) -> Program {
    let graph = Graph::new();
    let symbols = |letter: &str, count: usize| -> Vec<Expr<'_>> {
        (0..count).map(|i| graph.symbol(&format!("{letter}{i}"))).collect()
    };
    let (q, v, m) = (symbols("q", 3 * bodies), symbols("v", 3 * bodies), symbols("m", bodies));
    let mut potential = graph.number(0.0);
    for i in 0..bodies {
        for j in i + 1..bodies {
            let d = |c: usize| q[3 * i + c] - q[3 * j + c];
            potential -= m[i] * m[j] / (d(0) * d(0) + d(1) * d(1) + d(2) * d(2)).sqrt();
        }
    }
    let forces = potential.gradient(&q).into_iter().map(|slope| -slope);
    let rates: Vec<Expr<'_>> = v.iter().copied().chain(forces).collect();
    let states: Vec<Expr<'_>> = q.iter().chain(&v).copied().collect();
    Program::build(&states, &m, &rates).unwrap().expanded()
}

#[test]
fn pairs_of_bodies_are_lanes() {
    // Six bodies are fifteen pairs: two vectors of eight lanes or four of four, the last lane of them idle.
    let program = attraction(6);
    let packed = pack(&program, Isa::Avx512, 8, false).expect("it gains");
    for code in [Code::Sqrt, Code::Div] {
        let alone = program.body.iter().filter(|i| i.code == code).count();
        assert_eq!(alone % 15, 0);
        let [one, four, eight] = [1, 4, 8].map(|width| count(&packed, width, |c| c == code));
        assert_eq!((one, 4 * four + 8 * eight), (0, alone / 15 * 16), "{code:?}");
    }
    // What is left alone are the sums of forces on each body.
    let sums = |c| matches!(c, Code::Add | Code::Sub | Code::Mul | Code::NegMulSub);
    assert_eq!(count(&packed, 1, |c| !sums(c)), 0);
    assert!(count(&packed, 1, sums) <= 18 * 5);
    assert!(packed.steps.len() < program.body.len() * 2 / 3);
    let packed = pack(&program, Isa::Avx2, 4, false).expect("it gains");
    assert_eq!(count(&packed, 4, |c| c == Code::Sqrt), 4);
}

#[test]
fn lanes_go_on_through_the_orders_of_a_series() {
    if !Backend::Avx2.is_available() {
        return;
    }
    let series = Series::with_form(&attraction(6), 36, 8, Form::Unrolled(Backend::Avx2)).unwrap();
    let program = series.kernel().unwrap().program();
    let packed = pack(program, Isa::Avx512, 8, false).expect("it gains");
    // The products of convolutions are in vectors, nearly all: fifteen pairs in two of eight lanes, or in four of four.
    let products = |c| matches!(c, Code::MulAdd | Code::MulSub);
    let alone = program.body.iter().filter(|i| products(i.code)).count();
    let [one, four, eight] = [1, 4, 8].map(|width| count(&packed, width, products));
    assert!(100 * one <= alone, "{one} of {alone}");
    assert_eq!(one + four * 15 / 4 + eight * 15 / 2, alone);
}

#[test]
fn sines_and_cosines_share_their_vectors() {
    let graph = Graph::new();
    let angles: Vec<Expr<'_>> = (0..5).map(|i| graph.symbol(&format!("q{i}"))).collect();
    let values: Vec<Expr<'_>> = angles.iter().flat_map(|q| [q.sin(), q.cos()]).collect();
    let program = Program::build(&angles, &[], &values).unwrap().expanded();
    let packed = pack(&program, Isa::Avx512, 8, false).expect("it gains");
    assert_eq!(count(&packed, 8, |c| matches!(c, Code::Repair { .. })), 2);
    assert_eq!(count(&packed, 1, |_| true), 0);
}

#[test]
fn results_in_a_row_are_stored_as_one() {
    let graph = Graph::new();
    let x: Vec<Expr<'_>> = (0..16).map(|i| graph.symbol(&format!("x{i}"))).collect();
    let k = graph.symbol("k");
    let values: Vec<Expr<'_>> = x.iter().map(|&x| (k * x + 1.0) * x).collect();
    let program = Program::build(&x, &[k], &values).unwrap().expanded();
    let packed = pack(&program, Isa::Avx512, 8, false).expect("it gains");
    assert_eq!(packed.steps.len(), 4);
    assert_eq!(
        packed.rows.iter().flatten().map(|row| (row.first, row.count)).collect::<Vec<_>>(),
        [(0, 8), (8, 8)]
    );
    assert!(packed.outputs.iter().all(Option::is_none));
}

#[test]
fn what_gains_nothing_is_left_alone() {
    let graph = Graph::new();
    let [x, y] = graph.symbols(["x", "y"]);
    let chain = Program::build(&[x, y], &[], &[(x * y + x).sqrt() / (y + 3.0)]).unwrap().expanded();
    assert!(pack(&chain, Isa::Avx512, 8, false).is_none());
    // Two sums of numbers that lie apart would cost more to bring together.
    let apart = Program::build(&[x, y], &[], &[x + 2.0 * y, x - y]).unwrap().expanded();
    assert!(pack(&apart, Isa::Avx512, 8, false).is_none());
}

#[test]
fn copies_that_wait_for_each_other_are_computed() {
    // Each is the same function of the one before: equal instructions, none of them independent.
    let graph = Graph::new();
    let x = graph.symbol("x");
    let values: Vec<Expr<'_>> =
        std::iter::successors(Some(x), |&y| Some((3.0 * y + 1.0).sqrt())).take(9).collect();
    let program = Program::build(&[x], &[], &values).unwrap();
    for backend in Backend::ALL.into_iter().filter(|b| b.is_available()) {
        let kernel = Kernel::with_backend(program.clone(), backend).unwrap();
        let mut found = [0.0; 9];
        kernel.evaluator(&[]).unwrap().eval(&[2.0], &mut found).unwrap();
        for pair in found.windows(2) {
            assert_eq!(pair[1], pair[0].mul_add(3.0, 1.0).sqrt());
        }
    }
}

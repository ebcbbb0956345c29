//! Unrolled code: the coefficients as one straight-line program.
//!
//! Every order first sums the inner terms of all convolutions, several sums side by side, then computes what waits for
//! the order itself: so no sum is a chain that the processor waits for.

use super::polynomial::sum;
use super::reach::{ABSOLUTE, SHARES, reach, top, usual};
use super::recurrence::{Convolution, Table, convolution, finish, inner, more};
use super::tape::{Node, Start, Tape};
use crate::arithmetic::Arithmetic;
use crate::builder::Builder;
use crate::hoist;
use crate::instruction::Operand;
use crate::program::Program;
use leastaction_expr::Symbol;

/// Sums that grow side by side: twice the latency of a product, so that two units are busy, and fewer than registers.
const SIDE_BY_SIDE: usize = 8;

/// Coefficients by series and order.
struct Known {
    orders: usize,
    values: Vec<Operand>,
}

impl Known {
    fn set(&mut self, node: Node, order: usize, value: Operand) {
        self.values[node as usize * self.orders + order] = value;
    }
}

impl Table<Builder> for Known {
    fn get(&self, node: Node, order: usize) -> Operand {
        self.values[node as usize * self.orders + order]
    }
}

/// Writes the coefficients of order 0.
fn begin(tape: &Tape, orders: usize) -> (Builder, Known) {
    let mut builder = Builder::with_constants(&tape.frame.constants, tape.work(orders));
    let zero = builder.constant(0.0);
    let mut known = Known { orders, values: vec![zero; orders * tape.rules.len()] };
    let mut uniforms: Vec<Operand> = Vec::with_capacity(tape.frame.uniforms.len());
    for instruction in &tape.frame.uniforms {
        let moved = instruction.map(|o| match o {
            Operand::Uniform(i) => uniforms[i as usize],
            other => other,
        });
        uniforms.push(builder.push(moved.code, moved.arguments()));
    }
    for &node in &tape.order {
        let value = match tape.starts[node as usize] {
            Start::Zero => continue,
            Start::Given(Operand::Uniform(i)) => uniforms[i as usize],
            Start::Given(operand) => operand,
            Start::Apply(code, nodes) => {
                let operands = nodes.map(|n| known.get(n, 0));
                builder.push(code, &operands[..code.arity()])
            }
        };
        known.set(node, 0, value);
    }
    (builder, known)
}

fn end(tape: &Tape, builder: Builder, outputs: Vec<Operand>) -> Program {
    let Builder { constants, body, .. } = builder;
    hoist::hoist(Program { constants, body, outputs, uniforms: Vec::new(), ..tape.frame.clone() })
}

/// The program of the coefficients of order 0 of all series.
pub(super) fn start(tape: &Tape) -> Program {
    let (builder, known) = begin(tape, 1);
    end(tape, builder, known.values)
}

/// The program of all coefficients up to an order: those of order 1 of all states, then those of order 2, and so on.
pub(super) fn unroll(tape: &Tape, order: usize) -> Program {
    let (mut builder, mut known) = begin(tape, order + 1);
    let convolutions: Vec<(Node, Convolution)> =
        tape.running.iter().filter_map(|&node| Some((node, convolution(tape, node)?))).collect();
    let mut sums = vec![None; tape.rules.len()];
    let mut terms: Vec<Vec<(Operand, Operand)>> = vec![Vec::new(); SIDE_BY_SIDE];
    for k in 1..=order {
        let running = || tape.running.iter().copied().filter(|&node| tape.has(node, k));
        for group in convolutions.chunks(SIDE_BY_SIDE) {
            for (terms, &(node, Convolution { u, v, shape })) in terms.iter_mut().zip(group) {
                terms.clear();
                inner(shape, k, &mut |j, i| terms.push((known.get(u, j), known.get(v, i))));
                sums[node as usize] = None;
            }
            let longest = terms[..group.len()].iter().map(Vec::len).max().unwrap_or(0);
            for i in 0..longest {
                for (terms, (node, _)) in terms.iter().zip(group) {
                    // Sums end together, so that a short one does not hold a register for long.
                    let Some(at) = (i + terms.len()).checked_sub(longest) else { continue };
                    let (u, v) = terms[at];
                    sums[*node as usize] = Some(more(&mut builder, sums[*node as usize], u, v));
                }
            }
        }
        for node in running() {
            let value = finish(&mut builder, tape, &known, node, k, sums[node as usize]);
            known.set(node, k, value);
        }
    }
    let zero = builder.constant(0.0);
    let coefficient = |k: usize, node: Node| if tape.has(node, k) { known.get(node, k) } else { zero };
    let outputs = (1..=order).flat_map(|k| tape.states.iter().map(move |&node| coefficient(k, node)));
    let outputs: Vec<Operand> = outputs.collect();
    end(tape, builder, outputs)
}

/// The program that sums the polynomials of some states: inputs are the coefficients, by order, and the step; outputs are the sums, what they
/// lack, and the slopes.
pub(super) fn polynomials(states: usize, order: usize) -> Program {
    let mut builder = Builder::default();
    let count = states * order;
    let h = Operand::Input(count as u32);
    let coefficient = |i: usize, k: usize| Operand::Input(((k - 1) * states + i) as u32);
    let polynomials: Vec<[Operand; 3]> =
        (0..states).map(|i| sum(&mut builder, order, h, |k| coefficient(i, k))).collect();
    let outputs =
        (0..3).flat_map(|which| polynomials.iter().map(move |polynomial| polynomial[which])).collect();
    plain(builder, count + 1, outputs)
}

/// The program of how far an expansion reaches: inputs are all of its numbers; outputs are the step, and the logarithms of the orders that
/// usually tell it.
pub(super) fn reaches(states: usize, order: usize, inputs: usize) -> Program {
    let mut builder = Builder::default();
    let count = states * order;
    let shares: [Operand; SHARES] = std::array::from_fn(|i| Operand::Input((count + 1 + i) as u32));
    let coefficient = |k: usize, i: usize| {
        let place = if k == 0 { count + 1 + SHARES + i } else { (k - 1) * states + i };
        Operand::Input(place as u32)
    };
    let from = usual(order);
    let mut outputs =
        vec![reach(&mut builder, states, from, order, shares, |_| shares[ABSOLUTE], coefficient)];
    outputs.extend((from..=order).map(|k| top(&mut builder, states, |i| coefficient(k, i))));
    plain(builder, count + 1 + SHARES + inputs, outputs)
}

/// A program of numbered inputs.
fn plain(builder: Builder, inputs: usize, outputs: Vec<Operand>) -> Program {
    let symbol = |i: usize| Symbol { name: format!("c{i}").into(), dots: 0 };
    let Builder { constants, body, .. } = builder;
    let inputs = (0..inputs).map(symbol).collect();
    Program { inputs, parameters: Vec::new(), constants, uniforms: Vec::new(), body, outputs }
}

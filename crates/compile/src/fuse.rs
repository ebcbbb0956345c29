//! Fuses a product into the sum that uses it: one rounding and one instruction instead of two.
//!
//! A product is fused where it is used once. Products of values that no lane changes are left alone; hoisting
//! makes them free. Negation of a difference or a product is absorbed as well.

use crate::arithmetic::Arithmetic;
use crate::builder::Builder;
use crate::instruction::{Code, Instruction, Operand};
use crate::program::Program;
use leastaction_expr::Op;

pub(crate) fn fuse(program: Program) -> Program {
    let mut builder = Builder::with_constants(&program.constants, program.body.len());
    let zero = builder.constant(0.0);
    let uses = use_counts(&program.body, &program.outputs);
    let mut absorbed = vec![false; program.body.len()];
    let mut decided: Vec<Instruction> = Vec::with_capacity(program.body.len());
    for &instruction in &program.body {
        let once = |operand: Operand| match operand {
            Operand::Temporary(i) if uses[i as usize] == 1 => Some((i as usize, decided[i as usize])),
            _ => None,
        };
        let result = match fused(instruction, zero, once) {
            Some((inner, result)) => {
                absorbed[inner] = true;
                result
            }
            None => instruction,
        };
        decided.push(result);
    }

    let mut places: Vec<Operand> = Vec::with_capacity(decided.len());
    for (instruction, absorbed) in decided.iter().zip(absorbed) {
        let instruction = instruction.map(|operand| moved(operand, &places));
        // An absorbed instruction has no place of its own: nothing refers to it any more.
        places.push(if absorbed {
            instruction.operands[0]
        } else {
            builder.push(instruction.code, instruction.arguments())
        });
    }
    let outputs = program.outputs.iter().map(|&o| moved(o, &places)).collect();
    let Builder { constants, body, .. } = builder;
    Program { constants, body, outputs, ..program }
}

/// The program of the first outputs with products and sums apart.
pub(crate) fn unfused(program: &Program, outputs: usize) -> Program {
    let mut builder = Builder::with_constants(&program.constants, program.body.len());
    let mut places: Vec<Operand> = Vec::with_capacity(program.body.len());
    for instruction in &program.body {
        let instruction = instruction.map(|operand| moved(operand, &places));
        let Instruction { code, operands: [a, b, c, _] } = instruction;
        let fused = matches!(code, Code::MulAdd | Code::MulSub | Code::NegMulAdd | Code::NegMulSub);
        let product = if fused { builder.mul(a, b) } else { a };
        places.push(match code {
            Code::MulAdd => builder.add(product, c),
            Code::MulSub => builder.sub(product, c),
            Code::NegMulAdd => builder.sub(c, product),
            Code::NegMulSub => {
                let negative = builder.push(Code::Math(Op::Neg), &[product]);
                builder.sub(negative, c)
            }
            Code::Math(Op::Add) => builder.add(a, b),
            Code::Math(Op::Sub) => builder.sub(a, b),
            Code::Math(Op::Mul) => builder.mul(a, b),
            code => builder.push(code, instruction.arguments()),
        });
    }
    let outputs = program.outputs[..outputs].iter().map(|&o| moved(o, &places)).collect();
    let Builder { constants, body, .. } = builder;
    Program { constants, body, outputs, ..program.clone() }
}

/// The instruction with an argument that is used only here taken into it, and that argument's index.
fn fused(
    outer: Instruction,
    zero: Operand,
    once: impl Fn(Operand) -> Option<(usize, Instruction)>,
) -> Option<(usize, Instruction)> {
    let product = |operand| {
        once(operand).filter(|(_, m)| m.code == Code::Mul && !m.arguments().iter().all(|a| a.is_uniform()))
    };
    let with = |code, (i, m): (usize, Instruction), c| {
        Some((i, Instruction::new(code, &[m.operands[0], m.operands[1], c])))
    };
    let [a, b, ..] = outer.operands;
    match outer.code {
        Code::Add | Code::Sub => {
            let sum = outer.code == Code::Add;
            let (left, right) =
                if sum { (Code::MulAdd, Code::MulAdd) } else { (Code::MulSub, Code::NegMulAdd) };
            match (product(a), product(b)) {
                // Of two products the later one is fused, so that the earlier is ready when it is needed.
                (Some(m), Some(n)) if m.0 > n.0 => with(left, m, b),
                (Some(m), None) => with(left, m, b),
                (_, Some(n)) => with(right, n, a),
                (None, None) => None,
            }
        }
        Code::Math(Op::Neg) => {
            let (i, m) = once(a)?;
            let [x, y, z, _] = m.operands;
            match m.code {
                Code::Sub => Some((i, Instruction::new(Code::Sub, &[y, x]))),
                // −(a·b) is −a·b − 0, also in the sign of a zero.
                Code::Mul => with(Code::NegMulSub, (i, m), zero),
                Code::MulAdd => with(Code::NegMulSub, (i, m), z),
                Code::MulSub => with(Code::NegMulAdd, (i, m), z),
                Code::NegMulAdd => with(Code::MulSub, (i, m), z),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Where an operand is after instructions have moved.
pub(crate) fn moved(operand: Operand, places: &[Operand]) -> Operand {
    match operand {
        Operand::Temporary(i) => places[i as usize],
        other => other,
    }
}

/// How often each temporary is used, outputs included.
pub(crate) fn use_counts(body: &[Instruction], outputs: &[Operand]) -> Vec<u32> {
    let mut uses = vec![0; body.len()];
    let arguments = body.iter().flat_map(|i| i.arguments());
    for operand in arguments.chain(outputs) {
        if let Operand::Temporary(i) = operand {
            uses[*i as usize] += 1;
        }
    }
    uses
}

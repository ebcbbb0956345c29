//! Writes functions out in primitives: the vector expansions of [`crate::math`], or a call per lane.

use crate::builder::Builder;
use crate::fuse::moved;
use crate::instruction::{Code, Operand};
use crate::math;
use crate::program::Program;
use leastaction_expr::Op;
use rustc_hash::FxHashSet;

/// Writes out powers whose exponent is a constant.
pub(crate) fn constant_powers(program: Program) -> Program {
    rewrite(program, |builder, code, arguments| match (code, arguments) {
        (Code::Math(Op::Pow), &[x, y]) => math::constant_power(builder, x, y),
        _ => None,
    })
}

/// Marks sines and cosines of common arguments.
pub(crate) fn pair(mut program: Program) -> Program {
    let arguments = |wanted: Op| -> FxHashSet<Operand> {
        let of = program.body.iter().filter(|i| i.code == Code::Math(wanted));
        of.map(|i| i.operands[0]).collect()
    };
    let both: FxHashSet<Operand> = arguments(Op::Sin).intersection(&arguments(Op::Cos)).copied().collect();
    for instruction in &mut program.body {
        if let Code::Math(op @ (Op::Sin | Op::Cos)) = instruction.code
            && both.contains(&instruction.operands[0])
        {
            instruction.code = Code::Paired(op);
        }
    }
    program
}

/// Writes out all functions.
pub(crate) fn expand(program: Program) -> Program {
    rewrite(program, |builder, code, arguments| {
        let (op, paired) = match code {
            Code::Math(op) => (op, false),
            Code::Paired(op) => (op, true),
            _ => return None,
        };
        if let (Op::Pow, &[x, y]) = (op, arguments)
            && let Some(power) = math::constant_power(builder, x, y)
        {
            return Some(power);
        }
        let expansion = math::expand(builder, op, arguments, paired);
        Some(expansion.unwrap_or_else(|| builder.push(Code::Call(op), arguments)))
    })
}

/// The program with some instructions replaced.
fn rewrite(
    program: Program,
    replacement: impl Fn(&mut Builder, Code, &[Operand]) -> Option<Operand>,
) -> Program {
    let mut builder = Builder::with_constants(&program.constants, 2 * program.body.len());
    let mut places: Vec<Operand> = Vec::with_capacity(program.body.len());
    for instruction in &program.body {
        let instruction = instruction.map(|operand| moved(operand, &places));
        let arguments = instruction.arguments();
        places.push(
            replacement(&mut builder, instruction.code, arguments)
                .unwrap_or_else(|| builder.push(instruction.code, arguments)),
        );
    }
    let outputs = program.outputs.iter().map(|&o| moved(o, &places)).collect();
    let Builder { constants, body, .. } = builder;
    Program { constants, body, outputs, ..program }
}

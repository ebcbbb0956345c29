//! Writes functions out in primitives: the vector expansions of [`crate::math`], or a call per lane.

use crate::builder::Builder;
use crate::fuse::moved;
use crate::instruction::{Code, Operand};
use crate::math;
use crate::program::Program;
use leastaction_expr::Op;
use rustc_hash::FxHashSet;

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

pub(crate) fn expand(program: Program) -> Program {
    let mut builder = Builder::with_constants(&program.constants, 2 * program.body.len());
    let mut places: Vec<Operand> = Vec::with_capacity(program.body.len());
    for instruction in &program.body {
        let instruction = instruction.map(|operand| moved(operand, &places));
        let arguments = instruction.arguments();
        places.push(match instruction.code {
            Code::Math(op) => math::expand(&mut builder, op, arguments, false)
                .unwrap_or_else(|| builder.push(Code::Call(op), arguments)),
            Code::Paired(op) => math::expand(&mut builder, op, arguments, true)
                .unwrap_or_else(|| builder.push(Code::Call(op), arguments)),
            code => builder.push(code, arguments),
        });
    }
    let outputs = program.outputs.iter().map(|&o| moved(o, &places)).collect();
    let Builder { constants, body, .. } = builder;
    Program { constants, body, outputs, ..program }
}

//! Replaces functions by primitives: the vector expansions of [`crate::math`], or a call per lane.

use crate::builder::Builder;
use crate::fuse::moved;
use crate::instruction::{Code, Operand};
use crate::math::{self, Context};
use crate::program::Program;
use leastaction_expr::Op;
use rustc_hash::FxHashSet;

pub(crate) fn expand(program: Program) -> Program {
    let arguments = |wanted: Op| -> FxHashSet<Operand> {
        let of = program.body.iter().filter(|i| i.code == Code::Math(wanted));
        of.map(|i| i.operands[0]).collect()
    };
    let (sines, cosines) = (arguments(Op::Sin), arguments(Op::Cos));
    let mut builder = Builder::with_constants(&program.constants, program.body.len());
    let mut places: Vec<Operand> = Vec::with_capacity(program.body.len());
    for instruction in &program.body {
        let paired = sines.contains(&instruction.operands[0]) && cosines.contains(&instruction.operands[0]);
        let instruction = instruction.map(|operand| moved(operand, &places));
        let arguments = instruction.arguments();
        places.push(match instruction.code {
            Code::Math(op) => math::expand(&mut builder, op, arguments, Context { paired })
                .unwrap_or_else(|| builder.call(op, arguments)),
            code => builder.push(code, arguments),
        });
    }
    let outputs = program.outputs.iter().map(|&o| moved(o, &places)).collect();
    let Builder { constants, body, .. } = builder;
    Program { constants, body, outputs, ..program }
}

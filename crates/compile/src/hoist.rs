//! Removes what no output needs, and moves what no lane changes out of the lanes.

use crate::instruction::{Code, Operand};
use crate::program::Program;

pub(crate) fn hoist(program: Program) -> Program {
    let needed = needed(&program);
    let mut places: Vec<Operand> = Vec::with_capacity(program.body.len());
    let (mut uniforms, mut body) = (program.uniforms.clone(), Vec::new());
    for (&instruction, needed) in program.body.iter().zip(needed) {
        let instruction = instruction.map(|operand| crate::fuse::moved(operand, &places));
        if !needed {
            places.push(instruction.operands[0]); // nothing refers to it
        } else if instruction.arguments().iter().all(|a| a.is_uniform()) {
            places.push(Operand::Uniform(uniforms.len() as u32));
            uniforms.push(instruction);
        } else {
            places.push(Operand::Temporary(body.len() as u32));
            body.push(instruction);
        }
    }
    let outputs = program.outputs.iter().map(|&o| crate::fuse::moved(o, &places)).collect();
    drop_unused_constants(drop_unused_uniforms(Program { uniforms, body, outputs, ..program }))
}

/// Which instructions some output needs.
fn needed(program: &Program) -> Vec<bool> {
    let mut needed = vec![false; program.body.len()];
    let mark = |needed: &mut Vec<bool>, operand: Operand| {
        if let Operand::Temporary(i) = operand {
            needed[i as usize] = true;
        }
    };
    program.outputs.iter().for_each(|&o| mark(&mut needed, o));
    for (i, instruction) in program.body.iter().enumerate().rev() {
        if needed[i] {
            instruction.arguments().iter().for_each(|&a| mark(&mut needed, a));
        }
    }
    needed
}

fn drop_unused_uniforms(mut program: Program) -> Program {
    let mut needed = vec![false; program.uniforms.len()];
    let mark = |needed: &mut [bool], operand: &Operand| {
        if let Operand::Uniform(i) = *operand {
            needed[i as usize] = true;
        }
    };
    let arguments = program.body.iter().flat_map(|i| i.arguments());
    program.outputs.iter().chain(arguments).for_each(|o| mark(&mut needed, o));
    for (i, instruction) in program.uniforms.iter().enumerate().rev() {
        if needed[i] {
            instruction.arguments().iter().for_each(|o| mark(&mut needed, o));
        }
    }
    let mut places = Vec::with_capacity(needed.len());
    let mut count = 0;
    for &needed in &needed {
        places.push(Operand::Uniform(count));
        count += u32::from(needed);
    }
    let moved = |operand: Operand| match operand {
        Operand::Uniform(i) => places[i as usize],
        other => other,
    };
    let mut left = needed.iter();
    program.uniforms.retain(|_| left.next().is_some_and(|needed| *needed));
    for instruction in program.uniforms.iter_mut().chain(&mut program.body) {
        *instruction = instruction.map(moved);
    }
    program.outputs.iter_mut().for_each(|o| *o = moved(*o));
    program
}

fn drop_unused_constants(mut program: Program) -> Program {
    let mut new_places: Vec<Option<u32>> = vec![None; program.constants.len()];
    let mut kept = Vec::new();
    let mut keep = |place: u32| {
        *new_places[place as usize].get_or_insert_with(|| {
            kept.push(program.constants[place as usize]);
            kept.len() as u32 - 1
        })
    };
    let mut moved = |operand: Operand| match operand {
        Operand::Constant(place) => Operand::Constant(keep(place)),
        other => other,
    };
    for instruction in program.uniforms.iter_mut().chain(&mut program.body) {
        *instruction = instruction.map(&mut moved);
    }
    program.outputs.iter_mut().for_each(|o| *o = moved(*o));
    for instruction in program.uniforms.iter_mut().chain(&mut program.body) {
        if let Code::Repair { limit, .. } = &mut instruction.code {
            *limit = keep(*limit);
        }
    }
    program.constants = kept;
    program
}

//! The sequence of packed code.

use super::super::Isa;
use super::super::sequence::{Action, Leaf, Row, Sequence, Step, WIDEST};
use super::super::target::Place;
use super::NONE;
use super::choose::Chunks;
use crate::instruction::Operand;
use crate::program::Program;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How many chunks that wait for each other are taken apart before packing is given up.
const PATIENCE: usize = 32;

/// A value while steps are still being written: numbers of results are known only at the end.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Value {
    Leaf(u32),
    Result(u32),
    Lane(u32),
}

/// What runs at once: a chunk, or an instruction alone.
#[derive(Clone, Copy)]
enum Unit {
    Chunk(u32),
    Alone(u32),
}

/// The sequence; `None` if too many chunks wait for each other.
pub(super) fn build(program: &Program, chunks: &mut Chunks, isa: Isa) -> Option<Sequence> {
    let order = (0..PATIENCE).find_map(|_| match order(program, chunks) {
        Ok(order) => Some(order),
        Err(stuck) => {
            chunks.chunks[stuck as usize].packed = false;
            None
        }
    })?;
    let mut builder = Builder::new(program, chunks, isa);
    for unit in order {
        match unit {
            Unit::Chunk(chunk) => builder.chunk(chunk),
            Unit::Alone(at) => builder.alone(at),
        }
    }
    Some(builder.finish())
}

/// Units in an order in which each finds its arguments, close to the program's own; or a chunk that waits for itself.
fn order(program: &Program, chunks: &Chunks) -> Result<Vec<Unit>, u32> {
    let count = program.body.len();
    // A unit is known by its last instruction.
    let mut last: Vec<u32> = (0..count as u32).collect();
    for chunk in chunks.chunks.iter().filter(|chunk| chunk.packed) {
        let members = || chunk.members.iter().filter(|&&m| m != NONE);
        let Some(&latest) = members().max() else { unreachable!("a chunk has a member") };
        members().for_each(|&m| last[m as usize] = latest);
    }
    let temporaries = |at: usize| {
        program.body[at].arguments().iter().filter_map(|operand| match operand {
            Operand::Temporary(t) => Some(*t as usize),
            _ => None,
        })
    };
    let mut missing = vec![0u32; count];
    let mut first_user = vec![0u32; count + 1];
    for at in 0..count {
        for t in temporaries(at) {
            missing[last[at] as usize] += 1;
            first_user[t + 1] += 1;
        }
    }
    for t in 0..count {
        first_user[t + 1] += first_user[t];
    }
    let mut users = vec![0u32; first_user[count] as usize];
    let mut next = first_user.clone();
    for at in 0..count {
        for t in temporaries(at) {
            users[next[t] as usize] = last[at];
            next[t] += 1;
        }
    }
    let mut ready: BinaryHeap<Reverse<u32>> = (0..count as u32)
        .filter(|&at| last[at as usize] == at && missing[at as usize] == 0)
        .map(Reverse)
        .collect();
    let mut order = Vec::with_capacity(count);
    let mut done = vec![false; count];
    while let Some(Reverse(at)) = ready.pop() {
        let mut finish = |m: u32| {
            done[m as usize] = true;
            for &user in &users[first_user[m as usize] as usize..first_user[m as usize + 1] as usize] {
                missing[user as usize] -= 1;
                if missing[user as usize] == 0 {
                    ready.push(Reverse(user));
                }
            }
        };
        match chunks.place(Operand::Temporary(at)) {
            Some((chunk, _)) => {
                order.push(Unit::Chunk(chunk));
                chunks.chunks[chunk as usize].members.iter().filter(|&&m| m != NONE).for_each(|&m| finish(m));
            }
            None => {
                order.push(Unit::Alone(at));
                finish(at);
            }
        }
    }
    // The first instruction left waits for nothing but the other lanes of its chunk.
    match done.iter().position(|done| !done) {
        None => Ok(order),
        Some(at) => Err(chunks.places[at].0),
    }
}

struct Builder<'a> {
    program: &'a Program,
    chunks: &'a Chunks,
    isa: Isa,
    sequence: Sequence,
    /// Arguments while results have no numbers yet.
    arguments: Vec<[Value; WIDEST]>,
    /// Where each temporary is.
    known: Vec<Value>,
    /// The step of each chunk.
    steps: Vec<u32>,
    /// For each instruction, the first output that it is.
    output: Vec<u32>,
    wide_leaves: FxHashMap<(Place, u8), Value>,
    /// Vectors that were brought together: they serve more than once.
    collected: FxHashMap<(Action, u8, [Value; WIDEST]), Value>,
}

impl Builder<'_> {
    fn new<'a>(program: &'a Program, chunks: &'a Chunks, isa: Isa) -> Builder<'a> {
        let pool = (0..program.pool_len() as u32).map(Place::Pool);
        let inputs = (0..program.inputs.len() as u32).map(Place::Input);
        let leaves = pool.chain(inputs).map(|place| Leaf { place, width: 1 }).collect();
        let mut output = vec![NONE; program.body.len()];
        for (i, &operand) in program.outputs.iter().enumerate().rev() {
            if let Operand::Temporary(t) = operand {
                output[t as usize] = i as u32;
            }
        }
        Builder {
            program,
            chunks,
            isa,
            sequence: Sequence { leaves, outputs: vec![None; program.outputs.len()], ..Sequence::default() },
            arguments: Vec::new(),
            known: vec![Value::Leaf(0); program.body.len()],
            steps: vec![NONE; chunks.chunks.len()],
            output,
            wide_leaves: FxHashMap::default(),
            collected: FxHashMap::default(),
        }
    }

    fn value(&self, operand: Operand) -> Value {
        match operand {
            Operand::Temporary(t) => self.known[t as usize],
            Operand::Input(i) => Value::Leaf(self.program.pool_len() as u32 + i),
            shared => Value::Leaf(self.program.pool_place(shared) as u32),
        }
    }

    fn push(&mut self, action: Action, width: usize, arguments: &[Value]) -> u32 {
        let step = self.sequence.steps.len() as u32;
        let (width, arity) = (width as u8, arguments.len() as u8);
        let mut padded = [Value::Leaf(0); WIDEST];
        padded[..arguments.len()].copy_from_slice(arguments);
        self.sequence.steps.push(Step { action, width, arity, arguments: [0; WIDEST] });
        self.arguments.push(padded);
        self.sequence.lanes.push(self.sequence.lane_count);
        self.sequence.lane_count += if width > 1 { u32::from(width) } else { 0 };
        self.sequence.rows.push(None);
        step
    }

    fn alone(&mut self, at: u32) {
        let instruction = &self.program.body[at as usize];
        let mut arguments = [Value::Leaf(0); 4];
        for (argument, &operand) in arguments.iter_mut().zip(instruction.arguments()) {
            *argument = self.value(operand);
        }
        let arity = instruction.code.arity();
        let step = self.push(Action::Operate(instruction.code), 1, &arguments[..arity]);
        self.known[at as usize] = Value::Result(step);
    }

    fn chunk(&mut self, number: u32) {
        let chunk = &self.chunks.chunks[number as usize];
        let code = self.chunks.families.bundles[chunk.bundle as usize].code;
        let mut arguments = [Value::Leaf(0); 4];
        let mut operands = Vec::with_capacity(WIDEST);
        for (i, argument) in arguments[..code.arity()].iter_mut().enumerate() {
            self.chunks.arguments(self.program, chunk, i, &mut operands);
            *argument = self.vector(chunk, &operands);
        }
        let step = self.push(Action::Operate(code), chunk.width, &arguments[..code.arity()]);
        self.steps[number as usize] = step;
        let first_lane = self.sequence.lanes[step as usize];
        for (lane, &m) in (0..).zip(&chunk.members) {
            if m != NONE {
                self.known[m as usize] = Value::Lane(first_lane + lane);
            }
        }
        let first = chunk.members[0];
        let first = if first == NONE { NONE } else { self.output[first as usize] };
        let follows = |(lane, &m): (u32, &u32)| m != NONE && self.output[m as usize] == first + lane;
        let count = chunk.members.len();
        let possible = first != NONE && (count == chunk.width || self.isa == Isa::Avx512);
        if possible && (0..).zip(&chunk.members).all(follows) {
            self.sequence.rows[step as usize] = Some(Row { first, count: count as u8 });
        }
    }

    /// A vector of these arguments of a chunk.
    fn vector(&mut self, chunk: &super::Chunk, operands: &[Operand]) -> Value {
        let width = chunk.width as u8;
        if operands.iter().all(|o| *o == operands[0]) {
            return match operands[0] {
                shared if shared.is_uniform() => {
                    self.wide_leaf(Place::Pool(self.program.pool_place(shared) as u32), width)
                }
                other => self.gathered(Action::Spread, width, &[self.value(other)]),
            };
        }
        if let Some(place) = self.chunks.aligned(chunk, operands) {
            return Value::Result(self.steps[place as usize]);
        }
        if let Some(first) = Chunks::row(chunk, operands) {
            return self.wide_leaf(Place::Input(first), width);
        }
        let values: Vec<Value> = operands.iter().map(|&o| self.value(o)).collect();
        self.gathered(Action::Collect, width, &values)
    }

    fn wide_leaf(&mut self, place: Place, width: u8) -> Value {
        let leaves = &mut self.sequence.leaves;
        *self.wide_leaves.entry((place, width)).or_insert_with(|| {
            leaves.push(Leaf { place, width });
            Value::Leaf(leaves.len() as u32 - 1)
        })
    }

    fn gathered(&mut self, action: Action, width: u8, values: &[Value]) -> Value {
        let mut key = [Value::Leaf(0); WIDEST];
        key[..values.len()].copy_from_slice(values);
        if let Some(&value) = self.collected.get(&(action, width, key)) {
            return value;
        }
        let value = Value::Result(self.push(action, width as usize, values));
        self.collected.insert((action, width, key), value);
        value
    }

    fn finish(mut self) -> Sequence {
        let first_result = self.sequence.leaves.len() as u32;
        let first_lane = first_result + self.sequence.steps.len() as u32;
        let number = |value: Value| match value {
            Value::Leaf(i) => i,
            Value::Result(i) => first_result + i,
            Value::Lane(i) => first_lane + i,
        };
        for (step, arguments) in self.sequence.steps.iter_mut().zip(&self.arguments) {
            step.arguments = arguments.map(number);
        }
        let mut in_row = vec![false; self.program.outputs.len()];
        for row in self.sequence.rows.iter().flatten() {
            in_row[row.first as usize..][..row.count as usize].fill(true);
        }
        for (i, &operand) in self.program.outputs.iter().enumerate() {
            self.sequence.outputs[i] = (!in_row[i]).then(|| number(self.value(operand)));
        }
        self.sequence
    }
}

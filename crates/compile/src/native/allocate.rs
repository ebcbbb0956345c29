//! Register allocation in one forward pass, for any [`Target`].
//!
//! The program is straight-line and every value is written once, so the next use of each value is known exactly.
//! When registers run out, the value used furthest ahead leaves its register. It is stored at most once; inputs,
//! pool values and outputs lie in memory already and are never spilled. A value that lies in memory is read from
//! there by the instruction itself where the machine can do that and a register is not worth it.

use super::target::{CALL_SLOTS, Fold, Place, Shape, Source, Target};
use crate::instruction::{Code, Instruction, Operand};
use crate::program::Program;

/// No further use; later than every position.
const NEVER: u32 = u32::MAX;
const NO_REGISTER: u8 = u8::MAX;
/// A value in memory that is used again within this many instructions is worth a free register.
const NEAR: u32 = 16;

/// What the allocator knows about one value: a pool value, an input or a temporary, numbered in this order.
#[derive(Clone, Copy)]
struct Value {
    /// The position of its next use.
    next: u32,
    register: u8,
    /// Where it lies in memory.
    home: Option<Place>,
    /// The first output that it must still be stored to.
    output: u32,
}

/// The uses of a program's values.
struct Uses {
    /// For each argument of each instruction: where its value is used next after this instruction.
    after: Vec<[u32; 4]>,
    /// Whether an instruction's result is needed at all.
    needed: Vec<bool>,
    /// The largest number of temporaries alive at once.
    pressure: usize,
    /// How often each pool value is read.
    pool_reads: Vec<u32>,
}

struct Allocator<'a, T> {
    target: &'a mut T,
    values: Vec<Value>,
    /// For each output, the next output of the same value.
    same_output: Vec<u32>,
    /// The value in each register.
    held: [u32; 32],
    /// Registers without a value.
    free: u32,
    /// Registers that must keep their value while an instruction's operands are arranged.
    locked: u32,
    /// Registers at and above this hold pool values throughout the loop.
    pinned: u8,
    free_slots: Vec<u32>,
    slots: u32,
    /// The instruction at hand.
    position: u32,
}

/// Writes the loop body of a program. Returns the number of scratch slots in use, [`CALL_SLOTS`] included.
pub(crate) fn allocate<T: Target>(program: &Program, target: &mut T) -> u32 {
    let pool = program.pool_len();
    let first_temporary = pool + program.inputs.len();
    let number = |operand: Operand| match operand {
        Operand::Input(i) => pool + i as usize,
        Operand::Temporary(i) => first_temporary + i as usize,
        shared => program.pool_place(shared).unwrap_or_default(),
    };

    let nowhere = Value { next: NEVER, register: NO_REGISTER, home: None, output: NEVER };
    let mut values = vec![nowhere; first_temporary + program.body.len()];
    for (i, value) in values[..first_temporary].iter_mut().enumerate() {
        let input = i.checked_sub(pool).map(|i| Place::Input(i as u32));
        value.home = Some(input.unwrap_or(Place::Pool(i as u32)));
    }
    let mut same_output = vec![NEVER; program.outputs.len()];
    for (i, &output) in program.outputs.iter().enumerate() {
        same_output[i] = std::mem::replace(&mut values[number(output)].output, i as u32);
    }
    let uses = find_uses(program, &mut values, number);

    let registers = target.registers();
    let free = u32::MAX >> (32 - registers);
    let mut allocator = Allocator {
        target,
        values,
        same_output,
        held: [0; 32],
        free,
        locked: 0,
        pinned: registers,
        free_slots: Vec::new(),
        slots: CALL_SLOTS,
        position: 0,
    };
    allocator.pin(program, &uses);
    allocator.target.begin_loop();
    for (i, instruction) in program.body.iter().enumerate() {
        if uses.needed[i] {
            let arguments = instruction.operands.map(|operand| number(operand) as u32);
            let result = (first_temporary + i) as u32;
            allocator.position = i as u32;
            allocator.instruction(instruction, arguments, &uses.after[i], result);
        }
    }
    allocator.position = program.body.len() as u32;
    for &output in &program.outputs {
        allocator.store_unread(number(output) as u32);
    }
    allocator.slots
}

/// Walks the program backwards; leaves the first use of each value in `values`.
fn find_uses(program: &Program, values: &mut [Value], number: impl Fn(Operand) -> usize) -> Uses {
    let count = program.body.len();
    let first_temporary = values.len() - count;
    let mut uses = Uses {
        after: vec![[NEVER; 4]; count],
        needed: vec![false; count],
        pressure: 0,
        pool_reads: vec![0; program.pool_len()],
    };
    let mut alive = 0;
    for (i, instruction) in program.body.iter().enumerate().rev() {
        let result = values[first_temporary + i];
        if result.next == NEVER && result.output == NEVER {
            continue;
        }
        uses.needed[i] = true;
        alive -= usize::from(result.next != NEVER);
        let arguments = instruction.arguments();
        for (after, &argument) in uses.after[i].iter_mut().zip(arguments) {
            *after = values[number(argument)].next;
        }
        for &argument in arguments {
            let value = number(argument);
            if value >= first_temporary && values[value].next == NEVER {
                alive += 1;
            } else if value < uses.pool_reads.len() {
                uses.pool_reads[value] += 1;
            }
            values[value].next = i as u32;
        }
        uses.pressure = uses.pressure.max(alive);
    }
    uses
}

impl<T: Target> Allocator<'_, T> {
    /// Loads the pool values that are read most into registers that the temporaries leave free, for the whole loop.
    fn pin(&mut self, program: &Program, uses: &Uses) {
        /// Registers beyond the living temporaries that an instruction's operands and result can ask for.
        const ROOM: usize = 5;
        let registers = self.pinned as usize;
        let calls = |i: &Instruction| matches!(i.code, Code::Call(_));
        if uses.pressure + ROOM >= registers || program.body.iter().any(calls) {
            return;
        }
        let mut candidates: Vec<u32> =
            (0..uses.pool_reads.len() as u32).filter(|&v| uses.pool_reads[v as usize] > 0).collect();
        candidates.sort_by_key(|&v| std::cmp::Reverse(uses.pool_reads[v as usize]));
        for &value in candidates.iter().take(registers - uses.pressure - ROOM) {
            self.pinned -= 1;
            self.free &= !(1 << self.pinned);
            self.place(value, self.pinned);
            self.target.load(self.pinned, Place::Pool(value));
        }
    }

    fn instruction(&mut self, instruction: &Instruction, arguments: [u32; 4], after: &[u32; 4], result: u32) {
        let code = instruction.code;
        let arity = code.arity();
        self.locked = 0;
        for (&argument, &next) in arguments[..arity].iter().zip(after) {
            let value = &mut self.values[argument as usize];
            value.next = next;
            if value.register != NO_REGISTER {
                self.locked |= 1 << value.register;
            }
        }
        let to = if let Code::Call(op) = code {
            let sources = arguments.map(|argument| self.source(argument));
            self.spill_all();
            self.target.call(op, &sources[..arity]);
            self.forget_all();
            let to = self.take();
            self.target.load(to, Place::Slot(0));
            to
        } else {
            self.operate(code, arguments)
        };
        // Only now: a slot freed earlier could be taken by a spill before the instruction reads it.
        for &argument in &arguments[..arity] {
            self.release(argument);
        }
        self.place(result, to);
        self.store_outputs(result);
        if self.values[result as usize].next == NEVER {
            self.clear(to);
        }
    }

    /// Arranges operands and result, and writes the instruction. Returns the result's register.
    fn operate(&mut self, code: Code, arguments: [u32; 4]) -> u8 {
        let arity = code.arity();
        let shape = self.target.shape(code);
        let mut sources = [Source::Register(NO_REGISTER); 4];
        let mut arranged = 0u8;

        let tied = (shape.tied != 0).then(|| self.tie(shape.tied, &arguments));
        if let Some((argument, to)) = tied {
            for (i, source) in sources[..arity].iter_mut().enumerate() {
                if arguments[i] == argument {
                    *source = Source::Register(to);
                    arranged |= 1 << i;
                }
            }
        }
        self.arrange(&shape, &arguments[..arity], &mut sources, arranged);

        let to = match tied {
            Some((_, to)) => to,
            None => {
                let apart = (0..arity)
                    .filter(|i| shape.apart >> i & 1 != 0)
                    .filter_map(|i| if let Source::Register(r) = sources[i] { Some(1 << r) } else { None })
                    .fold(0u32, |set, register| set | register);
                for &argument in &arguments[..arity] {
                    let Value { next, register, .. } = self.values[argument as usize];
                    if next == NEVER && register < self.pinned && apart >> register & 1 == 0 {
                        self.clear(register);
                    }
                }
                self.take()
            }
        };
        self.target.operate(code, to, &sources);
        to
    }

    /// Chooses which of the tied arguments the result overwrites, and brings it into the result's register. Returns
    /// the argument and the register.
    fn tie(&mut self, tied: u8, arguments: &[u32; 4]) -> (u32, u8) {
        let candidates = || (0..4).filter(|i| tied >> i & 1 != 0).map(|i| arguments[i]);
        let value = |argument: u32| self.values[argument as usize];
        let free_of_cost = |&argument: &u32| {
            let Value { next, register, .. } = value(argument);
            next == NEVER && register < self.pinned
        };
        if let Some(argument) = candidates().find(free_of_cost) {
            let to = value(argument).register;
            self.detach(to);
            return (argument, to);
        }
        let in_memory = |&argument: &u32| value(argument).register == NO_REGISTER;
        let furthest = |&argument: &u32| value(argument).next;
        if let Some(argument) = candidates().filter(in_memory).max_by_key(furthest) {
            let home = value(argument).home;
            let to = self.take();
            self.load(to, home);
            return (argument, to);
        }
        // All live on in registers. Without a free register, overwrite one that can be had from memory again.
        let has_copy =
            |&argument: &u32| value(argument).home.is_some() && value(argument).register < self.pinned;
        if self.free == 0
            && let Some(argument) = candidates().filter(has_copy).max_by_key(furthest)
        {
            let to = value(argument).register;
            self.detach(to);
            return (argument, to);
        }
        let argument = candidates().max_by_key(furthest).unwrap_or(arguments[0]);
        let from = value(argument).register;
        let to = self.take();
        self.target.copy(to, from);
        (argument, to)
    }

    /// Finds the remaining arguments in registers, leaves them in memory where that is allowed and no worse, and
    /// loads the others.
    fn arrange(&mut self, shape: &Shape, arguments: &[u32], sources: &mut [Source; 4], mut arranged: u8) {
        let all = (1u8 << arguments.len()) - 1;
        for (i, &argument) in arguments.iter().enumerate() {
            let register = self.values[argument as usize].register;
            if arranged >> i & 1 == 0 && register != NO_REGISTER {
                sources[i] = Source::Register(register);
                arranged |= 1 << i;
            }
        }
        let mut folds = shape.folds;
        while arranged != all {
            // The argument used furthest ahead has the first claim to stay in memory.
            let waiting = (0..arguments.len()).filter(|i| arranged >> i & 1 == 0);
            let Some(argument) =
                waiting.map(|i| arguments[i]).max_by_key(|&argument| self.values[argument as usize].next)
            else {
                return;
            };
            let same =
                (0..arguments.len()).filter(|&i| arguments[i] == argument).fold(0u8, |set, i| set | 1 << i);
            let Value { next, home, .. } = self.values[argument as usize];
            let wanted = next != NEVER && next - self.position <= NEAR && self.free != 0;
            let source = match home {
                Some(home) if !wanted && fold(&mut folds, same, home) => Source::Memory(home),
                home => {
                    let register = self.take();
                    self.load(register, home);
                    self.place(argument, register);
                    self.store_outputs(argument);
                    Source::Register(register)
                }
            };
            for (i, place) in sources.iter_mut().enumerate() {
                if same >> i & 1 != 0 {
                    *place = source;
                }
            }
            arranged |= same;
        }
    }

    /// A free register, emptied if need be; locked from now on.
    fn take(&mut self) -> u8 {
        if self.free == 0 {
            self.evict();
        }
        let register = self.free.trailing_zeros() as u8;
        self.free &= !(1 << register);
        self.locked |= 1 << register;
        register
    }

    /// Empties the register whose value is used furthest ahead.
    fn evict(&mut self) {
        let furthest = (0..self.pinned).filter(|r| self.locked >> r & 1 == 0).max_by_key(|&r| {
            let value = self.values[self.held[r as usize] as usize];
            let distance = u64::from(value.next - self.position);
            // What lies in memory already costs a load at most, the rest a store and a load.
            if value.home.is_some() { 2 * distance } else { distance }
        });
        let register = furthest.unwrap_or(0);
        self.spill(register);
        self.clear(register);
    }

    /// Stores a register's value unless it lies in memory already.
    fn spill(&mut self, register: u8) {
        let value = &mut self.values[self.held[register as usize] as usize];
        if value.home.is_none() {
            let slot = self.free_slots.pop().unwrap_or_else(|| {
                self.slots += 1;
                self.slots - 1
            });
            value.home = Some(Place::Slot(slot));
            self.target.store(Place::Slot(slot), register);
        }
    }

    /// Registers below the pinned ones that hold a value.
    fn occupied(&self) -> impl Iterator<Item = u8> + use<T> {
        let free = self.free;
        (0..self.pinned).filter(move |r| free >> r & 1 == 0)
    }

    /// Stores what is used after a call.
    fn spill_all(&mut self) {
        for register in self.occupied() {
            if self.values[self.held[register as usize] as usize].next != NEVER {
                self.spill(register);
            }
        }
    }

    fn forget_all(&mut self) {
        for register in self.occupied() {
            self.clear(register);
        }
    }

    fn load(&mut self, to: u8, home: Option<Place>) {
        // A value is in a register or in memory, or in both.
        debug_assert!(home.is_some());
        if let Some(home) = home {
            self.target.load(to, home);
        }
    }

    fn source(&self, argument: u32) -> Source {
        match self.values[argument as usize] {
            Value { register: NO_REGISTER, home: Some(home), .. } => Source::Memory(home),
            Value { register, .. } => Source::Register(register),
        }
    }

    /// Says that a register holds a value.
    fn place(&mut self, value: u32, register: u8) {
        self.held[register as usize] = value;
        self.values[value as usize].register = register;
    }

    /// Says that a register's value is no longer there, keeping the register.
    fn detach(&mut self, register: u8) {
        self.values[self.held[register as usize] as usize].register = NO_REGISTER;
    }

    fn clear(&mut self, register: u8) {
        self.detach(register);
        self.free |= 1 << register;
    }

    /// Frees what an argument occupies if it is not used again.
    fn release(&mut self, argument: u32) {
        let Value { next, register, home, .. } = self.values[argument as usize];
        if next != NEVER {
            return;
        }
        if register < self.pinned {
            self.clear(register);
        }
        if let Some(Place::Slot(slot)) = home {
            self.free_slots.push(slot);
            self.values[argument as usize].home = None;
        }
    }

    /// Stores a value in a register to the outputs that wait for it; an output then is its place in memory.
    fn store_outputs(&mut self, value: u32) {
        let Value { register, mut output, .. } = self.values[value as usize];
        while output != NEVER {
            self.target.store(Place::Output(output), register);
            self.values[value as usize].home.get_or_insert(Place::Output(output));
            output = self.same_output[output as usize];
        }
        self.values[value as usize].output = NEVER;
    }

    /// Stores an output that no instruction brought into a register.
    fn store_unread(&mut self, value: u32) {
        if self.values[value as usize].output != NEVER {
            self.locked = 0;
            if self.values[value as usize].register == NO_REGISTER {
                let register = self.take();
                self.load(register, self.values[value as usize].home);
                self.place(value, register);
            }
            self.store_outputs(value);
            self.values[value as usize].next = NEVER;
            self.release(value);
        }
    }
}

/// Whether arguments of one value can all stay in memory, each by a fold that is not taken; takes them.
fn fold(folds: &mut [Fold; 3], mut arguments: u8, home: Place) -> bool {
    let mut left = *folds;
    for fold in &mut left {
        let here = fold.arguments & arguments;
        let allowed = !fold.pool_only || matches!(home, Place::Pool(_));
        if here != 0 && here.is_power_of_two() && allowed {
            arguments &= !here;
            fold.arguments = 0;
        }
    }
    let all = arguments == 0;
    if all {
        *folds = left;
    }
    all
}

//! Register allocation in one forward pass, for any [`Target`].
//!
//! The program is straight-line and every value is written once, so the next use of each value is known exactly.
//! When registers run out, the value used furthest ahead leaves its register. It is stored at most once; inputs,
//! pool values and outputs lie in memory already and are never spilled. A value that lies in memory is read from
//! there by the instruction itself where the machine can do that and a register is not worth it.

use super::sequence::{Action, Row, Sequence, Step, WIDEST};
use super::target::{Fold, Place, Shape, Source, Target};
use crate::instruction::Code;

/// No further use; later than every position.
const NEVER: u32 = u32::MAX;
const NO_REGISTER: u8 = u8::MAX;
/// A value in memory that is used again within this many instructions is worth a free register.
const NEAR: u32 = 16;

/// What the allocator knows about one value.
#[derive(Clone, Copy)]
struct Value {
    /// The position of its next use.
    next: u32,
    register: u8,
    width: u8,
    /// Whether something reads it in memory.
    kept: bool,
    /// Where it lies in memory.
    home: Option<Place>,
    /// The first output that it must still be stored to.
    output: u32,
    /// For a wide result, how many readings of single lanes are left.
    readings: u32,
}

/// The uses of a sequence's values.
struct Uses {
    /// For each argument of each step: where its value is used next after this step.
    after: Vec<[u32; WIDEST]>,
    /// Whether a step's result is needed at all.
    needed: Vec<bool>,
    /// The largest number of results alive at once.
    pressure: usize,
    /// How often each leaf is read.
    reads: Vec<u32>,
}

struct Allocator<'a, T> {
    target: &'a mut T,
    values: Vec<Value>,
    /// The number of the first single lane.
    first_lane: u32,
    /// For each single lane, the wide result that it is of.
    whole: Vec<u32>,
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
    /// Slots without a value, by the width that took them: one lane, or several.
    free_slots: [Vec<u32>; 2],
    slots: u32,
    /// The step at hand.
    position: u32,
}

/// Writes the loop body of a sequence. Returns the number of scratch slots in use.
pub(crate) fn allocate<T: Target>(sequence: &Sequence, target: &mut T) -> u32 {
    let first_result = sequence.leaves.len() as u32;
    let first_lane = first_result + sequence.steps.len() as u32;
    let nowhere = Value {
        next: NEVER,
        register: NO_REGISTER,
        width: 1,
        kept: false,
        home: None,
        output: NEVER,
        readings: 0,
    };
    let mut values = vec![nowhere; sequence.values()];
    for (value, leaf) in values.iter_mut().zip(&sequence.leaves) {
        (value.home, value.width) = (Some(leaf.place), leaf.width);
    }
    for (value, step) in values[first_result as usize..].iter_mut().zip(&sequence.steps) {
        value.width = step.width;
    }
    let mut whole = vec![0; sequence.lane_count as usize];
    for (i, (step, &lane)) in sequence.steps.iter().zip(&sequence.lanes).enumerate() {
        if step.width > 1 {
            whole[lane as usize..][..step.width as usize].fill(first_result + i as u32);
        }
    }
    let mut same_output = vec![NEVER; sequence.outputs.len()];
    for (i, &output) in sequence.outputs.iter().enumerate() {
        if let Some(value) = output {
            same_output[i] = std::mem::replace(&mut values[value as usize].output, i as u32);
            if value >= first_lane {
                values[whole[(value - first_lane) as usize] as usize].readings += 1;
            }
        }
    }
    let uses = find_uses(sequence, &mut values, &whole);

    let registers = target.registers();
    let free = u32::MAX >> (32 - registers);
    let slots = target.call_slots();
    let mut allocator = Allocator {
        target,
        values,
        first_lane,
        whole,
        same_output,
        held: [0; 32],
        free,
        locked: 0,
        pinned: registers,
        free_slots: [Vec::new(), Vec::new()],
        slots,
        position: 0,
    };
    allocator.pin(sequence, &uses);
    allocator.target.begin_loop();
    for (i, step) in sequence.steps.iter().enumerate() {
        if uses.needed[i] {
            allocator.position = i as u32;
            let result = first_result + i as u32;
            let to = allocator.step(step, &uses.after[i]);
            allocator.place(result, to);
            if let Some(&Some(row)) = sequence.rows.get(i) {
                allocator.store_row(result, row, sequence.lanes[i]);
            }
            allocator.define(result, sequence.lanes.get(i).copied());
        }
    }
    allocator.position = sequence.steps.len() as u32;
    for &output in sequence.outputs.iter().flatten() {
        allocator.store_unread(output);
    }
    allocator.slots
}

/// Walks the sequence backwards; leaves the first use of each value in `values`.
fn find_uses(sequence: &Sequence, values: &mut [Value], whole: &[u32]) -> Uses {
    let count = sequence.steps.len();
    let first_result = sequence.leaves.len();
    let first_lane = first_result + count;
    let mut uses = Uses {
        after: vec![[NEVER; WIDEST]; count],
        needed: vec![false; count],
        pressure: 0,
        reads: vec![0; first_result],
    };
    let mut alive = 0;
    for (i, step) in sequence.steps.iter().enumerate().rev() {
        let result = values[first_result + i];
        let row = matches!(sequence.rows.get(i), Some(Some(_)));
        if result.next == NEVER && result.output == NEVER && result.readings == 0 && !row {
            continue;
        }
        uses.needed[i] = true;
        alive -= usize::from(result.next != NEVER);
        for (after, &argument) in uses.after[i].iter_mut().zip(step.arguments()) {
            *after = values[argument as usize].next;
        }
        for &argument in step.arguments() {
            let value = argument as usize;
            if (first_result..first_lane).contains(&value) && values[value].next == NEVER {
                alive += 1;
            } else if value < first_result {
                uses.reads[value] += 1;
            } else if value >= first_lane {
                values[whole[value - first_lane] as usize].readings += 1;
            }
            values[value].next = i as u32;
            values[value].kept |= step.action == Action::Collect;
        }
        uses.pressure = uses.pressure.max(alive);
    }
    uses
}

impl<T: Target> Allocator<'_, T> {
    /// Loads the pool values that are read most into registers that the temporaries leave free, for the whole loop.
    fn pin(&mut self, sequence: &Sequence, uses: &Uses) {
        /// Registers beyond the living temporaries that an instruction's operands and result can ask for.
        const ROOM: usize = 5;
        let registers = self.pinned as usize;
        let calls = |step: &Step| matches!(step.action, Action::Operate(Code::Call(_)));
        if uses.pressure + ROOM >= registers || sequence.steps.iter().any(calls) {
            return;
        }
        let of_pool = |&v: &u32| {
            uses.reads[v as usize] > 0 && matches!(sequence.leaves[v as usize].place, Place::Pool(_))
        };
        let mut candidates: Vec<u32> = (0..uses.reads.len() as u32).filter(of_pool).collect();
        candidates.sort_by_key(|&v| std::cmp::Reverse(uses.reads[v as usize]));
        for &value in candidates.iter().take(registers - uses.pressure - ROOM) {
            self.pinned -= 1;
            self.free &= !(1 << self.pinned);
            self.place(value, self.pinned);
            self.load(self.pinned, value);
        }
    }

    /// Writes a step. Returns the result's register.
    fn step(&mut self, step: &Step, after: &[u32; WIDEST]) -> u8 {
        self.locked = 0;
        for (&argument, &next) in step.arguments().iter().zip(after) {
            let value = &mut self.values[argument as usize];
            value.next = next;
            if value.register != NO_REGISTER {
                self.locked |= 1 << value.register;
            }
        }
        let width = step.width;
        let to = match step.action {
            Action::Operate(Code::Call(op)) => {
                let mut sources = [Source::Register(NO_REGISTER); 4];
                for (source, &argument) in sources.iter_mut().zip(step.arguments()) {
                    *source = self.source(argument);
                }
                self.spill_all();
                self.target.call(op, width, &sources[..step.arity as usize]);
                self.forget_all();
                let to = self.take();
                self.target.load(to, Place::Slot(0), width);
                to
            }
            Action::Operate(code) => {
                let arguments = [0, 1, 2, 3].map(|i| step.arguments[i]);
                self.operate(code, width, arguments)
            }
            Action::Collect => {
                let mut lanes = [Place::Slot(0); WIDEST];
                for (lane, &argument) in lanes.iter_mut().zip(step.arguments()) {
                    let Some(home) = self.values[argument as usize].home else {
                        unreachable!("argument {argument} of a collection is not in memory");
                    };
                    *lane = home;
                }
                let free = self.take();
                let to = self.take();
                self.target.collect(to, free, &lanes[..width as usize]);
                self.free |= 1 << free;
                to
            }
            Action::Spread => {
                let from = self.source(step.arguments[0]);
                let to = self.take();
                self.target.spread(to, from, width);
                to
            }
        };
        // Only now: a slot freed earlier could be taken by a spill before the instruction reads it.
        for &argument in step.arguments() {
            self.release(argument, true);
        }
        to
    }

    /// Stores a new result where it is wanted in memory.
    fn define(&mut self, result: u32, first_lane: Option<u32>) {
        self.store_outputs(result);
        let Value { width, register, readings, kept, .. } = self.values[result as usize];
        if readings > 0
            && let Some(lane) = first_lane
        {
            let first = (self.first_lane + lane) as usize;
            let lanes = first..first + width as usize;
            let wanted = |v: &Value| v.home.is_none() && (v.next != NEVER || v.output != NEVER);
            if self.values[lanes.clone()].iter().any(wanted) {
                self.spill(register);
                let home = self.values[result as usize].home;
                for (value, lane) in self.values[lanes].iter_mut().zip(0..) {
                    value.home = value.home.or(home.map(|home| home.lane(lane)));
                }
            }
        }
        if kept {
            self.spill(register);
        }
        if self.values[result as usize].next == NEVER {
            self.clear(register);
        }
    }

    /// Stores a row of outputs, which then is where the lanes lie in memory.
    fn store_row(&mut self, result: u32, row: Row, first_lane: u32) {
        let Value { width, register, .. } = self.values[result as usize];
        let place = Place::Output(row.first);
        if row.count == width {
            self.target.store(place, register, width);
            self.values[result as usize].home = Some(place);
        } else {
            self.target.store_some(place, register, width, row.count);
        }
        for lane in 0..u32::from(row.count) {
            self.values[(self.first_lane + first_lane + lane) as usize].home = Some(place.lane(lane));
        }
    }

    /// Arranges operands and result, and writes the instruction. Returns the result's register.
    fn operate(&mut self, code: Code, width: u8, arguments: [u32; 4]) -> u8 {
        let arity = code.arity();
        let shape = self.target.shape(code, width);
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
        self.target.operate(code, width, to, &sources);
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
            let to = self.take();
            self.load(to, argument);
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
        let Some(argument) = candidates().max_by_key(furthest) else {
            unreachable!("an instruction that overwrites an argument has one");
        };
        let Value { register: from, width, .. } = value(argument);
        let to = self.take();
        self.target.copy(to, from, width);
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
                _ => {
                    let register = self.take();
                    self.load(register, argument);
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
        let Some(register) = furthest else { unreachable!("all registers are locked by one instruction") };
        self.spill(register);
        self.clear(register);
    }

    /// Stores a register's value unless it lies in memory already.
    fn spill(&mut self, register: u8) {
        let value = self.held[register as usize] as usize;
        let Value { home, width, .. } = self.values[value];
        if home.is_none() {
            let slot = self.slot(width);
            self.values[value].home = Some(Place::Slot(slot));
            self.target.store(Place::Slot(slot), register, width);
        }
    }

    /// The first of the slots that a value of this width takes.
    fn slot(&mut self, width: u8) -> u32 {
        let size = self.target.slots(width);
        if let Some(slot) = self.free_slots[usize::from(size > 1)].pop() {
            return slot;
        }
        let slot = self.slots.next_multiple_of(size);
        self.free_slots[0].extend(self.slots..slot);
        self.slots = slot + size;
        slot
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

    fn load(&mut self, to: u8, value: u32) {
        let Value { home, width, .. } = self.values[value as usize];
        // A value is in a register or in memory, or in both.
        debug_assert!(home.is_some());
        if let Some(home) = home {
            self.target.load(to, home, width);
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

    /// Frees what an argument occupies if it is not used again; `read` if it was read just now.
    fn release(&mut self, argument: u32, read: bool) {
        let Value { next, register, .. } = self.values[argument as usize];
        if next == NEVER && register < self.pinned {
            self.clear(register);
        }
        if argument < self.first_lane {
            return self.release_slot(argument);
        }
        let whole = self.whole[(argument - self.first_lane) as usize];
        self.values[whole as usize].readings -= u32::from(read);
        self.release_slot(whole);
    }

    /// Frees the slot of a value that is not used again.
    fn release_slot(&mut self, value: u32) {
        let Value { next, home, readings, width, .. } = self.values[value as usize];
        if let (NEVER, 0, Some(Place::Slot(slot))) = (next, readings, home) {
            let several = self.target.slots(width) > 1;
            self.free_slots[usize::from(several)].push(slot);
            self.values[value as usize].home = None;
        }
    }

    /// Stores a value in a register to the outputs that wait for it; an output then is its place in memory.
    fn store_outputs(&mut self, value: u32) {
        let Value { register, width, mut output, .. } = self.values[value as usize];
        while output != NEVER {
            self.target.store(Place::Output(output), register, width);
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
                self.load(register, value);
                self.place(value, register);
            }
            self.store_outputs(value);
            self.values[value as usize].next = NEVER;
            self.release(value, false);
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

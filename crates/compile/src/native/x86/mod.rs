//! x86-64: AVX-512 and AVX2 with FMA, one lane or a vector of lanes.
//!
//! A function is `extern "sysv64" fn(inputs, outputs, pool, scratch, blocks)`: a loop over blocks with the program
//! written out once inside. It uses no stack but for calls. Base registers keep the argument registers:
//!
//! | register | holds |
//! |---|---|
//! | `rdi`, `rsi` | inputs and outputs of the block |
//! | `rdx`, `rcx` | pool, scratch |
//! | `r8` | blocks left |
//! | `rax`, `r11`, `k1`, `k2` | free within an instruction |
//!
//! They are shifted by a constant so that more displacements fit 8 bits.
//!
//! A function of lanes works on whole vectors throughout. A function of one state works on single numbers, and where its
//! [`Sequence`] is packed on vectors too, whose lanes then lie side by side in memory.
//!
//! With AVX2, lanes are four: the function of lanes does one half of every block, and is called for each.

mod collect;
mod encode;
mod forms;
mod frame;
#[cfg(test)]
mod tests;

use super::Isa;
use super::allocate::allocate;
use super::sequence::Sequence;
use super::target::{CALL_VALUES, Fold, Place, Shape, Source, Target};
use crate::instruction::{Code, Test};
use crate::program::Program;
use encode::{Condition, Encoder, Form, General, Jump, Length, Memory, Rm};
use frame::{BLOCK, Cold};
use leastaction_expr::Op;

/// A function in the code, and the scratch memory that it needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    /// The offset of its first byte.
    pub(crate) entry: usize,
    /// In `f64`s.
    pub(crate) scratch: usize,
}

/// The address type of the functions written here.
pub(crate) type Entry = unsafe extern "sysv64" fn(*const f64, *mut f64, *const f64, *mut f64, usize);

/// Appends a function to the code: of lanes, each step as wide as a vector, or of one state.
pub(crate) fn compile(
    code: &mut Vec<u8>,
    program: &Program,
    sequence: &Sequence,
    isa: Isa,
    lanes: bool,
) -> Function {
    let mut writer = Writer::new(std::mem::take(code), program, sequence, isa, lanes);
    let entry = writer.begin();
    let slots = allocate(sequence, &mut writer);
    let slots = writer.end(slots);
    let scratch = slots as usize * writer.slot_size() as usize / 8;
    *code = writer.encoder.bytes;
    Function { entry, scratch }
}

/// Writes the instructions of one function.
struct Writer {
    encoder: Encoder,
    isa: Isa,
    /// Whether the function is one of lanes.
    lanes: bool,
    /// The most lanes that a register holds.
    widest: usize,
    /// The lanes of the instruction at hand.
    width: usize,
    length: Length,
    inputs: usize,
    outputs: usize,
    /// Entries of the pool.
    pool: usize,
    /// Entries of the pool that are the same in all lanes.
    constants: usize,
    /// Taken if there are no blocks.
    empty: Option<Jump>,
    loop_start: usize,
    /// What the mask register holds.
    mask: Option<Mask>,
    /// Whether the zero flag says that the mask register is empty.
    tested: bool,
    cold: Vec<Cold>,
    /// Calls of the routine that calls an operator, to be landed.
    calls: Vec<Jump>,
    /// Loads of tables, to be landed, and the tables.
    tables: Vec<(Jump, [u32; 16])>,
}

/// Where a mask comes from (AVX-512): a later instruction that needs the same one need not compute it again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mask {
    Signs(u8),
    Compared { predicate: u8, left: u8, right: Rm },
}

impl Mask {
    /// Whether it was computed from this.
    fn reads(self, written: Rm) -> bool {
        match self {
            Mask::Signs(register) => written == Rm::Register(register),
            Mask::Compared { left, right, .. } => written == Rm::Register(left) || written == right,
        }
    }
}

impl Writer {
    fn new(bytes: Vec<u8>, program: &Program, sequence: &Sequence, isa: Isa, lanes: bool) -> Writer {
        let widest = if lanes { isa.lanes() } else { sequence.widest() };
        let mut encoder = Encoder::new(bytes, isa == Isa::Avx512);
        encoder.bytes.reserve(256 + 10 * sequence.steps.len());
        let mut writer = Writer {
            encoder,
            isa,
            lanes,
            widest,
            width: 1,
            length: Length::L128,
            inputs: program.inputs.len(),
            outputs: program.outputs.len(),
            pool: program.pool_len(),
            constants: program.constants.len(),
            empty: None,
            loop_start: 0,
            mask: None,
            tested: false,
            cold: Vec::new(),
            calls: Vec::new(),
            tables: Vec::new(),
        };
        writer.widen(if lanes { widest } else { 1 });
        writer
    }

    /// Sets the lanes of the instructions that follow.
    fn widen(&mut self, width: usize) {
        if self.width != width {
            self.width = width;
            self.length = match width {
                1 | 2 => Length::L128,
                4 => Length::L256,
                _ => Length::L512,
            };
            self.mask = None;
            self.tested = false;
        }
    }

    /// Whether the instruction at hand works on several lanes.
    fn packed(&self) -> bool {
        self.width > 1
    }

    /// Bytes in a register, or in the part of it that counts.
    fn size(&self) -> i32 {
        8 * self.width as i32
    }

    /// Bytes in a slot.
    fn slot_size(&self) -> i32 {
        if self.lanes { 8 * self.widest as i32 } else { 8 }
    }

    /// The slot of a value that a call passes: those of its lanes lie side by side.
    fn call_slot(&self, value: usize) -> Place {
        Place::Slot(if self.lanes { value } else { value * self.width } as u32)
    }

    /// How far a base register is shifted.
    fn bias(&self, base: General) -> i32 {
        match (self.isa, self.lanes, base) {
            // 8-bit displacements count in units of what is read: 8 bytes of the constants, 64 of the rest.
            (Isa::Avx512, true, General::Rdx) => 1024,
            (Isa::Avx512, true, _) => 0,
            _ => 128,
        }
    }

    /// The base register of a place, and the distance from what it was given as.
    fn address(&self, place: Place) -> (General, i32) {
        let component = if self.lanes { 8 * BLOCK as i32 } else { 8 };
        match place {
            Place::Input(i) => (General::Rdi, i as i32 * component),
            Place::Output(i) => (General::Rsi, i as i32 * component),
            Place::Slot(i) => (General::Rcx, i as i32 * self.slot_size()),
            Place::Pool(i) if self.lanes => {
                (General::Rdx, 8 * self.isa.lane_place(i as usize, self.constants) as i32)
            }
            Place::Pool(i) => (General::Rdx, i as i32 * 8 * self.isa.pool_stride() as i32),
        }
    }

    fn memory(&self, place: Place) -> Memory {
        let (base, distance) = self.address(place);
        // What lanes share: constants where lanes are states of their own, else the whole pool.
        let shared = matches!(place, Place::Pool(i) if !self.lanes || (i as usize) < self.constants);
        let broadcast = self.packed() && self.isa == Isa::Avx512 && shared;
        let size = if broadcast { 8 } else { self.size() };
        Memory { base, displacement: distance - self.bias(base), size, broadcast }
    }

    /// One number of memory.
    fn number(&self, place: Place) -> Memory {
        Memory { size: 8, broadcast: false, ..self.memory(place) }
    }

    fn rm(&self, source: Source) -> Rm {
        match source {
            Source::Register(register) => Rm::Register(register),
            Source::Memory(place) => Rm::Memory(self.memory(place)),
        }
    }

    /// The operand of an instruction that works on whole registers also where only one lane counts. It must
    /// not read more of memory than there is: one value, broadcast, with AVX-512; 128 bits of the pool with AVX2.
    fn whole_rm(&self, source: Source) -> Rm {
        match self.rm(source) {
            Rm::Memory(m) if !self.packed() => {
                Rm::Memory(Memory { broadcast: self.isa == Isa::Avx512, size: 8, ..m })
            }
            rm => rm,
        }
    }

    /// A packed or scalar instruction of two sources.
    fn arithmetic(&mut self, form: Form, to: u8, a: u8, b: Rm) {
        let form = if self.packed() { form } else { forms::scalar(form) };
        self.encoder.vector(form, self.length, to, a, b);
    }

    /// An instruction of one source. Scalar forms take the other lane from a second register: the same one, so
    /// that they wait for nothing else.
    fn unary(&mut self, form: Form, to: u8, a: Source) {
        let second = match a {
            Source::Register(register) if !self.packed() => register,
            _ => 0,
        };
        self.arithmetic(form, to, second, self.rm(a));
    }

    /// Puts the comparison of a and b into the mask register (AVX-512) or into all bits of `to`'s lanes.
    fn compare(&mut self, test: Test, to: u8, a: Source, b: Source) {
        let (left, right, swapped) = match (a, b) {
            (Source::Register(left), b) => (left, b, false),
            (a, Source::Register(left)) => (left, a, true),
            _ => unreachable!("one side of a comparison is in a register"),
        };
        let right = self.rm(right);
        let predicate = forms::predicate(test, swapped);
        match self.isa {
            Isa::Avx512 => {
                let mask = Mask::Compared { predicate, left, right };
                if self.mask == Some(mask) {
                    return;
                }
                self.mask = Some(mask);
                self.tested = false;
                let form = if self.packed() { forms::CMP } else { forms::scalar(forms::CMP) };
                self.encoder.evex(form, self.length, 0, 1, left, right);
            }
            Isa::Avx2 => self.arithmetic(forms::CMP, to, left, right),
        }
        self.encoder.immediate(predicate);
    }

    /// Puts the sign bits of a register into the mask register.
    fn signs(&mut self, register: u8) {
        let mask = Some(Mask::Signs(register));
        if self.mask != mask {
            self.mask = mask;
            self.tested = false;
            self.encoder.evex(forms::SIGN_MASK, self.length, 0, 1, 0, Rm::Register(register));
        }
    }

    /// Forgets a mask that was computed from what is being written.
    fn written(&mut self, rm: Rm) {
        if self.mask.is_some_and(|mask| mask.reads(rm)) {
            self.mask = None;
        }
    }

    /// `to` = `yes` where the mask holds, else `no`. With AVX2, `mask` is a register whose sign bits are it.
    fn blend(&mut self, to: u8, no: u8, yes: Source, mask: u8) {
        let yes = self.whole_rm(yes);
        match self.isa {
            Isa::Avx512 => self.encoder.evex(forms::BLEND_MASK, self.length, 1, to, no, yes),
            Isa::Avx2 => {
                self.encoder.vector(forms::BLEND_SIGN, self.length, to, no, yes);
                self.encoder.immediate(mask << 4);
            }
        }
    }

    fn fused(&mut self, forms: [Form; 3], to: u8, [a, b, c]: [Source; 3]) {
        let [form_132, form_213, form_231] = forms;
        let kept = Source::Register(to);
        let (form, second, third) = if c == kept {
            let (register, other) = register_first(a, b);
            (form_231, register, other)
        } else {
            let other = if a == kept { b } else { a };
            match (other, c) {
                (Source::Register(other), c @ Source::Memory(_)) => (form_213, other, c),
                (other, Source::Register(c)) => (form_132, c, other),
                _ => unreachable!("a fused product has one argument in memory"),
            }
        };
        self.arithmetic(form, to, second, self.rm(third));
    }

    fn xor_and(&mut self, to: u8, [a, b, c]: [Source; 3]) {
        if self.isa == Isa::Avx2 {
            let (first, second) = register_first(b, c);
            let (second, a) = (self.whole_rm(second), self.whole_rm(a));
            self.encoder.vector(forms::binary(Code::And), self.length, to, first, second);
            return self.encoder.vector(forms::binary(Code::Xor), self.length, to, to, a);
        }
        let kept = Source::Register(to);
        let (table, second, third) = if a == kept {
            let (second, third) = register_first(b, c);
            (forms::XOR_AND[0], second, third)
        } else {
            let other = if b == kept { c } else { b };
            // The outer argument comes second where it is in a register, else third: exchange the sources' bits.
            match a {
                Source::Register(a) => (forms::XOR_AND[1], a, other),
                Source::Memory(_) => (swap_sources(forms::XOR_AND[1]), register(other), a),
            }
        };
        let third = self.whole_rm(third);
        self.encoder.evex(forms::TERNARY, self.length, 0, to, second, third);
        self.encoder.immediate(table);
    }

    fn repair(&mut self, op: Op, limit: u32, to: u8, [a, b, c, d]: [Source; 4]) {
        let limit = Source::Memory(Place::Pool(limit));
        let jumps = match (self.packed(), self.isa) {
            (false, _) => {
                let Source::Register(b) = b else { unreachable!("the tested value is in a register") };
                self.encoder.vector(forms::COMPARE_FLAGS, self.length, b, 0, self.rm(limit));
                self.mask = None; // the slow path does not keep it
                [Some(self.encoder.jump_if(Condition::Above)), Some(self.encoder.jump_if(Condition::Parity))]
            }
            (true, Isa::Avx512) => {
                self.compare(Test::NotLessEqual, to, b, limit);
                // Repairs of several values by one test come one after the other; vector instructions keep the flags.
                if !std::mem::replace(&mut self.tested, true) {
                    self.encoder.test_mask();
                }
                [Some(self.encoder.jump_if(Condition::NotZero)), None]
            }
            (true, Isa::Avx2) => {
                self.compare(Test::NotLessEqual, to, b, limit);
                let r11 = General::R11 as u8;
                self.encoder.vex(forms::SIGNS, self.length, r11, 0, Rm::Register(to));
                match a {
                    Source::Register(a) => self.copy(to, a, self.width as u8),
                    Source::Memory(a) => self.load(to, a, self.width as u8),
                }
                self.encoder.test_low(General::R11);
                [Some(self.encoder.jump_if(Condition::NotZero)), None]
            }
        };
        let (width, resume) = (self.width, self.encoder.here());
        self.cold.push(Cold { jumps, resume, op, width, to, arguments: [c, d] });
    }
}

impl Target for Writer {
    fn registers(&self) -> u8 {
        self.isa.registers() as u8
    }

    fn slots(&self, width: u8) -> u32 {
        if self.lanes || width == 1 { 1 } else { self.widest as u32 }
    }

    fn call_slots(&self) -> u32 {
        (CALL_VALUES * if self.lanes { 1 } else { self.widest }) as u32
    }

    fn shape(&mut self, code: Code, width: u8) -> Shape {
        self.widen(width as usize);
        let any = |arguments| Fold { arguments, pool_only: false };
        let one = |arguments| Shape { folds: [any(arguments), any(0), any(0)], ..Shape::default() };
        // An instruction on whole registers would read too much of memory where one lane counts.
        let narrow = !self.packed() && self.isa == Isa::Avx2;
        let whole = |arguments| Fold { arguments, pool_only: narrow };
        match code {
            Code::Add | Code::Mul => one(0b11),
            Code::Sub | Code::Div | Code::Min | Code::Max => one(0b10),
            Code::And | Code::Or | Code::Xor | Code::AddInt => {
                Shape { folds: [whole(0b11), any(0), any(0)], ..Shape::default() }
            }
            Code::AndNot | Code::SubInt => Shape { folds: [whole(0b10), any(0), any(0)], ..Shape::default() },
            // Scalar forms with a source in memory would wait for the old value of the result's register.
            Code::Sqrt | Code::Round | Code::Floor => one(u8::from(self.packed())),
            Code::ShiftLeft(_) | Code::ShiftRight(_) => one(u8::from(self.isa == Isa::Avx512)),
            Code::MulAdd | Code::MulSub | Code::NegMulAdd | Code::NegMulSub => {
                Shape { tied: 0b111, ..one(0b111) }
            }
            Code::XorAnd if self.isa == Isa::Avx512 => Shape { tied: 0b111, ..one(0b111) },
            // The inner result is kept in the result's register.
            Code::XorAnd => Shape { folds: [whole(0b001), whole(0b110), any(0)], tied: 0, apart: 0b001 },
            Code::Select(_) => Shape {
                folds: [any(0b11), whole(0b1100), any(0)],
                tied: 0,
                // With AVX2 the comparison is kept in the result's register.
                apart: if self.isa == Isa::Avx2 { 0b1100 } else { 0 },
            },
            Code::SelectSign => Shape { folds: [whole(0b010), any(0), any(0)], ..Shape::default() },
            Code::Repair { .. } if self.packed() && self.isa == Isa::Avx2 => {
                Shape { folds: [any(0b0001), any(0b0100), any(0b1000)], tied: 0, apart: 0b1101 }
            }
            Code::Repair { .. } => {
                Shape { folds: [any(0b0100), any(0b1000), any(0)], tied: 0b0001, apart: 0 }
            }
            Code::Call(_) | Code::Math(_) | Code::Paired(_) => Shape::default(),
        }
    }

    fn begin_loop(&mut self) {
        self.encoder.align(64);
        self.loop_start = self.encoder.here();
    }

    fn load(&mut self, to: u8, from: Place, width: u8) {
        self.widen(width as usize);
        self.written(Rm::Register(to));
        let memory = self.memory(from);
        if memory.broadcast {
            let memory = Memory { broadcast: false, ..memory };
            let form = forms::broadcast(self.length);
            self.encoder.evex(form, self.length, 0, to, 0, Rm::Memory(memory));
        } else {
            self.arithmetic(forms::LOAD, to, 0, Rm::Memory(memory));
        }
    }

    fn store(&mut self, to: Place, from: u8, width: u8) {
        self.widen(width as usize);
        let memory = Rm::Memory(self.memory(to));
        self.written(memory);
        self.arithmetic(forms::STORE, from, 0, memory);
    }

    fn store_some(&mut self, to: Place, from: u8, width: u8, count: u8) {
        self.widen(width as usize);
        let memory = Rm::Memory(self.memory(to));
        self.written(memory);
        self.encoder.move_value(General::R11, (1 << count) - 1);
        self.encoder.r11_to_second_mask();
        self.encoder.evex(forms::STORE, self.length, 2, from, 0, memory);
    }

    fn copy(&mut self, to: u8, from: u8, width: u8) {
        self.widen(width as usize);
        self.written(Rm::Register(to));
        self.encoder.copy(self.length, to, from);
    }

    fn operate(&mut self, code: Code, width: u8, to: u8, sources: &[Source; 4]) {
        self.widen(width as usize);
        let [a, b, c, d] = *sources;
        match code {
            Code::Add | Code::Mul => {
                let (first, second) = register_first(a, b);
                self.arithmetic(forms::binary(code), to, first, self.rm(second));
            }
            Code::Sub | Code::Div | Code::Min | Code::Max => {
                self.arithmetic(forms::binary(code), to, register(a), self.rm(b));
            }
            Code::And | Code::Or | Code::Xor | Code::AddInt => {
                let (first, second) = register_first(a, b);
                let second = self.whole_rm(second);
                self.encoder.vector(forms::binary(code), self.length, to, first, second);
            }
            Code::AndNot | Code::SubInt => {
                let second = self.whole_rm(b);
                self.encoder.vector(forms::binary(code), self.length, to, register(a), second);
            }
            Code::Sqrt => self.unary(forms::SQRT, to, a),
            Code::Round | Code::Floor => {
                let form = if self.packed() { forms::ROUND } else { forms::ROUND_SCALAR };
                let second = if self.packed() { 0 } else { register(a) };
                self.encoder.vector(form, self.length, to, second, self.rm(a));
                self.encoder.immediate(if code == Code::Round { 8 } else { 9 });
            }
            Code::ShiftLeft(bits) | Code::ShiftRight(bits) => {
                let extension = if matches!(code, Code::ShiftLeft(_)) { 6 } else { 2 };
                match self.whole_rm(a) {
                    // Only the EVEX form shifts what lies in memory.
                    rm @ Rm::Memory(_) => self.encoder.evex(forms::SHIFT, self.length, 0, extension, to, rm),
                    rm => self.encoder.vector(forms::SHIFT, self.length, extension, to, rm),
                }
                self.encoder.immediate(bits & 63);
            }
            Code::MulAdd => self.fused(forms::MUL_ADD, to, [a, b, c]),
            Code::MulSub => self.fused(forms::MUL_SUB, to, [a, b, c]),
            Code::NegMulAdd => self.fused(forms::NEG_MUL_ADD, to, [a, b, c]),
            Code::NegMulSub => self.fused(forms::NEG_MUL_SUB, to, [a, b, c]),
            Code::XorAnd => self.xor_and(to, [a, b, c]),
            Code::Select(test) => {
                let (test, yes, no) = match d {
                    Source::Register(no) => (test, c, no),
                    Source::Memory(_) => (forms::opposite(test), d, register(c)),
                };
                self.compare(test, to, a, b);
                self.blend(to, no, yes, to);
            }
            Code::SelectSign => {
                let a = register(a);
                if self.isa == Isa::Avx512 {
                    self.signs(a);
                }
                self.blend(to, register(c), b, a);
            }
            Code::Repair { op, limit } => self.repair(op, limit, to, *sources),
            Code::Call(_) => unreachable!("calls are written by `call`"),
            Code::Math(_) | Code::Paired(_) => unreachable!("functions are expanded before"),
        }
        self.written(Rm::Register(to));
    }

    fn call(&mut self, op: Op, width: u8, arguments: &[Source]) {
        self.widen(width as usize);
        self.pass(arguments, 0);
        self.encoder.move_value(General::R11, (1 << self.width) - 1);
        self.encoder.move_value(General::Rax, op as u32);
        let call = self.encoder.call();
        self.calls.push(call);
        self.mask = None;
    }

    fn collect(&mut self, to: u8, free: u8, lanes: &[Place]) {
        self.collect_lanes(to, free, lanes);
    }

    fn spread(&mut self, to: u8, from: Source, width: u8) {
        self.widen(width as usize);
        self.written(Rm::Register(to));
        let from = match from {
            Source::Register(register) => Rm::Register(register),
            Source::Memory(place) => Rm::Memory(self.number(place)),
        };
        self.encoder.vector(forms::broadcast(self.length), self.length, to, 0, from);
    }
}

/// The table of a function of three bits with its second and third argument exchanged.
fn swap_sources(table: u8) -> u8 {
    (0..8).filter(|i| table >> i & 1 != 0).map(|i| 1 << (i & 4 | (i & 1) << 1 | (i & 2) >> 1)).sum()
}

/// The register of a source that the shape keeps in one.
fn register(source: Source) -> u8 {
    match source {
        Source::Register(register) => register,
        Source::Memory(place) => unreachable!("{place:?} where the machine needs a register"),
    }
}

/// Two sources that can change places: what must be in a register first, and where both are, the order with the
/// shorter encoding.
fn register_first(a: Source, b: Source) -> (u8, Source) {
    match (a, b) {
        (a @ Source::Memory(_), b) => (register(b), a),
        (a @ Source::Register(low), Source::Register(high)) if low < 8 && high >= 8 => (high, a),
        (a, b) => (register(a), b),
    }
}

//! Machine code bytes: VEX and EVEX prefixes, memory operands, and the few general instructions of the frame.
//!
//! A vector instruction is a [`Form`] (opcode and prefix class) applied to a destination, a second register and a
//! register or memory operand. VEX is used where it can be, being shorter; EVEX where registers 16 to 31, 512
//! bits, a broadcast or a mask ask for it, or where its scaled 8-bit displacement saves three bytes.

/// The opcode of a vector instruction, with what its prefix must say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// The opcode map: 1 for 0F, 2 for 0F 38, 3 for 0F 3A.
    pub(super) map: u8,
    /// The implied legacy prefix: 0 for none, 1 for 66, 2 for F3, 3 for F2.
    pub(super) prefix: u8,
    pub(super) opcode: u8,
    /// The W bit of a VEX prefix. The EVEX forms of all instructions here have W = 1.
    pub(super) w: bool,
}

/// The length of a vector; scalar instructions are written with 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Length {
    L128,
    L256,
    L512,
}

/// A register that holds an address or a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum General {
    Rax = 0,
    Rcx = 1,
    Rdx = 2,
    Rsp = 4,
    Rsi = 6,
    Rdi = 7,
    R8 = 8,
    R11 = 11,
}

/// A memory operand: a base register and a displacement in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    /// One of `rax`, `rcx`, `rdx`, `rsi`, `rdi`: they need no second address byte.
    pub(super) base: General,
    pub(super) displacement: i32,
    /// The number of bytes read or written: the unit of EVEX's 8-bit displacements.
    pub(super) size: i32,
    /// Whether one `f64` goes to all lanes.
    pub(super) broadcast: bool,
}

/// The operand that can be a register or memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rm {
    Register(u8),
    Memory(Memory),
}

/// A jump whose target is not known yet: the offset of its 32-bit displacement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump(usize);

/// The condition of a jump.
#[derive(Clone, Copy, Debug)]
pub(super) enum Condition {
    Zero = 4,
    NotZero = 5,
    Above = 7,
    Parity = 10,
}

/// Bytes of machine code in the making.
pub(super) struct Encoder {
    pub(super) bytes: Vec<u8>,
    /// Whether EVEX prefixes are allowed.
    evex: bool,
}

impl Encoder {
    pub(super) fn new(bytes: Vec<u8>, evex: bool) -> Encoder {
        Encoder { bytes, evex }
    }

    /// A vector instruction, in its shorter encoding. An instruction without a second register has `second` 0.
    #[inline]
    pub(super) fn vector(&mut self, form: Form, length: Length, reg: u8, second: u8, rm: Rm) {
        let (demands, shortens) = match rm {
            Rm::Register(r) => (r >= 16, false),
            Rm::Memory(m) => (
                m.broadcast,
                self.evex
                    && i8::try_from(m.displacement).is_err()
                    && m.displacement % m.size == 0
                    && i8::try_from(m.displacement / m.size).is_ok(),
            ),
        };
        if demands || shortens || length == Length::L512 || (reg | second) >= 16 {
            self.evex(form, length, 0, reg, second, rm);
        } else {
            self.vex(form, length, reg, second, rm);
        }
    }

    /// `to = from`, by `vmovapd`.
    pub(super) fn copy(&mut self, length: Length, to: u8, from: u8) {
        const LOAD: Form = Form { map: 1, prefix: 1, opcode: 0x28, w: false };
        const STORE: Form = Form { opcode: 0x29, ..LOAD };
        // Either can copy; the short VEX prefix has no bit for the upper half of the second operand.
        if to < 8 && (8..16).contains(&from) && length != Length::L512 {
            self.vex(STORE, length, from, 0, Rm::Register(to));
        } else {
            self.vector(LOAD, length, to, 0, Rm::Register(from));
        }
    }

    /// A vector instruction with a VEX prefix, for registers 0 to 15.
    pub(super) fn vex(&mut self, form: Form, length: Length, reg: u8, second: u8, rm: Rm) {
        debug_assert!((reg | second) < 16 && length != Length::L512);
        let high = |r: u8| r >> 3 & 1;
        let base_high = match rm {
            Rm::Register(r) => high(r),
            Rm::Memory(_) => 0,
        };
        let last = (!second & 15) << 3 | (length as u8) << 2 | form.prefix;
        if form.map == 1 && !form.w && base_high == 0 {
            self.bytes.extend([0xC5, (high(reg) ^ 1) << 7 | last, form.opcode]);
        } else {
            let first = (high(reg) ^ 1) << 7 | 1 << 6 | (base_high ^ 1) << 5 | form.map;
            self.bytes.extend([0xC4, first, u8::from(form.w) << 7 | last, form.opcode]);
        }
        self.operand(reg, rm, 1);
    }

    /// A vector instruction with an EVEX prefix; `mask` 0 means none.
    pub(super) fn evex(&mut self, form: Form, length: Length, mask: u8, reg: u8, second: u8, rm: Rm) {
        debug_assert!(self.evex && (reg | second) < 32 && mask < 8);
        let bit = |r: u8, n: u8| !r >> n & 1;
        let (x, b, broadcast, size) = match rm {
            Rm::Register(r) => (bit(r, 4), bit(r, 3), false, 1),
            Rm::Memory(m) => (1, 1, m.broadcast, m.size),
        };
        self.bytes.extend([
            0x62,
            bit(reg, 3) << 7 | x << 6 | b << 5 | bit(reg, 4) << 4 | form.map,
            1 << 7 | (!second & 15) << 3 | 1 << 2 | form.prefix,
            (length as u8) << 5 | u8::from(broadcast) << 4 | bit(second, 4) << 3 | mask,
            form.opcode,
        ]);
        self.operand(reg, rm, size);
    }

    /// A load from a place in the code, to be [`landed`](Encoder::land).
    pub(super) fn load_table(&mut self, form: Form, length: Length, reg: u8) -> Jump {
        // An operand `[rdi]`, whose byte is then made to say: relative to the next instruction.
        let memory = Memory { base: General::Rdi, displacement: 0, size: 1, broadcast: false };
        self.vector(form, length, reg, 0, Rm::Memory(memory));
        if let Some(byte) = self.bytes.last_mut() {
            *byte = *byte & !7 | 5;
        }
        self.distance()
    }

    /// `vgatherdpd` under the mask register 2: `reg` gets the numbers at the base and 8 times each index, 32 bits each.
    pub(super) fn gather(
        &mut self,
        form: Form,
        length: Length,
        reg: u8,
        index: u8,
        base: General,
        displacement: i32,
    ) {
        debug_assert!(self.evex && reg != index && (reg | index) < 32);
        let bit = |r: u8, n: u8| !r >> n & 1;
        self.bytes.extend([
            0x62,
            bit(reg, 3) << 7 | bit(index, 3) << 6 | 1 << 5 | bit(reg, 4) << 4 | form.map,
            1 << 7 | 15 << 3 | 1 << 2 | form.prefix,
            (length as u8) << 5 | bit(index, 4) << 3 | 2,
            form.opcode,
        ]);
        let (reg, tail) = ((reg & 7) << 3, 3 << 6 | (index & 7) << 3 | base as u8);
        match short(displacement, 8) {
            Some(short) => self.bytes.extend([0x44 | reg, tail, short as u8]),
            None => {
                self.bytes.extend([0x84 | reg, tail]);
                self.bytes.extend(displacement.to_le_bytes());
            }
        }
    }

    /// The byte that names the operands, and a displacement; an 8-bit one counts in units of `unit`.
    fn operand(&mut self, reg: u8, rm: Rm, unit: i32) {
        let reg = (reg & 7) << 3;
        match rm {
            Rm::Register(r) => self.bytes.push(0xC0 | reg | r & 7),
            Rm::Memory(m) => {
                let base = m.base as u8;
                debug_assert!(base < 8 && base != General::Rsp as u8);
                if m.displacement == 0 {
                    self.bytes.push(reg | base);
                } else if let Some(short) = short(m.displacement, unit) {
                    self.bytes.extend([0x40 | reg | base, short as u8]);
                } else {
                    self.bytes.push(0x80 | reg | base);
                    self.bytes.extend(m.displacement.to_le_bytes());
                }
            }
        }
    }

    /// A byte after the operands.
    pub(super) fn immediate(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// `register += value`.
    pub(super) fn add(&mut self, register: General, value: i32) {
        if value == 0 {
            return;
        }
        // Subtracting −128 fits a byte where adding 128 does not.
        let (subtract, value) = if value == 128 { (true, -128) } else { (false, value) };
        self.arithmetic(if subtract { 5 } else { 0 }, register, value);
    }

    /// An operation of a 64-bit register and a number; `extension` names the operation.
    fn arithmetic(&mut self, extension: u8, register: General, value: i32) {
        let r = register as u8;
        let rex = 0x48 | r >> 3;
        let operand = 0xC0 | extension << 3 | r & 7;
        match i8::try_from(value) {
            Ok(short) => self.bytes.extend([rex, 0x83, operand, short as u8]),
            Err(_) => {
                self.bytes.extend([rex, 0x81, operand]);
                self.bytes.extend(value.to_le_bytes());
            }
        }
    }

    /// `to = from`.
    pub(super) fn move_register(&mut self, to: General, from: General) {
        self.two(0x89, true, to, from);
    }

    /// Sets the flags by a 64-bit register.
    pub(super) fn test(&mut self, register: General) {
        self.two(0x85, true, register, register);
    }

    /// Sets the flags by the low half of a register.
    pub(super) fn test_low(&mut self, register: General) {
        self.two(0x85, false, register, register);
    }

    fn two(&mut self, opcode: u8, wide: bool, rm: General, reg: General) {
        let (rm, reg) = (rm as u8, reg as u8);
        let rex = 0x40 | u8::from(wide) << 3 | reg >> 3 << 2 | rm >> 3;
        if rex != 0x40 {
            self.bytes.push(rex);
        }
        self.bytes.extend([opcode, 0xC0 | (reg & 7) << 3 | rm & 7]);
    }

    /// `register = value`, with the upper half zero.
    pub(super) fn move_value(&mut self, register: General, value: u32) {
        let r = register as u8;
        if r >= 8 {
            self.bytes.push(0x41);
        }
        self.bytes.push(0xB8 | r & 7);
        self.bytes.extend(value.to_le_bytes());
    }

    /// `register = value`.
    pub(super) fn move_wide(&mut self, register: General, value: u64) {
        let r = register as u8;
        self.bytes.extend([0x48 | r >> 3, 0xB8 | r & 7]);
        self.bytes.extend(value.to_le_bytes());
    }

    /// `register -= 1`, setting the flags.
    pub(super) fn decrement(&mut self, register: General) {
        let r = register as u8;
        self.bytes.extend([0x48 | r >> 3, 0xFF, 0xC8 | r & 7]);
    }

    pub(super) fn push(&mut self, register: General) {
        self.stack(0x50, register);
    }

    pub(super) fn pop(&mut self, register: General) {
        self.stack(0x58, register);
    }

    fn stack(&mut self, opcode: u8, register: General) {
        let r = register as u8;
        if r >= 8 {
            self.bytes.push(0x41);
        }
        self.bytes.push(opcode | r & 7);
    }

    /// Calls the function whose address is in `rax`.
    pub(super) fn call_rax(&mut self) {
        self.bytes.extend([0xFF, 0xD0]);
    }

    pub(super) fn ret(&mut self) {
        self.bytes.push(0xC3);
    }

    pub(super) fn zero_upper(&mut self) {
        self.bytes.extend([0xC5, 0xF8, 0x77]);
    }

    /// `r11d` = the mask register 1.
    pub(super) fn mask_to_r11(&mut self) {
        self.bytes.extend([0xC5, 0x79, 0x93, 0xD9]);
    }

    /// The mask register 1 = `r11d`.
    pub(super) fn r11_to_mask(&mut self) {
        self.bytes.extend([0xC4, 0xC1, 0x79, 0x92, 0xCB]);
    }

    /// The mask register 2 = `r11d`.
    pub(super) fn r11_to_second_mask(&mut self) {
        self.bytes.extend([0xC4, 0xC1, 0x79, 0x92, 0xD3]);
    }

    /// Sets the zero flag if the low byte of mask register 1 is zero.
    pub(super) fn test_mask(&mut self) {
        self.bytes.extend([0xC5, 0xF9, 0x98, 0xC9]);
    }

    /// `rax` = 0, and the zero flag is set.
    pub(super) fn clear_rax(&mut self) {
        self.bytes.extend([0x31, 0xC0]);
    }

    /// A jump on a condition, to be [`landed`](Encoder::land).
    pub(super) fn jump_if(&mut self, condition: Condition) -> Jump {
        self.bytes.extend([0x0F, 0x80 | condition as u8]);
        self.distance()
    }

    /// A jump, to be landed.
    pub(super) fn jump(&mut self) -> Jump {
        self.bytes.push(0xE9);
        self.distance()
    }

    /// A call within the code, to be landed.
    pub(super) fn call(&mut self) -> Jump {
        self.bytes.push(0xE8);
        self.distance()
    }

    fn distance(&mut self) -> Jump {
        self.bytes.extend([0; 4]);
        Jump(self.bytes.len() - 4)
    }

    /// Makes a jump go to an offset.
    pub(super) fn land(&mut self, Jump(place): Jump, target: usize) {
        let distance = target as i64 - (place as i64 + 4);
        self.bytes[place..place + 4].copy_from_slice(&(distance as i32).to_le_bytes());
    }

    /// The offset of the next instruction.
    pub(super) fn here(&self) -> usize {
        self.bytes.len()
    }

    /// Fills with instructions that do nothing up to a multiple of `alignment`.
    pub(super) fn align(&mut self, alignment: usize) {
        const LONG: [u8; 8] = [0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0];
        let mut missing = self.here().next_multiple_of(alignment) - self.here();
        while missing >= LONG.len() {
            self.bytes.extend(LONG);
            missing -= LONG.len();
        }
        self.bytes.extend(std::iter::repeat_n(0x90, missing));
    }
}

/// A displacement in units, if it is a whole number of them that fits 8 bits.
fn short(displacement: i32, unit: i32) -> Option<i8> {
    (displacement % unit == 0).then_some(displacement / unit).and_then(|d| i8::try_from(d).ok())
}

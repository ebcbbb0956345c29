//! What surrounds the loop body: entering and leaving, stepping to the next block, slow paths and calls.

use super::Writer;
use super::encode::{Condition, General, Jump};
use crate::instruction::call;
use crate::native::Isa;
use crate::native::target::{CALL_VALUES, Place, Source, Target};
use leastaction_expr::Op;

/// The lanes in a block, whatever the machine.
pub(super) const BLOCK: usize = 8;

/// Pushed around calls: an even number, so that the stack stays aligned.
const SAVED: [General; 6] =
    [General::Rdi, General::Rsi, General::Rdx, General::Rcx, General::R8, General::R11];

/// The slow path of a repair, written after the loop.
pub(super) struct Cold {
    pub(super) jumps: [Option<Jump>; 2],
    /// Where it goes on.
    pub(super) resume: usize,
    pub(super) op: Op,
    pub(super) width: usize,
    pub(super) to: u8,
    pub(super) arguments: [Source; 2],
}

impl Writer {
    /// Everything before the loop. Returns the offset of the function.
    pub(super) fn begin(&mut self) -> usize {
        self.encoder.align(64);
        let entry = self.encoder.here();
        self.encoder.test(General::R8);
        self.empty = Some(self.encoder.jump_if(Condition::Zero));
        for base in [General::Rdi, General::Rsi, General::Rdx, General::Rcx] {
            self.encoder.add(base, self.bias(base));
        }
        entry
    }

    /// Everything after the body. Takes and returns the number of scratch slots.
    pub(super) fn end(&mut self, slots: u32) -> u32 {
        self.widen(if self.lanes { self.widest } else { 1 });
        for (base, count) in [(General::Rdi, self.inputs), (General::Rsi, self.outputs)] {
            self.encoder.add(base, 8 * count as i32 * if self.lanes { BLOCK as i32 } else { 1 });
        }
        self.encoder.decrement(General::R8);
        let again = self.encoder.jump_if(Condition::NotZero);
        self.encoder.land(again, self.loop_start);
        self.encoder.zero_upper();
        if let Some(jump) = self.empty.take() {
            self.encoder.land(jump, self.encoder.here());
        }
        self.encoder.ret();

        // Sites of each width call a routine of their own.
        let cold = std::mem::take(&mut self.cold);
        let first = slots.next_multiple_of(self.slots(self.widest as u8));
        let mut last = slots;
        for width in [1, 2, 4, 8] {
            self.widen(width);
            let sites = cold.iter().filter(|site| site.width == width);
            let repairs: Vec<Jump> = sites.map(|site| self.repair_site(site)).collect();
            if !repairs.is_empty() {
                self.land_all(&repairs);
                last = self.saving_routine(first, width);
            }
        }
        let calls = std::mem::take(&mut self.calls);
        if !calls.is_empty() {
            self.widen(if self.lanes { self.widest } else { 1 });
            self.land_all(&calls);
            self.call_routine();
        }
        self.write_tables();
        // Rows are read whole.
        last.next_multiple_of(self.slots(self.widest as u8))
    }

    fn land_all(&mut self, jumps: &[Jump]) {
        let here = self.encoder.here();
        jumps.iter().for_each(|&jump| self.encoder.land(jump, here));
    }

    /// The out-of-line code of a repair. Returns its call of the routine that saves all registers.
    fn repair_site(&mut self, site: &Cold) -> Jump {
        let here = self.encoder.here();
        site.jumps.iter().flatten().for_each(|&jump| self.encoder.land(jump, here));
        // The result's register is free once it is stored and the arguments in registers are, too.
        self.store(Place::Slot(0), site.to, site.width as u8);
        self.pass(&site.arguments[..site.op.row().arity], site.to);
        match (self.packed(), self.isa) {
            (false, _) => self.encoder.move_value(General::R11, 1),
            (true, Isa::Avx512) => self.encoder.mask_to_r11(),
            (true, Isa::Avx2) => {} // the test left the mask there
        }
        self.encoder.move_value(General::Rax, site.op as u32);
        let call = self.encoder.call();
        self.load(site.to, Place::Slot(0), site.width as u8);
        let back = self.encoder.jump();
        self.encoder.land(back, site.resume);
        call
    }

    /// Stores the arguments of a call to their slots, those in memory by way of a register that is free by then.
    pub(super) fn pass(&mut self, arguments: &[Source], free: u8) {
        let width = self.width as u8;
        for (i, source) in arguments.iter().enumerate() {
            if let Source::Register(register) = *source {
                self.store(self.call_slot(1 + i), register, width);
            }
        }
        for (i, source) in arguments.iter().enumerate() {
            if let Source::Memory(place) = *source {
                self.load(free, place, width);
                self.store(self.call_slot(1 + i), free, width);
            }
        }
    }

    /// A routine that calls an operator for so many lanes and keeps all vector registers, in slots from `first` on. Returns
    /// the number of slots.
    fn saving_routine(&mut self, first: u32, width: usize) -> u32 {
        let (widest, size) = (self.widest as u8, self.slots(self.widest as u8));
        let registers = self.registers();
        let slot = |register: u8| Place::Slot(first + size * u32::from(register));
        (0..registers).for_each(|register| self.store(slot(register), register, widest));
        self.widen(width);
        self.call_operator();
        (0..registers).for_each(|register| self.load(register, slot(register), widest));
        self.widen(width);
        if self.isa == Isa::Avx512 && self.packed() {
            self.encoder.r11_to_mask();
            self.encoder.test_mask(); // the next repair may rely on the flags
        }
        self.encoder.ret();
        first + size * u32::from(registers)
    }

    /// A routine that calls an operator.
    fn call_routine(&mut self) {
        self.call_operator();
        self.encoder.ret();
    }

    /// Calls the operator `eax` for the lanes `r11d`; the result and the arguments are in the first slots.
    fn call_operator(&mut self) {
        // Two return addresses and these: the stack is aligned to 16 bytes as the callee expects.
        SAVED.iter().for_each(|&register| self.encoder.push(register));
        self.encoder.move_register(General::Rdi, General::Rcx);
        self.encoder.add(General::Rdi, -self.bias(General::Rcx));
        self.encoder.move_register(General::Rsi, General::Rax);
        self.encoder.move_register(General::Rdx, General::R11);
        self.encoder.zero_upper();
        let function: extern "sysv64" fn(*mut f64, usize, usize) = match self.width {
            1 => operator_lanes::<1>,
            2 => operator_lanes::<2>,
            4 => operator_lanes::<4>,
            _ => operator_lanes::<8>,
        };
        self.encoder.move_wide(General::Rax, function as usize as u64);
        self.encoder.call_rax();
        if cfg!(test) {
            self.encoder.clear_rax(); // spoils the flags, as a callee may
        }
        SAVED.iter().rev().for_each(|&register| self.encoder.pop(register));
    }
}

/// Replaces the result (the first `W` values) in the lanes of the mask by the operator's value of the arguments
/// that follow it. Native code calls this.
extern "sysv64" fn operator_lanes<const W: usize>(frame: *mut f64, op: usize, mask: usize) {
    // SAFETY: native code passes its scratch memory, of which the first slots, `W` values each, are for this and
    // in use by nothing else; `run_scalar` and `run_lanes` ask their caller for valid scratch memory.
    let frame = unsafe { std::slice::from_raw_parts_mut(frame, CALL_VALUES * W) };
    let op = Op::ALL[op];
    let arity = op.row().arity;
    for lane in (0..W).filter(|lane| mask >> lane & 1 != 0) {
        let mut arguments = [0.0; 3];
        for (i, argument) in arguments[..arity].iter_mut().enumerate() {
            *argument = frame[(1 + i) * W + lane];
        }
        frame[lane] = call(op, &arguments[..arity]);
    }
    #[cfg(test)]
    super::tests::spoil_registers();
}

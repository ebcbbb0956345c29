//! What surrounds the loop body: entering and leaving, stepping to the next block, slow paths and calls.

use super::Writer;
use super::encode::{Condition, General, Jump};
use crate::instruction::call;
use crate::native::Isa;
use crate::native::target::{CALL_SLOTS, Place, Source, Target};
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

        let cold = std::mem::take(&mut self.cold);
        let mut repairs = Vec::with_capacity(cold.len());
        for site in &cold {
            repairs.push(self.repair_site(site));
        }
        let mut saved = 0;
        if !repairs.is_empty() {
            self.land_all(&repairs);
            saved = u32::from(self.registers());
            self.saving_routine(slots);
        }
        let calls = std::mem::take(&mut self.calls);
        if !calls.is_empty() {
            self.land_all(&calls);
            self.call_routine();
        }
        slots + saved
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
        self.store(Place::Slot(0), site.to);
        self.pass(&site.arguments[..site.op.row().arity], site.to);
        match (self.lanes, self.isa) {
            (false, _) => self.encoder.move_value(General::R11, 1),
            (true, Isa::Avx512) => self.encoder.mask_to_r11(),
            (true, Isa::Avx2) => {} // the test left the mask there
        }
        self.encoder.move_value(General::Rax, site.op as u32);
        let call = self.encoder.call();
        self.load(site.to, Place::Slot(0));
        let back = self.encoder.jump();
        self.encoder.land(back, site.resume);
        call
    }

    /// Stores the arguments of a call to their slots, those in memory by way of a register that is free by then.
    pub(super) fn pass(&mut self, arguments: &[Source], free: u8) {
        for (source, slot) in arguments.iter().zip(1..) {
            if let Source::Register(register) = *source {
                self.store(Place::Slot(slot), register);
            }
        }
        for (source, slot) in arguments.iter().zip(1..) {
            if let Source::Memory(place) = *source {
                self.load(free, place);
                self.store(Place::Slot(slot), free);
            }
        }
    }

    /// A routine that calls an operator and keeps all vector registers, in slots from `first` on.
    fn saving_routine(&mut self, first: u32) {
        let all = || (0..).map(Place::Slot).skip(first as usize).zip(0..);
        let count = usize::from(self.registers());
        all().take(count).for_each(|(slot, register)| self.store(slot, register));
        self.call_operator();
        all().take(count).for_each(|(slot, register)| self.load(register, slot));
        if self.isa == Isa::Avx512 && self.lanes {
            self.encoder.r11_to_mask();
            self.encoder.test_mask(); // the next repair may rely on the flags
        }
        self.encoder.ret();
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
    let frame = unsafe { std::slice::from_raw_parts_mut(frame, CALL_SLOTS as usize * W) };
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

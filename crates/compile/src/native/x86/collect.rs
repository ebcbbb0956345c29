//! Vectors from numbers that lie apart in memory.

use super::Writer;
use super::encode::{General, Length, Rm};
use super::forms;
use crate::native::target::Place;
use crate::instruction::Code;

impl Writer {
    /// One number of memory in each lane. Up to four lanes are loaded one by one, more are gathered.
    pub(super) fn collect_lanes(&mut self, to: u8, free: u8, lanes: &[Place]) {
        self.widen(lanes.len());
        self.written(Rm::Register(to));
        self.written(Rm::Register(free));
        match *lanes {
            [a, b] => self.two(to, a, b),
            [a, b, c, d] => {
                self.two(to, a, b);
                self.two(free, c, d);
                self.encoder.vector(forms::INSERT, Length::L256, to, to, Rm::Register(free));
                self.encoder.immediate(1);
            }
            _ => self.gather(to, free, lanes),
        }
    }

    fn two(&mut self, to: u8, low: Place, high: Place) {
        let [low, high] = [low, high].map(|place| Rm::Memory(self.number(place)));
        self.encoder.vector(forms::scalar(forms::LOAD), Length::L128, to, 0, low);
        self.encoder.vector(forms::LOAD_UPPER, Length::L128, to, to, high);
    }

    /// Gathers the lanes of each base register in turn.
    fn gather(&mut self, to: u8, free: u8, lanes: &[Place]) {
        // So that it waits for no old value of the register.
        self.encoder.vector(forms::binary(Code::Xor), Length::L128, to, to, Rm::Register(to));
        for base in [General::Rdi, General::Rsi, General::Rdx, General::Rcx] {
            let mut indices = [0; 8];
            let mut mask = 0;
            for (lane, &place) in lanes.iter().enumerate() {
                let (register, distance) = self.address(place);
                if register == base {
                    indices[lane] = distance as u32 / 8;
                    mask |= 1 << lane;
                }
            }
            if mask != 0 {
                let load = self.encoder.load_table(forms::LOAD_INTEGERS, Length::L256, free);
                self.tables.push((load, indices));
                self.encoder.move_value(General::R11, mask);
                self.encoder.r11_to_second_mask();
                let bias = -self.bias(base);
                self.encoder.gather(forms::GATHER, self.length, to, free, base, bias);
            }
        }
    }

    /// Writes the indices that gathers load, after the code.
    pub(super) fn write_tables(&mut self) {
        self.encoder.align(32);
        let mut places: rustc_hash::FxHashMap<[u32; 8], usize> = rustc_hash::FxHashMap::default();
        for (load, indices) in std::mem::take(&mut self.tables) {
            let encoder = &mut self.encoder;
            let place = *places.entry(indices).or_insert_with(|| {
                let here = encoder.here();
                encoder.bytes.extend(indices.iter().flat_map(|index| index.to_le_bytes()));
                here
            });
            self.encoder.land(load, place);
        }
    }
}

//! Vectors from numbers that lie apart in memory.

use super::Writer;
use super::encode::{General, Length, Memory, Rm};
use super::forms;
use super::frame::BLOCK;
use crate::instruction::Code;
use crate::native::target::Place;
use rustc_hash::FxHashMap;

impl Writer {
    /// One number of memory in each lane. Up to four lanes are loaded one by one; eight are permuted where they lie
    /// in two rows, or else gathered.
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
            _ => match self.rows(lanes) {
                Some(rows) => self.permute(to, free, lanes, rows),
                None => self.gather(to, free, lanes),
            },
        }
    }

    fn two(&mut self, to: u8, low: Place, high: Place) {
        let [low, high] = [low, high].map(|place| Rm::Memory(self.number(place)));
        self.encoder.vector(forms::scalar(forms::LOAD), Length::L128, to, 0, low);
        self.encoder.vector(forms::LOAD_UPPER, Length::L128, to, to, high);
    }

    /// One or two rows of eight numbers, by base register and distance, that hold all lanes and lie where there is memory.
    fn rows(&self, lanes: &[Place]) -> Option<(General, [i32; 2])> {
        const ROW: i32 = 64;
        let (base, _) = self.address(lanes[0]);
        let mut distances = [0; BLOCK];
        for (distance, &place) in distances.iter_mut().zip(lanes) {
            let (register, at) = self.address(place);
            if register != base {
                return None;
            }
            *distance = at;
        }
        let (first, last) = (distances.iter().min().copied()?, distances.iter().max().copied()?);
        let end = match lanes[0] {
            Place::Input(_) => self.inputs,
            Place::Pool(_) => self.pool,
            Place::Output(_) => return None,
            // Vectors lie in rows, and what was stored as a row is read as one.
            Place::Slot(_) => {
                let rows = [first, last].map(|distance| distance / ROW * ROW);
                let within = |d: &i32| rows.iter().any(|row| (*row..row + ROW).contains(d));
                return distances.iter().all(within).then_some((base, rows));
            }
        };
        let end = 8 * end as i32;
        let size = if last - first < ROW { ROW } else { 2 * ROW };
        let first = first.min(end - size);
        (first >= 0 && last - first < size).then_some((base, [first, first + size - ROW]))
    }

    /// Takes lanes out of one or two rows.
    fn permute(&mut self, to: u8, free: u8, lanes: &[Place], (base, rows): (General, [i32; 2])) {
        let index = |&place: &Place| {
            let (_, distance) = self.address(place);
            let second = !(rows[0]..rows[0] + 64).contains(&distance);
            (distance - rows[usize::from(second)]) as u32 / 8 + 8 * u32::from(second)
        };
        let mut table = [0; 16];
        for (entry, place) in table.chunks_exact_mut(2).zip(lanes) {
            entry[0] = index(place);
        }
        let memory =
            rows.map(|row| Memory { base, displacement: row - self.bias(base), size: 64, broadcast: false });
        if rows[0] == rows[1] {
            let load = self.encoder.load_table(forms::LOAD_INTEGERS, Length::L512, free);
            self.tables.push((load, table));
            self.encoder.evex(forms::PERMUTE, self.length, 0, to, free, Rm::Memory(memory[0]));
        } else {
            let load = self.encoder.load_table(forms::LOAD_INTEGERS, Length::L512, to);
            self.tables.push((load, table));
            self.encoder.evex(forms::LOAD, self.length, 0, free, 0, Rm::Memory(memory[0]));
            self.encoder.evex(forms::PERMUTE_TWO, self.length, 0, to, free, Rm::Memory(memory[1]));
        }
    }

    /// Gathers the lanes of each base register in turn.
    fn gather(&mut self, to: u8, free: u8, lanes: &[Place]) {
        // So that it waits for no old value of the register.
        self.encoder.vector(forms::binary(Code::Xor), Length::L128, to, to, Rm::Register(to));
        for base in [General::Rdi, General::Rsi, General::Rdx, General::Rcx] {
            let mut indices = [0; 16];
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

    /// Writes the tables that were loaded, after the code.
    pub(super) fn write_tables(&mut self) {
        if self.tables.is_empty() {
            return;
        }
        self.encoder.align(64);
        let mut places: FxHashMap<[u32; 16], usize> = FxHashMap::default();
        for (load, table) in std::mem::take(&mut self.tables) {
            let encoder = &mut self.encoder;
            let place = *places.entry(table).or_insert_with(|| {
                let here = encoder.here();
                encoder.bytes.extend(table.iter().flat_map(|entry| entry.to_le_bytes()));
                here
            });
            self.encoder.land(load, place);
        }
    }
}

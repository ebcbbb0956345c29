//! Nodes at a block of states: what follows from masses, weights, damping and forces.

use super::coupling::CouplingMemory;
use super::sum::{PER_BLOCK, SystemLumped};
use crate::dynamics::Row;
use crate::inverse::Failure;

/// Which way to go between velocities and momenta.
#[derive(Clone, Copy)]
pub(super) enum Way {
    /// To M x.
    There,
    /// To M⁻¹ x.
    Back,
}

/// Nodes at a block of states.
pub(super) struct At<'a> {
    pub(super) system: &'a SystemLumped,
    pub(super) width: usize,
    pub(super) numbers: &'a [f64],
    pub(super) forces: &'a [f64],
    /// The values of held coordinates.
    pub(super) places: &'a [f64],
    pub(super) q: &'a [f64],
    /// Momenta or velocities.
    pub(super) second: &'a [f64],
}

impl At<'_> {
    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.numbers[row * self.width..][..self.width]
    }

    pub(super) fn unit(&self, block: usize) -> &[f64] {
        self.row(PER_BLOCK * block)
    }

    pub(super) fn damping(&self, block: usize) -> &[f64] {
        self.row(PER_BLOCK * block + 1)
    }

    /// The acceleration of gravity, or its derivative by time; 0 where there is none.
    pub(super) fn gravity(&self, derivative: bool, lane: usize) -> [f64; 3] {
        let count = self.system.gravity;
        let first = PER_BLOCK * self.system.blocks.len() + if derivative { count } else { 0 };
        std::array::from_fn(|axis| if axis < count { self.row(first + axis)[lane] } else { 0.0 })
    }

    /// Sets a number for each coordinate that moves, of the mass, the momentum or velocity, gravity and damping.
    #[inline]
    pub(super) fn fill(&self, out: &mut [f64], value: impl Fn(f64, f64, f64, f64) -> f64) {
        let width = self.width;
        for (number, block) in self.system.blocks.iter().enumerate() {
            for lane in 0..width {
                let (unit, damping) = (self.unit(number)[lane], self.damping(number)[lane]);
                let gravity = self.gravity(false, lane);
                for c in &*block.moving {
                    let place = c.place as usize * width + lane;
                    out[place] = value(c.mass * unit, self.second[place], gravity[c.axis as usize], damping);
                }
            }
        }
    }

    /// Fills `out` with M x or M⁻¹ x, for nodes whose masses are coupled.
    pub(super) fn turn(
        &self,
        way: Way,
        x: &[f64],
        memory: &mut [CouplingMemory],
        out: &mut [f64],
    ) -> Result<(), (usize, Failure)> {
        let (width, mut result) = (self.width, Ok(()));
        for (number, (block, memory)) in self.system.blocks.iter().zip(memory).enumerate() {
            let Some(coupling) = &block.coupling else { continue };
            for lane in 0..width {
                let (unit, x) = (self.unit(number)[lane], |place: usize| x[place * width + lane]);
                let (values, factor) = match way {
                    Way::There => (Ok(memory.product(coupling, &block.moving, x)), unit),
                    Way::Back => (memory.solve(coupling, &block.moving, x), 1.0 / unit),
                };
                match values {
                    Ok(values) => block.moving.iter().zip(values).for_each(|(c, x)| {
                        out[c.place as usize * width + lane] = x * factor;
                    }),
                    Err(failure) => {
                        block.moving.iter().for_each(|c| out[c.place as usize * width + lane] = f64::NAN);
                        result = result.and(Err((lane, failure)));
                    }
                }
            }
        }
        result
    }

    /// Sets a number for each coordinate whose mass is coupled with others, of its mass, its place in the block, gravity and damping.
    pub(super) fn replace_each(&self, out: &mut [f64], value: impl Fn(f64, usize, f64, f64) -> f64) {
        let width = self.width;
        let coupled = self.system.blocks.iter().enumerate().filter(|(_, block)| block.coupling.is_some());
        for (number, block) in coupled {
            for lane in 0..width {
                let (unit, damping) = (self.unit(number)[lane], self.damping(number)[lane]);
                let gravity = self.gravity(false, lane);
                for c in &*block.moving {
                    let place = c.place as usize * width + lane;
                    out[place] = value(c.mass * unit, place, gravity[c.axis as usize], damping);
                }
            }
        }
    }

    pub(super) fn replace(&self, out: &mut [f64], value: impl Fn(usize) -> f64) {
        self.replace_each(out, |_, place, _, _| value(place));
    }

    /// The sum of products of momenta and velocities over a block.
    pub(super) fn dot(&self, number: usize, lane: usize, other: &[f64]) -> f64 {
        let moving = self.system.blocks[number].moving.iter();
        moving.map(|c| c.place as usize * self.width + lane).map(|i| self.second[i] * other[i]).sum()
    }

    /// Adds what follows from forces on coordinates that move, and their masses.
    pub(super) fn add_drives(&self, out: &mut [f64], value: impl Fn(f64, f64) -> f64 + Copy) {
        self.add_drives_of(false, out, value);
        self.add_drives_of(true, out, value);
    }

    /// The same of nodes whose masses are coupled, or of the others.
    pub(super) fn add_drives_of(&self, coupled: bool, out: &mut [f64], value: impl Fn(f64, f64) -> f64) {
        let is_asked = |block: usize| self.system.blocks[block].coupling.is_some() == coupled;
        for (driven, force) in self.system.driven.iter().zip(self.forces.chunks_exact(self.width)) {
            let place = driven.coordinate.place as usize;
            if place < self.system.degrees && is_asked(driven.block) {
                let row = out[place * self.width..][..self.width].iter_mut();
                for ((sum, force), unit) in row.zip(force).zip(self.unit(driven.block)) {
                    *sum += value(*force, driven.coordinate.mass * unit);
                }
            }
        }
    }

    /// The sum over coordinates of a block that move, of their masses and momenta or velocities.
    #[inline]
    pub(super) fn total(&self, number: usize, lane: usize, value: impl Fn(f64, f64) -> f64) -> f64 {
        let unit = self.unit(number)[lane];
        let moving = self.system.blocks[number].moving.iter();
        moving.map(|c| value(c.mass * unit, self.second[c.place as usize * self.width + lane])).sum()
    }

    /// The potential energy of a block in gravity, or its derivative by time.
    pub(super) fn weight(&self, number: usize, lane: usize, derivative: bool) -> f64 {
        let (unit, gravity) = (self.unit(number)[lane], self.gravity(derivative, lane));
        if gravity == [0.0; 3] {
            return 0.0;
        }
        let (block, n) = (&self.system.blocks[number], self.system.degrees);
        let moving = block.moving.iter().map(|c| (c, self.q[c.place as usize * self.width + lane]));
        let held = block.held.iter().map(|c| (c, self.places[(c.place as usize - n) * self.width + lane]));
        -moving.chain(held).map(|(c, x)| c.mass * unit * gravity[c.axis as usize] * x).sum::<f64>()
    }

    /// Adds energies and powers, at velocities.
    pub(super) fn add_balance(&self, momenta: &[f64], out: &mut [f64]) {
        let (width, shares) = (self.width, self.system.shares);
        let mut add = |row: usize, lane: usize, value: f64| out[row * width + lane] += value;
        let total = |row: Row| shares + row as usize;
        for (number, block) in self.system.blocks.iter().enumerate() {
            for lane in 0..width {
                let twice = match block.coupling {
                    Some(_) => self.dot(number, lane, momenta),
                    None => self.total(number, lane, |m, v| m * (v * v)),
                };
                let (kinetic, weight) = (0.5 * twice, self.weight(number, lane, false));
                let lost = self.damping(number)[lane] * twice;
                add(block.kinetic, lane, kinetic);
                block.weight.into_iter().for_each(|share| add(share, lane, weight));
                add(total(Row::Kinetic), lane, kinetic);
                add(total(Row::Potential), lane, weight);
                add(total(Row::Lagrangian), lane, kinetic - weight);
                add(total(Row::Energy), lane, kinetic + weight);
                add(total(Row::Dissipated), lane, lost);
                add(total(Row::Forces), lane, -lost);
                add(total(Row::Driven), lane, self.weight(number, lane, true));
            }
        }
        for (driven, force) in self.system.driven.iter().zip(self.forces.chunks_exact(width)) {
            let place = driven.coordinate.place as usize;
            if place < self.system.degrees {
                let speeds = &self.second[place * width..][..width];
                force.iter().zip(speeds).enumerate().for_each(|(lane, (force, v))| {
                    add(total(Row::Forces), lane, force * v);
                });
            }
        }
    }

    /// Sets all positions: those of nodes are coordinates.
    pub(super) fn fill_positions(&self, formula_positions: &[f64], out: &mut [f64]) {
        let (width, n) = (self.width, self.system.degrees);
        let all = n + self.system.held_count;
        for (row, &source) in out.chunks_exact_mut(width).zip(&*self.system.positions) {
            let (list, place) = match source as usize {
                place if place < n => (self.q, place),
                place if place < all => (self.places, place - n),
                place => (formula_positions, place - all),
            };
            row.copy_from_slice(&list[place * width..][..width]);
        }
    }

    /// Adds what holds nodes that do not move: it carries their weight, and bears the forces on them.
    pub(super) fn add_reactions(&self, out: &mut [f64]) {
        let (width, n) = (self.width, self.system.degrees);
        for (number, block) in self.system.blocks.iter().enumerate() {
            for lane in 0..width {
                let (unit, gravity) = (self.unit(number)[lane], self.gravity(false, lane));
                for c in &*block.held {
                    out[(c.place as usize - n) * width + lane] -= c.mass * unit * gravity[c.axis as usize];
                }
            }
        }
        for (driven, force) in self.system.driven.iter().zip(self.forces.chunks_exact(width)) {
            let place = driven.coordinate.place as usize;
            if place >= n {
                let row = out[(place - n) * width..][..width].iter_mut();
                row.zip(force).for_each(|(reaction, force)| *reaction -= force);
            }
        }
    }

    /// Adds what the inertia of nodes that move, and the damping of their motion, ask of held ones with which they share masses: M (a + c v).
    pub(super) fn add_shared_reactions(&self, accelerations: &[f64], out: &mut [f64]) {
        let (width, n) = (self.width, self.system.degrees);
        for (number, block) in self.system.blocks.iter().enumerate() {
            for &(held, moving, mass) in block.coupling.iter().flat_map(|coupling| coupling.to_held()) {
                let [held, moving] = [block.held[held as usize], block.moving[moving as usize]];
                for lane in 0..width {
                    let place = moving.place as usize * width + lane;
                    let rate = accelerations[place] + self.damping(number)[lane] * self.second[place];
                    out[(held.place as usize - n) * width + lane] += mass * self.unit(number)[lane] * rate;
                }
            }
        }
    }
}

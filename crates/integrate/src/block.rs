//! Blocks of states, and the arithmetic between evaluations.
//!
//! A block holds the states of one trajectory or of eight, component-major, lanes innermost: component i of lane j is number
//! i·W + j. One set of plain loops serves both widths, and each lane gets the bits it would get alone.

use crate::run::checkpoint::Kept;
use leastaction_compile::{Arithmetic, LANES, Lanes, Loops};

/// The states of 1 or [`LANES`] trajectories, with what rounding has left over.
///
/// Changes are added by compensated summation, so that rounding does not grow with the number of steps
/// (E. Hairer, C. Lubich and G. Wanner, *Geometric Numerical Integration*, 2006, section VIII.5).
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    values: Vec<f64>,
    carry: Vec<f64>,
    width: usize,
}

impl Block {
    /// A block of one state.
    #[must_use]
    pub fn one(state: &[f64]) -> Block {
        Block { values: state.to_vec(), carry: vec![0.0; state.len()], width: 1 }
    }

    /// A block of eight states of the same length; numbers that a shorter state lacks are NaN.
    #[must_use]
    pub fn lanes(states: [&[f64]; LANES]) -> Block {
        let dimension = states.iter().map(|s| s.len()).max().unwrap_or(0);
        let at = |i: usize| states.map(|s| s.get(i).copied().unwrap_or(f64::NAN));
        let values: Vec<f64> = (0..dimension).flat_map(at).collect();
        Block { carry: vec![0.0; values.len()], values, width: LANES }
    }

    /// Values in so many lanes.
    pub(crate) fn of(values: &[f64], width: usize) -> Block {
        Block { values: values.to_vec(), carry: vec![0.0; values.len()], width }
    }

    /// The number of lanes: 1 or 8.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The length of one state.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.values.len() / self.width
    }

    /// The states.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// The state in a lane.
    #[must_use]
    pub fn lane(&self, lane: usize) -> Vec<f64> {
        self.values.iter().skip(lane).step_by(self.width).copied().collect()
    }

    /// What rounding has left over: the states are `values` + `carry`.
    #[must_use]
    pub fn carry(&self) -> &[f64] {
        &self.carry
    }

    /// Adds a change, with compensation.
    #[inline(always)]
    pub fn add(&mut self, change: &[f64]) {
        for ((y, e), change) in self.values.iter_mut().zip(&mut self.carry).zip(change) {
            [[*y], [*e]] = compensated(&mut Lanes, [*y], [*e], [*change]);
        }
    }

    /// Adds a change in some lanes.
    #[inline(always)]
    pub fn add_in(&mut self, lanes: &[bool], change: &[f64]) {
        if lanes.iter().fold(true, |all, taken| all & taken) {
            return self.add(change);
        }
        let Some(taken) = lanes.first_chunk::<LANES>() else {
            assert_eq!(lanes.len(), 1, "a block has one lane, which was not chosen, or {LANES}");
            return;
        };
        let rows =
            self.values.as_chunks_mut::<LANES>().0.iter_mut().zip(self.carry.as_chunks_mut::<LANES>().0);
        for ((y, e), change) in rows.zip(change.as_chunks::<LANES>().0) {
            let [after, left] = compensated(&mut Lanes, *y, *e, *change);
            for j in 0..LANES {
                (y[j], e[j]) = if taken[j] { (after[j], left[j]) } else { (y[j], e[j]) };
            }
        }
    }

    /// The values after a change from `first` on, to the last bit: where the last stage of a step is also the first of the next.
    #[inline]
    pub fn after(&self, first: usize, change: &[f64], out: &mut [f64]) {
        let from = first * self.width;
        let rows = self.values[from..].iter().zip(&self.carry[from..]).zip(change);
        for (out, ((y, e), change)) in out.iter_mut().zip(rows) {
            [*out] = after(&mut Lanes, [*y], [*e], [*change]);
        }
    }

    /// Puts a state into a lane.
    pub fn set_lane(&mut self, lane: usize, state: &[f64]) {
        let places = (lane..self.values.len()).step_by(self.width);
        for (place, value) in places.zip(state) {
            (self.values[place], self.carry[place]) = (*value, 0.0);
        }
    }

    /// Takes over states, and what rounding has left of them.
    pub(crate) fn set(&mut self, values: &[f64], carry: &[f64]) {
        self.values.copy_from_slice(values);
        self.carry.copy_from_slice(carry);
    }

    /// All numbers, to be written down and read back.
    pub(crate) fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        visit(Kept::Numbers(&mut self.values));
        visit(Kept::Numbers(&mut self.carry));
    }

    /// The component and lane of a number that is infinite or NaN.
    #[inline]
    pub(crate) fn not_finite(&self) -> Option<(usize, usize)> {
        if all_finite(self.values.iter().copied()) {
            return None;
        }
        let place = self.values.iter().position(|y| !y.is_finite())?;
        Some((place / self.width, place % self.width))
    }
}

/// A state after a change.
#[inline(always)]
pub(crate) fn after<A: Arithmetic>(a: &mut A, y: A::Value, e: A::Value, change: A::Value) -> A::Value {
    let moved = a.add(e, change);
    a.add(y, moved)
}

/// A state after a change, and what rounding leaves of that.
#[inline(always)]
pub(crate) fn compensated<A: Arithmetic>(
    a: &mut A,
    y: A::Value,
    e: A::Value,
    change: A::Value,
) -> [A::Value; 2] {
    let moved = a.add(e, change);
    let to = a.add(y, moved);
    let back = a.sub(y, to);
    [to, a.add(moved, back)]
}

/// Whether all numbers are finite, looked at without branches.
#[inline]
pub(crate) fn all_finite(numbers: impl Iterator<Item = f64>) -> bool {
    numbers.fold(true, |all, y| all & y.is_finite())
}

/// Copies some lanes.
#[inline(always)]
pub(crate) fn copy_in(lanes: &[bool], from: &[f64], to: &mut [f64]) {
    if lanes.iter().fold(true, |all, chosen| all & chosen) {
        return to.copy_from_slice(from);
    }
    let Some(chosen) = lanes.first_chunk::<LANES>() else {
        assert_eq!(lanes.len(), 1, "a block has one lane, which was not chosen, or {LANES}");
        return;
    };
    for (to, from) in to.as_chunks_mut::<LANES>().0.iter_mut().zip(from.as_chunks::<LANES>().0) {
        (0..LANES).for_each(|j| to[j] = if chosen[j] { from[j] } else { to[j] });
    }
}

/// [`copy_in`] as loops.
pub(crate) struct CopyIn<'a> {
    pub(crate) lanes: &'a [bool],
    pub(crate) from: &'a [f64],
    pub(crate) to: &'a mut [f64],
}

impl Loops for CopyIn<'_> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        copy_in(self.lanes, self.from, self.to);
    }
}

/// out = y + c·h·rate in each lane.
#[inline]
pub(crate) fn shift(out: &mut [f64], y: &[f64], c: f64, h: &[f64], rate: &[f64]) {
    if let Some(h) = h.first_chunk::<LANES>() {
        let rows = out.as_chunks_mut::<LANES>().0.iter_mut();
        for ((out, y), rate) in rows.zip(y.as_chunks::<LANES>().0).zip(rate.as_chunks::<LANES>().0) {
            for j in 0..LANES {
                out[j] = y[j] + c * h[j] * rate[j];
            }
        }
    } else if let [h] = h {
        for ((out, y), rate) in out.iter_mut().zip(y).zip(rate) {
            *out = y + c * h * rate;
        }
    }
}

/// Multiplies each lane by its h.
#[inline]
pub(crate) fn scale(out: &mut [f64], h: &[f64]) {
    if let Some(h) = h.first_chunk::<LANES>() {
        for row in out.as_chunks_mut::<LANES>().0 {
            row.iter_mut().zip(h).for_each(|(out, h)| *out *= h);
        }
    } else if let [h] = h {
        out.iter_mut().for_each(|out| *out *= h);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compensation_keeps_what_plain_sums_lose() {
        let mut block = Block::one(&[1.0]);
        for _ in 0..10_000_000 {
            block.add(&[1e-17]);
        }
        assert_eq!(block.values(), [1.0 + 1e-10]);
    }

    #[test]
    fn what_comes_after_is_known_to_the_last_bit() {
        let (mut block, mut after) = (Block::one(&[0.1, 0.7]), [0.0]);
        for k in 1..1000 {
            let change = [1.0 / 3.0, 1e-3 / f64::from(k)];
            block.after(1, &change[1..], &mut after);
            block.add(&change);
            assert_eq!(block.values()[1], after[0]);
        }
    }

    #[test]
    fn lanes_stand_innermost() {
        let states: [[f64; 2]; LANES] = std::array::from_fn(|j| [j as f64, 10.0 + j as f64]);
        let mut block = Block::lanes(states.each_ref().map(|s| s.as_slice()));
        assert_eq!((block.width(), block.dimension(), block.values()[9]), (8, 2, 11.0));
        block.add(&[1.0; 2 * LANES]);
        assert_eq!(block.lane(3), [4.0, 14.0]);
        block.add_in(&std::array::from_fn::<bool, LANES, _>(|j| j == 3), &[1.0; 2 * LANES]);
        assert_eq!((block.lane(3), block.lane(4)), (vec![5.0, 15.0], vec![5.0, 15.0]));
        block.set_lane(4, &[0.5, 0.25]);
        assert_eq!((block.lane(3), block.lane(4)), (vec![5.0, 15.0], vec![0.5, 0.25]));
    }

    #[test]
    fn names_what_is_not_finite() {
        let mut states = [[1.0, 2.0, 3.0]; LANES];
        states[5][1] = f64::NEG_INFINITY;
        assert_eq!(Block::lanes(states.each_ref().map(|s| s.as_slice())).not_finite(), Some((1, 5)));
        assert_eq!(Block::one(&[1.0, f64::MAX]).not_finite(), None);
    }

    #[test]
    fn both_widths_do_the_same_arithmetic() {
        let (y, k, h) = ([0.1, 0.7], [1.3, -2.9], [0.3, 0.03, 1.7, 0.5, 0.9, 1e-3, -0.1, 2.0]);
        let wide = |x: [f64; 2]| [[x[0]; LANES], [x[1]; LANES]].concat();
        let (mut shifted, mut scaled) = ([0.0; 16], wide(k));
        shift(&mut shifted, &wide(y), 0.7, &h, &wide(k));
        scale(&mut scaled, &h);
        for lane in 0..LANES {
            let (mut one, mut other) = ([0.0; 2], k);
            shift(&mut one, &y, 0.7, &h[lane..=lane], &k);
            scale(&mut other, &h[lane..=lane]);
            assert_eq!([shifted[lane], shifted[8 + lane]], one);
            assert_eq!([scaled[lane], scaled[8 + lane]], other);
        }
    }
}

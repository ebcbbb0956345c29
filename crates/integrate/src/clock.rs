//! The clock of a run: how long the next step is, and where a step leads in time.
//!
//! All of it is stated once, for numbers and for kernels: a lane has the same bits either way.

use leastaction_compile::{Arithmetic, Test};

/// Where a run is: in each lane, or in a kernel.
#[derive(Clone, Copy)]
pub(crate) struct Clock<V> {
    pub(crate) t: V,
    /// What rounding left of the time.
    pub(crate) late: V,
    /// The step to try next.
    pub(crate) next: V,
    /// What the controller remembers.
    pub(crate) before: V,
    /// Steps that were tried, and taken.
    pub(crate) tried: V,
    pub(crate) accepted: V,
    /// The natural sizes of coordinates and momenta.
    pub(crate) natural: [V; 2],
    /// How large momenta count at least, for a coordinate of 1.
    pub(crate) rough: V,
}

/// A step this short, relative to the time, no longer moves the time.
const SHORTEST: f64 = 4.0 * f64::EPSILON;

/// What is left to go: nothing at the end.
#[inline(always)]
pub(crate) fn left<A: Arithmetic>(a: &mut A, t: A::Value, late: A::Value, end: A::Value) -> A::Value {
    let ahead = a.sub(end, t);
    let ahead = a.sub(ahead, late);
    a.select(Test::Equal, t, end, 0.0, ahead)
}

/// The step to try, such that none much shorter remains for the end.
#[inline(always)]
pub(crate) fn fit<A: Arithmetic>(a: &mut A, left: A::Value, next: A::Value, longest: A::Value) -> A::Value {
    let size = a.abs(next);
    let size = a.min(size, longest);
    let wished = a.copy_sign(size, next);
    let (far, half, twice) = (a.abs(left), a.mul(0.5, left), a.mul(2.0, size));
    let part = a.select(Test::Less, size, far, half, left);
    a.select(Test::Less, twice, far, wished, part)
}

/// The longest step that does not move the time.
#[inline(always)]
pub(crate) fn shortest<A: Arithmetic>(a: &mut A, t: A::Value) -> A::Value {
    let time = a.abs(t);
    a.mul(SHORTEST, time)
}

/// The time to which a step leads, and what rounding leaves of that.
#[inline(always)]
pub(crate) fn reach<A: Arithmetic>(
    a: &mut A,
    [t, late]: [A::Value; 2],
    h: A::Value,
    left: A::Value,
    end: A::Value,
) -> [A::Value; 2] {
    let (length, far, by) = (a.abs(h), a.abs(left), a.add(late, h));
    let to = a.add(t, by);
    let to = a.select(Test::Less, length, far, to, end);
    let moved = a.sub(to, t);
    let lost = a.sub(by, moved);
    [to, a.select(Test::Equal, to, end, 0.0, lost)]
}

/// 0; or NaN if one of these is not finite.
#[inline(always)]
pub(crate) fn spoiled<A: Arithmetic>(a: &mut A, values: &[A::Value]) -> A::Value {
    let mut nothing = a.constant(0.0);
    for &value in values {
        nothing = a.mul_add(0.0, value, nothing);
    }
    nothing
}

/// The first lanes of all.
#[inline(always)]
pub(crate) fn first<const W: usize>(lanes: &[f64]) -> [f64; W] {
    let mut some = [0.0; W];
    some.copy_from_slice(&lanes[..W]);
    some
}

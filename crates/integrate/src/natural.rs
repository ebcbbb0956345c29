//! Natural sizes: how large coordinates and momenta have been lately, which errors are measured by where they pass through zero.
//!
//! An error is tolerated relative to its component. Where all components of a kind come close to zero together, as momenta do where a pendulum turns,
//! or rest there, as a mass before it is pushed, that asks for too much: no physicist wants to know a momentum of 1e-9 to ten digits if it was 1 a
//! moment ago. So a run remembers how large each kind has been. It forgets that over a part of the run: what has died away is small, and is
//! wanted relative to what is left. A range of all the past would be simpler, and lose the digits of whatever decays.
//!
//! But where coordinates come to rest far from 0, their rounding pushes: momenta that have died away further than that are noise, and their errors no longer fall with the step.
//! So momenta are never taken to be smaller than what roundings of coordinates as large as these make of them. How much that is for a coordinate of 1 is looked up
//! now and then.
//!
//! The sizes are part of the memory of a run, and their text stands once, for numbers and for kernels.

use crate::step::{Interval, Motion};
use leastaction_compile::{Arithmetic, LANES, Test};

/// The natural sizes of coordinates and of momenta, in each lane.
pub(crate) type NaturalSizes = [[f64; LANES]; 2];

/// Natural sizes are forgotten, but for 1/e, over this part of the run.
const FADING: f64 = 0.02;
/// What is zero at the start is at least this part of what it would come to if its rate along the run acted all the time: small, because nothing is known of it;
/// and large enough that the rounding of times is no error.
const FORESEEN: f64 = 1e-9;
/// So often such rates are looked up along the run.
const LOOKS: u32 = 16;

/// Momenta count as being so large that the error that is tolerated of them is so many times what roundings of coordinates make of them in a step.
const ROUNDINGS: f64 = 64.0;
/// So far coordinates are moved to see what their roundings do, relative to themselves.
const APART: f64 = 1e-6;

/// How fast natural sizes are forgotten in a run of this length.
pub(crate) fn fading(start: f64, end: f64) -> f64 {
    1.0 / (FADING * (end - start).abs()).max(f64::MIN_POSITIVE)
}

/// The coordinates and the momenta among the components of a state.
pub(crate) fn kinds(components: usize) -> [std::ops::Range<usize>; 2] {
    let half = components.div_ceil(2);
    [0..half, half..components]
}

/// The larger size of a component before and after a step.
#[inline(always)]
pub(crate) fn size<A: Arithmetic>(a: &mut A, before: A::Value, change: A::Value) -> A::Value {
    let after = a.add(before, change);
    let (before, after) = (a.abs(before), a.abs(after));
    a.max(before, after)
}

/// The largest size of each kind before and after a step.
#[inline(always)]
pub(crate) fn sizes<A: Arithmetic>(a: &mut A, before: &[A::Value], change: &[A::Value]) -> [A::Value; 2] {
    kinds(before.len()).map(|kind| {
        let mut largest = a.constant(0.0);
        for i in kind {
            let size = size(a, before[i], change[i]);
            largest = a.max(size, largest);
        }
        largest
    })
}

/// The natural sizes after a step that was tried, given the sizes before and after it; `taken` is negative if it is taken.
#[inline(always)]
pub(crate) fn follow<A: Arithmetic>(
    a: &mut A,
    natural: [A::Value; 2],
    sizes: [A::Value; 2],
    [taken, h, fading, rough]: [A::Value; 4],
) -> [A::Value; 2] {
    let length = a.abs(h);
    let faded = a.mul_add(length, fading, 1.0);
    std::array::from_fn(|kind| {
        let remembered = a.div(natural[kind], faded);
        let lately = a.max(remembered, sizes[kind]);
        let lately = if kind == 0 {
            lately
        } else {
            let noise = a.mul(rough, sizes[0]);
            a.max(lately, noise)
        };
        let lately = a.select(Test::Equal, sizes[kind], 0.0, natural[kind], lately);
        a.select_sign(taken, lately, natural[kind])
    })
}

/// Looks along the run for how large that will be which is zero in some lanes: by its rates at the states of the start, at later times. Momenta that come of that
/// move coordinates. What cannot be evaluated says nothing. What friction holds shows what pulls it only where nothing holds it: on no fixed branches.
pub(crate) fn foresee(
    motion: &mut Motion<'_>,
    (t, y): (&[f64], &[f64]),
    span: f64,
    lanes: &[bool],
    [rates, at]: [&mut Vec<f64>; 2],
) {
    let (width, steps) = (t.len(), [span; LANES]);
    let interval = Interval { t, h: &steps[..width] };
    let unknown = motion
        .natural()
        .map(|sizes| std::array::from_fn::<bool, LANES, _>(|j| j < width && lanes[j] && sizes[j] == 0.0));
    if !unknown.as_flattened().contains(&true) {
        return;
    }
    let mut seen = [[0.0_f64; LANES]; 2];
    let mut look = |motion: &mut Motion<'_>, part: f64, y: &[f64], seen: &mut NaturalSizes| {
        // An error is about one lane, and the others have their rates all the same.
        rates.fill(f64::NAN);
        let _ = motion.rates(interval, part, y, rates);
        let mut found = largest(rates, width);
        if !motion.plain().system().switches().is_empty() {
            let times: [f64; LANES] =
                std::array::from_fn(|j| if j < width { t[j] + part * span } else { 0.0 });
            rates.fill(f64::NAN);
            let _ = motion.plain().rates(&times[..width], y, rates);
            let free = largest(rates, width);
            found
                .as_flattened_mut()
                .iter_mut()
                .zip(free.as_flattened())
                .for_each(|(found, free)| *found = found.max(*free));
        }
        for (seen, found) in seen.iter_mut().zip(found) {
            let found = found.map(|rate| if rate.is_finite() { FORESEEN * rate * span.abs() } else { 0.0 });
            seen.iter_mut().zip(found).for_each(|(seen, found)| *seen = seen.max(found));
        }
    };
    for k in 1..=LOOKS {
        look(motion, f64::from(k) / f64::from(LOOKS), y, &mut seen);
    }
    // Coordinates, by momenta that the rates would come to.
    at.copy_from_slice(y);
    let [_, momenta] = kinds(y.len() / width);
    for i in momenta {
        at[i * width..][..width].iter_mut().zip(&seen[1]).for_each(|(p, seen)| *p += seen / FORESEEN);
    }
    let mut moved = [[0.0; LANES]; 2];
    look(motion, 0.0, at, &mut moved);
    for j in 0..LANES {
        seen[0][j] = seen[0][j].max(moved[0][j]);
    }
    for (kind, natural) in motion.natural_mut().iter_mut().enumerate() {
        for j in (0..LANES).filter(|&j| unknown[kind][j]) {
            natural[j] = seen[kind][j];
        }
    }
}

/// How large momenta count at least in a lane, for a coordinate of 1, if steps are so long and the tolerance is relative: by what coordinates that are moved change of the rates. Nothing,
/// where nothing is known.
pub(crate) fn rough(
    motion: &mut Motion<'_>,
    (t, y): (&[f64], &[f64]),
    (lane, h, relative): (usize, f64, f64),
    [rates, at, moved]: [&mut Vec<f64>; 3],
) -> f64 {
    let (width, largest) = (t.len(), largest(y, t.len())[0][lane]);
    let [coordinates, _] = kinds(y.len() / width);
    at.copy_from_slice(y);
    let moving = at[..coordinates.len() * width].iter_mut().enumerate();
    // To both sides by turns: what cancels where all go the same way, as in a chain that is moved as a whole, does not then.
    moving.for_each(|(i, q)| *q *= 1.0 + if (i / width).is_multiple_of(2) { APART } else { -APART });
    let dynamics = motion.dynamics();
    if dynamics.rates(t, y, rates).is_err() || dynamics.rates(t, at, moved).is_err() {
        return 0.0;
    }
    moved.iter_mut().zip(&**rates).for_each(|(moved, rate)| *moved -= rate);
    let push = self::largest(moved, width)[1][lane] / APART;
    let rough = ROUNDINGS * f64::EPSILON * push * h.abs() / (relative * largest);
    if rough.is_finite() { rough } else { 0.0 }
}

/// The largest coordinate and momentum in each lane, or rates of these.
pub(crate) fn largest(rows: &[f64], width: usize) -> NaturalSizes {
    let mut sizes = [[0.0_f64; LANES]; 2];
    for (kind, sizes) in kinds(rows.len() / width).into_iter().zip(&mut sizes) {
        for i in kind {
            let row = &rows[i * width..][..width];
            sizes.iter_mut().zip(row).for_each(|(size, y)| *size = size.max(y.abs()));
        }
    }
    sizes
}

/// What momenta come to that are still small, if the motion goes on as it begins: with coordinates q and accelerations q̈, they are pushed for a time
/// of √(q/q̈). Where things move so fast already that they come further by then, momenta have shown their size.
pub(crate) fn momentum(coordinate: f64, speed: f64, acceleration: f64, push: f64) -> f64 {
    let time = (coordinate / acceleration).sqrt();
    if time.is_finite() && speed * time < coordinate { push * time } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leastaction_compile::Lanes;

    #[test]
    fn sizes_are_remembered_and_forgotten() {
        let fading = fading(0.0, 100.0);
        assert!((fading - 0.5).abs() < 1e-15);
        let follow = |natural: f64, size: f64, taken: f64, h: f64| {
            follow(&mut Lanes, [[natural], [0.0]], [[size], [0.0]], [[taken], [h], [fading], [0.0]])[0][0]
        };
        assert_eq!(follow(1.0, 3.0, -1.0, 0.1), 3.0);
        assert!((follow(1.0, 0.5, -1.0, 0.1) - 1.0 / 1.05).abs() < 1e-15);
        assert_eq!((follow(1.0, 0.0, -1.0, 0.1), follow(0.0, 0.5, -1.0, 0.1)), (1.0, 0.5));
        // A step that is not taken says nothing.
        assert_eq!(follow(1.0, 3.0, 1.0, 0.1), 1.0);
        // Momenta are no smaller than what roundings of coordinates make of them.
        let rough =
            super::follow(&mut Lanes, [[1.0], [1e-9]], [[2.0], [1e-12]], [[-1.0], [0.1], [fading], [1e-6]]);
        assert_eq!(rough[1], [2e-6]);
    }

    #[test]
    fn momenta_are_foreseen() {
        // A mass of 2 on a spring of 8, a distance 3 away from rest, comes to 2·3·√(8/2).
        assert!((momentum(3.0, 0.0, 12.0, 24.0) - 12.0).abs() < 1e-15);
        assert_eq!(momentum(3.0, 7.0, 12.0, 24.0), 0.0);
        assert_eq!(
            [[0.0; 4], [1.0, 0.0, 0.0, 7.0], [0.0, 0.0, 1.0, 1.0]].map(|[q, v, a, f]| momentum(q, v, a, f)),
            [0.0; 3]
        );
    }
}

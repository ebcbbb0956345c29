//! The controller: step sizes from error estimates, stated once for numbers and for kernels.

use leastaction_compile::{Arithmetic, LANES, Test};

/// Step sizes from error estimates, by proportional and integral control of their logarithms
/// (K. Gustafsson, ACM Trans. Math. Softw. 17 (1991) 533, doi:10.1145/210232.210242).
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    order: f64,
    /// Whether the method is implicit: what it has factored serves while its step stays.
    implicit: bool,
    /// The logarithm of the ratio of the last step that was taken, which is not positive; 1 if the last try was not.
    before: [f64; LANES],
}

/// What becomes of a step that was tried.
pub(crate) struct Judged<V> {
    /// The step to try next, and what to remember.
    pub(crate) next: V,
    pub(crate) before: V,
}

/// What is remembered of a step that was not taken, in place of the size of its error.
pub(crate) const REJECTED: f64 = 1.0;
const SAFETY: f64 = 0.9;
const LEAST: f64 = 0.1;
const MOST: f64 = 5.0;
/// A ratio below this says nothing about the trend: the logarithm of 1e-4.
const TINY: f64 = -13.28771237954945;
/// No ratio counts as larger, and a NaN counts as this; or as smaller than one over it.
const HUGE: f64 = 1e100;
/// Implicit methods keep their step where it could grow by less than this.
const KEPT: f64 = 1.2;
/// An estimate smaller than this, relative to the tolerance, is no reason for a longer step.
const GROUNDLESS: f64 = 1e-4;

/// Negative if a step is taken, else positive. A lane whose step is 0 rests.
#[inline(always)]
pub(crate) fn taken<A: Arithmetic>(a: &mut A, h: A::Value, ratio: A::Value) -> A::Value {
    let tested = a.select(Test::Equal, h, 0.0, 2.0, ratio);
    a.select(Test::LessEqual, tested, 1.0, -1.0, 1.0)
}

impl Controller {
    pub(crate) fn new(order: u32, implicit: bool) -> Controller {
        Controller { order: f64::from(order.max(1)), implicit, before: [0.0; LANES] }
    }

    /// What to multiply a step with, given the ratio of its error to the tolerance, and what to remember. A ratio above 1 asks for another try.
    #[inline(always)]
    fn factor<A: Arithmetic>(&self, a: &mut A, ratio: A::Value, before: A::Value) -> [A::Value; 2] {
        let known = a.min(ratio, HUGE);
        let known = a.max(known, 1.0 / HUGE);
        let size = log2(a, known);
        let trend = a.min(before, 0.0);
        let (past, present) = (a.mul(0.4, trend), a.mul(0.7, size));
        let (both, turned) = (a.sub(past, present), a.neg(size));
        let power = a.select(Test::LessEqual, ratio, 1.0, both, turned);
        let power = a.mul(1.0 / self.order, power);
        let wished = exp2(a, power);
        let wished = a.mul(SAFETY, wished);
        let wished = a.max(wished, LEAST);
        let most = a.select(Test::Less, 0.0, before, 1.0, MOST);
        let bound = a.select(Test::LessEqual, ratio, 1.0, most, 0.9);
        let after = a.max(size, TINY);
        let after = a.min(after, 0.0);
        [a.min(wished, bound), a.select(Test::LessEqual, ratio, 1.0, after, REJECTED)]
    }

    /// What becomes of a step that was tried, with its error as a multiple of what is tolerated. Nothing changes where the step is 0. No step
    /// grows beyond `leap` for no reason.
    #[inline(always)]
    pub(crate) fn judge<A: Arithmetic>(
        &self,
        a: &mut A,
        h: A::Value,
        ratio: A::Value,
        [next, before]: [A::Value; 2],
        leap: A::Value,
    ) -> Judged<A::Value> {
        let [factor, after] = self.factor(a, ratio, before);
        let longer = a.mul(h, factor);
        let wished = if self.implicit {
            let kept = a.select(Test::LessEqual, factor, KEPT, h, longer);
            a.select(Test::LessEqual, 1.0, factor, kept, longer)
        } else {
            longer
        };
        let (length, wished_length) = (a.abs(h), a.abs(wished));
        let longest = a.max(length, leap);
        let longest = a.copy_sign(longest, h);
        let bounded = a.select(Test::Less, leap, wished_length, longest, wished);
        let wished = a.select(Test::Less, ratio, GROUNDLESS, bounded, wished);
        Judged {
            next: a.select(Test::Equal, h, 0.0, next, wished),
            before: a.select(Test::Equal, h, 0.0, before, after),
        }
    }

    /// What it remembers.
    pub(crate) fn before(&mut self) -> &mut [f64; LANES] {
        &mut self.before
    }
}

/// log₂ on [1, 2], interpolated at Chebyshev points.
const LOGARITHM: [f64; 6] = [
    -2.7879262073031468,
    5.047855413438107,
    -3.489878550680221,
    1.5894742949724239,
    -0.402513393548008,
    0.043004957791727826,
];
/// 2ˣ on [−½, ½], interpolated at Chebyshev points.
const POWER: [f64; 5] =
    [0.9999999999999997, 0.6931210452034274, 0.24022349038021354, 0.05592197584225338, 0.009666368515338686];
/// An integer in the last bits of 2⁵² is that much more than 2⁵².
const TWO_52: u64 = 0x4330_0000_0000_0000;
/// The bits of a fraction.
const FRACTION: u64 = 0x000f_ffff_ffff_ffff;
/// A number that is added to this is rounded to an integer in its last bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// The logarithm of a positive normal number, to 2e-5: as good as any for a step, the same everywhere, and without branches.
#[inline(always)]
fn log2<A: Arithmetic>(a: &mut A, x: A::Value) -> A::Value {
    let bits = a.shift_right(x, 52);
    let exponent = a.or(f64::from_bits(TWO_52), bits);
    let exponent = a.sub(exponent, f64::from_bits(TWO_52) + 1023.0);
    let m = a.and(x, f64::from_bits(FRACTION));
    let m = a.or(1.0, m);
    let square = a.mul(m, m);
    let low = line(a, LOGARITHM[0], LOGARITHM[1], m);
    let middle = line(a, LOGARITHM[2], LOGARITHM[3], m);
    let high = line(a, LOGARITHM[4], LOGARITHM[5], m);
    let high = a.mul(square, high);
    let high = a.add(middle, high);
    let high = a.mul(square, high);
    let sum = a.add(low, high);
    a.add(exponent, sum)
}

/// 2ˣ to 4e-6; beyond 2^±64 it stays there.
#[inline(always)]
fn exp2<A: Arithmetic>(a: &mut A, x: A::Value) -> A::Value {
    let x = a.max(x, -64.0);
    let x = a.min(x, 64.0);
    let rounded = a.add(x, ROUNDER);
    let whole = a.sub(rounded, ROUNDER);
    let r = a.sub(x, whole);
    let square = a.mul(r, r);
    let (low, high) = (line(a, POWER[0], POWER[1], r), line(a, POWER[2], POWER[3], r));
    let last = a.mul(square, POWER[4]);
    let high = a.add(high, last);
    let high = a.mul(square, high);
    let power = a.add(low, high);
    let exponent = a.shift_left(rounded, 52);
    a.add_int(power, exponent)
}

/// c + d·x.
#[inline(always)]
fn line<A: Arithmetic>(a: &mut A, c: f64, d: f64, x: A::Value) -> A::Value {
    let product = a.mul(d, x);
    a.add(c, product)
}

#[cfg(test)]
mod tests {
    use super::*;
    use leastaction_compile::Lanes;

    #[test]
    fn steps_grow_and_shrink_within_bounds() {
        let (control, mut before) = (Controller::new(5, false), [0.0]);
        let mut factor = |ratio: f64| {
            let [factor, after] = control.factor(&mut Lanes, [ratio], before);
            before = after;
            factor[0]
        };
        assert_eq!(factor(0.0), 5.0);
        assert!(factor(1.0) < 1.0);
        assert_eq!(factor(f64::NAN), 0.1);
        assert_eq!(factor(1e300), 0.1);
        assert_eq!(factor(f64::INFINITY), 0.1);
        assert!(factor(1e-10) <= 1.0, "no growth after a step that was too long");
        assert_eq!(factor(1e-10), 5.0);
        // 0.9·1.5^(−1/5) for a step that was too long.
        assert!((factor(1.5) - 0.9 * 1.5f64.powf(-0.2)).abs() < 1e-4);
    }

    #[test]
    fn resting_lanes_remember() {
        let control = Controller::new(9, false);
        let judged = control.judge(&mut Lanes, [1.0, 0.0], [0.25; 2], [[0.5; 2], [-3.0; 2]], [1e9; 2]);
        assert_eq!((judged.next[1], judged.before[1]), (0.5, -3.0));
        assert!((judged.before[0] + 2.0).abs() < 1e-4);
        assert_eq!(taken(&mut Lanes, [1.0, 0.0, 1.0], [0.25, 0.25, 1.5]), [-1.0, 1.0, 1.0]);
    }

    #[test]
    fn implicit_steps_stay_where_they_would_hardly_grow() {
        let next = |implicit| {
            let control = Controller::new(5, implicit);
            control.judge(&mut Lanes, [1.0], [0.4], [[0.0]; 2], [1e9]).next[0]
        };
        assert!(next(true) == 1.0 && next(false) > 1.0 && next(false) < 1.2);
    }

    #[test]
    fn logarithms_and_powers_are_good_enough() {
        let (log2, exp2) = (|x: f64| log2(&mut Lanes, [x])[0], |x: f64| exp2(&mut Lanes, [x])[0]);
        let mut x = 1e-100;
        while x < 1e100 {
            assert!((log2(x) - x.log2()).abs() < 2e-5, "{x}");
            x *= 1.0173;
        }
        for i in -6300..6300 {
            let x = 0.01 * f64::from(i);
            assert!((exp2(x) / x.exp2() - 1.0).abs() < 4e-6, "{x}");
        }
        assert_eq!((exp2(1e9), exp2(-1e9)), (exp2(64.0), exp2(-64.0)));
    }
}

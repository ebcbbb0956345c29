//! The pace of a run: a step, or a tolerance or a density from which steps are found.

use crate::compiled_step::StepBuilder;
use crate::error::{RunError, number};
use crate::run::density::Density;
use crate::step::{Interval, Motion, StepError};
use leastaction_compile::{LANES, Operand, Test};
use std::fmt;

/// How far a method goes at a time.
#[derive(Clone, Debug, PartialEq)]
pub enum Pace {
    /// Steps of one length. Negative ones lead back in time.
    Step(f64),
    /// Steps as long as a tolerance allows.
    Tolerance(Tolerance),
    /// Steps that follow the motion, and keep time reversal.
    Density(Density),
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pace::Step(step) => write!(f, "steps of {}", number(step)),
            Pace::Tolerance(Tolerance { relative, absolute: 0.0 }) => {
                write!(f, "a tolerance of {}", number(relative))
            }
            Pace::Tolerance(Tolerance { relative, absolute }) => {
                write!(f, "a tolerance of {} relative and {} absolute", number(relative), number(absolute))
            }
            Pace::Density(density) => density.fmt(f),
        }
    }
}

impl From<f64> for Pace {
    fn from(step: f64) -> Pace {
        Pace::Step(step)
    }
}

impl From<Tolerance> for Pace {
    fn from(tolerance: Tolerance) -> Pace {
        Pace::Tolerance(tolerance)
    }
}

impl From<Density> for Pace {
    fn from(density: Density) -> Pace {
        Pace::Density(density)
    }
}

/// The error that is tolerated in a step, component by component: `absolute` + `relative`·|y|.
///
/// |y| is the larger size of the component before and after the step. Where it is less than a hundredth of the largest coordinate,
/// or momentum, a hundredth of that is taken: so a component may pass through zero, and tolerances need no units. What rounding alone
/// makes of a step is always tolerated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Relative to the size of the state.
    pub relative: f64,
    /// In the units of the state.
    pub absolute: f64,
}

/// A component smaller than this, relative to the largest of its kind, is measured by that one.
const SMALL: f64 = 0.01;
/// Less than this, relatively, is not asked for: rounding makes as much of any step, and no step would be short enough.
const FINEST: f64 = f64::EPSILON / 4.0;

impl Tolerance {
    /// A relative tolerance.
    #[must_use]
    pub fn relative(relative: f64) -> Tolerance {
        Tolerance { relative, absolute: 0.0 }
    }

    /// Errors as multiples of what is tolerated, the largest in each lane; NaN if one is.
    pub fn ratios(&self, errors: &[f64], before: &[f64], change: &[f64], ratios: &mut [f64]) {
        match ratios.len() {
            1 => self.ratios_in::<1>(errors, before, change, ratios),
            _ => self.ratios_in::<LANES>(errors, before, change, ratios),
        }
    }

    fn ratios_in<const W: usize>(&self, errors: &[f64], before: &[f64], change: &[f64], ratios: &mut [f64]) {
        let (before, change) = (before.as_chunks::<W>().0, change.as_chunks::<W>().0);
        let (errors, half) = (errors.as_chunks::<W>().0, before.len().div_ceil(2));
        let size = |i: usize, j: usize| larger(before[i][j].abs(), (before[i][j] + change[i][j]).abs());
        let (mut worst, mut sum) = ([0.0; W], [0.0; W]);
        for part in [0..half, half..before.len()] {
            let mut largest = [0.0; W];
            for i in part.clone() {
                (0..W).for_each(|j| largest[j] = larger(size(i, j), largest[j]));
            }
            for i in part {
                for j in 0..W {
                    let size = larger(size(i, j), SMALL * largest[j]);
                    let scale = larger(self.absolute + self.relative * size, FINEST * size);
                    let multiple = errors[i][j].abs() / larger(scale, f64::MIN_POSITIVE);
                    worst[j] = larger(multiple, worst[j]);
                    sum[j] += multiple;
                }
            }
        }
        // What is larger than a NaN is not known: a sum keeps it.
        (0..W).for_each(|j| ratios[j] = worst[j] + 0.0 * sum[j]);
    }

    /// The same in a kernel, for one lane; the tolerance is among its inputs.
    pub(crate) fn write_ratio(
        builder: &mut StepBuilder,
        [relative, absolute]: [Operand; 2],
        errors: &[Operand],
        before: &[Operand],
        change: &[Operand],
    ) -> Operand {
        let half = before.len().div_ceil(2);
        let [zero, small, finest, least] = [0.0, SMALL, FINEST, f64::MIN_POSITIVE].map(|x| builder.number(x));
        let (mut worst, mut sum) = (zero, zero);
        for part in [0..half, half..before.len()] {
            let mut sizes = Vec::with_capacity(half);
            let mut largest = zero;
            for i in part.clone() {
                let after = builder.add(before[i], change[i]);
                let (one, other) = (builder.abs(before[i]), builder.abs(after));
                sizes.push(builder.max(one, other));
                largest = builder.max(sizes[i - part.start], largest);
            }
            let floor = builder.mul(small, largest);
            for (i, size) in part.zip(sizes) {
                let size = builder.max(size, floor);
                let (wished, finest) = (builder.mul(relative, size), builder.mul(finest, size));
                let wished = builder.add(absolute, wished);
                let scale = builder.max(wished, finest);
                let (error, scale) = (builder.abs(errors[i]), builder.max(scale, least));
                let multiple = builder.div(error, scale);
                worst = builder.max(multiple, worst);
                sum = builder.add(sum, multiple);
            }
        }
        let nothing = builder.mul(zero, sum);
        builder.add(worst, nothing)
    }

    pub(crate) fn check(&self) -> Result<(), RunError> {
        let good = |x: f64| x.is_finite() && x >= 0.0;
        let Tolerance { relative, absolute } = *self;
        if !(good(relative) && good(absolute)) || relative + absolute == 0.0 || relative >= 1.0 {
            return Err(RunError::BadTolerance { relative, absolute });
        }
        Ok(())
    }
}

/// The larger number, and the second if that is not known: a machine's own maximum.
#[inline(always)]
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller number, and the second if that is not known.
#[inline(always)]
pub(crate) fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// Step sizes from error estimates, by proportional and integral control of their logarithms
/// (K. Gustafsson, ACM Trans. Math. Softw. 17 (1991) 533, doi:10.1145/210232.210242).
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    order: f64,
    /// The logarithm of the ratio of the last step that was taken, which is not positive; 1 if the last try was not.
    before: [f64; LANES],
}

impl Controller {
    const SAFETY: f64 = 0.9;
    const LEAST: f64 = 0.1;
    const MOST: f64 = 5.0;
    /// A ratio below this says nothing about the trend: the logarithm of 1e-4.
    const TINY: f64 = -13.28771237954945;
    /// No ratio counts as larger, and a NaN counts as this; or as smaller than one over it.
    const HUGE: f64 = 1e100;

    pub(crate) fn new(order: u32) -> Controller {
        Controller { order: f64::from(order.max(1)), before: [0.0; LANES] }
    }

    /// What to multiply steps with, given the ratios of their errors to the tolerance. A ratio above 1 asks for another try. Lanes whose step is 0
    /// rest.
    #[inline(always)]
    pub(crate) fn factors<const W: usize>(
        &mut self,
        h: &[f64; LANES],
        ratios: &[f64; LANES],
    ) -> [f64; LANES] {
        let (mut factors, k) = ([1.0; LANES], 1.0 / self.order);
        for j in 0..W {
            let (ratio, before) = (ratios[j], self.before[j]);
            let known = if ratio < Controller::HUGE { ratio } else { Controller::HUGE };
            let size = log2(larger(known, 1.0 / Controller::HUGE));
            let (good, again) = (ratio <= 1.0, before > 0.0);
            let trend = if again { 0.0 } else { before };
            let wished = Controller::SAFETY * exp2(k * if good { 0.4 * trend - 0.7 * size } else { -size });
            let most = if again { 1.0 } else { Controller::MOST };
            factors[j] = smaller(larger(wished, Controller::LEAST), if good { most } else { 0.9 });
            let after = if good { smaller(larger(size, Controller::TINY), 0.0) } else { 1.0 };
            self.before[j] = if h[j] == 0.0 { before } else { after };
        }
        factors
    }

    /// The same in a kernel, for one lane: the factor, and what to remember.
    pub(crate) fn write(
        &self,
        builder: &mut StepBuilder,
        ratio: Operand,
        before: Operand,
    ) -> (Operand, Operand) {
        let [zero, one, k] = [0.0, 1.0, 1.0 / self.order].map(|x| builder.number(x));
        let [huge, small] = [Controller::HUGE, 1.0 / Controller::HUGE].map(|x| builder.number(x));
        let known = builder.min(ratio, huge);
        let known = builder.max(known, small);
        let size = write_log2(builder, known);
        let good = (ratio, Test::LessEqual, one);
        let (trend, [past, present]) = (builder.min(before, zero), [0.4, 0.7].map(|x| builder.number(x)));
        let (past, present) = (builder.mul(past, trend), builder.mul(present, size));
        let (both, turned) = (builder.sub(past, present), builder.neg(size));
        let power = builder.select(good, both, turned);
        let power = builder.mul(k, power);
        let [safety, least, most, less] =
            [Controller::SAFETY, Controller::LEAST, Controller::MOST, 0.9].map(|x| builder.number(x));
        let wished = write_exp2(builder, power);
        let wished = builder.mul(safety, wished);
        let wished = builder.max(wished, least);
        let most = builder.select((zero, Test::Less, before), one, most);
        let bound = builder.select(good, most, less);
        let (factor, tiny) = (builder.min(wished, bound), builder.number(Controller::TINY));
        let after = builder.max(size, tiny);
        let after = builder.min(after, zero);
        (factor, builder.select(good, after, one))
    }

    /// What it remembers.
    pub(crate) fn before(&mut self) -> &mut [f64; LANES] {
        &mut self.before
    }

    pub(crate) fn memory(&mut self, visit: &mut dyn FnMut(&mut [f64])) {
        visit(&mut self.before);
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
fn log2(x: f64) -> f64 {
    const C: [f64; 6] = LOGARITHM;
    let bits = x.to_bits();
    let exponent = f64::from_bits(TWO_52 | (bits >> 52)) - (f64::from_bits(TWO_52) + 1023.0);
    let m = f64::from_bits(1.0f64.to_bits() | (bits & FRACTION));
    let square = m * m;
    exponent + ((C[0] + C[1] * m) + square * ((C[2] + C[3] * m) + square * (C[4] + C[5] * m)))
}

/// 2ˣ to 4e-6; beyond 2^±64 it stays there.
#[inline(always)]
fn exp2(x: f64) -> f64 {
    const C: [f64; 5] = POWER;
    let x = smaller(larger(x, -64.0), 64.0);
    let rounded = x + ROUNDER;
    let r = x - (rounded - ROUNDER);
    let square = r * r;
    let power = (C[0] + C[1] * r) + square * ((C[2] + C[3] * r) + square * C[4]);
    f64::from_bits(power.to_bits().wrapping_add(rounded.to_bits() << 52))
}

/// [`log2`] in a kernel.
fn write_log2(builder: &mut StepBuilder, x: Operand) -> Operand {
    let bits = [TWO_52, 1.0f64.to_bits(), FRACTION].map(f64::from_bits);
    let [two_52, one, fraction] = bits.map(|x| builder.number(x));
    let assembly = builder.assembly();
    let exponent = assembly.shift_right(x, 52);
    let exponent = assembly.or(two_52, exponent);
    let m = assembly.and(x, fraction);
    let m = assembly.or(one, m);
    let offset = builder.number(f64::from_bits(TWO_52) + 1023.0);
    let (exponent, square) = (builder.sub(exponent, offset), builder.mul(m, m));
    let [low, middle, high] = [0, 2, 4].map(|i| write_line(builder, LOGARITHM[i], LOGARITHM[i + 1], m));
    let high = builder.mul(square, high);
    let high = builder.add(middle, high);
    let high = builder.mul(square, high);
    let sum = builder.add(low, high);
    builder.add(exponent, sum)
}

/// [`exp2`] in a kernel.
fn write_exp2(builder: &mut StepBuilder, x: Operand) -> Operand {
    let [least, most, rounder] = [-64.0, 64.0, ROUNDER].map(|x| builder.number(x));
    let x = builder.max(x, least);
    let x = builder.min(x, most);
    let rounded = builder.add(x, rounder);
    let whole = builder.sub(rounded, rounder);
    let r = builder.sub(x, whole);
    let (square, last) = (builder.mul(r, r), builder.number(POWER[4]));
    let [low, high] = [0, 2].map(|i| write_line(builder, POWER[i], POWER[i + 1], r));
    let last = builder.mul(square, last);
    let high = builder.add(high, last);
    let high = builder.mul(square, high);
    let power = builder.add(low, high);
    let assembly = builder.assembly();
    let exponent = assembly.shift_left(rounded, 52);
    assembly.add_int(power, exponent)
}

/// a + b·x.
fn write_line(builder: &mut StepBuilder, a: f64, b: f64, x: Operand) -> Operand {
    let (a, b) = (builder.number(a), builder.number(b));
    let product = builder.mul(b, x);
    builder.add(a, product)
}

/// A first step for some lanes, in memory for three blocks: such that the change of the field over it, to the power of the order, meets the tolerance
/// (E. Hairer, S. P. Nørsett and G. Wanner, *Solving Ordinary Differential Equations I*, 1993, section II.4).
pub(crate) fn first_steps(
    motion: &mut Motion<'_>,
    tolerance: Tolerance,
    order: u32,
    (t, y): (&[f64], &[f64]),
    span: f64,
    lanes: &[bool],
    [rate, there, at]: &mut [Vec<f64>; 3],
) -> Result<[f64; LANES], StepError> {
    let width = t.len();
    let still = [0.0; LANES];
    let unit = Interval { t, h: &still[..width] };
    motion.rates(unit, 0.0, y, rate)?;
    let mut ratios = [0.0; LANES];
    let measure = |errors: &[f64], change: &[f64], ratios: &mut [f64; LANES]| {
        tolerance.ratios(errors, y, change, &mut ratios[..width]);
        // In multiples of the scale of the state, not of the tolerance.
        let loosest = tolerance.relative.max(tolerance.absolute);
        ratios.iter_mut().for_each(|r| *r *= loosest);
    };
    at.fill(0.0);
    measure(y, at, &mut ratios);
    let sizes = ratios;
    // A state at rest at zero has no scale but how it moves.
    measure(rate, rate, &mut ratios);
    let speeds = ratios;
    let mut trial = [0.0; LANES];
    for j in (0..width).filter(|&j| lanes[j]) {
        let guess =
            if sizes[j] > 1e-5 && speeds[j] > 1e-5 { 0.01 * sizes[j] / speeds[j] } else { 1e-6 * span.abs() };
        trial[j] = guess.min(span.abs()).max(f64::MIN_POSITIVE) * span.signum();
    }
    crate::block::shift(at, y, 1.0, &trial[..width], rate);
    motion.rates(Interval { t, h: &trial[..width] }, 1.0, at, there)?;
    there.iter_mut().zip(rate.iter()).for_each(|(there, rate)| *there -= rate);
    measure(there, rate, &mut ratios);
    let loosest = tolerance.relative.max(tolerance.absolute);
    for j in (0..width).filter(|&j| lanes[j]) {
        let bend = (ratios[j] / trial[j].abs()).max(speeds[j]);
        let power = 1.0 / f64::from(order + 1);
        let step = if bend > 1e-15 { (0.01 * loosest.max(1e-16) / bend).powf(power) } else { 1e-3 };
        let longest = (100.0 * trial[j].abs()).min(span.abs());
        // From rest at zero there is no scale, and any short step will show one.
        trial[j] = if step > 0.0 { step.min(longest) * span.signum() } else { trial[j] };
    }
    Ok(trial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_relative_to_components_and_their_kind() {
        let tolerance = Tolerance { relative: 1e-3, absolute: 0.0 };
        let mut ratio = [0.0];
        // The second coordinate is tiny, and measured by a hundredth of the first.
        tolerance.ratios(&[0.0, 1e-4, 0.0, 0.0], &[10.0, 1e-9, 1.0, 1.0], &[0.0; 4], &mut ratio);
        assert!((ratio[0] - 1.0).abs() < 1e-12);
        tolerance.ratios(&[0.0, 0.0, 0.0, 2e-3], &[10.0, 0.0, 1.0, 1.0], &[0.0; 4], &mut ratio);
        assert!((ratio[0] - 2.0).abs() < 1e-12);
        tolerance.ratios(&[0.0, f64::NAN, 0.0, 1.0], &[10.0, 0.0, 1.0, 1.0], &[0.0; 4], &mut ratio);
        assert!(ratio[0].is_nan());
        tolerance.ratios(&[0.0; 4], &[0.0; 4], &[0.0; 4], &mut ratio);
        assert_eq!(ratio, [0.0]);
    }

    #[test]
    fn both_widths_measure_alike() {
        let tolerance = Tolerance { relative: 1e-6, absolute: 1e-9 };
        let (y, e, d) = ([1.0, -2.0, 3.0], [1e-7, 3e-6, 1e-8], [0.1, 0.2, -0.3]);
        let wide = |x: [f64; 3]| x.map(|x| [x; LANES]).concat();
        let (mut one, mut eight) = ([0.0], [0.0; LANES]);
        tolerance.ratios(&e, &y, &d, &mut one);
        tolerance.ratios(&wide(e), &wide(y), &wide(d), &mut eight);
        assert_eq!(eight, [one[0]; LANES]);
    }

    #[test]
    fn steps_grow_and_shrink_within_bounds() {
        let mut control = Controller::new(5);
        let mut factor = |ratio: f64| control.factors::<1>(&[1.0; LANES], &[ratio; LANES])[0];
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
        let mut control = Controller::new(9);
        let mut h = [1.0; LANES];
        h[3] = 0.0;
        let before = control.before[3];
        control.factors::<LANES>(&h, &[0.25; LANES]);
        assert_eq!(control.before[3], before);
        assert!((control.before[2] + 2.0).abs() < 1e-4);
    }

    #[test]
    fn logarithms_and_powers_are_good_enough() {
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

//! The pace of a run: a step, or a tolerance or a density from which steps are found.

use crate::error::{RunError, number};
use crate::run::density::Density;
use crate::step::{Interval, Motion, StepError};
use leastaction_compile::{Arithmetic, LANES, Lanes};
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
        let [errors, before, change] = [errors, before, change].map(|rows| rows.as_chunks::<W>().0);
        let tolerance = [[self.relative; W], [self.absolute; W]];
        ratios.copy_from_slice(&Tolerance::ratio(&mut Lanes::<W>, tolerance, errors, before, change));
    }

    /// The largest error as a multiple of what is tolerated, for numbers and for kernels.
    #[inline(always)]
    pub(crate) fn ratio<A: Arithmetic>(
        a: &mut A,
        [relative, absolute]: [A::Value; 2],
        errors: &[A::Value],
        before: &[A::Value],
        change: &[A::Value],
    ) -> A::Value {
        let half = before.len().div_ceil(2);
        let (mut worst, mut sum) = (a.constant(0.0), a.constant(0.0));
        for part in [0..half, half..before.len()] {
            let mut largest = a.constant(0.0);
            for i in part.clone() {
                let size = size(a, before[i], change[i]);
                largest = a.max(size, largest);
            }
            let floor = a.mul(SMALL, largest);
            for i in part {
                let size = size(a, before[i], change[i]);
                let size = a.max(size, floor);
                let (wished, finest) = (a.mul(relative, size), a.mul(FINEST, size));
                let wished = a.add(absolute, wished);
                let scale = a.max(wished, finest);
                let (error, scale) = (a.abs(errors[i]), a.max(scale, f64::MIN_POSITIVE));
                let multiple = a.div(error, scale);
                worst = a.max(multiple, worst);
                sum = a.add(sum, multiple);
            }
        }
        // What is larger than a NaN is not known: a sum keeps it.
        let nothing = a.mul(0.0, sum);
        a.add(worst, nothing)
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

/// The larger size of a component before and after a step.
#[inline(always)]
fn size<A: Arithmetic>(a: &mut A, before: A::Value, change: A::Value) -> A::Value {
    let after = a.add(before, change);
    let (before, after) = (a.abs(before), a.abs(after));
    a.max(before, after)
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
}

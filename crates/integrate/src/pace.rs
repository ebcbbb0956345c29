//! The pace of a run: a step, or a tolerance or a density from which steps are found.

use crate::error::{RunError, number};
use crate::run::density::Density;
use crate::step::{Interval, Motion, StepError};
use leastaction_compile::LANES;
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
        let size = |i: usize, j: usize| before[i][j].abs().max((before[i][j] + change[i][j]).abs());
        for (j, ratio) in ratios.iter_mut().enumerate() {
            *ratio = 0.0;
            for part in [0..half, half..before.len()] {
                let largest = part.clone().map(|i| size(i, j)).fold(0.0, f64::max);
                for i in part {
                    let size = size(i, j).max(SMALL * largest);
                    let scale = (self.absolute + self.relative * size).max(FINEST * size);
                    let error = errors[i][j].abs();
                    let multiple = if error == 0.0 { 0.0 } else { error / scale };
                    // Not `f64::max`, which would lose a NaN.
                    if multiple > *ratio || multiple.is_nan() {
                        *ratio = multiple;
                    }
                }
            }
        }
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

/// Step sizes from error estimates, by proportional and integral control of their logarithms
/// (K. Gustafsson, ACM Trans. Math. Softw. 17 (1991) 533, doi:10.1145/210232.210242).
#[derive(Clone, Debug)]
pub(crate) struct Controller {
    order: f64,
    /// The ratio of the last step that was taken; 0 if the last try was not.
    before: [f64; LANES],
}

impl Controller {
    const SAFETY: f64 = 0.9;
    const LEAST: f64 = 0.1;
    const MOST: f64 = 5.0;
    /// A ratio below this says nothing about the trend.
    const TINY: f64 = 1e-4;

    pub(crate) fn new(order: u32) -> Controller {
        Controller { order: f64::from(order.max(1)), before: [1.0; LANES] }
    }

    /// What to multiply a lane's step with, given the ratio of its error to the tolerance. A ratio above 1 asks for another try.
    pub(crate) fn factor(&mut self, lane: usize, ratio: f64) -> f64 {
        let k = self.order;
        if ratio <= 1.0 {
            let before = self.before[lane];
            let most = if before == 0.0 { 1.0 } else { Controller::MOST };
            let trend = if before == 0.0 { 1.0 } else { before.powf(0.4 / k) };
            self.before[lane] = ratio.max(Controller::TINY);
            (Controller::SAFETY * ratio.powf(-0.7 / k) * trend).clamp(Controller::LEAST, most)
        } else {
            self.before[lane] = 0.0;
            let wished = Controller::SAFETY * ratio.powf(-1.0 / k);
            // A NaN or an infinite error: anything shorter may do.
            if wished.is_finite() { wished.clamp(Controller::LEAST, 0.9) } else { Controller::LEAST }
        }
    }

    pub(crate) fn memory(&mut self, visit: &mut dyn FnMut(&mut [f64])) {
        visit(&mut self.before);
    }
}

/// A first step, lane by lane: such that the change of the field over it, to the power of the order, meets the tolerance
/// (E. Hairer, S. P. Nørsett and G. Wanner, *Solving Ordinary Differential Equations I*, 1993, section II.4).
pub(crate) fn first_steps(
    motion: &mut Motion<'_>,
    tolerance: Tolerance,
    order: u32,
    t: &[f64],
    y: &[f64],
    span: f64,
) -> Result<[f64; LANES], StepError> {
    let (width, len) = (t.len(), y.len());
    let [mut slope, mut there, mut at] = [const { Vec::new() }; 3];
    for memory in [&mut slope, &mut there, &mut at] {
        memory.resize(len, 0.0);
    }
    let still = [0.0; LANES];
    let unit = Interval { t, h: &still[..width] };
    motion.rates(unit, 0.0, y, &mut slope)?;
    let mut ratios = [0.0; LANES];
    let measure = |errors: &[f64], change: &[f64], ratios: &mut [f64; LANES]| {
        tolerance.ratios(errors, y, change, &mut ratios[..width]);
        // In multiples of the scale of the state, not of the tolerance.
        let loosest = tolerance.relative.max(tolerance.absolute);
        ratios.iter_mut().for_each(|r| *r *= loosest);
    };
    let none = vec![0.0; len];
    measure(y, &none, &mut ratios);
    let sizes = ratios;
    // A state at rest at zero has no scale but how it moves.
    measure(&slope, &slope, &mut ratios);
    let speeds = ratios;
    let mut trial = [0.0; LANES];
    for j in 0..width {
        let guess =
            if sizes[j] > 1e-5 && speeds[j] > 1e-5 { 0.01 * sizes[j] / speeds[j] } else { 1e-6 * span.abs() };
        trial[j] = guess.min(span.abs()).max(f64::MIN_POSITIVE) * span.signum();
    }
    crate::block::shift(&mut at, y, 1.0, &trial[..width], &slope);
    motion.rates(Interval { t, h: &trial[..width] }, 1.0, &at, &mut there)?;
    there.iter_mut().zip(&slope).for_each(|(there, slope)| *there -= slope);
    measure(&there, &slope, &mut ratios);
    let loosest = tolerance.relative.max(tolerance.absolute);
    for j in 0..width {
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
        assert_eq!(control.factor(0, 0.0), 5.0);
        assert!(control.factor(0, 1.0) < 1.0);
        assert_eq!(control.factor(0, f64::NAN), 0.1);
        assert_eq!(control.factor(0, 1e300), 0.1);
        assert!(control.factor(0, 1e-10) <= 1.0, "no growth after a step that was too long");
    }
}

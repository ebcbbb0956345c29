//! The pace of a run: a step, or a tolerance or a density from which steps are found.

use crate::clock::first;
use crate::error::{RunError, number};
use crate::natural::{self, NaturalSizes};
use crate::run::density::Density;
use crate::step::{Interval, Motion, StepError};
use leastaction_compile::{Arithmetic, LANES, Lanes};
use std::fmt;
use std::sync::Arc;

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
            Pace::Tolerance(tolerance) => tolerance.fmt(f),
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
/// or momentum, a hundredth of that is taken; and no less than a tenth of how large coordinates, or momenta, have been over the last few hundredths
/// of the run. So components may pass through zero, one by one or together, and tolerances need no units. What rounding alone makes of a step is
/// always tolerated.
#[derive(Clone, Debug, PartialEq)]
pub struct Tolerance {
    /// Relative to the size of the state.
    pub relative: f64,
    /// In the units of the state.
    pub absolute: Absolute,
}

/// An absolute tolerance, in the units of the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Absolute {
    /// The same of every component.
    All(f64),
    /// One of each component: of the coordinates, then of the momenta. Runs share it.
    Each(Arc<[f64]>),
}

impl Absolute {
    /// None.
    pub const NONE: Absolute = Absolute::All(0.0);

    /// One number, or as many as a state has.
    pub(crate) fn as_slice(&self) -> &[f64] {
        match self {
            Absolute::All(all) => std::slice::from_ref(all),
            Absolute::Each(each) => each,
        }
    }

    /// Those of each component, if they differ; else none.
    pub(crate) fn each(&self) -> &[f64] {
        match self {
            Absolute::All(_) => &[],
            Absolute::Each(each) => each,
        }
    }

    /// That of a component.
    pub(crate) fn of(&self, component: usize) -> f64 {
        match self {
            Absolute::All(all) => *all,
            Absolute::Each(each) => each[component],
        }
    }

    /// The largest of any component: that of all if there is one.
    #[must_use]
    pub fn largest(&self) -> f64 {
        self.as_slice().iter().fold(0.0, |m: f64, x| m.max(*x))
    }

    /// The smallest.
    #[must_use]
    pub fn smallest(&self) -> f64 {
        self.as_slice().iter().fold(f64::INFINITY, |m: f64, x| m.min(*x))
    }

    /// Whether nothing is tolerated besides what is relative.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.as_slice().iter().all(|absolute| *absolute == 0.0)
    }

    /// So many times as much.
    pub(crate) fn times(&self, factor: f64) -> Absolute {
        match self {
            Absolute::All(all) => Absolute::All(all * factor),
            Absolute::Each(each) => Absolute::Each(each.iter().map(|absolute| absolute * factor).collect()),
        }
    }
}

impl From<f64> for Absolute {
    fn from(all: f64) -> Absolute {
        Absolute::All(all)
    }
}

impl From<Vec<f64>> for Absolute {
    fn from(each: Vec<f64>) -> Absolute {
        Absolute::Each(each.into())
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a tolerance of {}", number(&self.relative))?;
        if self.absolute.is_none() {
            return Ok(());
        }
        let (smallest, largest) = (self.absolute.smallest(), self.absolute.largest());
        write!(f, " relative and ")?;
        if smallest != largest {
            write!(f, "{} to ", number(&smallest))?;
        }
        write!(f, "{} absolute", number(&largest))
    }
}

/// A component smaller than this, relative to the largest of its kind, is measured by that one.
const SMALL: f64 = 0.01;
/// Or smaller than this, relative to the natural size of its kind.
pub(crate) const LATELY: f64 = 0.1;
/// A multiple of the state's scale that only a scale of 0 has.
const ABSURD: f64 = 1e100;
/// Less than this, relatively, is not asked for: rounding makes as much of any step, and no step would be short enough.
const FINEST: f64 = f64::EPSILON / 4.0;

impl Tolerance {
    /// A relative tolerance.
    #[must_use]
    pub fn relative(relative: f64) -> Tolerance {
        Tolerance { relative, absolute: Absolute::NONE }
    }

    /// Errors as multiples of what is tolerated, the largest in each lane; NaN if one is.
    pub(crate) fn ratios(
        &self,
        natural: &NaturalSizes,
        errors: &[f64],
        before: &[f64],
        change: &[f64],
        ratios: &mut [f64],
    ) {
        match ratios.len() {
            1 => self.ratios_in::<1>(natural, errors, before, change, ratios),
            _ => self.ratios_in::<LANES>(natural, errors, before, change, ratios),
        }
    }

    fn ratios_in<const W: usize>(
        &self,
        natural: &NaturalSizes,
        errors: &[f64],
        before: &[f64],
        change: &[f64],
        ratios: &mut [f64],
    ) {
        let [errors, before, change] = [errors, before, change].map(|rows| rows.as_chunks::<W>().0);
        let a = &mut Lanes::<W>;
        let sizes = natural::sizes(a, before, change);
        let floors = Tolerance::floors(a, natural.each_ref().map(|size| first(size)), sizes);
        let (relative, states) = ([self.relative; W], [errors, before, change]);
        let ratio = match &self.absolute {
            Absolute::All(all) => Tolerance::ratio(a, relative, |_| [*all; W], floors, states),
            Absolute::Each(each) => Tolerance::ratio(a, relative, |i| [each[i]; W], floors, states),
        };
        ratios.copy_from_slice(&ratio);
    }

    /// What components of each kind are measured by at least, given the natural sizes and those before and after a step.
    #[inline(always)]
    pub(crate) fn floors<A: Arithmetic>(
        a: &mut A,
        natural: [A::Value; 2],
        sizes: [A::Value; 2],
    ) -> [A::Value; 2] {
        std::array::from_fn(|kind| {
            let (lately, now) = (a.mul(LATELY, natural[kind]), a.mul(SMALL, sizes[kind]));
            a.max(lately, now)
        })
    }

    /// The largest error as a multiple of what is tolerated, for numbers and for kernels.
    #[inline(always)]
    pub(crate) fn ratio<A: Arithmetic>(
        a: &mut A,
        relative: A::Value,
        absolute: impl Fn(usize) -> A::Value,
        floors: [A::Value; 2],
        [errors, before, change]: [&[A::Value]; 3],
    ) -> A::Value {
        let (mut worst, mut sum) = (a.constant(0.0), a.constant(0.0));
        for (kind, floor) in natural::kinds(before.len()).into_iter().zip(floors) {
            for i in kind {
                let size = natural::size(a, before[i], change[i]);
                let size = a.max(size, floor);
                let (wished, finest) = (a.mul(relative, size), a.mul(FINEST, size));
                let wished = a.add(absolute(i), wished);
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

    /// Refuses what is no tolerance of states with so many components.
    pub(crate) fn check(&self, components: usize) -> Result<(), RunError> {
        let (relative, each) = (self.relative, self.absolute.each().len());
        if each > 0 && each != components {
            return Err(RunError::TolerancesOfOthers { tolerances: each, components });
        }
        let bad = |x: f64| !(x.is_finite() && x >= 0.0);
        let wrong =
            |absolute: f64| bad(relative) || bad(absolute) || relative >= 1.0 || relative + absolute == 0.0;
        match self.absolute.as_slice().iter().find(|absolute| wrong(**absolute)) {
            Some(&absolute) => Err(RunError::BadTolerance { relative, absolute }),
            None => Ok(()),
        }
    }
}

/// A first step for some lanes, in memory for four blocks; and their natural momenta. A step is such that the change of the field over it, to the power of the order, meets the tolerance
/// (E. Hairer, S. P. Nørsett and G. Wanner, *Solving Ordinary Differential Equations I*, 1993, section II.4).
pub(crate) fn first_steps(
    motion: &mut Motion<'_>,
    tolerance: &Tolerance,
    order: u32,
    (t, y): (&[f64], &[f64]),
    span: f64,
    (lanes, remembers): (&[bool], bool),
    [rate, there, at, spare]: &mut [Vec<f64>; 4],
) -> Result<[f64; LANES], StepError> {
    let width = t.len();
    let still = [0.0; LANES];
    let unit = Interval { t, h: &still[..width] };
    motion.rates(unit, 0.0, y, rate)?;
    let (mut ratios, mut natural) = ([0.0; LANES], *motion.natural());
    let measure = |natural: &NaturalSizes, errors: &[f64], change: &[f64], ratios: &mut [f64; LANES]| {
        tolerance.ratios(natural, errors, y, change, &mut ratios[..width]);
        // In multiples of the scale of the state, not of the tolerance.
        let loosest = tolerance.relative.max(tolerance.absolute.largest());
        ratios.iter_mut().for_each(|r| *r *= loosest);
    };
    at.fill(0.0);
    measure(&natural, y, at, &mut ratios);
    let sizes = ratios;
    // A state at rest at zero has no scale but how it moves.
    measure(&natural, rate, rate, &mut ratios);
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
    // What the coordinates' rates change by, per time, is their acceleration.
    let [q, v, bend] = [y, &*rate, &*there].map(|rows| natural::largest(rows, width));
    for j in (0..width).filter(|&j| lanes[j] && remembers) {
        let momentum = natural::momentum(q[0][j], v[0][j], bend[0][j] / trial[j].abs(), v[1][j]);
        natural[1][j] = natural[1][j].max(momentum);
    }
    *motion.natural_mut() = natural;
    if remembers {
        natural::foresee(motion, (t, y), span, lanes, [at, spare]);
    }
    let natural = *motion.natural();
    measure(&natural, there, rate, &mut ratios);
    let loosest = tolerance.relative.max(tolerance.absolute.largest());
    for j in (0..width).filter(|&j| lanes[j]) {
        // What differs from nothing at all says nothing.
        let ratio = if ratios[j] < ABSURD || !remembers { ratios[j] } else { 0.0 };
        let bend = (ratio / trial[j].abs()).max(speeds[j]);
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

    const UNKNOWN: NaturalSizes = [[0.0; LANES]; 2];

    #[test]
    fn errors_are_relative_to_components_and_their_kind() {
        let tolerance = Tolerance::relative(1e-3);
        let mut ratio = [0.0];
        // The second coordinate is tiny, and measured by a hundredth of the first.
        tolerance.ratios(&UNKNOWN, &[0.0, 1e-4, 0.0, 0.0], &[10.0, 1e-9, 1.0, 1.0], &[0.0; 4], &mut ratio);
        assert!((ratio[0] - 1.0).abs() < 1e-12);
        tolerance.ratios(&UNKNOWN, &[0.0, 0.0, 0.0, 2e-3], &[10.0, 0.0, 1.0, 1.0], &[0.0; 4], &mut ratio);
        assert!((ratio[0] - 2.0).abs() < 1e-12);
        tolerance.ratios(&UNKNOWN, &[0.0, f64::NAN, 0.0, 1.0], &[10.0, 0.0, 1.0, 1.0], &[0.0; 4], &mut ratio);
        assert!(ratio[0].is_nan());
        // Momenta were larger a moment ago, and are measured by a tenth of that.
        tolerance.ratios(
            &[[0.0; LANES], [100.0; LANES]],
            &[0.0, 0.0, 0.0, 1e-2],
            &[10.0, 0.0, 0.0, 0.0],
            &[0.0; 4],
            &mut ratio,
        );
        assert!((ratio[0] - 1.0).abs() < 1e-12);
        tolerance.ratios(&UNKNOWN, &[0.0; 4], &[0.0; 4], &[0.0; 4], &mut ratio);
        assert_eq!(ratio, [0.0]);
    }

    #[test]
    fn components_have_tolerances_of_their_own() {
        let tolerance = Tolerance { relative: 1e-3, absolute: vec![0.0, 0.5, 0.0, 3.0].into() };
        let (y, mut ratio) = ([1.0, 500.0, 1.0, 1000.0], [0.0]);
        for (errors, expected) in
            [([0.0, 1.0, 0.0, 0.0], 1.0), ([0.0, 0.0, 0.0, 2.0], 0.5), ([5e-3, 0.0, 0.0, 0.0], 1.0)]
        {
            tolerance.ratios(&UNKNOWN, &errors, &y, &[0.0; 4], &mut ratio);
            assert!((ratio[0] - expected).abs() < 1e-12, "{errors:?}: {ratio:?}");
        }
        assert!(tolerance.check(4).is_ok() && tolerance.check(2).is_err());
        assert_eq!(tolerance.to_string(), "a tolerance of 0.001 relative and 0 to 3 absolute");
        // What is tolerated of nothing must be more than nothing.
        assert!(Tolerance { relative: 0.0, ..tolerance }.check(4).is_err());
    }

    #[test]
    fn both_widths_measure_alike() {
        let tolerance = Tolerance { relative: 1e-6, absolute: Absolute::All(1e-9) };
        let (y, e, d) = ([1.0, -2.0, 3.0], [1e-7, 3e-6, 1e-8], [0.1, 0.2, -0.3]);
        let wide = |x: [f64; 3]| x.map(|x| [x; LANES]).concat();
        let (mut one, mut eight) = ([0.0], [0.0; LANES]);
        tolerance.ratios(&UNKNOWN, &e, &y, &d, &mut one);
        tolerance.ratios(&UNKNOWN, &wide(e), &wide(y), &wide(d), &mut eight);
        assert_eq!(eight, [one[0]; LANES]);
    }
}

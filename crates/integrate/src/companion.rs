//! Companions: the same run at another pace, by which the error of a run is judged.
//!
//! Two runs of one method that differ in their pace differ by what the method and rounding have made of both of them, with all that the motion has made of that
//! since: phases that lag, and what chaos magnifies. A coarser companion costs less than the run itself. Where errors follow the pace, its error is
//! [`FACTOR`] times that of the run. Where they do not, at kinks, of rounding and in chaos, it is about as large: the difference should not be divided by
//! all of the factor. The factor is as large as it is so that both errors are seldom alike by chance: at 4, that made the difference
//! less than a tenth of the error in 8 of 395 runs, at 10 in none.

use crate::card::Sizing;
use crate::integrator::Integrator;
use crate::pace::{Pace, Tolerance};
use crate::run::density::Density;

/// The error of a coarser companion, as a multiple of the run's, where errors follow the pace.
const FACTOR: f64 = 10.0;
/// The same for a finer one of a Taylor series: two terms more.
const SERIES: f64 = 0.02;
/// Steps are not made longer than by this.
const LONGEST: f64 = 2.0;
/// Less than this is not asked for by any tolerance: a companion of a run that asks for less has to differ from it all the same.
const FINEST: f64 = f64::EPSILON;
/// A companion lands so many roundings beyond each corner of a force: where the run lands it is off by a rounding or a few, often to the same side, and all that
/// becomes of that a companion which lands in the same places would not show.
const BEYOND: f64 = 64.0;
/// The coarsest tolerance of a companion.
const COARSEST: f64 = 0.1;

impl Integrator {
    /// The integrator of a companion, and whether its errors are the larger ones: coarser, as that costs less. A Taylor series costs nearly the same
    /// at any tolerance, and its error jumps up and down with its order: its companion is much finer.
    #[must_use]
    pub fn companion(&self) -> (Integrator, bool) {
        match (&self.pace, self.card.sizing) {
            (Pace::Tolerance(Tolerance { relative, absolute }), Sizing::Foreseen)
                if absolute.is_none() && relative * SERIES > FINEST =>
            {
                (self.at_factor(SERIES), false)
            }
            _ => (self.at_factor(FACTOR), true),
        }
    }

    /// The integrator of a companion that is finer, where a coarser one cannot run. Its error is half as large.
    #[must_use]
    pub fn finer(&self) -> Integrator {
        self.at_factor(0.5)
    }

    /// By how much more a conserved quantity should drift in a run of the coarser companion.
    #[must_use]
    pub fn coarser_drift(&self) -> f64 {
        match self.pace {
            Pace::Tolerance(_) => FACTOR,
            Pace::Step(_) | Pace::Density(_) => self.stretch(FACTOR).powi(self.card.order as i32),
        }
    }

    /// How much longer steps are whose errors are so many times as large.
    fn stretch(&self, factor: f64) -> f64 {
        factor.powf(1.0 / f64::from(self.card.order.max(1))).clamp(1.0 / LONGEST, LONGEST)
    }

    fn at_factor(&self, factor: f64) -> Integrator {
        let stretch = self.stretch(factor);
        let pace = match &self.pace {
            Pace::Step(step) => Pace::Step(brief(step * stretch)),
            Pace::Density(density) => {
                Pace::Density(Density { epsilon: brief(density.epsilon * stretch), ..density.clone() })
            }
            Pace::Tolerance(Tolerance { relative, absolute }) => {
                // A tolerance that is mostly absolute has no relative part to speak of.
                let finest = if absolute.smallest() > 0.0 { 0.0 } else { FINEST };
                let wished = relative.max(finest) * factor;
                // What is coarse already is made finer.
                let relative = if wished > COARSEST { relative / factor } else { wished };
                Pace::Tolerance(Tolerance { relative, absolute: absolute.times(factor) })
            }
        };
        Integrator { pace, longest: self.longest * stretch, beyond: BEYOND, balanced: false, ..self.clone() }
    }
}

/// A number of three digits near this one: a person may want to try it.
fn brief(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

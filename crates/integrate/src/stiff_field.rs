//! Steps for fields of many elements, whose stiffest element limits every explicit method.

use crate::card::Card;
use leastaction_analyze::{largest_frequency, largest_growth};
use leastaction_mechanics::{Dynamics, State};

/// Systems with fewer numbers are looked into by other means.
const FEW: usize = 64;
/// The step that is chosen, as a part of the longest that is stable: the fastest motion then takes about twenty steps.
pub(crate) const PART: f64 = 0.15;

/// The largest angular frequency of a system of many coordinates with energies over elements, at a state: by Lanczos' method, to a part in a hundred from below.
/// None if there are few coordinates or no elements, or nothing vibrates there.
pub(crate) fn field_frequency(dynamics: &mut Dynamics, at: &State) -> Option<f64> {
    let system = dynamics.system();
    if system.dimension() <= FEW || system.elements() == 0 {
        return None;
    }
    let frequency = largest_frequency(dynamics, at.t, &at.q, 1e-2).ok()?;
    (frequency > 0.0 && frequency.is_finite()).then_some(frequency)
}

/// Elements roam if what grows at a state grows at more than this part of the largest frequency, both squared: they come apart, or together, as fast as they vibrate, as
/// bodies that attract each other do (−2 to 1). Solids and liquids stay below it.
const ROAMS: f64 = 1.0 / 3.0;

/// Whether elements roam, so that a frequency at the start says little of the motion that follows.
pub(crate) fn roams(dynamics: &mut Dynamics, at: &State, frequency: f64) -> bool {
    largest_growth(dynamics, at.t, &at.q).is_ok_and(|growth| growth.powi(2) > ROAMS * frequency.powi(2))
}

/// The longest step with which a method is stable for small motions about a state, where it is known: for fields of many elements, and methods that kick
/// and drift once in a step, 2/ω with the largest frequency (E. Hairer, C. Lubich and G. Wanner, Acta Numerica 12 (2003) 399,
/// doi:10.1017/S0962492902000144).
#[must_use]
pub fn longest_stable_step(dynamics: &mut Dynamics, at: &State, card: &Card) -> Option<f64> {
    let kicks_once =
        matches!(card.name, "verlet" | "verlet-position" | "symplectic-euler" | "rattle" | "conformal2");
    if !kicks_once {
        return None;
    }
    field_frequency(dynamics, at).map(|frequency| 2.0 / frequency)
}

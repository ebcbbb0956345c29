//! Energy-preserving collocation of high order: paths of degree s, order 2s.
//!
//! They are to the average vector field what Gauss methods are to the implicit midpoint rule
//! (E. Hairer, JNAIAM 5 (2010) 73).

use super::mean_field;
use crate::card::{Card, Keeps, Kind, Needs, Sizing, Stepper};

pub(in crate::method) const ENERGY_COLLOCATION4: Card =
    card("energy-collocation4", "energy-preserving collocation, parabolas", 4, |dynamics, width, _| {
        mean_field::stepper(dynamics, width, 2)
    });

pub(in crate::method) const ENERGY_COLLOCATION6: Card =
    card("energy-collocation6", "energy-preserving collocation, cubics", 6, |dynamics, width, _| {
        mean_field::stepper(dynamics, width, 3)
    });

const fn card(name: &'static str, about: &'static str, order: u32, stepper: Stepper) -> Card {
    Card {
        name,
        about,
        order,
        keeps: &[Keeps::Reversible, Keeps::Energy],
        needs: Needs::Free,
        kind: Kind::Implicit,
        sizing: Sizing::Given,
        cite: "E. Hairer, JNAIAM 5 (2010) 73",
        stepper,
    }
}

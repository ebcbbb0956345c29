//! Variational integrators of high order: polynomials of degree s through the s + 1 points of Lobatto's quadrature, order 2s.
//!
//! With s = 1 this would be Störmer–Verlet; the order is proved in S. Ober-Blöbaum and N. Saake, Adv. Comput. Math. 41 (2015) 955,
//! doi:10.1007/s10444-014-9394-8. As for Störmer–Verlet, steps that are long for an oscillation of frequency ω are unstable: from hω = 2.8 on for order
//! 4, 3.1 for order 6, 6.0 for order 8. Implicit as they are, these are not methods for stiff systems.

use super::stepper;
use crate::card::{Card, Keeps, Kind, Needs, Sizing, Stepper};
use crate::quadrature::Rule;

pub(in crate::method) const VARIATIONAL4: Card =
    card("variational4", "variational, parabolas and three Lobatto points", 4, |dynamics, width, _| {
        stepper(dynamics, width, 2, Rule::lobatto(3))
    });

pub(in crate::method) const VARIATIONAL6: Card =
    card("variational6", "variational, cubics and four Lobatto points", 6, |dynamics, width, _| {
        stepper(dynamics, width, 3, Rule::lobatto(4))
    });

pub(in crate::method) const VARIATIONAL8: Card =
    card("variational8", "variational, quartics and five Lobatto points", 8, |dynamics, width, _| {
        stepper(dynamics, width, 4, Rule::lobatto(5))
    });

const fn card(name: &'static str, about: &'static str, order: u32, stepper: Stepper) -> Card {
    Card {
        name,
        about,
        order,
        keeps: &[Keeps::Symplectic, Keeps::Reversible, Keeps::Bilinear],
        needs: Needs::Lagrangian,
        kind: Kind::Implicit,
        sizing: Sizing::Given,
        cite: "doi:10.1007/s10444-014-9394-8",
        stepper,
    }
}

//! Gauss methods: collocation at the zeros of the Legendre polynomial of degree s, with order 2s.
//!
//! $$Y_i=y_0+h\sum_j a_{ij}f(t+c_jh,Y_j),\qquad y_1=y_0+h\sum_i b_if(t+c_ih,Y_i)$$
//!
//! They are symplectic, symmetric, and keep quadratic invariants. [`gauss`] makes one of any number of stages.

use crate::card::{Card, Keeps, Kind, Needs, Sizing, Stepper};
use crate::error::RunError;
use crate::implicit::{Stages, Tableau};
use crate::step::Step;
use leastaction_mechanics::Dynamics;

pub(in crate::method) const GAUSS4: Card = card("gauss4", "Gauss, two stages", 4, |d, w, _| gauss(2, d, w));
pub(in crate::method) const GAUSS6: Card = card("gauss6", "Gauss, three stages", 6, |d, w, _| gauss(3, d, w));
pub(in crate::method) const GAUSS8: Card = card("gauss8", "Gauss, four stages", 8, |d, w, _| gauss(4, d, w));
pub(in crate::method) const GAUSS10: Card =
    card("gauss10", "Gauss, five stages", 10, |d, w, _| gauss(5, d, w));
pub(in crate::method) const GAUSS12: Card =
    card("gauss12", "Gauss, six stages", 12, |d, w, _| gauss(6, d, w));

const fn card(name: &'static str, about: &'static str, order: u32, stepper: Stepper) -> Card {
    Card {
        name,
        about,
        order,
        keeps: &[Keeps::Symplectic, Keeps::Reversible, Keeps::Quadratic],
        needs: Needs::Field,
        kind: Kind::Implicit,
        sizing: Sizing::Given,
        cite: "doi:10.1007/3-540-30666-8, sections II.1.3, VI.4, VIII.6",
        stepper,
    }
}

/// The Gauss method of s stages.
pub(super) fn gauss(s: usize, dynamics: &mut Dynamics, width: usize) -> Result<Box<dyn Step>, RunError> {
    Ok(Box::new(Stages::new(Tableau::gauss(s), dynamics.system().jacobian_structure(), width)))
}

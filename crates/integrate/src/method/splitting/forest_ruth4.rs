//! The method of Forest and Ruth: three steps of `verlet`, the middle one back in time.
//!
//! $$\gamma_1=\gamma_3=\frac1{2-2^{1/3}},\qquad\gamma_2=1-2\gamma_1$$
//!
//! Errors of order three cancel: γ₁³ + γ₂³ + γ₃³ = 0.

use super::{SYMMETRIC, Splitting, Table};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "forest-ruth4",
    about: "Forest–Ruth, three steps of verlet",
    order: 4,
    keeps: SYMMETRIC,
    needs: Needs::Separable,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "doi:10.1016/0167-2789(90)90019-L",
    stepper: |dynamics, width, _| Splitting::boxed(dynamics, width, CARD.name, TABLE),
};

pub(super) const TABLE: Table = Table::OfVerlet(&[1.3512071919596576, -1.702414383919315]);

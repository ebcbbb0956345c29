//! The method SRKN₆ᵇ of Blanes and Moan: order four with six stages, its errors least where masses are constant.
//!
//! There T is quadratic in p, so \[V, \[V, \[V, T\]\]\] = 0, and errors of that kind need not be small (Runge–Kutta–Nyström).
//! Kicks and drifts in turn. The paper's digits are refined by Newton's method on the conditions of order.

use super::{Part, SYMMETRIC, Splitting, Table};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "blanes-moan4-rkn",
    about: "Blanes–Moan SRKN6b, six stages",
    order: 4,
    keeps: SYMMETRIC,
    needs: Needs::ConstantMass,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "doi:10.1016/S0377-0427(01)00492-7, table 3",
    stepper: |dynamics, width, _| Splitting::boxed(dynamics, width, CARD.name, TABLE),
};

pub(super) const TABLE: Table = Table::Symmetric(
    Part::Kick,
    &[
        0.08298440641740498,
        0.2452989571842711,
        0.3963098014983681,
        0.6048726657110799,
        -0.03905630492234844,
        -0.35017162289535103,
        0.11952419401315079,
    ],
);

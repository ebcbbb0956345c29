//! The method S₆ of Blanes and Moan: order four with six stages, whose errors are smaller by far than those of fewer stages.
//!
//! Kicks and drifts in turn. The paper's digits are refined by Newton's method on the conditions of order.

use super::{Part, SYMMETRIC, Splitting, Table};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "blanes-moan4",
    about: "Blanes–Moan S6, six stages",
    order: 4,
    keeps: SYMMETRIC,
    needs: Needs::Separable,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "doi:10.1016/S0377-0427(01)00492-7, table 2",
    stepper: |dynamics, width, _| Splitting::boxed(dynamics, width, CARD.name, TABLE),
};

pub(super) const TABLE: Table = Table::Symmetric(
    Part::Kick,
    &[
        0.07920369643119568,
        0.20951510661336206,
        0.353172906049774,
        -0.14385177317981804,
        -0.04206508035771953,
        0.434336666566456,
        0.21937695575349964,
    ],
);

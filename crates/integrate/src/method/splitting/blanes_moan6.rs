//! The method S₁₀ of Blanes and Moan: order six with ten stages.
//!
//! Kicks and drifts in turn. The paper's digits are refined by Newton's method on the conditions of order.

use super::{Part, SYMMETRIC, Splitting, Table};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "blanes-moan6",
    about: "Blanes–Moan S10, ten stages",
    order: 6,
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
        0.05026276440039272,
        0.1488164479010433,
        0.4135143004283435,
        -0.13238586576778374,
        0.045079889794398115,
        0.0673076046921844,
        -0.18805485381956863,
        0.43266640257817374,
        0.54196067845078,
        -0.016404589403617637,
        -0.7255255585086914,
    ],
);

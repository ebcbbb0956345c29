//! The method of Yoshida of order eight, solution D: fifteen steps of `verlet`.
//!
//! The paper's digits are refined by Newton's method on the conditions of order.

use super::{SYMMETRIC, Splitting, Table};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "yoshida8",
    about: "Yoshida D, fifteen steps of verlet",
    order: 8,
    keeps: SYMMETRIC,
    needs: Needs::Separable,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "doi:10.1016/0375-9601(90)90092-3, table 2",
    stepper: |dynamics, width, _| Splitting::boxed(dynamics, width, CARD.name, TABLE),
};

pub(super) const TABLE: Table = Table::OfVerlet(&[
    0.9148442462297915,
    0.25369333656621135,
    -1.4448522368606052,
    -0.15824063536805016,
    1.9381391376225259,
    -1.9606102329753108,
    0.10279984939179644,
    1.7084530707872816,
]);

//! The method of Yoshida of order six, solution A: seven steps of `verlet`.
//!
//! The paper's digits are refined by Newton's method on the conditions of order.

use super::{SYMMETRIC, Splitting, Table};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "yoshida6",
    about: "Yoshida A, seven steps of verlet",
    order: 6,
    keeps: SYMMETRIC,
    needs: Needs::Separable,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "doi:10.1016/0375-9601(90)90092-3, table 1",
    stepper: |dynamics, width, _| Splitting::boxed(dynamics, width, CARD.name, TABLE),
};

pub(super) const TABLE: Table =
    Table::OfVerlet(&[0.7845136104775573, 0.23557321335935813, -1.177679984178871, 1.3151863206839112]);

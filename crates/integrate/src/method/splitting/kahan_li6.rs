//! The method s9odr6a of Kahan and Li: order six by nine steps of `verlet`, none of them long.

use super::{SYMMETRIC, Splitting, Table};
use crate::card::{Card, Kind, Needs, Sizing};
use crate::method::composition::KAHAN_LI6;

pub(in crate::method) const CARD: Card = Card {
    name: "kahan-li6",
    about: "Kahan–Li, nine steps of verlet",
    order: 6,
    keeps: SYMMETRIC,
    needs: Needs::Separable,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "doi:10.1090/S0025-5718-97-00873-9",
    stepper: |dynamics, width, _| Splitting::boxed(dynamics, width, CARD.name, TABLE),
};

pub(super) const TABLE: Table = Table::OfVerlet(KAHAN_LI6);

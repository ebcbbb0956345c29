//! The method s9odr6a of Kahan and Li: order six by nine steps of `verlet`, none of them long.

use super::{SYMMETRIC, Splitting, Table};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "kahan-li6",
    about: "Kahan–Li, nine steps of verlet",
    order: 6,
    keeps: SYMMETRIC,
    needs: Needs::Separable,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "doi:10.1090/S0025-5718-97-00873-9",
    stepper: |dynamics, width, _| Splitting::boxed(dynamics, width, TABLE),
};

const TABLE: Table = Table::OfVerlet(&[
    0.3921614440073141,
    0.33259913678935943,
    -0.7062461725576393,
    0.0822135962935508,
    0.79854399093483,
]);

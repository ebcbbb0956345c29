//! RATTLE of order six: the nine steps of Kahan and Li of [`rattle`](super::rattle2), of γᵢh each.

use super::{KEEPS, Rattle};
use crate::card::{Card, Kind, Needs, Sizing};
use crate::method::composition::KAHAN_LI6;

pub(in crate::method) const CARD: Card = Card {
    name: "rattle6",
    about: "RATTLE, nine steps",
    order: 6,
    keeps: KEEPS,
    needs: Needs::Holonomic,
    kind: Kind::Implicit,
    sizing: Sizing::Given,
    cite: "doi:10.1137/0733025; doi:10.1090/S0025-5718-97-00873-9",
    stepper: |dynamics, width, _| Rattle::boxed(dynamics, width, KAHAN_LI6, true),
};

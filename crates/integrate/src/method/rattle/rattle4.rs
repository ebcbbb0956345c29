//! RATTLE of order four: Suzuki's five steps of [`rattle`](super::rattle2), of γᵢh each.

use super::{KEEPS, Rattle};
use crate::card::{Card, Kind, Needs, Sizing};
use crate::method::composition::SUZUKI4;

pub(in crate::method) const CARD: Card = Card {
    name: "rattle4",
    about: "RATTLE, five steps",
    order: 4,
    keeps: KEEPS,
    needs: Needs::Holonomic,
    kind: Kind::Implicit,
    sizing: Sizing::Given,
    cite: "doi:10.1137/0733025; doi:10.1016/0375-9601(90)90962-N",
    stepper: |dynamics, width, _| Rattle::boxed(dynamics, width, SUZUKI4, true),
};

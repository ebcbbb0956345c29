//! The conformal method of order four: Suzuki's five steps of order two.

use super::{CITE, Conformal, KEEPS};
use crate::card::{Card, Kind, Needs, Sizing};
use crate::method::composition::SUZUKI4;

pub(in crate::method) const CARD: Card = Card {
    name: "conformal4",
    about: "Suzuki, five steps of conformal2",
    order: 4,
    keeps: KEEPS,
    needs: Needs::LinearDamping,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: CITE,
    stepper: |dynamics, width, _| Conformal::boxed(dynamics, width, SUZUKI4),
};

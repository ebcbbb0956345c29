//! The method of order four in the doubled phase space: Suzuki's five steps of order two.

use super::{CITE, Tao};
use crate::card::{Card, Kind, Needs, Sizing};
use crate::method::composition::SUZUKI4;

pub(in crate::method) const CARD: Card = Card {
    name: "tao4",
    about: "Tao, five steps of tao2",
    order: 4,
    keeps: &[],
    needs: Needs::Hamiltonian,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: CITE,
    stepper: |dynamics, width, _| Tao::boxed(dynamics, width, SUZUKI4),
};

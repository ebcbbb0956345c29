//! The method of order two in the doubled phase space.

use super::{CITE, Tao};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "tao2",
    about: "Tao, doubled phase space",
    order: 2,
    keeps: &[],
    needs: Needs::Hamiltonian,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: CITE,
    stepper: |dynamics, width, _| Tao::boxed(dynamics, width, &[1.0]),
};

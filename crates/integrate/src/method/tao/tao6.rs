//! The method of order six in the doubled phase space: nine steps of order two, as in `kahan-li6`.

use super::{CITE, Tao};
use crate::card::{Card, Kind, Needs, Sizing};
use crate::method::composition::KAHAN_LI6;

pub(in crate::method) const CARD: Card = Card {
    name: "tao6",
    about: "Tao, nine steps of tao2",
    order: 6,
    keeps: &[],
    needs: Needs::Hamiltonian,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: CITE,
    stepper: |dynamics, width, _| Tao::boxed(dynamics, width, KAHAN_LI6),
};

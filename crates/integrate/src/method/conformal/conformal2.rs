//! Störmer–Verlet between two halves of damping.

use super::{CITE, Conformal, KEEPS};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "conformal2",
    about: "verlet between halves of the damping",
    order: 2,
    keeps: KEEPS,
    needs: Needs::LinearDamping,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: CITE,
    stepper: |dynamics, width, _| Conformal::boxed(dynamics, width, &[1.0]),
};

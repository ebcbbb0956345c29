//! Störmer–Verlet with the parts exchanged: half a drift, a kick, half a drift.
//!
//! $$q_{1/2}=q_0+\tfrac h2\dot q(p_0),\quad p_1=p_0+h\,\dot p(q_{1/2}),\quad q_1=q_{1/2}+\tfrac h2\dot q(p_1)$$

use super::{Part, SYMMETRIC, Splitting, Table};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "verlet-position",
    about: "Störmer–Verlet: drift, kick, drift",
    order: 2,
    keeps: SYMMETRIC,
    needs: Needs::Separable,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "doi:10.1017/S0962492902000144",
    stepper: |dynamics, width, _| Splitting::boxed(dynamics, width, CARD.name, TABLE),
};

pub(super) const TABLE: Table = Table::Symmetric(Part::Drift, &[0.5, 1.0]);

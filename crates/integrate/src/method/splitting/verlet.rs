//! Störmer–Verlet: half a kick, a drift, half a kick. Also known as leapfrog, and as velocity Verlet.
//!
//! $$p_{1/2}=p_0+\tfrac h2\dot p(q_0),\quad q_1=q_0+h\,\dot q(p_{1/2}),\quad p_1=p_{1/2}+\tfrac h2\dot p(q_1)$$
//!
//! The force at the end is that at the start of the next step: one evaluation of each rate a step.

use super::{Part, SYMMETRIC, Splitting, Table};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "verlet",
    about: "Störmer–Verlet: kick, drift, kick",
    order: 2,
    keeps: SYMMETRIC,
    needs: Needs::Separable,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "doi:10.1017/S0962492902000144",
    stepper: |dynamics, width, _| Splitting::boxed(dynamics, width, CARD.name, TABLE),
};

pub(super) const TABLE: Table = Table::Symmetric(Part::Kick, &[0.5, 1.0]);

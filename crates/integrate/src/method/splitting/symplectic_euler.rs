//! The symplectic Euler method: a kick, then a drift.
//!
//! $$p_1=p_0+h\,\dot p(q_0,t),\qquad q_1=q_0+h\,\dot q(p_1,t+h)$$

use super::{Part, Splitting, Table};
use crate::card::{Card, Keeps, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "symplectic-euler",
    about: "symplectic Euler: kick, drift",
    order: 1,
    keeps: &[Keeps::Symplectic, Keeps::Bilinear],
    needs: Needs::Separable,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "doi:10.1007/3-540-30666-8, sections I.1.2, VI.3",
    stepper: |dynamics, width, _| Splitting::boxed(dynamics, width, CARD.name, TABLE),
};

pub(super) const TABLE: Table = Table::Plain(Part::Kick, &[1.0, 1.0]);

//! The method of McLachlan of order four with five stages, whose errors of order five are the least of its kind.
//!
//! Drifts (14 − √19)/108, (20 − 7√19)/108, (5 + 2√19)/27 in turn with kicks 2/5, −1/10, 2/5, the last of which is in the middle.

use super::{Part, SYMMETRIC, Splitting, Table};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "mclachlan4",
    about: "McLachlan, five stages",
    order: 4,
    keeps: SYMMETRIC,
    needs: Needs::Separable,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "doi:10.1137/0916010, table 2",
    stepper: |dynamics, width, _| Splitting::boxed(dynamics, width, CARD.name, TABLE),
};

pub(super) const TABLE: Table = Table::Symmetric(
    Part::Drift,
    &[0.08926945422647524, 0.4, -0.0973360426368955, -0.1, 0.5080665884104203, 0.4],
);

//! The method of Ruth: the first symplectic one of order three.
//!
//! Kicks 7/24, 3/4, −1/24 in turn with drifts 2/3, −2/3, 1. It is not symmetric.

use super::{Part, Splitting, Table};
use crate::card::{Card, Keeps, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "ruth3",
    about: "Ruth, three stages",
    order: 3,
    keeps: &[Keeps::Symplectic, Keeps::Bilinear],
    needs: Needs::Separable,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "doi:10.1109/TNS.1983.4332919",
    stepper: |dynamics, width, _| Splitting::boxed(dynamics, width, CARD.name, TABLE),
};

pub(super) const TABLE: Table =
    Table::Plain(Part::Kick, &[7.0 / 24.0, 2.0 / 3.0, 3.0 / 4.0, -2.0 / 3.0, -1.0 / 24.0, 1.0]);

//! The method s17odr8a of Kahan and Li: order eight by seventeen steps of `verlet`, none of them long.

use super::{SYMMETRIC, Splitting, Table};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "kahan-li8",
    about: "Kahan–Li, seventeen steps of verlet",
    order: 8,
    keeps: SYMMETRIC,
    needs: Needs::Separable,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "doi:10.1090/S0025-5718-97-00873-9",
    stepper: |dynamics, width, _| Splitting::boxed(dynamics, width, CARD.name, TABLE),
};

pub(super) const TABLE: Table = Table::OfVerlet(&[
    0.13020248308889007,
    0.5611629817751084,
    -0.38947496264484727,
    0.1588419065551556,
    -0.39590389413323757,
    0.1845396409783157,
    0.25837438768632204,
    0.2950117236093103,
    -0.6055085338300346,
]);

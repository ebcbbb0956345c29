//! The method SRKN₁₄ᵃ of Blanes and Moan: order six with fourteen stages where masses are constant, and only there.
//!
//! There T is quadratic in p, so \[V, \[V, \[V, T\]\]\] = 0, and fewer conditions make the order (Runge–Kutta–Nyström).
//! Drifts and kicks in turn. The paper's digits are refined by Newton's method on the conditions of order.

use super::{Part, SYMMETRIC, Splitting, Table};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "blanes-moan6-rkn",
    about: "Blanes–Moan SRKN14a, fourteen stages",
    order: 6,
    keeps: SYMMETRIC,
    needs: Needs::ConstantMass,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "doi:10.1016/S0377-0427(01)00492-7, table 3",
    stepper: |dynamics, width, _| Splitting::boxed(dynamics, width, CARD.name, TABLE),
};

pub(super) const TABLE: Table = Table::Symmetric(
    Part::Drift,
    &[
        0.037859319840611014,
        0.09171915262446217,
        0.1026356331024366,
        0.1839831700050049,
        -0.02586788826655835,
        -0.05653436583288917,
        0.31424140307144643,
        0.004914688774711813,
        -0.13014445951741518,
        0.14376112716836184,
        0.10641770036954183,
        0.32856769374680345,
        -0.008794243128510175,
        -0.196411466486455,
        0.20730506905689572,
    ],
);

//! The implicit midpoint rule, the Gauss method of one stage.
//!
//! $$y_1=y_0+\Delta,\qquad \Delta=h\,f\bigl(t+\tfrac h2,\;y_0+\tfrac12\Delta\bigr)$$
//!
//! It is symplectic, symmetric, and keeps quadratic invariants, because its equation is symmetric in y₀ and y₁.

use super::gauss::gauss;
use crate::card::{Card, Keeps, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "implicit-midpoint",
    about: "Gauss, one stage: implicit midpoint rule",
    order: 2,
    keeps: &[Keeps::Symplectic, Keeps::Reversible, Keeps::Quadratic],
    needs: Needs::Field,
    kind: Kind::Implicit,
    sizing: Sizing::Given,
    cite: "doi:10.1007/3-540-30666-8, sections II.1.3, V.2, VI.4",
    stepper: |dynamics, width, _| gauss(1, dynamics, width),
};

//! The variational midpoint rule: straight lines, and the Lagrangian in their middle.
//!
//! $$L_d(q_0,q_1)=h\,L\Bigl(\frac{q_0+q_1}2,\frac{q_1-q_0}h,t+\frac h2\Bigr),\qquad
//! p_0=-D_1L_d-\tfrac h2Q,\quad p_1=D_2L_d+\tfrac h2Q$$
//!
//! With P = ∂L/∂v and S = ∂L/∂q + Q there, p₀ = P − hS/2 and p₁ = P + hS/2, whose mean is P: this is the implicit midpoint rule, found without
//! solving for velocities.

use super::stepper;
use crate::card::{Card, Keeps, Kind, Needs, Sizing};
use crate::quadrature::Rule;

pub(in crate::method) const CARD: Card = Card {
    name: "variational-midpoint",
    about: "variational, lines and one Gauss point",
    order: 2,
    keeps: &[Keeps::Symplectic, Keeps::Reversible, Keeps::Quadratic],
    needs: Needs::Lagrangian,
    kind: Kind::Implicit,
    sizing: Sizing::Given,
    cite: "doi:10.1017/S096249290100006X, sections 1.4, 3.2",
    stepper: |dynamics, width, _| stepper(dynamics, width, 1, Rule::gauss(1)),
};

//! The average vector field method: the field averaged along the line of the step.
//!
//! $$y_1=y_0+h\int_0^1 f\bigl(t+\tau h,\;y_0+\tau(y_1-y_0)\bigr)\,d\tau$$
//!
//! It keeps the energy of every system y′ = S∇H with S skew and constant.

use super::mean_field;
use crate::card::{Card, Keeps, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "average-vector-field",
    about: "energy-preserving collocation, lines",
    order: 2,
    keeps: &[Keeps::Reversible, Keeps::Energy],
    needs: Needs::Free,
    kind: Kind::Implicit,
    sizing: Sizing::Given,
    cite: "doi:10.1088/1751-8113/41/4/045206",
    stepper: |dynamics, width, _| mean_field::stepper(dynamics, width, 1),
};

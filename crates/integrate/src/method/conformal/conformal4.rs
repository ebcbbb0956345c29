//! The conformal method of order four: five steps of order two, none of them long.
//!
//! $$\gamma_1=\gamma_2=\gamma_4=\gamma_5=\frac1{4-4^{1/3}},\qquad\gamma_3=1-4\gamma_1$$
//!
//! (M. Suzuki, Phys. Lett. A 146 (1990) 319, doi:10.1016/0375-9601(90)90962-N.)

use super::{CITE, Conformal, KEEPS};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "conformal4",
    about: "damping around verlet, five steps of order two",
    order: 4,
    keeps: KEEPS,
    needs: Needs::LinearDamping,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: CITE,
    stepper: |dynamics, width, _| Conformal::boxed(dynamics, width, HALF),
};

const HALF: &[f64] = &[0.4144907717943757, 0.4144907717943757, -0.6579630871775028];

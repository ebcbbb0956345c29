//! The classical Runge–Kutta method.
//!
//! $$k_1=f(t,y),\quad k_2=f(t+\tfrac h2,y+\tfrac h2k_1),\quad k_3=f(t+\tfrac h2,y+\tfrac h2k_2),\quad k_4=f(t+h,y+hk_3)$$
//! $$y_1=y+\tfrac h6(k_1+2k_2+2k_3+k_4)$$

use super::explicit::{Estimate, Tableau};
use crate::card::{Card, Kind, Needs, Sizing};

pub(super) const CARD: Card = Card {
    name: "rk4",
    about: "classical Runge–Kutta",
    order: 4,
    keeps: &[],
    needs: Needs::Field,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "W. Kutta, Z. Math. Phys. 46 (1901) 435",
    stepper: |dynamics, width, _| Ok(TABLEAU.stepper(dynamics, width)),
};

pub(super) static TABLEAU: Tableau = Tableau {
    stages: &[(0.5, &[(0, 0.5)]), (0.5, &[(1, 0.5)]), (1.0, &[(2, 1.0)])],
    weights: &[(0, 1.0 / 6.0), (1, 1.0 / 3.0), (2, 1.0 / 3.0), (3, 1.0 / 6.0)],
    ends: false,
    estimate: Estimate::None,
    dense: None,
};

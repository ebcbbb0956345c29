//! Radau IIA with three stages: for stiff systems.
//!
//! $$Z_i=h\sum_ja_{ij}f(t+c_jh,y_0+Z_j),\qquad y_1=y_0+Z_3,\qquad c=\tfrac{4-\sqrt6}{10},\tfrac{4+\sqrt6}{10},1$$
//!
//! What decays fast decays in one step, however long. The error is estimated by
//!
//! $$(1-h\gamma_0J)^{-1}\bigl(h\gamma_0f(t,y_0)+e_1Z_1+e_2Z_2+e_3Z_3\bigr),\qquad
//! e=\tfrac{\gamma_0}3\bigl(-13-7\sqrt6,\,-13+7\sqrt6,\,-1\bigr)$$
//!
//! with the real eigenvalue γ₀ of a (E. Hairer and G. Wanner, *Solving Ordinary Differential Equations II*, 1996, section IV.8).

use crate::card::{Card, Kind, Needs, Sizing};
use crate::implicit::Radau;

pub(in crate::method) const CARD: Card = Card {
    name: "radau5",
    about: "Radau IIA, three stages, for stiff systems",
    order: 5,
    keeps: &[],
    needs: Needs::Field,
    kind: Kind::Implicit,
    sizing: Sizing::Estimated { order: 4 },
    cite: "doi:10.1007/978-3-642-05221-7, section IV.8",
    stepper: |dynamics, width, pace| {
        let structure = dynamics.system().jacobian_structure();
        // The Jacobian is compiled before the first step asks for it; whether it exists at 0 does not matter.
        let (t, y) = (vec![0.0; width], vec![0.0; structure.rows() * width]);
        let _ = dynamics.jacobian_entries(&t, &y, &mut vec![0.0; structure.len() * width]);
        Ok(Box::new(Radau::new(structure, width, pace)))
    },
};

//! The method of order six in the doubled phase space: nine steps of order two, as in `kahan-li6`.
//!
//! (W. Kahan and R.-C. Li, Math. Comp. 66 (1997) 1089, doi:10.1090/S0025-5718-97-00873-9.)

use super::{CITE, Tao};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "tao6",
    about: "extended phase space, nine steps of order two",
    order: 6,
    keeps: &[],
    needs: Needs::Hamiltonian,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: CITE,
    stepper: |dynamics, width, _| Tao::boxed(dynamics, width, HALF),
};

pub(super) const HALF: &[f64] =
    &[0.39216144400731413, 0.33259913678935946, -0.7062461725576394, 0.0822135962935508, 0.79854399093483];

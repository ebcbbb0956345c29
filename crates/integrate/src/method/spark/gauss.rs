//! Gauss–Lobatto SPARK methods of order 2s: for constrained systems what Gauss methods are for free ones.
//!
//! Without constraints they are the Gauss methods. The (s, s) methods are those of L. O. Jay,
//! SIAM J. Numer. Anal. 45 (2007) 1814, doi:10.1137/060667475.

use super::stepper;
use crate::card::{Card, Keeps, Kind, Needs, Sizing, Stepper};

pub(in crate::method) const GAUSS_SPARK4: Card =
    card("gauss-spark4", "Gauss–Lobatto SPARK, two stages", 4, |d, w, _| stepper(2, d, w));
pub(in crate::method) const GAUSS_SPARK6: Card =
    card("gauss-spark6", "Gauss–Lobatto SPARK, three stages", 6, |d, w, _| stepper(3, d, w));
pub(in crate::method) const GAUSS_SPARK8: Card =
    card("gauss-spark8", "Gauss–Lobatto SPARK, four stages", 8, |d, w, _| stepper(4, d, w));

const fn card(name: &'static str, about: &'static str, order: u32, stepper: Stepper) -> Card {
    Card {
        name,
        about,
        order,
        keeps: &[Keeps::Constraints, Keeps::Symplectic, Keeps::Reversible, Keeps::Bilinear],
        needs: Needs::Holonomic,
        kind: Kind::Implicit,
        sizing: Sizing::Given,
        cite: "doi:10.1137/060667475",
        stepper,
    }
}

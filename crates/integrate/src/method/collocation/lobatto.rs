//! Pairs of Lobatto IIIA for coordinates and Lobatto IIIB for momenta, with s stages and order 2s − 2.
//!
//! $$Q_i=q_0+h\sum_ja_{ij}\dot q_j,\quad P_i=p_0+h\sum_j\hat a_{ij}\dot p_j,\quad b_i\hat a_{ij}+b_ja_{ji}=b_ib_j$$
//!
//! They are symplectic and symmetric for every H(q, p, t). With two stages the pair is the Störmer–Verlet scheme,
//!
//! $$p_{1/2}=p_0+\tfrac h2\dot p(q_0,p_{1/2}),\quad q_1=q_0+\tfrac h2\bigl(\dot q(q_0,p_{1/2})+\dot q(q_1,p_{1/2})\bigr),\quad
//! p_1=p_{1/2}+\tfrac h2\dot p(q_1,p_{1/2}).$$

use crate::card::{Card, Keeps, Kind, Needs, Sizing, Stepper};
use crate::error::RunError;
use crate::implicit::{Stages, Tableau};
use crate::step::Step;
use leastaction_mechanics::Dynamics;

pub(in crate::method) const STORMER_VERLET: Card =
    card("stormer-verlet", "Lobatto IIIA–IIIB, two stages: Störmer–Verlet", 2, |d, w, _| pair(2, d, w));
pub(in crate::method) const LOBATTO_PAIR4: Card =
    card("lobatto-pair4", "Lobatto IIIA–IIIB, three stages", 4, |d, w, _| pair(3, d, w));
pub(in crate::method) const LOBATTO_PAIR6: Card =
    card("lobatto-pair6", "Lobatto IIIA–IIIB, four stages", 6, |d, w, _| pair(4, d, w));

const fn card(name: &'static str, about: &'static str, order: u32, stepper: Stepper) -> Card {
    Card {
        name,
        about,
        order,
        keeps: &[Keeps::Symplectic, Keeps::Reversible, Keeps::Bilinear],
        needs: Needs::Free,
        kind: Kind::Implicit,
        sizing: Sizing::Given,
        cite: "doi:10.1137/0733019",
        stepper,
    }
}

/// The pair of s stages.
fn pair(s: usize, dynamics: &mut Dynamics, width: usize) -> Result<Box<dyn Step>, RunError> {
    Ok(Box::new(Stages::new(Tableau::lobatto(s), dynamics.system().jacobian_structure(), width)))
}

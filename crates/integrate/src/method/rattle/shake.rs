//! SHAKE: a multiplier brings positions onto the constraints, and velocities are left where that leads.
//!
//! $$p_{1/2}=p_0-\tfrac h2\nabla V(q_0)-G(q_0)^{\mathsf T}\Lambda,\quad q_1=q_0+hM^{-1}p_{1/2},\quad
//! p_1=p_{1/2}-\tfrac h2\nabla V(q_1)$$
//!
//! The momenta p₁ violate what constraints demand of velocities by about ½hλ, so the card does not claim constraints, and a run projects each
//! step onto them. Positions need no projection, and that of momenta, p₁ − G(q₁)ᵀμ, is what [`rattle`](super::rattle2) does: both have the
//! same motion, as Λ of the next step takes up any μ (J.-P. Ryckaert, G. Ciccotti and H. J. C. Berendsen, J. Comput. Phys. 23 (1977) 327,
//! doi:10.1016/0021-9991(77)90098-5; the equivalence: B. J. Leimkuhler and R. D. Skeel, J. Comput. Phys. 112 (1994) 117,
//! doi:10.1006/jcph.1994.1085). It is here to be compared with.

use super::Rattle;
use crate::card::{Card, Keeps, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "shake",
    about: "SHAKE: Störmer–Verlet, positions on constraints",
    order: 2,
    keeps: &[Keeps::Symplectic, Keeps::Reversible, Keeps::Bilinear],
    needs: Needs::Holonomic,
    kind: Kind::Implicit,
    sizing: Sizing::Given,
    cite: "doi:10.1016/0021-9991(77)90098-5",
    stepper: |dynamics, width, _| Rattle::boxed(dynamics, width, &[1.0], false),
};

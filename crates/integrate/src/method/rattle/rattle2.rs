//! RATTLE: one multiplier brings positions onto the constraints, the other velocities.
//!
//! $$p_{1/2}=p_0-\tfrac h2\nabla V(q_0)-G(q_0)^{\mathsf T}\Lambda,\quad q_1=q_0+hM^{-1}p_{1/2},\quad
//! p_1=p_{1/2}-\tfrac h2\nabla V(q_1)-G(q_1)^{\mathsf T}\mu$$
//!
//! (H. C. Andersen, J. Comput. Phys. 52 (1983) 24, doi:10.1016/0021-9991(83)90014-1; symplectic: B. J. Leimkuhler and R. D. Skeel,
//! J. Comput. Phys. 112 (1994) 117, doi:10.1006/jcph.1994.1085.)

use super::{KEEPS, Rattle};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "rattle",
    about: "RATTLE: Störmer–Verlet on constraints",
    order: 2,
    keeps: KEEPS,
    needs: Needs::Holonomic,
    kind: Kind::Implicit,
    sizing: Sizing::Given,
    cite: "doi:10.1016/0021-9991(83)90014-1",
    stepper: |dynamics, width, _| Rattle::boxed(dynamics, width, &[1.0], true),
};

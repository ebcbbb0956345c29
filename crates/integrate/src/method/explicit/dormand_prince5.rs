//! The pair of orders 5 and 4 by Dormand and Prince.
//!
//! Six evaluations a step; the rate at the end makes the error estimate, and Shampine's dense output of order 4 for nothing
//! (E. Hairer, S. P. Nørsett and G. Wanner, *Solving Ordinary Differential Equations I*, 1993, sections II.5 and II.6).

use super::{Dense, Estimate, Tableau};
use crate::card::{Card, Kind, Needs, Sizing};
use crate::dense::Basis;

pub(in crate::method) const CARD: Card = Card {
    name: "dormand-prince5",
    about: "Dormand–Prince 5(4)",
    order: 5,
    keeps: &[],
    needs: Needs::Field,
    kind: Kind::Explicit,
    sizing: Sizing::Estimated { order: 5 },
    cite: "doi:10.1016/0771-050X(80)90013-3",
    stepper: |dynamics, width, pace| Ok(TABLEAU.stepper(dynamics, width, pace)),
};

#[rustfmt::skip]
pub(super) static TABLEAU: Tableau = Tableau {
    method: CARD.name,
    stages: &[
        (1.0 / 5.0,  &[(0, 1.0 / 5.0)]),
        (3.0 / 10.0, &[(0, 3.0 / 40.0), (1, 9.0 / 40.0)]),
        (4.0 / 5.0,  &[(0, 44.0 / 45.0), (1, -56.0 / 15.0), (2, 32.0 / 9.0)]),
        (8.0 / 9.0,  &[(0, 19372.0 / 6561.0), (1, -25360.0 / 2187.0), (2, 64448.0 / 6561.0), (3, -212.0 / 729.0)]),
        (1.0,        &[(0, 9017.0 / 3168.0), (1, -355.0 / 33.0), (2, 46732.0 / 5247.0), (3, 49.0 / 176.0),
            (4, -5103.0 / 18656.0)]),
    ],
    weights: &[(0, 35.0 / 384.0), (2, 500.0 / 1113.0), (3, 125.0 / 192.0), (4, -2187.0 / 6784.0), (5, 11.0 / 84.0)],
    estimate: Estimate::Embedded(&[(0, 71.0 / 57600.0), (2, -71.0 / 16695.0), (3, 71.0 / 1920.0), (4, -17253.0 / 339200.0),
        (5, 22.0 / 525.0), (6, -1.0 / 40.0)]),
    dense: Dense {
        extra: &[],
        basis: Basis::Powers,
        terms: &[
            &[(0, 1.0)],
            &[(0, -8048581381.0 / 2820520608.0), (2, 131558114200.0 / 32700410799.0), (3, -1754552775.0 / 470086768.0),
                (4, 127303824393.0 / 49829197408.0), (5, -282668133.0 / 205662961.0), (6, 40617522.0 / 29380423.0)],
            &[(0, 8663915743.0 / 2820520608.0), (2, -68118460800.0 / 10900136933.0), (3, 14199869525.0 / 1410260304.0),
                (4, -318862633887.0 / 49829197408.0), (5, 2019193451.0 / 616988883.0), (6, -110615467.0 / 29380423.0)],
            &[(0, -12715105075.0 / 11282082432.0), (2, 87487479700.0 / 32700410799.0), (3, -10690763975.0 / 1880347072.0),
                (4, 701980252875.0 / 199316789632.0), (5, -1453857185.0 / 822651844.0), (6, 69997945.0 / 29380423.0)],
        ],
    },
};

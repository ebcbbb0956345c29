//! Tsitouras's pair of orders 5 and 4, which has small errors for few evaluations.
//!
//! Six evaluations a step; the slope at the end makes the error estimate, and dense output of order 4 for nothing.
//! Coefficients to 60 digits, rounded; they satisfy all order conditions.

use super::explicit::{Dense, Estimate, Tableau};
use crate::card::{Card, Kind, Needs, Sizing};
use crate::dense::Basis;

pub(super) const CARD: Card = Card {
    name: "tsit5",
    about: "Tsitouras 5(4)",
    order: 5,
    keeps: &[],
    needs: Needs::Field,
    kind: Kind::Explicit,
    sizing: Sizing::Estimated { order: 5 },
    cite: "doi:10.1016/j.camwa.2011.06.002",
    stepper: |dynamics, width, _| Ok(TABLEAU.stepper(dynamics, width)),
};

#[rustfmt::skip]
pub(super) static TABLEAU: Tableau = Tableau {
    stages: &[
        (0.161, &[(0, 0.161)]),
        (0.327, &[(0, -0.008480655492356989), (1, 0.335480655492357)]),
        (0.9, &[(0, 2.8971530571054935), (1, -6.359448489975075), (2, 4.3622954328695815)]),
        (0.9800255409045097, &[(0, 5.325864828439257), (1, -11.748883564062828), (2, 7.4955393428898365),
            (3, -0.09249506636175525)]),
        (1.0, &[(0, 5.86145544294642), (1, -12.92096931784711), (2, 8.159367898576159),
            (3, -0.071584973281401), (4, -0.028269050394068383)]),
    ],
    weights: &[(0, 0.09646076681806523), (1, 0.01), (2, 0.4798896504144996), (3, 1.379008574103742),
        (4, -3.290069515436081), (5, 2.324710524099774)],
    ends: true,
    estimate: Estimate::Embedded(&[(0, -0.0017800110522257714), (1, -0.0008164344596567469), (2, 0.007880878010261995),
        (3, -0.1447110071732629), (4, 0.5823571654525552), (5, -0.45808210592918697), (6, 0.015151515151515152)]),
    dense: Some(Dense {
        extra: &[],
        basis: Basis::Powers,
        terms: &[
            &[(0, 1.0)],
            &[(0, -2.763706197274826), (1, 0.1317), (2, 3.9302962368947516), (3, -12.411077166933676),
                (4, 37.50931341651104), (5, -27.896526289197286), (6, 1.5)],
            &[(0, 2.9132554618219126), (1, -0.2234), (2, -5.941033872131505), (3, 30.33818863028232),
                (4, -88.1789048947664), (5, 65.09189467479366), (6, -4.0)],
            &[(0, -1.0530884977290216), (1, 0.1017), (2, 2.490627285651253), (3, -16.548102889244902),
                (4, 47.37952196281928), (5, -34.87065786149661), (6, 2.5)],
        ],
    }),
};

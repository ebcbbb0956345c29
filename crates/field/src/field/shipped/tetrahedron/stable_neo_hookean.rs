//! The stable neo-Hookean material, which is defined for flat and inverted elements, too, and comes back from them.

use super::{Card, Deformation, LAME, card};

const REFERENCE: &str = "B. Smith, F. de Goes and T. Kim, doi:10.1145/3180491";

/// Equation 14 of the paper, with its constants m and l chosen so that small strains obey Hooke's law. The energy is not zero at rest.
pub(in super::super) const CARD: Card = card(
    "stable-neo-hookean",
    "tetrahedra of a neo-Hookean material that recovers from inversion",
    "V (m/2 (I1 - 3) + l/2 (J - a)^2 - m/2 ln(I1 + 1)), m = 4/3 mu, l = lambda + 5/6 mu, a = 1 + 3 m/(4 l)",
    REFERENCE,
    LAME,
    |given| {
        let deformation = Deformation::of(given);
        let (lambda, mu) = (given.get("lambda"), given.get("mu"));
        let (m, l) = (mu * (4.0 / 3.0), lambda + mu * (5.0 / 6.0));
        let rest = 1.0 + mu / l;
        let first = deformation.first();
        let stretch = 0.5 * m * ((first - 3.0) - (first + 1.0).ln());
        deformation.volume * (stretch + 0.5 * l * (deformation.jacobian() - rest).pow(2))
    },
);

/// The simpler energy without a logarithm, which is zero at rest.
pub(in super::super) const WITHOUT_LOGARITHM: Card = card(
    "stable-neo-hookean-simple",
    "the same without its logarithm, and with no energy at rest",
    "V (mu/2 (I1 - 3) - mu (J - 1) + (lambda + mu)/2 (J - 1)^2)",
    REFERENCE,
    LAME,
    |given| {
        let deformation = Deformation::of(given);
        let (lambda, mu) = (given.get("lambda"), given.get("mu"));
        let growth = deformation.jacobian() - 1.0;
        let stretch = 0.5 * mu * (deformation.first() - 3.0) - mu * growth;
        deformation.volume * (stretch + 0.5 * (lambda + mu) * growth.pow(2))
    },
);

//! The compressible neo-Hookean material with a logarithm of the volume. It is not defined for inverted elements.

use super::{Card, Deformation, LAME, card};

pub(in super::super) const CARD: Card = card(
    "neo-hookean",
    "tetrahedra of a compressible neo-Hookean material, which cannot be inverted",
    "V (mu/2 (I1 - 3) - mu ln J + lambda/2 (ln J)^2)",
    "J. Bonet and R. D. Wood, Nonlinear Continuum Mechanics for Finite Element Analysis, doi:10.1017/CBO9780511755446",
    LAME,
    |given| {
        let deformation = Deformation::of(given);
        let (lambda, mu) = (given.get("lambda"), given.get("mu"));
        let log = deformation.jacobian().ln();
        deformation.volume * (0.5 * mu * (deformation.first() - 3.0) + (0.5 * lambda * log - mu) * log)
    },
);

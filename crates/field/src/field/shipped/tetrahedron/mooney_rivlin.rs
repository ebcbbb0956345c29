//! The compressible material of Mooney and Rivlin. It is not defined for inverted elements.

use super::{Card, Deformation, Parameter, card};

pub(in super::super) const CARD: Card = card(
    "mooney-rivlin",
    "tetrahedra of a compressible material after Mooney and Rivlin, which cannot be inverted",
    "V (C10 (J^(-2/3) I1 - 3) + C01 (J^(-4/3) I2 - 3) + kappa/2 (J - 1)^2)",
    "M. Mooney, doi:10.1063/1.1712836; R. S. Rivlin, doi:10.1098/rsta.1948.0024",
    &[
        Parameter::of_field("c10", "half of the shear modulus that comes from I1"),
        Parameter::of_field("c01", "half of the shear modulus that comes from I2"),
        Parameter::of_field("kappa", "the bulk modulus"),
    ],
    |given| {
        let deformation = Deformation::of(given);
        let jacobian = deformation.jacobian();
        // By a logarithm: a cube root would let inverted elements pass.
        let shrink = (jacobian.ln() * (-2.0 / 3.0)).exp();
        let first = given.get("c10") * (shrink * deformation.first() - 3.0);
        let second = given.get("c01") * (shrink.pow(2) * deformation.second() - 3.0);
        deformation.volume * (first + second + 0.5 * given.get("kappa") * (jacobian - 1.0).pow(2))
    },
);

//! Corotational materials: Hooke's law in the frame of the rotation R of F = R S.
//!
//! Neither R nor S is needed, only σ = tr S, the sum of the principal stretches: |F − R|² = I₁ − 2σ + 3, and ∂σ/∂F = R. It is the largest root of
//! q(σ) = σ⁴ − 2 I₁ σ² − 8 J σ + I₁² − 4 I₂, as (σ² − I₁)²/4 = (s₁s₂ + s₂s₃ + s₃s₁)² = I₂ + 2Jσ shows. The root is simple, and so σ smooth, unless two
//! stretches cancel (s₂ + s₃ = 0), in particular at rest; forces and their changes follow from q, in which nothing is singular there. The
//! value comes from the eigenvalues of C by their trigonometric formula, whose few digits near equal eigenvalues two steps of Newton's
//! method complete. For inverted elements s₃ < 0: R is a rotation always.

use super::{Card, Deformation, LAME, card};
use crate::field::shipped::Given;
use leastaction_expr::Expr;

pub(in super::super) const CARD: Card = card(
    "corotational",
    "tetrahedra that obey Hooke's law in a frame that turns with them",
    "V (mu |F - R|^2 + lambda/2 (tr S - 3)^2), F = R S",
    "M. Müller and M. Gross, Interactive Virtual Materials, Graphics Interface 2004; T. Kim and D. Eberle, doi:10.1145/3388769.3407490",
    LAME,
    |given| {
        let deformation = Deformation::of(given);
        let sum = stretches(given, &deformation);
        let turned = given.get("mu") * (deformation.first() - 2.0 * sum + 3.0);
        deformation.volume * (turned + 0.5 * given.get("lambda") * (sum - 3.0).pow(2))
    },
);

pub(in super::super) const FIXED: Card = card(
    "fixed-corotated",
    "the same with the energy of the volume itself",
    "V (mu |F - R|^2 + lambda/2 (J - 1)^2), F = R S",
    "A. Stomakhin, R. Howes, C. Schroeder and J. M. Teran, doi:10.2312/SCA/SCA12/025-032",
    LAME,
    |given| {
        let deformation = Deformation::of(given);
        let sum = stretches(given, &deformation);
        let turned = given.get("mu") * (deformation.first() - 2.0 * sum + 3.0);
        deformation.volume * (turned + 0.5 * given.get("lambda") * (deformation.jacobian() - 1.0).pow(2))
    },
);

/// σ = s₁ + s₂ + s₃.
fn stretches<'g>(given: &mut Given<'_, 'g>, deformation: &Deformation<'g>) -> Expr<'g> {
    let (first, second, jacobian) = (deformation.first(), deformation.second(), deformation.jacobian());
    let quartic = |sum: Expr<'g>| (sum.pow(2) - first).pow(2) - 8.0 * jacobian * sum - 4.0 * second;
    let mut sum = by_eigenvalues(first, second, jacobian);
    for _ in 0..2 {
        let slope = 4.0 * sum * (sum.pow(2) - first) - 8.0 * jacobian;
        // Where all is collapsed there is nothing to improve.
        sum -= slope.gt(0.0).select(quartic(sum) / slope, 0.0);
    }
    given.element.implicit("stretches", sum, quartic)
}

/// From the eigenvalues m + 2p cos(φ + 2πk/3) of C (O. K. Smith, doi:10.1145/355578.366316), to half of the digits.
fn by_eigenvalues<'g>(first: Expr<'g>, second: Expr<'g>, jacobian: Expr<'g>) -> Expr<'g> {
    let mean = first * (1.0 / 3.0);
    let spread = ((first.pow(2) - 3.0 * second) * (1.0 / 9.0)).max(0.0).sqrt();
    let cubic = mean.pow(3) - 0.5 * mean * second + 0.5 * jacobian.pow(2);
    let cube = spread.pow(3);
    let cosine = cube.gt(0.0).select(cubic / cube, 1.0).max(-1.0).min(1.0);
    let angle = cosine.acos() * (1.0 / 3.0);
    let largest = mean + 2.0 * spread * angle.cos();
    let least = mean + 2.0 * spread * (angle + 2.0 * std::f64::consts::FRAC_PI_3).cos();
    let middle = first - largest - least;
    let [largest, middle, least] = [largest, middle, least].map(|square| square.max(0.0).sqrt());
    largest + middle + jacobian.lt(0.0).select(-least, least)
}

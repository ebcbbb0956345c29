//! The material of St. Venant and Kirchhoff: Hooke's law of Green's strain.

use super::{Card, Deformation, LAME, card};

pub(in super::super) const CARD: Card = card(
    "st-venant-kirchhoff",
    "tetrahedra that obey Hooke's law of Green's strain",
    "V (mu G:G + lambda/2 tr(G)^2), G = (F'F - 1)/2",
    "J. Bonet and R. D. Wood, Nonlinear Continuum Mechanics for Finite Element Analysis, doi:10.1017/CBO9780511755446",
    LAME,
    |given| {
        let deformation = Deformation::of(given);
        let [a, b, c, d, e, f] = deformation.right();
        let [a, b, c] = [a, b, c].map(|x| x - 1.0);
        // With E = 2 G: G:G = E:E/4, and tr(G)² = tr(E)²/4.
        let trace = a + b + c;
        let square = a.pow(2) + b.pow(2) + c.pow(2) + 2.0 * (d.pow(2) + e.pow(2) + f.pow(2));
        deformation.volume * (0.25 * given.get("mu") * square + 0.125 * given.get("lambda") * trace.pow(2))
    },
);

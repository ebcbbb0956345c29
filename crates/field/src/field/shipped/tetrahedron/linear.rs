//! Hooke's law of small strains.

use super::{Card, Deformation, LAME, card};

pub(in super::super) const CARD: Card = Card {
    invariant: [true, false],
    ..card(
        "linear",
        "tetrahedra of a linear material, for small strains and rotations",
        "V (mu e:e + lambda/2 tr(e)^2), e = (F + F')/2 - 1",
        "Hooke's law",
        LAME,
        |given| {
            let deformation = Deformation::of(given);
            let f = deformation.gradient;
            let along: [_; 3] = std::array::from_fn(|i| f[i][i] - 1.0);
            let across = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| f[i][j] + f[j][i]);
            let trace = along[0] + along[1] + along[2];
            let squares = along[0].pow(2) + along[1].pow(2) + along[2].pow(2);
            let square = squares + 0.5 * (across[0].pow(2) + across[1].pow(2) + across[2].pow(2));
            deformation.volume * (given.get("mu") * square + 0.5 * given.get("lambda") * trace.pow(2))
        },
    )
};

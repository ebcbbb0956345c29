//! The method of Sofroniou and Spaletta: order ten by thirty-five steps of `verlet`, none of them long.

use super::{SYMMETRIC, Splitting, Table};
use crate::card::{Card, Kind, Needs, Sizing};

pub(in crate::method) const CARD: Card = Card {
    name: "sofroniou-spaletta10",
    about: "Sofroniou–Spaletta, thirty-five steps of verlet",
    order: 10,
    keeps: SYMMETRIC,
    needs: Needs::Separable,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "doi:10.1080/10556780500140664",
    stepper: |dynamics, width, _| Splitting::boxed(dynamics, width, CARD.name, TABLE),
};

pub(super) const TABLE: Table = Table::OfVerlet(&[
    0.07879572252168641,
    0.3130961034151085,
    0.027918383235078066,
    -0.22959284159390708,
    0.13096206107716488,
    -0.2697334056545107,
    0.07497334315589144,
    0.1119934239998102,
    0.36613344954622673,
    -0.3991056301360359,
    0.10308739852747108,
    0.41143087395589023,
    -0.0048663605831352616,
    -0.3920333537086399,
    0.05194250296244965,
    0.050665090759924494,
    0.049674370639729876,
    0.049317735759594535,
]);

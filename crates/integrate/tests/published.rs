//! Problems whose answers were published by others.

use crate::common::{begin, distance, kepler};
use leastaction_expr::Graph;
use leastaction_integrate::{ALL, Card, Integrator, Needs, Pace, Sizing, Tolerance};
use leastaction_mechanics::{Dynamics, Model, State};

/// Seven stars in a plane, with G = 1 and masses 1 to 7 (E. Hairer, S. P. Nørsett and G. Wanner, *Solving Ordinary Differential
/// Equations I*, 1993, section II.10). Positions at t = 3 from F. Mazzia and C. Magherini, *Test Set for Initial Value Problem Solvers*,
/// release 2.4, 2008.
fn pleiades() -> (Dynamics, State) {
    let x = [3.0, 3.0, -1.0, -3.0, 2.0, -2.0, 2.0];
    let y = [3.0, -3.0, 2.0, 0.0, 0.0, -4.0, 4.0];
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let xs = [1, 2, 3, 4, 5, 6, 7].map(|i| model.coordinate(&format!("x{i}")));
    let ys = [1, 2, 3, 4, 5, 6, 7].map(|i| model.coordinate(&format!("y{i}")));
    for i in 0..7 {
        model.particle(&format!("star {}", i + 1), (i + 1) as f64, [xs[i], ys[i]]);
        for j in 0..i {
            let distance = ((xs[i] - xs[j]).pow(2.0) + (ys[i] - ys[j]).pow(2.0)).sqrt();
            let masses = ((i + 1) * (j + 1)) as f64;
            model.potential(&format!("{i}–{j}"), -masses / distance);
        }
    }
    let names: Vec<(String, f64)> = (0..7)
        .flat_map(|i| [(format!("x{}", i + 1), x[i]), (format!("y{}", i + 1), y[i])])
        .chain([("x6'", 1.75), ("x7'", -1.5), ("y4'", -1.25), ("y5'", 1.0)].map(|(n, v)| (n.to_owned(), v)))
        .collect();
    let start: Vec<(&str, f64)> = names.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    begin(&model, &start)
}

#[rustfmt::skip]
const PLEIADES: [f64; 14] = [
    0.3706139143970502, 3.237284092057233, -3.222559032418324, 0.659709145577531, 0.3425581707156584, 1.562172101400631,
    -0.7003092922212495,
    -3.943437585517392, -3.27138097397255, 5.225081843456543, -2.59061243497747, 1.198213693392275, -0.2429682344935824,
    1.09144924042898,
];

/// A satellite between Earth and Moon, in the frame that turns with them, on an orbit that closes
/// (E. Hairer, S. P. Nørsett and G. Wanner, *Solving Ordinary Differential Equations I*, 1993, equations 0.1 and 0.2).
fn arenstorf() -> (Dynamics, State) {
    const MU: f64 = 0.012277471;
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    let [u, v] = model.velocities([x, y]);
    let to = |at: f64| ((x - at).pow(2.0) + y.pow(2.0)).sqrt();
    let motion = 0.5 * ((u - y).pow(2.0) + (v + x).pow(2.0));
    model.lagrangian("satellite", motion + (1.0 - MU) / to(-MU) + MU / to(1.0 - MU));
    begin(&model, &[("x", 0.994), ("y'", -2.001_585_106_379_082_5)])
}

const PERIOD: f64 = 17.065_216_560_157_964;

/// Kepler's problem at t = 20 for e = 0.1 and e = 0.5: D1 and D3 of T. E. Hull, W. H. Enright, B. M. Fellen and A. E. Sedgwick,
/// SIAM J. Numer. Anal. 9 (1972) 603, doi:10.1137/0709052.
const D1: [f64; 4] = [0.2198835352008397, 0.9427076846341813, -0.9787659841058176, 0.3287977990962036];
const D3: [f64; 4] = [-0.5780432953035361, 0.8633840009194193, -0.9595083730380727, -0.0650491512671209];

fn end(card: &'static Card, pace: Pace, (dynamics, start): &mut (Dynamics, State), t: f64) -> Vec<f64> {
    Integrator::new(card, pace).ends_only().run(dynamics, start, t).unwrap().end().block()
}

/// Methods for any field that find their steps, at a tolerance near rounding.
fn adaptive() -> impl Iterator<Item = (&'static Card, Pace)> {
    let adaptive = ALL.iter().filter(|card| card.sizing != Sizing::Given && card.needs == Needs::Field);
    adaptive.map(|card| (card, Pace::from(Tolerance::relative(1e-13))))
}

/// To eleven decimals.
#[test]
fn stars_of_the_pleiades_are_where_they_should_be() {
    for (card, pace) in adaptive() {
        let found = distance(&end(card, pace, &mut pleiades(), 3.0)[..14], &PLEIADES);
        assert!(found < 3e-12, "{}: off by {found:e}", card.name);
    }
    for (name, step, allowed) in [("rk4", 1e-4, 1e-5), ("dop853", 2.5e-4, 1e-8), ("ias15", 1e-3, 1e-10)] {
        let found = end(Card::named(name).unwrap(), Pace::Step(step), &mut pleiades(), 3.0);
        let found = distance(&found[..14], &PLEIADES);
        assert!(found < allowed, "{name}: off by {found:e}");
    }
}

/// To nine decimals. The orbit begins 0.006 from the Moon, and is sensitive: tighter tolerances do not close it better than to 3·10⁻¹¹.
#[test]
fn arenstorf_orbits_close() {
    for (card, pace) in adaptive() {
        let mut satellite = arenstorf();
        let found = distance(&end(card, pace, &mut satellite, PERIOD), &satellite.1.block());
        assert!(found < 5e-10, "{}: off by {found:e}", card.name);
    }
}

/// To ten decimals.
#[test]
fn planets_of_detest_are_where_they_should_be() {
    for (e, expected) in [(0.1, D1), (0.5, D3)] {
        for (card, pace) in adaptive() {
            let found = distance(&end(card, pace, &mut kepler(e), 20.0), &expected);
            assert!(found < 2e-11, "{}: off by {found:e} for e = {e}", card.name);
        }
        for card in ALL.iter().filter(|card| card.order >= 4) {
            let mut planet = kepler(e);
            if !card.needs.met_by(planet.0.system().facts()) {
                continue;
            }
            let allowed = if card.order < 6 { 1e-5 } else { 1e-9 };
            let found = distance(&end(card, Pace::Step(0.005), &mut planet, 20.0), &expected);
            assert!(found < allowed, "{}: off by {found:e} for e = {e}", card.name);
        }
    }
}

/// A pendulum of 1 m and 1 kg in Cartesian coordinates, let go from (−1, 0): problem A01 of the library of benchmark problems of the IFToMM
/// technical committee for multibody dynamics (M. González, F. González, A. Luaces and J. Cuadrado, Eng. Comput. 26 (2010) 1,
/// doi:10.1007/s00366-009-0139-0). Position at t = 10.
fn hanging() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bob", 1.0, [x, y]);
    model.gravity([0.0, -9.81]);
    model.constraint("rod", x * x + y * y, 1.0);
    begin(&model, &[("x", -1.0)])
}

const A01: [f64; 2] = [-0.275087462576119, -0.961419205099124];

/// To twelve decimals; with steps of 1 ms to what the order allows.
#[test]
fn the_pendulum_of_iftomm_is_where_it_should_be() {
    for (card, pace) in adaptive() {
        let found = distance(&end(card, pace, &mut hanging(), 10.0)[..2], &A01);
        // Methods of low order make many steps, and each rounds.
        let allowed = if card.order <= 5 { 5e-12 } else { 1e-12 };
        assert!(found < allowed, "{}: off by {found:e}", card.name);
    }
    for card in ALL {
        let mut bob = hanging();
        if !card.needs.met_by(bob.0.system().facts()) {
            continue;
        }
        let allowed = match card.order {
            1..=3 => 1e-3,
            4 | 5 => 1e-8,
            _ => 1e-12,
        };
        let found = distance(&end(card, Pace::Step(1e-3), &mut bob, 10.0)[..2], &A01);
        assert!(found < allowed, "{}: off by {found:e}", card.name);
    }
}

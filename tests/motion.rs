//! The same physics said in different ways is the same motion, and the right one: closed forms and published values.

#![allow(clippy::excessive_precision)] // published digits are given as published

use leastaction::{Card, Dynamics, Expr, Graph, Integrator, METHODS, Model, State, catalog};
use std::f64::consts::TAU;

fn begin(model: &Model<'_>, start: &[(&str, f64)]) -> (Dynamics, State) {
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(start).unwrap();
    (dynamics, start)
}

fn run(card: &'static Card, (dynamics, start): &mut (Dynamics, State), step: f64, end: f64) -> State {
    Integrator::new(card, step).ends_only().run(dynamics, start, end).unwrap().end()
}

fn rk4() -> &'static Card {
    Card::named("rk4").unwrap()
}

/// The positions of the particles.
fn positions(dynamics: &mut Dynamics, state: &State) -> Vec<f64> {
    let len = dynamics.system().places().iter().map(|place| place.dimensions).sum();
    let mut positions = vec![0.0; len];
    dynamics.positions(&[state.t], &state.block(), &mut positions).unwrap();
    positions
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// The map of the catalog, the Lagrangian of every textbook, and the Hamiltonian that follows by inverting its mass matrix.
#[test]
fn map_lagrangian_and_hamiltonian_move_alike() {
    let graph = Graph::new();
    let map = catalog::Entry::named("double-pendulum-unequal").unwrap().setup(&graph).model;
    let [m1, m2, l1, l2, g] = [1.0, 2.0, 1.0, 0.5, 5.0];

    let mut lagrangian = Model::new(&graph);
    let [a, b] = lagrangian.coordinates(["th1", "th2"]);
    let [u, v] = lagrangian.velocities([a, b]);
    let kinetic =
        0.5 * (m1 + m2) * l1 * l1 * u * u + 0.5 * m2 * l2 * l2 * v * v + m2 * l1 * l2 * u * v * (a - b).cos();
    let weight = -(m1 + m2) * g * l1 * a.cos() - m2 * g * l2 * b.cos();
    lagrangian.lagrangian("all", kinetic - weight);

    let mut hamiltonian = Model::new(&graph);
    let [a, b] = hamiltonian.coordinates(["th1", "th2"]);
    let [p, q] = hamiltonian.momenta(["p_th1", "p_th2"]);
    let (c, s) = ((a - b).cos(), (a - b).sin());
    let top = m2 * l2 * l2 * p * p + (m1 + m2) * l1 * l1 * q * q - 2.0 * m2 * l1 * l2 * p * q * c;
    hamiltonian.hamiltonian("motion", top / (2.0 * m2 * l1 * l1 * l2 * l2 * (m1 + m2 * s * s)));
    hamiltonian.potential("weight", weight);

    let facts = begin(&hamiltonian, &[]).0.system().facts().clone();
    for card in METHODS.iter().filter(|card| card.needs.met_by(&facts)) {
        let ends = [&map, &lagrangian, &hamiltonian].map(|model| {
            let mut system = begin(model, &[("th1", 1.0), ("th2'", 0.5)]);
            run(card, &mut system, 0.002, 2.0).block()
        });
        for end in &ends[1..] {
            assert!(distance(end, &ends[0]) < 1e-12, "{}: {end:?} and {:?}", card.name, ends[0]);
        }
    }
}

/// A planet about a sun of GM = 1 at the origin, by a map from the coordinates, starting with these values.
fn kepler(names: [&str; 2], map: fn([Expr<'_>; 2]) -> [Expr<'_>; 2], start: [f64; 4]) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = map(model.coordinates(names));
    model.particle("planet", 1.0, [x, y]);
    model.potential("gravity", -1.0 / (x * x + y * y).sqrt());
    let rates = names.map(|name| format!("{name}'"));
    let all = [names[0], names[1], &rates[0], &rates[1]];
    begin(&model, &all.into_iter().zip(start).collect::<Vec<_>>())
}

/// DETEST problems D1 (e = 0.1) and D3 (e = 0.5) at t = 20, to the digits of the reference solution (T. E. Hull, W. H. Enright,
/// B. M. Fellen and A. E. Sedgwick, SIAM J. Numer. Anal. 9 (1972) 603).
#[test]
fn cartesian_polar_and_elliptic_coordinates_reach_the_published_values() {
    let published = [
        (0.1, [0.2198835352008397, 0.9427076846341813, -0.9787659841058176, 0.3287977990962036]),
        (0.5, [-0.5780432953035361, 0.8633840009194193, -0.9595083730380727, -0.06504915126712089]),
    ];
    for (e, expected) in published {
        let (r, v) = (1.0 - e, f64::sqrt((1.0 + e) / (1.0 - e)));
        // Elliptic coordinates with foci at the sun and at (−2, 0): x = cosh m cos n − 1, y = sinh m sin n.
        let (m, dn) = ((1.0 + r).acosh(), v / (1.0 + r).acosh().sinh());
        let mut written = [
            kepler(["x", "y"], |[x, y]| [x, y], [r, 0.0, 0.0, v]),
            kepler(["r", "th"], |[r, th]| [r * th.cos(), r * th.sin()], [r, 0.0, 0.0, v / r]),
            kepler(["m", "n"], |[m, n]| [m.cosh() * n.cos() - 1.0, m.sinh() * n.sin()], [m, 0.0, 0.0, dn]),
        ];
        let ends = written.each_mut().map(|system| {
            let end = run(rk4(), system, 2.5e-4, 20.0);
            positions(&mut system.0, &end)
        });
        for end in &ends {
            assert!(distance(end, &expected[..2]) < 1e-11, "e = {e}: {end:?}");
        }
        let end = run(rk4(), &mut written[0], 2.5e-4, 20.0);
        assert!(distance(&end.block(), &expected) < 1e-11, "e = {e}: {end:?}");
    }
}

const MOON: f64 = 0.012277471;

/// A satellite of Earth at −μ and Moon at 1 − μ that turn together once in 2π: in turning coordinates x, y by a map that depends on
/// time, and in fixed coordinates with a potential that does.
fn satellite(turning: bool, start: [f64; 4]) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let t = model.time();
    let [x, y] = model.coordinates(["x", "y"]);
    let (fixed, seen) = if turning {
        ([x * t.cos() - y * t.sin(), x * t.sin() + y * t.cos()], [x, y])
    } else {
        ([x, y], [x * t.cos() + y * t.sin(), y * t.cos() - x * t.sin()])
    };
    model.particle("satellite", 1.0, fixed);
    for (name, mass, place) in [("earth", 1.0 - MOON, -MOON), ("moon", MOON, 1.0 - MOON)] {
        model.potential(name, -mass / ((seen[0] - place).pow(2.0) + seen[1].pow(2.0)).sqrt());
    }
    begin(&model, &["x", "y", "x'", "y'"].into_iter().zip(start).collect::<Vec<_>>())
}

/// The Arenstorf orbit closes after its period (E. Hairer, S. P. Nørsett and G. Wanner, *Solving Ordinary Differential Equations I*, 1993,
/// section II.0), and looks the same from both frames.
#[test]
fn a_turning_frame_shows_the_same_motion() {
    const PERIOD: f64 = 17.0652165601579625588917206249;
    const SPEED: f64 = -2.00158510637908252240537862224;
    let mut turning = satellite(true, [0.994, 0.0, 0.0, SPEED]);
    // Fixed velocities are those seen while turning, and 1 × the position.
    let mut fixed = satellite(false, [0.994, 0.0, 0.0, SPEED + 0.994]);
    for end in [1.0, 6.0] {
        let ends = [&mut turning, &mut fixed].map(|system| {
            let end = run(rk4(), system, 2e-5, end);
            positions(&mut system.0, &end)
        });
        assert!(distance(&ends[0], &ends[1]) < 1e-8, "{ends:?}");
    }
    let end = run(rk4(), &mut turning, 1e-5, PERIOD);
    assert!(distance(&end.q, &[0.994, 0.0]) < 1e-9, "{end:?}");
}

/// Errors at a step and at half of it, against a closed form: as small as the order says, until rounding hides that.
fn converges(system: &mut (Dynamics, State), end: f64, step: f64, exact: &[f64]) {
    let facts = system.0.system().facts().clone();
    for card in METHODS.iter().filter(|card| card.needs.met_by(&facts)) {
        let errors = [step, step / 2.0].map(|h| distance(&run(card, system, h, end).q, exact));
        let slope = (errors[0] / errors[1]).log2();
        let bound = 100.0 * (2.0 * step).powi(card.order as i32) + 1e-12;
        // Below that there is rounding, and no slope.
        let rounded = errors[1] < 1e-12;
        assert!(
            errors[0] < bound && (rounded || (slope - f64::from(card.order)).abs() < 0.2),
            "{}: {errors:?}",
            card.name
        );
    }
}

/// x = transient + steady state, with amplitude F/√((k − mω²)² + c²ω²).
#[test]
fn a_driven_and_damped_oscillator_follows_its_closed_form() {
    let (m, k, c, force, w) = (1.5, 6.0, 0.3, 0.8, 1.7);
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let (t, x) = (model.time(), model.coordinate("x"));
    model.particle("mass", m, [x]);
    model.potential("spring", 0.5 * k * x * x);
    model.dissipation("friction", 0.5 * c * model.velocity(x).pow(2.0));
    model.force(x, force * (w * t).cos());
    let mut system = begin(&model, &[("x", 1.0)]);

    let (decay, own) = (c / (2.0 * m), (k / m - (c / (2.0 * m)).powi(2)).sqrt());
    let size = (k - m * w * w).powi(2) + (c * w).powi(2);
    let [cosine, sine] = [force * (k - m * w * w) / size, force * c * w / size];
    let (a, b) = (1.0 - cosine, (decay * (1.0 - cosine) - sine * w) / own);
    let exact = |t: f64| {
        (-decay * t).exp() * (a * (own * t).cos() + b * (own * t).sin())
            + cosine * (w * t).cos()
            + sine * (w * t).sin()
    };
    converges(&mut system, 7.0, 0.02, &[exact(7.0)]);
}

/// L = ½m v² + (qB/2)(x ẏ − y ẋ): circles of radius m v/(qB), qB/m of them in 2π, clockwise.
#[test]
fn a_charge_circles_at_its_cyclotron_frequency() {
    let (m, charge, field, v) = (0.7, 1.3, 2.1, 0.9);
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    let [dx, dy] = model.velocities([x, y]);
    model.particle("charge", m, [x, y]);
    model.lagrangian("field", 0.5 * charge * field * (x * dy - y * dx));
    let mut system = begin(&model, &[("y'", v)]);
    let (w, r) = (charge * field / m, m * v / (charge * field));
    for turns in [0.3, 1.0, 2.5] {
        let angle: f64 = TAU * turns;
        converges(&mut system, angle / w, TAU / w / 200.0, &[r * (1.0 - angle.cos()), r * angle.sin()]);
    }
}

/// The Pleiades: seven stars of masses 1 to 7 in a plane, with close encounters, to t = 3 (E. Hairer, S. P. Nørsett and
/// G. Wanner, *Solving Ordinary Differential Equations I*, section II.10; reference solution of the Test Set for IVP Solvers).
#[test]
fn the_pleiades_reach_the_published_places() {
    let x = [3.0, 3.0, -1.0, -3.0, 2.0, -2.0, 2.0];
    let y = [3.0, -3.0, 2.0, 0.0, 0.0, -4.0, 4.0];
    let mut start: Vec<(String, f64)> = Vec::new();
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let stars: Vec<[Expr<'_>; 2]> = (0..7)
        .map(|i| {
            let names = ["x", "y"].map(|axis| format!("{axis}{}", i + 1));
            start.extend(names.iter().cloned().zip([x[i], y[i]]));
            let place = names.map(|name| model.coordinate(&name));
            model.particle(&format!("star{}", i + 1), (i + 1) as f64, place);
            place
        })
        .collect();
    for i in 0..7 {
        for j in 0..i {
            let [dx, dy] = [0, 1].map(|axis| stars[i][axis] - stars[j][axis]);
            let pull = -(((i + 1) * (j + 1)) as f64) / (dx * dx + dy * dy).sqrt();
            model.potential(&format!("gravity {} {}", j + 1, i + 1), pull);
        }
    }
    for (name, value) in [("x6'", 1.75), ("x7'", -1.5), ("y4'", -1.25), ("y5'", 1.0)] {
        start.push((name.to_owned(), value));
    }
    let start: Vec<(&str, f64)> = start.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let end = run(rk4(), &mut begin(&model, &start), 2e-5, 3.0);
    let expected = [
        [0.3706139143970502, -3.943437585517392],
        [3.237284092057233, -3.271380973972550],
        [-3.222559032418324, 5.225081843456543],
        [0.6597091455775310, -2.590612434977470],
        [0.3425581707156584, 1.198213693392275],
        [1.562172101400631, -0.2429682344935824],
        [-0.7003092922212495, 1.091449240428980],
    ];
    assert!(distance(&end.q, expected.as_flattened()) < 1e-8, "{end:?}");
}

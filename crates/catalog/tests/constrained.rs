//! The systems with constraints: against closed forms, and against the same motion in coordinates that need none.

use crate::common::{assert_near, begin, energy, violation};
use leastaction_catalog::Entry;
use leastaction_expr::{Expr, Graph};
use leastaction_integrate::{Event, Integrator, Tolerance, Trajectory};
use leastaction_mechanics::{Dynamics, Model, State};
use std::f64::consts::{FRAC_PI_2, PI};

/// A run with nearly all digits, sampled now and then.
fn accurately(dynamics: &mut Dynamics, start: &State, until: f64) -> Trajectory {
    let run = Integrator::named("dop853", Tolerance::relative(1e-14)).unwrap();
    run.spaced(until / 50.0).run(dynamics, start, until).unwrap()
}

/// Asserts that two runs show the same motion: each name of the one, and its velocity, is an expression of the other.
fn assert_same(
    one: (&Trajectory, &mut Dynamics),
    two: (&Trajectory, &mut Dynamics),
    places: &[(String, Expr<'_>)],
) {
    let ((run, dynamics), (same, other)) = (one, two);
    assert_eq!(run.times(), same.times());
    let mut off = 0.0_f64;
    for (name, place) in places {
        let rate = Model::new(place.graph()).velocity(*place);
        for (name, place) in [(name.clone(), place.to_string()), (format!("{name}'"), rate.to_string())] {
            let (what, expected) = (dynamics.observable(&name).unwrap(), other.observable(&place).unwrap());
            let found = run.observations(dynamics, what).unwrap();
            let expected = same.observations(other, expected).unwrap();
            off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(off, f64::max);
        }
    }
    println!("{} constraints: {off:.1e} apart", dynamics.system().constraints().len());
    assert!(off < 1e-10, "{off:e}");
    assert!(violation(dynamics, run) < 1e-14);
}

#[test]
fn the_damped_pendulum_swings_as_its_angle_does() {
    let graph = Graph::new();
    let (_, mut bob, _) = begin(&graph, "damped-pendulum");
    let start = bob.start(&[("x", 2.5_f64.sin()), ("y", -2.5_f64.cos())]).unwrap();
    let run = accurately(&mut bob, &start, 10.0);

    let mut model = Model::new(&graph);
    let th = model.coordinate("th");
    let rate = model.velocity(th);
    model.kinetic("motion", rate * rate / 2.0);
    model.potential("gravity", -9.81 * th.cos());
    model.dissipation("friction", rate * rate / 2.0);
    let mut angle = model.system().unwrap().dynamics().unwrap();
    let start = angle.start(&[("th", 2.5)]).unwrap();
    let same = accurately(&mut angle, &start, 10.0);
    for ((_, y), (_, z)) in run.samples().zip(same.samples()) {
        let (th, rate) = (z[0], z[1]);
        assert_near(y, &[th.sin(), -th.cos(), rate * th.cos(), rate * th.sin()], 1e-12);
    }
}

/// γ = ½ and ω² = g − ¼. What the closed form leaves out is of third order in the angle: 8.8e−5 rad if it starts at 0.1 rad, and a
/// thousandth of that from a tenth of the angle.
#[test]
fn the_damped_pendulum_decays_as_small_swings_must() {
    let graph = Graph::new();
    let (setup, mut dynamics, start) = begin(&graph, "damped-pendulum");
    assert_near(&start.q, &[0.1_f64.sin(), -0.1_f64.cos()], 1e-16);
    let mut last = f64::NAN;
    for angle in [0.1_f64, 0.01, 0.001] {
        let start = dynamics.start(&[("x", angle.sin()), ("y", -angle.cos())]).unwrap();
        let run = Integrator::named("dop853", setup.plan.step.unwrap()).unwrap();
        let run = run.run(&mut dynamics, &start, setup.plan.until).unwrap();
        let (gamma, omega) = (0.5, (9.81_f64 - 0.25).sqrt());
        let off = |(t, y): (f64, &[f64])| {
            let small = angle * (-gamma * t).exp() * ((omega * t).cos() + gamma / omega * (omega * t).sin());
            (y[0].asin() - small).abs()
        };
        let off = run.samples().map(off).fold(0.0, f64::max);
        println!("{angle}: {off:.2e}");
        assert!(off < 0.1 * angle.powi(3), "{off:e} from {angle}");
        assert!(last.is_nan() || (off / last - 1e-3).abs() < 1e-4, "{off:e} after {last:e}");
        last = off;
    }
}

/// ω₃, the spin about the first arm.
const SPIN: &str = "(x1*(y2*z2' - z2*y2') + y1*(z2*x2' - x2*z2') + z1*(x2*y2' - y2*x2'))/R^3";

/// The times are K, 3K, 5K and 7K with $K=\\int d\\omega_3/|\\dot\\omega_3|$ from 0 to 1, where Euler's equations and their two integrals give
/// the rate: 6.512723168…, by quadrature with 30 digits.
#[test]
fn dzhanibekovs_cross_flips_when_it_should() {
    let graph = Graph::new();
    let (setup, mut dynamics, start) = begin(&graph, "dzhanibekov");
    assert_near(&[energy(&mut dynamics, &start)], &[1.00011], 1e-15);
    let spin = dynamics.observable(SPIN).unwrap();
    let run = Integrator::named("dop853", Tolerance::relative(1e-13)).unwrap().event(Event::new(spin));
    let run = run.run(&mut dynamics, &start, setup.plan.until).unwrap();
    let flips: Vec<f64> = run.crossings().iter().map(|crossing| crossing.t).collect();
    assert_near(&flips, &[6.513, 19.539, 32.564, 45.590], 1e-3);
    assert_near(&flips, &[1.0, 3.0, 5.0, 7.0].map(|k| k * 6.512_723_168_432_765), 1e-9);

    // L = Iω with I = (0.2, 2.2, 2), and nothing changes it.
    for (term, expected) in setup.invariants.iter().zip([0.0, 0.022, 2.0]) {
        let what = dynamics.observable(&term.value.to_string()).unwrap();
        let values = run.observations(&mut dynamics, what).unwrap();
        assert_near(&values, &vec![expected; values.len()], 5e-14);
    }
    assert!(run.energy_drift(&mut dynamics).unwrap() < 5e-14 && violation(&mut dynamics, &run) < 1e-15);
}

/// I dω/dt = Iω × ω about the axes of the cross, by the classical Runge–Kutta method.
#[test]
fn dzhanibekovs_cross_spins_by_eulers_equations() {
    let graph = Graph::new();
    let (setup, mut dynamics, start) = begin(&graph, "dzhanibekov");
    let spin = dynamics.observable(SPIN).unwrap();
    let run = accurately(&mut dynamics, &start, setup.plan.until);
    let found = run.observations(&mut dynamics, spin).unwrap();

    let field = |[a, b, c]: [f64; 3]| {
        let inertia = [0.2, 2.2, 2.0];
        [
            (inertia[1] - inertia[2]) / inertia[0] * b * c,
            (inertia[2] - inertia[0]) / inertia[1] * c * a,
            (inertia[0] - inertia[1]) / inertia[2] * a * b,
        ]
    };
    let ahead = |w: [f64; 3], k: [f64; 3], h: f64| [w[0] + h * k[0], w[1] + h * k[1], w[2] + h * k[2]];
    let (mut w, h) = ([0.0, 0.01, 1.0], 5e-4);
    for expected in found {
        assert!((w[2] - expected).abs() < 1e-9, "{} {expected}", w[2]);
        for _ in 0..2000 {
            let a = field(w);
            let b = field(ahead(w, a, 0.5 * h));
            let c = field(ahead(w, b, 0.5 * h));
            let d = field(ahead(w, c, h));
            w = std::array::from_fn(|i| w[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
        }
    }
}

/// The published multipliers push with +Gᵀ; ours with −Gᵀ, so they have the other sign.
#[test]
fn dzhanibekovs_cross_is_held_by_the_forces_that_were_published() {
    let graph = Graph::new();
    let (setup, mut dynamics, start) = begin(&graph, "dzhanibekov");
    let run = accurately(&mut dynamics, &start, setup.plan.until);
    let (m1, m2) = (0.1, 1.0);
    let mut largest = 0.0_f64;
    for (t, y) in run.samples() {
        let (mut v, mut found) = ([0.0; 6], [0.0; 3]);
        dynamics.velocities(&[t], y, &mut v).unwrap();
        dynamics.multipliers(&[t], y, &mut found).unwrap();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (one, two) = v.split_at(3);
        let expected = [-m1 * dot(one, one), -m2 * dot(two, two), -4.0 * dot(one, two) * m1 * m2 / (m1 + m2)];
        assert_near(&found.map(|multiplier| -multiplier), &expected, 1e-12);
        largest = largest.max(expected[2].abs());
    }
    assert!(largest > 0.1, "the arms never pushed each other: {largest}");
}

/// Where carts are on the track, and the slope there.
fn track(q: f64) -> ([f64; 2], [f64; 2]) {
    let f = 1.0 / (1.0 + (-5.0 * (q + FRAC_PI_2)).exp());
    let df = 5.0 * f * (1.0 - f);
    let (straight, looped, up) =
        (30.0 * (FRAC_PI_2 + q), 10.0 * (FRAC_PI_2 + q + 1.8 * q.cos()), 10.0 * (q.sin() + 1.0));
    let x = (1.0 - f) * straight + f * looped;
    let slope = df * (looped - straight) + (1.0 - f) * 30.0 + f * 10.0 * (1.0 - 1.8 * q.sin());
    ([x, f * up], [slope, df * up + f * 10.0 * q.cos()])
}

/// The published start violates the constraints: by −0.0188 in the last distance, and by 0.1756 a second in the first.
#[test]
fn the_rollercoaster_starts_where_its_constraints_hold() {
    let graph = Graph::new();
    let (setup, mut dynamics, start) = begin(&graph, "rollercoaster");
    let published: Vec<f64> = [0.4, 0.3, 0.2, 0.1, 0.0].map(|q| q - PI).to_vec();
    let mut state = State { t: 0.0, q: published.clone(), p: vec![0.0; 5] };
    let z = [published.as_slice(), &[2.0; 5]].concat();
    dynamics.momenta(&[0.0], &z, &mut state.p).unwrap();
    let (mut positions, mut velocities) = ([0.0; 4], [0.0; 4]);
    dynamics.violations(&[0.0], &state.block(), &mut positions, &mut velocities).unwrap();
    assert_near(&positions, &[0.0, -0.0079, -0.0140, -0.0188], 0.5e-4);
    assert_near(&velocities, &[0.1756, 0.1397, 0.1085, 0.0826], 0.5e-4);

    dynamics.violations(&[0.0], &start.block(), &mut positions, &mut velocities).unwrap();
    assert_near(&positions, &[0.0; 4], 1e-13);
    assert_near(&velocities, &[0.0; 4], 1e-12);
    dynamics.start(&setup.start(&dynamics).unwrap()).unwrap();
    let placed = dynamics.placed().unwrap();
    let moved = start.q.iter().zip(&published).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert_near(&[placed.moved], &[moved], 1e-14);
    assert_eq!((placed.farthest, placed.rank), (4, 4));
    assert!(moved > 1e-4 && moved < 2e-4 && placed.deflected > 1e-3 && placed.deflected < 2e-3, "{placed:?}");
}

#[test]
fn the_rollercoaster_keeps_its_energy_and_distances() {
    let graph = Graph::new();
    let (setup, mut dynamics, start) = begin(&graph, "rollercoaster");
    let run = Integrator::named("dop853", setup.plan.step.unwrap()).unwrap();
    let run = run.run(&mut dynamics, &start, setup.plan.until).unwrap();
    let drift = run.energy_drift(&mut dynamics).unwrap();
    assert!(drift < 1e-13, "{drift:e}");
    let worst = violation(&mut dynamics, &run);
    println!("energy {drift:.1e}, distances {worst:.1e}");
    assert!(worst < 1e-13, "{worst:e}"); // distances of 3 between places some hundred away
    let (front, next) = (track(0.4 - PI).0, track(0.3 - PI).0);
    let distance = (front[0] - next[0]).hypot(front[1] - next[1]);
    for (_, y) in run.samples() {
        for pair in y[..5].windows(2) {
            let (a, b) = (track(pair[0]).0, track(pair[1]).0);
            assert_near(&[(a[0] - b[0]).hypot(a[1] - b[1])], &[distance], 1e-12);
        }
    }
}

/// Five carts at fixed distances have one degree of freedom: the time a way takes is a quadrature, t = ∫ dq √(M(q)/2(E − V(q))), with
/// M and V of the first cart's place alone.
#[test]
fn the_rollercoaster_takes_the_time_it_must() {
    let graph = Graph::new();
    let (setup, mut dynamics, start) = begin(&graph, "rollercoaster");
    let end = accurately(&mut dynamics, &start, setup.plan.until).end();
    let energy = energy(&mut dynamics, &start);
    let (front, next) = (track(0.4 - PI).0, track(0.3 - PI).0);
    let distance = (front[0] - next[0]).hypot(front[1] - next[1]);

    let slowness = |q: f64| {
        let (mut inertia, mut height, mut q, mut rate) = (0.0, 0.0, q, 1.0);
        for cart in 0..5 {
            let (at, slope) = track(q);
            inertia += 200.0 * (slope[0].powi(2) + slope[1].powi(2)) * rate * rate;
            height += 200.0 * 9.81 * at[1];
            if cart == 4 {
                break;
            }
            // The next cart is where the distance is right, by Newton's method.
            let mut behind = q - distance / slope[0].hypot(slope[1]);
            for _ in 0..30 {
                let (b, s) = track(behind);
                let apart = [at[0] - b[0], at[1] - b[1]];
                let excess = apart[0].powi(2) + apart[1].powi(2) - distance * distance;
                behind += excess / (2.0 * (apart[0] * s[0] + apart[1] * s[1]));
            }
            let (b, s) = track(behind);
            let apart = [at[0] - b[0], at[1] - b[1]];
            rate *= (apart[0] * slope[0] + apart[1] * slope[1]) / (apart[0] * s[0] + apart[1] * s[1]);
            q = behind;
        }
        (inertia / (2.0 * (energy - height))).sqrt()
    };
    // Simpson's rule.
    let n = 20_000;
    let h = (end.q[0] - start.q[0]) / f64::from(n);
    let weight = |i: i32| if i == 0 || i == n { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
    let time = (0..=n).map(|i| weight(i) * slowness(start.q[0] + f64::from(i) * h)).sum::<f64>() * h / 3.0;
    println!("q1 goes from {} to {} in {time}", start.q[0], end.q[0]);
    assert_near(&[time], &[setup.plan.until], 1e-9);
}

/// Masses and lengths of the reference systems, from top to bottom.
#[rustfmt::skip]
const CHAINS: [(&[f64], &[f64]); 4] = [
    (&[1.039051], &[1.172151]),
    (&[1.172151, 1.039051], &[1.035907, 1.082211]),
    (&[1.082211, 1.172151, 1.039051], &[1.116715, 0.938924, 1.035907]),
    (&[0.938924, 1.035907, 1.082211, 1.172151, 1.039051], &[0.906753, 1.370930, 1.313418, 0.950070, 1.116715]),
];

#[test]
fn n_pendulums_move_as_their_angles_do() {
    for (masses, lengths) in CHAINS {
        let (graph, n) = (Graph::new(), masses.len());
        let setup = Entry::named("n-pendulum").unwrap().setup_sized(&graph, n).unwrap();
        let mut chain = setup.model.system().unwrap().dynamics().unwrap();
        let start = chain.start(&setup.start(&chain).unwrap()).unwrap();
        let run = accurately(&mut chain, &start, setup.plan.until);

        let mut model = Model::new(&graph);
        let (mut at, mut places, mut values) = ([graph.number(0.0); 2], Vec::new(), Vec::new());
        for (i, (&m, &l)) in masses.iter().zip(lengths).enumerate() {
            let (i, th) = (i + 1, model.coordinate(&format!("th{}", i + 1)));
            at = [at[0] + l * th.sin(), at[1] - l * th.cos()];
            model.particle(&format!("bob{i}"), m, at);
            places.extend([(format!("x{i}"), at[0]), (format!("y{i}"), at[1])]);
            values.push((format!("th{i}"), FRAC_PI_2));
        }
        model.gravity([0.0, -9.81]);
        let mut angles = model.system().unwrap().dynamics().unwrap();
        let values: Vec<_> = values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let start = angles.start(&values).unwrap();
        let same = accurately(&mut angles, &start, setup.plan.until);
        assert_same((&run, &mut chain), (&same, &mut angles), &places);
    }
}

/// A rod of length 1 from (i, 0, 0), by an angle a out of the plane y = 0 and an angle b in it: other angles than those of the catalog.
fn rod<'g>(model: &mut Model<'g>, i: usize) -> [Expr<'g>; 3] {
    let [a, b] = ["a", "b"].map(|name| model.coordinate(&format!("{name}{i}")));
    [b.sin() * a.cos(), a.sin(), -(b.cos() * a.cos())]
}

/// The angles of [`rod`] and their rates, of where a rod points and how that changes.
fn angles_of([x, y, z]: [f64; 3], [u, v, w]: [f64; 3]) -> [f64; 4] {
    let (a, b) = (y.asin(), x.atan2(-z));
    [a, b, v / a.cos(), (-z * u + x * w) / (x * x + z * z)]
}

#[test]
fn coupled_pendulums_move_as_their_angles_do() {
    let graph = Graph::new();
    let entry = Entry::named("coupled-pendulums").unwrap();
    let setup = entry.setup(&graph);
    let mut bobs = setup.model.system().unwrap().dynamics().unwrap();
    for seed in [1, 2] {
        let start = entry.sample(None, &mut bobs, seed).unwrap();
        let run = accurately(&mut bobs, &start, setup.plan.until);

        let (mut model, mut places, mut values, mut at) =
            (Model::new(&graph), Vec::new(), Vec::new(), Vec::new());
        for i in 0..3 {
            let [x, y, z] = rod(&mut model, i + 1);
            let here = [x + i as f64, y, z];
            model.particle(&format!("bob{i}"), 1.0, here);
            places.extend(["x", "y", "z"].iter().zip(here).map(|(axis, e)| (format!("{axis}{}", i + 1), e)));
            let part = |of: &[f64]| [of[3 * i], of[3 * i + 1], of[3 * i + 2]];
            let [qx, qy, qz] = part(&start.q);
            let found = angles_of([qx - i as f64, qy, qz], part(&start.p));
            let names = ["a", "b"].map(|name| format!("{name}{}", i + 1));
            let names =
                [names[0].clone(), names[1].clone(), format!("{}'", names[0]), format!("{}'", names[1])];
            values.extend(names.into_iter().zip(found));
            at.push(here);
        }
        model.gravity([0.0, 0.0, -9.81]);
        for pair in at.windows(2) {
            let square = |k: usize| (pair[1][k] - pair[0][k]).pow(2.0);
            let stretch = (square(0) + square(1) + square(2)).sqrt() - 1.0;
            model.potential(&format!("spring at {}", pair[0][0]), 5.0 * stretch * stretch);
        }
        let mut angles = model.system().unwrap().dynamics().unwrap();
        let values: Vec<_> = values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let start = angles.start(&values).unwrap();
        let same = accurately(&mut angles, &start, setup.plan.until);
        assert_same((&run, &mut bobs), (&same, &mut angles), &places);
    }
}

/// With the field of a dipole, $B(r)=(3\hat r(\hat r\cdot\mu)-\mu)/(4\pi r^3)$, in which the bob has the energy −μ₀·B.
#[test]
fn the_magnet_pendulum_moves_as_its_angles_do() {
    let graph = Graph::new();
    let (setup, mut bob, start) = begin(&graph, "magnet-pendulum");
    let run = accurately(&mut bob, &start, setup.plan.until);

    let mut model = Model::new(&graph);
    let at = rod(&mut model, 1);
    model.particle("bob", 3.0, at);
    model.potential("gravity", 3.0 * 9.81 * at[2]);
    for (name, x) in [("left", -0.1), ("right", 0.1)] {
        let from = [at[0] - x, at[1], at[2] + 1.05];
        let distance = (from[0].pow(2.0) + from[1].pow(2.0) + from[2].pow(2.0)).sqrt();
        let hat = from.map(|r| r / distance);
        let field = |k: usize| {
            (3.0 * hat[k] * hat[2] * 0.3 - if k == 2 { 0.3 } else { 0.0 }) / (4.0 * PI * distance.pow(3.0))
        };
        model.potential(name, -0.3 * (at[0] * field(0) + at[1] * field(1) + at[2] * field(2)));
    }
    let mut angles = model.system().unwrap().dynamics().unwrap();
    let [x, y, z] = [0, 1, 2].map(|k| start.q[k]);
    let found = angles_of([x, y, z], [0, 1, 2].map(|k| start.p[k] / 3.0));
    let values: Vec<_> = ["a1", "b1", "a1'", "b1'"].into_iter().zip(found).collect();
    let begun = angles.start(&values).unwrap();
    assert_near(&[energy(&mut angles, &begun)], &[energy(&mut bob, &start)], 1e-13);
    let same = accurately(&mut angles, &begun, setup.plan.until);
    let places: Vec<_> = ["x", "y", "z"].map(str::to_owned).into_iter().zip(at).collect();
    assert_same((&run, &mut bob), (&same, &mut angles), &places);
}

//! The rigid bodies of the catalog, against the equations that are written for them without constraints.

use crate::common::{assert_near, begin, energy, run};
use leastaction_expr::Graph;
use leastaction_integrate::Trajectory;
use leastaction_language::Setup;
use leastaction_mechanics::{Body, Dynamics, Model, Pose, Rotation, State};

/// The step at which errors are those of rounding.
const STEP: f64 = 0.002;

/// The moments of inertia of a body about its centre of mass, from its second moments.
fn inertias(body: &Body<'_>, mass: f64) -> [f64; 3] {
    let lambda: Vec<f64> = body.moments().iter().map(|m| m.as_number().unwrap()).collect();
    [lambda[1] + lambda[2], lambda[0] + lambda[2], lambda[0] + lambda[1]].map(|sum| mass * sum)
}

/// The one body of a system of the catalog, in a pose.
fn placed<'g>(graph: &'g Graph, name: &str, pose: &Pose) -> (Setup<'g>, Body<'g>, Dynamics, State) {
    let (setup, mut dynamics, _) = begin(graph, name);
    let body = setup.model.bodies()[0].clone();
    let start = dynamics.start(&body.start(pose).unwrap()).unwrap();
    assert!(dynamics.placed().unwrap().moved < 1e-15);
    (setup, body, dynamics, start)
}

/// The poses along a trajectory.
fn poses(body: &Body<'_>, dynamics: &mut Dynamics, motion: &Trajectory) -> Vec<(f64, Pose)> {
    let degrees = dynamics.system().degrees();
    let states: Vec<State> = motion.samples().map(|(t, y)| State::from_block(t, y, degrees)).collect();
    states.iter().map(|state| (state.t, body.pose(dynamics, state).unwrap())).collect()
}

/// The published numbers: I at the centre of mass, I⊥ at the pivot, mgl, and the spin above which the top sleeps.
#[test]
fn the_gyroscope_has_its_numbers() {
    let graph = Graph::new();
    let (setup, _, _) = begin(&graph, "gyroscope");
    let i = inertias(&setup.model.bodies()[0], 0.1);
    assert_near(&i, &[0.0278320, 0.0278320, 0.0482757], 0.5001e-7);
    let (l, mgl) = (0.2217285f64, 0.1 * 9.81 * 0.2217285);
    let across = i[0] + 0.1 * l * l;
    assert_near(&[across, mgl], &[0.0327483, 0.2175157], 0.5001e-7);
    assert_near(&[2.0 * (across * mgl).sqrt() / i[2]], &[3.50], 0.005);

    let (setup, _, _) = begin(&graph, "rigid-rotor");
    let i = inertias(&setup.model.bodies()[0], 0.1);
    assert_near(&i, &[0.01201719, 0.00240936, 0.01020485], 1.1e-8);
}

/// The top of Lagrange in Euler's angles.
fn lagrange_top(graph: &Graph, across: f64, along: f64, mgl: f64) -> Model<'_> {
    let mut model = Model::new(graph);
    let [phi, theta, psi] = model.coordinates(["phi", "theta", "psi"]);
    let [turning, nodding, spinning] = model.velocities([phi, theta, psi]);
    let sideways = turning * theta.sin();
    let about_axis = spinning + turning * theta.cos();
    model.kinetic("swing", 0.5 * across * (nodding * nodding + sideways * sideways));
    model.kinetic("spin", 0.5 * along * about_axis * about_axis);
    model.potential("weight", mgl * theta.cos());
    model
}

/// Precession and nutation, from the start of the catalog and from corners of the range that starts are drawn from.
#[test]
fn the_gyroscope_moves_as_in_eulers_angles() {
    let (l, m) = (0.2217285, 0.1);
    let starts = [
        ([0.0, 0.8, 0.0], [0.0, 0.0, 10.5]),
        ([1.5, 1.5, -1.5], [4.5, 0.3, -10.5]),
        ([-1.5, -0.6, 0.4], [-4.5, -0.3, 13.0]),
    ];
    for (angles, rates) in starts {
        let graph = Graph::new();
        let pose = Pose::at([0.0, 0.0, 0.0]).holding([0.0, 0.0, -l]).zxz(angles, rates);
        let (_, top, mut dynamics, start) = placed(&graph, "gyroscope", &pose);
        let i = inertias(&top, m);
        let motion = run(&mut dynamics, &start, "dop853", STEP, 2.0);

        let model = lagrange_top(&graph, i[0] + m * l * l, i[2], m * 9.81 * l);
        let mut reference = model.system().unwrap().dynamics().unwrap();
        let names = ["phi", "theta", "psi", "phi'", "theta'", "psi'"];
        let values: Vec<_> = names.into_iter().zip([angles, rates].concat()).collect();
        let begin = reference.start(&values).unwrap();
        let in_angles = run(&mut reference, &begin, "dop853", STEP, 2.0);

        // The energies differ by the height that they are measured from.
        assert_near(&[energy(&mut dynamics, &start)], &[energy(&mut reference, &begin)], 1e-14);
        let (mut worst, mut heights) = (0.0f64, Vec::new());
        for ((t, pose), (s, y)) in poses(&top, &mut dynamics, &motion).into_iter().zip(in_angles.samples()) {
            assert_eq!(t, s);
            let expected = Rotation::zxz(y[0], y[1], y[2]).rows();
            let off = pose.rotation().rows().concat().into_iter().zip(expected.concat());
            worst = off.fold(worst, |w, (a, b)| w.max((a - b).abs()));
            heights.push(pose.rotation().rows()[2][2]);
        }
        println!("{angles:?}: off by {worst:.1e}");
        assert!(worst < 1e-11, "{worst:e}");
        let nods = heights.windows(3).filter(|w| (w[1] - w[0]) * (w[2] - w[1]) < 0.0).count();
        assert!(nods >= 4, "it should nod: {nods}");

        // What symmetry conserves: spin about the axis, and the vertical angular momentum.
        let [x, y, z] = top.orientation().unwrap().map(|row| row[2]);
        let [lx, ly, lz] = top.angular_momentum();
        let spin = dynamics.observable(&(x * lx + y * ly + z * lz).to_string()).unwrap();
        assert!(motion.drift(&mut dynamics, spin).unwrap() < 1e-12);
        assert!(motion.energy_drift(&mut dynamics).unwrap() < 1e-12);
    }
}

/// `rattle` is of second order, keeps what rotations about the vertical and about the axis conserve, and returns when time does.
#[test]
fn rattle_on_the_gyroscope() {
    let graph = Graph::new();
    let (setup, mut dynamics, start) = begin(&graph, "gyroscope");
    let top = &setup.model.bodies()[0];
    let exact = run(&mut dynamics, &start, "dop853", STEP, 1.0).end();
    let errors = [0.002, 0.001].map(|step| {
        let motion = run(&mut dynamics, &start, "rattle", step, 1.0);
        let [x, y, z] = top.orientation().unwrap().map(|row| row[2]);
        let [lx, ly, lz] = top.angular_momentum();
        for kept in [setup.invariants[0].value, x * lx + y * ly + z * lz] {
            let what = dynamics.observable(&kept.to_string()).unwrap();
            let drift = motion.drift(&mut dynamics, what).unwrap();
            assert!(drift < 1e-13, "{drift:e}");
        }
        let back = run(&mut dynamics, &motion.end(), "rattle", -step, 0.0).end();
        assert_near(&back.block(), &start.block(), 1e-12);
        let end = motion.end().block().into_iter().zip(exact.block());
        end.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    });
    let order = (errors[0] / errors[1]).log2();
    println!("errors {errors:?}, order {order:.3}");
    assert!((order - 2.0).abs() < 0.1);
}

/// The tilt of an upright top that starts leaning by a little, at some times.
fn tilt(spin: f64, tilt: f64, times: [f64; 2]) -> [f64; 2] {
    let graph = Graph::new();
    let pose = Pose::at([0.0, 0.0, 0.0])
        .holding([0.0, 0.0, -0.2217285])
        .turned(Rotation::about([1.0, 0.0, 0.0], tilt).unwrap())
        .spinning_in_body([0.0, 0.0, spin]);
    let (_, top, mut dynamics, start) = placed(&graph, "gyroscope", &pose);
    times.map(|until| {
        let motion = run(&mut dynamics, &start, "dop853", 0.005, until);
        let poses = poses(&top, &mut dynamics, &motion);
        // The largest so far: where the top is stable it swings.
        poses.iter().map(|(_, pose)| pose.rotation().as_zxz()[1]).fold(0.0, f64::max)
    })
}

/// Small tilts z = θe^{iφ} obey I₁z̈ − iI₃ωż − mgl z = 0: they grow like exp(γt), γ = √(4I₁mgl − I₃²ω²)/2I₁, where that is real.
#[test]
fn a_top_sleeps_only_above_the_threshold() {
    let (across, along, mgl) = (0.0327483f64, 0.0482757f64, 0.2175157f64);
    for spin in [3.0, 3.4] {
        let growth = (4.0 * across * mgl - (along * spin).powi(2)).sqrt() / (2.0 * across);
        let [early, late] = tilt(spin, 1e-7, [6.0, 8.0]);
        let measured = (late / early).ln() / 2.0;
        println!("{spin}: grows at {measured:.5}, expected {growth:.5}");
        assert!((measured / growth - 1.0).abs() < 0.01);
    }
    for spin in [3.6, 6.0] {
        // Beats of two frequencies: |z| ≤ tilt·(ν₁ + ν₂)/(ν₁ − ν₂) for a start without drift.
        let root = ((along * spin).powi(2) - 4.0 * across * mgl).sqrt();
        let bound = 1e-7 * along * spin / root;
        let [_, largest] = tilt(spin, 1e-7, [0.01, 20.0]);
        assert!(largest < 1.01 * bound && largest > 0.9 * bound, "{spin}: {largest:e}, bound {bound:e}");
    }
}

/// Jacobi's sn, cn and dn of modulus k, by arithmetic-geometric means (M. Abramowitz and I. A. Stegun, *Handbook of Mathematical
/// Functions*, section 16.4).
fn jacobi(u: f64, k: f64) -> [f64; 3] {
    let (mut a, mut b, mut c) = (vec![1.0], (1.0 - k * k).sqrt(), vec![k]);
    while c[c.len() - 1].abs() > 1e-17 && c.len() < 12 {
        let last = a[a.len() - 1];
        a.push(0.5 * (last + b));
        c.push(0.5 * (last - b));
        b = (last * b).sqrt();
    }
    let n = a.len() - 1;
    let mut phi = f64::powi(2.0, n as i32) * a[n] * u;
    for i in (1..=n).rev() {
        phi = 0.5 * (phi + (c[i] / a[i] * phi.sin()).asin());
    }
    let sn = phi.sin();
    [sn, phi.cos(), (1.0 - k * k * sn * sn).sqrt()]
}

#[test]
fn jacobis_functions_have_their_derivatives_and_periods() {
    for k in [0.1, 0.7, 0.95] {
        for u in [0.3, 1.1, 2.7, 5.0] {
            let h = 1e-4;
            let [[sn, cn, dn], [a, ..], [b, ..]] = [u, u + h, u - h].map(|u| jacobi(u, k));
            assert_near(&[(a - b) / (2.0 * h)], &[cn * dn], 1e-7);
            assert_near(&[sn * sn + cn * cn], &[1.0], 1e-15);
        }
        // K by the mean: π/(2 agm(1, k')).
        let (mut a, mut b) = (1.0, (1.0 - k * k).sqrt());
        (0..10).for_each(|_| (a, b) = (0.5 * (a + b), f64::sqrt(a * b)));
        assert_near(&jacobi(std::f64::consts::FRAC_PI_2 / a, k)[..2], &[1.0, 0.0], 1e-14);
    }
}

/// Euler's equations solved by Jacobi's functions, for rotation about either stable axis (L. D. Landau and E. M. Lifshitz, *Mechanics*,
/// section 37). The axes in the order of their moments are y, z, x, which is a rotation of x, y, z.
#[test]
fn the_free_rotor_turns_like_jacobis_functions() {
    for (slow, fast) in [(2.0, 1.0), (0.4, 3.0)] {
        let graph = Graph::new();
        // At the start nothing turns about the middle axis z.
        let pose = Pose::at([0.3, 0.2, 0.1])
            .moving([0.1, 0.05, -0.1])
            .turned(Rotation::zxz(0.3, 0.8, -0.5))
            .spinning_in_body([slow, fast, 0.0]);
        let (setup, rotor, mut dynamics, start) = placed(&graph, "rigid-rotor", &pose);
        let [c, a, b] = inertias(&rotor, 0.1);
        let twice = c * slow * slow + a * fast * fast;
        let square = (c * slow).powi(2) + (a * fast).powi(2);
        let (low, high) = (square - twice * a, twice * c - square);
        let (about_c, about_a) = ((low / (c * (c - a))).sqrt(), (high / (a * (c - a))).sqrt());
        let upper = square > twice * b;
        let (about_b, rate, modulus) = if upper {
            let k = ((b - a) * high / ((c - b) * low)).sqrt();
            ((high / (b * (c - b))).sqrt(), ((c - b) * low / (a * b * c)).sqrt(), k)
        } else {
            let k = ((c - b) * low / ((b - a) * high)).sqrt();
            ((low / (b * (b - a))).sqrt(), ((b - a) * high / (a * b * c)).sqrt(), k)
        };
        let motion = run(&mut dynamics, &start, "dop853", STEP, 5.0);
        let mut worst = 0.0f64;
        for (t, found) in poses(&rotor, &mut dynamics, &motion) {
            let [sn, cn, dn] = jacobi(rate * t, modulus);
            let (x, y) = if upper { (dn, cn) } else { (cn, dn) };
            let expected = [about_c * x, about_a * y, about_b * sn];
            let off = found.angular_velocity_in_body().into_iter().zip(expected);
            worst = off.fold(worst, |w, (a, b)| w.max((a - b).abs()));
            let at = [0.3 + 0.1 * t, 0.2 + 0.05 * t, 0.1 - 0.1 * t];
            assert_near(&found.position(), &at, 1e-13);
        }
        println!("upper: {upper}, modulus {modulus:.3}, off by {worst:.1e}");
        assert!(worst < 1e-11, "{worst:e}");
        for term in &setup.invariants {
            let what = dynamics.observable(&term.value.to_string()).unwrap();
            let drift = motion.drift(&mut dynamics, what).unwrap();
            assert!(drift < 1e-13, "{} drifts by {drift:e}", term.name);
        }
    }
}

//! The same physics written in different ways, coordinates and frames is the same motion.

use crate::common::{assert_close, dynamics, energy, field, run, velocities};
use leastaction_expr::{Expr, Graph};
use leastaction_mechanics::{Input, Model, Table};

/// A double pendulum of unit rods and masses as a map, by its Lagrangian, and by its Hamiltonian.
fn double_pendulum(graph: &Graph) -> [Model<'_>; 3] {
    let mut map = Model::new(graph);
    let [a, b] = map.coordinates(["a", "b"]);
    let hand = [a.sin() + b.sin(), -a.cos() - b.cos()];
    map.particle("elbow", 1.0, [a.sin(), -a.cos()]);
    map.particle("hand", 1.0, hand);
    map.gravity([0.0, -9.81]);

    let mut lagrangian = Model::new(graph);
    let [a, b] = lagrangian.coordinates(["a", "b"]);
    let [u, v] = lagrangian.velocities([a, b]);
    let kinetic = u * u + v * v / 2.0 + u * v * (a - b).cos();
    lagrangian.lagrangian("all", kinetic + 9.81 * (2.0 * a.cos() + b.cos()));

    let mut hamiltonian = Model::new(graph);
    let [a, b] = hamiltonian.coordinates(["a", "b"]);
    let [p, q] = hamiltonian.momenta(["p", "q"]);
    let c = (a - b).cos();
    let kinetic = (p * p + 2.0 * q * q - 2.0 * p * q * c) / (2.0 * (2.0 - c * c));
    hamiltonian.hamiltonian("motion", kinetic);
    hamiltonian.potential("weight", -9.81 * (2.0 * a.cos() + b.cos()));
    [map, lagrangian, hamiltonian]
}

#[test]
fn map_lagrangian_and_hamiltonian_move_alike() {
    let graph = Graph::new();
    let mut forms = double_pendulum(&graph).map(|model| dynamics(&model));
    let start = [("a", 1.2), ("b", -0.4), ("a'", 0.3), ("b'", 1.1)];
    let starts = forms.each_mut().map(|form| form.start(&start).unwrap());
    let ends = [0, 1, 2].map(|i| run(&mut forms[i], &starts[i], 2.0, 1000));
    for i in 1..3 {
        assert_close(&starts[i].p, &starts[0].p, 1e-15);
        assert_close(&field(&mut forms[i], &starts[i]), &field(&mut forms[0], &starts[0]), 1e-14);
        assert_close(&ends[i].block(), &ends[0].block(), 1e-12);
    }
}

type Map<'g> = fn([Expr<'g>; 2]) -> [Expr<'g>; 2];

/// A particle of mass 1.3 that two fixed centres at (±1, 0) attract, in coordinates given by a map.
fn two_centres<'g>(graph: &'g Graph, names: [&str; 2], map: Map<'g>) -> Model<'g> {
    let mut model = Model::new(graph);
    let coordinates = model.coordinates(names);
    let [x, y] = map(coordinates);
    model.particle("planet", 1.3, [x, y]);
    for (name, centre) in [("left", -1.0), ("right", 1.0)] {
        model.potential(name, -0.7 / ((x - centre).pow(2.0) + y * y).sqrt());
    }
    model
}

#[test]
fn cartesian_polar_and_elliptic_coordinates_agree() {
    let graph = Graph::new();
    let maps: [([&str; 2], Map<'_>); 3] = [
        (["x", "y"], |q| q),
        (["r", "th"], |[r, th]| [r * th.cos(), r * th.sin()]),
        (["mu", "nu"], |[mu, nu]| [mu.cosh() * nu.cos(), mu.sinh() * nu.sin()]),
    ];
    let mut all = maps.map(|(names, map)| dynamics(&two_centres(&graph, names, map)));
    // The same point and velocity in all three: inverted here by differentiating the maps at the point.
    let (mu, nu) = (0.8f64, 0.9f64);
    let (x, y) = (mu.cosh() * nu.cos(), mu.sinh() * nu.sin());
    let (vx, vy) = (0.4, 0.55);
    let r = x.hypot(y);
    let (a, b) = (mu.sinh() * nu.cos(), mu.cosh() * nu.sin()); // J = [[a, −b], [b, a]]
    let square = a * a + b * b;
    let starts = [
        [x, y, vx, vy],
        [r, y.atan2(x), (x * vx + y * vy) / r, (x * vy - y * vx) / (r * r)],
        [mu, nu, (a * vx + b * vy) / square, (a * vy - b * vx) / square],
    ];
    let mut seen: Vec<Vec<f64>> = Vec::new();
    for (dynamics, values) in all.iter_mut().zip(starts) {
        let system = dynamics.system().clone();
        let names: Vec<String> = system.coordinates().iter().chain(system.velocities()).collect();
        let start: Vec<(&str, f64)> = names.iter().map(String::as_str).zip(values).collect();
        let state = dynamics.start(&start).unwrap();
        let mut facts = vec![energy(dynamics, &state)];
        // Velocity and acceleration in space, by differences of the map along q + s q̇ + s²/2 q̈.
        let v = velocities(dynamics, &state);
        let mut a = [0.0; 2];
        dynamics.accelerations(&[0.0], &[state.q.clone(), v.clone()].concat(), &mut a).unwrap();
        let mut at = |s: f64| {
            let moved = |i: usize| state.q[i] + s * v[i] + s * s / 2.0 * a[i];
            let mut place = [0.0; 2];
            dynamics.positions(&[0.0], &[moved(0), moved(1), 0.0, 0.0], &mut place).unwrap();
            place
        };
        let h = 1e-3;
        let [left, before, here, after, right] = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|k| at(k * h));
        for (i, &centre) in here.iter().enumerate() {
            facts.push((left[i] - 8.0 * before[i] + 8.0 * after[i] - right[i]) / (12.0 * h));
            let second = -left[i] + 16.0 * before[i] - 30.0 * centre + 16.0 * after[i] - right[i];
            facts.push(second / (12.0 * h * h));
        }
        for end in [0.5, 1.0, 2.0] {
            let state = run(dynamics, &state, end, 16_000);
            let mut place = vec![0.0; 2];
            dynamics.positions(&[0.0], &state.block(), &mut place).unwrap();
            facts.extend(place);
        }
        seen.push(facts);
    }
    // In Cartesian coordinates the acceleration is the force by hand.
    let pull = |centre: f64| (x - centre).hypot(y).powi(-3) * 0.7 / 1.3;
    let (ax, ay) = (-pull(1.0) * (x - 1.0) - pull(-1.0) * (x + 1.0), -(pull(1.0) + pull(-1.0)) * y);
    for seen in &seen {
        assert_close(&seen[1..5], &[vx, ax, vy, ay], 1e-8);
        assert_close(&seen[..1], &all_energy(x, y, vx, vy), 1e-13);
    }
    assert_close(&seen[1][5..], &seen[0][5..], 1e-11);
    assert_close(&seen[2][5..], &seen[0][5..], 1e-11);
}

fn all_energy(x: f64, y: f64, vx: f64, vy: f64) -> [f64; 1] {
    [0.65 * (vx * vx + vy * vy) - 0.7 / (x - 1.0).hypot(y) - 0.7 / (x + 1.0).hypot(y)]
}

#[test]
fn a_rotating_frame_shows_the_same_motion() {
    let rate = 0.7;
    let graph = Graph::new();
    let mut table = Model::new(&graph);
    let [x, y] = table.coordinates(["x", "y"]);
    let turn = rate * table.time();
    let position = [turn.cos() * x - turn.sin() * y, turn.sin() * x + turn.cos() * y];
    table.particle("bead", 2.0, position);
    table.potential("spring", 1.5 * (position[0].pow(2.0) + 2.0 * position[1].pow(2.0)));
    let mut ground = Model::new(&graph);
    let [x, y] = ground.coordinates(["X", "Y"]);
    ground.particle("bead", 2.0, [x, y]);
    ground.potential("spring", 1.5 * (x * x + 2.0 * y * y));
    let (mut table, mut ground) = (dynamics(&table), dynamics(&ground));
    assert!(!table.system().facts().autonomous && table.system().facts().conserved.is_empty());

    // At t = 0 the frames coincide, and v = v' + ω × r.
    let (x, y, vx, vy) = (0.5, -0.2, 0.3, 1.0);
    let on_table = table.start(&[("x", x), ("y", y), ("x'", vx), ("y'", vy)]).unwrap();
    let on_ground =
        ground.start(&[("X", x), ("Y", y), ("X'", vx - rate * y), ("Y'", vy + rate * x)]).unwrap();
    assert_close(&on_table.p, &on_ground.p, 1e-15);
    let end = 3.0;
    let (on_table, on_ground) =
        (run(&mut table, &on_table, end, 4000), run(&mut ground, &on_ground, end, 4000));
    let mut place = [0.0; 2];
    table.positions(&[end], &on_table.block(), &mut place).unwrap();
    assert_close(&place, &on_ground.q, 1e-12);
    // Momenta turn with the frame.
    let (s, c) = (rate * end).sin_cos();
    let p = &on_table.p;
    assert_close(&[c * p[0] - s * p[1], s * p[0] + c * p[1]], &on_ground.p, 1e-12);
}

#[test]
fn a_free_particle_seen_from_a_carousel_keeps_its_jacobi_energy() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    let turn = 0.7 * model.time();
    model.particle("bead", 2.0, [turn.cos() * x - turn.sin() * y, turn.sin() * x + turn.cos() * y]);
    model.potential("spring", 1.5 * (x * x + y * y));
    // Time appears in the map but not in the Lagrangian, which only values can show.
    let equations = model.equations().unwrap();
    let system = equations.system().unwrap();
    assert!(!system.facts().autonomous);
    assert!(system.facts().jacobi && system.conserves_hamiltonian() && !system.conserves_energy());
    assert_eq!(system.conserved(), ["jacobi"]);
    let mut dynamics = system.dynamics().unwrap();
    let start = dynamics.start(&[("x", 1.0), ("y'", 0.4)]).unwrap();
    let end = run(&mut dynamics, &start, 5.0, 4000);
    assert_close(&[energy(&mut dynamics, &end)], &[energy(&mut dynamics, &start)], 1e-12);
}

#[test]
fn a_charge_circles_at_its_cyclotron_frequency() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, charge, b] = model.parameters([("m", 1.5), ("charge", 0.8), ("B", 2.0)]);
    let [x, y, z] = model.coordinates(["x", "y", "z"]);
    let [vx, vy, vz] = model.velocities([x, y, z]);
    model.kinetic("motion", m * (vx * vx + vy * vy + vz * vz) / 2.0);
    model.lagrangian("field", charge * b / 2.0 * (x * vy - y * vx));
    let equations = model.equations().unwrap();
    let mut dynamics = dynamics(&model);
    assert!(!dynamics.system().facts().separable);
    assert_eq!(dynamics.system().conserved(), ["energy", "p_z"]);
    let start = dynamics.start(&[("x'", 1.0), ("z'", 0.5)]).unwrap();
    let rate: f64 = 0.8 * 2.0 / 1.5;
    for turns in [0.25, 0.6, 1.0] {
        let t = turns * std::f64::consts::TAU / rate;
        let state = run(&mut dynamics, &start, t, 4000);
        // Clockwise for a positive charge in a field towards us.
        let (s, c) = (rate * t).sin_cos();
        assert_close(&state.q, &[s / rate, (c - 1.0) / rate, 0.5 * t], 1e-10);
        assert_close(&velocities(&mut dynamics, &state), &[c, -s, 0.5], 1e-10);
    }
    // What Noether gives in this gauge: the angular momentum of p; and the centre of the circle, which needs velocities.
    let angular = x * equations.momenta[1] - y * equations.momenta[0];
    assert_eq!(equations.is_conserved(angular), Some(true));
    assert_eq!(equations.is_conserved(x - m * vy / (charge * b)), Some(false));
    assert_eq!(equations.is_conserved(x + m * vy / (charge * b)), Some(true));
}

#[test]
fn a_driven_and_damped_oscillator_follows_its_closed_form() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, k, c] = model.parameters([("m", 2.0), ("k", 8.0), ("c", 0.6)]);
    let x = model.coordinate("x");
    let v = model.velocity(x);
    model.kinetic("mass", m * v * v / 2.0);
    model.potential("spring", k * x * x / 2.0);
    model.dissipation("damper", c * v * v / 2.0);
    let push = model.input("push");
    model.force(x, push);
    let mut dynamics = dynamics(&model);
    let (amplitude, drive) = (1.5, 1.7f64);
    dynamics.set_input("push", Input::function(move |t| amplitude * (drive * t).cos())).unwrap();

    // x = e^{−γt}(A cos ωt + B sin ωt) + C cos(Ωt) + D sin(Ωt), with x(0) = x'(0) = 0.
    let (stiff, damp) = (8.0 / 2.0, 0.6 / 2.0);
    let scale = amplitude / 2.0 / ((stiff - drive * drive).powi(2) + (damp * drive).powi(2));
    let (in_phase, behind) = (scale * (stiff - drive * drive), scale * damp * drive);
    let decay = damp / 2.0;
    let rate = (stiff - decay * decay).sqrt();
    let (a, b) = (-in_phase, (-decay * in_phase - drive * behind) / rate);
    let exact = |t: f64| {
        let free = (-decay * t).exp() * (a * (rate * t).cos() + b * (rate * t).sin());
        free + in_phase * (drive * t).cos() + behind * (drive * t).sin()
    };
    let start = dynamics.start(&[]).unwrap();
    for end in [0.5, 3.0, 10.0] {
        assert_close(&run(&mut dynamics, &start, end, 20_000).q, &[exact(end)], 1e-11);
    }
    // A table of the same push, fine enough; a constant stretches the spring.
    let times: Vec<f64> = (0..=30_000).map(|i| i as f64 * 1e-4).collect();
    let values: Vec<f64> = times.iter().map(|t| amplitude * (drive * t).cos()).collect();
    dynamics.set_input("push", Table::new(&times, &values).unwrap()).unwrap();
    assert_close(&run(&mut dynamics, &start, 3.0, 3000).q, &[exact(3.0)], 1e-8);
    dynamics.set_input("push", 4.0).unwrap();
    assert_close(&run(&mut dynamics, &start, 60.0, 20_000).q, &[0.5], 1e-3);
}

#[test]
fn relativistic_forms_agree() {
    let graph = Graph::new();
    let mut lagrangian = Model::new(&graph);
    let x = lagrangian.coordinate("x");
    let v = lagrangian.velocity(x);
    lagrangian.lagrangian("free", -(1.0 - v * v).sqrt());
    lagrangian.potential("spring", x * x);
    let mut hamiltonian = Model::new(&graph);
    let x = hamiltonian.coordinate("x");
    let p = hamiltonian.momentum("p");
    hamiltonian.hamiltonian("free", (1.0 + p * p).sqrt());
    hamiltonian.potential("spring", x * x);
    let (mut one, mut two) = (dynamics(&lagrangian), dynamics(&hamiltonian));
    assert!(!one.system().facts().explicit && two.system().facts().explicit);
    assert!(one.system().facts().separable && two.system().facts().separable);
    let (start, other) = (one.start(&[("x'", 0.9)]).unwrap(), two.start(&[("x'", 0.9)]).unwrap());
    assert_close(&start.p, &[0.9 / (1.0f64 - 0.81).sqrt()], 1e-15);
    assert_close(&start.p, &other.p, 1e-14);
    let mut kinetic = [0.0; 2];
    one.kinetic_energy(&[0.0], &start.block(), &mut kinetic[..1]).unwrap();
    two.kinetic_energy(&[0.0], &other.block(), &mut kinetic[1..]).unwrap();
    assert_close(&kinetic, &[1.0 / (1.0f64 - 0.81).sqrt() - 1.0; 2], 1e-14);
    let (end, other) = (run(&mut one, &start, 3.0, 2000), run(&mut two, &other, 3.0, 2000));
    assert_close(&end.block(), &other.block(), 1e-12);
}

#[test]
fn definitions_stand_for_what_they_name() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let th = model.coordinate("th");
    // Used before it is defined, with its rate.
    let [h, vh] = graph.symbols(["height", "height'"]);
    let w = model.velocity(th);
    model.kinetic("sideways", (th.cos() * w).pow(2.0) / 2.0);
    model.kinetic("up", vh * vh / 2.0);
    model.potential("weight", 9.81 * h);
    let rod = model.define("rod", 1.0);
    model.define("height", -rod * th.cos());
    let mut written = dynamics(&model);
    let start = written.start(&[("th", 0.4), ("th'", 0.2)]).unwrap();
    assert_close(&start.p, &[0.2], 1e-15);
    assert_close(&field(&mut written, &start), &[0.2, -9.81 * 0.4f64.sin()], 1e-15);
}

#[test]
fn expressions_have_velocities_too() {
    // A bead on a rod that grows, by the speeds of its place and by a particle.
    let graph = Graph::new();
    let build = |by_speeds: bool| {
        let mut model = Model::new(&graph);
        let m = model.parameter("m", 1.3);
        let th = model.coordinate("th");
        let reach = graph.symbol("reach");
        let place = [reach * th.sin(), -reach * th.cos()];
        if by_speeds {
            let [vx, vy] = model.velocities(place);
            model.kinetic("bead", 0.5 * m * (vx * vx + vy * vy));
        } else {
            model.particle("bead", m, place);
        }
        model.define("reach", m + model.time().pow(2.0));
        let system = model.system().unwrap();
        let mut dynamics = system.dynamics().unwrap();
        let start = dynamics.start_at(0.7, &[("th", 0.4), ("th'", 1.1)]).unwrap();
        let mut rates = [0.0; 2];
        dynamics.rates(&[start.t], &start.block(), &mut rates).unwrap();
        [start.p[0], rates[0], rates[1], energy(&mut dynamics, &start)]
    };
    assert_close(&build(true), &build(false), 1e-13);
    let mut model = Model::new(&graph);
    let [m, x] = [model.parameter("m", 1.0), model.coordinate("x")];
    assert_eq!(model.velocity(model.time()).as_number(), Some(1.0));
    assert_eq!(model.velocity(m).as_number(), Some(0.0));
    assert_eq!(model.velocity(2.0 * model.number(3.0)).as_number(), Some(0.0));
    model.kinetic("jerky", model.velocity(x * model.velocity(x)).pow(2.0));
    assert_eq!(
        model.system().unwrap_err().to_string(),
        "the kinetic energy `jerky` uses `x''`, which is not declared: did you mean `x'`?"
    );
}

/// L = v⁴/4 has the momentum v³, and inertia everywhere but at rest: from v = 1 it goes on, and the velocity follows from any momentum.
#[test]
fn inertia_may_vanish_at_rest() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.lagrangian("quartic", 0.25 * model.velocity(x).pow(4) + 0.25 * model.velocity(y).pow(4));
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("x'", 1.0), ("y'", -2.0)]).unwrap();
    assert_eq!(start.p, [1.0, -8.0]);
    for momentum in [1e-9, 0.3, 1.0, 4e7] {
        let mut v = [0.0; 2];
        dynamics.velocities(&[0.0], &[0.0, 0.0, momentum, -momentum], &mut v).unwrap();
        let exact = f64::cbrt(momentum);
        assert!((v[0] - exact).abs() < 1e-10 * exact && v[1] == -v[0], "{v:?} for {exact}");
    }
}

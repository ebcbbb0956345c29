//! Constraints: what they demand, the forces with which they do, and projections onto them.

use leastaction_expr::Graph;
use leastaction_mechanics::{
    ConstraintFactors, Dynamics, Level, Model, ModelError, StartError, State, System,
};

/// A bob on a rod of length 2 that turns in a plane; its mass is a parameter.
fn pendulum(graph: &Graph) -> Model<'_> {
    let mut model = Model::new(graph);
    let m = model.parameter("m", 3.0);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bob", m, [x, y]);
    model.gravity([0.0, -9.81]);
    model.constraint("rod", x * x + y * y, 4.0);
    model
}

/// The same stated by a Hamiltonian.
fn hamiltonian_pendulum(graph: &Graph) -> Model<'_> {
    let mut model = Model::new(graph);
    let m = model.parameter("m", 3.0);
    let [x, y] = model.coordinates(["x", "y"]);
    let [p, r] = model.momenta(["p", "r"]);
    model.hamiltonian("energy", (p * p + r * r) / (2.0 * m) + m * 9.81 * y);
    model.constraint("rod", x * x + y * y, 4.0);
    model
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} is not {b}");
}

fn violation(dynamics: &mut Dynamics, state: &State) -> f64 {
    let (rows, positions) = (dynamics.system().constraints().len(), dynamics.system().position_constraints());
    let (mut values, mut rates) = (vec![0.0; positions], vec![0.0; rows]);
    dynamics.violations(&[state.t], &state.block(), &mut values, &mut rates).unwrap();
    values.iter().chain(&rates).fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// θ̈ = −(g/l) sin θ and the tension m(g cos θ + l θ̇²), from forces and from accelerations, in both forms.
#[test]
fn forces_are_those_of_a_pendulum() {
    let graph = Graph::new();
    for (model, speeds) in [(pendulum(&graph), ["x'", "y'"]), (hamiltonian_pendulum(&graph), ["x'", "y'"])] {
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        let (angle, rate, l, g) = (0.7_f64, 1.3, 2.0, 9.81);
        let (x, y) = (l * angle.sin(), -l * angle.cos());
        let (u, v) = (l * rate * angle.cos(), l * rate * angle.sin());
        let start = dynamics.start(&[("x", x), ("y", y), (speeds[0], u), (speeds[1], v)]).unwrap();
        let mut multiplier = [0.0];
        dynamics.multipliers(&[0.0], &start.block(), &mut multiplier).unwrap();
        close(2.0 * l * multiplier[0], 3.0 * (g * angle.cos() + l * rate * rate), 1e-14);
        let turn = -g / l * angle.sin();
        let expected = [
            l * (turn * angle.cos() - rate * rate * angle.sin()),
            l * (turn * angle.sin() + rate * rate * angle.cos()),
        ];
        let mut accelerations = [0.0; 2];
        dynamics.accelerations(&[0.0], &[x, y, u, v], &mut accelerations).unwrap();
        let mut field = [0.0; 4];
        dynamics.rates(&[0.0], &start.block(), &mut field).unwrap();
        for i in 0..2 {
            close(accelerations[i], expected[i], 1e-14);
            close(field[2 + i] / 3.0, expected[i], 1e-14);
        }
        close(field[0], u, 1e-15);
        assert!(violation(&mut dynamics, &start) < 1e-14);
    }
}

/// Parameters may change, and what was known of the masses is forgotten.
#[test]
fn masses_may_change() {
    let graph = Graph::new();
    let mut dynamics = pendulum(&graph).system().unwrap().dynamics().unwrap();
    let mut tension = |m: f64| {
        dynamics.set_parameter("m", m).unwrap();
        let start = dynamics.start(&[("y", -2.0)]).unwrap();
        let mut multiplier = [0.0];
        dynamics.multipliers(&[0.0], &start.block(), &mut multiplier).unwrap();
        4.0 * multiplier[0]
    };
    close(tension(1.0), 9.81, 1e-15);
    close(tension(5.0), 49.05, 1e-15);
}

/// A start off the rod is moved to the nearest point of it, and its speed along the rod is taken away.
#[test]
fn starts_are_moved_onto_constraints() {
    let graph = Graph::new();
    let mut dynamics = pendulum(&graph).system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("x", 1.3), ("y", -1.7), ("x'", 1.0), ("y'", 0.5)]).unwrap();
    let r = 1.3f64.hypot(1.7);
    close(start.q[0], 1.3 * 2.0 / r, 1e-15);
    close(start.q[1], -1.7 * 2.0 / r, 1e-15);
    let along = (1.3 - 0.5 * 1.7) / r;
    close(start.p[0] / 3.0, 1.0 - along * 1.3 / r, 1e-15);
    close(start.p[1] / 3.0, 0.5 + along * 1.7 / r, 1e-15);
    let placed = dynamics.placed().unwrap();
    close(placed.moved, (1.7 * (1.0 - 2.0 / r)).abs(), 1e-13);
    assert_eq!((placed.farthest, placed.rank), (1, 1));
    assert!(placed.deflected > 0.1);

    let exact = dynamics.start(&[("x", 2.0), ("y'", 1.0)]).unwrap();
    assert_eq!((exact.q, dynamics.placed().unwrap().moved), (vec![2.0, 0.0], 0.0));
}

/// Far from the manifold, and where constraints have no slope, there is no start.
#[test]
fn starts_too_far_are_refused() {
    let graph = Graph::new();
    let mut dynamics = pendulum(&graph).system().unwrap().dynamics().unwrap();
    let far = dynamics.start(&[("x", 5.0)]).unwrap_err();
    assert_eq!(
        far.to_string(),
        "the start is far from what the constraints allow: `x` would have to move by 3.000; give a start that is \
         nearer, and that of all coordinates which are not 0 there"
    );
    let flat = dynamics.start(&[]).unwrap_err();
    assert!(matches!(flat, StartError::Projection(_)), "{flat}");
    assert!(flat.to_string().contains("`rod` by -4.00e0"), "{flat}");
}

/// Each lane is projected, and pushed, as it would be alone.
#[test]
fn lanes_are_projected_as_if_alone() {
    let graph = Graph::new();
    let mut dynamics = pendulum(&graph).system().unwrap().dynamics().unwrap();
    let states: Vec<[f64; 4]> = (0..8)
        .map(|j| {
            let (angle, off) = (f64::from(j), 1.0 + 0.05 * f64::from(j));
            [2.0 * off * angle.sin(), -2.0 * off * angle.cos(), 0.3 * f64::from(j), -1.0]
        })
        .collect();
    let mut block: Vec<f64> = (0..4).flat_map(|i| states.iter().map(move |s| s[i])).collect();
    let (mut field, mut multipliers) = ([0.0; 32], [0.0; 8]);
    let projections = dynamics.project(&[0.0; 8], &mut block).unwrap();
    dynamics.rates(&[0.0; 8], &block, &mut field).unwrap();
    dynamics.multipliers(&[0.0; 8], &block, &mut multipliers).unwrap();
    for (lane, state) in states.iter().enumerate() {
        let (mut y, mut rates, mut multiplier) = (*state, [0.0; 4], [0.0]);
        let alone = dynamics.project(&[0.0], &mut y).unwrap()[0];
        dynamics.rates(&[0.0], &y, &mut rates).unwrap();
        dynamics.multipliers(&[0.0], &y, &mut multiplier).unwrap();
        assert_eq!(projections[lane], alone);
        assert_eq!(multipliers[lane], multiplier[0]);
        for i in 0..4 {
            assert_eq!((block[i * 8 + lane], field[i * 8 + lane]), (y[i], rates[i]));
        }
    }
}

/// A lane that cannot be projected does not disturb the others.
#[test]
fn a_lane_that_fails_is_alone() {
    let graph = Graph::new();
    let mut dynamics = pendulum(&graph).system().unwrap().dynamics().unwrap();
    let mut block = [0.0; 32];
    for lane in 0..8 {
        block[lane] = if lane == 3 { 0.0 } else { 2.1 };
    }
    let mut correction = [0.0; 32];
    let error = dynamics.project_by(&[0.0; 8], &mut block, &mut correction).unwrap_err();
    assert_eq!(error.lane(), Some(3));
    for (lane, change) in correction[..8].iter().enumerate() {
        assert!(if lane == 3 { change.is_nan() } else { (change + 0.1).abs() < 1e-15 });
    }
}

/// A coordinate that is given a value is no unknown, also if the value depends on time or on another such coordinate.
#[test]
fn held_coordinates_are_eliminated() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let a = model.parameter("a", 0.5);
    let [x, y, z] = model.coordinates(["x", "y", "z"]);
    model.particle("bead", 2.0, [x, y, z]);
    model.gravity([0.0, 0.0, -9.81]);
    model.constraint("shaken", x, a * model.time().sin());
    model.constraint("aside", 2.0 * y, 1.0 + x);
    model.force(y, 7.0);
    let system = model.system().unwrap();
    assert_eq!(system.coordinates(), ["z"]);
    assert_eq!(system.held().iter().map(|(q, _)| q.as_str()).collect::<Vec<_>>(), ["x", "y"]);
    assert!(!system.facts().constrained && system.facts().explicit);
    let mut dynamics = system.dynamics().unwrap();
    let start = dynamics.start(&[("z", 1.0)]).unwrap();
    let mut at = [0.0; 3];
    dynamics.positions(&[1.0], &start.block(), &mut at).unwrap();
    let shaken = 0.5 * 1f64.sin();
    assert_eq!(at, [shaken, (1.0 + shaken) / 2.0, 1.0]);
    // The kinetic energy has what the held coordinates contribute: ẋ = a, ẏ = a/2 at t = 0.
    let mut energy = [0.0];
    dynamics.energy(&[0.0], &start.block(), &mut energy).unwrap();
    let refused = dynamics.start(&[("y'", 1.0)]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the start sets `y'` to 1, but the constraint `aside` holds it at 0.25: leave it out, or change the constraint"
    );
    // What it is held at may be given, and observed.
    dynamics.start_at(1.0, &[("z", 1.0), ("x", shaken), ("y'", 0.25 * 1f64.cos())]).unwrap();
    let held = dynamics.observable("x + y'").unwrap();
    let mut value = [0.0];
    dynamics.observe(held, &[1.0], &start.block(), &mut value).unwrap();
    assert!((value[0] - (shaken + 0.25 * 1f64.cos())).abs() < 1e-15);
}

type Demand<'a, 'g> = &'a dyn Fn(&mut Model<'g>);

/// A bead in a plane, with demands.
fn beads<'g>(graph: &'g Graph, demand: Demand<'_, 'g>) -> Result<System, String> {
    let mut model = Model::new(graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bead", 1.0, [x, y]);
    model.parameter("a", 2.0);
    demand(&mut model);
    model.system().map_err(|e| e.to_string())
}

/// What a bead in space conserves, with demands.
fn kept<'g>(graph: &'g Graph, demand: Demand<'_, 'g>) -> Vec<String> {
    let mut model = Model::new(graph);
    let [x, y, z] = model.coordinates(["x", "y", "z"]);
    model.particle("bead", 1.0, [x, y, z]);
    demand(&mut model);
    let system = model.system().unwrap();
    system.conserved()
}

/// A constraint that is the same as another one is redundant; one that contradicts it, or nothing at all, is an error.
#[test]
fn what_cannot_be_is_refused() {
    let graph = Graph::new();
    let symbol = |name| graph.symbol(name);
    let twice = beads(&graph, &|model| {
        model.constraint("one", symbol("x"), 1.0);
        model.constraint("two", 3.0 * symbol("x"), 3.0);
    });
    assert_eq!(twice.unwrap().coordinates(), ["y"]);
    let apart = beads(&graph, &|model| {
        model.constraint("one", symbol("x"), 1.0);
        model.constraint("two", symbol("x"), 2.0);
    });
    assert_eq!(
        apart.unwrap_err(),
        "the constraint `two` demands that -1 = 0, where nothing can move: it contradicts the parameters or another constraint; \
         remove one of them"
    );
    let idle = beads(&graph, &|model| model.constraint("idle", symbol("a"), 2.5));
    assert!(idle.unwrap_err().starts_with("the constraint `idle` demands that a - 2.5 = 0"));
    let unknown = beads(&graph, &|model| model.constraint("rod", symbol("z"), 2.5));
    assert_eq!(unknown.unwrap_err(), "the constraint `rod` uses `z`, which is not declared");
    let curved = beads(&graph, &|model| {
        let [u, v] = model.velocities([symbol("x"), symbol("y")]);
        model.constraint("speed", u * u + v * v, 1.0);
    });
    assert_eq!(
        curved.unwrap_err(),
        "the constraint `speed` is not linear in velocities: no force without work can enforce it"
    );
    let same = beads(&graph, &|model| {
        model.constraint("rod", symbol("x") * symbol("y"), 1.0);
        model.constraint("rod", symbol("x") * symbol("y"), 1.0);
    });
    assert_eq!(same.unwrap_err(), "the constraint `rod` is declared twice: rename one of them");
}

#[test]
fn hamiltonians_take_no_velocity_constraints() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    let [p, r] = model.momenta(["p", "r"]);
    model.hamiltonian("energy", p * p + r * r + x * x);
    model.constraint("skate", model.velocity(x) * y, 0.0);
    assert!(matches!(model.system().unwrap_err(), ModelError::VelocityConstraint { .. }));
}

/// What is conserved, and what constraints take away.
#[test]
fn conserved_quantities_account_for_constraints() {
    let graph = Graph::new();
    let [x, y] = ["x", "y"].map(|name| graph.symbol(name));
    let t = graph.symbol("t");
    assert_eq!(kept(&graph, &|_| ()), ["energy", "p_x", "p_y", "p_z"]);
    assert_eq!(kept(&graph, &|model| model.constraint("pipe", x * x + y * y, 1.0)), ["energy", "p_z"]);
    assert_eq!(kept(&graph, &|model| model.constraint("pipe", x * x + y * y, 1.0 + t * t)), ["p_z"]);
    let skate = kept(&graph, &|model| model.constraint("skate", model.velocity(x), y * model.velocity(y)));
    assert_eq!(skate, ["energy", "p_z"]);
    let belt = kept(&graph, &|model| {
        model.constraint("belt", model.velocity(x), y * model.velocity(y) + 1.0);
    });
    assert_eq!(belt, ["p_z"]);
}

/// A constraint of velocities: a skate that cannot slip sideways. Its multiplier is the sideways force.
#[test]
fn a_skate_is_pushed_sideways() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y, th] = model.coordinates(["x", "y", "th"]);
    model.particle("skate", 2.0, [x, y]);
    model.kinetic("turning", 0.25 * model.velocity(th).pow(2.0));
    let [u, v] = model.velocities([x, y]);
    model.constraint("blade", u * th.sin(), v * th.cos());
    let system = model.system().unwrap();
    assert_eq!(system.constraints(), [("blade".to_owned(), Level::Velocity)]);
    assert!(system.facts().constrained && !system.facts().holonomic);
    let mut dynamics = system.dynamics().unwrap();
    let (angle, speed, turn) = (0.4_f64, 3.0, 0.7);
    let start = [
        ("th", angle),
        ("x'", speed * angle.cos() - 0.2 * angle.sin()), // with some slip, which is taken away
        ("y'", speed * angle.sin() + 0.2 * angle.cos()),
        ("th'", turn),
    ];
    let start = dynamics.start(&start).unwrap();
    close(start.p[0], 2.0 * speed * angle.cos(), 1e-15);
    close(dynamics.placed().unwrap().deflected, 0.2 * angle.cos(), 1e-13);
    // It goes in a circle: the force is m·speed·turn, to the left.
    let (mut multiplier, mut field) = ([0.0], [0.0; 6]);
    dynamics.multipliers(&[0.0], &start.block(), &mut multiplier).unwrap();
    dynamics.rates(&[0.0], &start.block(), &mut field).unwrap();
    close(multiplier[0], 2.0 * speed * turn, 1e-14);
    close(field[3], -2.0 * speed * turn * angle.sin(), 1e-14);
    close(field[4], 2.0 * speed * turn * angle.cos(), 1e-14);
    close(field[5], 0.0, 1e-15);
}

/// Masses that depend on coordinates, coupled masses, and a Lagrangian that is not quadratic: accelerations keep Φ̈ = 0.
#[test]
fn accelerations_keep_constraints_whatever_the_masses() {
    let graph = Graph::new();
    let build = |statement: usize| {
        let mut model = Model::new(&graph);
        let [a, b, c] = model.coordinates(["a", "b", "c"]);
        let [u, v, w] = model.velocities([a, b, c]);
        match statement {
            0 => model.kinetic(
                "T",
                0.5 * (1.0 + a * a) * u * u + u * v * b.cos() + v * v + w * w / (2.0 + c.sin()),
            ),
            1 => model.lagrangian("L", -(1.0 - 0.01 * (u * u + v * v + w * w)).sqrt() + 0.2 * a * v),
            _ => model.kinetic("T", u * u + u * v + v * v + w * w),
        }
        model.potential("V", a * b + c.pow(4.0));
        model.constraint("one", a * b + c, 1.0 + 0.3 * model.time().sin());
        model.constraint("two", (a - c).pow(2.0) + b, 2.0);
        model.system().unwrap().dynamics().unwrap()
    };
    for statement in 0..3 {
        let mut dynamics = build(statement);
        let mut y = vec![0.8, 1.1, 0.3, 0.02, 0.15, 0.03];
        dynamics.project(&[0.2], &mut y).unwrap();
        let state = State::from_block(0.2, &y, 3);
        assert!(violation(&mut dynamics, &state) < 1e-14, "{statement}");
        // Along a short arc of the motion constraints are violated by the third order of its length.
        let mut v = [0.0; 3];
        dynamics.velocities(&[0.2], &y, &mut v).unwrap();
        let z = [y[0], y[1], y[2], v[0], v[1], v[2]];
        let mut a = [0.0; 3];
        dynamics.accelerations(&[0.2], &z, &mut a).unwrap();
        let h: f64 = 1e-4;
        let arc: Vec<f64> = (0..3).map(|i| y[i] + h * v[i] + 0.5 * h * h * a[i]).chain([0.0; 3]).collect();
        let mut values = [0.0; 2];
        dynamics.constraint_values(&[0.2 + h], &arc, &mut values).unwrap();
        assert!(values.iter().all(|x| x.abs() < 100.0 * h.powi(3)), "{statement}: {values:?}");
        // And momenta change as accelerations say.
        let mut field = [0.0; 6];
        dynamics.rates(&[0.2], &y, &mut field).unwrap();
        let moved: Vec<f64> = (0..6).map(|i| y[i] + h * field[i]).collect();
        let mut later = [0.0; 3];
        dynamics.velocities(&[0.2 + h], &moved, &mut later).unwrap();
        for i in 0..3 {
            close((later[i] - v[i]) / h, a[i], 1e-2);
        }
    }
}

/// Redundant constraints have the same force, and their rank is told.
#[test]
fn redundant_constraints_change_nothing() {
    let graph = Graph::new();
    let mut model = pendulum(&graph);
    let [x, y] = ["x", "y"].map(|name| graph.symbol(name));
    model.constraint("again", (x * x + y * y).sqrt(), 2.0);
    model.constraint("and again", 3.0 * (x * x + y * y), 12.0);
    let mut redundant = model.system().unwrap().dynamics().unwrap();
    let mut plain = pendulum(&graph).system().unwrap().dynamics().unwrap();
    let start = [("x", 1.2), ("y", -1.6), ("x'", 0.8), ("y'", 0.6)];
    let (a, b) = (plain.start(&start).unwrap(), redundant.start(&start).unwrap());
    let (mut f, mut g, mut rank) = ([0.0; 4], [0.0; 4], [0]);
    plain.rates(&[0.0], &a.block(), &mut f).unwrap();
    redundant.rates(&[0.0], &b.block(), &mut g).unwrap();
    redundant.rank(&[0.0], &b.block(), &mut rank).unwrap();
    assert_eq!((rank, redundant.placed().unwrap().rank), ([1], 1));
    f.iter().zip(g).for_each(|(f, g)| close(g, *f, 1e-13));
}

/// Written out or reckoned with numbers, the forces of constraints are the same.
#[test]
fn fields_written_out_are_those_of_multipliers() {
    let graph = Graph::new();
    let mut redundant = pendulum(&graph);
    let [x, y] = ["x", "y"].map(|name| graph.symbol(name));
    redundant.constraint("again", (x * x + y * y).sqrt(), 2.0);
    let mut skate = Model::new(&graph);
    let [a, b, th] = skate.coordinates(["a", "b", "th"]);
    skate.particle("skate", 2.0, [a, b]);
    skate.kinetic(
        "turning",
        (0.25 + a * a) * skate.velocity(th).pow(2.0) + skate.velocity(a) * skate.velocity(th),
    );
    skate.dissipation("drag", 0.1 * skate.velocity(a).pow(4.0));
    skate.constraint("blade", skate.velocity(a) * th.sin(), skate.velocity(b) * th.cos() + skate.time());
    let pendulums = [pendulum(&graph), hamiltonian_pendulum(&graph), redundant, skate];
    for (i, model) in pendulums.iter().enumerate() {
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        assert!(dynamics.system().facts().explicit, "{i}");
        let n = dynamics.system().degrees();
        let mut state: Vec<f64> = [1.2, -1.6, 0.8, 0.6, 0.3, 0.4][..2 * n].to_vec();
        dynamics.project(&[0.4], &mut state).unwrap();
        let mut field = vec![0.0; 2 * n];
        dynamics.rates(&[0.4], &state, &mut field).unwrap();
        let mut multipliers = vec![0.0; dynamics.system().constraints().len()];
        dynamics.multipliers(&[0.4], &state, &mut multipliers).unwrap();
        let mut pushes = vec![0.0; n];
        dynamics.kick(&[0.4], &state, &mut pushes).unwrap();
        let mut factors = ConstraintFactors::new(dynamics.system(), 1);
        factors.factor(&mut dynamics, &[0.4], &state).unwrap();
        factors.add_forces(&multipliers, &mut pushes);
        pushes.iter().zip(&field[n..]).for_each(|(p, f)| close(*f, *p, 1e-13));
    }
}

/// What holds a coordinate: here in closed form, also where one held coordinate holds another. The bead is carried by x = a sin t and y = (1 + x)/2.
#[test]
fn what_holds_a_coordinate_is_known() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let a = model.parameter("a", 0.5);
    let [x, y, z] = model.coordinates(["x", "y", "z"]);
    model.particle("bead", 2.0, [x, y, z]);
    model.constraint("shaken", x, a * model.time().sin());
    model.constraint("aside", 2.0 * y, 1.0 + x);
    model.potential("spring", 3.0 * x * x * z);
    model.dissipation("drag", 0.25 * model.velocity(x) * model.velocity(x));
    model.force(y, 7.0);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let (t, block) = (0.7_f64, [1.5, 0.0]);
    let (place, speed, change) = (0.5 * t.sin(), 0.5 * t.cos(), -0.5 * t.sin());
    let expected = [
        ("x'", speed),
        ("y", (1.0 + place) / 2.0),
        ("z''", -3.0 * place * place / 2.0),
        ("reaction_shaken", 2.0 * change + 6.0 * place * 1.5 + 0.5 * speed),
        ("reaction_aside", 2.0 * change / 2.0 - 7.0),
    ];
    for (name, value) in expected {
        let named = dynamics.observable(name).unwrap();
        let mut out = [0.0];
        dynamics.observe(named, &[t], &block, &mut out).unwrap();
        close(out[0], value, 1e-14);
    }
}

/// The last coordinate stays one: a motion that is given completely is one, too, and what it takes is known.
#[test]
fn a_motion_may_be_given_completely() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("mass", 2.0, [x]);
    model.potential("spring", 3.0 * x * x);
    model.constraint("drive", x, model.time().sin());
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start_at(0.5, &[]).unwrap();
    let mut push = [0.0];
    dynamics.multipliers(&[0.5], &start.block(), &mut push).unwrap();
    close(-push[0], (6.0 - 2.0) * 0.5_f64.sin(), 1e-14);
}

/// What is given of velocities stays, and the rest follows: y = x² at (1, 1) with x' = 1 has y' = 2.
#[test]
fn velocities_that_are_given_stay() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bead", 1.0, [x, y]);
    model.constraint("wire", y, x * x);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let mut begin = |values: &[(&str, f64)]| {
        let started = dynamics.start(values)?;
        Ok::<_, StartError>((started, dynamics.placed().unwrap().deflected))
    };
    let near =
        |found: &[f64], expected: [f64; 2]| found.iter().zip(expected).all(|(x, e)| (x - e).abs() < 1e-13);
    for given in [("x'", 1.0), ("y'", 2.0)] {
        let (start, deflected) = begin(&[("x", 1.0), ("y", 1.0), given]).unwrap();
        assert!(near(&start.p, [1.0, 2.0]) && deflected < 1e-9, "{given:?}: {start:?}, {deflected}");
    }
    // A start that is off the wire: the velocity is right where it is moved to.
    let (start, _) = begin(&[("x", 1.0), ("y", 1.1), ("x'", 1.0)]).unwrap();
    assert!(near(&start.p, [1.0, 2.0 * start.q[0]]), "{start:?}");
    // Both are given, and nearly right, or wrong.
    let (start, deflected) = begin(&[("x", 1.0), ("y", 1.0), ("x'", 1.0), ("y'", 2.1)]).unwrap();
    assert!(near(&start.p, [1.04, 2.08]) && deflected > 0.03, "{start:?}");
}

/// The only coordinate is held: a velocity that is given becomes that with which it is moved, and how far it was off is known.
#[test]
fn how_far_a_given_velocity_was_off_is_known() {
    for (rate, given) in [(2.0, 2.0), (2.0, 1.0), (0.0, 1.0)] {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let x = model.coordinate("x");
        model.particle("cart", 1.0, [x]);
        model.constraint("drive", x, 2.0 + rate * model.time());
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        let start = dynamics.start(&[("x'", given)]).unwrap();
        let deflected = dynamics.placed().unwrap().deflected;
        assert!((start.q[0] - 2.0).abs() < 1e-12 && (start.p[0] - rate).abs() < 1e-12, "{start:?}");
        assert!((deflected - (given - rate).abs()).abs() < 1e-12, "{deflected}");
    }
}

//! Every way to get a model, a setting or a start wrong, and what is said about it.

use crate::common::zoo::zoo;
use leastaction_expr::Graph;
use leastaction_mechanics::{
    Dynamics, EvalError, Form, Model, ModelError, ObserveError, Particle, Ports, Quantity, Query,
    SettingError, StartError, StartQuantity, Table,
};

/// What is wrong with a model.
#[track_caller]
fn refused(build: impl FnOnce(&mut Model<'_>)) -> ModelError {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    build(&mut model);
    model.system().expect_err("the model must be refused")
}

/// A unit pendulum with friction and a push.
fn pendulum() -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, l] = model.parameters([("mass", 1.0), ("length", 1.0)]);
    let theta = model.coordinate("theta");
    model.particle("bob", m, [l * theta.sin(), -l * theta.cos()]);
    model.gravity([0.0, -9.81]);
    let push = model.input("push");
    model.force(theta, push);
    model.system().unwrap().dynamics().unwrap()
}

#[test]
fn nothing_to_move_or_nothing_to_move_it() {
    assert!(matches!(refused(|_| {}), ModelError::NoCoordinates));
    let error = refused(|model| {
        let x = model.coordinate("x");
        model.potential("weight", x);
    });
    assert!(matches!(error, ModelError::NoEnergy));
}

#[test]
fn a_duplicate_coordinate_is_named() {
    // Two angles that always act together.
    let error = refused(|model| {
        let [a, b, x] = model.coordinates(["a", "b", "x"]);
        model.particle("bob", 1.0, [x + (a + b).sin(), (a + b).cos()]);
        model.particle("block", 1.0, [x, x]);
    });
    let ModelError::SingularMass { coordinates } = &error else { panic!("{error}") };
    assert_eq!(coordinates, &["a", "b"]);
    assert!(error.to_string().contains("`a`, `b`"), "{error}");
    // More coordinates than directions: all of them take part.
    let error = refused(|model| {
        let [x, y, z] = model.coordinates(["x", "y", "z"]);
        model.particle("bead", 1.0, [x + y * z, y - 2.0 * z]);
    });
    let ModelError::SingularMass { coordinates } = &error else { panic!("{error}") };
    assert_eq!(coordinates.len(), 3);
    let error = refused(|model| {
        let [a, _] = model.coordinates(["a", "a"]);
        model.particle("bob", 1.0, [a]);
    });
    assert_eq!(
        error.to_string(),
        "`a` is declared twice, as a coordinate and as a coordinate: rename one of them"
    );
}

#[test]
fn a_large_duplicate_is_named_too() {
    let error = refused(|model| {
        let mut x = model.number(0.0);
        for i in 0..20 {
            let angle = model.coordinate(&format!("a{i}"));
            // The last link repeats the one before.
            let angle = if i == 19 { angle + model.graph().symbol("a18") } else { angle };
            x += angle.sin();
            if i != 18 {
                model.particle(
                    &format!("bob{i}"),
                    1.0,
                    [
                        x - if i == 19 { model.graph().symbol("a18").sin() } else { model.number(0.0) },
                        angle.cos(),
                    ],
                );
            }
        }
    });
    let ModelError::SingularMass { coordinates } = &error else { panic!("{error}") };
    assert_eq!(coordinates, &["a18", "a19"]);
}

#[test]
fn degenerate_lagrangians_and_unused_coordinates() {
    let error = refused(|model| {
        let [x, y] = model.coordinates(["x", "y"]);
        let [vx, vy] = model.velocities([x, y]);
        model.lagrangian("first order", x * vy - y * vx - (x * x + y * y));
    });
    assert!(matches!(&error, ModelError::NoInertia { name } if name == "x"), "{error}");
    let error = refused(|model| {
        let [x, y] = model.coordinates(["x", "y"]);
        let v = model.velocity(x);
        model.kinetic("motion", v * v);
        model.potential("spring", x * x + y);
    });
    assert!(matches!(&error, ModelError::NoInertia { name } if name == "y"), "{error}");
    let error = refused(|model| {
        let [x, _] = model.coordinates(["x", "idle"]);
        model.particle("bead", 1.0, [x]);
    });
    assert!(matches!(&error, ModelError::UnusedCoordinate { name } if name == "idle"), "{error}");
    let error = refused(|model| {
        let [x, _] = model.coordinates(["x", "idle"]);
        let p = model.momentum("p");
        model.hamiltonian("all", p * p + x * x);
    });
    assert!(matches!(&error, ModelError::UnusedCoordinate { name } if name == "idle"), "{error}");
    // Degenerate although each velocity is there: (x' + y')².
    let error = refused(|model| {
        let [x, y] = model.coordinates(["x", "y"]);
        let [vx, vy] = model.velocities([x, y]);
        model.lagrangian("together", (vx + vy).pow(2.0) - x * x - y * y);
    });
    assert!(matches!(&error, ModelError::SingularMass { coordinates } if coordinates.len() == 2), "{error}");
}

#[test]
fn masses_must_be_positive() {
    for (mass, value) in [(0.0, 0.0), (-2.0, -2.0)] {
        let error = refused(|model| {
            let x = model.coordinate("x");
            let m = model.parameter("m", mass);
            model.particle("bead", m, [x]);
        });
        assert!(
            matches!(&error, ModelError::BadMass { particle, value: v } if particle == "bead" && *v == value)
        );
    }
    let error = refused(|model| {
        let x = model.coordinate("x");
        model.particle("bead", x, [x]);
    });
    assert_eq!(error.to_string(), "the mass of particle `bead` uses `x`, a coordinate: it must be constant");
    let mut dynamics = pendulum();
    let error = dynamics.set_parameter("mass", -1.0).unwrap_err();
    assert_eq!(error, SettingError::BadMass { particle: "bob".into(), value: -1.0 });
    assert_eq!(dynamics.parameters(), [1.0, 1.0], "refused values leave the old ones");
}

#[test]
fn names_must_be_known_and_in_place() {
    let error = refused(|model| {
        let theta = model.coordinate("theta");
        model.particle("bob", 1.0, [theta.sin(), model.graph().symbol("thta").cos()]);
    });
    assert_eq!(
        error.to_string(),
        "the position of particle `bob` uses `thta`, which is not declared: did you mean `theta`?"
    );
    let error = refused(|model| {
        let x = model.coordinate("x");
        let v = model.velocity(x);
        model.particle("bead", 1.0, [x]);
        model.potential("drag", v * x);
    });
    assert!(error.to_string().contains("the potential energy `drag` uses `x'`, a velocity"), "{error}");
    let error = refused(|model| {
        let x = model.coordinate("x");
        let u = model.input("u");
        model.particle("bead", 1.0, [x + u]);
    });
    assert!(error.to_string().contains("inputs act through forces"), "{error}");
    let error = refused(|model| {
        let x = model.coordinate("x");
        let v = model.velocity(x);
        model.hamiltonian("all", v * v);
    });
    assert!(matches!(error, ModelError::MisplacedName { .. }));
    let error = refused(|model| {
        let x = model.coordinate("x");
        model.particle("bead", 1.0, [x]);
        model.force(x * 2.0, 1.0);
    });
    assert_eq!(error.to_string(), "a force acts on `2*x`, which is not a coordinate");
    let error = refused(|model| {
        let x = model.coordinate("t");
        model.particle("bead", 1.0, [x]);
    });
    assert_eq!(
        error.to_string(),
        "`t` is declared twice, as the time and as a coordinate: rename one of them"
    );
}

#[test]
fn one_way_to_state_the_motion() {
    let error = refused(|model| {
        let x = model.coordinate("x");
        let p = model.momentum("p");
        model.particle("bead", 1.0, [x]);
        model.hamiltonian("all", p * p);
    });
    assert!(matches!(&error, ModelError::MixedForms { name } if name == "bead"), "{error}");
    let error = refused(|model| {
        let x = model.coordinate("x");
        let [p, _] = model.momenta(["p", "q"]);
        model.hamiltonian("all", p * p + x);
    });
    assert!(matches!(error, ModelError::MomentaCount { momenta: 2, coordinates: 1 }));
}

#[test]
fn definitions_must_not_go_round() {
    let error = refused(|model| {
        let x = model.coordinate("x");
        let [a, b, c] = model.graph().symbols(["a", "b", "c"]);
        model.define("a", b + x);
        model.define("b", c * c);
        model.define("c", a + 1.0);
        model.define("d", a);
        model.particle("bead", 1.0, [x + a]);
    });
    assert_eq!(
        error.to_string(),
        "the definitions of `a`, `b`, `c` use each other in a circle: define one of them without the others"
    );
    let error = refused(|model| {
        let x = model.coordinate("x");
        let a = model.graph().symbol("a");
        model.define("a", a + x);
        model.particle("bead", 1.0, [a]);
    });
    assert!(matches!(&error, ModelError::Cycle { names } if names == &["a"]), "{error}");
    // The rate of what depends on velocities would be an acceleration.
    let error = refused(|model| {
        let x = model.coordinate("x");
        let v = model.velocity(x);
        model.define("speed", v.abs());
        model.particle("bead", 1.0, [x]);
        model.lagrangian("odd", model.graph().symbol("speed'"));
    });
    assert!(matches!(&error, ModelError::UnknownName { name, .. } if name == "speed'"), "{error}");
}

#[test]
fn dimensions_must_fit() {
    let error = refused(|model| {
        let x = model.coordinate("x");
        model.particle("bead", 1.0, [x; 4]);
    });
    assert_eq!(error.to_string(), "particle `bead` has 4 dimensions, 1, 2 or 3 are expected");
    let error = refused(|model| {
        let x = model.coordinate("x");
        model.particle("bead", 1.0, [x, x]);
        model.gravity([0.0, 0.0, -9.81]);
    });
    assert_eq!(error.to_string(), "particle `bead` has 2 dimensions, 3 (those of gravity) are expected");
    let error = refused(|model| {
        let x = model.coordinate("x");
        let inertias = vec![model.number(1.0)];
        model.push_particle(Particle { name: "bead".into(), inertias, position: vec![x, x] });
    });
    assert!(matches!(error, ModelError::Dimensions { found: 2, .. }));
}

#[test]
fn numbers_must_be_finite() {
    let error = refused(|model| {
        let x = model.coordinate("x");
        model.parameter("k", f64::NAN);
        model.particle("bead", 1.0, [x]);
    });
    assert!(matches!(&error, ModelError::BadParameter { name, .. } if name == "k"));
    let error = refused(|model| {
        let x = model.coordinate("x");
        model.particle("bead", 1.0, [x]);
        model.potential("well", f64::INFINITY * x);
    });
    assert_eq!(error.to_string(), "the potential energy `well` has inf in it: numbers must be finite");
    let graph = Graph::new();
    let wrongs: [fn(&mut Model<'_>); 3] = [
        |model| model.gravity([f64::NAN]),
        |model| model.force(model.graph().symbol("x"), f64::NAN),
        |model| model.lagrangian("odd", f64::INFINITY),
    ];
    for wrong in wrongs {
        let mut model = Model::new(&graph);
        let x = model.coordinate("x");
        model.particle("bead", 1.0, [x]);
        wrong(&mut model);
        assert!(matches!(model.equations(), Err(ModelError::NotFinite { .. })));
    }
}

#[test]
fn gravity_adds_up_and_needs_particles() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("bead", 2.0, [x]);
    model.gravity([-9.0]);
    model.gravity([1.0]);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let mut rates = [0.0; 2];
    dynamics.rates(&[0.0], &[0.0; 2], &mut rates).unwrap();
    assert_eq!(rates, [0.0, -16.0]);
    model.gravity([0.0, 1.0]);
    assert!(matches!(model.system(), Err(ModelError::Dimensions { found: 1, .. })));
    let error = refused(|model| {
        let x = model.coordinate("x");
        let v = model.velocity(x);
        model.kinetic("motion", v * v);
        model.gravity([-9.81]);
    });
    assert!(matches!(error, ModelError::IdleGravity), "{error}");
}

#[test]
fn parts_are_told_apart_by_name() {
    let adds: [fn(&mut Model<'_>); 5] = [
        |model| model.particle("bead", 1.0, [model.graph().symbol("x")]),
        |model| model.kinetic("bead", model.graph().symbol("x'").pow(2.0)),
        |model| model.potential("spring", model.graph().symbol("x")),
        |model| model.potential("gravity on bead", model.graph().symbol("x")),
        |model| model.point("bead", [model.graph().symbol("x")]),
    ];
    for add in adds {
        let error = refused(|model| {
            let x = model.coordinate("x");
            model.particle("bead", 1.0, [x]);
            model.gravity([-9.81]);
            model.potential("spring", x * x);
            add(model);
        });
        assert!(
            matches!(error, ModelError::DuplicateTerm { .. } | ModelError::DuplicateParticle { .. }),
            "{error}"
        );
        assert!(error.to_string().ends_with("` is declared twice: rename one of them"), "{error}");
    }
}

#[test]
fn names_are_identifiers() {
    for name in ["", "x'", "2x", "a b", "x-y", "`x`"] {
        let error = refused(|model| {
            let x = model.coordinate(name);
            model.particle("bead", 1.0, [x]);
        });
        assert!(matches!(error, ModelError::BadName { what: "a coordinate", .. }), "{name}: {error}");
        let error = refused(|model| {
            let x = model.coordinate("y");
            let m = model.parameter(name, 1.0);
            model.particle("bead", m, [x]);
        });
        assert!(matches!(error, ModelError::BadName { what: "a parameter", .. }), "{name}: {error}");
    }
}

#[test]
fn starts_are_checked() {
    let mut dynamics = pendulum();
    let error = dynamics.start(&[("thta", 1.0)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the start sets `thta`, which is no coordinate, velocity or momentum: did you mean `theta`?"
    );
    let error = dynamics.start(&[("theta", 1.0), ("theta", 2.0)]).unwrap_err();
    assert_eq!(error, StartError::Twice { name: "theta".into() });
    let error = dynamics.start(&[("theta'", 1.0), ("p_theta", 2.0)]).unwrap_err();
    assert!(matches!(error, StartError::Mixed { .. }));
    let error = dynamics.start(&[("theta", f64::NAN)]).unwrap_err();
    assert!(
        matches!(error, StartError::NotFinite { what: StartQuantity::Given(name), .. } if name == "theta")
    );
    assert!(dynamics.start_at(f64::INFINITY, &[]).is_err());
}

#[test]
fn energies_must_be_numbers_at_the_start() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("bead", 1.0, [x]);
    model.potential("slope", x.ln());
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let error = dynamics.start(&[("x", -1.0)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the energy `slope` is NaN at the start: check the start and the parameters"
    );
    assert!(dynamics.start(&[("x", 1.0)]).is_ok());
    assert!(dynamics.start(&[]).is_err(), "ln 0");
}

#[test]
fn a_mass_matrix_may_be_singular_at_one_place() {
    // The pole of polar coordinates, unrolled and factored at run time.
    let graph = Graph::new();
    for extra in [0, 40] {
        let mut model = Model::new(&graph);
        let [r, th] = model.coordinates(["r", "th"]);
        model.particle("bead", 1.0, [r * th.cos(), r * th.sin()]);
        let angles: Vec<_> = (0..extra).map(|i| model.coordinate(&format!("a{i}"))).collect();
        let mut sum = model.number(0.0);
        for (i, &angle) in angles.iter().enumerate() {
            sum += angle;
            model.particle(&format!("bob{i}"), 1.0, [sum.sin(), sum.cos(), r]);
        }
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        assert_eq!(dynamics.system().facts().explicit, extra == 0);
        let error = dynamics.start(&[("th'", 1.0)]).unwrap_err();
        assert_eq!(error, StartError::SingularMass { t: 0.0, coordinates: vec!["th".into()] });
        let error = dynamics.start_at(2.0, &[("p_th", 1.0)]).unwrap_err();
        assert_eq!(error, StartError::SingularMass { t: 2.0, coordinates: vec!["th".into()] });
        dynamics.start(&[("r", 1.0), ("th'", 1.0)]).unwrap();
    }
}

#[test]
fn a_mass_matrix_may_be_singular_with_some_parameters() {
    let mut dynamics = pendulum();
    dynamics.set_parameter("length", 0.0).unwrap();
    assert_eq!(
        dynamics.start(&[("theta", 1.0)]).unwrap_err().to_string(),
        "the mass matrix is singular at the start (t = 0): the motion of `theta` is not determined there; start elsewhere, \
             or change the parameters"
    );
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [l1, l2] = model.parameters([("l1", 1.0), ("l2", 1.0)]);
    let [a, b] = model.coordinates(["a", "b"]);
    let elbow = [l1 * a.sin(), -l1 * a.cos()];
    model.particle("elbow", 1.0, elbow);
    model.particle("hand", 1.0, [elbow[0] + l2 * b.sin(), elbow[1] - l2 * b.cos()]);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    for (l1, l2, idle) in [(1.0, 0.0, vec!["b"]), (0.0, 1.0, vec!["a"]), (0.0, 0.0, vec!["a", "b"])] {
        dynamics.set_parameters(&[l1, l2]).unwrap();
        let StartError::SingularMass { coordinates, .. } = dynamics.start(&[("a", 1.0)]).unwrap_err() else {
            panic!()
        };
        assert_eq!(coordinates, idle);
    }
    dynamics.set_parameters(&[1e-9, 1e9]).unwrap();
    dynamics.start(&[("a", 1.0)]).unwrap();
}

#[test]
fn heavy_and_light_together_are_not_singular() {
    let build = |heavy: f64, light: f64| {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [x, y] = model.coordinates(["x", "y"]);
        model.particle("earth", heavy, [x + y]);
        model.particle("sat", light, [x]);
        model.system().unwrap().dynamics().unwrap()
    };
    let mut dynamics = build(5.97e12, 1e3);
    assert!(dynamics.system().facts().explicit);
    dynamics.start(&[("x", 1.0)]).unwrap();
    // Here the sum of the masses is the heavy one to rounding: the model is right, its numbers cannot be computed with.
    let error = build(5.97e24, 1e3).start(&[("x", 1.0)]).unwrap_err();
    assert!(matches!(error, StartError::SingularMass { .. }), "{error}");
}

/// The rate of an input is not known, nor that of what is made of it.
#[test]
fn inputs_have_no_rates() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("cart", 2.0, [x]);
    let push = model.stated_input("push", model.time().sin());
    let twice = model.define("twice", 2.0 * push);
    model.stated_input("pull", 3.0 * x);
    let error = model.system().unwrap_err().to_string();
    assert!(error.starts_with("the input `pull` uses `x`"), "{error}");
    model.force(x, model.velocity(twice));
    let error = model.system().unwrap_err();
    assert!(matches!(&error, ModelError::UnknownName { name, .. } if name == "twice'"), "{error}");
}

#[test]
fn settings_are_checked() {
    let mut dynamics = pendulum();
    let error = dynamics.set_parameter("lenght", 1.0).unwrap_err();
    assert_eq!(error.to_string(), "there is no parameter `lenght`: did you mean `length`?");
    let error = dynamics.set_input("pull", 1.0).unwrap_err();
    assert!(matches!(error, SettingError::Unknown { what: "input", .. }));
    assert!(matches!(dynamics.set_parameters(&[1.0]), Err(SettingError::Count { expected: 2, found: 1 })));
    assert!(matches!(dynamics.set_parameter("length", f64::NAN), Err(SettingError::NotFinite { .. })));
    assert_eq!(
        dynamics.set_input("push", f64::NAN).unwrap_err().to_string(),
        "the input `push` is NaN: inputs must be finite"
    );
    assert!(Table::new(&[], &[]).is_err());
    assert!(Table::new(&[0.0, 1.0], &[0.0]).is_err());
    assert!(Table::new(&[0.0, f64::NAN], &[0.0, 1.0]).is_err());
    assert!(Table::new(&[0.0, 1.0], &[0.0, f64::INFINITY]).is_err());
}

#[test]
fn observables_are_checked() {
    let mut dynamics = pendulum();
    let error = dynamics.observable("thta^2").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the expression uses `thta`, which the system does not have: did you mean `theta`?"
    );
    assert!(matches!(dynamics.observable("2 theta"), Err(ObserveError::Parse(_))));
    let here = dynamics.observable("theta").unwrap();
    assert!(dynamics.observe(here, &[0.0], &[0.0], &mut [0.0]).is_err());
    assert!(dynamics.observe(here, &[0.0], &[0.0; 2], &mut [0.0; 2]).is_err());
    assert!(pendulum().observe(here, &[0.0], &[0.0; 2], &mut [0.0]).is_err());
}

#[test]
fn slices_must_fit() {
    for mut case in zoo() {
        let n = case.state.q.len();
        let (y, t) = (case.state.block(), [case.state.t]);
        let dynamics = &mut case.dynamics;
        let long = vec![0.0; 4 * n * n + 1];
        for query in [Dynamics::rates, Dynamics::velocities, Dynamics::kick, Dynamics::jacobian] {
            assert!(matches!(
                query(dynamics, &t, &y[1..], &mut long.clone()),
                Err(EvalError::WrongLength { .. })
            ));
            assert!(matches!(query(dynamics, &t, &y, &mut long.clone()), Err(EvalError::WrongLength { .. })));
            assert!(matches!(
                query(dynamics, &[0.0; 3], &y, &mut long.clone()),
                Err(EvalError::Width { found: 3 })
            ));
        }
        for query in [
            Dynamics::momenta,
            Dynamics::momentum_rates,
            Dynamics::accelerations,
            Dynamics::mass_matrix,
            Dynamics::energy,
            Dynamics::kinetic_energy,
            Dynamics::shares,
            Dynamics::positions,
        ] {
            assert!(query(dynamics, &t, &y[1..], &mut long.clone()).is_err());
            assert!(query(dynamics, &t, &y, &mut long.clone()).is_err());
            assert!(query(dynamics, &[], &y, &mut long.clone()).is_err());
        }
    }
}

#[test]
fn ports_are_checked() {
    let graph = Graph::new();
    let mut ports = Ports::new(&graph);
    assert!(matches!(ports.system(), Err(ModelError::NoCoordinates)));
    let [x, p] = ports.states(["x", "p"]);
    assert!(matches!(ports.system(), Err(ModelError::NoEnergy)));
    ports.hamiltonian("all", (x * x + p * p) / 2.0);
    let try_start = |ports: &Ports<'_>| ports.system().unwrap().dynamics().unwrap().start(&[("x", 1.0)]);
    ports.interconnection([[0.0, 1.0], [1.0, 0.0]]);
    assert_eq!(
        try_start(&ports).unwrap_err().to_string(),
        "J is not skew-symmetric at the start: J[0][1] = 1 and J[1][0] = 1"
    );
    ports.interconnection([[0.0, 1.0], [-1.0, 0.0]]);
    for wrong in [
        [[0.0, 0.0], [0.0, -1.0]],
        [[1.0, 2.0], [2.0, 1.0]],
        [[0.0, 1.0], [1.0, 5.0]],
        [[1.0, 0.5], [0.0, 1.0]],
    ] {
        ports.dissipation(wrong);
        assert!(matches!(try_start(&ports), Err(StartError::NotDissipative { .. })), "{wrong:?}");
    }
    for right in [[[0.0, 0.0], [0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]], [[0.0; 2]; 2]] {
        ports.dissipation(right);
        try_start(&ports).unwrap();
    }
    ports.port_matrix([[1.0], [0.0]]);
    let error = ports.system().unwrap_err();
    assert_eq!(error.to_string(), "B has 2 rows and 1 columns, 2 and 0 are expected");
    ports.inputs(["u"]);
    let mut dynamics = ports.system().unwrap().dynamics().unwrap();
    let block = dynamics.start(&[("x", 1.0)]).unwrap().block();
    let mut out = [0.0; 4];
    let queries: [(usize, Query); 8] = [
        (2, Dynamics::velocities),
        (2, Dynamics::momenta),
        (2, Dynamics::momentum_rates),
        (2, Dynamics::kick),
        (2, Dynamics::accelerations),
        (4, Dynamics::mass_matrix),
        (1, Dynamics::kinetic_energy),
        (0, Dynamics::positions),
    ];
    for (rows, query) in queries {
        let error = query(&mut dynamics, &[0.0], &block, &mut out[..rows]).unwrap_err();
        assert!(matches!(error, EvalError::Undefined { form: Form::Ports, .. }), "{error}");
    }
    assert!(pendulum().prepare(&[Quantity::Outputs]).is_err());
}

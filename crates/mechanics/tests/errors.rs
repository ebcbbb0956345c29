//! Every way to get a model wrong, and what is said about it.

use crate::start_errors::pendulum;
use leastaction_expr::Graph;
use leastaction_mechanics::{Model, ModelError, Particle, SettingError};

/// What is wrong with a model.
#[track_caller]
fn refused(build: impl FnOnce(&mut Model<'_>)) -> ModelError {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    build(&mut model);
    model.system().expect_err("the model must be refused")
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
fn parts_are_distinguished_by_name() {
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

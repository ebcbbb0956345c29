//! Every way to get a start, a setting or a call wrong, and what is said about it.

use crate::common::zoo::zoo;
use leastaction_expr::Graph;
use leastaction_mechanics::{
    Dynamics, EvalError, Form, Model, ModelError, ObserveError, Ports, Quantity, Query, SettingError,
    StartError, StartQuantity, Table,
};

/// A unit pendulum with friction and a push.
pub(crate) fn pendulum() -> Dynamics {
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

/// A constraint between what the singular masses belong to does not hide them.
#[test]
fn a_constraint_does_not_hide_a_singular_mass_matrix() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [r, th, x] = model.coordinates(["r", "th", "x"]);
    model.particle("bead", 1.0, [r * th.cos(), r * th.sin()]);
    model.particle("slider", 1.0, [x]);
    model.constraint("gear", th, x + 1.0);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let error = dynamics.start(&[("th", 1.1)]).unwrap_err();
    assert_eq!(error, StartError::SingularMass { t: 0.0, coordinates: vec!["th".into()] });
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

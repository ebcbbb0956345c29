//! States of first order: their rates, and that they neither have nor need an energy.

use leastaction_expr::Graph;
use leastaction_mechanics::{Dynamics, Model, ModelError};

/// A motor with an inductance turns a disc with a spring: current and angle know of each other.
fn motor(by_hamiltonian: bool) -> String {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let th = model.coordinate("th");
    match by_hamiltonian {
        true => {
            let p = model.momentum("p");
            model.hamiltonian("turning", p * p / 6.0 + 2.0 * th * th);
        }
        false => {
            let speed = model.velocity(th);
            model.kinetic("turning", 1.5 * speed * speed);
            model.potential("spring", 2.0 * th * th);
        }
    }
    let speed = model.velocity(th);
    let i = model.state("i");
    model.set_rate(i, (12.0 - 0.5 * i - 0.7 * speed) / 0.25);
    model.force(th, 0.7 * i);
    let equations = model.equations().unwrap();
    let system = equations.system().unwrap();
    let mut dynamics = system.dynamics().unwrap();
    assert_eq!(system.states(), [(1, "i".to_owned())]);
    let name = if by_hamiltonian { ("p", 6.0) } else { ("th'", 2.0) };
    let start = dynamics.start(&[("th", 0.3), name, ("i", 4.0)]).unwrap();
    assert_eq!((start.q, start.p), (vec![0.3, 0.0], vec![6.0, 4.0]));
    let y = [0.3, 0.0, 6.0, 4.0];
    let (mut rates, mut energy, mut power) = ([0.0; 4], [0.0], [0.0]);
    dynamics.rates(&[0.0], &y, &mut rates).unwrap();
    let expected = [2.0, 4.0, 0.7 * 4.0 - 4.0 * 0.3, (12.0 - 2.0 - 1.4) / 0.25];
    assert!(rates.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-13), "{rates:?} {expected:?}");
    // The energy is that of the disc and its spring alone, and so is the power of what pushes it.
    dynamics.energy(&[0.0], &y, &mut energy).unwrap();
    dynamics.supplied_power(&[0.0], &y, &mut power).unwrap();
    assert!((energy[0] - (6.0 + 0.18)).abs() < 1e-13 && (power[0] - 0.7 * 4.0 * 2.0).abs() < 1e-13);
    let observed = dynamics.observable("i").unwrap();
    let mut value = [0.0];
    dynamics.observe(observed, &[0.0], &y, &mut value).unwrap();
    assert_eq!(value, [4.0]);
    let facts = system.facts();
    assert!(facts.forced && facts.forces_depend_on_velocities && facts.conserved.is_empty());
    equations.to_string()
}

#[test]
fn a_motor_has_the_rates_that_are_written() {
    let text = motor(false);
    assert!(text.lines().any(|line| line.starts_with("i' = ")) && !text.contains("int_"), "{text}");
    let text = motor(true);
    assert!(text.lines().any(|line| line.starts_with("i' = ")) && !text.contains("int_"), "{text}");
}

/// What only looks on changes no energy; what stays as it is counts.
#[test]
fn what_looks_on_disturbs_nothing() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let x = model.coordinate("x");
    model.particle("mass", 1.0, [x]);
    model.potential("spring", 0.5 * x * x);
    let (z, _count) = (model.state("z"), model.state("count"));
    model.set_rate(z, x - z);
    let system = model.system().unwrap();
    assert!(system.conserves_energy());
    assert_eq!(system.conserved(), ["energy"]);
}

#[test]
fn states_are_no_part_of_energies() {
    type Change = for<'g> fn(&mut Model<'g>, leastaction_expr::Expr<'g>, leastaction_expr::Expr<'g>);
    let wrong: [Change; 6] = [
        |model, x, z| model.potential("wrong", x * z),
        |model, _, z| model.kinetic("wrong", z * z),
        |model, x, z| model.constraint("wrong", x, z),
        |model, _, z| model.dissipation("wrong", z * z),
        |model, x, z| model.particle("wrong", 1.0, [x + z]),
        |model, x, _| {
            let integral = model.declared_coordinates()[1];
            model.potential("wrong", x * integral);
        },
    ];
    for change in wrong {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let x = model.coordinate("x");
        model.particle("mass", 1.0, [x]);
        let z = model.state("z");
        model.set_rate(z, x);
        model.force(x, -z);
        model.system().unwrap();
        change(&mut model, x, z);
        let error = model.system().unwrap_err();
        let ModelError::MisplacedName { what, .. } = &error else { panic!("{error}") };
        assert_eq!(*what, "a state of first order");
    }
    // Nothing but states has no motion, and the rate of a state must be known.
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let z = model.state("z");
    assert!(matches!(model.system().unwrap_err(), ModelError::OnlyStates));
    let x = model.coordinate("x");
    model.particle("mass", 1.0, [x]);
    model.set_rate(z, graph.symbol("nothing"));
    assert!(model.system().unwrap_err().to_string().contains("the rate of the state `z`"));
}

/// A double pendulum whose masses, lengths and spring events may set, beside one with these as parameters: all is the same, wherever they stand.
#[test]
fn what_events_set_acts_as_a_parameter_does() {
    let build = |settable: bool, values: [f64; 4]| {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [m, l, k, g] = ["m", "l", "k", "g"].map(|name| {
            let place = ["m", "l", "k", "g"].iter().position(|other| *other == name).unwrap();
            model.parameter(name, if settable { 1.5 } else { values[place] })
        });
        let [a, b] = model.coordinates(["a", "b"]);
        let upper = [l * a.sin(), -l * a.cos()];
        let lower = [upper[0] + 0.7 * l * b.sin(), upper[1] - 0.7 * l * b.cos()];
        model.particle("upper", 2.0 * m, upper);
        model.particle("lower", m, lower);
        model.gravity([graph.number(0.0), -g]);
        model.potential("spring", 0.5 * k * (a - b) * (a - b));
        let speed = model.velocity(a);
        model.dissipation("friction", 0.1 * k * speed * speed);
        model.force(b, k * m * a.sin());
        if settable {
            [m, l, k, g].into_iter().for_each(|symbol| model.settable(symbol));
        }
        model.system().unwrap().dynamics().unwrap()
    };
    let values = [0.8, 1.3, 2.2, 9.0];
    let (mut set, mut fixed) = (build(true, values), build(false, values));
    let (q, p) = ([0.4, -1.1], [0.7, 0.3]);
    let of_fixed: Vec<f64> = q.into_iter().chain(p).collect();
    let of_set: Vec<f64> = q.into_iter().chain([0.1, 0.2, 0.3, 0.4]).chain(p).chain(values).collect();
    let (mut rates, mut expected) = ([0.0; 12], [0.0; 4]);
    set.rates(&[0.0], &of_set, &mut rates).unwrap();
    fixed.rates(&[0.0], &of_fixed, &mut expected).unwrap();
    let found = [rates[0], rates[1], rates[6], rates[7]];
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?} {expected:?}");
    assert_eq!((&rates[2..6], &rates[8..]), (&values[..], &[0.0; 4][..]));
    for what in ["energy", "kinetic", "potential", "lower.x", "m*l", "p_a", "a'"] {
        let [of, other] = [(&mut set, &of_set), (&mut fixed, &of_fixed)].map(|(dynamics, y)| {
            let (what, mut value) = (dynamics.observable(what).unwrap(), [0.0]);
            dynamics.observe(what, &[0.0], y, &mut value).unwrap();
            value[0]
        });
        assert!((of - other).abs() < 1e-12, "{what}: {of} {other}");
    }
    for power in [Dynamics::dissipated_power, Dynamics::supplied_power] {
        let (mut of, mut other) = ([0.0], [0.0]);
        power(&mut set, &[0.0], &of_set, &mut of).unwrap();
        power(&mut fixed, &[0.0], &of_fixed, &mut other).unwrap();
        assert!((of[0] - other[0]).abs() < 1e-12, "{of:?} {other:?}");
    }
}

/// Where there is no formula, what events set is refused.
#[test]
fn what_events_set_beyond_formulas_is_refused() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let a = model.parameter("a", 1.0);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("cart", 1.0, [x, y]);
    model.constraint("rail", y, a);
    model.settable(a);
    let refused = model.system().unwrap_err();
    assert!(
        matches!(&refused, ModelError::SetBeyondFormulas { name, by } if name == "a" && by == "rail"),
        "{refused}"
    );
}

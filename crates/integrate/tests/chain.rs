//! How all samples depend on the start and on parameters, against the way back from each of them.

use leastaction_expr::Graph;
use leastaction_integrate::{Event, Integrator, Seed, Tape, Tolerance};
use leastaction_mechanics::{Dynamics, Model, State};

fn check(integrator: &Integrator, dynamics: &Dynamics, start: &State, end: f64, by: &[usize]) {
    let name = integrator.card().name;
    let tape = Tape::record_with(integrator, dynamics, start, end, by, 1 << 24).unwrap();
    let d = dynamics.system().dimension();
    let mut shown = 0;
    let records = |tape: &Tape, shown: &mut usize| {
        let mut all = Vec::new();
        tape.sample_slopes(|sample, rows| {
            *shown += 1;
            all.push((sample, rows.to_vec()));
        })
        .unwrap();
        all
    };
    let all = records(&tape, &mut shown);
    let mut size = 0.0f64;
    for (sample, rows) in &all {
        for i in 0..d {
            let mut weights = vec![0.0; d];
            weights[i] = 1.0;
            let gradient = tape.gradient(&Seed::new().sample(*sample, &weights)).unwrap();
            let row = &rows[i * (d + by.len())..][..d + by.len()];
            for (found, expected) in row.iter().zip(gradient.start.iter().chain(&gradient.parameters)) {
                size = size.max(expected.abs());
                assert!((found - expected).abs() < 1e-12 * size.max(1.0), "{name}: {found}, not {expected}");
            }
        }
    }
    assert!(size > 0.1, "{name}");
    assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0));
    let crossing = usize::from(!tape.trajectory().crossings().is_empty());
    assert_eq!(shown, tape.trajectory().len() - crossing, "{name}");
    // Steps that are made again give the same bits.
    let again = Tape::record_with(integrator, dynamics, start, end, by, 4 * (d + 2)).unwrap();
    assert!(records(&again, &mut shown) == all, "{name}");
}

/// A damped pendulum with a drive, and six masses in a row.
fn pendulum() -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [l, c, w] = model.parameters([("l", 0.9), ("c", 0.3), ("w", 2.0)]);
    let th = model.coordinate("th");
    model.particle("bob", 1.3, [l * th.sin() + 0.1 * (w * model.time()).sin(), -l * th.cos()]);
    model.gravity([0.0, -9.81]);
    model.dissipation("air", c * model.velocity(th).pow(2.0) / 2.0);
    model.system().unwrap().dynamics().unwrap()
}

fn row() -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [k, a] = model.parameters([("k", 3.0), ("a", 0.4)]);
    let x = model.coordinates(["x1", "x2", "x3", "x4", "x5", "x6"]);
    for (i, &place) in x.iter().enumerate() {
        model.particle(&format!("m{i}"), 1.0 + 0.2 * i as f64, [place]);
        let before = if i == 0 { graph.number(0.0) } else { x[i - 1] };
        let stretch = place - before;
        model.potential(&format!("s{i}"), k * stretch.pow(2.0) / 2.0 + a * stretch.pow(4.0));
    }
    model.system().unwrap().dynamics().unwrap()
}

/// A pendulum of a weight that is held on a circle.
fn bob() -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [l, g] = model.parameters([("l", 1.0), ("g", 9.81)]);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bob", 0.7, [x, y]);
    model.gravity([graph.number(0.0), -g]);
    model.constraint("rod", x * x + y * y, l * l);
    model.system().unwrap().dynamics().unwrap()
}

#[test]
fn all_samples_depend_on_the_start_as_each_does() {
    let mut dynamics = pendulum();
    let start = dynamics.start_at(0.3, &[("th", 1.4), ("th'", -0.5)]).unwrap();
    // Where steps begin and end, within them, several within one, and some twice.
    let times = [0.3, 0.31, 0.35, 0.5, 0.7, 0.9, 0.91, 0.92, 1.3];
    for method in ["dop853", "rk4", "gauss4", "radau5", "implicit-midpoint", "tsit5"] {
        let integrator = Integrator::named(method, 0.1).unwrap().at(&times);
        check(&integrator, &dynamics, &start, 1.3, &[0, 1, 2]);
        check(&integrator, &dynamics, &start, 1.3, &[2]);
    }
    let integrator = Integrator::named("dop853", Tolerance::relative(1e-9)).unwrap().spaced(0.01);
    check(&integrator, &dynamics, &start, 1.3, &[1, 0]);
}

#[test]
fn more_numbers_than_lanes_and_separable_steps() {
    let mut dynamics = row();
    let start = dynamics.start(&[("x1", 0.3), ("x4", -0.4), ("x6'", 1.0)]).unwrap();
    for method in ["dop853", "verlet"] {
        let integrator = Integrator::named(method, 0.05).unwrap().at(&[0.1, 0.22, 0.23, 0.6]);
        check(&integrator, &dynamics, &start, 0.6, &[0, 1]);
    }
}

#[test]
fn constraints_and_events_are_followed() {
    let mut dynamics = bob();
    let start = dynamics.start(&[("x", 0.8), ("y", -0.6)]).unwrap();
    for method in ["rattle", "dop853"] {
        let integrator = Integrator::named(method, 0.02).unwrap().at(&[0.02, 0.05, 0.055, 0.2]);
        check(&integrator, &dynamics, &start, 0.2, &[1]);
    }
    let lowest = Event::new(dynamics.observable("x").unwrap()).falling().terminal();
    let integrator = Integrator::named("dop853", 0.02).unwrap().at(&[0.1, 0.25, 2.0]).event(lowest);
    check(&integrator, &dynamics, &start, 2.0, &[1]);
}

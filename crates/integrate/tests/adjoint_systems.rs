//! Gradients of runs on constraints, of energies that are no formulas, and of velocities that are solved for, against differences of the runs.

use crate::adjoint::joined;
use leastaction_expr::Graph;
use leastaction_integrate::{ALL, AdjointError, Card, Event, Integrator, Kind, Seed, Tape, Tolerance};
use leastaction_mechanics::{Dynamics, Elements, Model, State};

/// The derivative of a function at 0, extrapolated from central differences.
fn difference(step: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let mut row: Vec<f64> = (0..5)
        .map(|k| {
            let h = step / f64::from(1 << k);
            (f(h) - f(-h)) / (2.0 * h)
        })
        .collect();
    let mut power = 4.0;
    while row.len() > 1 {
        row = row.windows(2).map(|pair| (power * pair[1] - pair[0]) / (power - 1.0)).collect();
        power *= 4.0;
    }
    row[0]
}

/// Two beads on rods in the plane, with a spring between them: the upper rod is longer now and then. With `others`, springs are elements.
fn rods(others: bool, damped: bool) -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, l, g, k, c] = model.parameters([("m", 1.3), ("l", 0.8), ("g", 9.81), ("k", 4.0), ("c", 0.2)]);
    let [x1, y1, x2, y2] = model.coordinates(["x1", "y1", "x2", "y2"]);
    model.particle("first", m, [x1, y1]);
    model.particle("second", 0.7, [x2, y2]);
    model.gravity([graph.number(0.0), -g]);
    let t = model.time();
    model.constraint("upper", x1 * x1 + y1 * y1, l * l * (1.0 + 0.05 * (3.0 * t).sin()));
    model.constraint("lower", (x2 - x1).pow(2) + (y2 - y1).pow(2), 0.6);
    if damped {
        let v = model.velocity(x2);
        model.dissipation("drag", c * (1.0 + y1 * y1) * v * v / 2.0);
    }
    let [a, b] = ["a", "b"].map(|name| graph.symbol(name));
    let spring = |a, b| 0.5 * k * (b - a - c) * (b - a - c);
    if others {
        model.potential(
            "springs",
            Elements {
                energy: spring(a, b),
                slots: vec![a, b],
                coordinates: [0, 2, 1, 3].into(),
                constants: vec![],
                values: [].into(),
                implicit: vec![],
            },
        );
    } else {
        model.potential("springs", spring(x1, x2) + spring(y1, y2));
    }
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = [("x1", 0.5), ("y1", -0.6), ("x2", 1.1), ("y2", -1.1), ("x1'", 0.4), ("y2'", -0.3)];
    let state = dynamics.start_at(0.3, &start).unwrap();
    (dynamics, state)
}

/// A bead on a wire whose metric depends on where it is: with a constraint, legs have velocities that depend on places.
fn curved() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, k] = model.parameters([("m", 1.3), ("k", 2.0)]);
    let [x, y] = model.coordinates(["x", "y"]);
    let (vx, vy) = (model.velocity(x), model.velocity(y));
    model.kinetic("motion", 0.5 * m * (1.0 + 0.3 * x * x) * vx * vx + 0.5 * vy * vy + 0.2 * y * vx * vy);
    model.potential("spring", 0.5 * k * (x * x + 2.0 * y * y) + 0.1 * x.pow(3.0));
    model.constraint("wire", x * x + 0.5 * y * y, 1.0);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let state = dynamics.start(&[("x", 0.8), ("y", 0.8), ("y'", 0.5)]).unwrap();
    (dynamics, state)
}

/// Masses that grow with velocities: these are found by Newton's method.
fn solved() -> (Dynamics, State) {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [a, k] = model.parameters([("a", 0.3), ("k", 1.4)]);
    let q = model.coordinates(["x", "y", "z"]);
    let v = q.map(|q| model.velocity(q));
    model.kinetic("each", 0.5 * graph.sum(v.map(|v| v * v + 0.5 * a * v.pow(4.0))));
    model.kinetic("together", 0.2 * v[0] * v[1] * q[2].cos());
    let wells = q.windows(2).map(|q| 0.5 * k * (q[1] - q[0]).pow(2.0) + 0.3 * q[0].pow(4.0));
    model.potential("wells", graph.sum(wells));
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    assert!(!dynamics.system().facts().explicit);
    let state = dynamics.start(&[("x", 0.3), ("y", -0.4), ("z", 0.7), ("x'", 0.5), ("z'", -1.1)]).unwrap();
    (dynamics, state)
}

/// Compares the gradient of a number that a run gives with differences, by some places of the start and all parameters.
fn compare(
    name: &str,
    integrator: &Integrator,
    (dynamics, start): &(Dynamics, State),
    end: f64,
    seed: &Seed,
    bound: f64,
    value: impl Fn(&Tape) -> f64,
) {
    let tape = Tape::record(integrator, dynamics, start, end).unwrap_or_else(|e| panic!("{name}: {e}"));
    let gradient = tape.gradient(seed).unwrap_or_else(|e| panic!("{name}: {e}"));
    let found = joined(&gradient);
    let size = found.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    let n = start.q.len();
    // Lanes have the same.
    let lanes = tape.gradients(&[seed.clone(), seed.clone()]).unwrap();
    for lane in &lanes {
        let apart = joined(lane).iter().zip(&found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-11 * size, "{name}: lanes differ by {:e}", apart / size);
    }
    let places: Vec<usize> = (0..found.len()).filter(|i| n < 8 || i % 5 == 1 || *i >= 2 * n).collect();
    for place in places {
        let expected = difference(0.02, |by| {
            let (mut dynamics, mut start) = (dynamics.clone(), start.clone());
            let mut values = dynamics.parameters().to_vec();
            match place {
                i if i < n => start.q[i] += by,
                i if i < 2 * n => start.p[i - n] += by,
                i => values[i - 2 * n] += by,
            }
            dynamics.set_parameters(&values).unwrap();
            value(&Tape::record(integrator, &dynamics, &start, end).unwrap())
        });
        let off = (found[place] - expected).abs() / size;
        assert!(
            off < bound,
            "{name}, {place}: {} and not {expected}: off by {off:e} of {size:e}",
            found[place]
        );
    }
}

fn weights(count: usize) -> Vec<f64> {
    (0..count).map(|i| 1.0 - 0.3 * i as f64 + 0.11 * (i * i % 5) as f64).collect()
}

fn weighed(block: &[f64], weights: &[f64]) -> f64 {
    block.iter().zip(weights).map(|(y, w)| y * w).sum()
}

fn end_of(name: &str, step: f64, system: &(Dynamics, State), end: f64, bound: f64) {
    let integrator = Integrator::named(name, step).unwrap().ends_only();
    let w = weights(2 * system.1.q.len());
    let seed = Seed::new().end(&w);
    compare(name, &integrator, system, end, &seed, bound, |tape| {
        weighed(&tape.trajectory().end().block(), &w)
    });
}

/// Every method that moves on constraints and has an adjoint.
fn constrained() -> impl Iterator<Item = &'static Card> {
    let explicit = ["rk4", "dormand-prince5", "tsit5", "dop853", "vern9"];
    let implicit = ["rattle", "rattle4", "rattle6", "shake", "radau5"];
    ALL.iter().filter(move |card| match card.kind {
        Kind::Explicit => explicit.contains(&card.name),
        Kind::Implicit => implicit.contains(&card.name),
    })
}

#[test]
fn gradients_on_constraints_are_those_of_differences() {
    let mut tried = 0;
    for card in constrained() {
        for (others, damped) in [(false, false), (true, false), (true, true)] {
            end_of(card.name, 0.02, &rods(others, damped), 0.5, 3e-11);
            tried += 1;
        }
    }
    assert_eq!(tried, 30);
    for name in ["rattle", "rattle4", "dop853"] {
        end_of(name, 0.02, &curved(), 0.5, 3e-11);
    }
}

#[test]
fn gradients_of_samples_and_events_on_constraints_are_those_of_differences() {
    for name in ["rattle", "rattle4", "dop853", "rk4", "shake"] {
        for others in [false, true] {
            let mut system = rods(others, false);
            let event = Event::new(system.0.observable("x1' + 0.1*m*t*y2").unwrap());
            let integrator = Integrator::named(name, 0.02).unwrap().at(&[0.3, 0.333, 0.47, 0.7]).event(event);
            let w = weights(8);
            let seed = Seed::new().sample(1, &w).sample(2, &[0.5; 8]).event_time(0, 0.7).event_state(0, &w);
            compare(name, &integrator, &system, 0.7, &seed, 1e-10, |tape| {
                let samples: Vec<Vec<f64>> = tape.trajectory().samples().map(|(_, y)| y.to_vec()).collect();
                let crossing = &tape.trajectory().crossings()[0];
                weighed(&samples[1], &w)
                    + weighed(&samples[2], &[0.5; 8])
                    + 0.7 * crossing.t
                    + weighed(&crossing.state.block(), &w)
            });
        }
    }
}

#[test]
fn gradients_of_solved_velocities_and_elements_are_those_of_differences() {
    for name in ["rk4", "dop853", "implicit-midpoint", "gauss4"] {
        end_of(name, 0.05, &solved(), 0.4, 3e-11);
    }
    for name in ["verlet", "yoshida6", "dop853", "gauss4", "rattle", "rattle4", "stormer-verlet"] {
        end_of(name, 0.05, &crate::energies::pendulum(true), 1.0, 3e-11);
        end_of(name, 0.05, &crate::energies::chain(true, false), 1.0, 3e-11);
    }
    end_of("rattle", 0.02, &crate::energies::chain(true, true), 0.6, 3e-11);
    end_of("dop853", 0.02, &crate::energies::chain(true, true), 0.6, 3e-11);
    // Samples within steps.
    let system = crate::energies::chain(true, false);
    for name in ["verlet", "dop853", "gauss4", "rk4"] {
        let integrator = Integrator::named(name, 0.05).unwrap().at(&[0.0, 0.333, 0.7]);
        let w = weights(10);
        compare(name, &integrator, &system, 0.7, &Seed::new().sample(1, &w), 3e-11, |tape| {
            weighed(tape.trajectory().samples().nth(1).unwrap().1, &w)
        });
    }
}

/// Steps of a tolerance are held as they were taken.
#[test]
fn steps_of_a_tolerance_on_constraints_are_held() {
    let (dynamics, start) = rods(true, true);
    let integrator = Integrator::named("dop853", Tolerance::relative(1e-9)).unwrap();
    let tape = Tape::record(&integrator, &dynamics, &start, 1.0).unwrap();
    let w = weights(8);
    let found = joined(&tape.gradient(&Seed::new().end(&w)).unwrap());
    let times = tape.trajectory().times().to_vec();
    for (place, found) in found.iter().enumerate() {
        let expected = difference(0.02, |by| {
            let (mut dynamics, mut state) = (dynamics.clone(), start.clone());
            let mut values = dynamics.parameters().to_vec();
            match place {
                i if i < 4 => state.q[i] += by,
                i if i < 8 => state.p[i - 4] += by,
                i => values[i - 8] += by,
            }
            dynamics.set_parameters(&values).unwrap();
            for pair in times.windows(2) {
                let step = Integrator::named("dop853", pair[1] - pair[0]).unwrap();
                state = step.run(&mut dynamics, &state, pair[1]).unwrap().end();
            }
            weighed(&state.block(), &w)
        });
        assert!((found - expected).abs() < 3e-10, "{place}: {found} and not {expected}");
    }
}

/// With little room, steps on constraints are made again from checkpoints, and nothing changes.
#[test]
fn checkpoints_on_constraints_change_no_bit() {
    let (dynamics, start) = rods(true, false);
    for name in ["rattle", "dop853"] {
        let integrator = Integrator::named(name, 0.01).unwrap().at(&[0.3, 0.777, 3.0]);
        let seed = Seed::new().end(&weights(8)).sample(1, &[1.0; 8]);
        let by = [0, 2];
        let whole = Tape::record_with(&integrator, &dynamics, &start, 3.0, &by, 1 << 20).unwrap();
        let tape = Tape::record_with(&integrator, &dynamics, &start, 3.0, &by, 100).unwrap();
        assert!(tape.kept() < whole.kept() / 2);
        assert_eq!(tape.gradient(&seed).unwrap(), whole.gradient(&seed).unwrap(), "{name}");
    }
}

#[test]
fn methods_on_constraints_without_gradients_name_those_with() {
    let (dynamics, start) = rods(true, false);
    let error = Tape::record(&Integrator::named("gauss-spark4", 0.02).unwrap(), &dynamics, &start, 0.5).err();
    match error {
        Some(AdjointError::Method { works, .. }) => {
            assert!(works.contains(&"rattle") && works.contains(&"dop853"), "{works:?}");
        }
        other => panic!("{other:?}"),
    }
}

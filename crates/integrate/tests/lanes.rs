//! Parameters that differ from lane to lane: every lane has the bits that its trajectory has alone.

use crate::common::begin;
use leastaction_compile::LANES;
use leastaction_expr::{Expr, Graph};
use leastaction_integrate::{Block, Card, Integrator, RunError, Sample};
use leastaction_mechanics::{Dynamics, Form, Model, State};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

type System = (&'static str, Dynamics, State);

/// Lengths, masses and weight: velocities follow from momenta with a matrix that turns.
fn double_pendulum() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, l, g] = [("m", 1.5), ("l", 0.8), ("g", 9.81)].map(|(name, value)| model.parameter(name, value));
    let [a, b] = model.coordinates(["a", "b"]);
    let elbow = [l * a.sin(), -l * a.cos()];
    model.particle("elbow", 1.0, elbow);
    model.particle("hand", m, [elbow[0] + b.sin(), elbow[1] - b.cos()]);
    model.gravity([graph.number(0.0), -g]);
    let (dynamics, start) = begin(&model, &[("a", 0.9), ("b", -0.4), ("a'", 0.3), ("b'", 0.8)]);
    ("double pendulum", dynamics, start)
}

/// A spring that breathes with time: separable, so that every method applies.
fn breathing() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, k, w] = [("m", 0.7), ("k", 2.0), ("w", 0.3)].map(|(name, value)| model.parameter(name, value));
    let (t, x) = (model.time(), model.coordinate("x"));
    model.particle("mass", m, [x]);
    model.potential("spring", 0.5 * k * (1.0 + w * t.sin()) * x * x + 0.1 * w * x.pow(4.0));
    let (dynamics, start) = begin(&model, &[("x", 1.0), ("x'", 0.2)]);
    ("breathing spring", dynamics, start)
}

/// A well without time, without forces that depend on velocities.
fn well() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, k] = [("m", 1.3), ("k", 0.9)].map(|(name, value)| model.parameter(name, value));
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("star", m, [x, y]);
    model.potential("well", 0.5 * k * (x * x + y * y) + k.sqrt() * x * x * y - y.pow(3.0) / 3.0);
    let (dynamics, start) = begin(&model, &[("x", 0.1), ("y", 0.3), ("x'", 0.35), ("y'", -0.1)]);
    ("well", dynamics, start)
}

/// Dampers between masses: Γ is a full matrix of parameters.
fn dampers() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, c, d] = [("m", 1.3), ("c", 0.3), ("d", 0.7)].map(|(name, value)| model.parameter(name, value));
    let q = model.coordinates(["x", "y"]);
    let v = model.velocities(q);
    model.particle("one", m, [q[0]]);
    model.particle("two", 2.0, [q[1]]);
    model.potential("springs", 0.5 * (q[0] * q[0] + q[1] * q[1]) + 0.1 * q[0].pow(4.0));
    model.dissipation("between", c * (v[1] - v[0]).pow(2.0));
    model.dissipation("ground", d * v[0].pow(2.0));
    let (dynamics, start) = begin(&model, &[("x", 1.0), ("y", -0.5), ("y'", 0.4)]);
    ("dampers", dynamics, start)
}

/// Friction of one kind: Γ is diagonal.
fn friction() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, c] = [("m", 1.3), ("c", 0.1)].map(|(name, value)| model.parameter(name, value));
    let x = model.coordinate("x");
    model.particle("mass", m, [x]);
    model.potential("spring", 0.25 * x.pow(4.0));
    model.dissipation("friction", c * model.velocity(x).pow(2.0));
    let (dynamics, start) = begin(&model, &[("x", 1.0), ("x'", 0.4)]);
    ("friction", dynamics, start)
}

/// Momenta that are no linear functions of velocities, to be solved for.
fn unclosed() -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, k] = [("m", 1.3), ("k", 0.9)].map(|(name, value)| model.parameter(name, value));
    let x = model.coordinate("x");
    let v = model.velocity(x);
    model.lagrangian("L", 0.5 * m * v * v + 0.1 * m * v.pow(4.0) + 0.05 * v.exp() - 0.5 * k * x * x);
    let (dynamics, start) = begin(&model, &[("x", 1.0), ("x'", 0.4)]);
    ("unclosed", dynamics, start)
}

/// A chain of rods in positions, with parameters that rods share and parameters of their own.
fn chain(count: usize) -> System {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, l, g] = [("m", 0.5), ("l", 0.2), ("g", 4.0)].map(|(name, value)| model.parameter(name, value));
    let mut before: [Expr<'_>; 2] = [graph.number(0.0), graph.number(0.0)];
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for i in 0..count {
        let length = if i % 3 == 1 { model.parameter(&format!("l{i}"), 0.2) } else { l };
        let [x, y] = [format!("x{i}"), format!("y{i}")];
        let at = model.coordinates([x.as_str(), y.as_str()]);
        model.particle(&format!("bob{i}"), m, at);
        let [dx, dy] = [at[0] - before[0], at[1] - before[1]];
        model.constraint(&format!("rod{i}"), dx * dx + dy * dy, length * length);
        before = at;
        names.extend([x, y]);
        values.extend([0.2 * (i + 1) as f64, 0.0]);
    }
    model.gravity([graph.number(0.0), -g]);
    let named: Vec<(&str, f64)> = names.iter().map(String::as_str).zip(values).collect();
    let (dynamics, start) = begin(&model, &named);
    ("chain", dynamics, start)
}

fn systems() -> Vec<System> {
    vec![double_pendulum(), breathing(), well(), dampers(), friction(), unclosed(), chain(3)]
}

/// The parameters of a lane; in one of them, what can vanish does.
fn varied(dynamics: &Dynamics, lane: usize) -> Vec<f64> {
    let names = dynamics.system().parameters();
    let vary = |(k, (name, value)): (usize, &(String, f64))| match name.as_str() {
        "c" if lane == 5 => 0.0,
        _ => value * (1.0 + 0.01 * lane as f64 * (1.0 + 0.3 * k as f64)),
    };
    names.iter().enumerate().map(vary).collect()
}

/// A start at the same coordinates and velocities with other parameters.
fn start(dynamics: &mut Dynamics, start: &State) -> State {
    let system = dynamics.system().clone();
    assert_ne!(system.facts().form, Form::Ports);
    let mut y = start.block();
    if system.facts().constrained {
        dynamics.project(&[start.t], &mut y).unwrap();
    }
    State::from_block(start.t, &y, start.q.len())
}

const NEXT: fn(Sample<'_>) -> Result<ControlFlow<()>, leastaction_mechanics::EvalError> =
    |_| Ok(ControlFlow::Continue(()));

/// Runs all lanes together, and each alone, with parameters set before, and once more halfway.
fn check(card: &'static Card, system: &System, steps: u32) -> Result<(), RunError> {
    let (name, dynamics, begin) = system;
    let run = Integrator::new(card, 0.01).every(u64::from(steps / 2));
    let end = 0.01 * f64::from(steps);
    let halfway = |sample: &Sample<'_>| sample.step == u64::from(steps / 2);
    let mut together = dynamics.clone();
    let states: [Vec<f64>; LANES] = std::array::from_fn(|lane| {
        let mut alone = dynamics.clone();
        alone.set_parameters(&varied(&alone, lane)).unwrap();
        start(&mut alone, begin).block()
    });
    // Some lanes are set before anything is compiled for them, some after.
    for lane in 0..LANES {
        if lane == 4 {
            let mut field = vec![0.0; LANES * states[0].len()];
            let block = Block::lanes(states.each_ref().map(Vec::as_slice));
            together.rates(&[0.0; LANES], block.values(), &mut field).unwrap();
        }
        let values = varied(&together, lane);
        together.set_parameters_in(lane, &values).unwrap();
        assert_eq!(together.parameters_in(lane), values);
    }
    let constrained = dynamics.system().facts().constrained;
    let later = |dynamics: &Dynamics, lane: usize| {
        // Lengths cannot change on the way.
        let mut values = varied(dynamics, lane);
        values[0] *= 1.1;
        values
    };
    // What methods remember of constraints from one step to the next is of the parameters it was found with.
    for changing in if constrained { vec![false] } else { vec![false, true] } {
        let mut block = Block::lanes(states.each_ref().map(Vec::as_slice));
        let mut lanes = together.clone();
        if changing {
            run.march(&mut lanes, 0.0, &mut block, end, |sample| {
                if halfway(&sample) {
                    for lane in [2, 3, 7] {
                        let values = later(sample.dynamics, lane);
                        sample.dynamics.set_parameters_in(lane, &values).unwrap();
                    }
                }
                NEXT(sample)
            })?;
        } else {
            run.march(&mut lanes, 0.0, &mut block, end, NEXT)?;
        }
        for (lane, state) in states.iter().enumerate() {
            let mut alone = dynamics.clone();
            alone.set_parameters(&varied(&alone, lane)).unwrap();
            let mut one = Block::one(state);
            run.march(&mut alone, 0.0, &mut one, end, |sample| {
                if changing && halfway(&sample) && [2, 3, 7].contains(&lane) {
                    let values = later(sample.dynamics, lane);
                    sample.dynamics.set_parameters(&values).unwrap();
                }
                NEXT(sample)
            })?;
            let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            assert_eq!(
                bits(block.lane(lane)),
                bits(one.lane(0)),
                "{} on {name}, lane {lane}, changing: {changing}",
                card.name
            );
            if lane > 0 && !constrained {
                assert_ne!(block.lane(lane), block.lane(0), "parameters matter");
            }
        }
    }
    Ok(())
}

fn lanes_with_parameters_of_their_own_are_what_they_are_alone(card: &'static Card) {
    // They are compiled once.
    static SYSTEMS: Mutex<Vec<System>> = Mutex::new(Vec::new());
    let mut compiled = SYSTEMS.lock().unwrap_or_else(PoisonError::into_inner);
    if compiled.is_empty() {
        compiled.extend(systems());
    }
    let systems = compiled.clone();
    drop(compiled);
    let mut applied = 0;
    for system in systems.iter().filter(|system| card.needs.met_by(system.1.system().facts())) {
        match check(card, system, 100) {
            Ok(()) => applied += 1,
            Err(error) => panic!("{} on {}: {error}", card.name, system.0),
        }
    }
    assert!(applied > 0, "{}", card.name);
}

methods!(tests_of lanes_with_parameters_of_their_own_are_what_they_are_alone);

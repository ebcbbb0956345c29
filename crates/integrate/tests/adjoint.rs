//! Gradients of runs against variational equations, which the same method integrates forward, and against differences.
//!
//! The variational equations of H(q, p, t; θ) are those of K = δq·∂H/∂q + δp·∂H/∂p + δθ ∂H/∂θ, in which δp is the momentum of q, and p that of δq
//! (every step of every method here treats δ as it treats the state, so that it is the derivative of the step).

use leastaction_expr::{Expr, Graph};
use leastaction_integrate::{ALL, AdjointError, Card, Event, Integrator, Kind, Seed, Tape, Tolerance};
use leastaction_mechanics::{Dynamics, Model, State};

/// A Hamiltonian with its parameters and a start.
#[derive(Clone, Copy)]
struct Problem {
    coordinates: &'static [&'static str],
    parameters: &'static [(&'static str, f64)],
    start: &'static [f64],
    energy: for<'g> fn(&[Expr<'g>], &[Expr<'g>], Expr<'g>, &[Expr<'g>]) -> Expr<'g>,
}

/// A pendulum in a field that swings: separable, and it depends on time.
const PENDULUM: Problem = Problem {
    coordinates: &["a"],
    parameters: &[("m", 1.3), ("l", 0.8), ("g", 9.81), ("w", 2.0)],
    start: &[1.1, 0.4],
    energy: |q, p, t, c| {
        p[0] * p[0] / (2.0 * c[0] * c[1] * c[1])
            - c[0] * c[2] * c[1] * q[0].cos() * (1.0 + 0.1 * (c[3] * t).sin())
    },
};

/// Two oscillators with a quartic and a cubic coupling.
const WELL: Problem = Problem {
    coordinates: &["x", "y"],
    parameters: &[("k", 1.2), ("c", 0.7), ("m", 2.0)],
    start: &[0.3, 0.4, 0.5, -0.2],
    energy: |q, p, _, c| {
        (p[0] * p[0] + p[1] * p[1] / c[2]) / 2.0
            + c[0] * (q[0] * q[0] + q[1] * q[1]) / 2.0
            + c[1] * (q[0] * q[0] * q[1] - q[1].pow(3.0) / 3.0 + q[0].pow(4.0))
    },
};

/// The double pendulum: not separable, masses depend on angles.
const DOUBLE: Problem = Problem {
    coordinates: &["a", "b"],
    parameters: &[("m1", 1.0), ("m2", 1.5), ("l1", 1.0), ("l2", 0.9), ("g", 9.81)],
    start: &[0.9, -0.4, 0.7, 0.8],
    energy: |q, p, _, c| {
        let [m1, m2, l1, l2, g] = [c[0], c[1], c[2], c[3], c[4]];
        let d = q[0] - q[1];
        let top = m2 * l2 * l2 * p[0] * p[0] + (m1 + m2) * l1 * l1 * p[1] * p[1]
            - 2.0 * m2 * l1 * l2 * p[0] * p[1] * d.cos();
        let low = 2.0 * m2 * l1 * l1 * l2 * l2 * (m1 + m2 * d.sin() * d.sin());
        top / low - (m1 + m2) * g * l1 * q[0].cos() - m2 * g * l2 * q[1].cos()
    },
};

impl Problem {
    fn values(&self) -> Vec<f64> {
        self.parameters.iter().map(|(_, value)| *value).collect()
    }

    fn state(&self) -> State {
        let n = self.coordinates.len();
        State { t: 0.2, q: self.start[..n].to_vec(), p: self.start[n..].to_vec() }
    }

    fn dynamics(&self) -> Dynamics {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let parameters = model.parameter_list(self.parameters);
        let q = model.coordinate_list(self.coordinates);
        let names: Vec<String> = self.coordinates.iter().map(|name| format!("p_{name}")).collect();
        let p = model.momentum_list(&names);
        let t = model.time();
        model.hamiltonian("H", (self.energy)(&q, &p, t, &parameters));
        model.system().unwrap().dynamics().unwrap()
    }

    /// The motion with its derivative along a direction, as \[q…, δq…, δp…, p…\].
    fn varied(&self) -> Dynamics {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let parameters = model.parameter_list(self.parameters);
        let moved: Vec<(String, f64)> =
            self.parameters.iter().map(|(name, _)| (format!("d_{name}"), 0.0)).collect();
        let moved = model.parameter_list(&moved);
        let n = self.coordinates.len();
        let varied: Vec<String> = self.coordinates.iter().map(|name| format!("d_{name}")).collect();
        let names: Vec<String> = self.coordinates.iter().map(|name| name.to_string()).chain(varied).collect();
        let q = model.coordinate_list(&names);
        let momenta: Vec<String> = names.iter().map(|name| format!("p_{name}")).collect();
        let p = model.momentum_list(&momenta);
        let t = model.time();
        let energy = (self.energy)(&q[..n], &p[n..], t, &parameters);
        let mut sum = graph.number(0.0);
        for i in 0..n {
            sum += q[n + i] * energy.derivative(q[i]) + p[i] * energy.derivative(p[n + i]);
        }
        for (parameter, by) in parameters.iter().zip(&moved) {
            sum += *by * energy.derivative(*parameter);
        }
        model.hamiltonian("K", sum);
        model.system().unwrap().dynamics().unwrap()
    }

    /// The derivatives \[δq…, δp…\] of samples by each number of the start and by each parameter.
    fn forward(&self, integrator: &Integrator, end: f64) -> Vec<Vec<Vec<f64>>> {
        let (mut dynamics, n) = (self.varied(), self.coordinates.len());
        let State { t, q, p } = self.state();
        let count = 2 * n + self.parameters.len();
        let mut all = Vec::with_capacity(count);
        for direction in 0..count {
            let unit: Vec<f64> = (0..count).map(|i| f64::from(u8::from(i == direction))).collect();
            dynamics.set_parameters(&[&self.values()[..], &unit[2 * n..]].concat()).unwrap();
            let q = [&q[..], &unit[..n]].concat();
            let p = [&unit[n..2 * n], &p[..]].concat();
            let run = integrator.run(&mut dynamics, &State { t, q, p }, end).unwrap();
            all.push(run.samples().map(|(_, y)| y[n..3 * n].to_vec()).collect());
        }
        all
    }
}

/// The derivatives by start and parameters, one after the other.
pub(crate) fn joined(gradient: &leastaction_integrate::Gradient) -> Vec<f64> {
    [&gradient.start[..], &gradient.parameters].concat()
}

/// The methods that have an adjoint.
fn reversible() -> impl Iterator<Item = &'static Card> {
    const NOT: [&str; 7] = ["taylor", "ias15", "tao2", "tao4", "tao6", "conformal2", "conformal4"];
    let implicit = |name: &str| {
        ["implicit-midpoint", "stormer-verlet", "lobatto-pair4", "lobatto-pair6"].contains(&name)
            || name.starts_with("gauss") && !name.starts_with("gauss-spark")
            || name.starts_with("rattle")
            || ["shake", "radau5"].contains(&name)
    };
    ALL.iter().filter(move |card| match card.kind {
        Kind::Explicit => !NOT.contains(&card.name),
        Kind::Implicit => implicit(card.name),
    })
}

fn agree(name: &str, found: &[f64], expected: &[f64]) {
    let size = expected.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() < 1e-11 * size, "{name}, {i}: {a} and not {b}: off by {:e}", (a - b) / size);
    }
}

#[test]
fn gradients_of_the_end_are_those_of_variational_equations() {
    for (problem, step) in [(PENDULUM, 0.03), (WELL, 0.1), (DOUBLE, 0.02)] {
        let dynamics = problem.dynamics();
        let weights: Vec<f64> = (0..problem.start.len()).map(|i| 1.0 - 0.6 * i as f64).collect();
        let mut tried = 0;
        for card in reversible().filter(|card| card.needs.met_by(dynamics.system().facts())) {
            let integrator = Integrator::new(card, step).ends_only();
            let tape = Tape::record(&integrator, &dynamics, &problem.state(), 2.2).unwrap();
            let gradient = tape.gradient(&Seed::new().end(&weights)).unwrap();
            let forward = problem.forward(&integrator, 2.2);
            let expected: Vec<f64> = forward
                .iter()
                .map(|samples| samples.last().unwrap().iter().zip(&weights).map(|(d, w)| d * w).sum())
                .collect();
            agree(card.name, &joined(&gradient), &expected);
            tried += 1;
        }
        assert!(tried >= 5);
    }
}

/// Samples between steps are on the polynomial of a step, by a method's own, or by one made from the rates.
#[test]
fn gradients_of_samples_are_those_of_variational_equations() {
    for name in [
        "rk4",
        "dop853",
        "tsit5",
        "vern9",
        "verlet",
        "yoshida6",
        "kahan-li8",
        "blanes-moan6",
        "gauss4",
        "gauss6",
        "lobatto-pair4",
        "radau5",
    ] {
        let (problem, end) = (WELL, 3.0);
        let integrator = Integrator::named(name, 0.125).unwrap().at(&[0.2, 0.33, 0.45, 1.9, 1.92, 2.4, 3.0]);
        let dynamics = problem.dynamics();
        let tape = Tape::record(&integrator, &dynamics, &problem.state(), end).unwrap();
        let forward = problem.forward(&integrator, end);
        let mut seed = Seed::new();
        let mut expected = vec![0.0; forward.len()];
        for sample in 0..tape.trajectory().len() {
            let weights: Vec<f64> = (0..4).map(|i| (sample + 2 * i) as f64 * 0.3 - 0.8).collect();
            seed = seed.sample(sample, &weights);
            for (sum, samples) in expected.iter_mut().zip(&forward) {
                *sum += samples[sample].iter().zip(&weights).map(|(d, w)| d * w).sum::<f64>();
            }
        }
        agree(name, &joined(&tape.gradient(&seed).unwrap()), &expected);
    }
}

/// Steps that a tolerance chose are held: the derivative is that of the same steps.
#[test]
fn steps_of_a_tolerance_are_held() {
    for name in ["dormand-prince5", "tsit5", "dop853", "vern9", "radau5"] {
        let problem = DOUBLE;
        let integrator = Integrator::named(name, Tolerance::relative(1e-8)).unwrap();
        let dynamics = problem.dynamics();
        let tape = Tape::record(&integrator, &dynamics, &problem.state(), 2.0).unwrap();
        let weights = [0.3, -1.0, 0.5, 0.25];
        let gradient = tape.gradient(&Seed::new().end(&weights)).unwrap();
        // The same steps one by one, on the variational equations.
        let times = tape.trajectory().times().to_vec();
        let (mut varied, n, count) = (problem.varied(), 2, 4 + problem.parameters.len());
        for direction in 0..count {
            let unit: Vec<f64> = (0..count).map(|i| f64::from(u8::from(i == direction))).collect();
            varied.set_parameters(&[&problem.values()[..], &unit[2 * n..]].concat()).unwrap();
            let State { t, q, p } = problem.state();
            let (q, p) = ([&q[..], &unit[..n]].concat(), [&unit[n..2 * n], &p[..]].concat());
            let mut state = State { t, q, p };
            for pair in times.windows(2) {
                let step = Integrator::named(name, pair[1] - pair[0]).unwrap();
                state = step.run(&mut varied, &state, pair[1]).unwrap().end();
            }
            let moved = [&state.q[n..], &state.p[..n]].concat();
            let expected: f64 = moved.iter().zip(weights).map(|(d, w)| d * w).sum();
            let found = joined(&gradient)[direction];
            assert!(
                // By a tolerance, the equations of implicit steps are not solved to rounding.
                (found - expected).abs()
                    < if name == "radau5" { 1e-6 } else { 1e-11 } * expected.abs().max(1.0),
                "{name}: {found} and not {expected}"
            );
        }
    }
}

/// The derivative of a function at 0, extrapolated from central differences.
fn difference(step: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let [a, b, c] = [step, step / 2.0, step / 4.0].map(|h| (f(h) - f(-h)) / (2.0 * h));
    let (ab, bc) = ((4.0 * b - a) / 3.0, (4.0 * c - b) / 3.0);
    (16.0 * bc - ab) / 15.0
}

/// Times of events, and states there, move with start and parameters, and with parameters in the event itself. A terminal event is the end.
#[test]
fn gradients_of_events_are_those_of_differences() {
    let problem = PENDULUM;
    for (name, step) in
        [("rk4", 0.04), ("dop853", 0.06), ("verlet", 0.02), ("yoshida6", 0.03), ("gauss4", 0.05)]
    {
        let run = |values: &[f64], start: &State, terminal: bool| {
            let mut dynamics = problem.dynamics();
            dynamics.set_parameters(values).unwrap();
            let event = Event::new(dynamics.observable("a' + 0.1*l*a*t - 0.3*sin(t)").unwrap());
            let event = if terminal { event.terminal() } else { event };
            let integrator = Integrator::named(name, step).unwrap().ends_only().event(event);
            Tape::record(&integrator, &dynamics, start, 2.5).unwrap()
        };
        let (values, start) = (problem.values(), problem.state());
        for terminal in [false, true] {
            let index = if terminal { 0 } else { 1 };
            let tape = run(&values, &start, terminal);
            assert_eq!(tape.trajectory().crossings().len(), if terminal { 1 } else { 3 });
            let mut seed = Seed::new().event_time(index, 0.75).event_state(index, &[0.5, -0.2]);
            if terminal {
                seed = seed.end(&[1.0, 1.0]);
            }
            let found = joined(&tape.gradient(&seed).unwrap());
            for (place, found) in found.iter().enumerate() {
                let expected = difference(1e-3, |by| {
                    let (mut values, mut start) = (values.clone(), start.clone());
                    match place {
                        0 => start.q[0] += by,
                        1 => start.p[0] += by,
                        _ => values[place - 2] += by,
                    }
                    let tape = run(&values, &start, terminal);
                    let crossing = &tape.trajectory().crossings()[index];
                    let mut sum = 0.75 * crossing.t + 0.5 * crossing.state.q[0] - 0.2 * crossing.state.p[0];
                    if terminal {
                        let end = tape.trajectory().end();
                        sum += end.q[0] + end.p[0];
                    }
                    sum
                });
                assert!((found - expected).abs() < 2e-9, "{name}, {place}: {found} and not {expected}");
            }
        }
    }
}

/// Lanes have the gradients of single runs: of several weights of one run, and of runs of different lengths with parameters of their own.
#[test]
fn lanes_have_the_gradients_of_single_runs() {
    let problem = DOUBLE;
    let mut dynamics = problem.dynamics();
    let integrator = Integrator::named("dop853", Tolerance::relative(1e-7)).unwrap();
    let seeds: Vec<Seed> = (0..11)
        .map(|i| Seed::new().end(&[0.1 * i as f64, 1.0, -0.5, 0.2]).sample(i, &[1.0, 0.0, 0.0, i as f64]))
        .collect();
    let tape = Tape::record(&integrator, &dynamics, &problem.state(), 4.0).unwrap();
    for (seed, gradient) in seeds.iter().zip(tape.gradients(&seeds).unwrap()) {
        assert_eq!(gradient, tape.gradient(seed).unwrap());
    }
    // Implicit steps are solved lane by lane, by the same operations.
    let implicit = Integrator::named("gauss6", 0.05).unwrap();
    let implicit = Tape::record(&implicit, &dynamics, &problem.state(), 1.2).unwrap();
    for (seed, gradient) in seeds.iter().zip(implicit.gradients(&seeds).unwrap()) {
        assert_eq!(gradient, implicit.gradient(seed).unwrap());
    }
    let mut tapes = Vec::new();
    for i in 0..11 {
        let mut values = problem.values();
        values[i % 5] *= 1.0 + 0.05 * i as f64;
        dynamics.set_parameters(&values).unwrap();
        let integrator = integrator.clone().at(&[0.7, 0.85]);
        tapes.push(
            Tape::record(&integrator, &dynamics, &problem.state(), 0.2 + 0.1 * i as f64 + 0.7).unwrap(),
        );
    }
    let pairs: Vec<(&Tape, &Seed)> = tapes.iter().zip(&seeds).collect();
    let seed = Seed::new().sample(0, &[1.0, 2.0, 3.0, 4.0]);
    let pairs: Vec<(&Tape, &Seed)> = pairs.iter().map(|(tape, _)| (*tape, &seed)).collect();
    for ((tape, seed), gradient) in pairs.iter().zip(Tape::gradients_of(&pairs).unwrap()) {
        assert_eq!(gradient, tape.gradient(seed).unwrap());
    }
}

/// With little room, steps are made again from checkpoints, and nothing changes.
#[test]
fn checkpoints_change_no_bit() {
    let problem = WELL;
    let dynamics = problem.dynamics();
    for (name, pace) in [("verlet", None), ("dop853", Some(Tolerance::relative(1e-12)))] {
        let integrator = match pace {
            None => Integrator::named(name, 0.05).unwrap(),
            Some(tolerance) => Integrator::named(name, tolerance).unwrap(),
        };
        let integrator = integrator.at(&[3.33, 20.1, 40.0]);
        let seed = Seed::new().end(&[1.0, 0.5, 0.25, 2.0]).sample(0, &[1.0; 4]).sample(1, &[-1.0; 4]);
        let by = [0, 2];
        let whole = Tape::record_with(&integrator, &dynamics, &problem.state(), 40.0, &by, 1 << 20).unwrap();
        let expected = whole.gradient(&seed).unwrap();
        for room in [0, 100, 2000] {
            let tape = Tape::record_with(&integrator, &dynamics, &problem.state(), 40.0, &by, room).unwrap();
            assert!(tape.kept() < whole.kept() / 2, "{name}: {} of {} numbers", tape.kept(), whole.kept());
            assert_eq!(tape.gradient(&seed).unwrap(), expected, "{name} with room for {room}");
        }
    }
}

/// Inputs that change with time, dissipation, and velocities at the start instead of momenta.
#[test]
fn driven_runs_have_gradients() {
    let run = |values: &[f64], velocity: f64, shift: f64| {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [m, c] = model.parameters([("m", 1.4), ("c", 0.3)]);
        let (x, u) = (model.coordinate("x"), model.input("u"));
        model.particle("mass", m, [x]);
        model.potential("spring", x.pow(4.0) / 4.0);
        model.force(x, u * (1.0 + x));
        model.dissipation("friction", c * model.velocity(x).pow(2.0) / 2.0);
        let mut dynamics = model.system().unwrap().dynamics().unwrap();
        dynamics.set_parameters(values).unwrap();
        let push = leastaction_mechanics::Input::function(move |t| (1.7 * t).sin() + shift);
        dynamics.set_input("u", push).unwrap();
        let start = dynamics.start(&[("x", 0.8), ("x'", velocity)]).unwrap();
        let integrator = Integrator::named("dop853", 0.1).unwrap().at(&[1.23, 3.0]);
        Tape::record(&integrator, &dynamics, &start, 3.0).unwrap()
    };
    let value = |tape: &Tape| {
        let samples: Vec<f64> = tape.trajectory().samples().map(|(_, y)| y[0] + 0.3 * y[1]).collect();
        samples[0] - 2.0 * samples[1]
    };
    let tape = run(&[1.4, 0.3], 0.5, 0.0);
    let seed = Seed::new().sample(0, &[1.0, 0.3]).end(&[-2.0, -0.6]);
    let gradient = tape.gradient(&seed).unwrap().by_velocities(&tape).unwrap();
    let by_mass = difference(1e-2, |by| value(&run(&[1.4 + by, 0.3], 0.5, 0.0)));
    let by_friction = difference(1e-2, |by| value(&run(&[1.4, 0.3 + by], 0.5, 0.0)));
    let by_velocity = difference(1e-2, |by| value(&run(&[1.4, 0.3], 0.5 + by, 0.0)));
    let by_input = difference(1e-2, |by| value(&run(&[1.4, 0.3], 0.5, by)));
    let found = [gradient.parameters[0], gradient.parameters[1], gradient.start[1], gradient.inputs[0]];
    for (found, expected) in found.into_iter().zip([by_mass, by_friction, by_velocity, by_input]) {
        assert!((found - expected).abs() < 1e-9, "{found} and not {expected}");
    }
}

#[test]
fn what_has_no_gradient_says_so() {
    let problem = WELL;
    let (dynamics, start) = (problem.dynamics(), problem.state());
    for card in ALL.iter().filter(|card| card.needs.met_by(dynamics.system().facts())) {
        let tape = Tape::record(&Integrator::new(card, 0.1), &dynamics, &start, 1.0);
        match tape {
            Ok(_) => assert!(reversible().any(|known| known.name == card.name), "{}", card.name),
            Err(AdjointError::Method { method, works }) => {
                assert!(method == card.name && works.contains(&"dop853") && !works.contains(&method));
            }
            Err(other) => panic!("{}: {other}", card.name),
        }
    }
    let tape = Tape::record(&Integrator::named("rk4", 0.1).unwrap(), &dynamics, &start, 1.0).unwrap();
    let refused = |seed: Seed| tape.gradient(&seed).unwrap_err();
    assert_eq!(refused(Seed::new().end(&[1.0])), AdjointError::Length { expected: 4, found: 1 });
    assert!(matches!(refused(Seed::new().end(&[1.0, 0.0, f64::NAN, 0.0])), AdjointError::Weight { .. }));
    let missing = AdjointError::Missing { what: "sample", index: 11, count: 9 };
    assert_eq!(refused(Seed::new().sample(11, &[0.0; 4])), missing);
    assert!(matches!(refused(Seed::new().event_time(0, 1.0)), AdjointError::Missing { .. }));
}

/// A power at zero has no derivative by its exponent: the parameters that are asked for decide.
#[test]
fn derivatives_that_do_not_exist_are_refused() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [n, k] = model.parameters([("n", 4.0), ("k", 1.5)]);
    let x = model.coordinate("x");
    model.particle("mass", 1.0, [x]);
    model.potential("well", k * x.pow(n));
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("x", -0.5), ("x'", 0.1)]).unwrap();
    let integrator = Integrator::named("dop853", 0.05).unwrap();
    let seed = Seed::new().end(&[1.0, 0.0]);
    let error = Tape::record(&integrator, &dynamics, &start, 1.0).unwrap().gradient(&seed).unwrap_err();
    assert!(error.to_string().contains("`n`"), "{error}");
    let tape = Tape::record_with(&integrator, &dynamics, &start, 1.0, &[1], 1 << 20).unwrap();
    let end = |by: f64| {
        let mut dynamics = dynamics.clone();
        dynamics.set_parameters(&[4.0, 1.5 + by]).unwrap();
        integrator.run(&mut dynamics, &start, 1.0).unwrap().end().q[0]
    };
    let expected = difference(1e-2, end);
    assert!((tape.gradient(&seed).unwrap().parameters[0] - expected).abs() < 1e-9);
}

/// A mass that runs into a wall: the branch of a comparison changes on the way.
#[test]
fn switches_are_refused() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let k = model.parameter("k", 50.0);
    let x = model.coordinate("x");
    model.particle("mass", 1.0, [x]);
    model.potential("wall", x.lt(0.0).select(k * x * x / 2.0, 0.0));
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = dynamics.start(&[("x", 1.0), ("x'", -1.0)]).unwrap();
    let integrator = Integrator::named("dop853", Tolerance::relative(1e-9)).unwrap();
    let before = Tape::record(&integrator, &dynamics, &start, 0.9).unwrap();
    let gradient = before.gradient(&Seed::new().end(&[1.0, 0.0])).unwrap();
    assert!((gradient.start[1] - 0.9).abs() < 1e-12 && gradient.parameters == [0.0]);
    let after = Tape::record(&integrator, &dynamics, &start, 1.5).unwrap();
    let error = after.gradient(&Seed::new().end(&[1.0, 0.0])).unwrap_err();
    assert!(matches!(error, AdjointError::Switch { t } if (t - 1.0).abs() < 1e-12), "{error}");
    // On the border from the start on, nobody knows which branch counts.
    let start = dynamics.start(&[("x'", -1.0)]).unwrap();
    let tape = Tape::record(&integrator, &dynamics, &start, 0.5).unwrap();
    assert_eq!(tape.gradient(&Seed::new().end(&[1.0, 0.0])), Err(AdjointError::Switch { t: 0.0 }));
}

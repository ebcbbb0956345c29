//! Derivatives backwards against differences: of rates, of their halves, of what constraints demand, and of the projection onto them.

use crate::common::zoo::{Case, zoo};
use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_mechanics::{
    BackwardSums, Batch, Dynamics, Elements, EnergyFacts, Model, Opaque, OpaqueEnergy,
};

/// The derivative of a function at 0, extrapolated from central differences.
fn difference(step: f64, mut f: impl FnMut(f64) -> f64) -> f64 {
    let [a, b, c] = [step, step / 2.0, step / 4.0].map(|h| (f(h) - f(-h)) / (2.0 * h));
    let (ab, bc) = ((4.0 * b - a) / 3.0, (4.0 * c - b) / 3.0);
    (16.0 * bc - ab) / 15.0
}

fn weights(count: usize) -> Vec<f64> {
    (0..count).map(|i| 1.0 - 0.37 * i as f64 + 0.05 * (i * i % 7) as f64).collect()
}

/// Compares sums with differences of a weighted sum of what `eval` gives at a time and a state.
fn compare(
    name: &str,
    dynamics: &Dynamics,
    (t, y): (f64, &[f64]),
    sums: &BackwardSums,
    mut eval: impl FnMut(&mut Dynamics, f64, &[f64]) -> f64,
) {
    let mut own = dynamics.clone();
    let values = dynamics.parameters().to_vec();
    let size = sums.state.iter().chain(&sums.parameters).fold(1e-3_f64, |m, x| m.max(x.abs()));
    let check = |what: String, found: f64, expected: f64| {
        let off = (found - expected).abs();
        assert!(off < 1e-8 * size, "{name}, by {what}: {found} and not {expected}, of {size}");
    };
    for i in 0..y.len() {
        let expected = difference(2e-3, |by| {
            let mut y = y.to_vec();
            y[i] += by;
            eval(&mut own, t, &y)
        });
        check(dynamics.system().state_name(i), sums.state[i], expected);
    }
    // Inputs change with time by themselves, which nobody differentiates.
    if sums.inputs.is_empty() {
        check("t".to_owned(), sums.time[0], difference(2e-3, |by| eval(&mut own, t + by, y)));
    }
    for i in 0..values.len() {
        let expected = difference(2e-3 * values[i].abs().max(0.1), |by| {
            let mut values = values.clone();
            values[i] += by;
            own.set_parameters(&values).unwrap();
            eval(&mut own, t, y)
        });
        check(dynamics.system().parameters()[i].0.clone(), sums.parameters[i], expected);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// k (x − y)⁴/4, by hand.
struct Quartic;

impl OpaqueEnergy for Quartic {
    fn facts(&self) -> EnergyFacts {
        EnergyFacts { coordinates: vec![1, 2], parameters: vec!["k".into()], time: false }
    }
    fn energy(&self, at: Batch<'_>, _: &mut [f64], out: &mut [f64]) {
        (0..at.t.len()).for_each(|j| {
            out[j] = at.parameters[j] * (at.q[j] - at.q[at.stride + j]).powi(4) / 4.0;
        });
    }
    fn gradient(&self, at: Batch<'_>, _: &mut [f64], out: &mut [f64]) {
        for j in 0..at.t.len() {
            out[j] = at.parameters[j] * (at.q[j] - at.q[at.stride + j]).powi(3);
            out[at.stride + j] = -out[j];
        }
    }
    fn hessian_product(&self, at: Batch<'_>, d: &[f64], _: &mut [f64], out: &mut [f64]) {
        for j in 0..at.t.len() {
            let gap = at.q[j] - at.q[at.stride + j];
            out[j] = 3.0 * at.parameters[j] * gap * gap * (d[j] - d[at.stride + j]);
            out[at.stride + j] = -out[j];
        }
    }
    fn gradient_by_parameters(&self, at: Batch<'_>, d: &[f64], _: &mut [f64], out: &mut [f64]) -> bool {
        for j in 0..at.t.len() {
            let gap = at.q[j] - at.q[at.stride + j];
            out[j] = gap.powi(3) * (d[j] - d[at.stride + j]);
        }
        true
    }
}

/// What hangs on rods: of formulas alone, or with springs as elements and something opaque, so that multipliers are found when all forces are known.
pub(crate) fn rods(others: bool, damped: bool, moving_masses: bool) -> Case {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, l, g, k, c, w] =
        model.parameters([("m", 1.3), ("l", 0.8), ("g", 9.81), ("k", 4.0), ("c", 0.2), ("w", 3.0)]);
    let [x1, y1, x2, y2] = model.coordinates(["x1", "y1", "x2", "y2"]);
    model.particle("first", m, [x1, y1]);
    if moving_masses {
        model.kinetic(
            "second",
            0.5 * (1.0 + x2 * x2) * model.velocity(x2).pow(2)
                + 0.5 * m * model.velocity(y2).pow(2)
                + 0.3 * y1 * model.velocity(x2) * model.velocity(y1),
        );
        model.potential("weight", g * m * y2);
    } else {
        model.particle("second", 0.7, [x2, y2]);
    }
    model.gravity([graph.number(0.0), -g]);
    let t = model.time();
    model.constraint("upper", x1 * x1 + y1 * y1, l * l * (1.0 + 0.05 * (w * t).sin()));
    model.constraint("lower", (x2 - x1).pow(2) + (y2 - y1).pow(2), 0.6);
    if damped {
        let v = model.velocity(x2);
        model.dissipation("drag", c * (1.0 + y1 * y1) * v * v / 2.0);
    }
    if others {
        let [a, b] = ["a", "b"].map(|name| graph.symbol(name));
        model.potential(
            "springs",
            Elements {
                energy: 0.5 * k * (b - a - c).pow(2) + (b - a).pow(4) / 8.0,
                slots: vec![a, b],
                coordinates: [0, 2, 1, 3].into(),
                constants: vec![],
                values: [].into(),
                implicit: vec![],
            },
        );
        model.potential("opaque", Opaque::new(Quartic));
    }
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let start = [("x1", 0.5), ("y1", -0.6), ("x2", 1.1), ("y2", -1.1), ("x1'", 0.4), ("y2'", -0.3)];
    let state = dynamics.start_at(0.3, &start).unwrap();
    Case { name: "rods", dynamics, state }
}

/// A skate: its constraint is one of velocities.
fn skate() -> Case {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, j, k] = model.parameters([("m", 1.3), ("j", 0.8), ("k", 2.0)]);
    let [x, y, a] = model.coordinates(["x", "y", "a"]);
    model.particle("skate", m, [x, y]);
    model.kinetic("turn", 0.5 * j * model.velocity(a).pow(2));
    let springs = Elements {
        energy: 0.5 * k * (1.0 + graph.symbol("s").pow(2)) * graph.symbol("s").pow(2),
        slots: vec![graph.symbol("s")],
        coordinates: [0, 1, 2].into(),
        constants: vec![],
        values: [].into(),
        implicit: vec![],
    };
    model.potential("springs", springs);
    let (vx, vy) = (model.velocity(x), model.velocity(y));
    model.constraint("blade", vx * a.sin() - vy * a.cos(), 0.0);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let state = dynamics
        .start(&[("x", 0.5), ("y", -0.6), ("a", 0.3), ("x'", 1.0), ("y'", 0.2), ("a'", 0.4)])
        .unwrap();
    Case { name: "skate", dynamics, state }
}

fn constrained() -> Vec<Case> {
    let mut cases = vec![skate()];
    for (others, damped, moving) in [
        (false, false, false),
        (true, false, false),
        (true, true, false),
        (true, true, true),
        (false, true, true),
    ] {
        cases.push(rods(others, damped, moving));
    }
    cases
}

#[test]
fn rates_go_backwards() {
    for Case { name, mut dynamics, state } in zoo().into_iter().chain(constrained()) {
        let (y, t) = (state.block(), state.t);
        let w = weights(y.len());
        let mut sums = BackwardSums::new(dynamics.system(), 1);
        dynamics.add_rate_slopes(&[t], &y, &w, &mut sums).unwrap();
        let mut rates = vec![0.0; y.len()];
        compare(name, &dynamics, (t, &y), &sums, |dynamics, t, y| {
            dynamics.rates(&[t], y, &mut rates).unwrap();
            dot(&rates, &w)
        });
        let half = &w[..y.len() / 2];
        let mut found = vec![0.0; half.len()];
        sums.clear();
        dynamics.add_kick_slopes(&[t], &y, half, &mut sums).unwrap();
        compare(name, &dynamics, (t, &y), &sums, |dynamics, t, y| {
            dynamics.kick(&[t], y, &mut found).unwrap();
            dot(&found, half)
        });
        sums.clear();
        dynamics.add_drift_slopes(&[t], &y, half, &mut sums).unwrap();
        compare(name, &dynamics, (t, &y), &sums, |dynamics, t, y| {
            dynamics.drift(&[t], y, &mut found).unwrap();
            dot(&found, half)
        });
    }
}

#[test]
fn what_constraints_demand_goes_backwards() {
    for Case { name, mut dynamics, state } in constrained() {
        let (y, t) = (state.block(), state.t);
        let rows = dynamics.system().constraints().len();
        let (lambda, u) = (weights(rows), weights(y.len() / 2));
        let mut sums = BackwardSums::new(dynamics.system(), 1);
        let positions = dynamics.system().position_constraints();
        if positions > 0 {
            dynamics.add_constraint_slopes(&[t], &y, &lambda[..positions], &mut sums).unwrap();
            let mut found = vec![0.0; positions];
            compare(name, &dynamics, (t, &y), &sums, |dynamics, t, y| {
                dynamics.constraint_values(&[t], y, &mut found).unwrap();
                dot(&found, &lambda)
            });
        }
        sums.clear();
        dynamics.add_constraint_force_slopes(&[t], &y, &lambda, &u, &mut sums).unwrap();
        compare(name, &dynamics, (t, &y), &sums, |dynamics, t, y| {
            let mut factors = leastaction_mechanics::ConstraintFactors::new(dynamics.system(), 1);
            factors.evaluate(dynamics, &[t], y).unwrap();
            let mut pull = vec![0.0; u.len()];
            factors.add_forces(&lambda, &mut pull);
            dot(&pull, &u)
        });
        sums.clear();
        dynamics.add_constraint_rate_slopes(&[t], &y, &lambda, &mut sums).unwrap();
        compare(name, &dynamics, (t, &y), &sums, |dynamics, t, y| {
            let (mut positions, mut rates) = (vec![0.0; positions], vec![0.0; rows]);
            dynamics.violations(&[t], y, &mut positions, &mut rates).unwrap();
            dot(&rates, &lambda)
        });
    }
}

#[test]
fn projections_go_backwards() {
    for Case { name, mut dynamics, state } in constrained() {
        let (mut y, t) = (state.block(), state.t);
        for off in [0.0, 1e-3, 0.03] {
            y.iter_mut().enumerate().for_each(|(i, y)| *y += off * (1.0 + i as f64).sin());
            let w = weights(y.len());
            let (mut sums, mut by_state) = (BackwardSums::new(dynamics.system(), 1), w.clone());
            dynamics.reverse_projection(&[t], &y, &mut by_state, &mut sums).unwrap();
            sums.state = by_state;
            compare(name, &dynamics, (t, &y), &sums, |dynamics, t, y| {
                let mut y = y.to_vec();
                dynamics.project(&[t], &mut y).unwrap();
                dot(&y, &w)
            });
        }
    }
}

/// Lanes have the bits of single states, with parameters of their own.
#[test]
fn lanes_go_backwards_as_single_states_do() {
    for Case { name, mut dynamics, state } in zoo().into_iter().chain(constrained()) {
        let (y, values) = (state.block(), dynamics.parameters().to_vec());
        let d = y.len();
        let shift = |lane: usize, i: usize| 1e-3 * (lane as f64 * (i + 1) as f64).sin();
        let (mut wide, mut alone) = (vec![0.0; d * LANES], Vec::new());
        let mut t = [0.0; LANES];
        let w = weights(d);
        let wide_weights: Vec<f64> =
            (0..d * LANES).map(|i| w[i / LANES] + shift(i % LANES, i / LANES)).collect();
        let mut eight = dynamics.clone();
        for lane in 0..LANES {
            let values: Vec<f64> = values.iter().map(|value| value * (1.0 + 0.01 * lane as f64)).collect();
            let own: Vec<f64> = (0..d).map(|i| y[i] + shift(lane, i)).collect();
            t[lane] = state.t + 0.01 * lane as f64;
            dynamics.set_parameters(&values).unwrap();
            eight.set_parameters_in(lane, &values).unwrap();
            (0..d).for_each(|i| wide[i * LANES + lane] = own[i]);
            let own_weights: Vec<f64> = (0..d).map(|i| wide_weights[i * LANES + lane]).collect();
            let mut sums = BackwardSums::new(dynamics.system(), 1);
            dynamics.add_rate_slopes(&t[lane..=lane], &own, &own_weights, &mut sums).unwrap();
            let mut moved = own_weights.clone();
            dynamics.reverse_projection(&t[lane..=lane], &own, &mut moved, &mut sums).unwrap();
            sums.state.extend(moved);
            alone.push(sums);
        }
        let mut sums = BackwardSums::new(eight.system(), LANES);
        eight.add_rate_slopes(&t, &wide, &wide_weights, &mut sums).unwrap();
        let mut moved = wide_weights.clone();
        eight.reverse_projection(&t, &wide, &mut moved, &mut sums).unwrap();
        sums.state.extend(moved);
        for (lane, alone) in alone.iter().enumerate() {
            let pairs = [
                (&sums.state, &alone.state),
                (&sums.parameters, &alone.parameters),
                (&sums.inputs, &alone.inputs),
            ];
            for (eight, one) in pairs {
                let size = one.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
                let lane_of = eight.iter().skip(lane).step_by(LANES);
                let apart = lane_of.zip(one).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(apart < 1e-12 * size, "{name}: {apart:e} of {size:e}");
            }
        }
    }
}

#[test]
fn what_has_no_reverse_says_so() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bead", 1.0, [x, y]);
    let slots = vec![graph.symbol("s")];
    let energy = slots[0].dot().unwrap().pow(2);
    let drag = Elements {
        energy,
        slots,
        coordinates: [0, 1].into(),
        constants: vec![],
        values: [].into(),
        implicit: vec![],
    };
    model.dissipation("drag", drag);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let mut sums = BackwardSums::new(dynamics.system(), 1);
    let error = dynamics.add_rate_slopes(&[0.0], &[0.0; 4], &[1.0; 4], &mut sums).unwrap_err();
    assert!(error.to_string().contains("dissipation over elements"), "{error}");
}

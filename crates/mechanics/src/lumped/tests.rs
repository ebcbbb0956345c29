//! Nodes that constraints read move as particles do.
#![allow(clippy::unwrap_used)] // a test may panic

use crate::{Dynamics, Equations, EvalError, Linearisation, Model};
use leastaction_compile::LANES;
use leastaction_expr::Graph;

const COUNT: usize = 40;
/// So many constraints are many here.
const MANY: usize = 8;

/// A rope of nodes from a point that is moved: of different masses, the third one on a spring; and, if that is asked for, damped, and the last two bound by their velocities.
fn rope(graph: &Graph, bound: bool) -> Model<'_> {
    let mut model = Model::new(graph);
    let length = model.parameter("l", 0.9);
    let drag = model.parameter("c", 0.1);
    let block = model.coordinate_block("r", COUNT, &["x", "y"]).unwrap();
    let masses: Vec<f64> = (0..COUNT).map(|i| 1.0 + 0.1 * (i % 7) as f64).collect();
    model.lumped("r", block, &masses, None);
    model.gravity([0.0, -9.81]);
    let place = |i: usize| [block.symbol(i, 0), block.symbol(i, 1)];
    model.potential("spring", 0.5 * (place(2)[0] - 1.0).pow(2));
    let mut above = [0.1 * model.time().sin(), graph.number(0.0)];
    for i in 0..COUNT {
        let [x, y] = place(i);
        let own = if i % 2 == 0 { length } else { graph.number(1.0 + 0.01 * i as f64) };
        model.constraint(&format!("link {i}"), (x - above[0]).pow(2) + (y - above[1]).pow(2), own.pow(2));
        above = [x, y];
    }
    if bound {
        model.damp_lumped("drag", "r", drag);
        let speed = |i: usize| place(i).map(|q| q.dot().unwrap());
        let (last, before) = (speed(COUNT - 1), speed(COUNT - 2));
        model.constraint("bound", last[0] + 0.3 * last[1], before[0]);
    }
    model
}

/// With particles, and with nodes that constraints read.
fn both(graph: &Graph, bound: bool) -> [Dynamics; 2] {
    let model = rope(graph, bound);
    let (particles, nodes) = (model.equations().unwrap(), Equations::derive_repeated(&model, MANY).unwrap());
    assert!(particles.nodes.is_none() && nodes.nodes.as_ref().is_some_and(|nodes| nodes.constrained));
    let systems = [particles.system().unwrap(), nodes.system_repeated(MANY).unwrap()];
    let [particles, nodes] = &systems;
    assert!(nodes.repetition(crate::Quantity::Constraints).unwrap().is_some());
    assert_eq!(particles.constraints(), nodes.constraints());
    assert_eq!(particles.facts().conserved, nodes.facts().conserved);
    assert_eq!(particles.facts().cyclic, nodes.facts().cyclic);
    assert_eq!(particles.facts().autonomous, nodes.facts().autonomous);
    systems.map(|system| system.dynamics().unwrap())
}

/// States near a rope that is stretched out along x, in lanes.
fn states(length: f64, width: usize) -> Vec<f64> {
    let mut along = 0.0;
    let mut y = Vec::new();
    for i in 0..COUNT {
        along += if i % 2 == 0 { length } else { 1.0 + 0.01 * i as f64 };
        y.extend([along, 0.0]);
    }
    y.resize(4 * COUNT, 0.0);
    let number = |k: usize| {
        let (i, lane) = (k / width, k % width);
        y[i] + 1e-3 * (1.7 * i as f64).sin() + 1e-4 * lane as f64
    };
    (0..4 * COUNT * width).map(number).collect()
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    let size = expected.iter().fold(1e-3_f64, |m, x| m.max(x.abs()));
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance * size, "{i}: {found} and not {expected}");
    }
}

type Query = fn(&mut Dynamics, &[f64], &[f64], &mut [f64]) -> Result<(), EvalError>;

/// What is asked of both: how many numbers that is for each coordinate and each constraint, and how many more.
const QUERIES: [(Query, [usize; 3]); 8] = [
    (Dynamics::accelerations, [1, 0, 0]),
    (Dynamics::rates, [2, 0, 0]),
    (Dynamics::projected_rates, [2, 0, 0]),
    (Dynamics::multipliers, [0, 1, 0]),
    (Dynamics::constraint_rates, [0, 1, 0]),
    (Dynamics::energy, [0, 0, 1]),
    (Dynamics::supplied_power, [0, 0, 1]),
    (projected, [2, 0, 0]),
];

fn projected(dynamics: &mut Dynamics, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
    out.copy_from_slice(y);
    dynamics.project(t, out).unwrap();
    Ok(())
}

#[test]
fn quantities_agree_in_any_number_of_lanes() {
    for (bound, width, length) in [(false, 1, 0.9), (false, LANES, 1.1), (true, 1, 1.1), (true, LANES, 0.9)] {
        let graph = Graph::new();
        let mut both = both(&graph, bound);
        let rows = both[0].system().constraints().len();
        let (t, y) = (vec![0.3; width], states(length, width));
        for (number, (query, [coordinates, constraints, more])) in QUERIES.into_iter().enumerate() {
            // The projected flow is not defined for constraints of velocities.
            if bound && number == 2 {
                continue;
            }
            let len = (2 * COUNT * coordinates + rows * constraints + more) * width;
            let [particles, nodes] = both.each_mut().map(|dynamics| {
                dynamics.set_parameter("l", length).unwrap();
                let mut out = vec![0.0; len];
                query(dynamics, &t, &y, &mut out).unwrap();
                out
            });
            assert!(particles.iter().any(|x| *x != 0.0), "{number} is zero");
            assert_close(&nodes, &particles, 1e-9);
        }
    }
}

#[test]
fn small_motions_agree() {
    let graph = Graph::new();
    let mut found = both(&graph, true).map(|mut dynamics| {
        let mut linearised = Linearisation::new(&dynamics).unwrap();
        let multipliers: Vec<f64> = (0..=COUNT).map(|k| 1.0 + k as f64).collect();
        linearised.evaluate(&mut dynamics, 0.0, &states(0.9, 1)[..2 * COUNT], &multipliers).unwrap();
        let direction: Vec<f64> = (0..2 * COUNT).map(|i| (2.3 * i as f64).cos()).collect();
        let mut product = vec![0.0; 2 * COUNT];
        linearised.add_product(&mut dynamics, &direction, &mut product).unwrap();
        product
    });
    assert!(found[0].iter().all(|x| *x != 0.0));
    let expected = std::mem::take(&mut found[0]);
    assert_close(&found[1], &expected, 1e-12);
}

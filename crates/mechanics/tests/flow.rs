//! The projected Hamiltonian flow: on the constraints it is the motion, and off them it keeps Φ and Φ̇.

use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_mechanics::{Dynamics, EvalError, Model};

/// Two links in Cartesian coordinates; masses are constant.
fn links() -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y, u, v] = model.coordinates(["x", "y", "u", "v"]);
    model.particle("elbow", 1.0, [x, y]);
    model.particle("hand", 2.0, [u, v]);
    model.gravity([0.0, -5.0]);
    model.constraint("upper", x * x + y * y, 1.0);
    model.constraint("lower", (u - x).pow(2.0) + (v - y).pow(2.0), 0.25);
    model.system().unwrap().dynamics().unwrap()
}

/// A link on a point in polar coordinates, with friction: the mass matrix depends on coordinates, and the constraint on time.
fn polar() -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let t = model.time();
    let [r, a, x, y] = model.coordinates(["r", "a", "x", "y"]);
    model.particle("elbow", 1.0, [r * a.sin(), -r * a.cos()]);
    model.particle("hand", 2.0, [x, y]);
    model.gravity([0.0, -5.0]);
    model.dissipation("friction", 0.3 * model.velocity(a).pow(2.0));
    let length = 1.0 + 0.2 * t.sin();
    model.constraint("link", (x - r * a.sin()).pow(2.0) + (y + r * a.cos()).pow(2.0), length * length);
    model.system().unwrap().dynamics().unwrap()
}

/// A kinetic energy that is not quadratic, in a magnetic field, on two surfaces.
fn magnetic() -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y, z] = model.coordinates(["x", "y", "z"]);
    let [px, py, pz] = model.momenta(["p_x", "p_y", "p_z"]);
    let (u, v) = (px + 0.4 * y * z, py - 0.3 * x);
    model.hamiltonian(
        "H",
        (1.0 + u * u + v * v + (1.0 + 0.5 * x * x) * pz * pz).sqrt() + 0.7 * z + 0.2 * x * y,
    );
    model.constraint("shell", x * x + 2.0 * y * y + 0.5 * z * z, 1.0);
    model.constraint("saddle", z - x * y, 0.4);
    model.system().unwrap().dynamics().unwrap()
}

/// The same Lagrangian where velocities do not follow from momenta in closed form: v + v³ = p.
fn implicit() -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    let [u, v] = model.velocities([x, y]);
    model.lagrangian("L", 0.5 * (u * u + v * v) * (1.0 + x * x) + 0.25 * u.pow(4.0) - y);
    model.constraint("curve", x * x + y * y + 0.2 * x * y, 1.0);
    model.system().unwrap().dynamics().unwrap()
}

fn systems() -> [(&'static str, Dynamics, Vec<f64>); 4] {
    [
        ("links", links(), vec![0.8, -0.7, 1.2, -0.9, 0.4, 0.6, -1.5, 0.8]),
        ("polar", polar(), vec![1.1, 0.9, 1.2, -1.5, 0.5, -0.8, 1.4, 0.3]),
        ("magnetic", magnetic(), vec![0.6, 0.5, 0.55, 0.5, -0.4, 0.8]),
        ("implicit", implicit(), vec![0.7, 0.6, 0.5, -0.9]),
    ]
}

const T: f64 = 0.3;

#[test]
fn on_the_constraints_it_is_the_motion() {
    for (what, mut dynamics, mut y) in systems() {
        dynamics.project(&[T], &mut y).unwrap();
        let (mut field, mut flow) = (vec![0.0; y.len()], vec![0.0; y.len()]);
        dynamics.rates(&[T], &y, &mut field).unwrap();
        dynamics.projected_rates(&[T], &y, &mut flow).unwrap();
        for (found, expected) in flow.iter().zip(&field) {
            assert!((found - expected).abs() < 1e-12, "{what}: {flow:?} {field:?}");
        }
    }
}

/// Φ and Φ̇ along a direction, by differences of sixth order.
fn rates(dynamics: &mut Dynamics, y: &[f64], dy: &[f64]) -> [f64; 2] {
    let rows = dynamics.system().constraints().len();
    let mut sums = vec![0.0; 2 * rows];
    for (k, weight) in [(1.0, 0.75), (2.0, -0.15), (3.0, 1.0 / 60.0)] {
        for sign in [1.0, -1.0] {
            let h = 1e-3 * k * sign;
            let moved: Vec<f64> = y.iter().zip(dy).map(|(y, dy)| y + h * dy).collect();
            let mut values = vec![0.0; 2 * rows];
            let (positions, velocities) = values.split_at_mut(rows);
            dynamics.violations(&[T + h], &moved, positions, velocities).unwrap();
            sums.iter_mut().zip(&values).for_each(|(sum, value)| *sum += weight * sign * value / 1e-3);
        }
    }
    let largest = |part: &[f64]| part.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    [largest(&sums[..rows]), largest(&sums[rows..])]
}

/// Off the constraints, neither Φ nor Φ̇ changes; on the acceleration level Φ does.
#[test]
fn off_the_constraints_it_keeps_them() {
    for (what, mut dynamics, y) in systems() {
        let (mut field, mut flow) = (vec![0.0; y.len()], vec![0.0; y.len()]);
        dynamics.projected_rates(&[T], &y, &mut flow).unwrap();
        let kept = rates(&mut dynamics, &y, &flow);
        dynamics.rates(&[T], &y, &mut field).unwrap();
        let drifting = rates(&mut dynamics, &y, &field);
        println!("{what}: {kept:?} {drifting:?}");
        assert!(kept.iter().all(|x| *x < 1e-10), "{what}: {kept:?}");
        assert!(drifting[0] > 1e-2 && drifting[1] < 1e-10, "{what}: {drifting:?}");
    }
}

/// P is the projection of the paper: (PJ∇H) from dense matrices, by differences.
#[test]
fn it_is_the_projection_of_the_gradient() {
    let mut dynamics = magnetic();
    let y = [0.6, 0.5, 0.55, 0.5, -0.4, 0.8];
    let mut flow = [0.0; 6];
    dynamics.projected_rates(&[0.0], &y, &mut flow).unwrap();
    let mut psi = |y: &[f64]| {
        let (mut a, mut b, mut h) = ([0.0; 2], [0.0; 2], [0.0]);
        dynamics.violations(&[0.0], y, &mut a, &mut b).unwrap();
        dynamics.energy(&[0.0], y, &mut h).unwrap();
        [a[0], a[1], b[0], b[1], h[0]]
    };
    // Rows: the gradients of Ψ, then of H.
    let mut gradients = [[0.0; 6]; 5];
    for i in 0..6 {
        for (k, weight) in [(1.0, 0.75), (2.0, -0.15), (3.0, 1.0 / 60.0)] {
            let mut moved = |by: f64| {
                let mut y = y;
                y[i] += by;
                psi(&y)
            };
            let (above, below) = (moved(1e-3 * k), moved(-1e-3 * k));
            (0..5).for_each(|r| gradients[r][i] += weight * (above[r] - below[r]) / 1e-3);
        }
    }
    let turned = |g: &[f64; 6]| [g[3], g[4], g[5], -g[0], -g[1], -g[2]];
    let dot = |a: &[f64; 6], b: &[f64; 6]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    // DΨ J DΨᵀ x = DΨ J∇H by elimination.
    let mut matrix = [[0.0; 5]; 4];
    for i in 0..4 {
        (0..5).for_each(|j| matrix[i][j] = dot(&gradients[i], &turned(&gradients[j])));
    }
    for c in 0..4 {
        let pivot = (c..4).max_by(|a, b| matrix[*a][c].abs().total_cmp(&matrix[*b][c].abs())).unwrap();
        matrix.swap(c, pivot);
        for r in (0..4).filter(|&r| r != c) {
            let factor = matrix[r][c] / matrix[c][c];
            (0..5).for_each(|k| matrix[r][k] -= factor * matrix[c][k]);
        }
    }
    for i in 0..6 {
        let correction: f64 = (0..4).map(|k| matrix[k][4] / matrix[k][k] * turned(&gradients[k])[i]).sum();
        let expected = turned(&gradients[4])[i] - correction;
        assert!((flow[i] - expected).abs() < 1e-9, "{i}: {} {expected}", flow[i]);
    }
}

/// Lanes have the bits that they have alone; without constraints it is the field; velocity constraints are refused.
#[test]
fn it_is_a_field_like_others() {
    for (what, mut dynamics, y) in systems() {
        let states: [Vec<f64>; LANES] =
            std::array::from_fn(|lane| y.iter().map(|y| y * (1.0 + 0.01 * lane as f64)).collect());
        let block: Vec<f64> = (0..y.len()).flat_map(|i| states.iter().map(move |s| s[i])).collect();
        let mut wide = vec![0.0; block.len()];
        dynamics.projected_rates(&[T; LANES], &block, &mut wide).unwrap();
        for (lane, state) in states.iter().enumerate() {
            let mut alone = vec![0.0; y.len()];
            dynamics.projected_rates(&[T], state, &mut alone).unwrap();
            let lane: Vec<f64> = wide.iter().skip(lane).step_by(LANES).copied().collect();
            assert_eq!(lane, alone, "{what}");
        }
    }
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bead", 1.0, [x, y]);
    model.potential("spring", x * x * y);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let (mut field, mut flow) = ([0.0; 4], [0.0; 4]);
    dynamics.rates(&[0.0], &[1.0, 2.0, 3.0, 4.0], &mut field).unwrap();
    dynamics.projected_rates(&[0.0], &[1.0, 2.0, 3.0, 4.0], &mut flow).unwrap();
    assert_eq!(field, flow);
    let [u, v] = model.velocities([x, y]);
    model.constraint("skate", v, x * u);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let refused = dynamics.projected_rates(&[0.0], &[1.0, 2.0, 3.0, 4.0], &mut flow).unwrap_err();
    assert!(matches!(refused, EvalError::Undefined { .. }), "{refused}");
}

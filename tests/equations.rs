//! The code that `leastaction equations` prints computes what the equations of motion say.

use leastaction::language::read;
use leastaction::{Graph, Statement};

/// x of A x = b.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            let row = a[k].clone();
            a[i].iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
    b
}

/// What the code computes at the start of a model, with the coordinates, momenta, velocities and the vector field there.
fn at_start(text: &str) -> (Vec<f64>, usize, Vec<f64>, Vec<f64>) {
    let graph = Graph::new();
    let setup = read(&graph, text, &[]).unwrap();
    let equations = setup.model.equations().unwrap();
    let mut dynamics = equations.system().unwrap().dynamics().unwrap();
    let start = setup.start(&dynamics).unwrap();
    let state = dynamics.start(&start).unwrap();
    let (n, y) = (state.q.len(), state.block());
    let (mut field, mut v) = (vec![0.0; 2 * n], vec![0.0; n]);
    dynamics.rates(&[0.0], &y, &mut field).unwrap();
    dynamics.velocities(&[0.0], &y, &mut v).unwrap();
    let code = equations.function().unwrap();
    let second = match equations.statement {
        Statement::Lagrangian(_) => v.clone(),
        Statement::Hamiltonian(_) => state.p.clone(),
    };
    let numbers: Vec<f64> = [vec![0.0], state.q, second].concat();
    let parameters = equations.parameters.iter().map(|(_, value)| *value);
    let values: Vec<_> = code.inputs.iter().copied().zip(numbers.into_iter().chain(parameters)).collect();
    (code.outputs.iter().map(|e| e.eval(&values).unwrap()).collect(), n, v, field)
}

/// The rates of the momenta follow from the printed parts as they follow from the equations of motion.
#[test]
fn the_parts_give_the_accelerations() {
    let text = "param g = 9.81\ncoord x, y, u, v\nparticle a mass 2 at [x, y]\nparticle b mass 1 at [u, v]\n\
                gravity [0, -g]\nconstraint rod: x^2 + y^2 = 1 + t/8\nconstraint arm: (u - x)^2 + (v - y)^2 = 2\n\
                constraint skate: u'*(v - y) = t\nstart x = 0.6, y = -0.8, u = 1.6, v = 0.2, x' = 0.4, y' = 0.3";
    let (parts, n, _, field) = at_start(text);
    let rows = 3;
    assert_eq!(parts.len(), n * n + n + rows * n + 2 * rows);
    let (mass, rest) = parts.split_at(n * n);
    let (loads, rest) = rest.split_at(n);
    let (jacobian, rest) = rest.split_at(rows * n);
    let (gamma, values) = rest.split_at(rows);
    assert!(values.iter().all(|value| value.abs() < 1e-12), "{values:?}");
    let entry = |i: usize, j: usize| match (i < n, j < n) {
        (true, true) => mass[i * n + j],
        (true, false) => jacobian[(j - n) * n + i],
        (false, true) => jacobian[(i - n) * n + j],
        (false, false) => 0.0,
    };
    let matrix = (0..n + rows).map(|i| (0..n + rows).map(|j| entry(i, j)).collect()).collect();
    let solution = solve(matrix, [loads, gamma].concat());
    // The masses are constant here: p' = M q''.
    for i in 0..n {
        let rate: f64 = (0..n).map(|j| mass[i * n + j] * solution[j]).sum();
        assert!((rate - field[n + i]).abs() < 1e-11, "{i}: {rate} instead of {}", field[n + i]);
    }
}

#[test]
fn the_parts_of_a_hamiltonian_give_the_rates_of_momenta() {
    let text = "coord x, y\nmomentum a, b\nhamiltonian a^2/2 + b^2/4 + a*y/3 + 9*y\nconstraint rod: x^2 + y^2 = 1\n\
                start x = 0.6, y = -0.8, a = 1, b = 2";
    let (parts, n, v, field) = at_start(text);
    let (flow, rest) = parts.split_at(n);
    let (pushes, rest) = rest.split_at(n);
    let &[gx, gy, a, gamma, value] = rest else { panic!("{} parts", rest.len()) };
    assert!(value.abs() < 1e-12 && flow.iter().zip(&v).all(|(a, b)| (a - b).abs() < 1e-12));
    for (i, g) in [gx, gy].into_iter().enumerate() {
        let rate = pushes[i] - g * gamma / a;
        assert!((rate - field[n + i]).abs() < 1e-11, "{i}: {rate} instead of {}", field[n + i]);
    }
}

//! Redundant and nearly redundant constraints, against null spaces found by elimination with full pivoting.

use leastaction_expr::{Expr, Graph};
use leastaction_mechanics::{ConstraintFactors, Dynamics, Model};
use leastaction_testing::Random;

/// Masses in blocks and rows of constraints, some of which are combinations of others.
struct Problem {
    /// By rows, n × n and m × n.
    mass: Vec<Vec<f64>>,
    rows: Vec<Vec<f64>>,
    rank: usize,
}

fn problem(random: &mut Random, n: usize, m: usize, rank: usize) -> Problem {
    let mut uniform = || random.between(-1.0, 1.0);
    let mut mass = vec![vec![0.0; n]; n];
    let mut first = 0;
    for size in [1, 3, 2, 4, 1, 6].into_iter().cycle() {
        let size = size.min(n - first);
        // A Aᵀ + 1/2.
        let a: Vec<Vec<f64>> = (0..size).map(|_| (0..size).map(|_| uniform()).collect()).collect();
        for i in 0..size {
            for j in 0..size {
                let product: f64 = (0..size).map(|k| a[i][k] * a[j][k]).sum();
                mass[first + i][first + j] = product + if i == j { 0.5 } else { 0.0 };
            }
        }
        first += size;
        if first == n {
            break;
        }
    }
    // Rows that touch few coordinates, each at least one that those before it do not, so that they are independent.
    let mut rows: Vec<Vec<f64>> = (0..rank)
        .map(|k| {
            let mut row = vec![0.0; n];
            row[k] = 1.0 + uniform().abs();
            for _ in 0..2 {
                let other = k + 1 + ((uniform().abs() * (n - k - 1) as f64) as usize).min(n - k - 2);
                row[other] = uniform() + 1.5;
            }
            row
        })
        .collect();
    while rows.len() < m {
        let pick = |x: f64| (x.abs() * rank as f64) as usize % rank;
        let (a, b) = (pick(uniform()), pick(uniform()));
        let (s, r) = (uniform() + 2.0, uniform());
        rows.push((0..n).map(|i| s * rows[a][i] + r * rows[b][i]).collect());
    }
    for k in (1..m).rev() {
        rows.swap(k, (uniform().abs() * (k + 1) as f64) as usize % (k + 1));
    }
    Problem { mass, rows, rank }
}

/// Each row demands Σ rᵢ (qᵢ + 0.1 qᵢ²) = c: the rows of G are scaled with q, and depend on each other as the numbers do.
fn dynamics(graph: &Graph, problem: &Problem) -> Dynamics {
    let mut model = Model::new(graph);
    let n = problem.mass.len();
    let q: Vec<Expr<'_>> = (0..n).map(|i| model.coordinate(&format!("q{i}"))).collect();
    let v: Vec<Expr<'_>> = q.iter().map(|&q| model.velocity(q)).collect();
    let products = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let terms = products.filter(|&(i, j)| problem.mass[i][j] != 0.0);
    model.kinetic("motion", graph.sum(terms.map(|(i, j)| 0.5 * problem.mass[i][j] * v[i] * v[j])));
    for (k, row) in problem.rows.iter().enumerate() {
        let touched = (0..n).filter(|&i| row[i] != 0.0);
        let sum = graph.sum(touched.map(|i| row[i] * (q[i] + 0.1 * q[i] * q[i])));
        model.constraint(&format!("row {k}"), sum, 0.0);
    }
    model.system().unwrap().dynamics().unwrap()
}

/// A basis of the null space of rows, by elimination with full pivoting.
fn null_space(rows: &[Vec<f64>], n: usize) -> Vec<Vec<f64>> {
    let mut a = rows.to_vec();
    let mut columns: Vec<usize> = (0..n).collect();
    let mut rank = 0;
    while rank < a.len().min(n) {
        let places = (rank..a.len()).flat_map(|i| (rank..n).map(move |j| (i, j)));
        let (i, j) =
            places.max_by(|x, y| a[x.0][columns[x.1]].abs().total_cmp(&a[y.0][columns[y.1]].abs())).unwrap();
        if a[i][columns[j]].abs() < 1e-11 {
            break;
        }
        a.swap(rank, i);
        columns.swap(rank, j);
        let pivot = a[rank].clone();
        let column = columns[rank];
        for (k, row) in a.iter_mut().enumerate() {
            let factor = row[column] / pivot[column];
            if k != rank {
                row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
            }
        }
        rank += 1;
    }
    let basis = |&free: &usize| {
        let mut v = vec![0.0; n];
        v[free] = 1.0;
        (0..rank).for_each(|k| v[columns[k]] = -a[k][free] / a[k][columns[k]]);
        v
    };
    columns[rank..].iter().map(basis).collect()
}

/// Solves A x = b by elimination with partial pivoting.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let best = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, best);
        b.swap(k, best);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
    b
}

/// The accelerations nearest to a, in the metric of masses, among those that rows allow: N (NᵀMN)⁻¹ NᵀM a.
fn allowed(mass: &[Vec<f64>], rows: &[Vec<f64>], a: &[f64]) -> Vec<f64> {
    let n = a.len();
    let basis = null_space(rows, n);
    let times_mass =
        |v: &[f64]| -> Vec<f64> { (0..n).map(|i| (0..n).map(|j| mass[i][j] * v[j]).sum()).collect() };
    let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
    let weighed: Vec<Vec<f64>> = basis.iter().map(|v| times_mass(v)).collect();
    let matrix = basis.iter().map(|u| weighed.iter().map(|w| dot(u, w)).collect()).collect();
    let parts = solve(matrix, weighed.iter().map(|w| dot(w, a)).collect());
    (0..n).map(|i| basis.iter().zip(&parts).map(|(v, x)| v[i] * x).sum()).collect()
}

/// What is left of accelerations, and the rank, in each lane.
fn gripped(dynamics: &mut Dynamics, y: &[f64], a: &[f64], width: usize) -> (Vec<f64>, Vec<usize>) {
    let t = vec![0.0; width];
    let mut factors = ConstraintFactors::new(dynamics.system(), width);
    factors.factor(dynamics, &t, y).unwrap();
    let mut multipliers = vec![0.0; dynamics.system().constraints().len() * width];
    let mut left = a.to_vec();
    factors.add_rates(a, &mut multipliers);
    factors.solve(&mut multipliers);
    factors.add_accelerations(&multipliers, &mut left);
    (left, (0..width).map(|lane| factors.rank(lane)).collect())
}

/// Of forty random systems with up to 24 rows the rank and the constrained accelerations, alone and in lanes.
#[test]
fn dependent_rows_leave_rank_and_forces_right() {
    let mut random = Random::new(11);
    for case in 0..40 {
        let n = 6 + case % 20;
        let rank = 2 + (case * 7) % (n - 4);
        let m = rank + case % 4;
        let problem = problem(&mut random, n, m, rank);
        let graph = Graph::new();
        let mut dynamics = dynamics(&graph, &problem);
        let mut uniform = || random.between(-1.0, 1.0);
        let y: Vec<f64> = (0..2 * n * 8).map(|i| if i < n * 8 { uniform() } else { 0.0 }).collect();
        let a: Vec<f64> = (0..n * 8).map(|_| uniform()).collect();
        let (left, ranks) = gripped(&mut dynamics, &y, &a, 8);
        for lane in 0..8 {
            let of_lane = |x: &[f64]| x.iter().skip(lane).step_by(8).copied().collect::<Vec<f64>>();
            let (y, a) = (of_lane(&y), of_lane(&a));
            let scaled = |row: &Vec<f64>| row.iter().zip(&y).map(|(r, q)| r * (1.0 + 0.2 * q)).collect();
            let rows: Vec<Vec<f64>> = problem.rows.iter().map(scaled).collect();
            let expected = allowed(&problem.mass, &rows, &a);
            let (alone, rank) = gripped(&mut dynamics, &y, &a, 1);
            assert_eq!((ranks[lane], rank[0]), (problem.rank, problem.rank), "case {case}: {n} {m}");
            assert_eq!(alone, of_lane(&left), "lanes have their own bits");
            for (found, expected) in alone.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-10, "case {case}: {found} {expected}");
            }
        }
    }
}

/// Two rows whose directions differ by δ, with a third that depends on both: accelerations are found to ε/δ, not to ε/δ². Beyond 1e−9 the
/// rows count as one.
#[test]
fn nearly_dependent_rows_cost_only_their_digits() {
    for power in 1..=12 {
        let delta = 0.1f64.powi(power);
        let rows = vec![vec![1.0, 1.0, 0.0], vec![1.0, 1.0 + delta, delta], vec![2.0, 2.0 + delta, delta]];
        let identity = (0..3).map(|i| (0..3).map(|j| f64::from(i == j)).collect()).collect();
        let problem = Problem { mass: identity, rows, rank: 2 };
        let graph = Graph::new();
        let mut dynamics = dynamics(&graph, &problem);
        // With v along the null space, (1, −1, 1), what is left of any a is its part along it.
        let a = [0.3, -0.7, 0.4];
        let (left, rank) = gripped(&mut dynamics, &[0.0; 6], &a, 1);
        let along = (a[0] - a[1] + a[2]) / 3.0;
        if power <= 7 {
            assert_eq!(rank[0], 2, "δ = {delta:e}");
            for (found, expected) in left.iter().zip([along, -along, along]) {
                assert!((found - expected).abs() < 2e-15 / delta, "δ = {delta:e}: {found} {expected}");
            }
        }
        if power >= 10 {
            assert_eq!(rank[0], 1, "δ = {delta:e}");
        }
    }
}

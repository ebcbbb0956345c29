//! Long chains against a second solution: the tensions of a chain of points in the plane follow from a tridiagonal system.

use leastaction_compile::LANES;
use leastaction_expr::Graph;
use leastaction_mechanics::{Dynamics, Model};

const GRAVITY: f64 = 9.81;

/// A chain of points of masses and lengths that differ, as parameters for every third and as numbers for the rest.
struct Chain {
    masses: Vec<f64>,
    lengths: Vec<f64>,
    dynamics: Dynamics,
}

fn chain(count: usize) -> Chain {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let masses: Vec<f64> = (0..count).map(|i| 1.0 + 0.5 * (i as f64).sin()).collect();
    let lengths: Vec<f64> = (0..count).map(|i| 1.0 + 0.3 * (i as f64).cos()).collect();
    let mut above = [graph.number(0.0); 2];
    let points = model.coordinate_block("point", count, &["x", "y"]).expect("the only block");
    for i in 0..count {
        let place = [points.symbol(i, 0), points.symbol(i, 1)];
        model.particle(&format!("mass {i}"), masses[i], place);
        let length = match i % 3 {
            0 => model.parameter(&format!("l{i}"), lengths[i]),
            _ => graph.number(lengths[i]),
        };
        let [dx, dy] = [place[0] - above[0], place[1] - above[1]];
        model.constraint(&format!("link {i}"), dx * dx + dy * dy, length * length);
        above = place;
    }
    model.gravity([0.0, -GRAVITY]);
    let dynamics = model.system().expect("a chain is a good model").dynamics().expect("masses are positive");
    Chain { masses, lengths, dynamics }
}

/// Positions and velocities of links at angles without pattern, turning at such rates.
fn state(lengths: &[f64], seed: f64) -> Vec<f64> {
    let (mut z, mut velocities) = (Vec::new(), Vec::new());
    let (mut place, mut speed) = ([0.0; 2], [0.0; 2]);
    for (i, length) in lengths.iter().enumerate() {
        let (angle, rate) = ((7.0 * i as f64 + seed).sin(), (11.0 * i as f64 + seed).cos());
        let (sin, cos) = angle.sin_cos();
        place = [place[0] + length * sin, place[1] - length * cos];
        speed = [speed[0] + length * cos * rate, speed[1] + length * sin * rate];
        z.extend(place);
        velocities.extend(speed);
    }
    z.extend(velocities);
    z
}

/// Accelerations of the points: a_i = g + (T_{i+1} u_{i+1} − T_i u_i)/m_i with unit vectors u along the links, whose lengths do not change if
/// u_i·(a_i − a_{i−1}) = −|v_i − v_{i−1}|²/l_i. Elimination of tensions from the free end (L. H. Thomas, 1949).
fn accelerations(masses: &[f64], z: &[f64]) -> Vec<f64> {
    let n = masses.len();
    let (q, v) = z.split_at(2 * n);
    let link = |x: &[f64], i: usize| {
        let above = if i == 0 { [0.0; 2] } else { [x[2 * i - 2], x[2 * i - 1]] };
        [x[2 * i] - above[0], x[2 * i + 1] - above[1]]
    };
    let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
    let lengths: Vec<f64> = (0..n).map(|i| dot(link(q, i), link(q, i)).sqrt()).collect();
    let unit: Vec<[f64; 2]> = (0..n).map(|i| link(q, i).map(|x| x / lengths[i])).collect();
    // −(1/m_i + 1/m_{i−1}) T_i + u_i·u_{i+1}/m_i T_{i+1} + u_i·u_{i−1}/m_{i−1} T_{i−1} = right
    let mut pivots: Vec<f64> =
        (0..n).map(|i| -1.0 / masses[i] - if i == 0 { 0.0 } else { 1.0 / masses[i - 1] }).collect();
    let off_diagonal: Vec<f64> = (1..n).map(|i| dot(unit[i], unit[i - 1]) / masses[i - 1]).collect();
    let mut tensions: Vec<f64> = (0..n)
        .map(|i| {
            let falling = if i == 0 { -GRAVITY * unit[i][1] } else { 0.0 };
            -dot(link(v, i), link(v, i)) / lengths[i] - falling
        })
        .collect();
    for i in (1..n).rev() {
        let factor = off_diagonal[i - 1] / pivots[i];
        pivots[i - 1] -= factor * off_diagonal[i - 1];
        tensions[i - 1] -= factor * tensions[i];
    }
    for i in 0..n {
        let above = if i == 0 { 0.0 } else { off_diagonal[i - 1] * tensions[i - 1] };
        tensions[i] = (tensions[i] - above) / pivots[i];
    }
    let pull = |i: usize, d: usize| {
        let below = if i + 1 < n { tensions[i + 1] * unit[i + 1][d] } else { 0.0 };
        (below - tensions[i] * unit[i][d]) / masses[i]
    };
    (0..n).flat_map(|i| [pull(i, 0), pull(i, 1) - GRAVITY]).collect()
}

fn agrees(count: usize, slack: f64) {
    let Chain { masses, lengths, mut dynamics } = chain(count);
    let states: Vec<Vec<f64>> = (0..LANES).map(|lane| state(&lengths, lane as f64)).collect();
    let block: Vec<f64> = (0..4 * count * LANES).map(|k| states[k % LANES][k / LANES]).collect();
    let mut lanes = vec![0.0; 2 * count * LANES];
    dynamics.accelerations(&[0.0; LANES], &block, &mut lanes).expect("accelerations");
    for lane in [0, 5] {
        let z = &states[lane];
        let mut found = vec![0.0; 2 * count];
        dynamics.accelerations(&[0.0], z, &mut found).expect("accelerations");
        let expected = accelerations(&masses, z);
        let size = expected.iter().fold(0.0f64, |m, a| m.max(a.abs()));
        for i in 0..2 * count {
            assert!((found[i] - expected[i]).abs() <= slack * size, "{i}: {} {}", found[i], expected[i]);
            assert_eq!(found[i].to_bits(), lanes[i * LANES + lane].to_bits(), "bit for bit");
        }
        let mut p = vec![0.0; 2 * count];
        dynamics.momenta(&[0.0], z, &mut p).expect("momenta");
        let y = [&z[..2 * count], &p].concat();
        let (mut positions, mut velocities) = (vec![1.0; count], vec![1.0; count]);
        dynamics.violations(&[0.0], &y, &mut positions, &mut velocities).expect("violations");
        let worst = positions.iter().chain(&velocities).fold(0.0f64, |m, x| m.max(x.abs()));
        assert!(worst <= slack * count as f64, "{worst:e}");
    }
    // Parameters reach every link.
    let name = dynamics.system().parameters()[1].0.clone();
    let k = 3;
    assert_eq!(name, format!("l{k}"));
    dynamics.set_parameter(&name, 2.0).expect("a parameter");
    let mut positions = vec![0.0; count];
    dynamics.constraint_values(&[0.0], &states[0], &mut positions).expect("values");
    assert!((positions[k] - (lengths[k] * lengths[k] - 4.0)).abs() < 1e-12, "{}", positions[k]);
    let others = positions.iter().enumerate().filter(|(i, _)| *i != k);
    assert!(others.into_iter().all(|(_, x)| x.abs() <= slack * count as f64));
}

/// The same chain in angles to the vertical, with all masses and lengths as parameters or all as numbers.
fn in_angles(masses: &[f64], lengths: &[f64], parameters: bool) -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let mut place = [graph.number(0.0); 2];
    for (i, (&mass, &length)) in masses.iter().zip(lengths).enumerate() {
        let mut value = |name: String, value: f64| match parameters {
            true => model.parameter(&name, value),
            false => graph.number(value),
        };
        let [m, l] = [value(format!("m{i}"), mass), value(format!("l{i}"), length)];
        let angle = model.coordinate(&format!("a{i}"));
        place = [place[0] + l * angle.sin(), place[1] - l * angle.cos()];
        model.particle(&format!("mass {i}"), m, place);
    }
    model.gravity([0.0, -GRAVITY]);
    model.system().expect("a chain is a good model").dynamics().expect("masses are positive")
}

/// Accelerations of angles by the full mass matrix: with μ_ij the mass that hangs on both links,
///
/// Σ_j μ_ij l_i l_j (cos(θ_i − θ_j) θ̈_j + sin(θ_i − θ_j) θ̇_j²) = −μ_ii g l_i sin θ_i,
///
/// by Gaussian elimination with pivots.
fn by_full_matrix(masses: &[f64], lengths: &[f64], angles: &[f64], rates: &[f64]) -> Vec<f64> {
    let n = masses.len();
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let hanging = |j: usize| masses[i.max(j)..].iter().sum::<f64>() * lengths[i] * lengths[j];
            let turn = |j: usize| angles[i] - angles[j];
            let pull: f64 = (0..n).map(|j| hanging(j) * turn(j).sin() * rates[j] * rates[j]).sum();
            let weight = hanging(i) / lengths[i] * GRAVITY * angles[i].sin();
            (0..n).map(|j| hanging(j) * turn(j).cos()).chain([-pull - weight]).collect()
        })
        .collect();
    for k in 0..n {
        let largest = (k..n).max_by(|&i, &j| rows[i][k].abs().total_cmp(&rows[j][k].abs())).expect("a row");
        rows.swap(k, largest);
        let pivot = rows[k].clone();
        for row in rows.iter_mut().enumerate().filter(|(i, _)| *i != k).map(|(_, row)| row) {
            let factor = row[k] / pivot[k];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
    (0..n).map(|i| rows[i][n] / rows[i][i]).collect()
}

#[test]
fn chains_in_angles_have_the_accelerations_of_their_full_mass_matrix_and_of_points() {
    for (count, slack) in [(1, 1e-15), (2, 4e-15), (5, 2e-14), (10, 1e-13), (50, 1e-11)] {
        let Chain { masses, lengths, dynamics: mut points } = chain(count);
        let angles: Vec<f64> = (0..count).map(|i| (7.0 * i as f64 + 2.0).sin()).collect();
        let rates: Vec<f64> = (0..count).map(|i| (11.0 * i as f64 + 2.0).cos()).collect();
        let expected = by_full_matrix(&masses, &lengths, &angles, &rates);
        let size = expected.iter().fold(0.0f64, |m, a| m.max(a.abs()));
        let mut at_points = vec![0.0; 2 * count];
        points.accelerations(&[0.0], &state(&lengths, 2.0), &mut at_points).expect("accelerations");
        for parameters in [false, true] {
            let mut dynamics = in_angles(&masses, &lengths, parameters);
            let mut found = vec![0.0; count];
            let z = [angles.clone(), rates.clone()].concat();
            dynamics.accelerations(&[0.0], &z, &mut found).expect("accelerations");
            for (i, (a, b)) in found.iter().zip(&expected).enumerate() {
                assert!((a - b).abs() <= slack * size, "{count}, {i}: {a} {b}");
            }
            // ẍ of each point is a sum over the links above it.
            let mut place = [0.0; 2];
            let largest = at_points.iter().fold(0.0f64, |m, a| m.max(a.abs()));
            for i in 0..count {
                let (sin, cos) = angles[i].sin_cos();
                let (bend, turn) = (lengths[i] * found[i], lengths[i] * rates[i] * rates[i]);
                place = [place[0] + bend * cos - turn * sin, place[1] + bend * sin + turn * cos];
                for d in 0..2 {
                    let difference = (place[d] - at_points[2 * i + d]).abs();
                    assert!(difference <= 1e-14 * count as f64 * largest, "{count}, {i}: {difference:e}");
                }
            }
        }
    }
}

#[test]
fn a_chain_of_three_hundred_has_the_tensions_of_a_tridiagonal_system() {
    agrees(300, 1e-12);
}

/// Enough links for families of one form each.
#[test]
#[ignore = "long"]
fn a_chain_of_many_thousands_does_too() {
    agrees(60_000, 1e-10);
}

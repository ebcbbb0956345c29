//! SOAP (N. Vyas and others, *SOAP: Improving and Stabilizing Shampoo using Adam*, ICLR 2025, arXiv:2409.11321): AdamW in axes that change slowly. Of the gradients G of a matrix of weights, the means of
//! G Gᵀ and Gᵀ G are kept, as Shampoo does (V. Gupta, T. Koren and Y. Singer, arXiv:1802.09568); their eigenvectors U and V turn G to Uᵀ G V, whose entries depend on each other less, and what AdamW makes of
//! them is turned back.

use super::Matrix;
use super::adamw::AdamW;
use leastaction_linear::{Onto, Rows, multiply};

/// How much of the means is kept from step to step.
const KEPT: f64 = 0.95;

/// Axes are brought up to date every so many steps.
const EVERY: u64 = 10;

/// They begin by so many iterations.
const BEGINNING: usize = 5;

/// Directions that gradients do not have count as much as this part of the mean over all.
const LEAST: f64 = 1e-6;

/// The axes of a matrix of weights: of its rows, and of its columns.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::train) struct Basis {
    sides: [Side; 2],
}

/// One side of a matrix.
#[derive(Clone, Debug, PartialEq)]
struct Side {
    n: usize,
    /// The mean of products of gradients.
    mean: Vec<f64>,
    /// Axes, row by row.
    axes: Vec<f64>,
}

impl Basis {
    pub(super) fn new(matrix: &Matrix) -> Basis {
        Basis { sides: [matrix.rows, matrix.columns].map(Side::new) }
    }

    /// All that it remembers.
    pub(in crate::train) fn numbers(&self) -> impl Iterator<Item = &f64> {
        self.sides.iter().flat_map(|side| side.mean.iter().chain(&side.axes))
    }

    /// The same, to be set.
    pub(in crate::train) fn numbers_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        self.sides.iter_mut().flat_map(|side| side.mean.iter_mut().chain(&mut side.axes))
    }
}

pub(super) fn change(
    adamw: &mut AdamW,
    matrix: &Matrix,
    basis: &mut Basis,
    rate: f64,
    gradient: &[f64],
    parameters: &mut [f64],
) {
    let own = Rows::new(gradient, matrix.rows, matrix.columns);
    let [rows, columns] = &mut basis.sides;
    rows.add(own, own.transposed());
    columns.add(own.transposed(), own);
    if adamw.steps == 1 {
        for _ in 0..BEGINNING {
            rows.renew();
            columns.renew();
        }
    } else if adamw.steps.is_multiple_of(EVERY) {
        let means = &mut adamw.means[matrix.range.clone()];
        let back = turn(means, matrix, [&rows.axes, &columns.axes], true);
        rows.renew();
        columns.renew();
        means.copy_from_slice(&turn(&back, matrix, [&rows.axes, &columns.axes], false));
    }
    let axes = [&rows.axes[..], &columns.axes];
    let turned = turn(gradient, matrix, axes, false);
    // Where it stands in these axes does not matter: it is only told by how much to change.
    let mut change = vec![0.0; adamw.means.len()];
    adamw.change(matrix.range.clone(), (rate, 0.0), &turned, &mut change);
    let change = turn(&change[matrix.range.clone()], matrix, axes, true);
    let kept = 1.0 - rate * adamw.options.decay;
    for (weight, change) in parameters[matrix.range.clone()].iter_mut().zip(change) {
        *weight = *weight * kept + change;
    }
}

/// Uᵀ X V, with axes U and V in rows; or back.
fn turn(x: &[f64], matrix: &Matrix, [rows, columns]: [&[f64]; 2], back: bool) -> Vec<f64> {
    let (m, n) = (matrix.rows, matrix.columns);
    let [rows, columns] = [Rows::new(rows, m, m), Rows::new(columns, n, n)];
    let [left, right] = if back { [rows.transposed(), columns] } else { [rows, columns.transposed()] };
    let (mut half, mut whole) = (vec![0.0; m * n], vec![0.0; m * n]);
    multiply(&mut half, Onto::Replaced, left, Rows::new(x, m, n));
    multiply(&mut whole, Onto::Replaced, Rows::new(&half, m, n), right);
    whole
}

impl Side {
    fn new(n: usize) -> Side {
        let one = |place: usize| f64::from(u8::from(place / n == place % n));
        Side { n, mean: vec![0.0; n * n], axes: (0..n * n).map(one).collect() }
    }

    fn add(&mut self, left: Rows<'_, f64>, right: Rows<'_, f64>) {
        let mut product = vec![0.0; self.mean.len()];
        multiply(&mut product, Onto::Replaced, left, right);
        self.mean.iter_mut().zip(product).for_each(|(mean, x)| *mean = KEPT * *mean + (1.0 - KEPT) * x);
    }

    /// Brings axes nearer to eigenvectors of the mean, by an iteration from what they were: they change slowly.
    fn renew(&mut self) {
        let n = self.n;
        // Where no gradient was seen, axes stay: rounding would choose others on another machine.
        let least = LEAST * (0..n).map(|i| self.mean[i * n + i]).sum::<f64>() / n as f64;
        let mut moved: Vec<f64> = self.axes.iter().map(|x| least * x).collect();
        let axes = Rows::new(&self.axes, n, n);
        multiply(&mut moved, Onto::Added, axes, Rows::new(&self.mean, n, n));
        for k in 0..n {
            let (done, rest) = moved.split_at_mut(k * n);
            let axis = &mut rest[..n];
            for _ in 0..2 {
                for other in done.chunks_exact(n) {
                    let along = dot(axis, other);
                    axis.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
                }
                // Nothing was seen at all.
                if !normalize(axis) {
                    return;
                }
            }
        }
        self.axes = moved;
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    for (a, b) in a.chunks(8).zip(b.chunks(8)) {
        sums.iter_mut().zip(a.iter().zip(b)).for_each(|(sum, (a, b))| *sum += a * b);
    }
    sums.iter().sum()
}

/// Gives a vector the length 1, if it is not nearly 0.
fn normalize(vector: &mut [f64]) -> bool {
    let length = dot(vector, vector).sqrt();
    let sound = length.is_finite() && length > 1e-150;
    if sound {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    sound
}

#[cfg(test)]
mod tests {
    use super::Side;
    use leastaction_expr::Random;

    #[test]
    fn axes_stay_orthogonal_and_come_near_eigenvectors() {
        let (n, mut random) = (5, Random::new(9));
        let mut side = Side::new(n);
        // A mean of rank 3 with eigenvalues far apart.
        let vectors: Vec<Vec<f64>> = (0..3).map(|_| (0..n).map(|_| random.normal()).collect()).collect();
        let weights = [1.0, 1e-2, 1e-4];
        let entry = |i: usize, j: usize| vectors.iter().zip(weights).map(|(v, w)| w * v[i] * v[j]).sum();
        let first = side.axes.clone();
        side.mean.fill(0.0);
        side.renew();
        assert_eq!(side.axes, first, "where nothing was seen, axes stay");
        side.mean = (0..n * n).map(|place| entry(place / n, place % n)).collect();
        (0..30).for_each(|_| side.renew());
        let axis = |k: usize| &side.axes[k * n..(k + 1) * n];
        for i in 0..n {
            for j in 0..n {
                let product: f64 = axis(i).iter().zip(axis(j)).map(|(a, b)| a * b).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12, "{i} {j} {product}");
                let between: f64 = (0..n * n).map(|p| axis(i)[p / n] * side.mean[p] * axis(j)[p % n]).sum();
                assert!(i == j || between.abs() < 1e-12, "{i} {j} {between}");
            }
        }
    }
}

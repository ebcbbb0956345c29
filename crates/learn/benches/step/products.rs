//! The products of matrices that an optimizer step of a constrained Hamiltonian network cannot do without: the 3-pendulum, 200 chunks of four steps by the 3/8 rule, three
//! layers of 256 units, single precision.

use leastaction_linear::{Onto, Rows, multiply};

/// The units of a layer.
pub(crate) const HIDDEN: usize = 256;
/// The rates of a state, in four steps of the 3/8 rule.
pub(crate) const EVALUATIONS: usize = 16;

/// The products of a step with 200 chunks, in shares that go through it as they do there.
pub(crate) fn of_a_step(threads: usize) {
    let shares = [56, 48, 48, 48];
    std::thread::scope(|scope| {
        for own in (0..threads).map(|thread| shares.iter().skip(thread).step_by(threads)) {
            scope.spawn(move || own.for_each(|&lanes| share_of_products(lanes)));
        }
    });
}

fn share_of_products(lanes: usize) {
    let layers = [(HIDDEN, 6), (HIDDEN, HIDDEN), (HIDDEN, HIDDEN), (1, HIDDEN)];
    let weights: Vec<Vec<f32>> = layers.iter().map(|(rows, columns)| vec![1e-3; rows * columns]).collect();
    let mut sums = weights.clone();
    let mut units = [vec![1e-3; HIDDEN * lanes], vec![1e-3; HIDDEN * lanes]];
    for _ in 0..EVALUATIONS {
        for ((rows, columns), (weights, sums)) in layers.into_iter().zip(weights.iter().zip(&mut sums)) {
            let weights = Rows::new(weights, rows, columns);
            let [one, other] = &mut units;
            // Values and a push; two ways back; weights twice.
            for _ in 0..2 {
                let from = Rows::new(&one[..columns * lanes], columns, lanes);
                multiply(&mut other[..rows * lanes], Onto::Replaced, weights, from);
                let from = Rows::new(&other[..rows * lanes], rows, lanes);
                multiply(&mut one[..columns * lanes], Onto::Replaced, weights.transposed(), from);
                let right = Rows::new(&one[..columns * lanes], columns, lanes).transposed();
                multiply(sums, Onto::Added, Rows::new(&other[..rows * lanes], rows, lanes), right);
            }
        }
    }
    std::hint::black_box((sums, units));
}

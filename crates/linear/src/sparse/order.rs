//! In which order to eliminate, and how much that fills in.

use crate::Pattern;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMat;
use faer::sparse::linalg::amd;

/// An order of columns that fills in little for the symmetric pattern A + Aᵀ.
pub(super) struct Order {
    /// The column that is eliminated at each place.
    pub(super) order: Vec<u32>,
    /// How many entries the factor has below the diagonal, if all pivots are on it.
    pub(super) below: usize,
    /// How many multiplications elimination takes for each of them.
    pub(super) work: f64,
}

impl Order {
    /// By approximate minimum degree (P. R. Amestoy, T. A. Davis and I. S. Duff, SIAM J. Matrix Anal. Appl. 17 (1996) 886,
    /// doi:10.1137/S0895479894278952). It depends on the pattern alone, not on the machine.
    pub(super) fn new(pattern: &Pattern) -> Order {
        let columns = by_columns(pattern);
        let n = columns.ncols();
        let (mut order, mut place) = (vec![0; n], vec![0; n]);
        let room = amd::order_scratch::<usize>(n, pattern.len());
        let count = amd::order(
            &mut order,
            &mut place,
            columns.as_ref(),
            amd::Control::default(),
            MemStack::new(&mut MemBuffer::new(room)),
        );
        let count = count.expect("indices of memory are large enough for a pattern that is in memory");
        Order {
            order: order.into_iter().map(|column| column as u32).collect(),
            below: count.n_div as usize,
            work: count.n_mult_subs_lu / count.n_div.max(1.0),
        }
    }
}

/// The pattern by columns.
pub(super) fn by_columns(pattern: &Pattern) -> SymbolicSparseColMat<usize> {
    let start = starts(pattern);
    let mut rows = vec![0; pattern.len()];
    for ((row, _), place) in pattern.entries().zip(places(pattern)) {
        rows[place as usize] = row;
    }
    SymbolicSparseColMat::new_checked(pattern.rows(), pattern.width(), start, None, rows)
}

/// Where each entry of a pattern stands by columns.
pub(super) fn places(pattern: &Pattern) -> Vec<u32> {
    let mut next = starts(pattern);
    let place = |(_, column): (usize, usize)| {
        next[column] += 1;
        (next[column] - 1) as u32
    };
    pattern.entries().map(place).collect()
}

/// Where each column begins.
fn starts(pattern: &Pattern) -> Vec<usize> {
    let mut start = vec![0; pattern.width() + 1];
    pattern.entries().for_each(|(_, column)| start[column + 1] += 1);
    (0..pattern.width()).for_each(|column| start[column + 1] += start[column]);
    start
}

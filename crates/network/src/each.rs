//! Loops over numbers side by side, built for the vectors of the processor.

use leastaction_compile::{Loops, vectorized};

struct Each<'a, T, const N: usize, F> {
    to: &'a mut [T],
    from: [&'a [T]; N],
    function: F,
}

impl<T: Copy, const N: usize, F: Fn(T, [T; N]) -> T> Loops for Each<'_, T, N, F> {
    type Result = ();

    #[inline(always)]
    fn run(self) {
        let Each { to, from, function } = self;
        let count = to.len();
        let from = from.map(|row| &row[..count]);
        for i in 0..count {
            to[i] = function(to[i], from.map(|row| row[i]));
        }
    }
}

/// Puts the function of what is there, and of the numbers in the same place of other rows, in its place.
///
/// # Panics
/// If a row is shorter.
#[inline(always)]
pub(crate) fn each<T: Copy, const N: usize>(
    to: &mut [T],
    from: [&[T]; N],
    function: impl Fn(T, [T; N]) -> T,
) {
    vectorized(Each { to, from, function });
}

//! Polynomials, evaluated with short chains of dependent instructions.

use crate::arithmetic::Arithmetic;

/// The polynomial `c[0] + c[1] x + c[2] x² + …`.
///
/// Neighbours are joined, then neighbouring pairs, and so on (Estrin's scheme), until at most three terms are left for
/// Horner's rule: as short a chain as Estrin's, with one squaring less.
#[inline(always)]
pub(super) fn polynomial<A: Arithmetic, const N: usize>(
    a: &mut A,
    x: A::Value,
    coefficients: &[f64; N],
) -> A::Value {
    let mut terms = coefficients.map(|c| a.constant(c));
    let (mut count, mut power) = (N, x);
    while count > 3 {
        for i in 0..count / 2 {
            terms[i] = a.mul_add(terms[2 * i + 1], power, terms[2 * i]);
        }
        if count % 2 == 1 {
            terms[count / 2] = terms[count - 1];
        }
        count = count.div_ceil(2);
        power = a.mul(power, power);
    }
    let mut sum = terms[count - 1];
    for i in (0..count - 1).rev() {
        sum = a.mul_add(sum, power, terms[i]);
    }
    sum
}

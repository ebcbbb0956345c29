//! The polynomial of an expansion: its sum, and its slope, at the end of a step.

use crate::arithmetic::Arithmetic;

/// The orders whose sum is compensated. Beyond, terms are too small for their rounding to matter: each is about a tenth of the one before.
const COMPENSATED: usize = 4;

/// Σ cₖ hᵏ from order 1 on, what its last bit lacks, and its slope Σ k cₖ hᵏ⁻¹.
///
/// The sum is by Horner's rule. The rounding of each product and sum of low order is computed too and carried along (Graillat, Langlois
/// and Louvet, doi:10.1007/BF03186531), so that the result is as good as its last bit. High orders are two polynomials of h², even and
/// odd, so that the one need not wait for the other. Slopes follow by the same rule: with bₖ = cₖ + h bₖ₊₁, b′ₖ = bₖ₊₁ + h b′ₖ₊₁.
#[inline(always)]
pub(super) fn sum<A: Arithmetic>(
    a: &mut A,
    order: usize,
    h: A::Value,
    coefficient: impl Fn(usize) -> A::Value,
) -> [A::Value; 3] {
    let last = order.min(COMPENSATED + 1);
    let (mut sum, mut slope) = tail(a, order, last, h, &coefficient);
    let mut low: Option<A::Value> = None;
    for k in (1..last).rev() {
        slope = Some(follow(a, slope, h, sum));
        let term = coefficient(k);
        let product = a.mul(sum, h);
        let lost = a.mul_sub(sum, h, product);
        sum = a.add(product, term);
        let moved = a.sub(sum, product);
        let kept = a.sub(sum, moved);
        let (first, second) = (a.sub(product, kept), a.sub(term, moved));
        let rest = a.add(first, second);
        let rest = a.add(rest, lost);
        low = Some(match low {
            Some(low) => a.mul_add(low, h, rest),
            None => rest,
        });
    }
    let slope = follow(a, slope, h, sum);
    let product = a.mul(sum, h);
    let lost = a.mul_sub(sum, h, product);
    let lost = match low {
        Some(low) => a.mul_add(low, h, lost),
        None => lost,
    };
    let high = a.add(product, lost);
    let kept = a.sub(high, product);
    [high, a.sub(lost, kept), slope]
}

/// b + h b′, for a slope that may be zero.
#[inline(always)]
fn follow<A: Arithmetic>(a: &mut A, slope: Option<A::Value>, h: A::Value, b: A::Value) -> A::Value {
    match slope {
        Some(slope) => a.mul_add(slope, h, b),
        None => b,
    }
}

/// Σ cₖ hᵏ⁻ᵐ from order m on, and its derivative by h unless that is zero.
#[inline(always)]
fn tail<A: Arithmetic>(
    a: &mut A,
    order: usize,
    m: usize,
    h: A::Value,
    coefficient: &impl Fn(usize) -> A::Value,
) -> (A::Value, Option<A::Value>) {
    if order == m {
        return (coefficient(m), None);
    }
    // E(h²) + h O(h²), whose derivative is O + 2h (E′ + h O′).
    let square = a.mul(h, h);
    let mut half = |from: usize| {
        let top = from + (order - from) / 2 * 2;
        let (mut sum, mut slope) = (coefficient(top), None);
        for k in (from..top).step_by(2).rev() {
            slope = Some(follow(a, slope, square, sum));
            sum = a.mul_add(sum, square, coefficient(k));
        }
        (sum, slope)
    };
    let ((even, even_slope), (odd, odd_slope)) = (half(m), half(m + 1));
    let inner = match (even_slope, odd_slope) {
        (Some(even), Some(odd)) => Some(a.mul_add(odd, h, even)),
        (Some(even), None) => Some(even),
        (None, _) => None, // then odd has none: it is not longer
    };
    let slope = match inner {
        Some(inner) => {
            let twice = a.add(h, h);
            a.mul_add(inner, twice, odd)
        }
        None => odd,
    };
    (a.mul_add(odd, h, even), Some(slope))
}

//! Polynomials, evaluated with short chains of dependent instructions.

use crate::builder::Builder;
use crate::instruction::Operand;

/// The polynomial `c[0] + c[1] x + c[2] x² + …`.
///
/// At most three blocks of 2ᵐ terms are joined by Horner's rule in the power x^(2ᵐ), and each block is halved until
/// single terms are left (Estrin's scheme): as short a chain as Estrin's, with one squaring less.
pub(super) fn polynomial(b: &mut Builder, x: Operand, coefficients: &[f64]) -> Operand {
    let mut powers = vec![x];
    while coefficients.len() > 3 << (powers.len() - 1) {
        let last = powers[powers.len() - 1];
        powers.push(b.mul(last, last));
    }
    let size = 1 << (powers.len() - 1);
    let mut blocks = coefficients.chunks(size).rev();
    let last = blocks.next().unwrap_or(&[]);
    let mut sum = block(b, &powers, last);
    for terms in blocks {
        let terms = block(b, &powers, terms);
        sum = b.mul_add(sum, powers[powers.len() - 1], terms);
    }
    sum
}

/// A polynomial of fewer than twice as many terms as the largest of the powers x, x², x⁴, … that are given.
fn block(b: &mut Builder, powers: &[Operand], terms: &[f64]) -> Operand {
    match terms {
        [] => b.constant(0.0),
        [term] => b.constant(*term),
        _ => {
            let half = terms.len().next_power_of_two() / 2;
            let low = block(b, powers, &terms[..half]);
            let high = block(b, powers, &terms[half..]);
            b.mul_add(high, powers[half.ilog2() as usize], low)
        }
    }
}

//! Powers with a constant exponent: products and roots instead of logarithms.
//!
//! With about twice the working precision inside, they are within 0.51 ulp, and 1.5 ulp where the result is
//! subnormal. Where plain arithmetic stays within 2 ulp it is taken: x^−2 (1.92 ulp at most), x^−1/2 and x^3/2 (1.5
//! ulp).

use super::double::Double;
use crate::arithmetic::Arithmetic;
use crate::builder::Builder;
use crate::instruction::Operand;
use leastaction_expr::Op;

/// Exponents up to this size are multiplied out.
const LARGEST: f64 = 64.0;

/// xʸ for a constant y, with the meaning of the table's `value`; `None` where the general power is best.
pub(crate) fn constant_power(b: &mut Builder, x: Operand, y: Operand) -> Option<Operand> {
    let Operand::Constant(place) = y else { return None };
    let exponent = b.constants[place as usize];
    if exponent.abs() > LARGEST || exponent == 0.0 || (2.0 * exponent).fract() != 0.0 {
        None
    } else if exponent.fract() == 0.0 {
        Some(integer(b, x, exponent))
    } else {
        Some(half_integer(b, x, y, exponent))
    }
}

/// xⁿ, as a product with about twice the working precision, but for the shortest, where plain products stay below 2
/// ulp. The inverse comes first for negative n, so that the powers overflow and underflow where they should.
fn integer(b: &mut Builder, x: Operand, n: f64) -> Operand {
    let count = n.abs() as u32;
    if n == -2.0 {
        let inverse = b.div(1.0, x);
        return b.mul(inverse, inverse);
    }
    let base = if n < 0.0 { Double::inverse(b, x) } else { Double::exact(x) };
    base.power(b, count).rounded(b)
}

/// xⁿ⁺¹ᐟ² for integer n, from x^(3/2) = x·√x with about twice the working precision: for s = √x rounded and d = x −
/// s², which is exact, x·√x = x·s + d·s/2.
fn half_integer(b: &mut Builder, x: Operand, y: Operand, exponent: f64) -> Operand {
    let root = b.sqrt(x);
    if exponent == 0.5 {
        return b.abs(root); // √−0 is −0
    }
    if exponent == -0.5 {
        let root = b.abs(root);
        return b.div(1.0, root);
    }
    if exponent == 1.5 {
        return b.mul(x, root);
    }
    let rest = b.neg_mul_add(root, root, x);
    let half = b.mul(root, 0.5);
    let high = b.mul(x, root);
    let low = b.mul_sub(x, root, high);
    let low = b.mul_add(half, rest, low);
    let mut result = Double { high, low: Some(low) };
    let whole = (exponent.abs() - 1.5) as u32;
    if whole > 0 {
        let size = b.abs(x); // −0 counts as 0
        result = Double::exact(size).power(b, whole).times(b, result);
    }
    if exponent > 0.0 {
        return result.rounded(b);
    }
    // 1/(h + l) = v + v (1 − v h − v l) for v = 1/h. Beyond these sizes x^−y is out of range, or its low part.
    let Double { high, low } = result;
    let inverse = b.div(1.0, high);
    let rest = b.neg_mul_add(inverse, high, 1.0);
    let rest = low.map_or(rest, |low| b.neg_mul_add(inverse, low, rest));
    let value = b.mul_add(inverse, rest, inverse);
    let size = b.add(high, inverse);
    b.repair(value, size, 2f64.powi(900), Op::Pow, &[x, y])
}

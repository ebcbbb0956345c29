//! Numbers as unevaluated sums of two doubles, with about twice the precision.
//!
//! Products are exact with fused multiply-add (Dekker, doi:10.1007/BF01397083; Muller et al., *Handbook of
//! Floating-Point Arithmetic*, 2018, chapters 4 and 14). The low part may grow to a few ulp of the high one:
//! nothing is renormalised before the end.

use crate::arithmetic::Arithmetic;
use crate::builder::Builder;
use crate::instruction::{Operand, Test};

/// high + low.
#[derive(Clone, Copy)]
pub(super) struct Double {
    pub(super) high: Operand,
    /// `None` for zero.
    pub(super) low: Option<Operand>,
}

impl Double {
    pub(super) fn exact(high: Operand) -> Double {
        Double { high, low: None }
    }

    pub(super) fn times(self, b: &mut Builder, other: Double) -> Double {
        let high = b.mul(self.high, other.high);
        let mut low = b.mul_sub(self.high, other.high, high);
        if let Some(tail) = other.low {
            low = b.mul_add(self.high, tail, low);
        }
        if let Some(tail) = self.low {
            low = b.mul_add(tail, other.high, low);
        }
        Double { high, low: Some(low) }
    }

    /// 1/x, for a double x.
    pub(super) fn inverse(b: &mut Builder, x: Operand) -> Double {
        let high = b.div(1.0, x);
        let rest = b.neg_mul_add(high, x, 1.0);
        Double { high, low: Some(b.mul(rest, high)) }
    }

    /// By repeated squaring, for n > 0.
    pub(super) fn power(self, b: &mut Builder, n: u32) -> Double {
        let mut result = self;
        for bit in (0..n.ilog2()).rev() {
            result = result.times(b, result);
            if n >> bit & 1 == 1 {
                result = result.times(b, self);
            }
        }
        result
    }

    /// The nearest double. Where the high part is infinite or zero, it alone counts: the low part makes no sense
    /// then, and a zero keeps its sign.
    pub(super) fn rounded(self, b: &mut Builder) -> Operand {
        let Some(low) = self.low else { return self.high };
        let sum = b.add(self.high, low);
        let size = b.abs(sum);
        b.select(Test::Less, 0.0, size, sum, self.high)
    }
}

//! Loops over lanes, built for the vectors of the processor that runs them.

/// Loops over lanes. Its `run` is to be inlined always, as only then it is built for the processor's vectors.
pub trait Loops {
    /// What comes of them.
    type Result;

    /// Runs them.
    fn run(self) -> Self::Result;
}

/// Runs loops with the widest vectors of the processor. They have the same bits with any.
#[inline]
pub fn vectorized<L: Loops>(code: L) -> L::Result {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
        {
            // SAFETY: the processor has these instructions.
            return unsafe { x86::avx512(code) };
        }
        if has_fused_products() {
            // SAFETY: the processor has these instructions.
            return unsafe { x86::avx2(code) };
        }
    }
    code.run()
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn has_fused_products() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

/// The same loops, built for processors that round a product and its sum once.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Loops;

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
    pub(super) fn avx512<L: Loops>(code: L) -> L::Result {
        code.run()
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn avx2<L: Loops>(code: L) -> L::Result {
        code.run()
    }
}

//! Weighted sums of slopes, each product rounded once with its sum: what kernels of whole steps do, for steps that are not compiled.
//!
//! Rows are as long as a block. Places go in chunks of eight: the lanes of a component, or components of one lane.

use crate::LANES;

/// out = y + h·Σ wⱼ kⱼ for pairs (j, wⱼ), or h·Σ wⱼ kⱼ without y.
#[inline]
pub fn gather(out: &mut [f64], y: Option<&[f64]>, h: &[f64; LANES], row: &[(usize, f64)], slopes: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    if has_fused_products() {
        // SAFETY: the processor has these instructions.
        return unsafe { x86::gather(out, y, h, row, slopes) };
    }
    gather_in(out, y, h, row, slopes);
}

/// change = h·(k₀ + Σ bⱼ (kⱼ − k₀)), which is h·Σ bⱼ kⱼ: but rounding of the weights, which is the same in every step and would
/// add up, meets only differences.
#[inline]
pub fn advance(change: &mut [f64], h: &[f64; LANES], weights: &[(usize, f64)], slopes: &[f64]) {
    #[cfg(target_arch = "x86_64")]
    if has_fused_products() {
        // SAFETY: the processor has these instructions.
        return unsafe { x86::advance(change, h, weights, slopes) };
    }
    advance_in(change, h, weights, slopes);
}

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
    use super::{LANES, Loops};

    #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
    pub(super) fn avx512<L: Loops>(code: L) -> L::Result {
        code.run()
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn avx2<L: Loops>(code: L) -> L::Result {
        code.run()
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn gather(
        out: &mut [f64],
        y: Option<&[f64]>,
        h: &[f64; LANES],
        row: &[(usize, f64)],
        slopes: &[f64],
    ) {
        super::gather_in(out, y, h, row, slopes);
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) fn advance(change: &mut [f64], h: &[f64; LANES], weights: &[(usize, f64)], slopes: &[f64]) {
        super::advance_in(change, h, weights, slopes);
    }
}

#[inline(always)]
fn gather_in(out: &mut [f64], y: Option<&[f64]>, h: &[f64; LANES], row: &[(usize, f64)], slopes: &[f64]) {
    let len = out.len();
    let Some((&(first, weight), others)) = row.split_first() else {
        match y {
            Some(y) => out.copy_from_slice(y),
            None => out.fill(0.0),
        }
        return;
    };
    let (chunks, rest) = out.as_chunks_mut::<LANES>();
    let whole = LANES * chunks.len();
    for (place, out) in (0..).step_by(LANES).zip(chunks) {
        *out = chunk(slopes, first * len + place).map(|slope| weight * slope);
        for &(j, weight) in others {
            let slope = chunk(slopes, j * len + place);
            (0..LANES).for_each(|l| out[l] = weight.mul_add(slope[l], out[l]));
        }
        match y {
            Some(y) => {
                let y = chunk(y, place);
                (0..LANES).for_each(|l| out[l] = h[l].mul_add(out[l], y[l]));
            }
            None => (0..LANES).for_each(|l| out[l] *= h[l]),
        }
    }
    for (place, out) in (whole..).zip(rest) {
        let sum = |sum: f64, &(j, weight): &(usize, f64)| weight.mul_add(slopes[j * len + place], sum);
        let sum = others.iter().fold(weight * slopes[first * len + place], sum);
        *out = y.map_or(h[0] * sum, |y| h[0].mul_add(sum, y[place]));
    }
}

#[inline(always)]
fn advance_in(change: &mut [f64], h: &[f64; LANES], weights: &[(usize, f64)], slopes: &[f64]) {
    let len = change.len();
    // The first slope differs by nothing from itself.
    let weights = if let [(0, _), others @ ..] = weights { others } else { weights };
    let (chunks, rest) = change.as_chunks_mut::<LANES>();
    let whole = LANES * chunks.len();
    for (place, change) in (0..).step_by(LANES).zip(chunks) {
        let first = chunk(slopes, place);
        // What is added to −0 leaves it as it is.
        *change = [-0.0; LANES];
        for &(j, weight) in weights {
            let slope = chunk(slopes, j * len + place);
            (0..LANES).for_each(|l| change[l] = weight.mul_add(slope[l] - first[l], change[l]));
        }
        (0..LANES).for_each(|l| change[l] = h[l] * (first[l] + change[l]));
    }
    for (place, change) in (whole..).zip(rest) {
        let first = slopes[place];
        let sum =
            |sum: f64, &(j, weight): &(usize, f64)| weight.mul_add(slopes[j * len + place] - first, sum);
        *change = h[0] * (first + weights.iter().fold(-0.0, sum));
    }
}

#[inline(always)]
fn chunk(values: &[f64], place: usize) -> &[f64; LANES] {
    match values[place..].first_chunk() {
        Some(chunk) => chunk,
        None => unreachable!("rows are as long as a block, and a chunk is a part of one"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn sums_are_those_of_exact_products() {
        let mut random = Random::new(7);
        for len in [1, 3, 8, 13, 32] {
            let mut numbers =
                |count: usize| (0..count).map(|_| random.between(-2.0, 2.0)).collect::<Vec<f64>>();
            let (slopes, y, h) = (numbers(3 * len), numbers(len), numbers(1)[0]);
            let (row, h) = ([(0, 0.3), (2, -1.7), (1, 0.9)], [h; LANES]);
            let (mut out, mut bare, mut change) = (vec![0.0; len], vec![0.0; len], vec![0.0; len]);
            gather(&mut out, Some(&y), &h, &row, &slopes);
            gather(&mut bare, None, &h, &row, &slopes);
            advance(&mut change, &h, &row, &slopes);
            for i in 0..len {
                let k = [slopes[i], slopes[len + i], slopes[2 * len + i]];
                let sum = 0.9f64.mul_add(k[1], (-1.7f64).mul_add(k[2], 0.3 * k[0]));
                let apart = 0.9f64.mul_add(k[1] - k[0], -1.7 * (k[2] - k[0]));
                assert_eq!((out[i], bare[i]), (h[0].mul_add(sum, y[i]), h[0] * sum));
                assert_eq!(change[i], h[0] * (k[0] + apart));
            }
        }
    }
}

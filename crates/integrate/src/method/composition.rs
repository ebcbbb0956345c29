//! Symmetric compositions: steps of γ₁h, γ₂h, … of a symmetric method, one after the other, of which errors cancel
//! (E. Hairer, C. Lubich and G. Wanner, *Geometric Numerical Integration*, 2006, section V.3.2). Tables hold the first half, up to
//! the middle.

/// Order four by five steps, none of them long: γ₁ = γ₂ = γ₄ = γ₅ = 1/(4 − 4^{1/3}), γ₃ = 1 − 4γ₁
/// (M. Suzuki, Phys. Lett. A 146 (1990) 319, doi:10.1016/0375-9601(90)90962-N).
pub(super) const SUZUKI4: &[f64] = &[0.4144907717943757, 0.4144907717943757, -0.6579630871775028];

/// Order six by nine steps, s9odr6a (W. Kahan and R.-C. Li, Math. Comp. 66 (1997) 1089, doi:10.1090/S0025-5718-97-00873-9).
pub(super) const KAHAN_LI6: &[f64] =
    &[0.3921614440073141, 0.33259913678935943, -0.7062461725576393, 0.0822135962935508, 0.79854399093483];

/// A palindrome from its first half, up to the middle.
pub(super) fn mirror(half: &[f64]) -> Vec<f64> {
    half.iter().chain(half.iter().rev().skip(1)).copied().collect()
}

/// As [`mirror`], rounded such that the sum is 1 without rounding: to multiples of 2⁻⁵⁰, what is missing in the middle.
pub(super) fn mirror_exactly(half: &[f64]) -> Vec<f64> {
    const UNIT: f64 = 1.0 / (1_u64 << 50) as f64;
    let mut steps = mirror(half);
    steps.iter_mut().for_each(|step| *step = (*step / UNIT).round() * UNIT);
    let missing = 1.0 - steps.iter().sum::<f64>();
    let middle = steps.len() / 2;
    steps[middle] += missing;
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps end where the whole step does, are the same from both ends, and are what the tables say.
    #[test]
    fn steps_add_up_without_rounding() {
        for table in [SUZUKI4, KAHAN_LI6, &[1.0]] {
            let (steps, plain) = (mirror_exactly(table), mirror(table));
            assert_eq!(steps.iter().sum::<f64>(), 1.0);
            assert_eq!(steps.iter().rev().sum::<f64>(), 1.0);
            assert!(steps.iter().eq(steps.iter().rev()));
            assert!(steps.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-14));
        }
    }
}

//! Eigenvalues of the small matrix of a method, which split the linear equations of s stages into s of one.
//!
//! With B = Σ λₖ vₖ wₖᵀ the solution of (1 − h B⊗J) x = r is Σ vₖ ⊗ (1 − hλₖJ)⁻¹ (wₖᵀ r), and pairs of conjugate eigenvalues give
//! conjugate terms (J. C. Butcher, BIT 16 (1976) 237, doi:10.1007/BF01932265).

use leastaction_linear::dense::{factor, solve};
use leastaction_linear::{Complex, Scalar};

/// An eigenvalue λ with its vectors, B v = λ v and wᵀB = λwᵀ, wᵀv = 1.
#[derive(Clone, Debug)]
pub(crate) struct Mode {
    pub(crate) value: Complex,
    pub(crate) right: Vec<Complex>,
    /// Twice wᵀ where the conjugate mode is left out.
    pub(crate) left: Vec<Complex>,
}

/// The modes of a matrix of s rows whose eigenvalues are distinct: the real ones first, and one of each conjugate pair.
pub(crate) fn modes(matrix: &[f64], s: usize) -> Vec<Mode> {
    let mut values = eigenvalues(matrix, s);
    values.retain(|value| value.im >= 0.0);
    values.sort_by(|a, b| a.im.total_cmp(&b.im));
    values.into_iter().map(|value| mode(matrix, s, value)).collect()
}

fn mode(matrix: &[f64], s: usize, value: Complex) -> Mode {
    let right = vector(s, value, |i, j| matrix[i * s + j]);
    let mut left = vector(s, value, |i, j| matrix[j * s + i]);
    let product = dot(&left, &right);
    // The quotient wᵀBv / wᵀv is better than the eigenvalue we began with by the square of its error.
    let row = |i: usize| (0..s).fold(Complex::ZERO, |sum, j| sum + right[j].times(matrix[i * s + j]));
    let image: Vec<Complex> = (0..s).map(row).collect();
    let mut better = dot(&left, &image) / product;
    let double = if value.im == 0.0 { 1.0 } else { 2.0 };
    if value.im == 0.0 {
        better.im = 0.0;
    }
    left.iter_mut().for_each(|w| *w = (*w / product).times(double));
    Mode { value: better, right, left }
}

fn dot(a: &[Complex], b: &[Complex]) -> Complex {
    a.iter().zip(b).fold(Complex::ZERO, |sum, (a, b)| sum + *a * *b)
}

/// The vector that a matrix multiplies by an eigenvalue, by inverse iteration.
fn vector(s: usize, value: Complex, entry: impl Fn(usize, usize) -> f64) -> Vec<Complex> {
    // Just near the eigenvalue, so that no pivot is zero.
    let near = value.times(1.0 + 1e-9);
    let mut shifted: Vec<Complex> = (0..s * s)
        .map(|k| {
            let diagonal = if k / s == k % s { near } else { Complex::ZERO };
            Complex::new(entry(k / s, k % s), 0.0) - diagonal
        })
        .collect();
    let mut pivots = vec![0; s];
    let regular = factor(&mut shifted, &mut pivots);
    assert!(regular.is_ok(), "a shift beside the eigenvalue leaves a pivot");
    let mut x: Vec<Complex> = (0..s).map(|i| Complex::new(1.0, 0.1 * i as f64)).collect();
    for _ in 0..4 {
        solve(&shifted, &pivots, &mut x);
        let largest = x.iter().fold(Complex::ZERO, |a, b| if b.size() > a.size() { *b } else { a });
        x.iter_mut().for_each(|x| *x = *x / largest);
    }
    x
}

/// The zeros of the characteristic polynomial: its coefficients by Faddeev and Le Verrier, all zeros at once by Weierstrass.
fn eigenvalues(matrix: &[f64], s: usize) -> Vec<Complex> {
    let mut coefficients = vec![1.0];
    let mut power = vec![0.0; s * s];
    for k in 1..=s {
        // M ← B M + c 1, with the last coefficient c; the next is −tr(B M)/k.
        let product = multiply(matrix, &power, s);
        power.copy_from_slice(&product);
        (0..s).for_each(|i| power[i * s + i] += coefficients[k - 1]);
        let image = multiply(matrix, &power, s);
        coefficients.push(-(0..s).map(|i| image[i * s + i]).sum::<f64>() / k as f64);
    }
    let size = coefficients[s].abs().powf(1.0 / s as f64);
    let angle = |k: usize| 2.0 * std::f64::consts::PI * (k as f64 + 0.3) / s as f64;
    let start = |k: usize| Complex::new(size * angle(k).cos(), size * angle(k).sin());
    let mut zeros: Vec<Complex> = (0..s).map(start).collect();
    for _ in 0..500 {
        let mut moved = 0.0_f64;
        for k in 0..s {
            let one = Complex::new(1.0, 0.0);
            let at = |sum: Complex, c: &f64| sum * zeros[k] + Complex::new(*c, 0.0);
            let value = coefficients.iter().fold(Complex::ZERO, at);
            let others = zeros.iter().enumerate().filter(|(j, _)| *j != k);
            let step = value / others.fold(one, |product, (_, z)| product * (zeros[k] - *z));
            zeros[k] = zeros[k] - step;
            moved = moved.max(step.size() / size);
        }
        if moved < 1e-15 {
            break;
        }
    }
    for zero in &mut zeros {
        if zero.im.abs() < 1e-8 * size {
            zero.im = 0.0;
        }
    }
    zeros
}

fn multiply(a: &[f64], b: &[f64], s: usize) -> Vec<f64> {
    let entry = |k: usize| (0..s).map(|l| a[k / s * s + l] * b[l * s + k % s]).sum();
    (0..s * s).map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quadrature::Collocation;

    /// B is the sum of its modes, and the eigenvalues of Radau IIA are the published ones.
    #[test]
    fn modes_make_up_the_matrix() {
        let families: [fn(usize) -> Collocation; 2] = [Collocation::gauss, Collocation::radau];
        for (family, s) in families.into_iter().flat_map(|family| (1..=10).map(move |s| (family, s))) {
            let matrix: Vec<f64> = family(s).a.iter().map(|a| a.rounded()).collect();
            let modes = modes(&matrix, s);
            assert_eq!(modes.len(), s.div_ceil(2), "{s}");
            for (place, entry) in matrix.iter().enumerate() {
                let part = |mode: &Mode| (mode.right[place / s] * mode.value * mode.left[place % s]).re;
                let sum: f64 = modes.iter().map(part).sum();
                assert!((sum - entry).abs() < 1e-9, "s = {s}: {sum} is not {entry}");
            }
        }
        let radau: Vec<f64> = Collocation::radau(3).a.iter().map(|a| a.rounded()).collect();
        // One over the real eigenvalue of A⁻¹ (Hairer and Wanner 1996, section IV.8).
        let gamma = 3.637834252744496;
        assert!((1.0 / modes(&radau, 3)[0].value.re - gamma).abs() < 1e-14 * gamma);
    }
}

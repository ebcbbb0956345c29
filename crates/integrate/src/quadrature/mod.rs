//! Quadrature on \[0, 1\], and the polynomials that go with it.
//!
//! Nodes are zeros of Legendre polynomials Pₛ of x = 2τ − 1 and of their sums, roots in doubled precision. There are two ways on:
//! a [`Rule`] of any number of points, in plain doubles, and [`Collocation`], with the matrices of Runge–Kutta methods.

mod collocation;

pub(crate) use collocation::Collocation;
pub(crate) use leastaction_compile::Double;

/// A rule ∫₀¹ f ≈ Σ bᵢ f(cᵢ), symmetric to the last bit.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) nodes: Vec<f64>,
    pub(crate) weights: Vec<f64>,
}

impl Rule {
    /// Gauss: exact up to degree 2m − 1 with m points, with weights 1/((1 − x²) P′ₘ²).
    pub(crate) fn gauss(points: usize) -> Rule {
        Rule::mirrored(&gauss(points), |x| {
            let (_, derivative) = legendre(points, x);
            Double::ONE / ((Double::ONE - x * x) * derivative * derivative)
        })
    }

    /// Lobatto: exact up to degree 2m − 3 with m ≥ 2 points, with weights 1/(m (m − 1) P²ₘ₋₁).
    pub(crate) fn lobatto(points: usize) -> Rule {
        let points = points.max(2);
        let product = Double::from((points * (points - 1)) as f64);
        Rule::mirrored(&lobatto(points), |x| {
            let (p, _) = legendre(points - 1, x);
            Double::ONE / (product * p * p)
        })
    }

    /// Of nodes that are symmetric but for rounding, with weights as a function of x.
    fn mirrored(all: &[Double], weight: impl Fn(Double) -> Double) -> Rule {
        let half = &all[..all.len().div_ceil(2)];
        let mut nodes: Vec<f64> = half.iter().map(|c| c.rounded()).collect();
        let mut weights: Vec<f64> = half.iter().map(|c| weight(*c + *c - Double::ONE).rounded()).collect();
        for i in (0..all.len() / 2).rev() {
            nodes.push(1.0 - nodes[i]);
            weights.push(weights[i]);
        }
        Rule { nodes, weights }
    }
}

/// The zeros of Pₛ.
fn gauss(s: usize) -> Vec<Double> {
    zeros(s, |x| legendre(s, x))
}

/// 0, 1 and the zeros of P′ₛ₋₁, for s ≥ 2.
fn lobatto(s: usize) -> Vec<Double> {
    let s = s.max(2);
    let inner = |x| {
        // (x² − 1) P′ₙ = n (x Pₙ − Pₙ₋₁), and its derivative is n (n + 1) Pₙ.
        let n = s - 1;
        let count = Double::from(n as f64);
        let (p, _) = legendre(n, x);
        let (before, _) = legendre(n - 1, x);
        (count * (x * p - before), count * (count + Double::ONE) * p)
    };
    let mut c = vec![Double::ZERO];
    c.extend(zeros(s - 2, inner));
    c.push(Double::ONE);
    c
}

/// The zeros of Pₛ − Pₛ₋₁, of which the last is 1.
fn radau(s: usize) -> Vec<Double> {
    let inner = |x| {
        let ((p, derivative), (before, derivative_before)) = (legendre(s, x), legendre(s - 1, x));
        (p - before, derivative - derivative_before)
    };
    let mut c = zeros(s - 1, inner);
    c.push(Double::ONE);
    c
}

/// Pₙ and its derivative at x.
fn legendre(n: usize, x: Double) -> (Double, Double) {
    let (mut before, mut p) = (Double::ZERO, Double::ONE);
    let (mut derivative_before, mut derivative) = (Double::ZERO, Double::ZERO);
    for k in 1..=n {
        let (k, twice) = (Double::from(k as f64), Double::from((2 * k - 1) as f64));
        let next = (twice * x * p - (k - Double::ONE) * before) / k;
        let next_derivative = derivative_before + twice * p;
        (before, p) = (p, next);
        (derivative_before, derivative) = (derivative, next_derivative);
    }
    (p, derivative)
}

/// The zeros of a function inside (−1, 1), of which there are so many, as fractions of that interval. Given are the function and
/// its derivative.
fn zeros(count: usize, function: impl Fn(Double) -> (Double, Double)) -> Vec<Double> {
    // As angles, zeros are nearly evenly spaced, and none is nearer to an end than half their distance.
    let cells = 4 * (count + 1);
    let at = |k: usize| -(std::f64::consts::PI * (k as f64 + 0.5) / (cells + 1) as f64).cos();
    let sign = |x: f64| function(Double::from(x)).0.rounded() > 0.0;
    let mut roots = Vec::with_capacity(count);
    for k in 0..cells {
        let (left, right) = (at(k), at(k + 1));
        if roots.len() < count && sign(left) != sign(right) {
            let mut x = Double::from(0.5 * (left + right));
            for _ in 0..8 {
                let (value, derivative) = function(x);
                x = x - value / derivative;
            }
            roots.push((x + Double::ONE) * Double::from(0.5));
        }
    }
    roots
}

/// The Legendre polynomials φ₀, φ₁, … at τ, orthonormal on \[0, 1\]: as many as there is room for.
pub(crate) fn basis(tau: f64, out: &mut [f64]) {
    let x = 2.0 * tau - 1.0;
    let (mut before, mut p) = (0.0, 1.0);
    for (k, out) in out.iter_mut().enumerate() {
        let k = k as f64;
        *out = (2.0 * k + 1.0).sqrt() * p;
        let next = ((2.0 * k + 1.0) * x * p - k * before) / (k + 1.0);
        before = std::mem::replace(&mut p, next);
    }
}

/// Their integrals from 0 to τ: that of φₖ is √(2k+1) (P_{k+1} − P_{k−1})/(4k+2), and nothing at τ = 1 but for k = 0.
pub(crate) fn integrals(tau: f64, out: &mut [f64]) {
    let x = 2.0 * tau - 1.0;
    let (mut before, mut p) = (0.0, 1.0);
    for (k, out) in out.iter_mut().enumerate() {
        let index = k as f64;
        let next = ((2.0 * index + 1.0) * x * p - index * before) / (index + 1.0);
        let twice = 2.0 * index + 1.0;
        *out = if k == 0 { tau } else { twice.sqrt() * (next - before) / (2.0 * twice) };
        before = std::mem::replace(&mut p, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: &[f64], b: &[f64]) {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() < 3e-16, "{a} {b}"));
    }

    #[test]
    fn rules_of_few_points_are_known() {
        let (r3, r35) = (3.0_f64.sqrt() / 6.0, 0.6_f64.sqrt() / 2.0);
        close(&Rule::gauss(1).nodes, &[0.5]);
        close(&Rule::gauss(2).nodes, &[0.5 - r3, 0.5 + r3]);
        close(&Rule::gauss(3).nodes, &[0.5 - r35, 0.5, 0.5 + r35]);
        close(&Rule::gauss(3).weights, &[5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0]);
        let (r5, r21) = (5.0_f64.sqrt() / 10.0, 21.0_f64.sqrt() / 14.0);
        close(&Rule::lobatto(2).weights, &[0.5, 0.5]);
        close(&Rule::lobatto(3).weights, &[1.0 / 6.0, 4.0 / 6.0, 1.0 / 6.0]);
        close(&Rule::lobatto(4).nodes, &[0.0, 0.5 - r5, 0.5 + r5, 1.0]);
        close(&Rule::lobatto(5).nodes, &[0.0, 0.5 - r21, 0.5, 0.5 + r21, 1.0]);
        close(&Rule::lobatto(5).weights, &[0.05, 49.0 / 180.0, 16.0 / 45.0, 49.0 / 180.0, 0.05]);
    }

    #[test]
    fn rules_integrate_powers_up_to_their_degree() {
        let cases = (1..=32).map(|m| (Rule::gauss(m), 2 * m - 1));
        for (rule, degree) in cases.chain((2..=24).map(|m| (Rule::lobatto(m), 2 * m - 3))) {
            let sum =
                |k: i32| -> f64 { rule.nodes.iter().zip(&rule.weights).map(|(c, b)| b * c.powi(k)).sum() };
            for k in 0..=degree as i32 {
                assert!(
                    (sum(k) - 1.0 / f64::from(k + 1)).abs() < 2e-15,
                    "{} points, degree {k}",
                    rule.nodes.len()
                );
            }
            assert!(rule.nodes.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", rule.nodes);
            if rule.nodes.len() < 8 {
                assert!((sum(degree as i32 + 1) - 1.0 / (degree as f64 + 2.0)).abs() > 1e-10);
            }
        }
    }

    #[test]
    fn polynomials_are_orthonormal_and_have_their_integrals() {
        let rule = Rule::gauss(12);
        let mut gram = [[0.0; 6]; 6];
        let mut phi = [0.0; 6];
        for (&c, b) in rule.nodes.iter().zip(&rule.weights) {
            basis(c, &mut phi);
            (0..36).for_each(|k| gram[k / 6][k % 6] += b * phi[k / 6] * phi[k % 6]);
        }
        (0..36).for_each(|k| assert!((gram[k / 6][k % 6] - f64::from(k / 6 == k % 6)).abs() < 1e-14));
        for tau in [0.0, 0.3, 1.0] {
            let (mut sum, mut roots) = ([0.0; 6], [0.0; 6]);
            for (&c, b) in rule.nodes.iter().zip(&rule.weights) {
                basis(c * tau, &mut phi);
                (0..6).for_each(|k| sum[k] += tau * b * phi[k]);
            }
            integrals(tau, &mut roots);
            (0..6).for_each(|k| assert!((sum[k] - roots[k]).abs() < 1e-15));
        }
    }
}

//! Quadrature on \[0, 1\], and the polynomials that go with it.

/// A rule ∫₀¹ f ≈ Σ bᵢ f(cᵢ), symmetric to the last bit.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) nodes: Vec<f64>,
    pub(crate) weights: Vec<f64>,
}

impl Rule {
    /// Gauss: exact up to degree 2m − 1 with m points, the roots of P_m.
    pub(crate) fn gauss(points: usize) -> Rule {
        let m = points as f64;
        let (mut nodes, mut weights) = (Vec::new(), Vec::new());
        for i in 0..points.div_ceil(2) {
            let guess = (std::f64::consts::PI * (i as f64 + 0.75) / (m + 0.5)).cos();
            let x = if 2 * i + 1 == points {
                0.0
            } else {
                refine(guess, |x| {
                    let (p, slope) = legendre(points, x);
                    p / slope
                })
            };
            let (_, slope) = legendre(points, x);
            nodes.push(0.5 * (1.0 - x));
            weights.push(1.0 / ((1.0 - x * x) * slope * slope));
        }
        Rule::mirrored(points, nodes, weights)
    }

    /// Lobatto: exact up to degree 2m − 3 with m ≥ 2 points, the ends and the extrema of P_{m−1}.
    pub(crate) fn lobatto(points: usize) -> Rule {
        let n = points - 1;
        let product = (n * points) as f64;
        let (mut nodes, mut weights) = (vec![0.0], vec![1.0 / product]);
        for i in 1..points.div_ceil(2) {
            let guess = (std::f64::consts::PI * i as f64 / n as f64).cos();
            let x = if 2 * i == n {
                0.0
            } else {
                refine(guess, |x| {
                    let (p, slope) = legendre(n, x);
                    slope * (1.0 - x * x) / (2.0 * x * slope - product * p)
                })
            };
            let (p, _) = legendre(n, x);
            nodes.push(0.5 * (1.0 - x));
            weights.push(1.0 / (product * p * p));
        }
        Rule::mirrored(points, nodes, weights)
    }

    fn mirrored(points: usize, mut nodes: Vec<f64>, mut weights: Vec<f64>) -> Rule {
        for i in (0..points / 2).rev() {
            nodes.push(1.0 - nodes[i]);
            weights.push(weights[i]);
        }
        Rule { nodes, weights }
    }
}

/// Newton's method, until a correction no longer changes anything but the last bits.
fn refine(guess: f64, correction: impl Fn(f64) -> f64) -> f64 {
    let mut x = guess;
    for _ in 0..100 {
        let by = correction(x);
        x -= by;
        if by.abs() <= f64::EPSILON {
            break;
        }
    }
    x
}

/// The Legendre polynomial P_n at x, and its derivative, for |x| < 1.
fn legendre(n: usize, x: f64) -> (f64, f64) {
    let (mut before, mut p) = (0.0, 1.0);
    for k in 0..n {
        let k = k as f64;
        let next = ((2.0 * k + 1.0) * x * p - k * before) / (k + 1.0);
        before = std::mem::replace(&mut p, next);
    }
    (p, n as f64 * (before - x * p) / (1.0 - x * x))
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
            let (mut sum, mut found) = ([0.0; 6], [0.0; 6]);
            for (&c, b) in rule.nodes.iter().zip(&rule.weights) {
                basis(c * tau, &mut phi);
                (0..6).for_each(|k| sum[k] += tau * b * phi[k]);
            }
            integrals(tau, &mut found);
            (0..6).for_each(|k| assert!((sum[k] - found[k]).abs() < 1e-15));
        }
    }
}

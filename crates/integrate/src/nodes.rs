//! Collocation: the nodes of quadratures, their weights, and the integrals of the polynomials through them.
//!
//! $$a_{ij}=\int_0^{c_i}\ell_j(\tau)\,d\tau,\qquad b_j=\int_0^1\ell_j(\tau)\,d\tau,\qquad \ell_j(c_i)=\delta_{ij}$$
//!
//! All are computed in doubled precision from the Legendre polynomials Pₛ of 2τ − 1 (E. Hairer and G. Wanner, *Solving Ordinary
//! Differential Equations II*, 1996, section IV.5), so that they are right to the last bit once rounded.

use crate::double::Double;

/// Collocation with nodes c, weights b, and the matrix a by rows.
#[derive(Clone, Debug)]
pub(crate) struct Nodes {
    pub(crate) c: Vec<Double>,
    pub(crate) b: Vec<Double>,
    pub(crate) a: Vec<Double>,
}

impl Nodes {
    /// The zeros of Pₛ: order 2s.
    pub(crate) fn gauss(s: usize) -> Nodes {
        Nodes::new(zeros(s, |x| legendre(s, x)))
    }

    /// 0, 1 and the zeros of P′ₛ₋₁, for s ≥ 2: order 2s − 2.
    pub(crate) fn lobatto(s: usize) -> Nodes {
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
        Nodes::new(c)
    }

    /// The zeros of Pₛ − Pₛ₋₁, of which the last is 1: order 2s − 1.
    pub(crate) fn radau(s: usize) -> Nodes {
        let inner = |x| {
            let ((p, slope), (before, slope_before)) = (legendre(s, x), legendre(s - 1, x));
            (p - before, slope - slope_before)
        };
        let mut c = zeros(s - 1, inner);
        c.push(Double::ONE);
        Nodes::new(c)
    }

    fn new(c: Vec<Double>) -> Nodes {
        let mut nodes = Nodes { b: Vec::new(), a: vec![Double::ZERO; c.len() * c.len()], c };
        let s = nodes.c.len();
        for j in 0..s {
            let integral = integral(&cardinal(&nodes.c, j));
            nodes.b.push(value(&integral, Double::ONE));
            for i in 0..s {
                nodes.a[i * s + j] = value(&integral, nodes.c[i]);
            }
        }
        nodes
    }
}

/// Pₙ and its derivative at x.
fn legendre(n: usize, x: Double) -> (Double, Double) {
    let (mut before, mut p) = (Double::ZERO, Double::ONE);
    let (mut slope_before, mut slope) = (Double::ZERO, Double::ZERO);
    for k in 1..=n {
        let (k, twice) = (Double::from(k as f64), Double::from((2 * k - 1) as f64));
        let next = (twice * x * p - (k - Double::ONE) * before) / k;
        let next_slope = slope_before + twice * p;
        (before, p) = (p, next);
        (slope_before, slope) = (slope, next_slope);
    }
    (p, slope)
}

/// The zeros of a function inside (−1, 1), of which there are so many, as fractions of that interval. Given are the function and
/// its derivative.
fn zeros(count: usize, function: impl Fn(Double) -> (Double, Double)) -> Vec<Double> {
    // Zeros are no nearer than about π²/(2s)² at the ends, and this grid is finer.
    let cells = 64 * (count + 1) * (count + 1);
    let at = |k: usize| -1.0 + 2.0 * (k as f64 + 0.5) / (cells + 1) as f64;
    let sign = |x: f64| function(Double::from(x)).0.rounded() > 0.0;
    let mut found = Vec::with_capacity(count);
    for k in 0..cells {
        let (left, right) = (at(k), at(k + 1));
        if found.len() < count && sign(left) != sign(right) {
            let mut x = Double::from(0.5 * (left + right));
            for _ in 0..8 {
                let (value, slope) = function(x);
                x = x - value / slope;
            }
            found.push((x + Double::ONE) * Double::from(0.5));
        }
    }
    found
}

/// The coefficients of the polynomial that is 1 at node j and 0 at all others, the constant first.
fn cardinal(c: &[Double], j: usize) -> Vec<Double> {
    let mut coefficients = vec![Double::ONE];
    for (i, node) in c.iter().enumerate().filter(|(i, _)| *i != j) {
        debug_assert!(i < c.len());
        let scale = c[j] - *node;
        let mut next = vec![Double::ZERO; coefficients.len() + 1];
        for (k, coefficient) in coefficients.iter().enumerate() {
            next[k] = next[k] - *coefficient * *node / scale;
            next[k + 1] = next[k + 1] + *coefficient / scale;
        }
        coefficients = next;
    }
    coefficients
}

/// The integral of a polynomial that is 0 at 0.
fn integral(coefficients: &[Double]) -> Vec<Double> {
    let terms = coefficients.iter().enumerate().map(|(k, c)| *c / Double::from((k + 1) as f64));
    std::iter::once(Double::ZERO).chain(terms).collect()
}

fn value(coefficients: &[Double], x: Double) -> Double {
    coefficients.iter().rev().fold(Double::ZERO, |sum, c| sum * x + *c)
}

/// The coefficients of the cardinal polynomials, rounded: row j has those of node j, the constant first.
pub(crate) fn cardinals(nodes: &Nodes) -> Vec<Vec<f64>> {
    let rounded = |j| cardinal(&nodes.c, j).iter().map(|c| c.rounded()).collect();
    (0..nodes.c.len()).map(rounded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(x: f64) -> Double {
        Double::from(x)
    }

    fn power(x: Double, k: usize) -> Double {
        (0..k).fold(Double::ONE, |product, _| product * x)
    }

    /// √x, by Newton's method.
    fn root(x: f64) -> Double {
        let mut y = number(x.sqrt());
        for _ in 0..3 {
            y = (y + number(x) / y) * number(0.5);
        }
        y
    }

    fn near(found: &[Double], expected: &[Double]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            let miss = (*found - *expected).rounded().abs();
            assert!(miss < 1e-30, "{found:?} is not {expected:?}");
        }
    }

    #[test]
    fn small_ones_have_their_closed_form() {
        let (half, quarter) = (number(0.5), number(0.25));
        let gauss = Nodes::gauss(2);
        let (sixth, fourth) = (root(3.0) / number(6.0), quarter);
        near(&gauss.c, &[half - sixth, half + sixth]);
        near(&gauss.b, &[half, half]);
        near(&gauss.a, &[fourth, fourth - sixth, fourth + sixth, fourth]);

        let gauss = Nodes::gauss(3);
        let fifteen = root(15.0);
        let fraction = |a: f64, b: f64| number(a) / number(b);
        near(&gauss.b, &[fraction(5.0, 18.0), fraction(4.0, 9.0), fraction(5.0, 18.0)]);
        near(&gauss.c, &[half - fifteen / number(10.0), half, half + fifteen / number(10.0)]);
        near(
            &gauss.a[1..3],
            &[fraction(2.0, 9.0) - fifteen / number(15.0), fraction(5.0, 36.0) - fifteen / number(30.0)],
        );

        let lobatto = Nodes::lobatto(3);
        near(&lobatto.c, &[number(0.0), half, number(1.0)]);
        near(&lobatto.b, &[fraction(1.0, 6.0), fraction(2.0, 3.0), fraction(1.0, 6.0)]);
        near(&lobatto.a[3..6], &[fraction(5.0, 24.0), fraction(1.0, 3.0), fraction(-1.0, 24.0)]);

        let radau = Nodes::radau(3);
        let six = root(6.0);
        near(&radau.c[..2], &[(number(4.0) - six) / number(10.0), (number(4.0) + six) / number(10.0)]);
        near(
            &radau.b,
            &[(number(16.0) - six) / number(36.0), (number(16.0) + six) / number(36.0), fraction(1.0, 9.0)],
        );
        near(&radau.a[..1], &[(number(88.0) - number(7.0) * six) / number(360.0)]);
    }

    /// B(p): Σ bᵢ cᵢᵏ⁻¹ = 1/k. C(s): Σ aᵢⱼ cⱼᵏ⁻¹ = cᵢᵏ/k. D(r): Σ bᵢ cᵢᵏ⁻¹ aᵢⱼ = bⱼ(1 − cⱼᵏ)/k.
    #[test]
    fn simplifying_assumptions_hold() {
        type Family = (fn(usize) -> Nodes, usize, usize);
        let families: [Family; 3] = [(Nodes::gauss, 0, 0), (Nodes::radau, 1, 1), (Nodes::lobatto, 2, 2)];
        for (make, less, short) in families {
            for s in 2..=8 {
                let Nodes { c, b, a } = make(s);
                let sum = |terms: &dyn Fn(usize) -> Double| (0..s).fold(Double::ZERO, |x, i| x + terms(i));
                let check = |miss: Double, what: &str, k: usize| {
                    assert!(miss.rounded().abs() < 1e-25, "{what}({k}) for s = {s}: {miss:?}");
                };
                for k in 1..=2 * s - less {
                    let count = number(k as f64);
                    check(sum(&|i| b[i] * power(c[i], k - 1)) - Double::ONE / count, "B", k);
                }
                for k in 1..=s {
                    let count = number(k as f64);
                    for i in 0..s {
                        check(sum(&|j| a[i * s + j] * power(c[j], k - 1)) - power(c[i], k) / count, "C", k);
                        let column = sum(&|l| b[l] * power(c[l], k - 1) * a[l * s + i]);
                        if k <= s - short {
                            check(column - b[i] * (Double::ONE - power(c[i], k)) / count, "D", k);
                        }
                    }
                }
            }
        }
    }
}

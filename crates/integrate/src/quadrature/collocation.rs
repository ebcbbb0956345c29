//! Collocation: the weights of nodes, and the integrals of the polynomials through them.
//!
//! $$a_{ij}=\int_0^{c_i}\ell_j(\tau)\,d\tau,\qquad b_j=\int_0^1\ell_j(\tau)\,d\tau,\qquad \ell_j(c_i)=\delta_{ij}$$
//!
//! All are computed in doubled precision (E. Hairer and G. Wanner, *Solving Ordinary Differential Equations II*, 1996, section
//! IV.5), so that they are right to the last bit once rounded, for ten nodes or so: more need more digits on the way.

use super::{Double, gauss, lobatto, radau};

/// Collocation with nodes c, weights b, and the matrix a by rows.
#[derive(Clone, Debug)]
pub(crate) struct Collocation {
    pub(crate) c: Vec<Double>,
    pub(crate) b: Vec<Double>,
    pub(crate) a: Vec<Double>,
}

impl Collocation {
    /// Order 2s.
    pub(crate) fn gauss(s: usize) -> Collocation {
        Collocation::new(gauss(s))
    }

    /// The ends are nodes: order 2s − 2, for s ≥ 2.
    pub(crate) fn lobatto(s: usize) -> Collocation {
        Collocation::new(lobatto(s))
    }

    /// The last end is a node: order 2s − 1.
    pub(crate) fn radau(s: usize) -> Collocation {
        Collocation::new(radau(s))
    }

    fn new(c: Vec<Double>) -> Collocation {
        let mut nodes = Collocation { b: Vec::new(), a: vec![Double::ZERO; c.len() * c.len()], c };
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

    /// ∫ℓⱼ from 0 to τ for each node j.
    pub(crate) fn integrals_to(&self, tau: Double) -> Vec<Double> {
        (0..self.c.len()).map(|j| value(&integral(&cardinal(&self.c, j)), tau)).collect()
    }

    /// The coefficients of the cardinal polynomials, rounded: row j has those of node j, the constant first.
    pub(crate) fn cardinals(&self) -> Vec<Vec<f64>> {
        let rounded = |j| cardinal(&self.c, j).iter().map(|c| c.rounded()).collect();
        (0..self.c.len()).map(rounded).collect()
    }
}

/// The coefficients of the polynomial that is 1 at node j and 0 at all others, the constant first.
fn cardinal(c: &[Double], j: usize) -> Vec<Double> {
    let mut coefficients = vec![Double::ONE];
    for (_, node) in c.iter().enumerate().filter(|(i, _)| *i != j) {
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
        let gauss = Collocation::gauss(2);
        let (sixth, fourth) = (root(3.0) / number(6.0), quarter);
        near(&gauss.c, &[half - sixth, half + sixth]);
        near(&gauss.b, &[half, half]);
        near(&gauss.a, &[fourth, fourth - sixth, fourth + sixth, fourth]);

        let gauss = Collocation::gauss(3);
        let fifteen = root(15.0);
        let fraction = |a: f64, b: f64| number(a) / number(b);
        near(&gauss.b, &[fraction(5.0, 18.0), fraction(4.0, 9.0), fraction(5.0, 18.0)]);
        near(&gauss.c, &[half - fifteen / number(10.0), half, half + fifteen / number(10.0)]);
        near(
            &gauss.a[1..3],
            &[fraction(2.0, 9.0) - fifteen / number(15.0), fraction(5.0, 36.0) - fifteen / number(30.0)],
        );

        let lobatto = Collocation::lobatto(3);
        near(&lobatto.c, &[number(0.0), half, number(1.0)]);
        near(&lobatto.b, &[fraction(1.0, 6.0), fraction(2.0, 3.0), fraction(1.0, 6.0)]);
        near(&lobatto.a[3..6], &[fraction(5.0, 24.0), fraction(1.0, 3.0), fraction(-1.0, 24.0)]);

        let radau = Collocation::radau(3);
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
        type Family = (fn(usize) -> Collocation, usize, usize);
        let families: [Family; 3] =
            [(Collocation::gauss, 0, 0), (Collocation::radau, 1, 1), (Collocation::lobatto, 2, 2)];
        for (make, less, short) in families {
            for s in 2..=8 {
                let Collocation { c, b, a } = make(s);
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

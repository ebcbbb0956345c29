//! The coefficients of symplectic methods, rounded so that they still are.
//!
//! With increments Lᵢ = hbᵢ fᵢ a step reads
//!
//! $$Q_i=q_0+\sum_j\mu_{ij}L^q_j,\quad P_i=p_0+\sum_j\nu_{ij}L^p_j,\quad y_1=y_0+\sum_iL_i,\qquad\mu_{ij}=a_{ij}/b_j,\ \nu_{ij}=\hat a_{ij}/b_j$$
//!
//! and it is symplectic if and only if νᵢⱼ + μⱼᵢ = 1, whatever the rounded hbᵢ are. Of each such pair the larger number is
//! rounded, and lies between ½ and 2, so that the other, 1 less it, is exact (M. Antoñana, J. Makazaga and A. Murua,
//! Numer. Algorithms 76 (2017) 861, doi:10.1007/s11075-017-0287-z). Coefficients that are rounded one by one would let the
//! energy drift (E. Hairer, R. I. McLachlan and A. Razakarivony, BIT 48 (2008) 231, doi:10.1007/s10543-008-0170-3).

use crate::quadrature::{Collocation, Double};

/// A symplectic method: nodes, weights, and the matrices μ for coordinates and ν for momenta, by rows.
#[derive(Clone, Debug)]
pub(crate) struct Tableau {
    pub(crate) c: Vec<f64>,
    pub(crate) b: Vec<f64>,
    pub(crate) first: Vec<f64>,
    pub(crate) second: Vec<f64>,
}

/// Weights are multiples of this, so that their sum is exactly 1.
const UNIT: f64 = f64::EPSILON / 2.0;

impl Tableau {
    /// The Gauss method of s stages: μ = ν.
    pub(crate) fn gauss(s: usize) -> Tableau {
        Tableau::new(&Collocation::gauss(s))
    }

    /// Lobatto IIIA for coordinates, and IIIB for momenta.
    pub(crate) fn lobatto(s: usize) -> Tableau {
        Tableau::new(&Collocation::lobatto(s))
    }

    fn new(nodes: &Collocation) -> Tableau {
        let s = nodes.c.len();
        let share = |i: usize, j: usize| nodes.a[i * s + j] / nodes.b[j];
        let mut first = vec![0.0; s * s];
        for (i, j) in (0..s).flat_map(|i| (0..s).map(move |j| (i, j))) {
            // Mirrored in time the method is the same: aᵢⱼ + aₛ₋ᵢ ₛ₋ⱼ = bⱼ.
            let larger = share(i, j).rounded() >= 0.5;
            let mirrored = (s - 1 - i, s - 1 - j);
            first[i * s + j] = if (i, j) == mirrored {
                0.5
            } else if larger {
                share(i, j).rounded()
            } else {
                1.0 - (Double::ONE - share(i, j)).rounded()
            };
        }
        // For Gauss μᵢⱼ + μⱼᵢ = 1, so that ν = μ, and the diagonal is ½.
        let second = (0..s * s).map(|k| 1.0 - first[k % s * s + k / s]).collect();
        let mut b: Vec<f64> = nodes.b.iter().map(|b| b.rounded_to(UNIT)).collect();
        let outer: f64 = (0..(s - 1) / 2).map(|i| 2.0 * b[i]).sum();
        if s % 2 == 1 {
            b[s / 2] = 1.0 - outer;
        } else {
            b[s / 2 - 1] = 0.5 * (1.0 - outer);
            b[s / 2] = b[s / 2 - 1];
        }
        Tableau { c: nodes.c.iter().map(|c| c.rounded()).collect(), b, first, second }
    }

    pub(crate) fn stages(&self) -> usize {
        self.b.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exactly: no tolerance anywhere but in what rounding does to each coefficient.
    #[test]
    fn rounded_coefficients_are_symplectic_and_symmetric() {
        for (s, tableau) in
            (1..=10).map(|s| (s, Tableau::gauss(s))).chain((2..=8).map(|s| (s, Tableau::lobatto(s))))
        {
            let Tableau { c, b, first, second } = &tableau;
            assert_eq!(b.iter().sum::<f64>(), 1.0, "{s}");
            for i in 0..s {
                assert_eq!(b[i], b[s - 1 - i], "{s}");
                assert!((c[i] + c[s - 1 - i] - 1.0).abs() < 2e-16, "{s}");
                for j in 0..s {
                    assert_eq!(second[i * s + j] + first[j * s + i], 1.0);
                    // The sum is 1 before it is rounded, too.
                    assert_eq!(1.0 - second[i * s + j], first[j * s + i]);
                    assert_eq!(1.0 - first[j * s + i], second[i * s + j]);
                    let mirrored = first[(s - 1 - i) * s + s - 1 - j];
                    assert_eq!(1.0 - first[i * s + j], mirrored, "s = {s}, {i} {j}");
                }
            }
        }
    }

    #[test]
    fn rounded_coefficients_are_near_the_exact_ones() {
        for s in 1..=8 {
            let (nodes, tableau) = (Collocation::gauss(s), Tableau::gauss(s));
            assert_eq!(tableau.first, tableau.second);
            for i in 0..s {
                assert!((nodes.b[i] - Double::from(tableau.b[i])).rounded().abs() < 2e-16);
                for j in 0..s {
                    let exact = nodes.a[i * s + j] / nodes.b[j];
                    let miss = (exact - Double::from(tableau.first[i * s + j])).rounded().abs();
                    assert!(miss <= f64::EPSILON / 2.0, "s = {s}: {miss:e}");
                }
            }
        }
        // Lobatto IIIA and IIIB of two stages are the Störmer–Verlet scheme.
        let verlet = Tableau::lobatto(2);
        assert_eq!((verlet.first, verlet.second), (vec![0.0, 0.0, 1.0, 1.0], vec![1.0, 0.0, 1.0, 0.0]));
        // a and â of three stages (Hairer, Lubich and Wanner 2006, section II.1.4).
        let three = Tableau::lobatto(3);
        let lobatto_b = |i: usize, j: usize| three.second[i * 3 + j] * three.b[j];
        let expected = [1.0 / 6.0, -1.0 / 6.0, 0.0, 1.0 / 6.0, 1.0 / 3.0, 0.0, 1.0 / 6.0, 5.0 / 6.0, 0.0];
        assert!((0..9).all(|k| (lobatto_b(k / 3, k % 3) - expected[k]).abs() < 2e-16));
    }
}

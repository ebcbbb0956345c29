//! The coefficients of a Gauss–Lobatto SPARK method of s stages, as shares.
//!
//! With Gauss's nodes c, weights b and cardinal polynomials ℓ, and the s + 1 nodes c̃ and weights b̃ of Lobatto,
//!
//! $$a_{ij}=\int_0^{c_i}\!\ell_j,\quad \bar a_{kj}=\int_0^{\tilde c_k}\!\ell_j,\qquad
//! b_i\tilde a_{ik}+\tilde b_k\bar a_{ki}=b_i\tilde b_k.$$
//!
//! Methods use μ = a/b, ν = ā/b and ξ = ã/b̃, for which the last of these, the condition of symplecticity, reads ξᵢₖ + νₖᵢ = 1: it holds for
//! the rounded numbers, too, and so does the symmetry νₖⱼ + νₛ₋ₖ ₛ₋ⱼ = 1.

use crate::implicit::Tableau;
use crate::quadrature::{Collocation, Double};
use leastaction_linear::dense;

pub(super) struct Shares {
    pub(super) stages: usize,
    /// Gauss: c, b, and μ by rows.
    pub(super) c: Vec<f64>,
    pub(super) b: Vec<f64>,
    pub(super) mu: Vec<f64>,
    /// Lobatto: c̃ and b̃, s + 1 each.
    pub(super) nodes: Vec<f64>,
    pub(super) weights: Vec<f64>,
    /// ν by rows, one for each node of Lobatto.
    pub(super) nu: Vec<f64>,
    /// The inverse of Bₖⱼ = Σ νₖᵢ bᵢ ξᵢⱼ for k = 1…s and j = 0…s − 1: how positions at the nodes but the first follow from
    /// multipliers at the nodes but the last.
    pub(super) inverse: Vec<f64>,
}

impl Shares {
    pub(super) fn new(stages: usize) -> Shares {
        let s = stages;
        let (gauss, lobatto) = (Collocation::gauss(s), Collocation::lobatto(s + 1));
        let Tableau { c, b, first: mu, .. } = Tableau::gauss(s);
        let exact: Vec<Double> = lobatto
            .c
            .iter()
            .flat_map(|c| gauss.integrals_to(*c).into_iter().zip(&gauss.b).map(|(a, b)| a / *b))
            .collect();
        let nu: Vec<f64> = (0..(s + 1) * s)
            .map(|place| match place / s {
                0 => 0.0,
                k if k == s => 1.0,
                _ if exact[place].rounded() >= 0.5 => exact[place].rounded(),
                _ => 1.0 - (Double::ONE - exact[place]).rounded(),
            })
            .collect();
        let rounded = |values: &[Double]| values.iter().map(|x| x.rounded()).collect::<Vec<f64>>();
        let (nodes, weights) = (rounded(&lobatto.c), rounded(&lobatto.b));
        let mut shares = Shares { stages, c, b, mu, nodes, weights, nu, inverse: vec![0.0; s * s] };
        let mut matrix: Vec<f64> = (0..s * s).map(|place| shares.reach(place / s + 1, place % s)).collect();
        let regular = dense::invert(&mut matrix, &mut shares.inverse, s);
        assert!(regular.is_ok(), "nodes are distinct");
        shares
    }

    /// ξᵢⱼ = 1 − νⱼᵢ.
    pub(super) fn xi(&self, i: usize, j: usize) -> f64 {
        1.0 - self.nu[j * self.stages + i]
    }

    fn reach(&self, k: usize, j: usize) -> f64 {
        (0..self.stages).map(|i| self.nu[k * self.stages + i] * self.b[i] * self.xi(i, j)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// L. O. Jay, SIAM J. Numer. Anal. 45 (2007) 1814, doi:10.1137/060667475: with one stage the midpoint rule between halves of
    /// constraint forces; with two, ā of Lobatto's middle node, and ã, in closed form.
    #[test]
    fn small_ones_have_their_closed_form() {
        let one = Shares::new(1);
        assert_eq!((one.nu.as_slice(), one.xi(0, 0), one.xi(0, 1)), ([0.0, 1.0].as_slice(), 1.0, 0.0));
        assert_eq!(one.inverse, [1.0]);
        let two = Shares::new(2);
        let root = 3f64.sqrt();
        // ∫₀^½ ℓ = ¼ ± √3/8.
        for (found, expected) in two.nu[2..4].iter().zip([0.5 + root / 4.0, 0.5 - root / 4.0]) {
            assert!((found - expected).abs() < 1e-15, "{found}");
        }
        assert_eq!(
            (two.nodes.as_slice(), two.xi(0, 2), two.xi(1, 2)),
            ([0.0, 0.5, 1.0].as_slice(), 0.0, 0.0)
        );
    }

    /// Σⱼ āₖⱼ cⱼᵐ⁻¹ = c̃ₖᵐ/m up to m = s, and Σₖ ãᵢₖ c̃ₖᵐ⁻¹ = cᵢᵐ/m up to m = s − 1: what the order rests on.
    #[test]
    fn simplifying_assumptions_hold() {
        for s in 1..=6 {
            let shares = Shares::new(s);
            let Shares { c, b, nodes, weights, nu, .. } = &shares;
            for m in 1..=s {
                for k in 0..=s {
                    let sum: f64 = (0..s).map(|j| nu[k * s + j] * b[j] * c[j].powi(m as i32 - 1)).sum();
                    assert!((sum - nodes[k].powi(m as i32) / m as f64).abs() < 1e-14, "C({m}), s = {s}");
                }
                for i in (0..s).filter(|_| m < s) {
                    let term = |k: usize| shares.xi(i, k) * weights[k] * nodes[k].powi(m as i32 - 1);
                    let sum: f64 = (0..=s).map(term).sum();
                    assert!((sum - c[i].powi(m as i32) / m as f64).abs() < 1e-14, "Ĉ({m}), s = {s}");
                }
            }
            for (place, nu) in nu.iter().enumerate() {
                let (k, j) = (place / s, place % s);
                assert_eq!(nu + shares.nu[(s - k) * s + s - 1 - j], 1.0);
                assert_eq!(nu + shares.xi(j, k), 1.0);
            }
        }
    }
}

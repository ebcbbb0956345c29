//! Gauss–Radau nodes on \[0, 1\], and polynomials through them: what `ias15` computes with.
//!
//! $$f(\tau)=f_0+\sum_{n=1}^7g_n\prod_{k<n}(\tau-\tau_k)=f_0+\sum_{k=0}^6b_k\tau^{k+1}$$

/// The nodes beside the start.
pub(super) const NODES: usize = 7;

/// The nodes: 0, and the zeros of (P₇ + P₈)(2τ − 1)/τ.
pub(super) const TAU: [f64; NODES + 1] = [
    0.0,
    0.05626256053692215,
    0.18024069173689236,
    0.3526247171131696,
    0.5471536263305554,
    0.7342101772154105,
    0.8853209468390958,
    0.9775206135612875,
];

/// The weights of the quadrature, which is exact for polynomials of degree 14.
pub(super) const WEIGHTS: [f64; NODES + 1] = [
    0.015625,
    0.09267907740148965,
    0.15206531032339257,
    0.1882587726945593,
    0.19578608372624678,
    0.17350739781725064,
    0.12482395066493249,
    0.0572544073721286,
];

/// 1/(τₙ − τₖ) for k < n.
pub(super) const INVERSE: [[f64; NODES]; NODES + 1] = {
    let mut table = [[0.0; NODES]; NODES + 1];
    let mut n = 1;
    while n <= NODES {
        let mut k = 0;
        while k < n {
            table[n][k] = 1.0 / (TAU[n] - TAU[k]);
            k += 1;
        }
        n += 1;
    }
    table
};

/// What gₙ₊₁ contributes to b₀ … b₆: the coefficients of Π (τ − τₖ) over k ≤ n.
pub(super) const POWERS: [[f64; NODES]; NODES] = {
    let mut table = [[0.0; NODES]; NODES];
    table[0][0] = 1.0;
    let mut n = 1;
    while n < NODES {
        let mut k = 0;
        while k <= n {
            let shifted = if k == 0 { 0.0 } else { table[n - 1][k - 1] };
            table[n][k] = shifted - TAU[n] * table[n - 1][k];
            k += 1;
        }
        n += 1;
    }
    table
};

/// Binomial coefficients (k + 1 over m + 1): τᵏ⁺¹ at τ = 1 + qτ′ has the part (k + 1 over m + 1)(qτ′)ᵐ⁺¹.
pub(super) const SHIFT: [[f64; NODES]; NODES] = {
    let mut table = [[0.0; NODES]; NODES];
    let mut k = 0;
    while k < NODES {
        let (mut m, mut over) = (0, 1.0);
        while m <= k {
            over *= (k + 1 - m) as f64 / (m + 1) as f64;
            table[k][m] = over;
            m += 1;
        }
        k += 1;
    }
    table
};

/// g₁ … g₇ from b₀ … b₆, by dividing by τ − τₖ one after the other.
#[inline]
pub(super) fn newton(b: [f64; NODES]) -> [f64; NODES] {
    let mut g = b;
    for k in 1..NODES {
        for j in (k - 1..NODES - 1).rev() {
            g[j] += TAU[k] * g[j + 1];
        }
    }
    g
}

/// b₀ … b₆ of the polynomial through f₀ … f₇.
#[inline]
pub(super) fn through(f: [f64; NODES + 1]) -> [f64; NODES] {
    let mut g = [0.0; NODES];
    let mut b = [0.0; NODES];
    for n in 1..=NODES {
        g[n - 1] = difference(n, f[n] - f[0], &g);
        (0..n).for_each(|k| b[k] += POWERS[n - 1][k] * g[n - 1]);
    }
    b
}

/// The divided difference gₙ, from fₙ − f₀ and those before it.
#[inline]
pub(super) fn difference(n: usize, rise: f64, g: &[f64; NODES]) -> f64 {
    (1..n).fold(rise * INVERSE[n][0], |sum, k| (sum - g[k - 1]) * INVERSE[n][k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quadrature::{Collocation, Double};

    /// They are those of Radau's quadrature at the other end, mirrored.
    #[test]
    fn nodes_and_weights_are_right_to_the_last_bit() {
        let Collocation { c, b, .. } = Collocation::radau(NODES + 1);
        for (i, (c, b)) in c.iter().zip(&b).rev().enumerate() {
            assert_eq!((TAU[i], WEIGHTS[i]), ((Double::ONE - *c).rounded(), b.rounded()), "node {i}");
        }
    }

    #[test]
    fn quadrature_is_exact_to_degree_14() {
        let moment = |k: i32| TAU.iter().zip(WEIGHTS).map(|(tau, weight)| weight * tau.powi(k)).sum::<f64>();
        for k in 0..=14 {
            assert!((moment(k) - 1.0 / f64::from(k + 1)).abs() < 2e-16, "degree {k}");
        }
        assert!((moment(15) - 1.0 / 16.0).abs() > 1e-9);
    }

    #[test]
    fn both_forms_are_one_polynomial() {
        let b = [0.7, -1.1, 0.3, 2.0, -0.4, 0.9, 1.3];
        let at = |tau: f64| b.iter().rev().fold(0.0, |sum, b| (sum + b) * tau);
        let newton_at = |tau: f64| {
            let g = newton(b);
            (0..NODES).map(|n| g[n] * TAU[..=n].iter().map(|k| tau - k).product::<f64>()).sum::<f64>()
        };
        for tau in [0.1, 0.5, 0.95, 1.0] {
            assert!((at(tau) - newton_at(tau)).abs() < 1e-15);
        }
        let found = through(TAU.map(|tau| 5.0 + at(tau)));
        assert!(found.iter().zip(b).all(|(found, b)| (found - b).abs() < 1e-11), "{found:?}");
    }

    #[test]
    fn polynomials_are_shifted() {
        let (b, q) = ([0.7, -1.1, 0.3, 2.0, -0.4, 0.9, 1.3], 0.6_f64);
        let at = |b: &[f64], tau: f64| b.iter().rev().fold(0.0, |sum, b| (sum + b) * tau);
        let shifted: Vec<f64> = (0..NODES)
            .map(|m| q.powi(m as i32 + 1) * (m..NODES).map(|k| SHIFT[k][m] * b[k]).sum::<f64>())
            .collect();
        for tau in [0.2, 0.7] {
            assert!((at(&b, 1.0 + q * tau) - at(&b, 1.0) - at(&shifted, tau)).abs() < 1e-13);
        }
    }
}

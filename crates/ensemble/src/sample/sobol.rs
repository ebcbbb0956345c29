//! The Sobol sequence, with the direction numbers of S. Joe and F. Y. Kuo, SIAM J. Sci. Comput. 30 (2008) 2635, doi:10.1137/070709359 (their set 6,
//! the first 64 dimensions), in the order of the Gray code (I. A. Antonov and V. M. Saleev, doi:10.1016/0041-5553(79)90085-5).
//!
//! A seed shifts all digits of a dimension by the same random ones, which keeps the sequence as even as it was; seed 0 leaves them alone, and the first
//! point is then the corner.

use super::{Draw, Kind, Law, Role, SampleError, Span};
use crate::random::{Purpose, between, bits, unit};
use std::sync::Arc;

pub(super) const KIND: Kind = Kind {
    name: "sobol",
    form: "sobol(low, high)",
    about: "a dimension of the Sobol sequence; seed 0 does not shift it",
    read: |arguments| {
        let [low, high] = arguments.numbers()?;
        arguments.ends(low, high)?;
        Ok(Arc::new(Sobol { low, high }))
    },
};

#[derive(Debug)]
struct Sobol {
    low: f64,
    high: f64,
}

impl Law for Sobol {
    fn draw(&self, role: &Role) -> Result<Draw, SampleError> {
        let (&Sobol { low, high }, Role { seed, dimension, rank, .. }) = (self, *role);
        let directions =
            directions(rank as usize).ok_or(SampleError::Dimensions { most: TABLE.len() + 1 })?;
        let shift = if seed == 0 { 0 } else { bits(seed, 0, dimension, Purpose::Shift) };
        Ok(Box::new(move |index, _| between(low, high, unit(digits(&directions, index) ^ shift))))
    }

    fn span(&self) -> Span {
        Span::Sequence
    }
}

const DIGITS: usize = 64;
type Directions = [u64; DIGITS];

/// The binary digits of a point, the first one highest.
fn digits(directions: &Directions, index: u64) -> u64 {
    let (mut gray, mut digits) = (index ^ index >> 1, 0);
    while gray != 0 {
        digits ^= directions[gray.trailing_zeros() as usize];
        gray &= gray - 1;
    }
    digits
}

/// The direction numbers of a dimension: m₁ … m_s from the table, and then
/// $m_k=2a_1m_{k-1}\oplus 4a_2m_{k-2}\oplus\dots\oplus 2^sm_{k-s}\oplus m_{k-s}$, as binary fractions mₖ/2ᵏ.
fn directions(dimension: usize) -> Option<Directions> {
    let Some(row) = dimension.checked_sub(1) else {
        return Some(std::array::from_fn(|k| 1 << (DIGITS - 1 - k)));
    };
    let &(inner, first) = TABLE.get(row)?;
    let (degree, mut v) = (first.len(), [0; DIGITS]);
    for k in 0..DIGITS {
        v[k] = match first.get(k) {
            Some(m) => m << (DIGITS - 1 - k),
            None => {
                let terms = (1..degree).filter(|i| inner >> (degree - 1 - i) & 1 == 1);
                terms.fold(v[k - degree] ^ v[k - degree] >> degree, |sum, i| sum ^ v[k - i])
            }
        };
    }
    Some(v)
}

/// The dimensions after the first: the inner coefficients a₁ … a_{s−1} of a primitive polynomial as binary digits, and m₁ … m_s.
const TABLE: &[(u64, &[u64])] = &[
    (0, &[1]),
    (1, &[1, 3]),
    (1, &[1, 3, 1]),
    (2, &[1, 1, 1]),
    (1, &[1, 1, 3, 3]),
    (4, &[1, 3, 5, 13]),
    (2, &[1, 1, 5, 5, 17]),
    (4, &[1, 1, 5, 5, 5]),
    (7, &[1, 1, 7, 11, 19]),
    (11, &[1, 1, 5, 1, 1]),
    (13, &[1, 1, 1, 3, 11]),
    (14, &[1, 3, 5, 5, 31]),
    (1, &[1, 3, 3, 9, 7, 49]),
    (13, &[1, 1, 1, 15, 21, 21]),
    (16, &[1, 3, 1, 13, 27, 49]),
    (19, &[1, 1, 1, 15, 7, 5]),
    (22, &[1, 3, 1, 15, 13, 25]),
    (25, &[1, 1, 5, 5, 19, 61]),
    (1, &[1, 3, 7, 11, 23, 15, 103]),
    (4, &[1, 3, 7, 13, 13, 15, 69]),
    (7, &[1, 1, 3, 13, 7, 35, 63]),
    (8, &[1, 3, 5, 9, 1, 25, 53]),
    (14, &[1, 3, 1, 13, 9, 35, 107]),
    (19, &[1, 3, 1, 5, 27, 61, 31]),
    (21, &[1, 1, 5, 11, 19, 41, 61]),
    (28, &[1, 3, 5, 3, 3, 13, 69]),
    (31, &[1, 1, 7, 13, 1, 19, 1]),
    (32, &[1, 3, 7, 5, 13, 19, 59]),
    (37, &[1, 1, 3, 9, 25, 29, 41]),
    (41, &[1, 3, 5, 13, 23, 1, 55]),
    (42, &[1, 3, 7, 3, 13, 59, 17]),
    (50, &[1, 3, 1, 3, 5, 53, 69]),
    (55, &[1, 1, 5, 5, 23, 33, 13]),
    (56, &[1, 1, 7, 7, 1, 61, 123]),
    (59, &[1, 1, 7, 9, 13, 61, 49]),
    (62, &[1, 3, 3, 5, 3, 55, 33]),
    (14, &[1, 3, 1, 15, 31, 13, 49, 245]),
    (21, &[1, 3, 5, 15, 31, 59, 63, 97]),
    (22, &[1, 3, 1, 11, 11, 11, 77, 249]),
    (38, &[1, 3, 1, 11, 27, 43, 71, 9]),
    (47, &[1, 1, 7, 15, 21, 11, 81, 45]),
    (49, &[1, 3, 7, 3, 25, 31, 65, 79]),
    (50, &[1, 3, 1, 1, 19, 11, 3, 205]),
    (52, &[1, 1, 5, 9, 19, 21, 29, 157]),
    (56, &[1, 3, 7, 11, 1, 33, 89, 185]),
    (67, &[1, 3, 3, 3, 15, 9, 79, 71]),
    (70, &[1, 3, 7, 11, 15, 39, 119, 27]),
    (84, &[1, 1, 3, 1, 11, 31, 97, 225]),
    (97, &[1, 1, 1, 3, 23, 43, 57, 177]),
    (103, &[1, 3, 7, 7, 17, 17, 37, 71]),
    (115, &[1, 3, 1, 5, 27, 63, 123, 213]),
    (122, &[1, 1, 3, 5, 11, 43, 53, 133]),
    (8, &[1, 3, 5, 5, 29, 17, 47, 173, 479]),
    (13, &[1, 3, 3, 11, 3, 1, 109, 9, 69]),
    (16, &[1, 1, 1, 5, 17, 39, 23, 5, 343]),
    (22, &[1, 3, 1, 5, 25, 15, 31, 103, 499]),
    (25, &[1, 1, 1, 11, 11, 17, 63, 105, 183]),
    (44, &[1, 1, 5, 11, 9, 29, 97, 231, 363]),
    (47, &[1, 1, 5, 15, 19, 45, 41, 7, 383]),
    (52, &[1, 3, 7, 7, 31, 19, 83, 137, 221]),
    (55, &[1, 1, 1, 3, 23, 15, 111, 223, 83]),
    (59, &[1, 1, 5, 13, 31, 15, 55, 25, 161]),
    (62, &[1, 1, 3, 13, 25, 47, 39, 87, 257]),
];

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;

    fn point(index: u64, dimension: usize) -> f64 {
        unit(digits(&directions(dimension).unwrap(), index))
    }

    /// Points of scipy.stats.qmc.Sobol(64, scramble=False), version 1.17.1.
    #[test]
    fn points_are_those_of_scipy() {
        let fifth: Vec<f64> = (0..8).map(|dimension| point(5, dimension)).collect();
        assert_eq!(fifth, [0.875, 0.875, 0.125, 0.375, 0.875, 0.625, 0.875, 0.375]);
        let far = [0, 1, 2, 9, 31, 63].map(|dimension| point(1000, dimension));
        let known = [
            0.219_726_562_5,
            0.096_679_687_5,
            0.518_554_687_5,
            0.069_335_937_5,
            0.145_507_812_5,
            0.446_289_062_5,
        ];
        assert_eq!(far, known);
        assert!((0..64).all(|dimension| point(0, dimension) == 0.0) && directions(64).is_none());
    }

    /// Polynomials are primitive (x is of order 2ˢ − 1 modulo them), all different, and every mₖ is odd and below 2ᵏ.
    #[test]
    fn the_table_is_one_of_direction_numbers() {
        let mut seen = std::collections::HashSet::new();
        for &(inner, first) in TABLE {
            let degree = first.len();
            let polynomial = 1 << degree | inner << 1 | 1;
            let (mut power, mut order) = (1u64, 0);
            loop {
                power <<= 1;
                power ^= if power >> degree & 1 == 1 { polynomial } else { 0 };
                order += 1;
                if power == 1 || order > 1 << degree {
                    break;
                }
            }
            assert_eq!(order, (1 << degree) - 1, "{polynomial:b}");
            assert!(seen.insert(polynomial));
            assert!(first.iter().enumerate().all(|(k, m)| m & 1 == 1 && *m < 2 << k), "{first:?}");
        }
    }

    /// Sobol's property A, for which Joe and Kuo chose their numbers: of the first 2ᵈ points in d dimensions, and of each 2ᵈ after them, one is in
    /// each of the 2ᵈ cells that halving every axis makes. The quarters of two dimensions that follow each other in the same way: see the nets below.
    #[test]
    fn every_half_of_every_axis_is_met_equally() {
        for d in [1, 2, 3, 5, 8, 13, 16] {
            for block in 0..2u64 {
                let axes: Vec<Directions> = (0..d).map(|axis| directions(axis).unwrap()).collect();
                let mut seen = vec![false; 1 << d];
                for index in block << d..(block + 1) << d {
                    let cell = axes.iter().fold(0, |cell, v| cell << 1 | digits(v, index) >> 63) as usize;
                    assert!(!std::mem::replace(&mut seen[cell], true), "cell {cell} of {d} dimensions");
                }
            }
        }
    }

    /// Each dimension alone is a (0, m, 1)-net, and the first two are a (0, m, 2)-net: each of 2ᵐ equal boxes with sides 2⁻ʲ and 2ʲ⁻ᵐ has one of 2ᵐ
    /// points. A shift keeps that.
    #[test]
    fn points_form_nets() {
        const M: u32 = 10;
        let top = |digits: u64, bits: u32| if bits == 0 { 0 } else { digits >> (64 - bits) };
        for dimension in 0..64 {
            let v = directions(dimension).unwrap();
            let mut seen = vec![false; 1 << M];
            (0..1 << M).for_each(|i| seen[top(digits(&v, i), M) as usize] = true);
            assert!(seen.iter().all(|&seen| seen), "dimension {dimension}");
        }
        let (x, y) = (directions(0).unwrap(), directions(1).unwrap());
        for (j, shift) in (0..=M).flat_map(|j| [(j, 0), (j, 0x9e37_79b9_7f4a_7c15)]) {
            let mut seen = vec![false; 1 << M];
            for i in 0..1 << M {
                let cell = top(digits(&x, i) ^ shift, j) << (M - j) | top(digits(&y, i) ^ !shift, M - j);
                seen[cell as usize] = true;
            }
            assert!(seen.iter().all(|&seen| seen), "boxes of side 2^-{j}");
        }
    }
}

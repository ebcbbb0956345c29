//! Inverses of small matrices.

/// Inverts a matrix by elimination with partial pivoting, both by rows. What is given is overwritten; a singular matrix leaves numbers that are
/// not finite.
pub(crate) fn invert(matrix: &mut [f64], inverse: &mut [f64], n: usize) {
    for (place, entry) in inverse.iter_mut().enumerate() {
        *entry = f64::from(place / n == place % n);
    }
    for c in 0..n {
        let size = |r: &usize| matrix[r * n + c].abs();
        let pivot = (c..n).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(c);
        if pivot != c {
            (0..n).for_each(|k| matrix.swap(c * n + k, pivot * n + k));
            (0..n).for_each(|k| inverse.swap(c * n + k, pivot * n + k));
        }
        let scale = 1.0 / matrix[c * n + c];
        (c..n).for_each(|k| matrix[c * n + k] *= scale);
        (0..n).for_each(|k| inverse[c * n + k] *= scale);
        for r in (0..n).filter(|&r| r != c) {
            let factor = matrix[r * n + c];
            if factor != 0.0 {
                (c..n).for_each(|k| matrix[r * n + k] -= factor * matrix[c * n + k]);
                (0..n).for_each(|k| inverse[r * n + k] -= factor * inverse[c * n + k]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::invert;

    #[test]
    fn inverses_invert() {
        let matrix = [0.0, 2.0, 1.0, 1.0, 1.0, 0.0, 4.0, 0.0, -1.0];
        let (mut work, mut inverse) = (matrix, [0.0; 9]);
        invert(&mut work, &mut inverse, 3);
        for (i, k) in (0..3).flat_map(|i| (0..3).map(move |k| (i, k))) {
            let product: f64 = (0..3).map(|l| matrix[i * 3 + l] * inverse[l * 3 + k]).sum();
            assert!((product - f64::from(i == k)).abs() < 1e-15);
        }
        let mut inverse = [0.0; 4];
        invert(&mut [1.0, 1.0, 1.0, 1.0], &mut inverse, 2);
        assert!(inverse.iter().any(|x| !x.is_finite()));
    }
}

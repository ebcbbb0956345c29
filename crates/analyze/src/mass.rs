//! The mass matrix at rest.

use crate::error::AnalyzeError;
use leastaction_linear::{Pattern, SparseCholesky};
use leastaction_mechanics::Dynamics;

/// The mass matrix at one configuration, by its nonzeros.
pub(crate) struct Mass {
    pub(crate) pattern: Pattern,
    pub(crate) entries: Vec<f64>,
    inverse: Inverse,
}

enum Inverse {
    /// All masses are on the diagonal.
    Diagonal(Vec<f64>),
    Factors(Box<SparseCholesky>),
    /// A coordinate has no inertia.
    None(usize),
}

impl Mass {
    pub(crate) fn new(dynamics: &mut Dynamics, t: f64, q: &[f64]) -> Result<Mass, AnalyzeError> {
        let n = q.len();
        let lower: Vec<(usize, usize, f64)> = match dynamics.mass_pattern().map(<[_]>::to_vec) {
            Some(pattern) => {
                let entries = dynamics.mass_entries(t, q)?;
                pattern.into_iter().zip(entries).map(|((i, j), m)| (i, j, m)).collect()
            }
            None => {
                let (mut z, mut matrix) = (q.to_vec(), vec![0.0; n * n]);
                z.resize(2 * n, 0.0);
                dynamics.mass_matrix(&[t], &z, &mut matrix)?;
                let lower = (0..n).flat_map(|i| (0..=i).map(move |j| (i, j)));
                lower
                    .map(|(i, j)| (i, j, matrix[i * n + j]))
                    .filter(|(i, j, m)| i == j || *m != 0.0)
                    .collect()
            }
        };
        let pattern = match lower.iter().all(|(i, j, _)| i == j) {
            true => Pattern::from_rows(n, (0..n).map(|i| vec![i as u32])),
            false => {
                let both = lower.iter().flat_map(|&(i, j, _)| [(i, j), (j, i)]);
                Pattern::new(n, n, both.chain((0..n).map(|i| (i, i))).collect())
            }
        };
        let mut entries = vec![0.0; pattern.len()];
        for (i, j, m) in lower {
            for (i, j) in [(i, j), (j, i)] {
                pattern.find(i, j).into_iter().for_each(|place| entries[place] = m);
            }
        }
        let diagonal = |i: usize| pattern.find(i, i).map_or(0.0, |place| entries[place]);
        let inverse = if let Some(i) = (0..n).find(|&i| diagonal(i).is_nan() || diagonal(i) <= 0.0) {
            Inverse::None(i)
        } else if pattern.len() == n {
            Inverse::Diagonal((0..n).map(|i| 1.0 / diagonal(i)).collect())
        } else {
            let mut factors = SparseCholesky::new(&pattern);
            match factors.factor(|entry| entries[entry]) {
                Ok(()) => Inverse::Factors(Box::new(factors)),
                Err(_) => {
                    let lightest = (0..n).min_by(|&a, &b| diagonal(a).total_cmp(&diagonal(b)));
                    Inverse::None(lightest.unwrap_or(0))
                }
            }
        };
        Ok(Mass { pattern, entries, inverse })
    }

    pub(crate) fn diagonal(&self, i: usize) -> f64 {
        self.pattern.find(i, i).map_or(0.0, |place| self.entries[place])
    }

    /// The coordinate without inertia, if there is one.
    pub(crate) fn massless(&self) -> Option<usize> {
        if let Inverse::None(i) = self.inverse { Some(i) } else { None }
    }

    /// out = M x.
    pub(crate) fn product(&self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.pattern.add_product::<1>(&self.entries, x, out);
    }

    /// Replaces a vector by M⁻¹ times it; by itself where masses are singular.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        match &mut self.inverse {
            Inverse::Diagonal(inverse) => x.iter_mut().zip(inverse).for_each(|(x, inverse)| *x *= *inverse),
            Inverse::Factors(factors) => factors.solve(x),
            Inverse::None(_) => {}
        }
    }
}

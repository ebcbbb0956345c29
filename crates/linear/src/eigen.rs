//! Eigenvalues: of small matrices all of them, by `faer`; of large symmetric maps the largest, by Lanczos' method.

use crate::Complex;
use faer::{Mat, Side};

/// The eigenvalues of a symmetric matrix in ascending order, and its orthonormal eigenvectors, one after the other. The matrix is given by rows, and read
/// below and on its diagonal.
#[must_use]
pub fn symmetric(matrix: &[f64], n: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    if n == 0 || !matrix.iter().all(|x| x.is_finite()) {
        return (n == 0).then(Default::default);
    }
    let found = Mat::from_fn(n, n, |i, j| matrix[i * n + j]).self_adjoint_eigen(Side::Lower).ok()?;
    let (values, vectors) = (found.S().column_vector(), found.U());
    let values = (0..n).map(|k| values[k]).collect();
    Some((values, (0..n * n).map(|place| vectors[(place % n, place / n)]).collect()))
}

/// The eigenvalues of any real matrix, by rows, and its eigenvectors, one after the other.
#[must_use]
pub fn general(matrix: &[f64], n: usize) -> Option<(Vec<Complex>, Vec<Complex>)> {
    if n == 0 || !matrix.iter().all(|x| x.is_finite()) {
        return (n == 0).then(Default::default);
    }
    let found = Mat::from_fn(n, n, |i, j| matrix[i * n + j]).eigen().ok()?;
    let (values, vectors) = (found.S().column_vector(), found.U());
    let number = |z: faer::c64| Complex::new(z.re, z.im);
    let values = (0..n).map(|k| number(values[k])).collect();
    Some((values, (0..n * n).map(|place| number(vectors[(place % n, place / n)])).collect()))
}

/// What [`Lanczos`] asks for: a map that is symmetric in the inner product xᵀM y, this product, and vectors to begin with.
pub trait SymmetricMap {
    /// Why a product cannot be computed.
    type Error;
    /// How many numbers vectors have.
    fn dimension(&self) -> usize;
    /// out = A x.
    ///
    /// # Errors
    /// If that cannot be computed.
    fn apply(&mut self, x: &[f64], out: &mut [f64]) -> Result<(), Self::Error>;
    /// out = M x.
    fn weigh(&self, x: &[f64], out: &mut [f64]);
    /// A vector without pattern, in the space on which the map acts.
    fn sample(&mut self, out: &mut [f64]);
}

/// The largest eigenvalues of a symmetric map and their vectors, by Lanczos' method: Rayleigh–Ritz in the span of what the map makes of
/// several vectors without pattern, each new vector made orthogonal to all others (B. N. Parlett, *The Symmetric Eigenvalue Problem*, 1998,
/// chapter 13).
///
/// A map shows no vector of one Krylov space more of a multiple eigenvalue than one of its vectors. So it begins with several; and after all that is
/// wanted has converged, further vectors without pattern are added one by one, until one of them brings nothing new.
#[derive(Clone, Copy, Debug)]
pub struct Lanczos {
    /// How many eigenvalues are wanted.
    pub count: usize,
    /// How large a residual may be, relative to its eigenvalue.
    pub tolerance: f64,
    /// How many products may be made.
    pub most: usize,
    /// How many vectors it begins with: as many as an eigenvalue is expected to be multiple.
    pub block: usize,
    /// Whether to look for what was missed.
    pub careful: bool,
}

/// Eigenvalues in descending order, with their vectors, which are orthonormal in the inner product of the map.
#[derive(Clone, Debug, Default)]
pub struct Eigenpairs {
    /// The eigenvalues.
    pub values: Vec<f64>,
    /// The vectors.
    pub vectors: Vec<Vec<f64>>,
    /// The largest residual of a pair, relative to its eigenvalue.
    pub residual: f64,
    /// How many products were made.
    pub products: usize,
    /// Whether all that was wanted is as good as was asked.
    pub converged: bool,
}

/// How many times each vector is mapped before it is judged that a further one brings nothing new.
const TRIAL: usize = 4;
/// A vector of which this part is left, when others are taken from it, was made of these.
const LEFT: f64 = 1e-10;

struct Basis {
    vectors: Vec<Vec<f64>>,
    weighed: Vec<Vec<f64>>,
    /// For each vector that was mapped, the products of the image with all vectors.
    images: Vec<Vec<f64>>,
}

impl Lanczos {
    /// The largest eigenvalues of a map, or all if there are fewer.
    ///
    /// # Errors
    /// What the map says.
    pub fn largest<M: SymmetricMap>(&self, map: &mut M) -> Result<Eigenpairs, M::Error> {
        let n = map.dimension();
        let mut basis = Basis { vectors: Vec::new(), weighed: Vec::new(), images: Vec::new() };
        let mut exhausted = n == 0;
        for _ in 0..self.block.max(1).min(n) {
            exhausted |= !basis.add_sample(map);
        }
        let (mut image, mut known, mut judged) = (vec![0.0; n], Vec::<f64>::new(), 0);
        loop {
            let mapped = basis.images.len();
            if mapped == basis.vectors.len() && !exhausted {
                exhausted |= !basis.add_sample(map);
            }
            let done = mapped == basis.vectors.len() && exhausted;
            if done || mapped >= self.most {
                return Ok(basis.pairs(self, done).unwrap_or_default());
            }
            if mapped >= self.count && mapped >= judged && mapped.is_multiple_of(self.block.max(4)) {
                let pairs = basis.ritz(self);
                if pairs.as_ref().is_some_and(|pairs| pairs.converged) {
                    let values = pairs.map(|pairs| pairs.values).unwrap_or_default();
                    let alike = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * b.abs();
                    if !self.careful || values.len() == known.len() && values.iter().zip(&known).all(alike) {
                        return Ok(basis.pairs(self, false).unwrap_or_default());
                    }
                    known = values;
                    exhausted |= !basis.add_sample(map);
                    judged = basis.vectors.len() + TRIAL * self.block;
                }
            }
            map.apply(&basis.vectors[mapped], &mut image)?;
            basis.add_image(map, &image);
        }
    }
}

impl Basis {
    /// Takes the parts of all vectors out of one. Returns these parts, and the length before and after.
    fn separate<M: SymmetricMap>(&self, map: &M, x: &mut [f64], weighed: &mut [f64]) -> (Vec<f64>, [f64; 2]) {
        let mut shares = vec![0.0; self.vectors.len()];
        map.weigh(x, weighed);
        let before = dot(x, weighed).max(0.0).sqrt();
        for _ in 0..2 {
            for ((vector, weighed), share) in self.vectors.iter().zip(&self.weighed).zip(&mut shares) {
                let part = dot(weighed, x);
                x.iter_mut().zip(vector).for_each(|(x, v)| *x -= part * v);
                *share += part;
            }
        }
        map.weigh(x, weighed);
        (shares, [before, dot(x, weighed).max(0.0).sqrt()])
    }

    fn add(&mut self, mut x: Vec<f64>, mut weighed: Vec<f64>, length: f64) {
        x.iter_mut().chain(&mut weighed).for_each(|x| *x /= length);
        self.vectors.push(x);
        self.weighed.push(weighed);
    }

    /// Adds a vector without pattern, unless there is no other.
    fn add_sample<M: SymmetricMap>(&mut self, map: &mut M) -> bool {
        let (mut x, mut weighed) = (vec![0.0; map.dimension()], vec![0.0; map.dimension()]);
        map.sample(&mut x);
        let (_, [before, after]) = self.separate(map, &mut x, &mut weighed);
        let there = after > 1e-7 * before && after.is_finite();
        if there {
            self.add(x, weighed, after);
        }
        there
    }

    /// Adds what the map made of the next vector.
    fn add_image<M: SymmetricMap>(&mut self, map: &M, image: &[f64]) {
        let (mut x, mut weighed) = (image.to_vec(), vec![0.0; image.len()]);
        let (mut shares, [before, after]) = self.separate(map, &mut x, &mut weighed);
        if after > LEFT * before && after.is_finite() {
            shares.push(after);
            self.add(x, weighed, after);
        }
        self.images.push(shares);
    }

    /// Rayleigh–Ritz among the vectors that were mapped: all eigenvalues and vectors in this basis, ascending.
    fn projected(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let m = self.images.len();
        let mut matrix = vec![0.0; m * m];
        for (j, image) in self.images.iter().enumerate() {
            for (i, &share) in image.iter().take(m).enumerate() {
                // Both halves are known where a vector was there when the other was mapped.
                if i <= j {
                    matrix[j * m + i] = share;
                } else {
                    matrix[i * m + j] = share;
                }
            }
        }
        symmetric(&matrix, m)
    }

    /// The pairs that are wanted, without their vectors.
    fn ritz(&self, wanted: &Lanczos) -> Option<Eigenpairs> {
        let (values, vectors) = self.projected()?;
        let (m, count) = (self.images.len(), wanted.count.min(self.images.len()));
        let mut residual = 0.0f64;
        for k in m - count..m {
            let s = &vectors[k * m..][..m];
            let mut left = vec![0.0; self.vectors.len() - m];
            for (image, s) in self.images.iter().zip(s) {
                for (left, share) in left.iter_mut().zip(image.iter().skip(m)) {
                    *left += share * s;
                }
            }
            residual = residual.max(dot(&left, &left).sqrt() / values[k].abs().max(f64::MIN_POSITIVE));
        }
        Some(Eigenpairs {
            values: values[m - count..].iter().rev().copied().collect(),
            vectors: Vec::new(),
            residual,
            products: m,
            converged: residual <= wanted.tolerance && count == wanted.count,
        })
    }

    /// The pairs that are wanted; `whole` if there are no other vectors than these.
    fn pairs(&self, wanted: &Lanczos, whole: bool) -> Option<Eigenpairs> {
        let m = self.images.len();
        let (_, small) = self.projected()?;
        let mut pairs = self.ritz(wanted)?;
        let count = pairs.values.len();
        pairs.converged |= whole && pairs.residual <= wanted.tolerance.max(1e-6);
        pairs.vectors = (m - count..m)
            .rev()
            .map(|k| {
                let mut vector = vec![0.0; self.vectors.first().map_or(0, Vec::len)];
                for (basis, s) in self.vectors.iter().zip(&small[k * m..][..m]) {
                    vector.iter_mut().zip(basis).for_each(|(x, v)| *x += s * v);
                }
                vector
            })
            .collect();
        Some(pairs)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A diagonal map in the product of other weights.
    struct Diagonal {
        entries: Vec<f64>,
        weights: Vec<f64>,
        seed: u64,
    }

    impl SymmetricMap for Diagonal {
        type Error = std::convert::Infallible;
        fn dimension(&self) -> usize {
            self.entries.len()
        }
        fn apply(&mut self, x: &[f64], out: &mut [f64]) -> Result<(), Self::Error> {
            (0..x.len()).for_each(|i| out[i] = self.entries[i] * x[i]);
            Ok(())
        }
        fn weigh(&self, x: &[f64], out: &mut [f64]) {
            (0..x.len()).for_each(|i| out[i] = self.weights[i] * x[i]);
        }
        fn sample(&mut self, out: &mut [f64]) {
            for x in out {
                self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *x = (self.seed >> 40) as f64 / (1u64 << 24) as f64 - 0.5;
            }
        }
    }

    #[test]
    fn no_copy_of_a_multiple_eigenvalue_is_missed() {
        // Twenty times 5, then 80 others below: more copies than the method begins with.
        let entries = (0..100).map(|i| if i < 20 { 5.0 } else { 3.0 / (i - 18) as f64 }).collect();
        let weights = (0..100).map(|i| 1.0 + 0.01 * f64::from(i)).collect();
        let mut map = Diagonal { entries, weights, seed: 1 };
        let wanted = Lanczos { count: 22, tolerance: 1e-9, most: 100, block: 6, careful: true };
        let Ok(found) = wanted.largest(&mut map);
        assert!(found.converged, "{found:?}");
        let expected: Vec<f64> = [5.0; 20].into_iter().chain([1.5, 1.0]).collect();
        for (found, expected) in found.values.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
        }
        let mut weighed = vec![0.0; 100];
        for (k, a) in found.vectors.iter().enumerate() {
            map.weigh(a, &mut weighed);
            for (l, b) in found.vectors.iter().enumerate() {
                assert!((dot(b, &weighed) - f64::from(k == l)).abs() < 1e-9, "{k} {l}");
            }
        }
    }

    #[test]
    fn all_pairs_of_a_small_map_are_found() {
        let mut map = Diagonal { entries: vec![2.0, -1.0, 2.0], weights: vec![1.0, 4.0, 9.0], seed: 3 };
        let wanted = Lanczos { count: 10, tolerance: 1e-9, most: 100, block: 6, careful: true };
        let Ok(found) = wanted.largest(&mut map);
        assert!(found.values.iter().zip([2.0, 2.0, -1.0]).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }

    #[test]
    fn small_matrices_have_their_eigenvalues() {
        let (values, vectors) = symmetric(&[2.0, 1.0, 1.0, 2.0], 2).expect("they exist");
        assert!((values[0] - 1.0).abs() < 1e-14 && (values[1] - 3.0).abs() < 1e-14);
        assert!((vectors[0] + vectors[1]).abs() < 1e-14);
        let (values, _) = general(&[0.0, 1.0, -4.0, 0.0], 2).expect("they exist");
        assert!(values.iter().all(|z| z.re.abs() < 1e-14 && (z.im.abs() - 2.0).abs() < 1e-14));
    }
}

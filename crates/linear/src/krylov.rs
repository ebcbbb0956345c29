//! Matrices that are known by their products only.

/// The generalised method of minimal residuals, begun again where its memory is full: of all x in the span of r, A r, A²r, … that with the
/// smallest residual (Y. Saad and M. H. Schultz, SIAM J. Sci. Stat. Comput. 7 (1986) 856, doi:10.1137/0907058). A preconditioner acts on the
/// right, so that residuals are those of the system itself.
#[derive(Clone, Debug)]
pub struct Gmres {
    n: usize,
    most: usize,
    /// An orthonormal basis of the span, one vector after the other.
    basis: Vec<f64>,
    /// The map in this basis by columns, made triangular by rotations; and the right side, turned alike.
    triangle: Vec<f64>,
    rotations: Vec<[f64; 2]>,
    side: Vec<f64>,
    work: Vec<f64>,
}

/// How far an iteration came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Convergence {
    /// How many products with the matrix were made.
    pub products: u32,
    /// What is left of the right side, relative to it, as the method reckons.
    pub residual: f64,
}

impl Gmres {
    /// Memory for n unknowns and a basis of so many vectors.
    #[must_use]
    pub fn new(n: usize, most: usize) -> Gmres {
        let most = most.clamp(1, n.max(1));
        Gmres {
            n,
            most,
            basis: vec![0.0; (most + 1) * n],
            triangle: vec![0.0; (most + 1) * most],
            rotations: vec![[1.0, 0.0]; most],
            side: vec![0.0; most + 1],
            work: vec![0.0; n],
        }
    }

    /// Solves A x = b from x = 0 until the residual is `tolerance` relative to b, or for so many products. `apply` gives A x, and
    /// `precondition` replaces a vector by what A nearly maps to it.
    ///
    /// # Errors
    /// What `apply` says.
    pub fn solve<E>(
        &mut self,
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
        products: u32,
        mut apply: impl FnMut(&[f64], &mut [f64]) -> Result<(), E>,
        mut precondition: impl FnMut(&mut [f64]),
    ) -> Result<Convergence, E> {
        let (n, whole) = (self.n, norm(b));
        x.fill(0.0);
        let mut done = Convergence { products: 0, residual: f64::from(whole > 0.0) };
        while done.residual > tolerance && done.products < products {
            let residual = &mut self.basis[..n];
            if done.products == 0 {
                residual.copy_from_slice(b);
            } else {
                apply(x, residual)?;
                done.products += 1;
                residual.iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
            }
            let length = norm(residual);
            done.residual = length / whole;
            if done.residual <= tolerance || !length.is_finite() {
                break;
            }
            residual.iter_mut().for_each(|r| *r /= length);
            self.side.fill(0.0);
            self.side[0] = length;
            let mut count = 0;
            while count < self.most && done.products < products && done.residual > tolerance {
                let (known, next) = self.basis.split_at_mut((count + 1) * n);
                self.work.copy_from_slice(&known[count * n..]);
                precondition(&mut self.work);
                apply(&self.work, &mut next[..n])?;
                done.products += 1;
                let exhausted = self.extend(count);
                count += 1;
                done.residual = self.side[count].abs() / whole;
                if exhausted || !done.residual.is_finite() {
                    break;
                }
            }
            self.combine(count);
            precondition(&mut self.work);
            x.iter_mut().zip(&self.work).for_each(|(x, part)| *x += part);
            if !done.residual.is_finite() {
                break;
            }
        }
        Ok(done)
    }

    /// Makes the newest vector orthogonal to the others, and the map triangular. Returns whether nothing is left of it.
    fn extend(&mut self, count: usize) -> bool {
        let (n, column) = (self.n, count * (self.most + 1));
        let (known, next) = self.basis.split_at_mut((count + 1) * n);
        let next = &mut next[..n];
        let before = norm(next);
        for (k, vector) in known.chunks_exact(n).enumerate() {
            let share = dot(vector, next);
            next.iter_mut().zip(vector).for_each(|(x, v)| *x -= share * v);
            self.triangle[column + k] = share;
        }
        let length = norm(next);
        let exhausted = length <= f64::EPSILON * before;
        if !exhausted {
            next.iter_mut().for_each(|x| *x /= length);
        }
        let entries = &mut self.triangle[column..][..count + 2];
        entries[count + 1] = length;
        for k in 0..count {
            let [cos, sin] = self.rotations[k];
            (entries[k], entries[k + 1]) =
                (cos * entries[k] + sin * entries[k + 1], cos * entries[k + 1] - sin * entries[k]);
        }
        let whole = entries[count].hypot(entries[count + 1]);
        let [cos, sin] =
            if whole == 0.0 { [1.0, 0.0] } else { [entries[count] / whole, entries[count + 1] / whole] };
        (entries[count], entries[count + 1], self.rotations[count]) = (whole, 0.0, [cos, sin]);
        (self.side[count], self.side[count + 1]) = (cos * self.side[count], -sin * self.side[count]);
        exhausted
    }

    /// Puts the combination of the first vectors with the smallest residual into `work`.
    fn combine(&mut self, count: usize) {
        self.work.fill(0.0);
        for k in (0..count).rev() {
            let entry = |row: usize, column: usize| self.triangle[column * (self.most + 1) + row];
            let known: f64 = (k + 1..count).map(|j| entry(k, j) * self.side[j]).sum();
            // A direction that the matrix maps to nothing takes no part.
            let pivot = entry(k, k);
            self.side[k] = if pivot == 0.0 { 0.0 } else { (self.side[k] - known) / pivot };
            let vector = &self.basis[k * self.n..][..self.n];
            self.work.iter_mut().zip(vector).for_each(|(x, v)| *x += self.side[k] * v);
        }
    }
}

/// Conjugate gradients, for symmetric matrices (M. R. Hestenes and E. Stiefel, J. Res. Natl. Bur. Stand. 49 (1952) 409,
/// doi:10.6028/jres.049.044), which notice a direction in which the matrix is not positive.
#[derive(Clone, Debug)]
pub struct ConjugateGradients {
    residual: Vec<f64>,
    conditioned: Vec<f64>,
    direction: Vec<f64>,
    image: Vec<f64>,
}

/// What conjugate gradients met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curvature {
    /// The matrix is positive in all directions that were looked at.
    Positive,
    /// In one direction it is not: the solution so far is that of those before, and if there was none, this direction.
    NotPositive,
}

impl ConjugateGradients {
    /// Memory for n unknowns.
    #[must_use]
    pub fn new(n: usize) -> ConjugateGradients {
        let zeros = || vec![0.0; n];
        ConjugateGradients { residual: zeros(), conditioned: zeros(), direction: zeros(), image: zeros() }
    }

    /// Solves A x = b from x = 0 until the residual is `tolerance` relative to b, or for so many products. `apply` gives A x, and
    /// `precondition` replaces a vector by what A nearly maps to it, symmetrically; where both act on a subspace, so does this.
    ///
    /// # Errors
    /// What `apply` says.
    pub fn solve<E>(
        &mut self,
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
        products: u32,
        mut apply: impl FnMut(&[f64], &mut [f64]) -> Result<(), E>,
        mut precondition: impl FnMut(&mut [f64]),
    ) -> Result<(Convergence, Curvature), E> {
        let ConjugateGradients { residual, conditioned, direction, image } = self;
        x.fill(0.0);
        residual.copy_from_slice(b);
        conditioned.copy_from_slice(b);
        precondition(conditioned);
        direction.copy_from_slice(conditioned);
        let mut size = dot(residual, conditioned);
        let whole = size.max(0.0).sqrt();
        let mut done = Convergence { products: 0, residual: f64::from(whole > 0.0) };
        while done.residual > tolerance && done.products < products {
            apply(direction, image)?;
            done.products += 1;
            let bend = dot(direction, image);
            if bend.is_nan() || bend <= 0.0 {
                if done.products == 1 {
                    x.copy_from_slice(direction);
                }
                return Ok((done, Curvature::NotPositive));
            }
            let along = size / bend;
            x.iter_mut().zip(&*direction).for_each(|(x, d)| *x += along * d);
            residual.iter_mut().zip(&*image).for_each(|(r, a)| *r -= along * a);
            conditioned.copy_from_slice(residual);
            precondition(conditioned);
            let next = dot(residual, conditioned);
            done.residual = next.max(0.0).sqrt() / whole;
            direction.iter_mut().zip(&*conditioned).for_each(|(d, z)| *d = z + next / size * *d);
            size = next;
        }
        Ok((done, Curvature::Positive))
    }
}

fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

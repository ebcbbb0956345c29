//! Solutions with K + σM in the directions that constraints allow.
//!
//! What constraints forbid is made stiff: A = K + σM + ρGᵀG is positive definite only if K + σM is in the allowed directions, and a large ρ
//! makes it so if that is. From A, the solution that meets Gx = 0 follows by the method of multipliers (M. R. Hestenes, J. Optim. Theory Appl. 4
//! (1969) 303, doi:10.1007/BF00927673). Dependent constraints do no harm.

use crate::error::AnalyzeError;
use crate::mass::Mass;
use crate::rest::{Rest, dot, largest};
use leastaction_linear::{ConjugateGradients, Curvature, Pattern, SparseCholesky, Structure, dense};
use leastaction_mechanics::EvalError;

/// How much stiffer than anything else constraints are made.
const STIFF: f64 = 1e4;
/// Iterations for the multipliers: each leaves a part of 1/STIFF.
const CORRECTIONS: usize = 8;
/// More unknowns than this are solved for by conjugate gradients: factors of meshes in space then are gigabytes.
const MOST_FACTORED: usize = 150_000;

/// What K + σM is solved with.
pub(crate) struct Shifted {
    form: Form,
    rho: f64,
    sigma: f64,
    /// What is added on the diagonal besides, so that what costs no energy does not move by rounding; nothing if it is empty.
    floor: Vec<f64>,
    rows: usize,
}

enum Form {
    Dense {
        matrix: Vec<f64>,
        n: usize,
    },
    Sparse {
        pattern: Pattern,
        values: Vec<f64>,
        factors: Box<SparseCholesky>,
    },
    /// By products, with the diagonal of the stiffness as far as that is known.
    Products {
        gradients: Box<ConjugateGradients>,
        diagonal: Vec<f64>,
    },
}

impl Shifted {
    pub(crate) fn new(rest: &Rest<'_>, mass: &Mass) -> Shifted {
        let n = rest.n;
        let form = match rest.linear.structure() {
            Structure::Dense(_) => Form::Dense { matrix: vec![0.0; n * n], n },
            Structure::Sparse(stiffness) if n <= MOST_FACTORED => {
                let mut rows: Vec<Vec<u32>> = vec![Vec::new(); n];
                let below = stiffness.entries().chain(mass.pattern.entries()).filter(|(i, j)| i >= j);
                below.for_each(|(i, j)| rows[i].push(j as u32));
                if let Some(factors) = &rest.factors {
                    let (jacobian, _) = factors.jacobian();
                    for row in 0..jacobian.rows() {
                        let columns = &jacobian.columns()[jacobian.row(row)];
                        for &i in columns {
                            rows[i as usize].extend(columns.iter().filter(|j| **j <= i));
                        }
                    }
                }
                rows.iter_mut().for_each(|row| {
                    row.sort_unstable();
                    row.dedup();
                });
                let pattern = Pattern::from_rows(n, rows);
                let factors = Box::new(SparseCholesky::new(&pattern));
                Form::Sparse { values: vec![0.0; pattern.len()], pattern, factors }
            }
            Structure::Sparse(_) | Structure::Free(_) => {
                Form::Products { gradients: Box::new(ConjugateGradients::new(n)), diagonal: vec![1.0; n] }
            }
        };
        Shifted { form, rho: 0.0, sigma: 0.0, floor: Vec::new(), rows: rest.rows }
    }

    /// Whether definiteness is known from factors, and not only along the way of a solution.
    pub(crate) fn is_factored(&self) -> bool {
        !matches!(self.form, Form::Products { .. })
    }

    /// Factors K + σM at the last place of `rest`. Returns whether it is positive definite in the allowed directions; without factors, it is taken
    /// for that.
    pub(crate) fn factor(&mut self, rest: &Rest<'_>, mass: &Mass, sigma: f64) -> bool {
        self.factor_above(rest, mass, sigma, Vec::new())
    }

    /// As [`Shifted::factor`], with a diagonal besides.
    pub(crate) fn factor_above(&mut self, rest: &Rest<'_>, mass: &Mass, sigma: f64, floor: Vec<f64>) -> bool {
        self.sigma = sigma;
        self.floor = floor;
        let floor = &self.floor;
        let jacobian = rest.factors.as_ref().map(leastaction_mechanics::ConstraintFactors::jacobian);
        let steep = jacobian.map_or(0.0, |(_, g)| g.iter().fold(0.0f64, |m, g| m.max(g * g)));
        let heavy = (0..rest.n).map(|i| mass.diagonal(i)).fold(0.0, f64::max);
        let stiff = rest.diagonal_size() + sigma * heavy;
        self.rho = if steep > 0.0 { STIFF * if stiff > 0.0 { stiff } else { 1.0 } / steep } else { 0.0 };
        let k = rest.linear.stiffness();
        let entries = |add: &mut dyn FnMut(usize, usize, f64)| {
            match rest.linear.structure() {
                Structure::Dense(n) => k.iter().enumerate().for_each(|(p, k)| add(p / n, p % n, *k)),
                Structure::Sparse(pattern) => {
                    pattern.entries().zip(k).for_each(|((i, j), k)| add(i, j, *k));
                }
                Structure::Free(_) => {}
            }
            mass.pattern.entries().zip(&mass.entries).for_each(|((i, j), m)| add(i, j, sigma * m));
            floor.iter().enumerate().for_each(|(i, f)| add(i, i, *f));
            if let Some((pattern, g)) = jacobian {
                for row in 0..pattern.rows() {
                    for a in pattern.row(row) {
                        for b in pattern.row(row) {
                            let (i, j) = (pattern.columns()[a] as usize, pattern.columns()[b] as usize);
                            add(i, j, self.rho * g[a] * g[b]);
                        }
                    }
                }
            }
        };
        match &mut self.form {
            Form::Dense { matrix, n } => {
                matrix.fill(0.0);
                entries(&mut |i, j, value| matrix[i * *n + j] += value);
                matrix.iter().all(|x| x.is_finite()) && dense::cholesky(matrix, *n)
            }
            Form::Sparse { pattern, values, factors } => {
                values.fill(0.0);
                entries(&mut |i, j, value| {
                    if i >= j {
                        pattern.find(i, j).into_iter().for_each(|place| values[place] += value);
                    }
                });
                factors.factor(|entry| values[entry]).is_ok()
            }
            Form::Products { diagonal, .. } => {
                for (i, d) in diagonal.iter_mut().enumerate() {
                    let known = rest.diagonal(i).unwrap_or(0.0).abs() + sigma * mass.diagonal(i);
                    *d = if known > 0.0 { known } else { 1.0 };
                }
                true
            }
        }
    }

    /// Solves (K + σM) x = b for x with Gx = 0. Tells whether the matrix was positive in all directions that were met.
    pub(crate) fn solve(
        &mut self,
        rest: &mut Rest<'_>,
        mass: &Mass,
        b: &[f64],
        x: &mut [f64],
        tolerance: f64,
    ) -> Result<Curvature, AnalyzeError> {
        if let Form::Products { gradients, diagonal } = &mut self.form {
            let (sigma, floor, n) = (self.sigma, &self.floor, rest.n);
            let mut weighed = vec![0.0; n];
            let rest = std::cell::RefCell::new(rest);
            let apply = |d: &[f64], out: &mut [f64]| {
                rest.borrow_mut().product(d, out)?;
                mass.product(d, &mut weighed);
                out.iter_mut().zip(&weighed).for_each(|(out, m)| *out += sigma * m);
                out.iter_mut().zip(floor).zip(d).for_each(|((out, f), d)| *out += f * d);
                Ok::<(), EvalError>(())
            };
            let precondition = |x: &mut [f64]| {
                x.iter_mut().zip(&*diagonal).for_each(|(x, d)| *x /= d);
                rest.borrow_mut().restrict(x);
            };
            let most = 20 * (n as u32).min(500);
            let (_, curvature) = gradients.solve(b, x, tolerance, most, apply, precondition)?;
            return Ok(curvature);
        }
        x.copy_from_slice(b);
        self.solve_factored(x);
        let Some(factors) = rest.factors.as_ref().filter(|_| self.rows > 0) else {
            return Ok(Curvature::Positive);
        };
        let (pattern, g) = factors.jacobian();
        let mut multipliers = vec![0.0; self.rows];
        let mut last = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            let mut rates = vec![0.0; self.rows];
            pattern.add_product::<1>(g, x, &mut rates);
            let (_, left) = largest(&rates);
            // What does not shrink any more is rounding.
            if left == 0.0 || left >= 0.5 * last {
                break;
            }
            last = left;
            multipliers.iter_mut().zip(&rates).for_each(|(m, r)| *m += self.rho * r);
            x.copy_from_slice(b);
            pattern.subtract_transposed::<1>(g, &multipliers, x);
            self.solve_factored(x);
        }
        rest.restrict(x);
        Ok(Curvature::Positive)
    }

    fn solve_factored(&mut self, x: &mut [f64]) {
        match &mut self.form {
            Form::Dense { matrix, .. } => dense::solve_cholesky(matrix, x),
            Form::Sparse { factors, .. } => factors.solve(x),
            Form::Products { .. } => unreachable!("there are no factors"),
        }
    }
}

/// The size of the eigenvalues of K and M, from the diagonals.
pub(crate) fn scale(rest: &mut Rest<'_>, mass: &Mass) -> Result<f64, EvalError> {
    let n = rest.n;
    let heavy = (0..n).map(|i| mass.diagonal(i)).fold(0.0, f64::max);
    if rest.linear.structure().is_empty() && n > 0 {
        // A vector without pattern.
        let x: Vec<f64> = (0..n).map(|i| (1.7 * i as f64 + 0.3 * (i * i % 101) as f64).sin()).collect();
        let mut image = vec![0.0; n];
        rest.product(&x, &mut image)?;
        return Ok((dot(&image, &image) / dot(&x, &x)).sqrt() / if heavy > 0.0 { heavy } else { 1.0 });
    }
    let of = |i: usize| {
        let m = mass.diagonal(i);
        rest.diagonal(i).unwrap_or(0.0).abs() / if m > 0.0 { m } else { 1.0 }
    };
    Ok((0..n).map(of).fold(0.0, f64::max))
}

//! A system at rest: energy, forces, stiffness, masses and constraints of a configuration.

use crate::error::AnalyzeError;
use leastaction_linear::Structure;
use leastaction_mechanics::{ConstraintFactors, Dynamics, EvalError, Level, Linearisation};

/// A system that does not move, at a time.
pub(crate) struct Rest<'a> {
    pub(crate) dynamics: &'a mut Dynamics,
    pub(crate) t: f64,
    pub(crate) n: usize,
    pub(crate) rows: usize,
    pub(crate) linear: Linearisation,
    pub(crate) factors: Option<ConstraintFactors>,
    z: Vec<f64>,
    y: Vec<f64>,
}

impl<'a> Rest<'a> {
    pub(crate) fn new(dynamics: &'a mut Dynamics, t: f64) -> Result<Rest<'a>, AnalyzeError> {
        let linear = Linearisation::new(dynamics)?;
        Rest::with(dynamics, t, linear)
    }

    /// Of which only products with the stiffness are asked for.
    pub(crate) fn by_products(dynamics: &'a mut Dynamics, t: f64) -> Result<Rest<'a>, AnalyzeError> {
        let linear = Linearisation::by_products(dynamics)?;
        Rest::with(dynamics, t, linear)
    }

    fn with(dynamics: &'a mut Dynamics, t: f64, linear: Linearisation) -> Result<Rest<'a>, AnalyzeError> {
        let system = dynamics.system().clone();
        let (n, rows) = (system.degrees(), system.constraints().len());
        if let Some((name, _)) = system.constraints().iter().find(|(_, level)| *level == Level::Velocity) {
            return Err(AnalyzeError::Velocity { constraint: name.clone() });
        }
        let factors = (rows > 0).then(|| ConstraintFactors::new(&system, 1));
        Ok(Rest { dynamics, t, n, rows, linear, factors, z: vec![0.0; 2 * n], y: vec![0.0; 2 * n] })
    }

    pub(crate) fn name(&self, coordinate: usize) -> String {
        self.dynamics.system().coordinates().at(coordinate)
    }

    /// The state of rest at q.
    fn state(&mut self, q: &[f64]) -> Result<(), EvalError> {
        let n = self.n;
        self.z[..n].copy_from_slice(q);
        self.z[n..].fill(0.0);
        self.y[..n].copy_from_slice(q);
        self.dynamics.momenta(&[self.t], &self.z, &mut self.y[n..])
    }

    /// What is minimal: H at rest, which is −L.
    pub(crate) fn energy(&mut self, q: &[f64]) -> Result<f64, EvalError> {
        self.state(q)?;
        let mut energy = [0.0];
        self.dynamics.hamiltonian(&[self.t], &self.y, &mut energy)?;
        Ok(energy[0])
    }

    /// The gradient of that, and what other forces there are: −S.
    pub(crate) fn gradient(&mut self, q: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        self.z[..self.n].copy_from_slice(q);
        self.z[self.n..].fill(0.0);
        self.dynamics.momentum_rates(&[self.t], &self.z, out)?;
        out.iter_mut().for_each(|f| *f = -*f);
        Ok(())
    }

    /// Moves a configuration onto the constraints.
    pub(crate) fn project(&mut self, q: &mut [f64]) -> Result<(), AnalyzeError> {
        if self.rows > 0 {
            self.state(q)?;
            let mut y = std::mem::take(&mut self.y);
            let projected = self.dynamics.project(&[self.t], &mut y);
            q.copy_from_slice(&y[..self.n]);
            self.y = y;
            projected?;
        }
        Ok(())
    }

    /// Factors the constraints at q.
    pub(crate) fn constrain(&mut self, q: &[f64]) -> Result<(), EvalError> {
        if self.factors.is_some() {
            self.state(q)?;
        }
        if let Some(factors) = &mut self.factors {
            factors.factor(self.dynamics, &[self.t], &self.y)?;
        }
        Ok(())
    }

    /// The multipliers with which g + Gᵀλ is smallest; g becomes that. Constraints must be factored there.
    pub(crate) fn balance(&mut self, g: &mut [f64]) -> Vec<f64> {
        let mut multipliers = vec![0.0; self.rows];
        if let Some(factors) = &mut self.factors {
            factors.add_rates_of_momenta(g, &mut multipliers);
            factors.solve(&mut multipliers);
            factors.add_forces(&multipliers, g);
        }
        multipliers.iter_mut().for_each(|m| *m = -*m);
        multipliers
    }

    /// Takes out of a displacement what constraints do not allow.
    pub(crate) fn restrict(&mut self, d: &mut [f64]) {
        if let Some(factors) = &mut self.factors {
            let mut rates = vec![0.0; self.rows];
            factors.add_rates(d, &mut rates);
            factors.solve(&mut rates);
            factors.add_accelerations(&rates, d);
        }
    }

    /// The stiffness at q with these multipliers, which must be symmetric.
    pub(crate) fn stiffen(&mut self, q: &[f64], multipliers: &[f64]) -> Result<(), AnalyzeError> {
        self.linear.evaluate(self.dynamics, self.t, q, multipliers)?;
        let (k, n, size) = (self.linear.stiffness(), self.n, self.diagonal_size());
        let wrong = |i: usize, j: usize, a: f64, b: f64| {
            (a - b).abs() > 1e-8 * (a.abs() + b.abs()) + 1e-12 * size && i > j
        };
        let found = match self.linear.structure() {
            Structure::Dense(_) => (0..n)
                .flat_map(|i| (0..i).map(move |j| (i, j)))
                .find(|&(i, j)| wrong(i, j, k[i * n + j], k[j * n + i])),
            Structure::Sparse(pattern) => pattern.entries().enumerate().find_map(|(place, (i, j))| {
                let other = pattern.find(j, i).map_or(0.0, |place| k[place]);
                wrong(i.max(j), i.min(j), k[place], other).then_some((i, j))
            }),
            Structure::Free(_) => None,
        };
        match found {
            Some((i, j)) => {
                Err(AnalyzeError::NotConservative { coordinate: self.name(i), other: self.name(j) })
            }
            None => Ok(()),
        }
    }

    /// The largest entry on the diagonal of the stiffness, where that is kept; else an estimate by a product.
    pub(crate) fn diagonal_size(&self) -> f64 {
        (0..self.n).filter_map(|i| self.diagonal(i)).fold(0.0f64, |m, k| m.max(k.abs()))
    }

    /// An entry on the diagonal of the stiffness, where that is kept.
    pub(crate) fn diagonal(&self, i: usize) -> Option<f64> {
        let k = self.linear.stiffness();
        match self.linear.structure() {
            Structure::Dense(n) => Some(k[i * n + i]),
            Structure::Sparse(pattern) => pattern.find(i, i).map(|place| k[place]),
            Structure::Free(_) => None,
        }
    }

    /// What forces at q are made of, by coordinate: Σ |K_ij q_j|, to whose rounding they are known.
    pub(crate) fn force_sizes(&mut self, q: &[f64]) -> Result<Vec<f64>, EvalError> {
        let (k, n) = (self.linear.stiffness(), self.n);
        Ok(match self.linear.structure() {
            Structure::Dense(_) => {
                let row = |i: usize| k[i * n..][..n].iter().zip(q).map(|(k, q)| (k * q).abs()).sum::<f64>();
                (0..n).map(row).collect()
            }
            Structure::Sparse(pattern) => {
                let row =
                    |i: usize| pattern.row(i).map(|p| (k[p] * q[pattern.columns()[p] as usize]).abs()).sum();
                (0..n).map(row).collect()
            }
            Structure::Free(_) => {
                // Signs without pattern, so that sizes do not cancel; by chance some do, so all count as the largest.
                let signed = |(i, q): (usize, &f64)| if (i * 7919 + i * i / 3) % 5 < 2 { -*q } else { *q };
                let direction: Vec<f64> = q.iter().enumerate().map(signed).collect();
                let mut out = vec![0.0; n];
                self.linear.add_product(self.dynamics, &direction, &mut out)?;
                vec![largest(&out).1; n]
            }
        })
    }

    /// The largest of them.
    pub(crate) fn force_size(&mut self, q: &[f64]) -> Result<f64, EvalError> {
        Ok(largest(&self.force_sizes(q)?).1)
    }

    /// What dᵀKd is made of: Σ |d_i K_ij d_j|, where the stiffness is kept.
    pub(crate) fn terms(&self, d: &[f64]) -> f64 {
        let (k, n) = (self.linear.stiffness(), self.n);
        match self.linear.structure() {
            Structure::Dense(_) => {
                (0..n * n).map(|place| (d[place / n] * k[place] * d[place % n]).abs()).sum()
            }
            Structure::Sparse(pattern) => {
                pattern.entries().zip(k).map(|((i, j), k)| (d[i] * k * d[j]).abs()).sum()
            }
            Structure::Free(_) => f64::INFINITY,
        }
    }

    /// out = K d.
    pub(crate) fn product(&mut self, d: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        out.fill(0.0);
        self.linear.add_product(self.dynamics, d, out)
    }
}

/// The largest size, and where it is.
pub(crate) fn largest(x: &[f64]) -> (usize, f64) {
    x.iter().enumerate().fold(
        (0, 0.0),
        |(at, most), (i, x)| {
            if x.abs() > most || x.is_nan() { (i, x.abs()) } else { (at, most) }
        },
    )
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

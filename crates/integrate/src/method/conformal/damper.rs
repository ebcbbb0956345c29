//! Damping p ↦ e^{−Γs} p, by what it changes: X = e^{−Γs} − 1, which keeps its digits where s is short.
//!
//! For a diagonal Γ that is `expm1` of each rate. Of few coordinates X is found for a part s/2ᵏ by its power series, and doubled k times by
//! (1 + X)² − 1 = 2X + X². Of many, the same series acts on p, again and again for parts of s, and Γ is never written down. Which way it goes depends
//! on where entries of Γ may stand, not on their values, so that all parameters go the same.

use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, EvalError, Revision};

/// Matrices of more rows are not written down.
const MOST_DENSE: usize = 64;

/// Terms of the series, which leave less than rounding where the norm is below 1/2.
const TERMS: usize = 16;

pub(super) struct Damper {
    /// The entries of Γ, lane by lane, and the parameters that they are of.
    entries: Vec<f64>,
    /// Where they stand, by row and column.
    places: Vec<(usize, usize)>,
    revision: Revision,
    kind: Kind,
    degrees: usize,
    width: usize,
    /// The lengths of damping in a step, as parts of it.
    weights: Vec<f64>,
    /// X for each of them, component-major, lanes innermost, unless Γ is of many coordinates; and the steps for which they hold.
    factors: Vec<f64>,
    steps: [f64; LANES],
    /// Vectors, Γ of one lane, and three matrices, to work with.
    vectors: [Vec<f64>; 3],
    gamma: Vec<f64>,
    work: [Vec<f64>; 3],
}

/// What Γ is like.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Diagonal,
    Dense,
    Sparse,
}

impl Damper {
    pub(super) fn new(dynamics: &Dynamics, width: usize, weights: Vec<f64>) -> Result<Damper, EvalError> {
        let degrees = dynamics.system().degrees();
        let places = dynamics.system().damped().to_vec();
        let kind = if places.iter().all(|(row, column)| row == column) {
            Kind::Diagonal
        } else if degrees <= MOST_DENSE {
            Kind::Dense
        } else {
            Kind::Sparse
        };
        let (each, room) = match kind {
            Kind::Diagonal => (degrees, 0),
            Kind::Dense => (degrees * degrees, degrees * degrees),
            Kind::Sparse => (0, 0),
        };
        let mut damper = Damper {
            entries: vec![0.0; places.len() * width],
            places,
            revision: Revision::default(),
            kind,
            degrees,
            width,
            factors: vec![0.0; weights.len() * each * width],
            weights,
            steps: [0.0; LANES],
            vectors: std::array::from_fn(|_| vec![0.0; degrees * width]),
            gamma: vec![0.0; room],
            work: std::array::from_fn(|_| vec![0.0; room]),
        };
        damper.follow(dynamics)?;
        Ok(damper)
    }

    /// Takes over what has changed of Γ.
    fn follow(&mut self, dynamics: &Dynamics) -> Result<(), EvalError> {
        let (size, width) = (self.places.len(), self.width);
        dynamics.pass_parameters(&mut self.revision, |lane, _| {
            for j in (0..width).filter(|j| lane.is_none_or(|lane| lane == *j)) {
                let entries = dynamics.damping_entries((width > 1).then_some(j))?;
                self.entries[j * size..][..size].copy_from_slice(&entries);
                self.steps[j] = f64::NAN; // factors are to be found anew
            }
            Ok(())
        })
    }

    /// Prepares for steps of these lengths.
    pub(super) fn set(&mut self, dynamics: &Dynamics, h: &[f64]) -> Result<(), EvalError> {
        self.follow(dynamics)?;
        let (n, width, size) = (self.degrees, self.width, self.places.len());
        for (j, &h) in h.iter().enumerate() {
            if std::mem::replace(&mut self.steps[j], h).to_bits() == h.to_bits() {
                continue;
            }
            let entries = &self.entries[j * size..][..size];
            for (k, weight) in self.weights.iter().enumerate() {
                let s = weight * h;
                match self.kind {
                    Kind::Diagonal => {
                        let factors = &mut self.factors[k * n * width..][..n * width];
                        for (&(i, _), rate) in self.places.iter().zip(entries) {
                            factors[i * width + j] = (-rate * s).exp_m1();
                        }
                    }
                    Kind::Dense => {
                        self.gamma.fill(0.0);
                        let all = self.places.iter().zip(entries);
                        all.for_each(|(&(i, k), entry)| self.gamma[i * n + k] = *entry);
                        let x = exponential(&self.gamma, n, -s, &mut self.work);
                        let lane = self.factors[k * n * n * width..].iter_mut().skip(j).step_by(width);
                        lane.zip(x).for_each(|(to, x)| *to = *x);
                    }
                    Kind::Sparse => {}
                }
            }
        }
        Ok(())
    }

    /// Adds what damping changes of the momenta, in the part with this number.
    pub(super) fn damp(&mut self, part: usize, momenta: &[f64], change: &mut [f64]) {
        let (n, width) = (self.degrees, self.width);
        match self.kind {
            Kind::Diagonal => {
                let factors = &self.factors[part * n * width..][..n * width];
                let rows = factors.iter().zip(momenta);
                change.iter_mut().zip(rows).for_each(|(change, (x, p))| *change += x * p);
            }
            Kind::Dense => {
                let factors = &self.factors[part * n * n * width..][..n * n * width];
                let [sums, ..] = &mut self.vectors;
                sums.fill(0.0);
                for (i, k) in (0..n).flat_map(|i| (0..n).map(move |k| (i, k))) {
                    let x = &factors[(i * n + k) * width..][..width];
                    let p = &momenta[k * width..][..width];
                    let sum = &mut sums[i * width..][..width];
                    (0..width).for_each(|j| sum[j] += x[j] * p[j]);
                }
                change.iter_mut().zip(&*sums).for_each(|(change, sum)| *change += sum);
            }
            Kind::Sparse => (0..width).for_each(|j| self.act(j, self.weights[part], momenta, change)),
        }
    }

    /// Adds (e^{−Γs} − 1) p in a lane, by the series on p.
    fn act(&mut self, lane: usize, weight: f64, momenta: &[f64], change: &mut [f64]) {
        let (n, width, size) = (self.degrees, self.width, self.places.len());
        let (entries, s) = (&self.entries[lane * size..][..size], -weight * self.steps[lane]);
        let [total, term, product] = self.vectors.each_mut().map(|vector| &mut vector[..n]);
        product.fill(0.0);
        self.places.iter().zip(entries).for_each(|(&(i, _), entry)| product[i] += (s * entry).abs());
        let norm = product.iter().copied().fold(0.0, f64::max);
        let parts = if norm.is_finite() { (2.0 * norm).ceil().max(1.0) } else { 1.0 };
        total.fill(0.0);
        for _ in 0..parts as u64 {
            // What the parts so far made of p, and then what this one changes of it.
            let p = momenta.iter().skip(lane).step_by(width);
            term.iter_mut().zip(p).zip(&*total).for_each(|((term, p), total)| *term = p + total);
            for k in 1..=TERMS {
                product.fill(0.0);
                self.places.iter().zip(entries).for_each(|(&(i, k), entry)| product[i] += entry * term[k]);
                let scale = s / parts / k as f64;
                term.iter_mut().zip(&*product).for_each(|(term, product)| *term = scale * product);
                total.iter_mut().zip(&*term).for_each(|(total, term)| *total += term);
            }
        }
        let lane = change.iter_mut().skip(lane).step_by(width);
        lane.zip(&*total).for_each(|(change, total)| *change += total);
    }
}

/// e^{sΓ} − 1.
fn exponential<'a>(gamma: &[f64], n: usize, s: f64, work: &'a mut [Vec<f64>; 3]) -> &'a [f64] {
    let norm = |row: &[f64]| row.iter().map(|x| (s * x).abs()).sum::<f64>();
    let size = gamma.chunks_exact(n).map(norm).fold(0.0, f64::max);
    // Halvings until the norm is below 1/2, where the terms leave less than rounding. What is not finite stays so.
    let halvings = if size > 0.5 && size.is_finite() { (2.0 * size).log2().ceil() as i32 } else { 0 };
    let scale = s * 0.5_f64.powi(halvings);
    let [x, term, product] = work;
    x.iter_mut().zip(gamma).for_each(|(x, g)| *x = scale * g);
    term.copy_from_slice(x);
    for k in 2..=TERMS {
        multiply(term, gamma, n, scale / k as f64, product);
        std::mem::swap(term, product);
        x.iter_mut().zip(term.iter()).for_each(|(x, term)| *x += term);
    }
    for _ in 0..halvings {
        multiply(x, x, n, 1.0, product);
        x.iter_mut().zip(product.iter()).for_each(|(x, square)| *x = 2.0 * *x + square);
    }
    x
}

/// c·ab.
fn multiply(a: &[f64], b: &[f64], n: usize, c: f64, product: &mut [f64]) {
    for (i, k) in (0..n).flat_map(|i| (0..n).map(move |k| (i, k))) {
        product[i * n + k] = c * (0..n).map(|j| a[i * n + j] * b[j * n + k]).sum::<f64>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leastaction_expr::Graph;
    use leastaction_mechanics::Model;

    /// A rotation and a shear, whose exponentials are known, with short and with long steps.
    #[test]
    fn exponentials_are_those_known() {
        for s in [1e-9, 0.3, -7.0, 40.0_f64] {
            let mut work = std::array::from_fn(|_| vec![0.0; 4]);
            let turn = exponential(&[0.0, 1.0, -1.0, 0.0], 2, s, &mut work);
            let expected =
                [-2.0 * (0.5 * s).sin().powi(2), s.sin(), -s.sin(), -2.0 * (0.5 * s).sin().powi(2)];
            let error = turn.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error < 1e-14 * s.abs().max(1e-7), "{s}: {error:e}");
            let shear = exponential(&[-0.1, 2.0, 0.0, -0.1], 2, s, &mut work);
            let decay = (-0.1 * s).exp();
            let expected = [(-0.1 * s).exp_m1(), 2.0 * s * decay, 0.0, (-0.1 * s).exp_m1()];
            for (a, b) in shear.iter().zip(expected) {
                assert!((a - b).abs() <= 1e-14 * b.abs().max(decay), "{s}: {a} {b}");
            }
        }
    }

    /// A chain of dampers that is too long for a matrix: what acts on momenta is the matrix that is not made.
    #[test]
    fn many_coordinates_are_damped_as_few_are() {
        const N: usize = MOST_DENSE + 10;
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let q: Vec<_> = (0..N).map(|i| model.coordinate(&format!("x{i}"))).collect();
        for (i, x) in q.iter().enumerate() {
            model.particle(&format!("m{i}"), 1.0 + 0.01 * i as f64, [*x]);
        }
        for i in 1..N {
            let [before, after] = [q[i - 1], q[i]].map(|x| model.velocity(x));
            model.dissipation(&format!("d{i}"), 0.3 * (after - before).pow(2.0));
        }
        let dynamics = model.system().expect("a system").dynamics().expect("parameters");
        let mut gamma = vec![0.0; N * N];
        dynamics.damping(&mut gamma).expect("linear damping");
        let momenta: Vec<f64> = (0..N).map(|i| (1.3 * i as f64).sin()).collect();
        for h in [1e-9, 0.2, -0.7, 30.0] {
            let mut damper = Damper::new(&dynamics, 1, vec![0.5, 0.25]).expect("a damper");
            assert!(damper.kind == Kind::Sparse && damper.factors.is_empty());
            damper.set(&dynamics, &[h]).expect("a step");
            let (mut found, mut work) = (vec![0.0; N], std::array::from_fn(|_| vec![0.0; N * N]));
            damper.damp(1, &momenta, &mut found);
            let x = exponential(&gamma, N, -0.25 * h, &mut work);
            for (row, found) in x.chunks_exact(N).zip(&found) {
                let expected: f64 = row.iter().zip(&momenta).map(|(x, p)| x * p).sum();
                let size = 1e-13 * h.abs().min(1.0) * if h < 0.0 { 2.0 } else { 1.0 };
                assert!((found - expected).abs() <= size, "{h}: {found} {expected}");
            }
        }
    }
}

//! Energy-preserving collocation: the field along the step's path, averaged.
//!
//! The path u is the polynomial of degree s whose rate is the best approximation of the field along it,
//!
//! $$u'(\tau)=h\sum_{k<s}\varphi_k(\tau)\int_0^1\varphi_k\,f(u)\,d\tau',\qquad u(0)=y_0,\quad y_1=u(1),$$
//!
//! with orthonormal Legendre polynomials φ. For f = J∇H, H(y₁) − H(y₀) = ∫∇H(u)·u′ = h Σ gₖ·J gₖ = 0 with gₖ = ∫φₖ∇H(u). The order is 2s;
//! s = 1 is the average vector field. (E. Hairer, JNAIAM 5 (2010) 73; L. Brugnano, F. Iavernaro and D. Trigiante, JNAIAM 5
//! (2010) 17.) Only the field is evaluated, no energies, and nothing cancels.
//!
//! Integrals are Gauss sums. How many points they need is read off from the field along the path: its coefficients in
//! Legendre polynomials fall as ρᵏ, a sum of m points neglects those from 2m − s + 1 on, and m is such that these are below rounding. It
//! follows the motion, lane by lane.

use crate::block::{Block, scale};
use crate::error::RunError;
use crate::implicit::{Equation, Past, Products, Solver, coupled, has_newton};
use crate::quadrature::{Rule, basis, integrals};
use crate::run::checkpoint::Kept;
use crate::step::{Interval, Motion, Step, StepError};
use leastaction_compile::LANES;
use leastaction_linear::Structure;
use leastaction_mechanics::{Dynamics, EvalError};
use std::sync::{Arc, LazyLock};

/// More points than this are not used: what they would add lies in steps that are too long anyway.
const MOST_POINTS: usize = 32;
/// Gauss's rules by their points, found once.
static RULES: LazyLock<Vec<Rule>> =
    LazyLock::new(|| (0..=MOST_POINTS).map(|m| Rule::gauss(m.max(1))).collect());
/// The logarithm of what integrals may neglect.
const NEGLECTED: f64 = -39.0;

/// A method with paths of a degree.
pub(super) fn stepper(
    dynamics: &mut Dynamics,
    width: usize,
    degree: usize,
) -> Result<Box<dyn Step>, RunError> {
    let d = dynamics.system().dimension();
    let memory = |rows: usize| vec![0.0; rows * width];
    Ok(Box::new(MeanField {
        solver: Solver::new(degree * d * width),
        past: Past::of_coefficients(degree, d * width),
        x: memory(degree * d),
        points: [(degree + 5) as f64; LANES],
        chosen: [(degree + 5) as f64; LANES],
        path: Path {
            degree,
            half: d / 2,
            dimension: d,
            tables: RULES.iter().map(|rule| Table::new(rule, degree)).collect(),
            points: [1; LANES],
            at: memory(d),
            rates: memory(MOST_POINTS * d),
            image: memory(degree * d),
            structure: dynamics.system().jacobian_structure(),
            jacobian: Vec::new(),
            place: Vec::new(),
            lane: Default::default(),
        },
    }))
}

struct MeanField {
    solver: Solver,
    past: Past,
    /// h ∫φₖ f of the step: a block for each k.
    x: Vec<f64>,
    /// How many points the integrals had in the last step, and in the last try.
    points: [f64; LANES],
    chosen: [f64; LANES],
    path: Path,
}

impl Step for MeanField {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let MeanField { solver, past, x, points, chosen, path } = self;
        let width = interval.h.len();
        let y = block.values();
        if past.is_empty(width) {
            let (mean, others) = x.split_at_mut(y.len());
            motion.rates(interval, 0.0, y, mean)?;
            scale(mean, interval.h);
            others.fill(0.0);
        }
        past.guess(interval.h, x);
        path.points = std::array::from_fn(|lane| points[lane] as usize);
        let mut equation = Mean { motion, interval, y, path };
        // The first iteration also tells how many points the others need.
        equation.sweep(x)?;
        x.copy_from_slice(&equation.path.image);
        equation.path.choose(width);
        *chosen = std::array::from_fn(|lane| equation.path.points[lane] as f64);
        let iterations = solver.solve(interval.t, y, x, &mut equation)?;
        motion.work_mut().iterations += u64::from(iterations) + 1;
        change.copy_from_slice(&x[..change.len()]);
        Ok(())
    }

    fn accept(&mut self, lanes: &[bool]) {
        self.past.keep(lanes, &self.x);
        (0..lanes.len()).filter(|&j| lanes[j]).for_each(|j| self.points[j] = self.chosen[j]);
    }

    fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        self.past.memory(visit);
        visit(Kept::Numbers(&mut self.points));
    }
}

/// A Gauss rule, and the polynomials at its nodes: nodes × terms.
struct Table {
    nodes: Vec<f64>,
    integrals: Vec<f64>,
    /// bᵢ φₖ(cᵢ), and the same for the two highest polynomials that the rule tells apart.
    shares: Vec<f64>,
    highest: Vec<[f64; 2]>,
}

impl Table {
    fn new(rule: &Rule, degree: usize) -> Table {
        let points = rule.nodes.len();
        let mut table = Table {
            nodes: rule.nodes.clone(),
            integrals: Vec::new(),
            shares: Vec::new(),
            highest: Vec::new(),
        };
        for (c, b) in table.nodes.iter().zip(&rule.weights) {
            let (mut phi, mut integral) = (vec![0.0; degree.max(points)], vec![0.0; degree]);
            basis(*c, &mut phi);
            integrals(*c, &mut integral);
            table.integrals.extend(integral);
            table.shares.extend(phi[..degree].iter().map(|phi| b * phi));
            table.highest.push([points.saturating_sub(2), points - 1].map(|k| b * phi[k]));
        }
        table
    }
}

/// The path of a step, and the field along it.
struct Path {
    degree: usize,
    half: usize,
    dimension: usize,
    /// By the number of points.
    tables: Vec<Table>,
    points: [usize; LANES],
    at: Vec<f64>,
    /// The field at all nodes.
    rates: Vec<f64>,
    image: Vec<f64>,
    /// The Jacobian of the field: what is known of it, and its entries, made when they are first needed.
    structure: Structure,
    jacobian: Vec<f64>,
    /// Where products are made where it has no entries; and a vector of one lane with what f′ makes of it.
    place: Vec<f64>,
    lane: [Vec<f64>; 2],
}

impl Path {
    /// A number that a lane's rule has for a node: that of the first node, times 0, if it has fewer.
    fn lanes(&self, node: usize, weighs: bool, pick: impl Fn(&Table, usize) -> f64) -> [f64; LANES] {
        self.points.map(|points| {
            let table = &self.tables[points];
            match node < points {
                true => pick(table, node),
                false if weighs => 0.0,
                false => pick(table, 0),
            }
        })
    }

    /// How many nodes there are in the lane that has most.
    fn most(&self, width: usize) -> usize {
        self.points[..width].iter().copied().max().unwrap_or(1)
    }

    /// Goes to a node.
    fn go(&mut self, y: &[f64], x: &[f64], node: usize, width: usize) {
        self.at.fill(0.0);
        for k in (0..self.degree).rev() {
            let factors = self.lanes(node, false, |table, node| table.integrals[node * self.degree + k]);
            for i in 0..self.dimension {
                let x = &x[(k * self.dimension + i) * width..][..width];
                let at = &mut self.at[i * width..][..width];
                (0..width).for_each(|lane| at[lane] += factors[lane] * x[lane]);
            }
        }
        self.at.iter_mut().zip(y).for_each(|(at, y)| *at += y);
    }

    /// h ∫φₖ f for all k, from the field at the nodes.
    ///
    /// The mean of the outermost nodes is left out of sums: what is constant then has no rounding, and weights stay symmetric, so that those of
    /// finite precision are still those of a symmetric method, whose energy does not drift.
    fn average(&mut self, h: &[f64]) {
        let (width, len) = (h.len(), self.at.len());
        for place in 0..len {
            let last = (self.points[place % width] - 1) * len;
            self.at[place] = 0.5 * (self.rates[place] + self.rates[last + place]);
        }
        self.image.fill(0.0);
        for k in 0..self.degree {
            for node in 0..self.most(width) {
                let shares = self.lanes(node, true, |table, node| table.shares[node * self.degree + k]);
                for i in 0..self.dimension {
                    let to = (k * self.dimension + i) * width;
                    for lane in 0..width {
                        let from = i * width + lane;
                        let change = self.rates[node * len + from] - self.at[from];
                        self.image[to + lane] += shares[lane] * change;
                    }
                }
            }
        }
        self.image.iter_mut().zip(&self.at).for_each(|(mean, at)| *mean += at);
        scale(&mut self.image, h);
    }

    /// How many points each lane needs, from the field at the nodes.
    fn choose(&mut self, width: usize) {
        let (len, fewest) = (self.at.len(), self.degree + 3);
        for lane in 0..width {
            let points = self.points[lane];
            // Relative to the largest rate of a coordinate, and of a momentum.
            let (mut tops, mut sizes) = ([0.0_f64; 2], [0.0_f64; 2]);
            for i in 0..self.dimension {
                let part = usize::from(i >= self.half);
                let mut highest = [0.0; 2];
                for (node, share) in self.tables[points].highest.iter().enumerate() {
                    let rate = self.rates[node * len + i * width + lane];
                    (0..2).for_each(|k| highest[k] += share[k] * rate);
                    sizes[part] = sizes[part].max(rate.abs());
                }
                tops[part] = tops[part].max(highest[0].abs()).max(highest[1].abs());
            }
            let ratios = [0, 1].map(|part| if sizes[part] > 0.0 { tops[part] / sizes[part] } else { 0.0 });
            let ratio = ratios[0].max(ratios[1]).max(f64::EPSILON);
            let fall = ratio.ln() / (points as f64 - 1.5);
            let needed = 0.5 * (NEGLECTED / fall + self.degree as f64 - 1.0);
            // NaN and infinity become the most, and the solver will find them.
            let needed =
                if fall < 0.0 { needed.ceil().min(MOST_POINTS as f64) as usize } else { MOST_POINTS };
            self.points[lane] = needed.clamp(fewest, MOST_POINTS).max(points - 1);
        }
    }
}

/// x = h ∫φₖ f(u).
struct Mean<'a, 'd> {
    motion: &'a mut Motion<'d>,
    interval: Interval<'a>,
    y: &'a [f64],
    path: &'a mut Path,
}

impl Mean<'_, '_> {
    fn times(&self, node: usize) -> [f64; LANES] {
        let mut times = self.path.lanes(node, false, |table, node| table.nodes[node]);
        let lanes = times.iter_mut().zip(self.interval.t.iter().zip(self.interval.h));
        lanes.for_each(|(time, (t, h))| *time = t + *time * h);
        times
    }

    fn sweep(&mut self, x: &[f64]) -> Result<(), EvalError> {
        let (width, len) = (self.interval.h.len(), self.y.len());
        for node in 0..self.path.most(width) {
            self.path.go(self.y, x, node, width);
            let times = self.times(node);
            let now = Interval { t: &times[..width], h: self.interval.h };
            let Path { at, rates, .. } = &mut *self.path;
            self.motion.rates(now, 0.0, at, &mut rates[node * len..][..len])?;
        }
        self.path.average(self.interval.h);
        Ok(())
    }
}

impl Equation for Mean<'_, '_> {
    fn image(&mut self, x: &[f64], image: &mut [f64]) -> Result<(), EvalError> {
        self.sweep(x)?;
        image.copy_from_slice(&self.path.image);
        Ok(())
    }

    fn structure(&self) -> Structure {
        let Path { degree, structure, .. } = &*self.path;
        match structure {
            Structure::Dense(rows) => Structure::Dense(degree * rows),
            Structure::Sparse(pattern) => Structure::Sparse(Arc::new(coupled(pattern, *degree))),
            Structure::Free(rows) => Structure::Free(degree * rows),
        }
    }

    fn has_newton(&self) -> bool {
        // What a sparse structure is takes long to find, and does not matter for this.
        matches!(self.path.structure, Structure::Sparse(_)) || has_newton(&self.structure())
    }

    fn products(&mut self) -> Option<&mut dyn Products> {
        match self.path.structure {
            Structure::Free(_) => Some(self),
            Structure::Dense(_) | Structure::Sparse(_) => None,
        }
    }

    /// h ∫φₖ f′(u) Iₗ.
    fn jacobian(&mut self, x: &[f64], entries: &mut [f64]) -> Result<(), EvalError> {
        let (width, d, degree) = (self.interval.h.len(), self.path.dimension, self.path.degree);
        let count = self.path.structure.len();
        self.path.jacobian.resize(count * width, 0.0);
        entries.fill(0.0);
        for node in 0..self.path.most(width) {
            self.path.go(self.y, x, node, width);
            let times = self.times(node);
            let now = Interval { t: &times[..width], h: self.interval.h };
            let Path { at, jacobian, .. } = &mut *self.path;
            self.motion.jacobian_entries(now, 0.0, at, jacobian)?;
            let path = &*self.path;
            for (k, l) in (0..degree).flat_map(|k| (0..degree).map(move |l| (k, l))) {
                let factors = path.lanes(node, true, |table, node| {
                    table.shares[node * degree + k] * table.integrals[node * degree + l]
                });
                for i in 0..d {
                    // Rows of all blocks are as long as those of the field's Jacobian, block after block.
                    let row = path.structure.row(i);
                    let begin = degree * (k * count + row.start) + l * row.len();
                    let out = entries[begin * width..][..row.len() * width].chunks_exact_mut(width);
                    let from = path.jacobian[row.start * width..row.end * width].chunks_exact(width);
                    for (out, entry) in out.zip(from) {
                        (0..width).for_each(|lane| out[lane] += factors[lane] * entry[lane]);
                    }
                }
            }
        }
        scale(entries, self.interval.h);
        Ok(())
    }
}

impl Products for Mean<'_, '_> {
    fn go_to(&mut self, x: &[f64]) -> Result<(), EvalError> {
        self.path.place.clear();
        self.path.place.extend_from_slice(x);
        Ok(())
    }

    /// h ∫φₖ f′(u) Σ Iₗ dₗ.
    fn product(&mut self, lane: usize, d: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        let (width, rows, degree) = (self.interval.h.len(), self.path.dimension, self.path.degree);
        let h = self.interval.h[lane];
        out.fill(0.0);
        let place = std::mem::take(&mut self.path.place);
        for node in 0..self.path.points[lane] {
            self.path.go(self.y, &place, node, width);
            let times = self.times(node);
            let now = Interval { t: &times[..width], h: self.interval.h };
            let Path { tables, points, at, lane: [vector, product], .. } = &mut *self.path;
            let table = &tables[points[lane]];
            vector.clear();
            vector.extend((0..rows).map(|i| {
                (0..degree).map(|l| table.integrals[node * degree + l] * d[l * rows + i]).sum::<f64>()
            }));
            product.resize(rows, 0.0);
            self.motion.jacobian_product(now, 0.0, at, lane, vector, product)?;
            for (k, out) in out.chunks_exact_mut(rows).enumerate() {
                let share = h * table.shares[node * degree + k];
                out.iter_mut().zip(&*product).for_each(|(out, product)| *out += share * product);
            }
        }
        self.path.place = place;
        Ok(())
    }

    fn nearly(&mut self) -> (&mut Dynamics, f64, &[f64], f64) {
        let Interval { t, h } = self.interval;
        let a = 0.5 * h[0] / self.path.degree as f64;
        (self.motion.dynamics(), t[0], &self.y[..self.y.len() / 2], a)
    }
}

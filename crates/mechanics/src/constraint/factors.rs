//! Constraints at one configuration: G, and the factors of G M⁻¹ Gᵀ.

use crate::constraint::Level;
use crate::constraint::orthogonal::Orthogonal;
use crate::constraint::sparse::{BENT, Component, DEPENDENT, LONGEST, Layout, THERE};
use crate::dynamics::Dynamics;
use crate::engine::check;
use crate::error::EvalError;
use crate::facts::Form;
use crate::parameters::Revision;
use crate::quantity::Quantity;
use crate::system::System;
use leastaction_compile::LANES;
use leastaction_linear::{Noise, Pattern, dense};
use std::sync::Arc;

/// Steps of inverse iteration.
const ITERATIONS: usize = 3;
/// What is known of constraints is known to so many roundings.
const ROUNDINGS: f64 = 16.0;

/// The constraints of a system at one configuration, for one state or for a block of eight: G = ∂Ψ/∂v, and G M⁻¹ Gᵀ in factors.
///
/// Redundant constraints do no harm: in a small system they share what they carry, in a large one some get the multiplier 0, and
/// [`ConstraintFactors::rank`] tells how many are independent.
/// What is solved for is then the same force, if the constraints do not contradict each other. Nothing allocates after the first use.
#[derive(Clone, Debug)]
pub struct ConstraintFactors {
    pub(crate) layout: Arc<Layout>,
    pub(crate) width: usize,
    pub(crate) jacobian: Vec<f64>,
    /// Parts of M⁻¹, and the parameters for which they are known if M is constant.
    inverse: Vec<f64>,
    known: Option<Revision>,
    /// M⁻¹Gᵀ.
    pub(crate) spread: Vec<f64>,
    pub(crate) diagonal: Vec<f64>,
    lower: Vec<f64>,
    rank: [usize; LANES],
    /// Better factors for small systems, and the lanes in which they are needed.
    orthogonal: Option<Orthogonal>,
    doubtful: [bool; LANES],
    /// The shortest direction that counts in each lane; and, in lanes where one is short, the lengths of all, in the order of elimination, those of
    /// constraints themselves, and by how much one changes at most where every coordinate changes by 1, relative to its length.
    shortest: [f64; LANES],
    lengths: Vec<f64>,
    whole_lengths: Vec<f64>,
    steepest: [f64; LANES],
    /// Working memory: nonzeros of M, one of its parts and its inverse, a right side in the order of elimination.
    entries: Vec<f64>,
    matrix: Vec<f64>,
    right: Vec<f64>,
    ordered: Vec<f64>,
    projected: Vec<f64>,
}

impl ConstraintFactors {
    /// Room for the constraints of a system in so many lanes.
    #[must_use]
    pub fn new(system: &System, width: usize) -> ConstraintFactors {
        let layout = system.layout().clone();
        let largest = layout.components.iter().map(|c| c.size * c.size).max().unwrap_or(0);
        let numbers = |len: usize| vec![0.0; len * width];
        ConstraintFactors {
            width,
            jacobian: numbers(layout.jacobian.len()),
            inverse: numbers(layout.inverse_len),
            known: None,
            spread: numbers(layout.spread_pattern.len()),
            diagonal: numbers(layout.rows),
            lower: numbers(layout.elimination.len()),
            rank: [0; LANES],
            orthogonal: Orthogonal::new(&layout, width),
            doubtful: [false; LANES],
            shortest: [1.0; LANES],
            lengths: numbers(layout.rows),
            whole_lengths: numbers(layout.rows),
            steepest: [0.0; LANES],
            entries: numbers(system.inverse().pattern.len()),
            matrix: vec![0.0; largest],
            right: vec![0.0; largest],
            ordered: numbers(layout.rows),
            projected: numbers(layout.rows),
            layout,
        }
    }

    /// Evaluates G at y, and factors G M⁻¹ Gᵀ there.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or the mass matrix is singular there.
    pub fn factor(&mut self, dynamics: &mut Dynamics, t: &[f64], y: &[f64]) -> Result<(), EvalError> {
        check("lanes", self.width, t.len())?;
        dynamics.engine.eval(Quantity::ConstraintJacobian, t, y, &mut self.jacobian)?;
        self.invert_masses(dynamics, t, y)?;
        let weakest = self.eliminate_lanes(&[DEPENDENT; LANES]);
        self.measure(&weakest);
        // Without better factors, pivots tell directions from bends only.
        let (limit, rows) = match &self.orthogonal {
            Some(_) => (THERE, self.layout.rows),
            None => (LONGEST * LONGEST, 0),
        };
        self.doubtful =
            std::array::from_fn(|j| j < self.width && (weakest[j] < limit || self.rank[j] < rows));
        if self.doubtful.contains(&true) {
            self.factor_carefully(dynamics, t, y, &weakest)?;
        }
        Ok(())
    }

    /// Evaluates G at y only, for [`ConstraintFactors::add_forces`], [`ConstraintFactors::add_rates`] and
    /// [`ConstraintFactors::steepness`]: the factors stay as they were.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit.
    pub fn evaluate(&mut self, dynamics: &mut Dynamics, t: &[f64], y: &[f64]) -> Result<(), EvalError> {
        check("lanes", self.width, t.len())?;
        dynamics.engine.eval(Quantity::ConstraintJacobian, t, y, &mut self.jacobian)
    }

    /// Where G has entries, and these, those of each lane side by side.
    #[must_use]
    pub fn jacobian(&self) -> (&Pattern, &[f64]) {
        (&self.layout.jacobian, &self.jacobian)
    }

    /// How many constraints are independent, in a lane.
    #[must_use]
    pub fn rank(&self, lane: usize) -> usize {
        self.rank[lane]
    }

    /// Whether G M⁻¹ Gᵀ has clear pivots in a lane: no constraint nearly depends on others.
    #[must_use]
    pub fn is_clear(&self, lane: usize) -> bool {
        !self.doubtful[lane]
    }

    /// The length of the shortest direction in which a constraint differs from the others, in a lane, as a part of its own length; at most 1, and of
    /// those only that count as independent. Long ones are not distinguished.
    #[must_use]
    pub fn shortest(&self, lane: usize) -> f64 {
        self.shortest[lane]
    }

    /// The smallest singular value of the constraints in each lane, if all were of length 1, of those that count as independent; 1 where no direction is short. By inverse
    /// iteration, always from the same place and as far, so that it changes smoothly where the constraints do.
    pub fn smallest(&mut self) -> [f64; LANES] {
        let (width, rows) = (self.width, self.layout.rows);
        let mut smallest = self.shortest.map(|shortest| if shortest < 1.0 { 0.0 } else { 1.0 });
        if self.shortest[..width].iter().all(|shortest| *shortest == 1.0) {
            return smallest;
        }
        let mut x = std::mem::take(&mut self.projected);
        x.iter_mut().enumerate().for_each(|(i, x)| *x = 1.0 - 0.4 * ((i / width) % 3) as f64);
        for _ in 0..ITERATIONS {
            let norm = |x: &[f64], lane: usize| {
                (0..rows).map(|row| x[row * width + lane].powi(2)).sum::<f64>().sqrt()
            };
            let before: [f64; LANES] =
                std::array::from_fn(|lane| if lane < width { norm(&x, lane) } else { 1.0 });
            for (i, (x, length)) in x.iter_mut().zip(&self.whole_lengths).enumerate() {
                *x *= length / before[i % width];
            }
            self.solve(&mut x);
            x.iter_mut().zip(&self.whole_lengths).for_each(|(x, length)| *x *= length);
            for lane in (0..width).filter(|&lane| self.shortest[lane] < 1.0) {
                smallest[lane] = norm(&x, lane).sqrt().recip();
            }
        }
        self.projected = x;
        smallest
    }

    /// To what part of their size the rates of constraints are known in a lane: their directions follow from positions.
    pub(crate) fn rate_noise(&self, lane: usize) -> f64 {
        ROUNDINGS * f64::EPSILON * self.steepest[lane] / self.shortest[lane]
    }

    /// Replaces b by λ with G M⁻¹ Gᵀ λ = b.
    pub fn solve(&mut self, b: &mut [f64]) {
        match self.width {
            1 => self.solve_in::<1>(b),
            _ => self.solve_in::<LANES>(b),
        }
    }

    /// As [`ConstraintFactors::solve`], where M⁻¹Gᵀλ is to be a correction: along short directions only what is more than noise, for numbers of a size in each lane.
    /// What is demanded of positions is known to rounding, and to as much the directions follow from positions.
    pub(crate) fn solve_correction(&mut self, b: &mut [f64], level: Level, sizes: impl Fn(usize) -> f64) {
        let power = if level == Level::Position { 1 } else { 2 };
        let mut noise = [Noise::NONE; LANES];
        for (lane, noise) in noise.iter_mut().enumerate().take(self.width) {
            if self.steepest[lane] > 0.0 {
                let size = ROUNDINGS * f64::EPSILON * self.steepest[lane] * sizes(lane);
                *noise = Noise { size, power };
            }
        }
        match self.width {
            1 => self.solve_known::<1>(b, &noise),
            _ => self.solve_known::<LANES>(b, &noise),
        }
    }

    /// Replaces multipliers by those that [`ConstraintFactors::solve`] would find for the same force, in lanes where constraints depend on
    /// others: a correction of multipliers by solutions never sees another part of them, and guesses from guesses would let it grow.
    /// `moved` is room for one number per coordinate.
    pub fn project_multipliers(&mut self, multipliers: &mut [f64], moved: &mut [f64]) {
        let (width, rows) = (self.width, self.layout.rows);
        if self.rank[..width].iter().all(|rank| *rank == rows) {
            return;
        }
        let mut projected = std::mem::take(&mut self.projected);
        moved.fill(0.0);
        projected.fill(0.0);
        self.add_accelerations(multipliers, moved);
        self.add_rates(moved, &mut projected);
        self.solve(&mut projected);
        for (place, (multiplier, projected)) in multipliers.iter_mut().zip(&projected).enumerate() {
            *multiplier = if self.rank[place % width] < rows { -projected } else { *multiplier };
        }
        self.projected = projected;
    }

    /// Adds the constraint force: out −= Gᵀλ.
    pub fn add_forces(&self, multipliers: &[f64], out: &mut [f64]) {
        let pattern = &self.layout.jacobian;
        match self.width {
            1 => pattern.subtract_transposed::<1>(&self.jacobian, multipliers, out),
            _ => pattern.subtract_transposed::<LANES>(&self.jacobian, multipliers, out),
        }
    }

    /// Adds what the constraint force does to velocities: out −= M⁻¹Gᵀλ.
    pub fn add_accelerations(&self, multipliers: &[f64], out: &mut [f64]) {
        let pattern = &self.layout.spread_pattern;
        match self.width {
            1 => pattern.subtract_transposed::<1>(&self.spread, multipliers, out),
            _ => pattern.subtract_transposed::<LANES>(&self.spread, multipliers, out),
        }
    }

    /// Adds what velocities, or accelerations, do to constraints: out += G v.
    pub fn add_rates(&self, v: &[f64], out: &mut [f64]) {
        let pattern = &self.layout.jacobian;
        match self.width {
            1 => pattern.add_product::<1>(&self.jacobian, v, out),
            _ => pattern.add_product::<LANES>(&self.jacobian, v, out),
        }
    }

    /// Adds what impulses do to constraints: out += G M⁻¹ p.
    pub fn add_rates_of_momenta(&self, p: &[f64], out: &mut [f64]) {
        let pattern = &self.layout.spread_pattern;
        match self.width {
            1 => pattern.add_product::<1>(&self.spread, p, out),
            _ => pattern.add_product::<LANES>(&self.spread, p, out),
        }
    }

    /// Adds what impulses do to velocities, of the coordinates whose masses constraints touch: out += M⁻¹ p.
    pub(crate) fn add_velocities(&self, p: &[f64], out: &mut [f64]) {
        let width = self.width;
        for (component, members) in self.layout.components.iter().zip(&self.layout.members) {
            for (row, &i) in members.iter().enumerate() {
                for (column, &j) in members.iter().enumerate() {
                    for lane in 0..width {
                        let entry = (component.first + row * component.size + column) * width + lane;
                        out[i as usize * width + lane] += self.inverse[entry] * p[j as usize * width + lane];
                    }
                }
            }
        }
    }

    /// Σ |G_ki| of a constraint, in a lane: by how much it changes at most where every coordinate changes by 1.
    #[must_use]
    pub fn steepness(&self, constraint: usize, lane: usize) -> f64 {
        self.layout.jacobian.row(constraint).map(|entry| self.jacobian[entry * self.width + lane].abs()).sum()
    }

    /// The largest |(M⁻¹Gᵀ)_ik| of a constraint, in a lane: what a unit of its multiplier does to accelerations.
    #[must_use]
    pub fn reach(&self, constraint: usize, lane: usize) -> f64 {
        let entries = self.layout.spread_pattern.row(constraint);
        entries.fold(0.0f64, |m, entry| m.max(self.spread[entry * self.width + lane].abs()))
    }

    fn solve_in<const W: usize>(&mut self, b: &mut [f64]) {
        let elimination = &self.layout.elimination;
        elimination.gather::<W>(b, &mut self.ordered);
        elimination.solve::<W>(&self.diagonal, &self.lower, &mut self.ordered);
        self.solve_carefully::<W>(b, &[Noise::NONE; LANES]);
    }

    fn solve_known<const W: usize>(&mut self, b: &mut [f64], noise: &[Noise; LANES]) {
        let Some(known) = noise.first_chunk::<W>() else { unreachable!("no block is wider than {LANES}") };
        let elimination = &self.layout.elimination;
        elimination.gather::<W>(b, &mut self.ordered);
        if noise.iter().all(|noise| *noise == Noise::NONE) {
            elimination.solve::<W>(&self.diagonal, &self.lower, &mut self.ordered);
        } else {
            let (lengths, x) = (&self.lengths, &mut self.ordered);
            elimination.solve_known::<W>(&self.diagonal, &self.lower, lengths, known, x);
        }
        self.solve_carefully::<W>(b, noise);
    }

    /// Solves by orthogonal factors where there are any, and takes the solution out of the order of elimination.
    fn solve_carefully<const W: usize>(&mut self, b: &mut [f64], noise: &[Noise; LANES]) {
        let elimination = &self.layout.elimination;
        if let Some(orthogonal) = self.orthogonal.as_mut() {
            for lane in (0..W).filter(|&lane| self.doubtful[lane]) {
                orthogonal.solve(b, &mut self.ordered, elimination.order(), noise[lane], (lane, W));
            }
        }
        elimination.scatter::<W>(&self.ordered, b);
    }

    /// Measures directions in lanes where one is short. What pivots were before elimination stands in `ordered`.
    fn measure(&mut self, weakest: &[f64; LANES]) {
        let width = self.width;
        (self.shortest, self.steepest) = ([1.0; LANES], [0.0; LANES]);
        for lane in (0..width).filter(|&lane| weakest[lane] < THERE) {
            for (place, &row) in self.layout.elimination.order().iter().enumerate() {
                let at = place * width + lane;
                let (inverse, size) = (self.diagonal[at].abs(), self.ordered[at].abs());
                self.lengths[at] = if inverse > 0.0 { (inverse * size).sqrt().recip() } else { 1.0 };
                self.shortest[lane] = self.shortest[lane].min(self.lengths[at]);
                self.whole_lengths[row as usize * width + lane] = size.sqrt();
                if size > 0.0 {
                    let steepness = self.steepness(row as usize, lane) / size.sqrt();
                    self.steepest[lane] = self.steepest[lane].max(steepness);
                }
            }
        }
    }

    /// Factors again what pivots left in doubt, reckoning with the violation of constraints: by orthogonal factors if the system is small.
    fn factor_carefully(
        &mut self,
        dynamics: &mut Dynamics,
        t: &[f64],
        y: &[f64],
        weakest: &[f64; LANES],
    ) -> Result<(), EvalError> {
        let positions = dynamics.system().position_constraints();
        let (width, half) = (self.width, y.len() / 2);
        if positions > 0 {
            dynamics.engine.eval(Quantity::Constraints, t, y, &mut self.ordered[..positions * width])?;
        }
        let mut shortest = [0.0; LANES];
        for lane in (0..width).filter(|&lane| self.doubtful[lane]) {
            let size = y[..half].iter().skip(lane).step_by(width).fold(0.0f64, |m, q| m.max(q.abs()));
            let violation = |k: usize| match self.ordered[k * width + lane].abs() {
                0.0 => 0.0,
                value => value / (self.steepness(k, lane) * size),
            };
            shortest[lane] = (BENT * (0..positions).map(violation).fold(0.0, f64::max)).min(LONGEST);
        }
        let Some(orthogonal) = &mut self.orthogonal else {
            self.doubtful.fill(false);
            if (0..width).any(|lane| weakest[lane] < shortest[lane].powi(2)) {
                let weakest =
                    self.eliminate_lanes(&shortest.map(|shortest| (shortest * shortest).max(DEPENDENT)));
                self.measure(&weakest);
            }
            return Ok(());
        };
        for lane in 0..width {
            if self.doubtful[lane] {
                let place = (lane, width);
                let rank =
                    orthogonal.factor(&self.layout, &self.jacobian, &self.inverse, shortest[lane], place);
                // Where masses are not positive, there are none.
                self.doubtful[lane] = rank.is_some();
                self.rank[lane] = rank.unwrap_or(self.rank[lane]);
                if rank.is_some() {
                    self.shortest[lane] = orthogonal.shortest(lane);
                }
            }
        }
        Ok(())
    }

    fn eliminate_lanes(&mut self, dependent: &[f64; LANES]) -> [f64; LANES] {
        let mut weakest = [1.0; LANES];
        match self.width {
            1 => weakest[..1].copy_from_slice(&self.eliminate::<1>(&[dependent[0]])),
            _ => weakest.copy_from_slice(&self.eliminate::<LANES>(dependent)),
        }
        weakest
    }

    fn eliminate<const W: usize>(&mut self, dependent: &[f64; W]) -> [f64; W] {
        let Layout { spread, diagonal, lower, .. } = &*self.layout;
        spread.fill::<W>(&self.inverse, &self.jacobian, &mut self.spread);
        diagonal.fill::<W>(&self.jacobian, &self.spread, &mut self.diagonal);
        lower.fill::<W>(&self.jacobian, &self.spread, &mut self.lower);
        let ConstraintFactors { diagonal, lower, ordered, .. } = self;
        let pivots = self.layout.elimination.factor::<W>(diagonal, lower, ordered, dependent);
        self.rank[..W].copy_from_slice(&pivots.rank);
        pivots.weakest
    }

    fn invert_masses(&mut self, dynamics: &mut Dynamics, t: &[f64], y: &[f64]) -> Result<(), EvalError> {
        let facts = dynamics.system().facts();
        let (constant, form) = (facts.constant_mass, facts.form);
        if constant && self.known == Some(dynamics.revision()) {
            return Ok(());
        }
        self.known = None;
        dynamics.inertia_at(t, y, &mut self.entries)?;
        let (layout, width) = (&*self.layout, self.width);
        self.inverse.fill(0.0);
        for &(entry, places) in &layout.masses {
            for place in places {
                let from = entry as usize * width;
                self.inverse[place as usize * width..][..width]
                    .copy_from_slice(&self.entries[from..][..width]);
            }
        }
        // For a Hamiltonian, ∂²H/∂p² is the inverse already.
        if form == Form::Lagrangian {
            let mut failure = None;
            for component in &layout.components {
                for lane in 0..width {
                    let part = &mut self.inverse[component.first * width + lane..];
                    if !invert(component, part, width, &mut self.matrix, &mut self.right) {
                        failure.get_or_insert(lane);
                    }
                }
            }
            if let Some(lane) = failure {
                let coordinate = dynamics.system().coordinates().at(0);
                return Err(EvalError::SingularMass { t: t[lane], lane, coordinate });
            }
        }
        if constant {
            self.known = Some(dynamics.revision());
        }
        Ok(())
    }
}

/// Inverts one part of the mass matrix, whose entries stand `width` apart. Returns whether that was possible.
fn invert(
    component: &Component,
    part: &mut [f64],
    width: usize,
    matrix: &mut [f64],
    right: &mut [f64],
) -> bool {
    let n = component.size;
    if n == 1 {
        part[0] = 1.0 / part[0];
        return part[0].is_finite();
    }
    let (matrix, right) = (&mut matrix[..n * n], &mut right[..n * n]);
    (0..n * n).for_each(|k| matrix[k] = part[k * width]);
    let regular = dense::invert(matrix, right, n).is_ok();
    (0..n * n).for_each(|k| part[k * width] = if regular { right[k] } else { f64::NAN });
    regular
}

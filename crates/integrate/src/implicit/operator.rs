//! The linear part of the equations of s stages, 1 − h B⊗J, kept for later steps lane by lane: in factors where the entries of J are known,
//! dense or sparse, and else by where J is taken, for products with it.

use super::precondition::Preconditioner;
use super::spectrum::{Mode, modes};
use crate::run::checkpoint::Kept;
use crate::step::{Interval, Motion};
use leastaction_compile::LANES;
use leastaction_linear::{Complex, Factors, Gmres, Pattern, Structure};
use leastaction_mechanics::{Dynamics, EvalError};
use std::sync::Arc;

/// Without factors a correction is found to this part, by so many products, with a basis of so many vectors: iterations around it do the rest.
const TOLERANCE: f64 = 1e-8;
const PRODUCTS: u32 = 300;
const BASIS: usize = 40;

/// 1 − h B⊗J with the Jacobian J of the field in each lane. Memory is made when it is first needed.
pub(crate) struct Operator {
    structure: Structure,
    shape: Shape,
    stages: usize,
    width: usize,
    /// The entries of J in all lanes, or the states where it is taken; and new ones, before lanes take them.
    jacobian: Vec<f64>,
    fresh: Vec<f64>,
    /// Whether a lane has a Jacobian.
    held: [bool; LANES],
    /// The step for which a lane's factors are, whether they are still to be made, and whether there are none.
    step: [f64; LANES],
    stale: [bool; LANES],
    singular: [bool; LANES],
}

enum Shape {
    /// One B for all components: its modes, and the factors of 1 − hλJ for each lane and mode.
    Modes { modes: Vec<Mode>, factors: Vec<Factors<Complex>>, side: Vec<Complex> },
    /// One B for the first half of the components and one for the second, which have no modes in common: the whole matrix.
    Whole { matrices: [Vec<f64>; 2], factors: Vec<Factors<f64>>, side: Vec<f64> },
    /// No entries of J.
    Free { matrices: [Vec<f64>; 2], gamma: f64, krylov: Option<Box<Krylov>> },
}

/// What iteration needs: a right side and a solution of all stages, a combination of stages and its product.
struct Krylov {
    gmres: Gmres,
    side: Vec<f64>,
    solution: Vec<f64>,
    combined: Vec<f64>,
    product: Vec<f64>,
    /// What is nearly the inverse, for a single state; none if there is none, and not known before it was looked for.
    preconditioner: Option<Option<Box<Preconditioner>>>,
}

/// Where the field is differentiated: the motion, the interval, and the part of it.
pub(crate) struct Place<'a, 'd, 'i> {
    pub(crate) motion: &'a mut Motion<'d>,
    pub(crate) interval: Interval<'i>,
    pub(crate) c: f64,
}

impl Operator {
    /// With one matrix B of s rows for the first half of the components and one for the second, for Jacobians of a structure in so many lanes.
    pub(crate) fn new(
        matrices: [Vec<f64>; 2],
        stages: usize,
        structure: Structure,
        width: usize,
    ) -> Operator {
        let rows = structure.rows();
        let alike = matrices[0] == matrices[1];
        let shape = match (&structure, alike) {
            (Structure::Free(_), _) => {
                let gamma = if alike { modes(&matrices[0], stages)[0].value.re } else { f64::NAN };
                Shape::Free { matrices, gamma, krylov: None }
            }
            (_, true) => {
                let modes = modes(&matrices[0], stages);
                Shape::Modes { modes, factors: Vec::new(), side: vec![Complex::ZERO; rows] }
            }
            (_, false) => Shape::Whole { matrices, factors: Vec::new(), side: vec![0.0; stages * rows] },
        };
        Operator {
            structure,
            shape,
            stages,
            width,
            jacobian: Vec::new(),
            fresh: Vec::new(),
            held: [false; LANES],
            step: [0.0; LANES],
            stale: [true; LANES],
            singular: [false; LANES],
        }
    }

    /// Makes the memory, unless it is there.
    pub(crate) fn allocate(&mut self) {
        let Operator { structure, shape, stages, width, jacobian, fresh, .. } = self;
        if !jacobian.is_empty() {
            return;
        }
        let (d, s) = (structure.rows(), *stages);
        let len = if let Structure::Free(rows) = structure { *rows } else { structure.len() };
        jacobian.resize(len * *width, 0.0);
        fresh.resize(len * *width, 0.0);
        match shape {
            Shape::Modes { modes, factors, .. } => {
                let one = match structure {
                    Structure::Sparse(pattern) => Factors::sparse(pattern.clone()),
                    Structure::Dense(_) | Structure::Free(_) => Factors::dense(d),
                };
                factors.resize(modes.len() * *width, one);
            }
            Shape::Whole { factors, .. } => {
                let one = match structure {
                    Structure::Sparse(pattern) => Factors::sparse(Arc::new(coupled(pattern, s))),
                    Structure::Dense(_) | Structure::Free(_) => Factors::dense(s * d),
                };
                factors.resize(*width, one);
            }
            Shape::Free { krylov, .. } => {
                *krylov = Some(Box::new(Krylov {
                    gmres: Gmres::new(s * d, BASIS),
                    side: vec![0.0; s * d],
                    solution: vec![0.0; s * d],
                    combined: vec![0.0; d],
                    product: vec![0.0; d],
                    preconditioner: None,
                }));
            }
        }
    }

    /// Finds a new Jacobian in all lanes at these states, which lanes may take.
    pub(crate) fn evaluate(&mut self, place: Place<'_, '_, '_>, at: &[f64]) -> Result<(), EvalError> {
        self.allocate();
        match &self.structure {
            Structure::Free(_) => self.fresh.copy_from_slice(at),
            Structure::Dense(_) | Structure::Sparse(_) => {
                place.motion.jacobian_entries(place.interval, place.c, at, &mut self.fresh)?;
            }
        }
        Ok(())
    }

    /// A lane takes its new Jacobian.
    pub(crate) fn renew(&mut self, lane: usize) {
        for place in (lane..self.jacobian.len()).step_by(self.width) {
            self.jacobian[place] = self.fresh[place];
        }
        (self.held[lane], self.stale[lane]) = (true, true);
    }

    /// Whether a lane has a Jacobian.
    pub(crate) fn holds(&self, lane: usize) -> bool {
        self.held[lane]
    }

    /// A lane will need a new Jacobian.
    pub(crate) fn expire(&mut self, lane: usize) {
        self.held[lane] = false;
    }

    /// Makes the factors of a lane for a step, unless it has them.
    pub(crate) fn prepare(&mut self, lane: usize, h: f64) {
        if self.step[lane] != h {
            (self.step[lane], self.stale[lane]) = (h, true);
        }
        if std::mem::take(&mut self.stale[lane]) {
            self.singular[lane] = !self.factor(lane);
        }
    }

    /// Returns whether the matrix is regular.
    fn factor(&mut self, lane: usize) -> bool {
        let Operator { structure, shape, stages, width, jacobian, .. } = self;
        let (d, s, width, h) = (structure.rows(), *stages, *width, self.step[lane]);
        match shape {
            Shape::Modes { modes, factors, .. } => {
                let factors = factors[lane * modes.len()..].iter_mut().zip(modes.iter());
                factors
                    .map(|(factors, mode)| {
                        factors.factor(|row, column, place| {
                            let unit = Complex::new(f64::from(row == column), 0.0);
                            unit - mode.value.times(h * jacobian[place * width + lane])
                        })
                    })
                    .all(|found| found.is_ok())
            }
            Shape::Whole { matrices, factors, .. } => {
                let entry = |row: usize, column: usize, place: usize| {
                    let ((i, r), (j, c)) = ((row / d, row % d), (column / d, column % d));
                    // A component is reached through the increments of its own kind.
                    let share = matrices[usize::from(c >= d / 2)][i * s + j];
                    let slope = match &*structure {
                        Structure::Sparse(pattern) => {
                            pattern.row(r).start
                                + (place - s * pattern.row(r).start - i * s * pattern.len())
                                    % pattern.row(r).len()
                        }
                        Structure::Dense(_) | Structure::Free(_) => r * d + c,
                    };
                    f64::from(row == column) - h * share * jacobian[slope * width + lane]
                };
                factors[lane].factor(entry).is_ok()
            }
            Shape::Free { .. } => true,
        }
    }

    /// Solves (1 − h B⊗J) x = r in one lane of blocks of s stages. Where the matrix is singular, x is not a number.
    pub(crate) fn solve(
        &mut self,
        lane: usize,
        r: &[f64],
        x: &mut [f64],
        place: Place<'_, '_, '_>,
    ) -> Result<(), EvalError> {
        let Operator { structure, shape, stages, width, jacobian, .. } = self;
        let (s, d, width) = (*stages, structure.rows(), *width);
        if self.singular[lane] {
            (lane..x.len()).step_by(width).for_each(|i| x[i] = f64::NAN);
            return Ok(());
        }
        match shape {
            Shape::Modes { modes, factors, side } => {
                (lane..x.len()).step_by(width).for_each(|i| x[i] = 0.0);
                for (k, mode) in modes.iter().enumerate() {
                    for (row, side) in side.iter_mut().enumerate() {
                        let part = |i: usize| mode.left[i].times(r[(i * d + row) * width + lane]);
                        *side = (0..s).fold(Complex::ZERO, |sum, i| sum + part(i));
                    }
                    factors[lane * modes.len() + k].solve(side);
                    for i in 0..s {
                        for (row, side) in side.iter().enumerate() {
                            x[(i * d + row) * width + lane] += (mode.right[i] * *side).re;
                        }
                    }
                }
            }
            Shape::Whole { factors, side, .. } => {
                let n = s * d;
                (0..n).for_each(|i| side[i] = r[i * width + lane]);
                factors[lane].solve(side);
                (0..n).for_each(|i| x[i * width + lane] = side[i]);
            }
            Shape::Free { matrices, krylov, .. } => {
                let Some(krylov) = krylov else { unreachable!("solved before a Jacobian was taken") };
                (0..s * d).for_each(|i| krylov.side[i] = r[i * width + lane]);
                let [first, second] = &*matrices;
                krylov.solve([first, second], (s, self.step[lane]), (jacobian, lane), place)?;
                (0..s * d).for_each(|i| x[i * width + lane] = krylov.solution[i]);
            }
        }
        Ok(())
    }

    /// The eigenvalue of the first mode, where all components have the same modes.
    pub(crate) fn first_value(&self) -> f64 {
        match &self.shape {
            Shape::Modes { modes, .. } => modes[0].value.re,
            Shape::Free { gamma, .. } => *gamma,
            Shape::Whole { .. } => unreachable!("components have different modes"),
        }
    }

    /// Solves (1 − hλJ) x = r for the first mode, which must be real, in one lane of a block; r is replaced by x.
    pub(crate) fn filter(
        &mut self,
        lane: usize,
        r: &mut [f64],
        place: Place<'_, '_, '_>,
    ) -> Result<(), EvalError> {
        let (d, width) = (self.structure.rows(), self.width);
        if self.singular[lane] {
            (lane..r.len()).step_by(width).for_each(|i| r[i] = f64::NAN);
            return Ok(());
        }
        match &mut self.shape {
            Shape::Modes { modes, factors, side } => {
                (0..d).for_each(|i| side[i] = Complex::new(r[i * width + lane], 0.0));
                factors[lane * modes.len()].solve(side);
                (0..d).for_each(|i| r[i * width + lane] = side[i].re);
            }
            Shape::Free { gamma, krylov, .. } => {
                let Some(krylov) = krylov else { unreachable!("solved before a Jacobian was taken") };
                // One stage: the others are zero.
                krylov.side.fill(0.0);
                (0..d).for_each(|i| krylov.side[i] = r[i * width + lane]);
                let one = [*gamma];
                krylov.solve([&one, &one], (1, self.step[lane]), (&self.jacobian, lane), place)?;
                (0..d).for_each(|i| r[i * width + lane] = krylov.solution[i]);
            }
            Shape::Whole { .. } => unreachable!("components have different modes"),
        }
        Ok(())
    }

    /// Everything that later steps depend on: factors are made again from Jacobians and steps.
    pub(crate) fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        visit(Kept::Flags(&mut self.held));
        visit(Kept::Numbers(&mut self.step));
        if self.held.iter().any(|held| *held) {
            self.allocate();
            visit(Kept::Numbers(&mut self.jacobian));
        }
        self.stale.fill(true);
    }
}

impl Krylov {
    /// Solves for `solution` from `side`, with J at a state in a lane. Stages beyond those counted stay as they are in `side`.
    fn solve(
        &mut self,
        matrices: [&[f64]; 2],
        (s, h): (usize, f64),
        (states, lane): (&[f64], usize),
        place: Place<'_, '_, '_>,
    ) -> Result<(), EvalError> {
        let single = place.interval.t.len() == 1;
        if single {
            let mean = (0..s).map(|i| matrices[0][i * s + i]).sum::<f64>() / s as f64;
            self.precondition(place.motion.dynamics(), place.interval.t[0], states, h * mean)?;
        }
        let Krylov { gmres, side, solution, combined, product, preconditioner } = self;
        let mut near = preconditioner.as_mut().and_then(Option::as_mut).filter(|_| single);
        let (d, Place { motion, interval, c }) = (combined.len(), place);
        let apply = |x: &[f64], out: &mut [f64]| {
            out.copy_from_slice(x);
            for i in 0..s {
                for (row, combined) in combined.iter_mut().enumerate() {
                    let shares = &matrices[usize::from(row >= d / 2)][i * s..][..s];
                    *combined = shares.iter().enumerate().map(|(j, share)| share * x[j * d + row]).sum();
                }
                motion.jacobian_product(interval, c, states, lane, combined, product)?;
                let out = out[i * d..].iter_mut().zip(product.iter());
                out.for_each(|(out, product)| *out -= h * product);
            }
            Ok(())
        };
        let precondition = |x: &mut [f64]| {
            if let Some(near) = &mut near {
                near.apply(&mut x[..s * d]);
            }
        };
        gmres.solve(side, solution, TOLERANCE, PRODUCTS, apply, precondition)?;
        Ok(())
    }

    /// Makes what is nearly the inverse for J at a state and for h times an entry of B, if there is such a thing.
    fn precondition(
        &mut self,
        dynamics: &mut Dynamics,
        t: f64,
        state: &[f64],
        a: f64,
    ) -> Result<(), EvalError> {
        let q = &state[..state.len() / 2];
        let known = match &self.preconditioner {
            None => false,
            Some(found) => found.as_ref().is_none_or(|found| found.is_of(dynamics)),
        };
        if !known {
            self.preconditioner = Some(Preconditioner::new(dynamics, t, q)?.map(Box::new));
        }
        match &mut self.preconditioner {
            Some(Some(near)) => near.prepare(dynamics, t, q, a),
            _ => Ok(()),
        }
    }
}

/// Where 1 − h B⊗J has entries, for s stages.
pub(crate) fn coupled(pattern: &Pattern, s: usize) -> Pattern {
    let d = pattern.rows();
    let row = |place: usize| {
        let columns = &pattern.columns()[pattern.row(place % d)];
        (0..s).flat_map(|j| columns.iter().map(move |c| (j * d) as u32 + c)).collect()
    };
    Pattern::from_rows(s * d, (0..s * d).map(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::implicit::tableau::Tableau;
    use leastaction_expr::Graph;
    use leastaction_mechanics::Model;

    /// Whatever is known of the Jacobian, and whether components have the same B or not, the same equations are solved.
    #[test]
    fn shapes_and_structures_solve_the_same_equations() {
        let graph = Graph::new();
        let mut model = Model::new(&graph);
        let [a, b] = model.coordinates(["a", "b"]);
        model.particle("bob", 1.5, [a, b]);
        model.potential("springs", a.pow(4.0) + (a * b).sin() + 3.0 * b * b);
        let mut dynamics = model.system().expect("a system").dynamics().expect("parameters");
        let (s, d, width, lane, h) = (3, 4, LANES, 5, 0.7);
        let number = |k: usize| (1.7 * k as f64 + 0.3).sin();
        let at: Vec<f64> = (0..d * width).map(number).collect();
        let mut jacobian = vec![0.0; d * d * width];
        dynamics.jacobian(&[0.0; LANES], &at, &mut jacobian).expect("a Jacobian");
        let mut motion = Motion::new(&mut dynamics);
        let interval = Interval { t: &[0.0; LANES], h: &[h; LANES] };
        let Tableau { b, first, .. } = Tableau::gauss(s);
        let matrix: Vec<f64> = (0..s * s).map(|k| b[k / s] * first[k]).collect();
        let other: Vec<f64> = (0..s * s).map(|k| matrix[k % s * s + k / s]).collect();
        let full = (0..d * d).map(|k| (k / d, k % d)).collect();
        let full = Arc::new(Pattern::new(d, d, full));
        let r: Vec<f64> = (0..s * d * width).map(|k| number(k + 50)).collect();
        for structure in [Structure::Dense(d), Structure::Sparse(full), Structure::Free(d)] {
            for matrices in [[matrix.clone(), matrix.clone()], [matrix.clone(), other.clone()]] {
                let mut operator = Operator::new(matrices.clone(), s, structure.clone(), width);
                let place = Place { motion: &mut motion, interval, c: 0.5 };
                operator.evaluate(place, &at).expect("a Jacobian");
                operator.renew(lane);
                operator.prepare(lane, h);
                let mut x = vec![0.0; r.len()];
                let place = Place { motion: &mut motion, interval, c: 0.5 };
                operator.solve(lane, &r, &mut x, place).expect("a solution");
                for row in 0..s * d {
                    let at = |k: usize| x[k * width + lane];
                    let coupled = |k: usize| {
                        let share = matrices[usize::from(k % d >= d / 2)][row / d * s + k / d];
                        share * jacobian[(row % d * d + k % d) * width + lane] * at(k)
                    };
                    let back = at(row) - h * (0..s * d).map(coupled).sum::<f64>();
                    let free = matches!(structure, Structure::Free(_));
                    let left = (back - r[row * width + lane]).abs();
                    assert!(left < if free { 1e-7 } else { 1e-12 }, "{structure:?}: {left:e}");
                }
            }
        }
    }
}

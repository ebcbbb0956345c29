//! Gradients of a run: how its samples and events depend on the start and on the parameters, by one way back over its steps.
//!
//! A step is a map y₁ = Φ(y₀, θ; t, h). Weights λ₁ of what is wanted of y₁ become weights of y₀ and of the parameters,
//!
//! $$\lambda_0=\Bigl(\frac{\partial\Phi}{\partial y}\Bigr)^{\!\mathsf T}\lambda_1,\qquad \bar\theta\mathrel{+}=\Bigl(\frac{\partial\Phi}{\partial\theta}\Bigr)^{\!\mathsf T}\lambda_1,$$
//!
//! step by step from the end to the start: the discrete adjoint, which is exact for the numbers that the run computed, and costs a few runs whatever the number of
//! parameters. The map back is not written by hand: the text of a step ([`StepCode`]) is written into a program, with the rates of
//! the system in their places, and the program is [reversed](leastaction_compile::Program::reverse). Of an implicit step it is the text of its equations
//! ([`StepEquations`](crate::StepEquations)), and one solution with the transposed matrix.
//!
//! Steps are held as they were taken: a step that a tolerance chose is not differentiated by what it was chosen from. Of events, the time is differentiated.
//!
//! The states of all steps are kept while there is room for them; beyond, only some checkpoints are, from which the others are computed again
//! (A. Griewank and A. Walther, ACM Trans. Math. Softw. 26 (2000) 19, doi:10.1145/347837.347846), with the same bits.

mod chain;
mod error;
mod legs;
mod program;
mod reverse_step;
mod seed;
mod stages;
mod tape;
mod unknowns;

pub use error::AdjointError;
pub use seed::Seed;
pub use tape::Tape;

use crate::step::Interval;
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, State};
use reverse_step::{ReverseStep, Site};
use seed::Weights;
use tape::Cursor;

/// The derivatives of a weighted sum of what a run gave, by its start and by parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// By the state block \[q…, p…\] at the start.
    pub start: Vec<f64>,
    /// By the parameters, in the order in which they were asked for; by all, in the system's order, if none were.
    pub parameters: Vec<f64>,
    /// By a constant that is added to each input of the system.
    pub inputs: Vec<f64>,
}

impl Gradient {
    /// The same where coordinates and velocities are given at the start, and momenta follow from them: `start` is then by \[q…, v…\], and parameters count what they do to
    /// the momenta of the start, such as a mass does.
    ///
    /// # Errors
    /// [`AdjointError::Eval`] if momenta do not follow from velocities by a formula.
    pub fn by_velocities(&self, tape: &Tape) -> Result<Gradient, AdjointError> {
        let (mut dynamics, State { t, q, p }) = (tape.dynamics().clone(), tape.start().clone());
        let (block, half) = ([&q[..], &p].concat(), q.len());
        let mut v = vec![0.0; half];
        dynamics.velocities(&[t], &block, &mut v)?;
        let (by_q, by_p) = self.start.split_at(half);
        let slopes = dynamics.momentum_slopes(t, &[q, v].concat(), by_p)?;
        let mut gradient = self.clone();
        gradient.start = slopes.state;
        gradient.start.iter_mut().zip(by_q).for_each(|(sum, term)| *sum += term);
        for (sum, &place) in gradient.parameters.iter_mut().zip(tape.by()) {
            *sum += slopes.parameters[place];
        }
        gradient.check(tape.dynamics(), tape.by())?;
        Ok(gradient)
    }

    fn check(&self, dynamics: &Dynamics, by: &[usize]) -> Result<(), AdjointError> {
        let system = dynamics.system();
        let broken = |values: &[f64]| values.iter().position(|x| !x.is_finite());
        let name = match (broken(&self.start), broken(&self.parameters), broken(&self.inputs)) {
            (Some(i), ..) => format!("`{}` at the start", system.state_name(i)),
            (_, Some(i), _) => format!("the parameter `{}`", system.parameters()[by[i]].0),
            (.., Some(i)) => format!("the input `{}`", system.inputs()[i]),
            _ => return Ok(()),
        };
        Err(AdjointError::NotFinite { name })
    }
}

impl Tape {
    /// The gradient of a weighted sum of what the run gave.
    ///
    /// # Errors
    /// [`AdjointError`] if the weights do not fit, the run passed a switch, or something has no derivative where it was.
    pub fn gradient(&self, seed: &Seed) -> Result<Gradient, AdjointError> {
        let mut gradients = sweep(&[self], &[(0, seed)], 1)?;
        gradients.pop().map_or_else(|| unreachable!("a lane has a gradient"), Ok)
    }

    /// The gradients of several weighted sums, eight side by side: the rows of a Jacobian.
    ///
    /// # Errors
    /// As [`Tape::gradient`].
    pub fn gradients(&self, seeds: &[Seed]) -> Result<Vec<Gradient>, AdjointError> {
        let mut gradients = Vec::with_capacity(seeds.len());
        for group in seeds.chunks(LANES) {
            let lanes: Vec<(usize, &Seed)> = group.iter().map(|seed| (0, seed)).collect();
            gradients.extend(sweep(&[self], &lanes, LANES)?);
        }
        Ok(gradients)
    }

    /// The gradients of several runs of one system by one method, which may have parameters of their own, eight side by side. Each is that of its tape alone.
    ///
    /// # Errors
    /// As [`Tape::gradient`]; [`AdjointError::Apart`] if the runs are not of one system by one method, or derivatives by other parameters are wanted of each.
    pub fn gradients_of(tapes: &[(&Tape, &Seed)]) -> Result<Vec<Gradient>, AdjointError> {
        let mut gradients = Vec::with_capacity(tapes.len());
        for group in tapes.chunks(LANES) {
            let runs: Vec<&Tape> = group.iter().map(|(tape, _)| *tape).collect();
            let lanes: Vec<(usize, &Seed)> =
                group.iter().enumerate().map(|(i, (_, seed))| (i, *seed)).collect();
            gradients.extend(sweep(&runs, &lanes, LANES)?);
        }
        Ok(gradients)
    }
}

/// The way back over the steps of runs, for so many weighted sums side by side; each lane is of one of the tapes.
fn sweep(tapes: &[&Tape], lanes: &[(usize, &Seed)], width: usize) -> Result<Vec<Gradient>, AdjointError> {
    let Some(&first) = tapes.first() else { return Ok(Vec::new()) };
    for tape in tapes {
        tape.check_alike(first)?;
    }
    let mut weights: Vec<Weights> =
        lanes.iter().map(|&(run, seed)| Weights::new(tapes[run], seed)).collect::<Result<_, _>>()?;
    let mut cursors: Vec<Cursor<'_>> = tapes.iter().map(|tape| Cursor::new(tape)).collect();
    let parameters: Vec<&[f64]> = lanes.iter().map(|&(run, _)| tapes[run].dynamics().parameters()).collect();
    let mut reverse = ReverseStep::new(first, width, &parameters)?;
    let (d, k, u) = (first.dimension(), first.by().len(), first.dynamics().system().inputs().len());
    let (mut adjoint, mut sums) = (vec![0.0; d * width], vec![0.0; (k + u) * width]);
    let (mut y, mut t, mut h) = (vec![0.0; d * width], [0.0; LANES], [0.0; LANES]);
    let steps = tapes.iter().map(|tape| tape.steps()).max().unwrap_or(0);
    // Where steps end.
    let mut after = vec![0.0; d * width];
    for lane in 0..width {
        let tape = tapes[lanes.get(lane).map_or(0, |(run, _)| *run)];
        tape.beyond().iter().enumerate().for_each(|(i, value)| after[i * width + lane] = *value);
    }
    for (lane, weights) in weights.iter_mut().enumerate() {
        weights.between(tapes[lanes[lane].0].steps(), |place, w| adjoint[place * width + lane] += w);
    }
    for back in 0..steps {
        // Runs end together; those with fewer steps rest at their start.
        for (run, cursor) in cursors.iter_mut().enumerate() {
            let record = cursor.back()?;
            for lane in (0..lanes.len()).filter(|&lane| lanes[lane].0 == run) {
                (t[lane], h[lane]) = (record.t, record.h);
                record.y.iter().enumerate().for_each(|(i, value)| y[i * width + lane] = *value);
            }
        }
        for lane in lanes.len()..width {
            (t[lane], h[lane]) = (t[0], 0.0);
            (0..d).for_each(|i| y[i * width + lane] = y[i * width]);
        }
        let interval = Interval { t: &t[..width], h: &h[..width] };
        let site = Site { interval, y: &y, after: &after };
        reverse.back(first.dynamics(), site, (&mut adjoint, &mut sums))?;
        for (lane, weights) in weights.iter_mut().enumerate() {
            let tape = tapes[lanes[lane].0];
            let Some(step) = tape.steps().checked_sub(back + 1) else { continue };
            while let Some(inner) = weights.within(step) {
                reverse.inside(tape, &inner, lane, site, (&mut adjoint, &mut sums))?;
            }
            weights.between(step, |place, w| adjoint[place * width + lane] += w);
        }
        after.copy_from_slice(&y);
    }
    let lane_of =
        |values: &[f64], lane: usize| values.iter().skip(lane).step_by(width).copied().collect::<Vec<_>>();
    let gradients = (0..lanes.len()).map(|lane| {
        let sums = lane_of(&sums, lane);
        let gradient = Gradient {
            start: lane_of(&adjoint, lane),
            parameters: sums[..k].to_vec(),
            inputs: sums[k..].to_vec(),
        };
        gradient.check(first.dynamics(), first.by())?;
        Ok(gradient)
    });
    gradients.collect()
}

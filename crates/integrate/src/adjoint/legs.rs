//! Legs of RATTLE backwards.
//!
//! A leg solves, with the forces S and velocities v of the system without its constraints Φ and what these demand of velocities, Ψ,
//!
//! $$p_{1/2}=p_0+\tfrac h2S(q_0,p_{1/2})-G_0^{\mathsf T}\Lambda,\quad q_1=q_0+\tfrac h2\bigl(v(q_0,p_{1/2})+v(q_1,p_{1/2})\bigr),\quad\Phi(q_1)=0,$$
//!
//! then p̂ = p½ + ½h S(q₁, p½) and p₁ = p̂ − G₁ᵀμ with Ψ(q₁, p₁) = 0. Weights b of p₁ become those of p̂ by A ν = G₁ b; and weights a of q₁ and c of p½ become α of the
//! equation of q₁ and d of that of p½, with ξ of Φ:
//!
//! $$\alpha=a-G_1^{\mathsf T}\xi+\tfrac h2\Bigl(\frac{\partial v}{\partial q}\Bigr)_1^{\!\mathsf T}\alpha,\quad
//! d=c+\tfrac h2\Bigl(\frac{\partial S}{\partial p}\Bigr)_0^{\!\mathsf T}d+\tfrac h2\Bigl(\frac{\partial v}{\partial p}\Bigr)_{0+1}^{\!\mathsf T}\alpha,\quad G_0d=0.$$
//!
//! All but the terms with ½h(∂v/∂q) and ½h(∂S/∂p) is solved at once, with the transposed matrix of the forward step, h G₀M⁻¹G₁ᵀ; corrections take up these.

use super::error::AdjointError;
use super::reverse_step::Site;
use super::stages::add_backward;
use crate::block::Block;
use crate::card::Card;
use crate::pace::Pace;
use crate::step::{LegStates, Motion, Step};
use leastaction_mechanics::{BackwardSums, ConstraintFactors, Dynamics, EvalError, ShakeFactors};

/// So many corrections are made, until they are this small, or are small and no longer shrink.
const MOST: usize = 60;
const ROUNDING: f64 = 1e-15;
const NOISE: f64 = 1e-11;
/// A leg is that of the run if it ends there, but for this part of its size.
const SAME: f64 = 1e-7;

/// A leg that was made again.
struct Leg {
    t: Vec<f64>,
    h: Vec<f64>,
    before: Vec<f64>,
    middle: Vec<f64>,
    after: Vec<f64>,
    turns: bool,
}

/// The way back over legs, for one run or for eight.
pub(super) struct ReverseLegs {
    dynamics: Dynamics,
    method: Box<dyn Step>,
    legs: Vec<Leg>,
    /// The constraints where a leg begins, and where it ends.
    begin: ConstraintFactors,
    end: ConstraintFactors,
    shake: ShakeFactors,
    /// What goes to parameters and inputs, and what goes to the state and is used at once.
    kept: BackwardSums,
    spare: BackwardSums,
    rows: usize,
    positions: usize,
}

impl ReverseLegs {
    /// For a system with the parameters that it has in its lanes.
    pub(super) fn new(dynamics: &Dynamics, card: &Card, width: usize) -> Result<ReverseLegs, AdjointError> {
        let mut dynamics = dynamics.clone();
        let system = dynamics.system().clone();
        let method = (card.stepper)(&mut dynamics, width, &Pace::Step(1.0))?;
        Ok(ReverseLegs {
            method,
            legs: Vec::new(),
            begin: ConstraintFactors::new(&system, width),
            end: ConstraintFactors::new(&system, width),
            shake: ShakeFactors::new(&system, width),
            kept: BackwardSums::new(&system, width),
            spare: BackwardSums::new(&system, width),
            rows: system.constraints().len() * width,
            positions: system.position_constraints() * width,
            dynamics,
        })
    }

    /// Makes the legs of a step again. Gives where it ends.
    pub(super) fn replay(&mut self, site: Site<'_>) -> Result<&[f64], AdjointError> {
        let ReverseLegs { dynamics, method, legs, .. } = self;
        let interval = site.interval;
        legs.clear();
        let block = Block::of(site.y, interval.t.len());
        let Some(method) = method.legs() else { unreachable!("the method goes by legs") };
        let mut keep = |leg: LegStates<'_>| {
            let LegStates { interval, before, middle, after, turns } = leg;
            let [t, h, before, middle, after] =
                [interval.t, interval.h, before, middle, after].map(<[f64]>::to_vec);
            legs.push(Leg { t, h, before, middle, after, turns });
        };
        method.replay(&mut Motion::new(dynamics), interval, &block, &mut keep).map_err(
            |error| match error {
                crate::step::StepError::Eval(error) => AdjointError::Eval(error),
                _ => AdjointError::Unsolved { t: interval.t[0] },
            },
        )?;
        let Some(last) = self.legs.last() else { unreachable!("a step has a leg") };
        Ok(&last.after)
    }

    /// Whether legs that were made again end where the step of the run did, lane by lane.
    pub(super) fn check(end: &[f64], site: Site<'_>) -> Result<(), AdjointError> {
        let width = site.interval.t.len();
        for (lane, &t) in site.interval.t.iter().enumerate().filter(|(lane, _)| site.interval.h[*lane] != 0.0)
        {
            let places = || (lane..end.len()).step_by(width);
            let size = places().map(|i| site.after[i].abs()).fold(0.0, f64::max);
            if places().any(|i| (end[i] - site.after[i]).abs() > SAME * size) {
                return Err(AdjointError::Unsolved { t });
            }
        }
        Ok(())
    }

    /// Goes back over the legs that were made again: weights of where they end become those of where they begin.
    pub(super) fn back(
        &mut self,
        by: &[usize],
        adjoint: &mut [f64],
        sums: &mut [f64],
    ) -> Result<(), AdjointError> {
        self.kept.clear();
        for leg in std::mem::take(&mut self.legs).iter().rev() {
            self.back_over(leg, adjoint)?;
        }
        let width = self.kept.time.len();
        add_backward(1.0, &self.kept, by, width, sums);
        Ok(())
    }

    /// What goes to the state, of something that adds to all sums.
    fn take(
        &mut self,
        act: impl FnOnce(&mut Dynamics, &mut BackwardSums) -> Result<(), EvalError>,
    ) -> Result<Vec<f64>, EvalError> {
        self.kept.state.fill(0.0);
        act(&mut self.dynamics, &mut self.kept)?;
        Ok(self.kept.state.clone())
    }

    /// The same, where only what goes to the state is wanted.
    fn look(
        &mut self,
        act: impl FnOnce(&mut Dynamics, &mut BackwardSums) -> Result<(), EvalError>,
    ) -> Result<Vec<f64>, EvalError> {
        self.spare.state.fill(0.0);
        act(&mut self.dynamics, &mut self.spare)?;
        Ok(self.spare.state.clone())
    }

    fn back_over(&mut self, leg: &Leg, adjoint: &mut [f64]) -> Result<(), AdjointError> {
        let Leg { t, h, before, middle, after, turns } = leg;
        let (width, half) = (t.len(), middle.len());
        let ends: Vec<f64> = t.iter().zip(h).map(|(t, h)| t + h).collect();
        let times = |factor: f64, numbers: &[f64]| -> Vec<f64> {
            numbers.iter().enumerate().map(|(i, x)| factor * h[i % width] * x).collect()
        };
        let (start, finish) = ([&before[..half], middle].concat(), [&after[..half], middle].concat());
        let (mut a, mut b) = (adjoint[..half].to_vec(), adjoint[half..].to_vec());
        if self.rows > 0 {
            self.end.factor(&mut self.dynamics, &ends, after)?;
            self.begin.factor(&mut self.dynamics, t, before)?;
        }
        let mut push = vec![0.0; half];
        if *turns && self.rows > 0 {
            // G₁ᵀμ = p̂ − p₁.
            self.dynamics.kick(&ends, &finish, &mut push)?;
            let mut pull: Vec<f64> = middle.iter().zip(times(0.5, &push)).map(|(p, push)| p + push).collect();
            pull.iter_mut().zip(&after[half..]).for_each(|(p, after)| *p -= after);
            let mut mu = vec![0.0; self.rows];
            self.end.add_rates_of_momenta(&pull, &mut mu);
            self.end.solve(&mut mu);
            let mut nu = vec![0.0; self.rows];
            self.end.add_rates(&b, &mut nu);
            self.end.solve(&mut nu);
            nu.iter_mut().for_each(|nu| *nu = -*nu);
            let by_rates = self.take(|d, sums| d.add_constraint_rate_slopes(&ends, after, &nu, sums))?;
            add(&mut a, &by_rates[..half]);
            add(&mut b, &by_rates[half..]);
            let by_force = self.take(|d, sums| d.add_constraint_force_slopes(&ends, after, &mu, &b, sums))?;
            add(&mut a, &by_force[..half]);
        }
        let pushed = times(0.5, &b);
        let by_push = self.take(|d, sums| d.add_kick_slopes(&ends, &finish, &pushed, sums))?;
        add(&mut a, &by_push[..half]);
        let mut c = b;
        add(&mut c, &by_push[half..]);
        let [alpha, d, xi] = self.solve(leg, &ends, [&start, &finish], [&a, &c])?;
        // What goes to the beginning, and to parameters.
        if self.positions > 0 {
            let against: Vec<f64> = xi[..self.positions].iter().map(|xi| -xi).collect();
            self.take(|d, sums| d.add_constraint_slopes(&ends, after, &against, sums))?;
        }
        let (drifted, kicked) = (times(0.5, &alpha), times(0.5, &d));
        self.take(|d, sums| d.add_drift_slopes(&ends, &finish, &drifted, sums))?;
        let by_drift = self.take(|d, sums| d.add_drift_slopes(t, &start, &drifted, sums))?;
        let by_kick = self.take(|d, sums| d.add_kick_slopes(t, &start, &kicked, sums))?;
        let mut places = alpha;
        add(&mut places, &by_drift[..half]);
        add(&mut places, &by_kick[..half]);
        if self.rows > 0 {
            // G₀ᵀΛ = p₀ + ½h S − p½.
            self.dynamics.kick(t, &start, &mut push)?;
            let mut pull: Vec<f64> =
                before[half..].iter().zip(times(0.5, &push)).map(|(p, push)| p + push).collect();
            pull.iter_mut().zip(middle).for_each(|(p, middle)| *p -= middle);
            let mut lambda = vec![0.0; self.rows];
            self.begin.add_rates_of_momenta(&pull, &mut lambda);
            self.begin.solve(&mut lambda);
            let by_force = self
                .take(|dynamics, sums| dynamics.add_constraint_force_slopes(t, before, &lambda, &d, sums))?;
            add(&mut places, &by_force[..half]);
        }
        adjoint[..half].copy_from_slice(&places);
        adjoint[half..].copy_from_slice(&d);
        Ok(())
    }

    /// α, d and ξ.
    fn solve(
        &mut self,
        leg: &Leg,
        ends: &[f64],
        [start, finish]: [&[f64]; 2],
        [a, c]: [&[f64]; 2],
    ) -> Result<[Vec<f64>; 3], AdjointError> {
        let Leg { t, h, after, .. } = leg;
        let (width, half) = (t.len(), a.len());
        let halves = |numbers: &[f64]| -> Vec<f64> {
            numbers.iter().enumerate().map(|(i, x)| 0.5 * h[i % width] * x).collect()
        };
        if self.rows > 0 {
            let clear: Vec<bool> = (0..8).map(|lane| lane < width && self.begin.is_clear(lane)).collect();
            self.shake.factor(&self.begin, &clear, &mut self.dynamics, ends, after)?;
        }
        let (mut alpha, mut d, mut xi) = (vec![0.0; half], vec![0.0; half], vec![0.0; self.rows]);
        // What is left of each equation.
        let (mut r1, mut r2, mut r3) = (a.to_vec(), c.to_vec(), vec![0.0; self.rows]);
        let mut last = f64::INFINITY;
        for _ in 0..MOST {
            // Corrections: α + G₁ᵀξ = r₁, d − hM⁻¹α = r₂, G₀ d = r₃, by h G₀M⁻¹G₁ᵀ ξ = G₀(r₂ + hM⁻¹r₁) − r₃.
            let forward = |this: &mut Self, weights: &[f64]| -> Result<Vec<f64>, EvalError> {
                let weights = halves(weights);
                let mut moved = this.look(|d, sums| d.add_drift_slopes(t, start, &weights, sums))?;
                let more = this.look(|d, sums| d.add_drift_slopes(ends, finish, &weights, sums))?;
                add(&mut moved, &more);
                Ok(moved)
            };
            let mut step_alpha = r1.clone();
            let mut step_xi = vec![0.0; self.rows];
            if self.rows > 0 {
                let mut ahead = forward(self, &r1)?.split_off(half);
                add(&mut ahead, &r2);
                step_xi.iter_mut().zip(&r3).for_each(|(xi, r)| *xi = -r);
                self.begin.add_rates(&ahead, &mut step_xi);
                let mut plain = step_xi.clone();
                self.begin.solve(&mut plain);
                self.shake.solve_transposed(&mut step_xi);
                for (i, (xi, plain)) in step_xi.iter_mut().zip(&plain).enumerate() {
                    let lane = i % width;
                    let slope = if self.begin.is_clear(lane) { *xi } else { *plain };
                    *xi = if h[lane] == 0.0 { 0.0 } else { slope / h[lane] };
                }
                self.end.add_forces(&step_xi, &mut step_alpha);
            }
            let moved = forward(self, &step_alpha)?;
            let mut step_d = r2.clone();
            add(&mut step_d, &moved[half..]);
            add(&mut alpha, &step_alpha);
            add(&mut d, &step_d);
            add(&mut xi, &step_xi);
            let size = largest(&alpha).max(largest(&d));
            let change = largest(&step_alpha).max(largest(&step_d));
            if !change.is_finite() {
                break;
            }
            if change <= ROUNDING * size || change >= 0.5 * last && change <= NOISE * size {
                return Ok([alpha, d, xi]);
            }
            last = change;
            // What is left: of α by ½h(∂v/∂q)ᵀα at q₁, of d by ½h(∂S/∂p)ᵀd at q₀.
            let (by_alpha, by_d) = (halves(&alpha), halves(&d));
            let at_end = self.look(|d, sums| d.add_drift_slopes(ends, finish, &by_alpha, sums))?;
            let at_start = self.look(|d, sums| d.add_drift_slopes(t, start, &by_alpha, sums))?;
            let pushed = self.look(|dynamics, sums| dynamics.add_kick_slopes(t, start, &by_d, sums))?;
            r1.copy_from_slice(a);
            if self.rows > 0 {
                self.end.add_forces(&xi, &mut r1);
            }
            add(&mut r1, &at_end[..half]);
            subtract(&mut r1, &alpha);
            r2.copy_from_slice(c);
            for more in [&pushed[half..], &at_start[half..], &at_end[half..]] {
                add(&mut r2, more);
            }
            subtract(&mut r2, &d);
            if self.rows > 0 {
                r3.fill(0.0);
                self.begin.add_rates(&d, &mut r3);
                r3.iter_mut().for_each(|r| *r = -*r);
            }
        }
        Err(AdjointError::Unsolved { t: t[0] })
    }
}

fn add(sums: &mut [f64], terms: &[f64]) {
    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
}

fn subtract(sums: &mut [f64], terms: &[f64]) {
    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum -= term);
}

fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |m, x| if x.is_nan() { f64::NAN } else { m.max(x.abs()) })
}

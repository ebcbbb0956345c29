//! Steps backwards: the text of a step, written into a program with the rates of the system, and reversed.
//!
//! An explicit step is a program of the state. An implicit one has unknowns x, with R(x, y, θ) = 0, and y₁ = y + C(x, y): there weights λ of the end
//! go back by one solution with the transposed matrix,
//!
//! $$\Bigl(\frac{\partial R}{\partial x}\Bigr)^{\!\mathsf T}\mu=\Bigl(\frac{\partial C}{\partial x}\Bigr)^{\!\mathsf T}\lambda,\qquad
//! \lambda_0=\lambda+\Bigl(\frac{\partial C}{\partial y}\Bigr)^{\!\mathsf T}\lambda-\Bigl(\frac{\partial R}{\partial y}\Bigr)^{\!\mathsf T}\mu,$$
//!
//! and all of it is the reverse of one program with the results C and R, for the weights λ and −μ.

use super::error::AdjointError;
use super::legs::ReverseLegs;
use super::program::{Part, ProgramKey, Runner, Shape, Text};
use super::seed::Inner;
use super::stages::add_backward;
use super::tape::Tape;
use super::unknowns::Unknowns;
use crate::card::Card;
use crate::pace::Pace;
use crate::step::Interval;
use leastaction_compile::LANES;
use leastaction_mechanics::{BackwardSums, Dynamics, ProjectionError};

/// The way back over steps of a method.
pub(super) struct ReverseStep {
    core: Core,
    /// The state within a step, forward and backward, once it is needed.
    inside: Option<[Runner; 2]>,
    /// Where a step is moved onto constraints, or a state within it.
    projection: Option<Projection>,
    shape: Shape,
    parameters: Vec<Vec<f64>>,
    by: Vec<usize>,
    card: &'static Card,
    /// Whether steps end only about where their equations say.
    is_loose: bool,
}

/// A step by itself.
#[allow(clippy::large_enum_variant)] // there is one
enum Core {
    /// By a text; with the text forward, where the change is asked for, and how unknowns are found, if there are any.
    Text {
        reverse: Runner,
        forward: Option<Runner>,
        unknowns: Option<Unknowns>,
    },
    Legs(Box<ReverseLegs>),
}

/// A projection onto constraints, backwards.
struct Projection {
    dynamics: Dynamics,
    sums: BackwardSums,
    /// Whether steps are moved, or only states within them.
    of_steps: bool,
}

/// Where a step is: its time and length, its states before and after, lane by lane.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) interval: Interval<'a>,
    pub(super) y: &'a [f64],
    pub(super) after: &'a [f64],
}

/// Sums of what goes to the state, and to parameters and inputs.
pub(super) type Sums<'a> = (&'a mut [f64], &'a mut [f64]);

impl ReverseStep {
    /// The way back over the steps of a tape, in so many lanes with these parameters.
    pub(super) fn new(tape: &Tape, width: usize, parameters: &[&[f64]]) -> Result<ReverseStep, AdjointError> {
        let (by, card) = (tape.by().to_vec(), tape.integrator().card());
        let parameters: Vec<Vec<f64>> = parameters.iter().map(|own| own.to_vec()).collect();
        let dynamics = in_lanes(tape.dynamics(), width, &parameters)?;
        let mut stepper = stepper(&dynamics, card)?;
        let text = Text::of(&mut *stepper, card);
        let dimension = dynamics.system().dimension();
        let unknowns = text.unknowns(dimension);
        let shape = Shape { width, dimension, unknowns, parameters: by.len() };
        let facts = dynamics.system().facts();
        let projection = facts.constrained.then(|| Projection {
            sums: BackwardSums::new(dynamics.system(), width),
            dynamics: dynamics.clone(),
            of_steps: card.is_projected_in(facts),
        });
        let core = if text.is_of_legs() {
            Core::Legs(Box::new(ReverseLegs::new(&dynamics, card, width)?))
        } else {
            let runner = |by: Option<&[usize]>| {
                let key = ProgramKey::new(card, Part::Step, by);
                Runner::new(&dynamics, &text, key, (width, &parameters), shape)
            };
            let forward = if projection.is_some() { Some(runner(None)?) } else { None };
            let unknowns = match shape.unknowns {
                0 => None,
                _ => Some(Unknowns::new(runner(None)?, shape)),
            };
            Core::Text { reverse: runner(Some(&by))?, forward, unknowns }
        };
        let is_loose = is_loose(tape)?;
        Ok(ReverseStep { core, inside: None, projection, shape, parameters, by, card, is_loose })
    }

    /// Hands weights at the end of a step to its start, and adds what parameters and inputs get.
    pub(super) fn back(
        &mut self,
        dynamics: &Dynamics,
        site: Site<'_>,
        (adjoint, sums): Sums<'_>,
    ) -> Result<(), AdjointError> {
        self.find_unknowns(dynamics, site)?;
        if self.moves_steps() {
            let end = self.unmoved_end(dynamics, site)?;
            let ends: Vec<f64> = site.interval.t.iter().zip(site.interval.h).map(|(t, h)| t + h).collect();
            self.project_back(&ends, &end, adjoint, sums)?;
        }
        self.step_back(dynamics, site, (adjoint, sums))
    }

    fn moves_steps(&self) -> bool {
        self.projection.as_ref().is_some_and(|projection| projection.of_steps)
    }

    fn find_unknowns(&mut self, dynamics: &Dynamics, site: Site<'_>) -> Result<(), AdjointError> {
        let moved = self.moves_steps();
        if let Core::Text { reverse, unknowns: Some(unknowns), .. } = &mut self.core {
            let mut stepper = stepper(dynamics, self.card)?;
            let text = Text::of(&mut *stepper, self.card);
            let guess = |change: &[f64], x: &mut [f64]| text.guess(change, x);
            unknowns.find(dynamics, reverse, site, moved || self.is_loose, guess)?;
        }
        Ok(())
    }

    /// Where the step leads before it is moved onto constraints.
    fn unmoved_end(&mut self, dynamics: &Dynamics, site: Site<'_>) -> Result<Vec<f64>, AdjointError> {
        match &mut self.core {
            Core::Legs(legs) => Ok(legs.replay(site)?.to_vec()),
            Core::Text { forward, unknowns, .. } => {
                let Some(forward) = forward else {
                    unreachable!("where steps are moved, changes are asked for")
                };
                let known = unknowns.as_ref().map_or(&[][..], Unknowns::values);
                forward.eval(dynamics, site, [known, &[], &[]], [&[], &[]])?;
                Ok(site.y.iter().zip(forward.results()).map(|(y, change)| y + change).collect())
            }
        }
    }

    /// Goes back over the movement onto constraints from a state.
    fn project_back(
        &mut self,
        t: &[f64],
        y: &[f64],
        weights: &mut [f64],
        sums: &mut [f64],
    ) -> Result<Vec<f64>, AdjointError> {
        let Some(projection) = &mut self.projection else { return Ok(vec![0.0; t.len()]) };
        let Projection { dynamics, sums: terms, .. } = projection;
        terms.clear();
        dynamics.reverse_projection(t, y, weights, terms).map_err(|error| match error {
            ProjectionError::Eval(error) => AdjointError::Eval(error),
            _ => AdjointError::Unsolved { t: t[0] },
        })?;
        add_backward(1.0, terms, &self.by, t.len(), sums);
        Ok(terms.time.clone())
    }

    /// Goes back over the step itself.
    fn step_back(
        &mut self,
        dynamics: &Dynamics,
        site: Site<'_>,
        (adjoint, sums): Sums<'_>,
    ) -> Result<(), AdjointError> {
        match &mut self.core {
            Core::Legs(legs) => {
                let end = legs.replay(site)?.to_vec();
                if !self.projection.as_ref().is_some_and(|projection| projection.of_steps) {
                    ReverseLegs::check(&end, site)?;
                }
                legs.back(&self.by, adjoint, sums)
            }
            Core::Text { reverse, unknowns, .. } => {
                evaluate(reverse, unknowns.as_mut(), dynamics, site, [&[], &[]], adjoint)?;
                reverse.add(1.0, self.shape, adjoint, sums);
                Ok(())
            }
        }
    }

    /// Makes what goes back from within a step. Gives what the end of this one was moved by.
    fn reach_inside(&mut self, tape: &Tape, site: Site<'_>) -> Result<Vec<f64>, AdjointError> {
        let (width, dynamics) = (self.shape.width, tape.dynamics());
        if self.inside.is_none() {
            let mut stepper = stepper(dynamics, self.card)?;
            let text = Text::of(&mut *stepper, self.card);
            let runner = |by: Option<&[usize]>| {
                let key = ProgramKey::new(self.card, Part::Inside, by);
                Runner::new(dynamics, &text, key, (width, &self.parameters), self.shape)
            };
            self.inside = Some([runner(None)?, runner(Some(&self.by))?]);
        }
        // The step ends elsewhere than its text says, where it was moved, or goes by legs.
        let mut moved = vec![0.0; site.y.len()];
        let unmoved = match &self.core {
            Core::Legs(_) => Some(site.y.to_vec()),
            Core::Text { .. } if self.moves_steps() => Some(self.unmoved_end(dynamics, site)?),
            Core::Text { .. } => None,
        };
        if let Some(unmoved) = &unmoved {
            moved.iter_mut().zip(site.after.iter().zip(unmoved)).for_each(|(m, (after, y))| *m = after - y);
        }
        Ok(moved)
    }

    /// Hands weights within a step, after the same part of it in all lanes, to its start. The way back over the step itself comes before.
    pub(super) fn inside_all(
        &mut self,
        tape: &Tape,
        tau: f64,
        weights: &[f64],
        site: Site<'_>,
        sums: Sums<'_>,
    ) -> Result<(), AdjointError> {
        let moved = self.reach_inside(tape, site)?;
        let at = Within { site, moved: &moved, taus: [tau; LANES] };
        self.hand(tape.dynamics(), at, weights, 1.0, sums).map(drop)
    }

    /// Hands weights within a step of one lane to its start. The way back over the step itself comes before.
    pub(super) fn inside(
        &mut self,
        tape: &Tape,
        inner: &Inner,
        lane: usize,
        site: Site<'_>,
        (adjoint, sums): Sums<'_>,
    ) -> Result<(), AdjointError> {
        let (width, dynamics) = (self.shape.width, tape.dynamics());
        let moved = self.reach_inside(tape, site)?;
        let mut weights = vec![0.0; site.y.len()];
        let put = |weights: &mut [f64], values: &[f64]| {
            weights.fill(0.0);
            values.iter().enumerate().for_each(|(i, value)| weights[i * width + lane] = *value);
        };
        put(&mut weights, &inner.weights);
        let taus = std::array::from_fn(|j| if j == lane { inner.tau } else { 0.0 });
        let at = Within { site, moved: &moved, taus };
        let along = self.hand(dynamics, at, &weights, 1.0, (adjoint, sums))?[lane];
        let Some((index, weight)) = inner.crossing else { return Ok(()) };
        // g(y(τ), t + τh, θ) = 0 says how τ moves: what moves with it is weighed by α = (w·y′ + w_t h)/(dg/dτ).
        let crossing = &tape.trajectory().crossings()[index];
        let event = crossing.event;
        let observable = tape.integrator().events[event].observable();
        let slopes = dynamics.clone().observable_slopes(observable, crossing.t, &crossing.state.block())?;
        let Some(slopes) = slopes else { return Err(AdjointError::Event { event }) };
        put(&mut weights, &slopes.state);
        let h = site.interval.h[lane];
        let (mut nothing, mut nowhere) = (vec![0.0; adjoint.len()], vec![0.0; sums.len()]);
        let rates = self.hand(dynamics, at, &weights, 0.0, (&mut nothing, &mut nowhere))?;
        let rate = rates[lane] + h * slopes.time;
        let alpha = (along + weight * h) / rate;
        if !alpha.is_finite() {
            return Err(AdjointError::Touches { event, t: crossing.t });
        }
        self.hand(dynamics, at, &weights, -alpha, (adjoint, sums))?;
        for (k, &place) in self.by.iter().enumerate() {
            sums[k * width + lane] -= alpha * slopes.parameters[place];
        }
        Ok(())
    }

    /// Hands a multiple of weights within a step to its start. Gives what they are by the part of the step, lane by lane.
    fn hand(
        &mut self,
        dynamics: &Dynamics,
        at: Within<'_>,
        weights: &[f64],
        scale: f64,
        (adjoint, sums): Sums<'_>,
    ) -> Result<Vec<f64>, AdjointError> {
        let Within { site, moved, taus } = at;
        let (width, shape) = (self.shape.width, self.shape);
        let (t, h) = (site.interval.t, site.interval.h);
        let taus = &taus[..width];
        let mut weights: Vec<f64> = weights.iter().map(|w| scale_of(scale) * w).collect();
        let mut by_time = vec![0.0; width];
        if self.projection.is_some() {
            let times: Vec<f64> = (0..width).map(|j| t[j] + taus[j] * h[j]).collect();
            let Some([forward, _]) = &mut self.inside else { unreachable!("the runners were made") };
            let known = match &self.core {
                Core::Text { unknowns: Some(unknowns), .. } => unknowns.values(),
                _ => &[],
            };
            forward.eval(dynamics, site, [known, moved, taus], [&[], &[]])?;
            let inside = forward.results()[..site.y.len()].to_vec();
            let mut own = vec![0.0; sums.len()];
            let terms = self.project_back(&times, &inside, &mut weights, &mut own)?;
            by_time.iter_mut().zip(terms.iter().zip(h)).for_each(|(by, (term, h))| *by = h * term);
            if scale != 0.0 {
                sums.iter_mut().zip(&own).for_each(|(sum, more)| *sum += more);
            }
        }
        let Some([_, reverse]) = &mut self.inside else { unreachable!("the runners were made") };
        let unknowns = match &mut self.core {
            Core::Text { unknowns, .. } => unknowns.as_mut(),
            Core::Legs(_) => None,
        };
        evaluate(reverse, unknowns, dynamics, site, [moved, taus], &weights)?;
        let by_tau: Vec<f64> =
            reverse.by_part(shape).iter().zip(&by_time).map(|(by, more)| by + more).collect();
        if scale == 0.0 {
            return Ok(by_tau);
        }
        reverse.add(1.0, shape, adjoint, sums);
        if self.projection.is_none() {
            return Ok(by_tau);
        }
        // What the end was moved by is where it is, less where the text leads.
        let by_moved = reverse.by_moved(shape).to_vec();
        let mut own = by_moved.clone();
        if self.moves_steps() {
            let end = self.unmoved_end(dynamics, site)?;
            let ends: Vec<f64> = t.iter().zip(h).map(|(t, h)| t + h).collect();
            self.project_back(&ends, &end, &mut own, sums)?;
        }
        match self.core {
            // y + change − y.
            Core::Legs(_) => {
                self.step_back(dynamics, site, (&mut own, sums))?;
                own.iter_mut().zip(&by_moved).for_each(|(own, moved)| *own -= moved);
            }
            Core::Text { .. } if self.moves_steps() => {
                own.iter_mut().zip(&by_moved).for_each(|(own, moved)| *own -= moved);
                self.step_back(dynamics, site, (&mut own, sums))?;
            }
            Core::Text { .. } => own.fill(0.0),
        }
        adjoint.iter_mut().zip(&own).for_each(|(sum, more)| *sum += more);
        Ok(by_tau)
    }
}

/// Places within a step whose end was moved, lane by lane.
#[derive(Clone, Copy)]
struct Within<'a> {
    site: Site<'a>,
    moved: &'a [f64],
    taus: [f64; LANES],
}

/// A multiple of weights; where it is 0, nothing is handed on, and only what is by the part of the step is looked at.
fn scale_of(scale: f64) -> f64 {
    if scale == 0.0 { 1.0 } else { scale }
}

/// The derivatives for weights of results, with those that unknowns hand on.
fn evaluate(
    reverse: &mut Runner,
    unknowns: Option<&mut Unknowns>,
    dynamics: &Dynamics,
    site: Site<'_>,
    [moved, taus]: [&[f64]; 2],
    weights: &[f64],
) -> Result<(), AdjointError> {
    match unknowns {
        None => reverse.eval(dynamics, site, [&[], moved, taus], [weights, &[]])?,
        Some(unknowns) => {
            let nothing = vec![0.0; unknowns.len()];
            reverse.eval(dynamics, site, [unknowns.values(), moved, taus], [weights, &nothing])?;
            let multipliers = unknowns.transposed(reverse.by_unknowns(unknowns.shape()))?;
            reverse.eval(dynamics, site, [unknowns.values(), moved, taus], [weights, &multipliers])?;
        }
    }
    Ok(())
}

/// A system with parameters in its lanes.
fn in_lanes(dynamics: &Dynamics, width: usize, parameters: &[Vec<f64>]) -> Result<Dynamics, AdjointError> {
    let mut dynamics = dynamics.clone();
    match width {
        1 => dynamics.set_parameters(&parameters[0])?,
        _ => (parameters.iter().enumerate())
            .try_for_each(|(lane, own)| dynamics.set_parameters_in(lane, own))?,
    }
    Ok(dynamics)
}

/// Whether the steps of a tape end only about where their equations say.
fn is_loose(tape: &Tape) -> Result<bool, AdjointError> {
    let (card, pace) = (tape.integrator().card(), tape.integrator().pace());
    let mut step = (card.stepper)(&mut tape.dynamics().clone(), 1, pace)?;
    Ok(!Text::of(&mut *step, card).is_exact())
}

/// A method at work, of which only the text is read.
pub(super) fn stepper(dynamics: &Dynamics, card: &Card) -> Result<Box<dyn crate::step::Step>, AdjointError> {
    Ok((card.stepper)(&mut dynamics.clone(), 1, &Pace::Step(1.0))?)
}

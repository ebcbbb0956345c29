//! The balance of energy along a run: the integrals of the power that is supplied and of that which is dissipated.
//!
//! Steps that a tolerance sets are long: within each, the powers are integrated by Gauss's rule along its polynomial. Steps of one length are short,
//! and there may be very many: the powers are known at their ends, and are integrated as the cubics through four ends in a row, of fourth order.

use crate::error::RunError;
use crate::quadrature::Rule;
use crate::run_loop::RunLoop;
use leastaction_mechanics::{Dynamics, EvalError};

/// Points in a step that a tolerance sets: exact for powers that are polynomials of degree 11.
const POINTS: usize = 6;

/// Steps that differ by more than this in length, as those to a switch, are in no cubic together.
const ALIKE: f64 = 1e-3;

/// What was done along a run.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Balance {
    /// The work that came from outside.
    pub supplied: f64,
    /// The energy that dissipation took.
    pub dissipated: f64,
}

/// A time with the powers supplied and dissipated.
type Powers = (f64, [f64; 2]);

/// The balance of a run under way.
pub(crate) struct Balancing {
    rule: Rule,
    sums: [f64; 2],
    /// The last ends of steps of one length, four at most, and whether the first interval between them is integrated.
    past: Vec<Powers>,
    begun: bool,
    state: Vec<f64>,
    /// Whether powers cannot be computed.
    unknown: bool,
}

impl Balancing {
    /// Begins where a run stands.
    pub(crate) fn new(run: &mut RunLoop<'_>) -> Balancing {
        let (rule, state) = (Rule::gauss(POINTS), run.block.values().to_vec());
        let mut own =
            Balancing { rule, sums: [0.0; 2], past: Vec::new(), begun: false, state, unknown: false };
        if !Balancing::looks_inside(run) {
            own.end_at(run.times()[0], run.motion.dynamics());
        }
        own
    }

    /// Whether steps are looked into: where they are long, or may begin and end with a jump of the powers.
    fn looks_inside(run: &RunLoop<'_>) -> bool {
        run.is_adaptive() || run.has_switches()
    }

    /// Starts again where a run stands after a reset.
    pub(crate) fn begin_anew(&mut self, run: &mut RunLoop<'_>) {
        if !Balancing::looks_inside(run) {
            self.close();
            self.past.clear();
            self.state.copy_from_slice(run.block.values());
            self.end_at(run.times()[0], run.motion.dynamics());
        }
    }

    /// Adds the proposed step of a run up to a fraction of it, before it is taken.
    pub(crate) fn add(&mut self, run: &mut RunLoop<'_>, fraction: f64) -> Result<(), RunError> {
        if self.unknown {
            return Ok(());
        }
        let (t, end, work) = (run.times()[0], run.end_of(0), run.motion.work());
        let h = fraction * (end - t);
        if Balancing::looks_inside(run) {
            run.interpolate()?;
            for (node, weight) in self.rule.nodes.iter().zip(&self.rule.weights) {
                let time = t + node * h;
                let found = run.inside(0, node * fraction, time, &mut self.state).is_ok();
                match powers(run.motion.dynamics(), time, &self.state).ok().filter(|_| found) {
                    Some(powers) => {
                        self.sums.iter_mut().zip(powers).for_each(|(sum, power)| *sum += h * weight * power);
                    }
                    None => self.unknown = true,
                }
            }
        } else if fraction == 1.0 {
            let after = (0..self.state.len()).map(|component| run.after(component));
            self.state = after.collect();
            self.end_at(end, run.motion.dynamics());
        } else {
            run.interpolate()?;
            self.unknown |= run.inside(0, fraction, t + h, &mut self.state).is_err();
            self.end_at(t + h, run.motion.dynamics());
        }
        // What this costs is no work of the method.
        *run.motion.work_mut() = work;
        Ok(())
    }

    /// Adds the end of a step of one length.
    fn end_at(&mut self, t: f64, dynamics: &mut Dynamics) {
        let Ok(powers) = powers(dynamics, t, &self.state) else {
            self.unknown = true;
            return;
        };
        if let [.., (before, _), (last, _)] = self.past[..] {
            let ratio = ((t - last) / (last - before)).abs();
            if !(ALIKE..1.0 / ALIKE).contains(&ratio) {
                self.close();
            }
        }
        if self.past.last().is_some_and(|(last, _)| *last == t) {
            return;
        }
        if self.past.len() == 4 {
            self.past.remove(0);
        }
        self.past.push((t, powers));
        if self.past.len() == 4 {
            let first = usize::from(self.begun);
            (first..2).for_each(|interval| self.integrate(interval));
            self.begun = true;
        }
    }

    /// Adds the integral of the polynomial through all ends over one interval between them.
    fn integrate(&mut self, interval: usize) {
        let (from, to) = (self.past[interval].0, self.past[interval + 1].0);
        // Two points of Gauss are exact for cubics.
        let half = 0.5 * (to - from);
        for side in [-1.0, 1.0] {
            let t = from + half * (1.0 + side / 3.0_f64.sqrt());
            for (i, (own, powers)) in self.past.iter().enumerate() {
                let others = self.past.iter().enumerate().filter(|(j, _)| *j != i);
                let weight: f64 = others.map(|(_, (other, _))| (t - other) / (own - other)).product();
                self.sums.iter_mut().zip(powers).for_each(|(sum, power)| *sum += half * weight * power);
            }
        }
    }

    /// Adds what is left, and starts again at the last end.
    fn close(&mut self) {
        let ends = self.past.len();
        let first = if self.begun { ends - 2 } else { 0 };
        (first..ends.saturating_sub(1)).for_each(|interval| self.integrate(interval));
        self.past.drain(..ends.saturating_sub(1));
        self.begun = false;
    }

    /// What was done, if it can be computed.
    pub(crate) fn done(mut self) -> Option<Balance> {
        self.close();
        let [supplied, dissipated] = self.sums;
        (!self.unknown && supplied.is_finite() && dissipated.is_finite())
            .then_some(Balance { supplied, dissipated })
    }
}

fn powers(dynamics: &mut Dynamics, t: f64, y: &[f64]) -> Result<[f64; 2], EvalError> {
    let (mut supplied, mut dissipated) = ([0.0], [0.0]);
    dynamics.supplied_power(&[t], y, &mut supplied)?;
    dynamics.dissipated_power(&[t], y, &mut dissipated)?;
    Ok([supplied[0], dissipated[0]])
}

//! A method on a system: what it cost, and how well it did.

use super::super::progress::Watcher;
use leastaction::{
    Card, Dynamics, EvalError, Integrator, Needs, Pace, Reason, RunError, State, Tolerance, Work,
    energy_scale,
};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Energies are looked at about so many times, so that looking costs little.
const LOOKS: u64 = 500;
/// A run that is over sooner is run again, so many times at most: the shortest time counts.
const SHORT: Duration = Duration::from_millis(100);
const AGAIN: u32 = 3;
/// The tolerance of the reference, and a larger one by which it is judged.
const TIGHT: [f64; 2] = [1e-14, 1e-13];

/// What a run is compared by.
pub(super) struct Run {
    pub(super) work: Work,
    pub(super) wall: Duration,
    /// The times at which the energy was looked at, and its changes there, relative to its scale.
    pub(super) times: Vec<f64>,
    pub(super) changes: Vec<f64>,
    /// By how much constraints of positions, and what all demand of velocities, were violated at most.
    pub(super) violations: (f64, f64),
    pub(super) end: Vec<f64>,
}

impl Run {
    /// The largest change of the energy; NaN if one is.
    pub(super) fn drift(&self) -> f64 {
        self.changes
            .iter()
            .fold(0.0, |m: f64, e| if e.is_nan() || m.is_nan() { f64::NAN } else { m.max(e.abs()) })
    }
}

/// Runs a method from a start to an end, several times if that takes no time. Nothing if it was broken off.
pub(super) fn run(
    integrator: &Integrator,
    dynamics: &Dynamics,
    start: &State,
    end: f64,
    watcher: &mut Watcher,
    told: &dyn Fn(f64) -> (f64, String),
) -> Result<Option<Run>, RunError> {
    let mut dynamics = dynamics.clone();
    let mut best: Option<Run> = None;
    for _ in 0..AGAIN {
        let Some(found) = once(integrator, &mut dynamics, start, end, watcher, told)? else {
            return Ok(None);
        };
        let short = found.wall < SHORT;
        best = Some(match best {
            Some(before) if before.wall < found.wall => before,
            _ => found,
        });
        if !short {
            break;
        }
    }
    Ok(best)
}

fn once(
    integrator: &Integrator,
    dynamics: &mut Dynamics,
    start: &State,
    end: f64,
    watcher: &mut Watcher,
    told: &dyn Fn(f64) -> (f64, String),
) -> Result<Option<Run>, RunError> {
    let system = dynamics.system().clone();
    let scale = energy_scale(dynamics, start)?;
    let (mut first, mut energy) = ([0.0], [0.0]);
    dynamics.energy(&[start.t], &start.block(), &mut first)?;
    let (mut phi, mut psi) =
        (vec![0.0; system.position_constraints()], vec![0.0; system.constraints().len()]);
    let mut run = Run {
        work: Work::default(),
        wall: Duration::ZERO,
        times: Vec::new(),
        changes: Vec::new(),
        violations: (0.0, 0.0),
        end: Vec::new(),
    };
    // Samples between steps would cost evaluations of their own: steps are looked at where they end.
    let (every, spacing) = match integrator.steps_between(start.t, end)? {
        Some(steps) => (steps / LOOKS, 0.0),
        None => (1, (end - start.t).abs() / LOOKS as f64),
    };
    let mut next = 0.0;
    let integrator = integrator.clone().every(every);
    let before = Instant::now();
    let ended = integrator.observe(dynamics, start, end, |sample| {
        let (t, y) = (sample.t, sample.block.values());
        let gone = (t - start.t).abs();
        if gone < next && t != end {
            return Ok(ControlFlow::Continue(()));
        }
        next = gone + spacing;
        sample.dynamics.energy(&[t], y, &mut energy)?;
        run.times.push(t);
        run.changes.push((energy[0] - first[0]) / scale);
        if !psi.is_empty() {
            sample.dynamics.violations(&[t], y, &mut phi, &mut psi)?;
            let largest = |m: f64, values: &[f64]| values.iter().fold(m, |m, x| m.max(x.abs()));
            run.violations = (largest(run.violations.0, &phi), largest(run.violations.1, &psi));
        }
        if t == end {
            run.end = y.to_vec();
        }
        let part = if end == start.t { 1.0 } else { gone / (end - start.t).abs() };
        let (fraction, _) = told(part);
        Ok::<_, EvalError>(watcher.tell(fraction, || told(part).1))
    })?;
    run.wall = before.elapsed();
    run.work = ended.work;
    Ok((ended.reason != Reason::Interrupted).then_some(run))
}

/// Where a motion ends, as well as can be told.
pub(super) struct Reference {
    /// Which method at which tolerance.
    pub(super) told: String,
    pub(super) end: Vec<f64>,
    /// By how much it may be off.
    pub(super) doubt: f64,
}

impl Reference {
    /// The motion by a method of high order at the finest tolerance, judged by the same at a larger one.
    pub(super) fn new(
        dynamics: &Dynamics,
        start: &State,
        end: f64,
        steps: u64,
        watcher: &mut Watcher,
    ) -> Result<Option<Reference>, RunError> {
        let facts = dynamics.system().facts().clone();
        let name = if Needs::Closed.met_by(&facts) { "taylor" } else { "vern9" };
        let Ok(card) = Card::named(name) else { return Ok(None) };
        let mut ends = Vec::new();
        for tolerance in TIGHT {
            let integrator = Integrator::new(card, Tolerance::relative(tolerance)).at_most(steps);
            let told = |part: f64| (0.0, format!("reference, {:.0} %", 100.0 * part));
            match once(&integrator, &mut dynamics.clone(), start, end, watcher, &told)? {
                Some(run) => ends.push(run.end),
                None => return Ok(None),
            }
        }
        let degrees = dynamics.system().degrees();
        let doubt = distance(&ends[1], &ends[0], degrees);
        let told = format!("{name} at a tolerance of {:e}", TIGHT[0]);
        Ok(Some(Reference { told, end: ends.swap_remove(0), doubt }))
    }

    /// How far a run ends from it.
    pub(super) fn error(&self, run: &Run, degrees: usize) -> f64 {
        distance(&run.end, &self.end, degrees)
    }
}

/// The largest difference of coordinates, relative to the largest coordinate, and of momenta likewise: the larger of both.
fn distance(found: &[f64], expected: &[f64], degrees: usize) -> f64 {
    let part = |range: std::ops::Range<usize>| {
        let size = expected[range.clone()].iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let off = range.map(|i| (found[i] - expected[i]).abs());
        let off = off.fold(0.0, |m: f64, x| if x.is_nan() || m.is_nan() { f64::NAN } else { m.max(x) });
        if off == 0.0 { 0.0 } else { off / if size > 0.0 { size } else { 1.0 } }
    };
    let degrees = degrees.min(expected.len());
    let (q, p) = (part(0..degrees), part(degrees..expected.len()));
    if q.is_nan() || p.is_nan() { f64::NAN } else { q.max(p) }
}

/// Whether a method may be asked to run such a system at such a pace.
pub(super) fn applies(card: &Card, pace: &Pace, dynamics: &Dynamics) -> bool {
    use leastaction::Sizing;
    let sized = !(matches!(pace, Pace::Tolerance(_)) && card.sizing == Sizing::Given);
    sized && card.needs.met_by(dynamics.system().facts())
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distances_are_relative_to_their_kind() {
        let expected = [1.0, -2.0, 100.0, 0.0];
        assert_eq!(distance(&expected, &expected, 2), 0.0);
        assert_eq!(distance(&[1.0, -1.0, 100.0, 0.0], &expected, 2), 0.5);
        assert_eq!(distance(&[1.0, -2.0, 100.0, 1.0], &expected, 2), 0.01);
        assert_eq!(distance(&[0.5], &[0.0], 1), 0.5);
        assert!(distance(&[f64::NAN, -2.0, 100.0, 0.0], &expected, 2).is_nan());
    }
}

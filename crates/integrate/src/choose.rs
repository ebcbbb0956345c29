//! The choice of a method, when the user names none. The rules, in their order:
//!
//! | given | the system | method |
//! |---|---|---|
//! | a tolerance | decays much faster than it moves | `radau5` |
//! | a tolerance | a field in closed form in which time is not compared, rounded or cut off, and a tolerance of 1e−5 or less | `taylor` |
//! | a tolerance | else: by the tolerance | `tsit5`, `dop853`, `vern9` |
//! | a step | loses energy, and the step is long for its fastest motion | `radau5` |
//! | a step | constraints of positions, constant masses, the step is short for its fastest motion | `rattle4`; `rattle` if there are many |
//! | a step | other constraints of positions | `gauss-spark4` |
//! | a step | constraints of velocities | `dop853`, projected |
//! | a step | loses energy at one rate: separable with linear damping | `conformal4` |
//! | a step | separable, the step is short for its fastest motion | `blanes-moan4` |
//! | a step | else | `gauss4` |
//! | a density | constraints of positions | `gauss-spark6` |
//! | a density | separable, or not | `blanes-moan6`, `gauss6` |
//! | neither | nothing is lost, the run is longer than a thousand of its fastest periods, and one step suits all of it | `blanes-moan6`, or `gauss8` if not separable, or `gauss-spark8` if constraints of positions hold |
//! | neither | else | as for a tolerance of 1e−10 |
//!
//! How fast a system moves is looked up: by the largest eigenvalue of the field's derivatives, along a short trial run. One step suits all of it unless
//! the steps of the trial differ much, as near a collision, or it would make too many. Methods of a
//! tolerance are projected onto constraints after each step; a field with constraint forces that are written out is in closed form.

use crate::block::Block;
use crate::card::{Card, Keeps, Needs};
use crate::error::{RunError, number};
use crate::integrator::Integrator;
use crate::pace::{Pace, Tolerance};
use leastaction_mechanics::{Dynamics, Facts, State};
use std::f64::consts::TAU;
use std::ops::ControlFlow;

/// A method with a pace, and why it was chosen.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The method with its pace.
    pub integrator: Integrator,
    /// Why, in a sentence.
    pub why: String,
}

/// A run longer than so many periods of its fastest motion should keep its geometry.
const LONG: f64 = 1000.0;
/// Steps of a run that nobody gave a step, per period of the fastest motion.
const STEPS_PER_PERIOD: f64 = 50.0;
/// One step suits a run whose shortest steps are longer than this part of the mean: the shortest but for a tenth, as a first step is a guess.
const UNEVEN: f64 = 0.1;
/// More steps of one length nobody waits for who did not ask for them.
const MOST_STEPS: f64 = 1e8;
/// The tolerance of a run that nobody gave one.
const USUAL: Tolerance = Tolerance { relative: 1e-10, absolute: 0.0 };
/// A step that turns the fastest motion by more than this many radians is long.
const LONG_STEP: f64 = 1.0;
/// A system is stiff if its fastest rate is so many times that at which its state changes, and it loses energy.
const STIFF: f64 = 200.0;
/// With more constraints than this, nobody waits for compositions of steps.
const MANY: usize = 100;
/// The size of a trial run, and the largest system that is looked into.
const TRIAL_STEPS: u64 = 200;
const TRIAL_LOOKS: u64 = 10;
const LARGEST: usize = 64;

impl Choice {
    /// The method for a run of a system, at a pace if one is given.
    ///
    /// # Errors
    /// [`RunError`] if the field cannot be evaluated at the start.
    pub fn new(
        dynamics: &mut Dynamics,
        start: &State,
        end: f64,
        pace: Option<Pace>,
    ) -> Result<Choice, RunError> {
        let facts = dynamics.system().facts().clone();
        let tempo = Tempo::look(dynamics, start, end)?;
        let span = (end - start.t).abs();
        let free = !facts.dissipative && !facts.forced;
        let (name, pace, why) = match pace {
            Some(Pace::Tolerance(tolerance)) => {
                let (name, why) = by_tolerance(&facts, tempo, tolerance.relative.max(tolerance.absolute));
                (name, Pace::Tolerance(tolerance), why)
            }
            Some(Pace::Step(step)) => {
                let constraints = dynamics.system().constraints().len();
                let (name, why) = by_step(&facts, constraints, tempo, step);
                (name, Pace::Step(step), why)
            }
            Some(Pace::Density(density)) => {
                let (name, why) = by_density(&facts);
                (name, Pace::Density(density), why)
            }
            None if free
                && facts.holonomic
                && tempo.is_known()
                && tempo.fastest * span > LONG * TAU
                && tempo.suits_one_step(span) =>
            {
                let step = (end - start.t).signum() * TAU / tempo.fastest / STEPS_PER_PERIOD;
                let periods = (tempo.fastest * span / TAU).round();
                let name = match () {
                    () if facts.constrained => "gauss-spark8",
                    () if Needs::Separable.met_by(&facts) => "blanes-moan6",
                    () => "gauss8",
                };
                let why = format!(
                    "nothing is lost over some {periods} periods of the fastest motion, so its geometry is kept"
                );
                (name, Pace::Step(step), why)
            }
            None => {
                let (name, mut why) = by_tolerance(&facts, tempo, USUAL.relative);
                if tempo.is_known() && !tempo.suits_one_step(span) {
                    why += "; at times the motion is much faster than mostly, so steps follow it";
                }
                (name, Pace::Tolerance(USUAL), why)
            }
        };
        let card = Card::named(name)
            .unwrap_or_else(|error| unreachable!("the rules name methods that exist: {error}"));
        Ok(Choice { integrator: Integrator::new(card, pace), why })
    }
}

fn by_tolerance(facts: &Facts, tempo: Tempo, tolerance: f64) -> (&'static str, String) {
    if tempo.is_stiff(facts) {
        let (fast, slow) = (number(&tempo.fastest.round()), number(&tempo.slow().round()));
        return (
            "radau5",
            format!("the motion decays at rates up to {fast} and changes at {slow}: it is stiff"),
        );
    }
    let digits = -tolerance.log10();
    match () {
        () if Needs::Closed.met_by(facts) && facts.smooth_in_time && digits >= 5.0 => (
            "taylor",
            "the field is in closed form, and its Taylor series is the cheapest way to many digits"
                .to_owned(),
        ),
        () if digits >= 11.0 => ("vern9", "many digits of any vector field".to_owned()),
        () if digits >= 6.0 => ("dop853", "good accuracy of any vector field".to_owned()),
        () => ("tsit5", "few digits of any vector field".to_owned()),
    }
}

fn by_step(facts: &Facts, constraints: usize, tempo: Tempo, step: f64) -> (&'static str, String) {
    let long = tempo.is_known() && tempo.fastest * step.abs() > LONG_STEP;
    let turn = number(&(10.0 * tempo.fastest * step.abs()).round().max(1.0));
    if facts.dissipative && long {
        return ("radau5", format!("energy is lost, and a step is {turn} tenths of the fastest time"));
    }
    if facts.dissipative && Needs::LinearDamping.met_by(facts) && !long {
        return ("conformal4", "damping is linear: what it does to the geometry is kept".to_owned());
    }
    if facts.constrained && !facts.holonomic {
        let why = "constraints are of velocities: each step is followed by a projection onto them";
        return ("dop853", why.to_owned());
    }
    let simple = facts.separable && facts.constant_mass && !facts.forces_depend_on_velocities;
    let kept = if Keeps::Symplectic.is_there(facts) { " and the symplectic form on them" } else { "" };
    if facts.constrained && simple && !long {
        let name = if constraints > MANY { "rattle" } else { "rattle4" };
        return (name, format!("it keeps the constraints{kept}, by simple steps"));
    }
    if facts.constrained {
        return ("gauss-spark4", format!("it keeps the constraints{kept}, for any H"));
    }
    if Needs::Separable.met_by(facts) && !long {
        return ("blanes-moan4", "H is separable, so steps are explicit and symplectic".to_owned());
    }
    let why = if facts.separable && long {
        format!("a step is {turn} tenths of the fastest time, too long for an explicit method")
    } else if facts.dissipative || facts.forced {
        "it holds for any vector field, and adds no damping of its own".to_owned()
    } else {
        "H is not separable, so symplectic steps are implicit".to_owned()
    };
    ("gauss4", why)
}

fn by_density(facts: &Facts) -> (&'static str, String) {
    if facts.constrained && facts.holonomic {
        return (
            "gauss-spark6",
            "it keeps the constraints, and its steps are symmetric, as a density needs".to_owned(),
        );
    }
    if Needs::Separable.met_by(facts) {
        return (
            "blanes-moan6",
            "H is separable, so steps are explicit; they are symmetric, as a density needs".to_owned(),
        );
    }
    ("gauss6", "H is not separable, so steps are implicit; they are symmetric, as a density needs".to_owned())
}

/// How fast a system moves.
#[derive(Clone, Copy, Debug)]
struct Tempo {
    /// The largest size of an eigenvalue of the field's derivatives; 0 if it is not known.
    fastest: f64,
    /// The largest size and rate of coordinates, and of momenta.
    sizes: [f64; 2],
    rates: [f64; 2],
    /// The shortest step of the trial but for a tenth, relative to the mean; 0 if the trial came upon something that it could not pass.
    evenness: f64,
}

impl Tempo {
    fn is_known(self) -> bool {
        self.fastest > 0.0 && self.fastest.is_finite()
    }

    /// Whether steps of one length are a good way through a run.
    fn suits_one_step(self, span: f64) -> bool {
        let steps = self.fastest * span / TAU * STEPS_PER_PERIOD;
        self.evenness > UNEVEN && steps < MOST_STEPS
    }

    /// The rate at which the state changes, relative to its size.
    fn slow(self) -> f64 {
        let relative =
            self.rates.iter().zip(self.sizes).map(|(rate, size)| if size > 0.0 { rate / size } else { 0.0 });
        relative.fold(f64::MIN_POSITIVE, f64::max)
    }

    fn is_stiff(self, facts: &Facts) -> bool {
        facts.dissipative && self.is_known() && self.fastest > STIFF * self.slow()
    }

    /// Looks along a short trial run. Where that fails, what was seen until then must do.
    fn look(dynamics: &mut Dynamics, start: &State, end: f64) -> Result<Tempo, RunError> {
        let d = dynamics.system().dimension();
        let mut tempo = Tempo { fastest: 0.0, sizes: [0.0; 2], rates: [0.0; 2], evenness: 1.0 };
        if d > LARGEST {
            return Ok(tempo);
        }
        tempo.see(dynamics, start.t, &start.block())?;
        let trial = Integrator::named("dormand-prince5", Tolerance::relative(1e-3))
            .map(|run| run.at_most(TRIAL_STEPS));
        let Ok(trial) = trial else { return Ok(tempo) };
        let mut seen: Vec<(f64, Vec<f64>)> = Vec::new();
        let (mut steps, mut before) = (Vec::new(), start.t);
        // A trial that ends early, for whatever reason, has shown what it has shown.
        let ended = trial.march(dynamics, start.t, &mut Block::one(&start.block()), end, |sample| {
            if sample.step % (TRIAL_STEPS / TRIAL_LOOKS) == 0 || sample.t == end {
                seen.push((sample.t, sample.block.values().to_vec()));
            }
            if sample.step > 0 {
                steps.push((sample.t - before).abs());
            }
            before = sample.t;
            Ok(ControlFlow::Continue(()))
        });
        tempo.evenness = match ended {
            Ok(_) | Err(RunError::OutOfSteps { .. }) => evenness(&mut steps),
            Err(_) => 0.0,
        };
        for (t, block) in seen {
            if tempo.see(dynamics, t, &block).is_err() {
                break;
            }
        }
        Ok(tempo)
    }

    fn see(&mut self, dynamics: &mut Dynamics, t: f64, y: &[f64]) -> Result<(), RunError> {
        let d = y.len();
        let (mut matrix, mut rates) = (vec![0.0; d * d], vec![0.0; d]);
        dynamics.jacobian(&[t], y, &mut matrix)?;
        dynamics.rates(&[t], y, &mut rates)?;
        let largest = |part: &[f64]| part.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (k, half) in [0..d.div_ceil(2), d.div_ceil(2)..d].into_iter().enumerate() {
            self.sizes[k] = self.sizes[k].max(largest(&y[half.clone()]));
            self.rates[k] = self.rates[k].max(largest(&rates[half]));
        }
        let radius = spectral_radius(&mut matrix, d);
        if radius.is_finite() {
            self.fastest = self.fastest.max(radius);
        }
        Ok(())
    }
}

/// The shortest of some lengths but for a tenth, relative to their mean.
fn evenness(lengths: &mut [f64]) -> f64 {
    lengths.sort_by(f64::total_cmp);
    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    lengths.get(lengths.len() / 10).map_or(1.0, |short| short / mean)
}

/// The largest size of an eigenvalue, as the 1/k-th power of the norm of the k-th power, k = 2¹⁰.
fn spectral_radius(matrix: &mut [f64], d: usize) -> f64 {
    const SQUARINGS: i32 = 10;
    let mut product = vec![0.0; d * d];
    let mut log = 0.0;
    for k in 0..=SQUARINGS {
        let norm = matrix.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm == 0.0 || !norm.is_finite() {
            return norm;
        }
        log += norm.ln() * 0.5_f64.powi(k);
        matrix.iter_mut().for_each(|x| *x /= norm);
        for (i, row) in product.chunks_exact_mut(d).enumerate() {
            row.fill(0.0);
            for (l, &a) in matrix[i * d..][..d].iter().enumerate() {
                row.iter_mut().zip(&matrix[l * d..][..d]).for_each(|(x, b)| *x += a * b);
            }
        }
        matrix.copy_from_slice(&product);
    }
    log.exp()
}

#[cfg(test)]
mod tests {
    use super::spectral_radius;

    #[test]
    fn spectral_radii_are_found() {
        // A rotation with growth, 3 ± 4i; a Jordan block; a decay beside it.
        assert!((spectral_radius(&mut [3.0, 4.0, -4.0, 3.0], 2) - 5.0).abs() < 0.02);
        assert!((spectral_radius(&mut [2.0, 1000.0, 0.0, 2.0], 2) - 2.0).abs() < 0.05);
        assert!((spectral_radius(&mut [-1000.0, 0.0, 0.0, 1.0], 2) - 1000.0).abs() < 1.0);
        assert_eq!(spectral_radius(&mut [0.0; 4], 2), 0.0);
    }
}

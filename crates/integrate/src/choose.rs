//! The choice of a method, when the user names none. The rules, in their order:
//!
//! | given | the system | method |
//! |---|---|---|
//! | a tolerance | decays much faster than it moves | `radau5` |
//! | a tolerance | a smooth field in closed form, short enough for the run that its series is worth compiling, and a tolerance of 1e−5 or less | `taylor` |
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
//! | neither | nothing is lost, the run is longer than a thousand of its fastest periods, the field is smooth, and one step suits all of it | `blanes-moan6`, or `gauss8` if not separable, or `gauss-spark8` if constraints of positions hold |
//! | neither | many coordinates with energies over elements: separable, linearly damped, or with constraints of positions | `verlet`, `conformal2`, `rattle` |
//! | a step | the same, the step is short for its fastest motion | the same |
//! | either | elements that roam, such as bodies that attract each other: see below | as without elements |
//! | neither | else | as for a tolerance of 1e−10 |
//!
//! How fast a field of many elements moves is found by Lanczos' method; its step is a part of the longest that is stable.
//! Where motions grow as fast as others vibrate, as between bodies that attract each other, that frequency is one of the start only, and `verlet` takes ten times the
//! evaluations of `dop853` for the same error of the energy (200 bodies for four crossing times, softened by a tenth of their radius: 8001 and 828 for 1e−5).
//! How fast another system moves is looked up: by the largest eigenvalue of the field's derivatives, along a short trial run. One step suits all of it unless
//! the steps of the trial differ much, as near a collision, or it would make too many; or a longer trial, through the whole run if that is not too
//! much work, becomes faster and faster. Methods of a
//! tolerance are projected onto constraints after each step; a field with constraint forces that are written out is in closed form.

use crate::block::Block;
use crate::card::{Card, Keeps, Needs};
use crate::error::{RunError, number, rounded};
use crate::integrator::Integrator;
use crate::pace::{Absolute, Pace, Tolerance};
use crate::stiff_field::{PART, field_frequency, roams};
use leastaction_mechanics::{Dynamics, Facts, Quantity, State, System};
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
const USUAL: Tolerance = Tolerance { relative: 1e-10, absolute: Absolute::NONE };
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
/// The derivatives of a field of more instructions are found by differences: to compile formulas of them would take longer than all the rest.
const LONG_FIELD: usize = 150;
/// The size of a trial of a whole run.
const LONG_TRIAL_STEPS: u64 = 50_000;
/// A motion speeds up whose shortest steps are so many times shorter in the second half of a trial than in the first.
const SPEEDS_UP: f64 = 1.3;
/// Executed instructions that compiling one instruction takes as long as, and those that a step takes besides its method's own.
const COMPILING: f64 = 1500.0;
const BESIDES: f64 = 400.0;
/// Work that nobody waits for: a millisecond or two.
const LITTLE: f64 = 2e6;
/// The remainder of a series is further below its tolerance than the errors of other methods are: it may cost so many times as much.
const FINER: f64 = 1.5;
/// With so many digits, steps of order 9 cost less than those of order 8: by half where constraints make evaluations dear.
const MANY_DIGITS: f64 = 9.5;
/// At corners, where each step is tried some times until it lands, shorter steps of less work are better up to so many digits.
const MANY_AT_CORNERS: f64 = 11.0;
/// Series of more instructions are not compiled but run in loops, which are so many times slower.
const LARGEST_SERIES: f64 = 2e5;
const IN_LOOPS: f64 = 5.0;

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
        let field = match pace {
            Some(Pace::Tolerance(_) | Pace::Density(_)) => None,
            Some(Pace::Step(_)) | None => field_frequency(dynamics, start),
        };
        let mut tempo = Tempo::look(dynamics, start, end)?;
        let roams = field.is_some_and(|frequency| roams(dynamics, start, frequency));
        if let Some(frequency) = field.filter(|_| !roams) {
            tempo.fastest = frequency;
            if let Some(choice) = of_field(&facts, frequency, end - start.t, &pace) {
                return Ok(choice);
            }
        }
        let span = (end - start.t).abs();
        let free = !facts.dissipative && !facts.forced;
        let smooth = is_smooth(&facts);
        let long = free && facts.holonomic && smooth && tempo.is_known() && tempo.fastest * span > LONG * TAU;
        let even = if pace.is_none() && long && tempo.suits_one_step(span) {
            tempo.fastest_of_all(dynamics, start, end)
        } else {
            None
        };
        let (name, pace, why) = match (pace, even) {
            (Some(Pace::Tolerance(tolerance)), _) => {
                let effort = Effort::new(dynamics, tempo, span);
                let (name, why) = by_tolerance(
                    &facts,
                    tempo,
                    effort,
                    tolerance.relative.max(tolerance.absolute.smallest()),
                );
                (name, Pace::Tolerance(tolerance), why)
            }
            (Some(Pace::Step(step)), _) => {
                let constraints = dynamics.system().constraints().len();
                let (name, why) = by_step(&facts, constraints, tempo, step);
                (name, Pace::Step(step), why)
            }
            (Some(Pace::Density(density)), _) => {
                let (name, why) = by_density(&facts);
                (name, Pace::Density(density), why)
            }
            (None, Some(fastest)) => {
                let step = (end - start.t).signum() * TAU / fastest / STEPS_PER_PERIOD;
                let periods = (fastest * span / TAU).round();
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
            (None, None) => {
                let effort = Effort::new(dynamics, tempo, span);
                let (name, mut why) = by_tolerance(&facts, tempo, effort, USUAL.relative);
                if roams {
                    why += "; elements come apart as fast as they vibrate, so steps follow the motion";
                } else if tempo.is_known() && (long || !tempo.suits_one_step(span)) {
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

/// The method for a field of many elements, where one that kicks and drifts once in a step serves: nothing is cheaper for each evaluation of the forces, which is all
/// that such a field costs.
fn of_field(facts: &Facts, frequency: f64, span: f64, pace: &Option<Pace>) -> Option<Choice> {
    let simple = facts.separable && facts.constant_mass;
    let (name, keeps) = match () {
        () if facts.dissipative && !facts.constrained && Needs::LinearDamping.met_by(facts) => {
            ("conformal2", "what linear damping does to the geometry")
        }
        () if facts.dissipative || facts.forces_depend_on_velocities || !simple => return None,
        () if facts.constrained && facts.holonomic => ("rattle", "the constraints and the geometry on them"),
        () if facts.constrained => return None,
        () if Needs::Separable.met_by(facts) => ("verlet", "the geometry"),
        () => return None,
    };
    let limit = 2.0 / frequency;
    let longest = rounded(limit, 3);
    let (step, why) = match pace {
        Some(Pace::Step(step)) if step.abs() * frequency > LONG_STEP => return None,
        Some(Pace::Step(step)) => {
            (*step, format!("it keeps {keeps}; steps are stable up to {longest}, by the stiffest element"))
        }
        _ => {
            let step = span.signum() * rounded_to(PART * limit, 2);
            let part = number(&PART);
            (
                step,
                format!(
                    "it keeps {keeps}; the step is {part} of the longest that the stiffest element allows, {longest}"
                ),
            )
        }
    };
    if span.abs() / step.abs() > MOST_STEPS {
        return None;
    }
    let card =
        Card::named(name).unwrap_or_else(|error| unreachable!("the rules name methods that exist: {error}"));
    Some(Choice { integrator: Integrator::new(card, Pace::Step(step)), why })
}

/// A number in so many digits.
fn rounded_to(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let unit = 10f64.powi(value.abs().log10().floor() as i32 + 1 - digits);
    (value / unit).round() * unit
}

/// Whether a field is smooth. Constraint forces that are written out have branches of their own, which are taken where constraints depend on each other: of
/// such fields it is known only whether they are smooth in time.
fn is_smooth(facts: &Facts) -> bool {
    facts.smooth || facts.constrained && facts.smooth_in_time
}

fn by_tolerance(facts: &Facts, tempo: Tempo, effort: Effort, tolerance: f64) -> (&'static str, String) {
    if tempo.is_stiff(facts) {
        let (fast, slow) = (number(&tempo.fastest.round()), number(&tempo.slow().round()));
        return (
            "radau5",
            format!("the motion decays at rates up to {fast} and changes at {slow}: it is stiff"),
        );
    }
    let digits = -tolerance.log10();
    let closed = Needs::Closed.met_by(facts) && digits >= 5.0;
    match () {
        () if closed && is_smooth(facts) && effort.suits_series(tolerance) => (
            "taylor",
            "the field is in closed form, and its Taylor series is the cheapest way to many digits"
                .to_owned(),
        ),
        () if closed && !is_smooth(facts) && digits < MANY_AT_CORNERS => {
            ("dop853", "good accuracy of a field with branches, over which no series reaches".to_owned())
        }
        () if closed && digits < MANY_DIGITS => {
            ("dop853", "good accuracy, for less work than to compile and sum a Taylor series".to_owned())
        }
        () if closed && digits < MANY_AT_CORNERS => {
            ("vern9", "many digits, for less work than to compile and sum a Taylor series".to_owned())
        }
        () if digits >= MANY_DIGITS => ("vern9", "many digits of any vector field".to_owned()),
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

/// What a run asks for: the instructions of the field, numbers in a state, steps of the trial that it would take, and whether whole steps are compiled.
#[derive(Clone, Copy, Debug)]
struct Effort {
    field: f64,
    state: f64,
    steps: f64,
    whole: bool,
}

impl Effort {
    fn new(dynamics: &Dynamics, tempo: Tempo, span: f64) -> Effort {
        let (system, facts) = (dynamics.system(), dynamics.system().facts());
        // A field that is not in closed form has no series, so that nothing is compared.
        let field =
            if facts.symbolic { system.rates_program().map_or(0, |program| program.body().len()) } else { 0 };
        let steps = if tempo.step > 0.0 { span / tempo.step } else { 100.0 };
        Effort {
            field: field as f64,
            state: system.dimension() as f64,
            steps,
            whole: facts.one_kernel && !facts.constrained && !facts.driven,
        }
    }

    /// Whether a Taylor series is worth its compilation. Steps by tolerance and order, and the instructions of a step, are such as runs of the catalog have.
    fn suits_series(self, tolerance: f64) -> bool {
        let Effort { field, state, steps, whole } = self;
        let finer = (1e-3 / tolerance).max(1.0);
        let order = 1.0 - 0.55 * (tolerance / 10.0).ln();
        let series = 0.2 * field * order * order + 3.0 * order * state;
        let (compiled, slower) = if series < LARGEST_SERIES { (series, 1.0) } else { (0.0, IN_LOOPS) };
        let by_series = COMPILING * compiled + 2.2 * steps * (BESIDES + slower * series);
        let stages = 12.0 * field + 90.0 * state;
        let compiled = if whole { stages } else { field };
        let by_stages = COMPILING * compiled + 0.55 * steps * finer.powf(0.125) * (BESIDES + stages);
        by_series < FINER * by_stages + LITTLE
    }
}

/// How fast a system moves.
#[derive(Clone, Copy, Debug)]
struct Tempo {
    /// The largest size of an eigenvalue of the field's derivatives; 0 if it is not known.
    fastest: f64,
    /// The largest size and rate of coordinates, and of momenta, where the trial has come to: at its beginning, what decays has not yet decayed.
    sizes: [f64; 2],
    rates: [f64; 2],
    /// The mean step of the trial; 0 if there was none.
    step: f64,
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
        (facts.dissipative || facts.forces_depend_on_velocities)
            && self.is_known()
            && self.fastest > STIFF * self.slow()
    }

    /// Looks along a short trial run. Where that fails, what was seen until then must do.
    fn look(dynamics: &mut Dynamics, start: &State, end: f64) -> Result<Tempo, RunError> {
        let d = dynamics.system().dimension();
        let mut tempo = Tempo { fastest: 0.0, sizes: [0.0; 2], rates: [0.0; 2], step: 0.0, evenness: 1.0 };
        if d > LARGEST {
            return Ok(tempo);
        }
        // So few steps are not worth a kernel of their own.
        let trial = Integrator::named("dormand-prince5", Tolerance::relative(1e-3))
            .map(|run| run.at_most(TRIAL_STEPS).compiled(false));
        let Ok(trial) = trial else { unreachable!("`dormand-prince5` takes a tolerance of 1e-3") };
        let mut seen = vec![(start.t, start.block())];
        let (mut steps, mut before) = (Vec::new(), start.t);
        // A trial that ends early, for whatever reason, has shown what it has shown.
        let ended = trial.march(dynamics, start.t, &mut Block::one(&start.block()), end, |sample| {
            if sample.step > 0 && (sample.step % (TRIAL_STEPS / TRIAL_LOOKS) == 0 || sample.t == end) {
                seen.push((sample.t, sample.block.values().to_vec()));
            }
            if sample.step > 0 {
                steps.push((sample.t - before).abs());
            }
            before = sample.t;
            Ok(ControlFlow::Continue(()))
        });
        tempo.step = steps.iter().sum::<f64>() / steps.len().max(1) as f64;
        tempo.evenness = match ended {
            Ok(_) | Err(RunError::OutOfSteps { .. }) => evenness(&mut steps),
            Err(_) => 0.0,
        };
        let derivatives = Derivatives::of(dynamics.system(), seen.iter().map(|(_, block)| block.as_slice()));
        for (i, (t, block)) in seen.iter().enumerate() {
            match tempo.see(dynamics, derivatives, *t, block) {
                Err(error) if i == 0 => return Err(error),
                Err(_) => break,
                Ok(()) => {}
            }
        }
        Ok(tempo)
    }

    /// How fast the system moves at its fastest along a run, seen by a longer trial. If that does not come to the end, the rest is taken to be like it; `None` if
    /// that cannot be, because the motion becomes faster and faster, or cannot be followed.
    fn fastest_of_all(mut self, dynamics: &mut Dynamics, start: &State, end: f64) -> Option<f64> {
        let trial = Integrator::named("dormand-prince5", Tolerance::relative(1e-6));
        let Ok(trial) = trial else { unreachable!("`dormand-prince5` takes a tolerance of 1e-6") };
        let trial = trial.at_most(LONG_TRIAL_STEPS);
        let (mut steps, mut before) = (Vec::new(), start.t);
        let mut shortest = (f64::INFINITY, start.t, start.block());
        let ended = trial.march(dynamics, start.t, &mut Block::one(&start.block()), end, |sample| {
            let step = (sample.t - before).abs();
            // The first step is a guess, and the last one ends where it must.
            if sample.step > 1 && sample.t != end {
                steps.push((sample.t, step));
                if step < shortest.0 {
                    shortest = (step, sample.t, sample.block.values().to_vec());
                }
            }
            before = sample.t;
            Ok(ControlFlow::Continue(()))
        });
        let complete = match ended {
            Ok(_) => true,
            Err(RunError::OutOfSteps { .. }) => false,
            Err(_) => return None,
        };
        let middle = start.t + 0.5 * (before - start.t);
        let mut halves = [Vec::new(), Vec::new()];
        for (t, step) in steps {
            halves[usize::from((t - start.t).abs() > (middle - start.t).abs())].push(step);
        }
        // A few steps are short for no reason.
        let [first, second] = halves.map(|mut steps| {
            steps.sort_by(f64::total_cmp);
            steps.get(steps.len() / 100).copied().unwrap_or(f64::INFINITY)
        });
        if !complete && first > SPEEDS_UP * second {
            return None;
        }
        let (_, t, block) = shortest;
        let derivatives = Derivatives::of(dynamics.system(), [start.block().as_slice(), &block].into_iter());
        self.see(dynamics, derivatives, t, &block).ok()?;
        self.suits_one_step((end - start.t).abs()).then_some(self.fastest)
    }

    fn see(
        &mut self,
        dynamics: &mut Dynamics,
        derivatives: Derivatives,
        t: f64,
        y: &[f64],
    ) -> Result<(), RunError> {
        let d = y.len();
        let (mut matrix, mut rates) = (vec![0.0; d * d], vec![0.0; d]);
        match derivatives {
            Derivatives::Exact => dynamics.jacobian(&[t], y, &mut matrix)?,
            Derivatives::Rough(sizes) => dynamics.rough_jacobian(&[t], y, sizes, &mut matrix)?,
        }
        dynamics.rates(&[t], y, &mut rates)?;
        (self.sizes, self.rates) = (largest_of_halves(y), largest_of_halves(&rates));
        let radius = spectral_radius(&mut matrix, d);
        if radius.is_finite() {
            self.fastest = self.fastest.max(radius);
        }
        Ok(())
    }
}

/// How a trial finds the derivatives of a field.
#[derive(Clone, Copy, Debug)]
enum Derivatives {
    /// By formulas, which are short.
    Exact,
    /// By differences, with the largest coordinate and momentum of the trial.
    Rough([f64; 2]),
}

impl Derivatives {
    fn of<'a>(system: &System, seen: impl Iterator<Item = &'a [f64]>) -> Derivatives {
        let is_short = system.facts().symbolic
            && system.kernel(Quantity::Rates).is_ok_and(|kernel| kernel.program().body().len() <= LONG_FIELD);
        if is_short {
            return Derivatives::Exact;
        }
        let larger = |[q, p]: [f64; 2], y: &'a [f64]| {
            let [coordinates, momenta] = largest_of_halves(y);
            [q.max(coordinates), p.max(momenta)]
        };
        Derivatives::Rough(seen.fold([0.0; 2], larger))
    }
}

/// The largest sizes among coordinates, and among momenta.
fn largest_of_halves(y: &[f64]) -> [f64; 2] {
    let (coordinates, momenta) = y.split_at(y.len().div_ceil(2));
    [coordinates, momenta].map(|part| part.iter().fold(0.0_f64, |m, x| m.max(x.abs())))
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

//! Runs in fictitious time: fixed steps in s, samples in t.

use crate::block::Block;
use crate::dense::Polynomial;
use crate::error::{Failed, RunError};
use crate::integrator::{Integrator, Reason};
use crate::pace::Pace;
use crate::run::grid::Grid;
use crate::run::schedule::Schedule;
use crate::run_loop::RunLoop;
use crate::trajectory::Trajectory;
use leastaction_mechanics::{Dynamics, State, Sundman};

impl Integrator {
    /// Runs from a start to an end time by steps in a fictitious time s, with dt = g ds: short where g is small, and symplectic (in
    /// the phase space that is extended by t and its momentum) if the method is. The step of this integrator is one in s.
    ///
    /// States at the end, and at times that lie between steps, come from the polynomials of steps, on which t is a coordinate like any
    /// other.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_integrate::Integrator;
    /// # use leastaction_mechanics::Model;
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let [x, y] = model.coordinates(["x", "y"]);
    /// let r = (x * x + y * y).sqrt();
    /// model.particle("comet", 1.0, [x, y]);
    /// model.potential("gravity", -1.0 / r);
    /// let equations = model.equations()?;
    /// let mut dynamics = equations.system()?.dynamics()?;
    /// let start = dynamics.start(&[("x", 0.1), ("y'", 19f64.sqrt())])?; // eccentricity 0.9
    ///
    /// let sundman = equations.in_fictitious_time(r.pow(1.5))?;
    /// let method = Integrator::named("implicit-midpoint", 0.05)?;
    /// let orbits = method.run_in_fictitious_time(&sundman, &mut dynamics, &start, 60.0)?;
    /// assert_eq!(orbits.end().t, 60.0);
    /// assert!(orbits.energy_drift(&mut dynamics)? < 0.02 && orbits.work().steps < 4000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Failed`] as [`Integrator::run`]; and if the pace is not a step, g is not positive, or `sundman` belongs to another system.
    pub fn run_in_fictitious_time(
        &self,
        sundman: &Sundman,
        dynamics: &mut Dynamics,
        start: &State,
        end: f64,
    ) -> Result<Trajectory, Failed> {
        let Pace::Step(step) = self.pace else {
            return Err(RunError::NeedsStep { pace: self.pace.to_string() }.into());
        };
        if !self.events.is_empty() {
            return Err(RunError::NoEvents.into());
        }
        self.check_keeping(sundman.system().facts())?;
        Grid::check_times(start.t, end)?;
        let (original, system) = (sundman.original(), dynamics.system());
        let names = |s: &leastaction_mechanics::System| {
            let parameters: Vec<_> = s.parameters().iter().map(|(name, _)| name.clone()).collect();
            (s.coordinates().clone(), s.momenta().clone(), parameters)
        };
        if names(original) != names(system) {
            return Err(RunError::OtherSystem.into());
        }
        let dimension = system.dimension();
        if start.q.len() + start.p.len() != dimension {
            let found = start.q.len() + start.p.len();
            return Err(RunError::WrongLength { expected: dimension, found }.into());
        }
        if (end - start.t) * step < 0.0 {
            return Err(RunError::WrongWay { step, start: start.t, end }.into());
        }
        let begin = sundman.begin(dynamics, start).map_err(RunError::from)?;
        let mut inside = sundman.dynamics(dynamics).map_err(RunError::from)?;
        let block = Block::one(&begin.block());
        // As far as the steps that are allowed may lead.
        let far = step * self.limit.min(1 << 53) as f64;
        let mut run =
            RunLoop::new(self.card, &self.pace, self.limits(u64::MAX), &mut inside, 0.0, block, far)?;
        run.begin(&[true])?;
        let schedule = Schedule::new(&self.output, start.t, end, None)?;
        let trajectory = Trajectory::with_room(original, 0)?;
        let plain = vec![0.0; dimension];
        let mut tape = Tape { sundman, trajectory, plain };
        let ran = drive(&mut run, schedule, &mut tape, (start.t, end), self.limit);
        let reached = run.block.values()[start.q.len()];
        if ran.is_err() && tape.trajectory.times().last() != Some(&reached) {
            tape.push(reached, run.block.values())?;
        }
        let mut trajectory = tape.trajectory;
        match ran {
            Ok(()) => Ok(trajectory),
            Err(error) => {
                trajectory.reason = Reason::Interrupted;
                Err(Failed { error, trajectory: Some(Box::new(trajectory)) })
            }
        }
    }
}

/// The samples, in the original's time.
struct Tape<'a> {
    sundman: &'a Sundman,
    trajectory: Trajectory,
    plain: Vec<f64>,
}

impl Tape<'_> {
    fn push(&mut self, t: f64, block: &[f64]) -> Result<(), RunError> {
        self.sundman.project(block, &mut self.plain)?;
        self.trajectory.push(t, &self.plain);
        Ok(())
    }
}

fn drive(
    run: &mut RunLoop<'_>,
    mut schedule: Schedule<'_>,
    tape: &mut Tape<'_>,
    (start, end): (f64, f64),
    limit: u64,
) -> Result<(), RunError> {
    // Where t stands in a block.
    let clock = tape.sundman.original().degrees();
    let (way, len) = (if end < start { -1.0 } else { 1.0 }, run.block.values().len());
    let (mut inside, mut rates) = (vec![0.0; len], vec![0.0; len]);
    run.motion.dynamics().rates(&[0.0], run.block.values(), &mut rates)?;
    let rate = rates[clock];
    if !(rate > 0.0 && rate.is_finite()) {
        return Err(RunError::BadClock { t: start, rate });
    }
    loop {
        let (step, t) = (run.count(), run.block.values()[clock]);
        if schedule.due(step, t, 0.0, t == end).is_some() {
            tape.push(t, run.block.values())?;
        }
        if t == end {
            return Ok(());
        }
        if step >= limit || run.is_done() {
            return Err(RunError::OutOfSteps { t, limit });
        }
        let before = run.times()[0];
        run.propose()?;
        let after = run.after(clock);
        if way * after <= way * t {
            return Err(RunError::BadClock { t, rate: (after - t) / (run.end_of(0) - before) });
        }
        let passes = way * after > way * end;
        let until = if passes { end } else { after };
        if passes || schedule.next_before(until).is_some() {
            run.interpolate()?;
        }
        while let Some(t) = schedule.next_before(until) {
            find(&run.polynomial, clock, t, &mut inside);
            tape.push(t, &inside)?;
            schedule.pass();
        }
        run.take();
        tape.trajectory.work = run.motion.work();
        if passes {
            if schedule.due(step + 1, end, 0.0, true).is_some() {
                find(&run.polynomial, clock, end, &mut inside);
                tape.push(end, &inside)?;
            }
            return Ok(());
        }
    }
}

/// The state on a polynomial at which a component that grows, or falls, all along it has a value.
fn find(polynomial: &Polynomial, component: usize, value: f64, state: &mut [f64]) {
    let mut miss = |tau: f64| {
        polynomial.at(&[tau], state);
        state[component] - value
    };
    // The secant, or where that does not halve the bracket in two tries, its middle.
    let ((mut a, mut b), mut at_a, mut at_b) = ((0.0, 1.0), miss(0.0), miss(1.0));
    let mut slow = false;
    for _ in 0..200 {
        let width = b - a;
        let secant = a - at_a * width / (at_b - at_a);
        let tau = if slow || !(secant > a && secant < b) { 0.5 * (a + b) } else { secant };
        if tau == a || tau == b {
            break;
        }
        let at_tau = miss(tau);
        if at_tau == 0.0 {
            return;
        }
        if (at_tau > 0.0) == (at_b > 0.0) {
            (b, at_b) = (tau, at_tau);
        } else {
            (a, at_a) = (tau, at_tau);
        }
        slow = b - a > 0.5 * width;
    }
    miss(if at_a.abs() < at_b.abs() { a } else { b });
}

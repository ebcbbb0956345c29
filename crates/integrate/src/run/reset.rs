//! Resets: what an event resets, from the state in which it happens.

use crate::error::{ResetError, RunError};
use crate::step::Motion;
use leastaction_compile::LANES;
use leastaction_mechanics::{Form, Observable, System};
use std::sync::Arc;

/// What a reset may miss the constraints by, relative to the largest number of its kind: more is no rounding, and was not meant.
const MEETS: f64 = 1e-9;

/// Numbers of the state that an event sets: all of them at once, by observables of the state before.
///
/// What is not set stays. Where a coordinate or a velocity is set, all other velocities stay; where momenta are set, all other momenta do.
///
/// ```
/// # use leastaction_expr::Graph;
/// # use leastaction_mechanics::Model;
/// use leastaction_integrate::{Event, Integrator, Reset};
///
/// # let graph = Graph::new();
/// # let mut model = Model::new(&graph);
/// # let x = model.coordinate("x");
/// # model.particle("ball", 1.0, [x]);
/// # model.gravity([-10.0]);
/// let mut dynamics = model.system()?.dynamics()?;
/// let start = dynamics.start(&[("x'", 5.0)])?;
/// // A ball that bounces, and keeps half of its speed.
/// let halved = dynamics.observable("-0.5*x'")?;
/// let bounce = Reset::new("bounce", dynamics.system(), &[("x'", halved)])?;
/// let ground = Event::new(dynamics.observable("x")?).falling().resetting(bounce);
/// let flight = Integrator::named("gauss4", 0.1)?.event(ground).run(&mut dynamics, &start, 1.25)?;
/// let [landing] = flight.crossings() else { panic!("it lands once") };
/// assert!((landing.t - 1.0).abs() < 1e-14 && (landing.state.p[0] + 5.0).abs() < 1e-13);
/// assert!(landing.after.as_ref().is_some_and(|after| (after.p[0] - 2.5).abs() < 1e-13));
/// assert!((flight.end().q[0] - (2.5 * 0.25 - 5.0 * 0.25 * 0.25)).abs() < 1e-13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Reset(Arc<Content>);

#[derive(Debug, PartialEq)]
struct Content {
    event: String,
    /// What is set, by its place among \[q…, v…\] or \[q…, p…\].
    sets: Vec<(usize, Observable)>,
    /// Whether the second half are momenta.
    by_momenta: bool,
}

impl Reset {
    /// What an event of this name sets: coordinates, and velocities (`x'`) or momenta, by their names.
    ///
    /// # Errors
    /// [`ResetError`] for a name that a state does not have, or that is given twice, and for velocities together with momenta.
    pub fn new(event: &str, system: &System, sets: &[(&str, Observable)]) -> Result<Reset, ResetError> {
        let n = system.degrees();
        let event = event.to_owned();
        let (mut places, mut velocity, mut momentum) = (Vec::new(), None, None);
        for (name, what) in sets {
            let state = system.states().iter().find(|(_, state)| state == name);
            let place = if let Some((i, _)) = state {
                // It is a velocity and its momentum alike.
                n + i
            } else if let Some(i) = system.coordinates().position(name) {
                i
            } else if let Some(i) = system.velocities().position(name) {
                velocity = Some((*name).to_owned());
                n + i
            } else if let Some(i) = system.momenta().position(name) {
                momentum = Some((*name).to_owned());
                n + i
            } else {
                return Err(ResetError::Unknown { event, name: (*name).to_owned() });
            };
            if places.iter().any(|(other, _)| *other == place) {
                return Err(ResetError::Twice { event, name: (*name).to_owned() });
            }
            places.push((place, *what));
        }
        if let (Some(velocity), Some(momentum)) = (&velocity, &momentum) {
            let (velocity, momentum) = (velocity.clone(), momentum.clone());
            return Err(ResetError::Mixed { event, velocity, momentum });
        }
        // Stated by a Hamiltonian, it is momenta that there are.
        let by_momenta = momentum.is_some() || velocity.is_none() && system.facts().form != Form::Lagrangian;
        Ok(Reset(Arc::new(Content { event, sets: places, by_momenta })))
    }

    /// The name of the event.
    #[must_use]
    pub fn event(&self) -> &str {
        &self.0.event
    }

    /// The state after, of a lane of a block with this state.
    pub(crate) fn apply(
        &self,
        motion: &mut Motion<'_>,
        (width, lane): (usize, usize),
        t: f64,
        before: &[f64],
    ) -> Result<Vec<f64>, RunError> {
        let Content { event, sets, by_momenta } = &*self.0;
        let failed = |source| RunError::Reset { t, source, lane };
        let n = motion.system().degrees();
        let (names, dynamics) = (motion.system().clone(), motion.plain());
        let (times, mut y) = ([t; LANES], widened(before, width));
        let times = &times[..width];
        if !by_momenta {
            let mut velocities = vec![0.0; n * width];
            dynamics.velocities(times, &y, &mut velocities)?;
            y[n * width..].copy_from_slice(&velocities);
        }
        let source = widened(before, width);
        for (place, what) in sets {
            let mut values = [0.0; LANES];
            dynamics.observe(*what, times, &source, &mut values[..width])?;
            let value = values[lane];
            if !value.is_finite() {
                let name = match *place {
                    place if place >= n && !by_momenta => names.velocities().at(place - n),
                    place => names.state_name(place),
                };
                return Err(failed(ResetError::NotFinite { event: event.clone(), name, value }));
            }
            y[place * width..(place + 1) * width].fill(value);
        }
        if !by_momenta {
            let mut momenta = vec![0.0; n * width];
            dynamics.momenta(times, &y, &mut momenta)?;
            y[n * width..].copy_from_slice(&momenta);
        }
        let after = lane_of(&y, width, lane);
        if let Some(place) = after.iter().position(|value| !value.is_finite()) {
            let (name, value) = (names.state_name(place), after[place]);
            return Err(failed(ResetError::NotFinite { event: event.clone(), name, value }));
        }
        self.check_masses(motion, (width, lane), &after).map_err(failed)?;
        if !names.facts().constrained {
            return Ok(after);
        }
        let dynamics = motion.plain();
        // What is rounding is moved onto the constraints, and what is more was not thought of.
        let mut placed = y;
        let moved = dynamics
            .project(times, &mut placed)
            .map_err(|source| failed(ResetError::Unmet { event: event.clone(), source }))?[lane];
        let mut velocities = vec![0.0; n * width];
        dynamics.velocities(times, &placed, &mut velocities)?;
        let placed = lane_of(&placed, width, lane);
        let largest = |numbers: &[f64]| numbers.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let speed = largest(&lane_of(&velocities, width, lane)).max(moved.deflected);
        if moved.moved > MEETS * largest(&after[..n]) {
            let (name, by) = (names.coordinates().at(moved.farthest), moved.moved);
            return Err(failed(ResetError::OffConstraints { event: event.clone(), name, by }));
        }
        if moved.deflected > MEETS * speed {
            return Err(failed(ResetError::AgainstConstraints { event: event.clone(), by: moved.deflected }));
        }
        Ok(placed)
    }
}

impl Reset {
    /// Refuses masses that are not positive where parameters are set.
    fn check_masses(
        &self,
        motion: &mut Motion<'_>,
        (width, lane): (usize, usize),
        after: &[f64],
    ) -> Result<(), ResetError> {
        let system = motion.plain().system().clone();
        if system.set_by_events().is_empty() {
            return Ok(());
        }
        let dynamics = motion.plain();
        let parameters = if width == 1 { dynamics.parameters() } else { dynamics.parameters_in(lane) };
        let mut parameters = parameters.to_vec();
        for &(parameter, place) in system.set_by_events() {
            parameters[parameter] = after[system.degrees() + place];
        }
        let event = || self.event().to_owned();
        let mut with_these = system
            .dynamics()
            .map_err(|error| ResetError::Refused { event: event(), why: error.to_string() })?;
        with_these
            .set_parameters(&parameters)
            .map_err(|error| ResetError::Refused { event: event(), why: error.to_string() })
    }
}

/// A state in every lane of a block.
pub(crate) fn widened(state: &[f64], width: usize) -> Vec<f64> {
    state.iter().flat_map(|&value| std::iter::repeat_n(value, width)).collect()
}

/// The state in a lane of a block.
pub(crate) fn lane_of(block: &[f64], width: usize, lane: usize) -> Vec<f64> {
    block.iter().skip(lane).step_by(width).copied().collect()
}

//! From draws to starts.

use super::rest::{Amount, Limit, Rest};
use super::{Draw, Role, SampleError, Sampling, Span};
use leastaction_expr::nearest;
use leastaction_integrate::{Launch, Starts};
use leastaction_mechanics::{Dynamics, Form, StartError, System};

/// What a sampling draws, bound to a system: trajectory number i begins here.
pub struct Launcher {
    draws: Vec<Bound>,
    /// The number of trajectories, and of points of the grids.
    count: u64,
    points: u64,
    t: f64,
    /// The parameters that are not drawn, and whether any is.
    parameters: Vec<f64>,
    draws_parameters: bool,
    rest: Vec<(usize, Amount)>,
    limits: Vec<Limit>,
    by_velocities: bool,
    /// Which velocities or momenta have a value, by coordinates.
    is_given: Vec<bool>,
    dimension: usize,
}

struct Bound {
    name: String,
    draw: Draw,
    target: Target,
    /// How many trajectories share a place of its grid before the next, and how many places there are.
    stride: u64,
    size: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Target {
    Parameter(usize),
    /// A place in \[q…, v…\] or \[q…, p…\].
    Block(usize),
}

impl Launcher {
    /// Starts at a time, drawn by a sampling with a seed; what is not drawn is as in the rest, and parameters as in the dynamics.
    ///
    /// # Errors
    /// [`SampleError`] if the sampling does not go with the system or the number of trajectories.
    pub fn new(
        sampling: &Sampling,
        dynamics: &Dynamics,
        rest: &Rest,
        t: f64,
        count: u64,
        seed: u64,
    ) -> Result<Launcher, SampleError> {
        let (system, count) = (dynamics.system(), sampling.count(Some(count))?);
        let points = sampling.points()?.unwrap_or(1);
        let by_velocities = picture(sampling, rest, system)?;
        let (mut draws, mut stride, mut ranks): (Vec<Bound>, u64, Vec<(Span, u32)>) =
            (Vec::new(), points, Vec::new());
        for (dimension, named) in sampling.list.iter().enumerate() {
            let target = target(&named.name, system)?;
            let span = named.law.span();
            let size = if let Span::Grid(size) = span { size } else { 1 };
            stride /= size;
            let rank = ranks.iter().filter(|(other, _)| *other == span).count() as u32;
            ranks.push((span, rank));
            let role = Role { seed, count, dimension: dimension as u32, rank };
            draws.push(Bound {
                name: named.name.clone(),
                draw: named.law.draw(&role)?,
                target,
                stride,
                size,
            });
        }
        let is_set = |name: &str| set_by_events(name, system).is_some();
        let drawn = |name: &str| sampling.list.iter().any(|named| named.name == name) && !is_set(name);
        let mut amounts = Vec::new();
        for (name, amount) in rest.list.iter().filter(|(name, _)| !drawn(name)) {
            // Momenta that are drawn take the place of velocities, and velocities that of momenta.
            let place = block_place(name, system)
                .filter(|&(_, kind)| kind == Kind::Coordinate || (kind == Kind::Velocity) == by_velocities);
            amounts.extend(place.map(|(place, _)| (place, amount.clone())));
        }
        let mut is_given = vec![false; system.dimension() - system.degrees()];
        let places = amounts.iter().map(|(place, _)| *place);
        let drawn = draws.iter().filter_map(|bound| match bound.target {
            Target::Block(place) => Some(place),
            Target::Parameter(_) => None,
        });
        places
            .chain(drawn)
            .filter_map(|place| place.checked_sub(system.degrees()))
            .for_each(|i| is_given[i] = true);
        Ok(Launcher {
            draws_parameters: draws.iter().any(|bound| matches!(bound.target, Target::Parameter(_))),
            draws,
            count,
            points,
            t,
            parameters: dynamics.parameters().to_vec(),
            rest: amounts,
            limits: rest.limits.clone(),
            by_velocities,
            is_given,
            dimension: system.dimension(),
        })
    }

    /// How many trajectories there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The names that are drawn for.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.draws.iter().map(|bound| bound.name.as_str())
    }

    /// Whether a name is that of a parameter that is drawn, by its place among the names.
    pub fn is_parameter(&self, place: usize) -> bool {
        matches!(self.draws[place].target, Target::Parameter(_))
    }

    /// What is drawn for a trajectory under a name, by its place.
    #[must_use]
    pub fn value(&self, place: usize, index: u64) -> f64 {
        let bound = &self.draws[place];
        (bound.draw)(index, index % self.points / bound.stride % bound.size)
    }

    /// All parameters of a trajectory, in the system's order.
    pub fn parameters(&self, index: u64, parameters: &mut Vec<f64>) {
        parameters.clear();
        parameters.extend_from_slice(&self.parameters);
        for (place, bound) in self.draws.iter().enumerate() {
            if let Target::Parameter(i) = bound.target {
                parameters[i] = self.value(place, index);
            }
        }
    }
}

impl Starts for Launcher {
    fn launch(&self, index: u64, dynamics: &mut Dynamics, launch: &mut Launch) -> Result<(), StartError> {
        self.parameters(index, &mut launch.parameters);
        launch.state.clear();
        launch.state.resize(self.dimension, 0.0);
        for (place, bound) in self.draws.iter().enumerate() {
            if let Target::Block(i) = bound.target {
                launch.state[i] = self.value(place, index);
            }
        }
        if self.draws_parameters {
            dynamics.set_parameters(&launch.parameters)?;
            self.limits.iter().try_for_each(|limit| limit.check(&launch.parameters))?;
        }
        for (place, amount) in &self.rest {
            launch.state[*place] = amount.value(&launch.parameters);
        }
        dynamics.start_given(self.t, self.by_velocities, &mut launch.state, &self.is_given)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Coordinate,
    Velocity,
    Momentum,
}

/// Where a start value stands in \[q…, v…\] or \[q…, p…\].
fn block_place(name: &str, system: &System) -> Option<(usize, Kind)> {
    let n = system.degrees();
    if let Some((i, _)) = system.states().iter().find(|(_, state)| state == name) {
        // It is a velocity and its momentum alike, and decides nothing.
        return Some((n + i, Kind::Coordinate));
    }
    let coordinate = system.coordinates().position(name);
    coordinate
        .map(|i| (i, Kind::Coordinate))
        .or_else(|| system.velocities().position(name).map(|i| (n + i, Kind::Velocity)))
        .or_else(|| system.momenta().position(name).map(|i| (n + i, Kind::Momentum)))
        .filter(|&(_, kind)| kind == Kind::Coordinate || system.facts().form != Form::Ports)
}

/// The place of a parameter that events set.
fn set_by_events(name: &str, system: &System) -> Option<usize> {
    let mut places = system.set_by_events().iter().map(|(place, _)| *place);
    places.find(|place| system.parameters()[*place].0 == name)
}

fn target(name: &str, system: &System) -> Result<Target, SampleError> {
    // What events set starts with its parameter.
    if let Some(place) = set_by_events(name, system) {
        return Ok(Target::Parameter(place));
    }
    if let Some((place, _)) = block_place(name, system) {
        return Ok(Target::Block(place));
    }
    if let Some(place) = system.parameters().iter().position(|(other, _)| other == name) {
        return Ok(Target::Parameter(place));
    }
    if let Some(constraint) = system.held_by(name) {
        return Err(SampleError::Held { name: name.to_owned(), constraint: constraint.to_owned() });
    }
    let moving = system.facts().form != Form::Ports;
    let rates = [system.velocities(), system.momenta()].into_iter().flatten().filter(|_| moving);
    let parameters = system.parameters().iter().map(|(name, _)| name.clone());
    let known: Vec<String> = system.coordinates().iter().chain(rates).chain(parameters).collect();
    let nearest = nearest(name, &known);
    Err(SampleError::UnknownName { name: name.to_owned(), nearest, known: shortened(&known) })
}

/// Names in a row; of many, the first ones.
fn shortened(names: &[String]) -> String {
    const MOST: usize = 24;
    match names.len() > MOST {
        true => format!("{}, … ({} in all)", names[..MOST].join(", "), names.len()),
        false => names.join(", "),
    }
}

/// Whether starts are given by velocities, and not by momenta.
fn picture(sampling: &Sampling, rest: &Rest, system: &System) -> Result<bool, SampleError> {
    let kind = |name: &str| block_place(name, system).map(|(_, kind)| kind);
    let drawn = |wanted| sampling.list.iter().find(|named| kind(&named.name) == Some(wanted));
    let resting = |wanted| rest.list.iter().any(|(name, _)| kind(name) == Some(wanted));
    match (drawn(Kind::Velocity), drawn(Kind::Momentum)) {
        (Some(velocity), Some(momentum)) => {
            Err(SampleError::Mixed { velocity: velocity.name.clone(), momentum: momentum.name.clone() })
        }
        (Some(_), None) => Ok(true),
        (None, Some(_)) => Ok(false),
        (None, None) => {
            Ok(resting(Kind::Velocity) || !resting(Kind::Momentum) && system.facts().form == Form::Lagrangian)
        }
    }
}

//! An initial value problem: a system with its parameters and inputs, where it starts, and when it ends.

use crate::error::{Cause, PrepareError};
use crate::overrides::{AskedEvent, Overrides};
use leastaction_expr::{Expr, Node, Op, UnboundSymbol, rebind};
use leastaction_integrate::{Event, Integrator, Reset};
use leastaction_language::{Direction, Event as SetupEvent, Locate, Setup};
use leastaction_mechanics::{
    Dynamics, Energy, Equations, Loose, Observable, Projection, SettingError, StartError, State, Statement,
    Term,
};
use leastaction_output::Record;
use std::collections::HashSet;
use std::f64::consts::TAU;
use std::time::{Duration, Instant};

/// Conserved momenta, and angles that jump, are looked for among so many coordinates.
const MANY: usize = 48;

/// Something that is observed along a run, by name.
pub type Named = (String, Observable);

/// A system with its parameters and inputs, where it starts, and when it ends.
#[derive(Clone)]
pub struct Problem<'g> {
    /// The name of the system; empty if it has none.
    pub name: String,
    /// What was said about it.
    pub setup: Setup<'g>,
    /// Its equations of motion.
    pub equations: Equations<'g>,
    /// These compiled, with parameters and inputs.
    pub dynamics: Dynamics,
    /// Coordinates, velocities and momenta by which the initial condition is given; none if it was drawn.
    pub values: Vec<(String, f64)>,
    /// The initial state.
    pub start: State,
    /// How far that was moved to meet the constraints, if there are any.
    pub placed: Option<Projection>,
    /// The time at the end.
    pub until: f64,
    /// How long it took to derive and compile the equations of motion.
    pub compile: Duration,
}

rebind!(Problem { setup, equations; name, dynamics, values, start, placed, until, compile });

impl<'g> Problem<'g> {
    /// The problem of a setup, with what is asked for in place of what it says. Parameters that others are computed from, or that decide what there
    /// is, are given when a text is [read](crate::Source::setup).
    ///
    /// # Errors
    /// [`PrepareError`] says what is wrong, and whether with the setup or with what is asked for.
    pub fn new(setup: Setup<'g>, overrides: &Overrides) -> Result<Problem<'g>, PrepareError> {
        overrides.check().map_err(PrepareError::usage)?;
        if overrides.seed.is_some() {
            return Err(PrepareError::usage(Cause::NoCatalog));
        }
        let mut problem = Problem::build(setup, overrides)?;
        problem.begin(overrides)?;
        Ok(problem)
    }

    /// The problem before it has an initial state.
    pub(crate) fn build(mut setup: Setup<'g>, overrides: &Overrides) -> Result<Problem<'g>, PrepareError> {
        let before = Instant::now();
        if let Some(errors) = setup.untrained() {
            return Err(errors.into());
        }
        let mut parameters = Vec::new();
        for (name, value) in &overrides.parameters {
            if !setup.model.restate_input(name, *value) {
                parameters.push((name, value));
            }
        }
        let equations = setup.model.equations().map_err(|error| located(&setup, error))?;
        let system = equations.system().map_err(|error| located(&setup, error))?;
        let mut dynamics = system.dynamics().map_err(|error| located(&setup, error))?;
        for (name, value) in parameters {
            dynamics.set_parameter(name, *value).map_err(|error| match error {
                SettingError::Unknown { nearest: None, .. } => {
                    let parameters = system.parameters().iter().map(|(name, _)| name.clone()).collect();
                    PrepareError::usage(Cause::Unknown { source: error, parameters })
                }
                error => PrepareError::usage(error),
            })?;
        }
        let until = overrides.until.unwrap_or(setup.plan.until);
        let restated = |input: &str| overrides.parameters.iter().any(|(name, _)| name == input);
        setup.tables.retain(|(input, _)| !restated(input));
        let (first, last) = (until.min(0.0), until.max(0.0));
        let outside = |covers: &[f64; 2]| first < covers[0] || last > covers[1];
        if let Some((input, [from, to])) = setup.tables.iter().find(|(_, covers)| outside(covers)) {
            let cause = Cause::OutsideTable { input: input.clone(), from: *from, to: *to, first, last };
            let diagnostics = setup.explain_input(input, &cause.to_string());
            return Err(PrepareError::model(cause, diagnostics));
        }
        Ok(Problem {
            name: String::new(),
            setup,
            equations,
            dynamics,
            values: Vec::new(),
            start: State::default(),
            placed: None,
            until,
            compile: before.elapsed(),
        })
    }

    /// Begins where the setup says, with what is asked for in its place. Momenta take the place of velocities, and velocities that of momenta.
    pub(crate) fn begin(&mut self, overrides: &Overrides) -> Result<(), PrepareError> {
        let asked = &overrides.start;
        let given = |name: &str| asked.iter().any(|(other, _)| *other == name);
        self.values = self.start_values(&self.dynamics, asked).map_err(PrepareError::run)?;
        let is_given = |loose: &Loose| loose.nodes.iter().flatten().any(|name| given(name));
        let loose = self.setup.loose.iter().filter(|loose| !is_given(loose)).cloned().collect();
        self.dynamics.set_loose(loose);
        let named: Vec<(&str, f64)> =
            self.values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let start = self.dynamics.start_over(0.0, &self.setup.start_blocks(), &named).map_err(|error| {
            match asked.is_empty() && overrides.parameters.is_empty() {
                true => located(&self.setup, error),
                false => PrepareError::usage(error),
            }
        })?;
        self.begin_at(start);
        Ok(())
    }

    /// The values of the initial condition with the parameters of these dynamics, and with what is asked for in their place.
    fn start_values(
        &self,
        dynamics: &Dynamics,
        asked: &[(String, f64)],
    ) -> Result<Vec<(String, f64)>, UnboundSymbol> {
        let system = dynamics.system();
        let is_momentum = |name: &str| system.momenta().position(name).is_some();
        let is_velocity = |name: &str| system.velocities().position(name).is_some();
        let by_momenta = asked.iter().any(|(name, _)| is_momentum(name));
        let by_velocities = asked.iter().any(|(name, _)| is_velocity(name));
        let replaced = |name: &str| by_momenta && is_velocity(name) || by_velocities && is_momentum(name);
        let given = |name: &str| asked.iter().any(|(other, _)| *other == name);
        let mut values = self.setup.start(dynamics)?;
        values.retain(|(name, _)| !(given(name) || replaced(name)));
        let values = values.into_iter().map(|(name, value)| (name.to_owned(), value));
        Ok(values.chain(asked.iter().cloned()).collect())
    }

    /// Where the setup says that the motion begins at a time, with the parameters of these dynamics, which are those of the problem or a clone of them, and with what is
    /// asked for in place of what the setup says.
    ///
    /// # Errors
    /// [`PrepareError`] if there is no such initial condition.
    pub fn start_with(
        &self,
        dynamics: &mut Dynamics,
        t: f64,
        asked: &[(String, f64)],
    ) -> Result<State, PrepareError> {
        let values = self.start_values(dynamics, asked).map_err(PrepareError::run)?;
        let named: Vec<(&str, f64)> = values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        dynamics.start_over(t, &self.setup.start_blocks(), &named).map_err(PrepareError::usage)
    }

    /// The values of the initial condition, with those of the nodes of meshes that are not among them.
    pub(crate) fn all_values(&self) -> Vec<(String, f64)> {
        let system = self.dynamics.system();
        let given: HashSet<&str> = self.values.iter().map(|(name, _)| name.as_str()).collect();
        let by_momenta = self.values.iter().any(|(name, _)| system.momenta().contains(name));
        let mut all = Vec::new();
        for block in self.setup.start_blocks() {
            let rows = [(system.coordinates(), block.coordinates), (system.velocities(), block.velocities)];
            for (names, values) in rows.into_iter().take(if by_momenta { 1 } else { 2 }) {
                let placed = values.iter().enumerate();
                let placed = placed
                    .filter_map(|(i, &value)| Some((names.at(system.place_of(block.first + i)?), value)));
                all.extend(placed.filter(|(name, _)| !given.contains(name.as_str())));
            }
        }
        all.extend(self.values.iter().cloned());
        all
    }

    /// Begins at the state that the dynamics made last.
    pub(crate) fn begin_at(&mut self, start: State) {
        self.start = start;
        self.placed = self.dynamics.placed();
    }

    /// What the setup asks to be recorded besides what is recorded anyway.
    ///
    /// # Errors
    /// [`PrepareError`] if an output has the name of something else, or cannot be observed.
    pub fn outputs(&mut self) -> Result<Vec<Named>, PrepareError> {
        let system = self.dynamics.system().clone();
        let terms = self.setup.outputs_except(|name| Record::has(&system, name))?;
        let output = |term: &Term<'_>| {
            let what = self.dynamics.observable(term.value).map_err(PrepareError::usage)?;
            Ok((term.name.clone(), what))
        };
        terms.into_iter().map(output).collect()
    }

    /// The integrator with the setup's events, in their order.
    ///
    /// # Errors
    /// [`PrepareError`] if one cannot be observed.
    pub fn with_events(&mut self, mut integrator: Integrator) -> Result<Integrator, PrepareError> {
        for event in self.setup.events.clone() {
            let what = self.dynamics.observable(event.value).map_err(PrepareError::usage)?;
            if event.ticks {
                integrator = integrator.event(Event::every(what, self.reset(&event, &event.sets)?));
                continue;
            }
            let passing = Event::new(what);
            let passing = match event.direction {
                Direction::Both => passing,
                Direction::Rising => passing.rising(),
                Direction::Falling => passing.falling(),
            };
            let passing = if event.stop { passing.terminal() } else { passing };
            let passing = match event.sets.is_empty() {
                true => passing,
                false => passing.resetting(self.reset(&event, &event.sets)?),
            };
            integrator = integrator.event(match event.finally.is_empty() {
                true => passing,
                false => passing.finally(self.reset(&event, &event.finally)?),
            });
        }
        Ok(integrator)
    }

    /// Refuses a model whose events set something, for what does not look at events: what that is, with "do" or "does", and what to do instead.
    ///
    /// # Errors
    /// [`PrepareError`] names the event.
    pub fn check_no_resets(
        &self,
        what: &'static str,
        instead: impl FnOnce() -> String,
    ) -> Result<(), PrepareError> {
        match self.setup.events.iter().find(|event| !event.sets.is_empty()) {
            Some(event) => {
                let event = event.name.clone();
                Err(PrepareError::usage(Cause::Resets { event, what, instead: instead() }))
            }
            None => Ok(()),
        }
    }

    /// What an event sets.
    fn reset(&mut self, event: &SetupEvent<'g>, set: &[Term<'g>]) -> Result<Reset, PrepareError> {
        let mut sets = Vec::new();
        for Term { name, value } in set {
            let what = self.dynamics.observable(*value).map_err(PrepareError::usage)?;
            sets.push((name.as_str(), what));
        }
        Reset::new(&event.name, self.dynamics.system(), &sets).map_err(|error| {
            let diagnostics = self.setup.explain_event(&event.name, &error.to_string());
            PrepareError::model(error, diagnostics)
        })
    }

    /// The integrator with events that are asked for besides; their names join these.
    ///
    /// # Errors
    /// [`PrepareError`] if one has the name of another, or cannot be observed.
    pub fn with_asked_events(
        &mut self,
        mut integrator: Integrator,
        asked: &[AskedEvent],
        names: &mut Vec<String>,
    ) -> Result<Integrator, PrepareError> {
        for AskedEvent { name, expression, stop } in asked {
            if names.contains(name) {
                return Err(PrepareError::usage(Cause::Named { what: "event", name: name.clone() }));
            }
            let what = self.asked("event", name, expression)?;
            if self.dynamics.is_constant(what) {
                let (name, expression) = (name.clone(), expression.clone());
                return Err(PrepareError::usage(Cause::NeverPasses { name, expression }));
            }
            let event = Event::new(what);
            integrator = integrator.event(if *stop { event.terminal() } else { event });
            names.push(name.clone());
        }
        Ok(integrator)
    }

    /// What is recorded besides what the setup says. A name alone that is known stands for what has it.
    pub(crate) fn asked_outputs(
        &mut self,
        asked: &[(String, String)],
        outputs: &mut Vec<Named>,
    ) -> Result<(), PrepareError> {
        for (name, expression) in asked {
            let is_known =
                Record::has(self.dynamics.system(), name) || outputs.iter().any(|(other, _)| other == name);
            if is_known && name != expression {
                return Err(PrepareError::usage(Cause::Named { what: "output", name: name.clone() }));
            }
            if !is_known {
                let what = self.asked("output", name, expression)?;
                outputs.push((name.clone(), what));
            }
        }
        Ok(())
    }

    /// What the text of an expression is that is asked for.
    fn asked(
        &mut self,
        what: &'static str,
        name: &str,
        expression: &str,
    ) -> Result<Observable, PrepareError> {
        self.dynamics.observable(expression).map_err(|source| {
            let (name, expression) = (name.to_owned(), expression.to_owned());
            PrepareError::usage(Cause::Expression { what, name, expression, source: Box::new(source) })
        })
    }

    /// The names of the setup's events, in their order.
    #[must_use]
    pub fn events(&self) -> Vec<String> {
        self.setup.events.iter().map(|event| event.name.clone()).collect()
    }

    /// Angles of directions that energies and forces read as such: where these jump from π to −π, energies and forces jump.
    ///
    /// # Errors
    /// [`PrepareError`] if one cannot be observed.
    pub(crate) fn jumping_angles(&mut self) -> Result<Vec<Observable>, PrepareError> {
        let equations = &self.equations;
        if self.dynamics.system().degrees() > MANY {
            return Ok(Vec::new());
        }
        let potentials = equations.potential.iter().filter_map(|potential| match potential.energy {
            Energy::Formula(value) => Some(value),
            _ => None,
        });
        let terms =
            equations.direct.iter().map(|term| term.value).chain(potentials).chain(equations.forces());
        // One sum of all, with factors by which nothing cancels.
        let zero = equations.graph.number(0.0);
        let sum = terms.zip(1..).fold(zero, |sum, (term, i)| sum + term * f64::from(i).sqrt());
        let nodes = equations.graph.order(&[sum.id()]).into_iter();
        let angles = nodes.filter(|(_, node)| matches!(node, Node::Apply(Op::Atan2, _)));
        let angles: Vec<Expr<'g>> = angles.map(|(id, _)| equations.graph.at(id)).collect();
        let mut jumping = Vec::new();
        for angle in angles {
            let turned = sum.substitute(&[(angle, angle + TAU)]);
            if !equations.is_zero(turned - sum) {
                jumping.push(self.dynamics.observable(angle).map_err(PrepareError::run)?);
            }
        }
        Ok(jumping)
    }

    /// What should not change besides the energy: momenta of symmetries, what the setup says, and momenta and angular momenta of everything together.
    ///
    /// # Errors
    /// [`PrepareError`] if something cannot be observed.
    pub fn conserved(&mut self) -> Result<Vec<Named>, PrepareError> {
        let (system, totals) = (self.dynamics.system().clone(), self.totals());
        let mut all = Vec::new();
        for name in system.conserved().into_iter().filter(|name| name != "energy") {
            let observable = self.dynamics.observable(name.as_str()).map_err(PrepareError::run)?;
            all.push((name, observable));
        }
        let stated = self.setup.invariants.len();
        let known = |all: &[Named], name: &str| all.iter().any(|(other, _)| other == name);
        for (i, term) in self.setup.invariants.iter().chain(&totals).enumerate() {
            if i < stated || !known(&all, &term.name) {
                let what = self.dynamics.observable(term.value).map_err(PrepareError::run)?;
                all.push((term.name.clone(), what));
            }
        }
        Ok(all)
    }

    /// The momenta and angular momenta of everything together that are conserved.
    fn totals(&self) -> Vec<Term<'g>> {
        let (model, equations) = (&self.setup.model, &self.equations);
        if self.dynamics.system().degrees() > MANY {
            return Vec::new();
        }
        let totals = [
            ("momentum along", model.total_momentum()),
            ("angular momentum about", model.total_angular_momentum()),
        ];
        let totals = totals.into_iter().flat_map(|(what, values)| {
            let axes = values.into_iter().zip(["x", "y", "z"]);
            axes.map(move |(value, axis)| Term { name: format!("{what} {axis}"), value })
        });
        // Momenta of single coordinates are found already.
        let mut known = vec![equations.graph.number(0.0)];
        if let Statement::Lagrangian(l) = &equations.statement {
            known.extend(equations.cyclic().into_iter().map(|i| l.value.derivative(equations.velocities[i])));
        }
        let is_new = |value: Expr<'g>| known.iter().all(|&momentum| !equations.is_zero(value - momentum));
        totals
            .filter(|total| {
                // Held coordinates are what they are held at, which may change with time.
                let value = total.value.substitute(&equations.definitions);
                is_new(value) && equations.is_conserved(value) == Some(true)
            })
            .collect()
    }
}

/// An error of a model at its place in the text.
pub(crate) fn located(setup: &Setup<'_>, error: impl Locate + Into<Cause>) -> PrepareError {
    let diagnostics = setup.explain(&error);
    PrepareError::model(error, diagnostics)
}

/// The state with these coordinates, velocities and momenta.
pub(crate) fn start(dynamics: &mut Dynamics, values: &[(String, f64)]) -> Result<State, StartError> {
    let values: Vec<(&str, f64)> = values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    dynamics.start(&values)
}

//! A system, how it starts, and how it is integrated: what every command that runs something asks for.

use super::Failure;
use super::source::Source;
use clap::Args;
use leastaction::language::Setup;
use leastaction::{
    Card, Choice, Dynamics, Equations, Expr, Graph, Integrator, Observable, Pace, Projection, Sizing, State,
    Statement, Tolerance,
};
use std::time::{Duration, Instant};

/// The relative tolerance of a method that needs none given, and was given none.
const USUAL: f64 = 1e-10;

/// The options that say what runs, from where to when.
#[derive(Args)]
pub(super) struct Beginning {
    /// A system of the catalog (see `leastaction list`), a .motion file, or `-` for standard input
    pub(super) system: String,
    /// Set a parameter, or hold an input at a value
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, allow_hyphen_values = true)]
    set: Vec<(String, f64)>,
    /// Set a coordinate, a velocity (`x'`) or a momentum (`p_x`) at the start
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment, allow_hyphen_values = true)]
    start: Vec<(String, f64)>,
    /// Build the system with a number of pieces, where it can be chosen
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Run until a time; before 0 leads back in time
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(super) until: Option<f64>,
    /// Allow so many steps
    #[arg(long, value_name = "N", default_value_t = Integrator::STEP_LIMIT)]
    pub(super) max_steps: u64,
}

/// A start that is drawn at random.
#[derive(Args)]
pub(super) struct Seed {
    /// Draw the start at random, where the catalog says how; the same start for the same number
    #[arg(long, value_name = "N", conflicts_with = "start")]
    pub(super) seed: Option<u64>,
}

/// All options.
#[derive(Args)]
pub(super) struct Setting {
    #[command(flatten)]
    pub(super) beginning: Beginning,
    /// Integrate with a method (see `leastaction methods`); left out, one is chosen
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// Use a step
    #[arg(long, value_name = "H", allow_hyphen_values = true)]
    step: Option<f64>,
    /// Let the method find its steps from a relative tolerance
    #[arg(long, value_name = "TOL", conflicts_with = "step")]
    tol: Option<f64>,
    /// Let it find no steps longer than this, so that it sees what is as short
    #[arg(long, value_name = "H", conflicts_with = "step")]
    max_step: Option<f64>,
}

type Built<'g> = (Source<'g>, Equations<'g>, Dynamics);

/// Conserved momenta are looked for among so many coordinates.
const MANY: usize = 48;

/// A system at its start.
pub(super) struct Begun<'g> {
    pub(super) source: Source<'g>,
    equations: Equations<'g>,
    pub(super) dynamics: Dynamics,
    pub(super) start: State,
    /// How far the start was moved onto constraints, if there are any.
    pub(super) placed: Option<Projection>,
    pub(super) until: f64,
    /// How long it took to derive and compile the equations of motion.
    pub(super) compile: Duration,
}

/// A system that is ready to run.
pub(super) struct Prepared<'g> {
    pub(super) begun: Begun<'g>,
    pub(super) integrator: Integrator,
    /// Why the method was chosen, if it was.
    pub(super) why: Option<String>,
}

/// Reads `NAME=VALUE`.
fn assignment(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as m1=2")?;
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() {
        return Err("there is no name before `=`".to_owned());
    }
    // Numbers, and expressions of them such as `pi/4`.
    let number = value.parse().ok().or_else(|| Graph::new().parse(value).ok().and_then(Expr::as_number));
    match number {
        Some(number) if f64::is_finite(number) => Ok((name.to_owned(), number)),
        Some(number) => Err(format!("`{name}` cannot be {number}: numbers are finite")),
        None => Err(format!("`{value}` is not a number")),
    }
}

impl Beginning {
    /// Builds the system and its start.
    pub(super) fn begin<'g>(&self, graph: &'g Graph, seed: Option<u64>) -> Result<Begun<'g>, Failure> {
        let before = Instant::now();
        let (source, equations, mut dynamics) = self.built(graph, &self.set).map_err(|failure| {
            // What is right without values from outside is not the text's fault.
            let blame = failure.code == 1 && !self.set.is_empty() && self.built(&Graph::new(), &[]).is_ok();
            if blame { Failure::usage(failure.title()) } else { failure }
        })?;
        let setup = &source.setup;
        let compile = before.elapsed();
        let start = match seed {
            Some(seed) => source.sample(&mut dynamics, seed)?,
            None => {
                let values = self.start_values(setup, &dynamics)?;
                dynamics.start(&values).map_err(|error| {
                    match self.start.is_empty() && self.set.is_empty() {
                        true => source.wrong(&error),
                        false => Failure::usage(error),
                    }
                })?
            }
        };
        let placed = dynamics.placed();
        let until = self.until.unwrap_or(setup.plan.until);
        Ok(Begun { source, equations, dynamics, start, placed, until, compile })
    }

    /// Whether a start value was asked for.
    pub(super) fn asks(&self, name: &str) -> bool {
        self.start.iter().any(|(asked, _)| asked == name)
    }

    /// Whether a parameter was given a value.
    pub(super) fn sets(&self, name: &str) -> bool {
        self.set.iter().any(|(set, _)| set == name)
    }

    /// The system with these values of parameters, compiled.
    fn built<'g>(&self, graph: &'g Graph, set: &[(String, f64)]) -> Result<Built<'g>, Failure> {
        let source = Source::open(graph, &self.system, self.size, set)?;
        let equations = source.equations()?;
        let dynamics = source.dynamics(&equations, set)?;
        Ok((source, equations, dynamics))
    }

    /// The start of the system with what was asked for in its place. Momenta take the place of velocities, and velocities that of momenta.
    pub(super) fn start_values<'a>(
        &'a self,
        setup: &'a Setup<'_>,
        dynamics: &Dynamics,
    ) -> Result<Vec<(&'a str, f64)>, Failure> {
        let asked: Vec<(&str, f64)> =
            self.start.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let momenta = dynamics.system().momenta();
        let is_momentum = |name: &str| momenta.iter().any(|p| p == name);
        let by_momenta = asked.iter().any(|(name, _)| is_momentum(name));
        let by_velocities = asked.iter().any(|(name, _)| name.ends_with('\''));
        let replaced = |name: &str| by_momenta && name.ends_with('\'') || by_velocities && is_momentum(name);
        let given = |name: &str| asked.iter().any(|(other, _)| *other == name);
        let mut values = setup.start(dynamics).map_err(Failure::run)?;
        values.retain(|(name, _)| !(given(name) || replaced(name)));
        values.extend(asked);
        Ok(values)
    }
}

impl Setting {
    /// Builds the system, its start and its integrator.
    pub(super) fn prepare<'g>(&self, graph: &'g Graph, seed: Option<u64>) -> Result<Prepared<'g>, Failure> {
        let mut begun = self.beginning.begin(graph, seed)?;
        let (integrator, why) = self.integrator(&mut begun)?;
        Ok(Prepared { begun, integrator, why })
    }

    /// The method and the pace that were asked for. A method that nobody asked for is chosen, and why is said.
    fn integrator(&self, begun: &mut Begun<'_>) -> Result<(Integrator, Option<String>), Failure> {
        let Begun { source, dynamics, start, until, .. } = begun;
        let until = *until;
        let plan = &source.setup.plan;
        // A step that nobody asked for goes the way that was asked for.
        let usual = plan.step.map(|step| if until < start.t { -step } else { step });
        let tolerance = |relative| Pace::Tolerance(Tolerance::relative(relative));
        let asked = self.tol.map(tolerance).or(self.step.map(Pace::Step));
        let pace = asked.or(usual.map(Pace::Step)).or(plan.tolerance.map(tolerance));
        let method = self.method.as_ref().or(plan.method.as_ref());
        let (integrator, why) = match method {
            Some(method) => {
                let card = Card::named(method).map_err(|error| match self.method {
                    Some(_) => Failure::usage(error),
                    None => source.wrong_clause("method", &error),
                })?;
                let unpaced = || format!("{method} needs a step: give one (--step)");
                let pace = match (pace, card.sizing) {
                    (Some(pace), _) => pace,
                    (None, Sizing::Given) => return Err(Failure::usage(unpaced())),
                    (None, _) => tolerance(USUAL),
                };
                (Integrator::new(card, pace), None)
            }
            None => {
                let choice = Choice::new(dynamics, start, until, pace).map_err(Failure::usage)?;
                (choice.integrator, Some(choice.why))
            }
        };
        let integrator = integrator.at_most(self.beginning.max_steps);
        Ok((integrator.longest_step(self.max_step.unwrap_or(f64::INFINITY)), why))
    }
}

impl<'g> Begun<'g> {
    /// What should not change besides the energy: momenta of symmetries, and what the model says.
    pub(super) fn watched(&mut self) -> Result<Vec<(String, Observable)>, Failure> {
        let system = self.dynamics.system().clone();
        let momenta = system.conserved().into_iter().filter(|name| *name != "energy");
        let graph = self.equations.graph;
        let momenta = momenta.map(|name| (name.to_owned(), graph.symbol(name)));
        let stated = self.source.setup.invariants.iter();
        let stated = stated.map(|term| (term.name.clone(), term.value));
        let mut all: Vec<_> = momenta.chain(stated).collect();
        let found = self.totals().into_iter().filter(|(name, _)| all.iter().all(|(other, _)| other != name));
        all.extend(found.collect::<Vec<_>>());
        let watch = |(name, value): (String, Expr<'_>)| {
            Ok((name, self.dynamics.observable(value).map_err(Failure::run)?))
        };
        all.into_iter().map(watch).collect()
    }

    /// The momenta and angular momenta of everything together that are conserved.
    fn totals(&self) -> Vec<(String, Expr<'g>)> {
        let model = &self.source.setup.model;
        if self.dynamics.system().degrees() > MANY {
            return Vec::new();
        }
        let totals = [
            ("momentum along", model.total_momentum()),
            ("angular momentum about", model.total_angular_momentum()),
        ];
        let totals = totals.into_iter().flat_map(|(what, values)| {
            let axes = values.into_iter().zip(["x", "y", "z"]);
            axes.map(move |(value, axis)| (format!("{what} {axis}"), value))
        });
        // Momenta of single coordinates are found already.
        let equations = &self.equations;
        let mut known = vec![equations.graph.number(0.0)];
        if let Statement::Lagrangian(l) = &equations.statement {
            known.extend(equations.cyclic().into_iter().map(|i| l.value.derivative(equations.velocities[i])));
        }
        let is_new = |value: Expr<'_>| known.iter().all(|&momentum| !equations.is_zero(value - momentum));
        let kept = totals.filter(|&(_, value)| is_new(value) && equations.is_conserved(value) == Some(true));
        kept.collect()
    }
}

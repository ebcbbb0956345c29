//! What a text says: a model, and how it starts, runs and is drawn.

use crate::diagnostic::{Diagnostic, Errors};
use crate::doubts::Doubt;
use crate::drawing::Drawing;
use crate::meshes::MovingMesh;
use crate::source_map::{Mention, SourceMap};
use leastaction_expr::{Expr, UnboundSymbol, rebind};
use leastaction_mechanics::{Dynamics, Loose, Model, StartBlock, Term, TermKind};
use leastaction_network::{Activation, Feature, Network};
use std::collections::HashSet;

/// A model with everything needed to run and to draw it.
#[derive(Clone, Debug)]
pub struct Setup<'g> {
    /// What it is, in a line: the comment that the text begins with.
    pub about: String,
    /// The model, with default parameters.
    pub model: Model<'g>,
    /// Coordinates, velocities or momenta at the start, as functions of parameters. What is not named is 0.
    pub start: Vec<Term<'g>>,
    /// Bodies of which no place, or no velocity, is given at the start: it follows from joints and constraints.
    pub loose: Vec<Loose>,
    /// How it is run.
    pub plan: Plan,
    /// What else to record.
    pub outputs: Vec<Term<'g>>,
    /// What the motion is said to conserve, besides what its system finds by itself: the energy, and the momenta of coordinates that
    /// nothing depends on.
    pub invariants: Vec<Term<'g>>,
    /// What to look out for along the way.
    pub events: Vec<Event<'g>>,
    /// How it is drawn.
    pub drawing: Drawing,
    /// The meshes whose nodes move.
    pub meshes: Vec<MovingMesh>,
    /// Inputs that are tables, with the first and the last time of each, but for those that are held before and after.
    pub tables: Vec<(String, [f64; 2])>,
    /// Potential energies that are networks.
    pub networks: Vec<NetworkTerm>,
    /// Functions of parameters that have a range.
    pub limits: Vec<Limit<'g>>,
    /// What is hardly meant.
    pub doubts: Vec<Doubt>,
    /// Outputs that are what their names say: coordinates, velocities, momenta and places.
    pub(crate) plain: HashSet<String>,
    /// Where the text says it.
    pub(crate) source_map: SourceMap,
}

/// A function of parameters that has a range, such as Poisson's ratio of a material.
#[derive(Clone, Debug)]
pub struct Limit<'g> {
    /// What it is.
    pub name: String,
    /// Its value.
    pub value: Expr<'g>,
    /// Whether a value is possible.
    pub holds: fn(f64) -> bool,
    /// Which values are, in words.
    pub range: &'static str,
}

/// A potential energy that is a network.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkTerm {
    /// The name of the energy.
    pub name: String,
    /// What it reads.
    pub features: Vec<Feature>,
    /// What is known of its weights.
    pub weights: NetworkWeights,
}

/// What is known of the weights of a network.
#[derive(Clone, Debug, PartialEq)]
pub enum NetworkWeights {
    /// They were learned.
    Trained(Network<f64>),
    /// They are to be learned: how many units stand between layers, and what they are.
    Untrained {
        /// How many.
        hidden: Vec<usize>,
        /// What.
        activation: Activation,
    },
}

/// How a system is run unless something else is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The method; one is chosen if none is named.
    pub method: Option<String>,
    /// The step.
    pub step: Option<f64>,
    /// The relative tolerance. There is a step, or a tolerance, or neither.
    pub tolerance: Option<f64>,
    /// The absolute tolerance, in the units of the state; besides the relative one, and not with a step.
    pub absolute: Option<f64>,
    /// Absolute tolerances of single coordinates and momenta, in place of that of all.
    pub absolutes: Vec<(String, f64)>,
    /// The time at the end; runs start at 0.
    pub until: f64,
    /// The time between samples.
    pub every: Option<f64>,
    /// How many samples to take, the start not counted. There is a spacing, or a number, or neither.
    pub samples: Option<u64>,
}

impl Default for Plan {
    /// Ten units of time, whatever they are.
    fn default() -> Plan {
        Plan {
            method: None,
            step: None,
            tolerance: None,
            absolute: None,
            absolutes: Vec::new(),
            until: 10.0,
            every: None,
            samples: None,
        }
    }
}

/// An event of a model: an expression that passes 0.
#[derive(Clone, Debug)]
pub struct Event<'g> {
    /// The name.
    pub name: String,
    /// What passes 0; or, if it ticks, the time between ticks, which depends on parameters alone.
    pub value: Expr<'g>,
    /// Whether it happens at the start, and then again and again after a time.
    pub ticks: bool,
    /// Which way it passes.
    pub direction: Direction,
    /// Whether the run ends there.
    pub stop: bool,
    /// Coordinates, velocities or momenta that are set anew there, all at once, by the state before.
    pub sets: Vec<Term<'g>>,
    /// What is set where that would make it happen again and again without end: the run goes on from there.
    pub finally: Vec<Term<'g>>,
}

/// Which way an expression passes 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Direction {
    /// Either way.
    #[default]
    Both,
    /// From below.
    Rising,
    /// From above.
    Falling,
}

rebind!(Setup { model, start, outputs, invariants, events, limits; about, loose, plan, drawing, meshes, tables, networks, doubts, plain, source_map });
rebind!(Limit { value; name, holds, range });
rebind!(Event { value, sets, finally; name, ticks, direction, stop });

impl<'g> Setup<'g> {
    /// A model that starts at rest at the origin.
    #[must_use]
    pub fn new(model: Model<'g>) -> Setup<'g> {
        Setup {
            about: String::new(),
            model,
            start: Vec::new(),
            loose: Vec::new(),
            plan: Plan::default(),
            outputs: Vec::new(),
            invariants: Vec::new(),
            events: Vec::new(),
            drawing: Drawing::default(),
            meshes: Vec::new(),
            tables: Vec::new(),
            networks: Vec::new(),
            limits: Vec::new(),
            doubts: Vec::new(),
            plain: HashSet::new(),
            source_map: SourceMap::default(),
        }
    }

    /// What is said to whoever wants to run a model with a network that has no weights yet.
    #[must_use]
    pub fn untrained(&self) -> Option<Errors> {
        let without = |term: &&NetworkTerm| matches!(term.weights, NetworkWeights::Untrained { .. });
        let name = &self.networks.iter().find(without)?.name;
        let message = format!("the network `{name}` has no weights yet");
        let wrong = match self.source_map.find(Mention::Term(TermKind::Potential), name) {
            Some(span) => Diagnostic::at(span, message),
            None => Diagnostic::of_all(message),
        };
        let help = "train it by `leastaction learn train`, or write `from` and a file of weights";
        Some(self.source_map.shown(wrong.help(help)))
    }

    /// The text that this was read from, in which networks that have no weights yet take them from a file. Nothing if a statement is not in the text as it stands.
    #[must_use]
    pub fn with_weights(&self, text: &str, file: &str, hash: &str) -> Option<String> {
        let without = |term: &&NetworkTerm| matches!(term.weights, NetworkWeights::Untrained { .. });
        let span = |term: &NetworkTerm| self.source_map.find(Mention::Term(TermKind::Potential), &term.name);
        let mut spans: Vec<_> = self.networks.iter().filter(without).map(span).collect::<Option<_>>()?;
        // The last ones first, so that the others stay where they are.
        spans.sort_by_key(|span| std::cmp::Reverse(span.start));
        let mut text = text.to_owned();
        for span in spans {
            let sizes = span.start + text.get(span.start..span.end)?.rfind("hidden")?;
            text.replace_range(sizes..span.end, &format!("from \"{file}\" hash \"{hash}\""));
        }
        Some(text)
    }

    /// The model without its networks, for whoever trains them.
    #[must_use]
    pub fn without_networks(&self) -> Model<'g> {
        let mut model = self.model.clone();
        self.networks.iter().for_each(|term| _ = model.remove_potential(&term.name));
        model
    }

    /// The outputs besides what is recorded anyway under names of which this says so.
    ///
    /// # Errors
    /// [`Errors`] for an output that has one of the names and is something else.
    pub fn outputs_except(&self, recorded: impl Fn(&str) -> bool) -> Result<Vec<&Term<'g>>, Errors> {
        let mut all = Vec::new();
        for term in &self.outputs {
            match (recorded(&term.name), self.plain.contains(&term.name)) {
                (true, true) => {}
                (true, false) => return Err(self.explain_output(&term.name)),
                (false, _) => all.push(term),
            }
        }
        Ok(all)
    }

    /// Where the nodes of meshes start.
    #[must_use]
    pub fn start_blocks(&self) -> Vec<StartBlock<'_>> {
        fn block(mesh: &MovingMesh) -> StartBlock<'_> {
            StartBlock {
                first: mesh.first_coordinate,
                coordinates: mesh.start.as_flattened(),
                velocities: mesh.velocities.as_ref().map_or(&[], |velocities| velocities.as_flattened()),
            }
        }
        self.meshes.iter().map(block).collect()
    }

    /// The values at the start with the parameters of these dynamics, as [`Dynamics::start`] takes them; where there are meshes, their nodes start as
    /// [`Setup::start_blocks`] says, which [`Dynamics::start_over`] takes besides.
    ///
    /// # Errors
    /// [`UnboundSymbol`] if a value depends on more than parameters.
    pub fn start(&self, dynamics: &Dynamics) -> Result<Vec<(&str, f64)>, UnboundSymbol> {
        let names = dynamics.system().parameters().iter();
        let parameters: Vec<_> = names
            .zip(dynamics.parameters())
            .map(|((name, _), &value)| (self.model.graph().symbol(name), value))
            .collect();
        self.start.iter().map(|term| Ok((term.name.as_str(), term.value.eval(&parameters)?))).collect()
    }
}

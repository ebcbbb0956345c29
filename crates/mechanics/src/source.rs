//! The expressions of a system, from which its kernels are made.

use crate::blueprint::Blueprint;
use crate::constraint::sparse::Layout;
use crate::facts::{Facts, Form, Place};
use crate::lumped::sum::SystemLumped;
use crate::observe::Measured;
use crate::quantity::Quantity;
use crate::reading::Role;
use leastaction_compile::{CodeError, Kernel, Program};
use leastaction_expr::{Expr, Glossary, Graph, Id, jacobian};
use leastaction_linear::{Pattern, Structure};
use rustc_hash::FxHashMap;
use std::sync::{Arc, OnceLock};

/// The space in which a kernel's arguments are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// (q, p).
    Phase,
    /// (q, v).
    Configuration,
    /// No state is read: parameters only.
    Parameters,
}

/// The expressions of one quantity, and what they are functions of.
pub(crate) struct Plan {
    space: Space,
    pub(crate) outputs: Vec<Id>,
}

/// The expressions, with a graph of their own.
pub(crate) struct Source {
    pub(crate) graph: Graph,
    plans: [Option<Plan>; Quantity::COUNT],
    /// All coordinates, and what belongs to them, of formulas and of nodes.
    pub(crate) coordinates: Vec<Id>,
    pub(crate) velocities: Vec<Id>,
    pub(crate) momenta: Vec<Id>,
    /// Nodes that are computed from numbers.
    pub(crate) lumped: Option<Arc<SystemLumped>>,
    pub(crate) time: Id,
    pub(crate) inputs: Vec<Id>,
    autonomous: bool,
    pub(crate) parameters: Vec<Id>,
    /// Names, and what they stand for.
    pub(crate) definitions: Vec<(Id, Id)>,
    /// What else names mean in texts.
    pub(crate) names: Glossary<'static>,
    /// Particles and points whose positions are formulas.
    pub(crate) places: Vec<Place>,
    /// Names of numbers that are measured at a state.
    pub(crate) measured: Vec<(String, Measured)>,
    /// What symbols are, once it is needed.
    pub(crate) roles: OnceLock<FxHashMap<Id, Role>>,
}

impl Source {
    /// The expressions of a blueprint, with a copy of their graph.
    pub(crate) fn new(blueprint: &Blueprint<'_>) -> Source {
        let ids = |list: &[Expr<'_>]| list.iter().map(|e| e.id()).collect::<Vec<_>>();
        let mut plans = [const { None }; Quantity::COUNT];
        for (quantity, space, outputs) in &blueprint.plans {
            plans[*quantity as usize] = Some(Plan { space: *space, outputs: ids(outputs) });
        }
        Source {
            graph: blueprint.graph.clone(),
            plans,
            coordinates: ids(&blueprint.coordinates),
            velocities: ids(&blueprint.velocities),
            momenta: ids(&blueprint.momenta),
            lumped: blueprint.lumped.clone(),
            time: blueprint.time.id(),
            inputs: ids(&blueprint.inputs),
            autonomous: blueprint.facts.autonomous,
            parameters: blueprint.parameters.iter().map(|(p, _)| p.id()).collect(),
            definitions: blueprint.definitions.iter().map(|(name, value)| (name.id(), value.id())).collect(),
            names: blueprint.names.detached(blueprint.graph),
            places: blueprint.particles.clone(),
            measured: Measured::named(blueprint),
            roles: OnceLock::new(),
        }
    }

    /// Which quantities have expressions.
    pub(crate) fn planned(&self) -> [bool; Quantity::COUNT] {
        self.plans.each_ref().map(Option::is_some)
    }

    pub(crate) fn plan(&self, quantity: Quantity) -> Option<&Plan> {
        self.plans[quantity as usize].as_ref()
    }

    pub(crate) fn expressions(&self, ids: &[Id]) -> Vec<Expr<'_>> {
        ids.iter().map(|&id| self.graph.at(id)).collect()
    }

    /// Coordinates, momenta or velocities of those coordinates alone that are in formulas.
    pub(crate) fn of_formulas(&self, all: &[Id]) -> Vec<Id> {
        match &self.lumped {
            Some(lumped) => lumped.formula.iter().map(|&i| all[i as usize]).collect(),
            None => all.to_vec(),
        }
    }

    /// The same of those that formulas of a quantity are functions of.
    pub(crate) fn read_by(&self, quantity: Quantity, all: &[Id]) -> Vec<Id> {
        match &self.lumped {
            Some(lumped) if lumped.reads_nodes(quantity) => all.to_vec(),
            _ => self.of_formulas(all),
        }
    }

    /// Where a coordinate of formulas stands among all.
    pub(crate) fn place(&self, coordinate: usize) -> usize {
        self.lumped.as_ref().map_or(coordinate, |lumped| lumped.formula[coordinate] as usize)
    }

    /// \[q…, p…\].
    pub(crate) fn states(&self) -> Vec<Expr<'_>> {
        self.expressions(&[self.coordinates.as_slice(), &self.momenta].concat())
    }

    /// What a quantity is, where that is planned.
    pub(crate) fn outputs(&self, quantity: Quantity) -> Option<Vec<Expr<'_>>> {
        self.plan(quantity).map(|plan| self.expressions(&plan.outputs))
    }

    /// What an observable is a function of: \[q…, p…, v…, t, u…\].
    pub(crate) fn observed(&self) -> Vec<Id> {
        [&self.coordinates, &self.momenta, &self.velocities, &[self.time][..], &self.inputs].concat()
    }

    /// A kernel for expressions of inputs and parameters.
    pub(crate) fn kernel(&self, inputs: &[Expr<'_>], outputs: &[Expr<'_>]) -> Result<Kernel, CodeError> {
        Ok(Kernel::compile(Program::build(inputs, &self.expressions(&self.parameters), outputs)?)?)
    }

    /// The program of a quantity; of few instructions for those that steps are made of.
    pub(crate) fn program(&self, quantity: Quantity) -> Result<Program, CodeError> {
        use Quantity::{Accelerations, Drift, Kick, Rates};
        let [inputs, parameters, outputs] = self.parts(quantity);
        match quantity {
            Rates | Drift | Kick | Accelerations => Ok(Program::lean(&inputs, &parameters, &outputs)?),
            _ => self.plain(quantity),
        }
    }

    /// The program of a quantity as its expressions stand.
    pub(crate) fn plain(&self, quantity: Quantity) -> Result<Program, CodeError> {
        let [inputs, parameters, outputs] = self.parts(quantity);
        Ok(Program::build(&inputs, &parameters, &outputs)?)
    }

    /// Inputs, parameters and outputs of a quantity that is planned.
    fn parts(&self, quantity: Quantity) -> [Vec<Expr<'_>>; 3] {
        let Some(plan) = self.plan(quantity) else {
            unreachable!("there is no plan for {}", quantity.name())
        };
        [&self.inputs_of(quantity, plan), &self.parameters, &plan.outputs].map(|ids| self.expressions(ids))
    }

    /// What a kernel reads: coordinates with momenta or velocities, then time and inputs unless the system is autonomous.
    pub(crate) fn inputs_of(&self, quantity: Quantity, plan: &Plan) -> Vec<Id> {
        let moving: &[Id] = match plan.space {
            Space::Phase => &self.momenta,
            Space::Configuration => &self.velocities,
            Space::Parameters => return Vec::new(),
        };
        let driven: &[Id] =
            if self.autonomous { &[] } else { &[&[self.time], self.inputs.as_slice()].concat() };
        [&self.read_by(quantity, &self.coordinates), &self.read_by(quantity, moving), driven].concat()
    }

    /// Which rates depend on which parts of the state, and each on itself; nothing where that is more than a few for each expression.
    pub(crate) fn dependence(&self) -> Option<Pattern> {
        /// So many parts of the state per expression, on average, are few.
        const FEW: usize = 32;
        let outputs = &self.plan(Quantity::Rates)?.outputs;
        let state = [self.coordinates.as_slice(), &self.momenta].concat();
        let columns: FxHashMap<Id, u32> = state.iter().enumerate().map(|(k, &id)| (id, k as u32)).collect();
        let order = self.graph.order(outputs);
        let (mut sets, mut count): (FxHashMap<Id, Vec<u32>>, usize) = (FxHashMap::default(), 0);
        for &(id, node) in &order {
            let mut set: Vec<u32> = columns.get(&id).copied().into_iter().collect();
            for argument in node.arguments() {
                set.extend(sets.get(argument).into_iter().flatten());
            }
            set.sort_unstable();
            set.dedup();
            count += set.len();
            if count > FEW * order.len() {
                return None;
            }
            if !set.is_empty() {
                sets.insert(id, set);
            }
        }
        let entries = outputs.iter().enumerate().flat_map(|(row, id)| {
            let set = sets.get(id).into_iter().flatten().map(|&column| column as usize);
            set.chain([row]).map(move |column| (row, column))
        });
        Some(Pattern::new(state.len(), state.len(), entries.collect()))
    }

    /// Plans the derivatives of the field, which are many and seldom needed.
    pub(crate) fn derive(
        &mut self,
        quantity: Quantity,
        facts: &Facts,
        layout: &Layout,
        structure: Option<&Structure>,
    ) {
        if self.plan(quantity).is_some() {
            return;
        }
        let outputs = |quantity: Quantity| self.outputs(quantity);
        let [q, p, v] = [&self.coordinates, &self.momenta, &self.velocities]
            .map(|ids| self.expressions(&self.read_by(quantity, ids)));
        let (space, blocks) = match quantity {
            Quantity::Jacobian if self.plan(Quantity::Rates).is_some() => {
                let state: Vec<_> = q.iter().chain(&p).copied().collect();
                let rates = outputs(Quantity::Rates);
                let entries = match structure {
                    Some(Structure::Sparse(pattern)) => {
                        rates.map(|f| sparse(&self.graph, &f, &state, pattern))
                    }
                    _ => rates.map(|f| dense(&self.graph, &f, &state)),
                };
                (Space::Phase, entries)
            }
            Quantity::ConfigurationJacobian => {
                let (momenta, forces) = (outputs(Quantity::Momenta), outputs(Quantity::MomentumRates));
                let blocks = momenta.zip(forces).map(|(momenta, forces)| {
                    let parts = [(&momenta, &q), (&forces, &q), (&forces, &v)];
                    parts.map(|(f, x)| dense(&self.graph, f, x)).concat()
                });
                (Space::Configuration, blocks)
            }
            Quantity::MomentumJacobian if facts.form == Form::Hamiltonian => {
                (Space::Phase, outputs(Quantity::Drift).map(|v| dense(&self.graph, &v, &q)))
            }
            Quantity::MomentumJacobian => {
                (Space::Configuration, outputs(Quantity::Momenta).map(|p| dense(&self.graph, &p, &q)))
            }
            // Φ̇ depends on the coordinates that Φ depends on, and so does G: other derivatives are zeros that folding does not see.
            Quantity::ConstraintRateJacobian if facts.holonomic => {
                let derivatives = outputs(Quantity::ConstraintRates).map(|rates| {
                    let mut derivatives = vec![self.graph.number(0.0); layout.jacobian.len()];
                    let nodes = self.lumped.as_ref().is_some_and(|lumped| lumped.reads_nodes(quantity));
                    for entry in jacobian(&rates, &q) {
                        let column = if nodes { entry.column } else { self.place(entry.column) };
                        let place = layout.jacobian.find(entry.row, column);
                        place.into_iter().for_each(|place| derivatives[place] = entry.value);
                    }
                    derivatives
                });
                (Space::Configuration, derivatives)
            }
            _ => return,
        };
        self.plans[quantity as usize] =
            blocks.map(|blocks| Plan { space, outputs: blocks.iter().map(|e| e.id()).collect() });
    }
}

/// The derivatives of outputs by variables at the places of a pattern, in its order.
fn sparse<'g>(
    graph: &'g Graph,
    outputs: &[Expr<'g>],
    variables: &[Expr<'g>],
    pattern: &Pattern,
) -> Vec<Expr<'g>> {
    let mut entries = vec![graph.number(0.0); pattern.len()];
    for entry in jacobian(outputs, variables) {
        let Some(place) = pattern.find(entry.row, entry.column) else {
            unreachable!("a derivative outside of what outputs depend on")
        };
        entries[place] = entry.value;
    }
    entries
}

/// All derivatives of outputs by variables, by rows, zeros included.
pub(crate) fn dense<'g>(graph: &'g Graph, outputs: &[Expr<'g>], variables: &[Expr<'g>]) -> Vec<Expr<'g>> {
    let mut entries = vec![graph.number(0.0); outputs.len() * variables.len()];
    for entry in jacobian(outputs, variables) {
        entries[entry.row * variables.len() + entry.column] = entry.value;
    }
    entries
}

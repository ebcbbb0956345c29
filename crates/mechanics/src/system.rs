//! The system: what is compiled from a model.

use crate::blueprint::Blueprint;
use crate::constraint::Level;
use crate::constraint::sparse::Layout;
use crate::dynamics::Dynamics;
use crate::element::search::Repetition;
use crate::energy::sum::{SystemEnergies, SystemEnergy, SystemEnergyKind};
use crate::error::{ModelError, SettingError};
use crate::facts::{Facts, Place, Share};
use crate::held::reaction::ReactionLayout;
use crate::inverse::Inverse;
use crate::lumped::sum::SystemLumped;
use crate::quantity::Quantity;
use crate::source::Source;
use crate::switch::Branches;
use crate::symmetry::Conserved;
use leastaction_compile::{CodeError, Kernel, Program, Series};
use leastaction_expr::{Expr, Names};
use leastaction_linear::Structure;
use std::any::{Any, TypeId};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

pub(crate) struct Inner {
    facts: Facts,
    parameters: Vec<(String, f64)>,
    inputs: Vec<String>,
    stated_inputs: Vec<String>,
    coordinates: Names,
    velocities: Names,
    momenta: Names,
    places: Vec<Place>,
    shares: Vec<Share>,
    massive: Vec<String>,
    inverse: Inverse,
    damped: Vec<(usize, usize)>,
    constraints: Vec<(String, Level)>,
    held: Vec<(String, String)>,
    states: Vec<(usize, String)>,
    set: Vec<(usize, usize)>,
    /// By what coordinates are held, each name once.
    holds: Vec<String>,
    declared: Vec<u32>,
    reactions: ReactionLayout,
    constraints_work: bool,
    /// How G M⁻¹ Gᵀ is put together and factored.
    layout: Arc<Layout>,
    has: [bool; Quantity::COUNT],
    pub(crate) repeated: usize,
    energies: Arc<SystemEnergies>,
    lumped: Option<Arc<SystemLumped>>,
    pub(crate) source: Mutex<Source>,
    pub(crate) kernels: [OnceLock<Kernel>; Quantity::COUNT],
    pub(crate) repetitions: [OnceLock<Option<Arc<Repetition>>>; Quantity::COUNT],
    /// Kernels that others have composed of these programs, for each type of keys a map from keys.
    pub(crate) composed: Mutex<HashMap<TypeId, Box<dyn Any + Send>>>,
    /// The same system on fixed branches, if it has switches.
    branches: Option<Branches>,
    /// What is known of the Jacobian of the rates, if it was asked for.
    pub(crate) jacobian: OnceLock<Structure>,
    /// The vector field as its expressions stand, if it was asked for.
    pub(crate) rates: OnceLock<Program>,
    /// Taylor series of the motion, of the orders that were asked for.
    pub(crate) series: Mutex<Vec<Series>>,
}

/// A compiled system: immutable, shared between threads, cheap to clone. [`Dynamics`] evaluates it.
///
/// It borrows nothing from the model. It keeps a copy of the graph with the expressions of every [`Quantity`], and compiles each to a
/// [`Kernel`] when it is first asked for.
#[derive(Clone)]
pub struct System {
    pub(crate) inner: Arc<Inner>,
}

impl System {
    /// Compiles the vector field, so that what cannot be compiled shows now; the rest follows when it is needed.
    pub(crate) fn compile(
        blueprint: Blueprint<'_>,
        branches: Option<Branches>,
    ) -> Result<System, ModelError> {
        let source = Source::new(&blueprint);
        let first =
            [Quantity::Rates, Quantity::MomentumRates].into_iter().find(|&q| source.plan(q).is_some());
        let first = first.unwrap_or(Quantity::Kick);
        let kernel = Kernel::compile(source.program(first)?).map_err(CodeError::from)?;
        let (n, rows) = (blueprint.coordinates.len(), blueprint.constraints.len());
        let layout = Layout::new(n, rows, &blueprint.jacobian, &blueprint.inverse.pattern);
        let system = System {
            inner: Arc::new(Inner {
                facts: blueprint.facts,
                parameters: blueprint.parameters.iter().map(|(p, value)| (p.to_string(), *value)).collect(),
                inputs: blueprint.inputs.iter().map(Expr::to_string).collect(),
                stated_inputs: blueprint.stated_inputs,
                coordinates: Names::of(&blueprint.coordinates),
                velocities: Names::of(&blueprint.velocities),
                momenta: Names::of(&blueprint.momenta),
                places: blueprint.places,
                shares: blueprint.shares,
                massive: blueprint.massive,
                inverse: blueprint.inverse,
                damped: blueprint.damped,
                constraints: blueprint.constraints,
                holds: holds(&blueprint.held),
                held: blueprint.held,
                states: blueprint.states,
                set: blueprint.set,
                declared: blueprint.declared,
                reactions: blueprint.reactions,
                constraints_work: blueprint.constraints_work,
                layout: Arc::new(layout),
                has: source.planned(),
                repeated: blueprint.repeated,
                energies: blueprint.energies,
                lumped: blueprint.lumped,
                source: Mutex::new(source),
                kernels: [const { OnceLock::new() }; Quantity::COUNT],
                repetitions: [const { OnceLock::new() }; Quantity::COUNT],
                composed: Mutex::default(),
                branches,
                jacobian: OnceLock::new(),
                rates: OnceLock::new(),
                series: Mutex::new(Vec::new()),
            }),
        };
        system.inner.kernels[first as usize].get_or_init(|| kernel);
        Ok(system)
    }

    /// Whether this is the same compiled system, shared.
    #[must_use]
    pub fn is_same(&self, other: &System) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// The number of coordinates; for a port-Hamiltonian system, of states.
    #[must_use]
    pub fn degrees(&self) -> usize {
        self.inner.coordinates.len()
    }

    /// The length of a state block: coordinates and momenta.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.inner.coordinates.len() + self.inner.momenta.len()
    }

    /// What was found out from the expressions.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.inner.facts
    }

    /// The names of the parameters and their defaults.
    #[must_use]
    pub fn parameters(&self) -> &[(String, f64)] {
        &self.inner.parameters
    }

    /// The names of the inputs, without those that are [stated](crate::Model::stated_input).
    #[must_use]
    pub fn inputs(&self) -> &[String] {
        &self.inner.inputs
    }

    /// The names of inputs that the model states.
    #[must_use]
    pub fn stated_inputs(&self) -> &[String] {
        &self.inner.stated_inputs
    }

    /// The names of the coordinates.
    #[must_use]
    pub fn coordinates(&self) -> &Names {
        &self.inner.coordinates
    }

    /// The names of the velocities.
    #[must_use]
    pub fn velocities(&self) -> &Names {
        &self.inner.velocities
    }

    /// The names of the momenta; none for a port-Hamiltonian system.
    #[must_use]
    pub fn momenta(&self) -> &Names {
        &self.inner.momenta
    }

    /// The name of a number in the state block: a coordinate or a momentum.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn state_name(&self, index: usize) -> String {
        let n = self.degrees();
        if index < n { self.coordinates().at(index) } else { self.momenta().at(index - n) }
    }

    /// The particles and points whose positions are known, in the order of their declaration.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.inner.places
    }

    /// The names of the constraints and what they demand something of: those of positions come first.
    #[must_use]
    pub fn constraints(&self) -> &[(String, Level)] {
        &self.inner.constraints
    }

    /// The number of constraints of positions.
    #[must_use]
    pub fn position_constraints(&self) -> usize {
        self.inner.constraints.iter().take_while(|(_, level)| *level == Level::Position).count()
    }

    /// Parameters that [events set](crate::Model::settable), by their places, with those of the coordinates whose rates have their values along a run.
    #[must_use]
    pub fn set_by_events(&self) -> &[(usize, usize)] {
        &self.inner.set
    }

    /// The [states](crate::Model::state) of first order: the places of the coordinates whose rates they are, and their names.
    #[must_use]
    pub fn states(&self) -> &[(usize, String)] {
        &self.inner.states
    }

    /// The coordinates that are held, each with the name of what holds it. They are not among the coordinates.
    #[must_use]
    pub fn held(&self) -> &[(String, String)] {
        &self.inner.held
    }

    /// By what coordinates are held, each name once.
    #[must_use]
    pub fn holds(&self) -> &[String] {
        &self.inner.holds
    }

    /// Where the coordinate that was declared as number `declared` in the model, from 0, stands among the coordinates; `None` if it is held.
    #[must_use]
    pub fn place_of(&self, declared: usize) -> Option<usize> {
        match self.inner.declared.get(declared) {
            Some(&place) => Some(place as usize).filter(|&place| place < self.degrees()),
            None => Some(declared).filter(|&place| place < self.degrees()),
        }
    }

    /// Whether all power is known that comes from outside: not if an opaque energy depends on time.
    #[must_use]
    pub fn knows_power(&self) -> bool {
        self.energies().unknown_in_time().is_none()
    }

    /// Whether constraints do work, as they depend on time or drive the motion.
    pub(crate) fn constraints_work(&self) -> bool {
        self.inner.constraints_work
    }

    pub(crate) fn reaction_layout(&self) -> &ReactionLayout {
        &self.inner.reactions
    }

    /// The constraint that holds a coordinate, by the name of the coordinate or of its velocity.
    #[must_use]
    pub fn held_by(&self, name: &str) -> Option<&str> {
        let held = self.held().iter().find(|(held, _)| name.trim_end_matches('\'') == held);
        held.map(|(_, constraint)| constraint.as_str())
    }

    /// The named shares of the energy.
    #[must_use]
    pub fn shares(&self) -> &[Share] {
        &self.inner.shares
    }

    /// The names of what is conserved: `energy`, or `jacobi` where that is another function, and momenta.
    #[must_use]
    pub fn conserved(&self) -> Vec<String> {
        let name = |c: &Conserved| match *c {
            Conserved::Energy if self.inner.facts.jacobi => "jacobi".to_owned(),
            Conserved::Energy => "energy".to_owned(),
            Conserved::Momentum(i) => self.inner.momenta.at(i),
        };
        self.inner.facts.conserved.iter().map(name).collect()
    }

    /// Whether the energy T + V is known to be conserved.
    #[must_use]
    pub fn conserves_energy(&self) -> bool {
        self.conserves_hamiltonian() && !self.inner.facts.jacobi
    }

    /// Whether H is conserved: the energy, or Jacobi's function.
    #[must_use]
    pub fn conserves_hamiltonian(&self) -> bool {
        self.inner.facts.conserved.contains(&Conserved::Energy)
    }

    /// The system with its default parameters and all inputs zero, ready to be evaluated by one thread.
    ///
    /// # Errors
    /// [`SettingError`] if the masses are not positive.
    pub fn dynamics(&self) -> Result<Dynamics, SettingError> {
        Dynamics::new(self.clone())
    }

    /// Whether there is a kernel for a quantity, compiled or not.
    pub(crate) fn has(&self, quantity: Quantity) -> bool {
        self.inner.has[quantity as usize]
    }

    /// How many elements its energies have that are sums over elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        let of = |energy: &SystemEnergy| match &energy.kind {
            SystemEnergyKind::Elements(term) => term.formula.coordinates.len() / term.formula.slots.len(),
            SystemEnergyKind::Opaque(_) => 0,
        };
        self.energies().terms.iter().map(of).sum()
    }

    /// The energies that are no formulas.
    pub(crate) fn energies(&self) -> &Arc<SystemEnergies> {
        &self.inner.energies
    }

    /// Nodes that are computed from numbers.
    pub(crate) fn lumped(&self) -> Option<&Arc<SystemLumped>> {
        self.inner.lumped.as_ref()
    }

    pub(crate) fn branches(&self) -> Option<&Branches> {
        self.inner.branches.as_ref()
    }

    pub(crate) fn massive(&self) -> &[String] {
        &self.inner.massive
    }

    pub(crate) fn inverse(&self) -> &Inverse {
        &self.inner.inverse
    }

    pub(crate) fn layout(&self) -> &Arc<Layout> {
        &self.inner.layout
    }

    /// Where the matrix of [`Dynamics::damping`] may have entries, by row and column.
    #[must_use]
    pub fn damped(&self) -> &[(usize, usize)] {
        &self.inner.damped
    }
}

/// Names of what holds coordinates, each once.
pub(crate) fn holds(held: &[(String, String)]) -> Vec<String> {
    let mut seen = HashSet::new();
    held.iter().filter(|(_, by)| seen.insert(by)).map(|(_, by)| by.clone()).collect()
}

impl fmt::Debug for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "System({}; {})", self.coordinates().join(", "), self.facts().form)
    }
}

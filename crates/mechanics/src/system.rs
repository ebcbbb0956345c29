//! The system: what is compiled from a model.

use crate::constraint::Level;
use crate::constraint::sparse::Layout;
use crate::dynamics::Dynamics;
use crate::element::search::Repetition;
use crate::energy::sum::SystemEnergy;
use crate::equations::symbols_of;
use crate::error::{EvalError, ModelError, ObserveError, SettingError};
use crate::facts::{Facts, Form, Place, Share};
use crate::observe::Observed;
use crate::quantity::Quantity;
use crate::symmetry::Conserved;
use leastaction_compile::{CodeError, Kernel, Program, Series, SeriesError};
use leastaction_expr::{Expr, Graph, Id, jacobian, nearest};
use leastaction_linear::{Pattern, Structure};
use rustc_hash::FxHashMap;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// So many constraints of one form get a kernel of their own. Fewer are two to three times faster in one program, written out one
/// after the other; of more, the code outgrows the second-level cache, and takes seconds to compile.
pub(crate) const REPEATED: usize = 16384;

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

/// Everything a system is made of, as expressions.
pub(crate) struct Blueprint<'g> {
    pub(crate) graph: &'g Graph,
    pub(crate) facts: Facts,
    pub(crate) time: Expr<'g>,
    pub(crate) parameters: Vec<(Expr<'g>, f64)>,
    pub(crate) inputs: Vec<Expr<'g>>,
    /// The names of inputs that are part of the expressions.
    pub(crate) stated_inputs: Vec<String>,
    pub(crate) coordinates: Vec<Expr<'g>>,
    pub(crate) velocities: Vec<Expr<'g>>,
    pub(crate) momenta: Vec<Expr<'g>>,
    pub(crate) places: Vec<Place>,
    pub(crate) shares: Vec<Share>,
    /// The particle of each inertia in [`Quantity::Masses`].
    pub(crate) massive: Vec<String>,
    pub(crate) inverse: Inverse,
    /// Rows and columns of the nonzeros in [`Quantity::Damping`].
    pub(crate) damped: Vec<(usize, usize)>,
    /// Constraints by name, those of positions first.
    pub(crate) constraints: Vec<(String, Level)>,
    /// Coordinates that are held, and by which constraint.
    pub(crate) held: Vec<(String, String)>,
    /// Names, and what they stand for.
    pub(crate) definitions: Vec<(Expr<'g>, Expr<'g>)>,
    /// Rows and columns of the nonzeros in [`Quantity::ConstraintJacobian`].
    pub(crate) jacobian: Vec<(usize, usize)>,
    pub(crate) plans: Vec<(Quantity, Space, Vec<Expr<'g>>)>,
    /// So many constraints of one form get an element map.
    pub(crate) repeated: usize,
    /// Energies that are no formulas.
    pub(crate) energies: Vec<SystemEnergy>,
}

/// How velocities follow from momenta (or momenta from velocities, for a Hamiltonian) where there is no kernel for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inverse {
    /// Rows and columns of the nonzeros in [`Quantity::Inertia`].
    pub(crate) pattern: Vec<(usize, usize)>,
    /// Whether one linear solve does it.
    pub(crate) linear: bool,
    /// Whether elimination needs no pivots.
    pub(crate) definite: bool,
}

struct Plan {
    space: Space,
    outputs: Vec<Id>,
}

struct Inner {
    facts: Facts,
    parameters: Vec<(String, f64)>,
    inputs: Vec<String>,
    stated_inputs: Vec<String>,
    coordinates: Vec<String>,
    velocities: Vec<String>,
    momenta: Vec<String>,
    places: Vec<Place>,
    shares: Vec<Share>,
    massive: Vec<String>,
    inverse: Inverse,
    damped: Vec<(usize, usize)>,
    constraints: Vec<(String, Level)>,
    held: Vec<(String, String)>,
    /// How G M⁻¹ Gᵀ is put together and factored.
    layout: Arc<Layout>,
    has: [bool; Quantity::COUNT],
    repeated: usize,
    energies: Arc<[SystemEnergy]>,
    source: Mutex<Source>,
    kernels: [OnceLock<Kernel>; Quantity::COUNT],
    repetitions: [OnceLock<Option<Arc<Repetition>>>; Quantity::COUNT],
    /// Kernels that others have composed of these programs, for each type of keys a map from keys.
    composed: Mutex<HashMap<TypeId, Box<dyn Any + Send>>>,
    /// What is known of the Jacobian of the rates, if it was asked for.
    jacobian: OnceLock<Structure>,
    /// The vector field as its expressions stand, if it was asked for.
    rates: OnceLock<Program>,
    /// Taylor series of the motion, of the orders that were asked for.
    series: Mutex<Vec<Series>>,
}

/// Jacobians of so many rows are kept whole, whatever their structure: elimination by rows is as fast, and rounds as it always did.
const DENSE: usize = 64;
/// And of so many, if they have no structure. Beyond, a matrix would be a hundred megabytes, and its factors take seconds.
const MOST_DENSE: usize = 2048;

/// The expressions, with a graph of their own.
pub(crate) struct Source {
    pub(crate) graph: Graph,
    plans: [Option<Plan>; Quantity::COUNT],
    pub(crate) coordinates: Vec<Id>,
    pub(crate) velocities: Vec<Id>,
    pub(crate) momenta: Vec<Id>,
    pub(crate) time: Id,
    pub(crate) inputs: Vec<Id>,
    autonomous: bool,
    pub(crate) parameters: Vec<Id>,
    /// Names, and what they stand for.
    definitions: Vec<(Id, Id)>,
}

/// A compiled system: immutable, shared between threads, cheap to clone. [`Dynamics`] evaluates it.
///
/// It borrows nothing from the model. It keeps a copy of the graph with the expressions of every [`Quantity`], and compiles each to a
/// [`Kernel`] when it is first asked for.
#[derive(Clone)]
pub struct System {
    inner: Arc<Inner>,
}

impl System {
    /// Compiles the vector field, so that what cannot be compiled shows now; the rest follows when it is needed.
    pub(crate) fn compile(blueprint: Blueprint<'_>) -> Result<System, ModelError> {
        let names = |list: &[Expr<'_>]| list.iter().map(Expr::to_string).collect::<Vec<_>>();
        let ids = |list: &[Expr<'_>]| list.iter().map(|e| e.id()).collect::<Vec<_>>();
        let mut plans = [const { None }; Quantity::COUNT];
        for (quantity, space, outputs) in &blueprint.plans {
            plans[*quantity as usize] = Some(Plan { space: *space, outputs: ids(outputs) });
        }
        let source = Source {
            graph: blueprint.graph.clone(),
            plans,
            coordinates: ids(&blueprint.coordinates),
            velocities: ids(&blueprint.velocities),
            momenta: ids(&blueprint.momenta),
            time: blueprint.time.id(),
            inputs: ids(&blueprint.inputs),
            autonomous: blueprint.facts.autonomous,
            parameters: blueprint.parameters.iter().map(|(p, _)| p.id()).collect(),
            definitions: blueprint.definitions.iter().map(|(name, value)| (name.id(), value.id())).collect(),
        };
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
                inputs: names(&blueprint.inputs),
                stated_inputs: blueprint.stated_inputs,
                coordinates: names(&blueprint.coordinates),
                velocities: names(&blueprint.velocities),
                momenta: names(&blueprint.momenta),
                places: blueprint.places,
                shares: blueprint.shares,
                massive: blueprint.massive,
                inverse: blueprint.inverse,
                damped: blueprint.damped,
                constraints: blueprint.constraints,
                held: blueprint.held,
                layout: Arc::new(layout),
                has: std::array::from_fn(|i| source.plans[i].is_some()),
                repeated: blueprint.repeated,
                energies: blueprint.energies.into(),
                source: Mutex::new(source),
                kernels: [const { OnceLock::new() }; Quantity::COUNT],
                repetitions: [const { OnceLock::new() }; Quantity::COUNT],
                composed: Mutex::default(),
                jacobian: OnceLock::new(),
                rates: OnceLock::new(),
                series: Mutex::new(Vec::new()),
            }),
        };
        system.inner.kernels[first as usize].get_or_init(|| kernel);
        Ok(system)
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
    pub fn coordinates(&self) -> &[String] {
        &self.inner.coordinates
    }

    /// The names of the velocities.
    #[must_use]
    pub fn velocities(&self) -> &[String] {
        &self.inner.velocities
    }

    /// The names of the momenta; none for a port-Hamiltonian system.
    #[must_use]
    pub fn momenta(&self) -> &[String] {
        &self.inner.momenta
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

    /// The coordinates that are held, each with the name of the constraint that holds it. They are not among the coordinates.
    #[must_use]
    pub fn held(&self) -> &[(String, String)] {
        &self.inner.held
    }

    /// The named shares of the energy.
    #[must_use]
    pub fn shares(&self) -> &[Share] {
        &self.inner.shares
    }

    /// The names of what is conserved: `energy`, or a momentum.
    #[must_use]
    pub fn conserved(&self) -> Vec<&str> {
        let name = |c: &Conserved| match *c {
            Conserved::Energy => "energy",
            Conserved::Momentum(i) => self.inner.momenta[i].as_str(),
        };
        self.inner.facts.conserved.iter().map(name).collect()
    }

    /// The system with its default parameters and all inputs zero, ready to be evaluated by one thread.
    ///
    /// # Errors
    /// [`SettingError`] if the masses are not positive.
    pub fn dynamics(&self) -> Result<Dynamics, SettingError> {
        Dynamics::new(self.clone())
    }

    /// How the Jacobian of the rates is kept: few numbers whole, more by where the rates depend on the state, if they are known as expressions
    /// that depend on little each; and of many that do not, products only.
    #[must_use]
    pub fn jacobian_structure(&self) -> Structure {
        self.inner.jacobian.get_or_init(|| self.find_structure()).clone()
    }

    fn find_structure(&self) -> Structure {
        let d = self.dimension();
        if d <= DENSE {
            return Structure::Dense(d);
        }
        let pattern = self.with_source(Source::dependence).filter(|pattern| pattern.len() <= d * d / 8);
        match pattern {
            Some(pattern) if self.facts().symbolic => Structure::Sparse(Arc::new(pattern)),
            _ if d <= MOST_DENSE => Structure::Dense(d),
            _ => Structure::Free(d),
        }
    }

    /// The kernel of a quantity, compiled if this is the first time it is asked for.
    ///
    /// # Errors
    /// [`EvalError::Undefined`] if the system has no such kernel; [`EvalError::NoFormula`] if an energy in it is not a formula.
    pub fn kernel(&self, quantity: Quantity) -> Result<Kernel, EvalError> {
        match self.energies().first().filter(|_| quantity.has_potentials()) {
            Some(energy) => Err(EvalError::NoFormula { what: quantity.name(), energy: energy.name.clone() }),
            None => self.formula_kernel(quantity),
        }
    }

    /// The kernel of what formulas give to a quantity.
    pub(crate) fn formula_kernel(&self, quantity: Quantity) -> Result<Kernel, EvalError> {
        let cell = &self.inner.kernels[quantity as usize];
        if let Some(kernel) = cell.get() {
            return Ok(kernel.clone());
        }
        let structure = (quantity == Quantity::Jacobian).then(|| self.jacobian_structure());
        let program = {
            let mut source = self.inner.source.lock().unwrap_or_else(PoisonError::into_inner);
            source.derive(quantity, self.facts(), &self.inner.layout, structure.as_ref());
            let undefined = EvalError::Undefined { what: quantity.name(), form: self.facts().form };
            source.plan(quantity).ok_or(undefined)?;
            source.program(quantity)
        };
        let what = quantity.name();
        let compile = if quantity.is_rare() { Kernel::compile_lightly } else { Kernel::compile };
        let kernel = program.and_then(|program| Ok(compile(program)?));
        let kernel = kernel.map_err(|source| EvalError::Compile { what, source })?;
        Ok(cell.get_or_init(|| kernel).clone())
    }

    /// The element maps of constraints, where there are many of the same form.
    pub(crate) fn repetition(&self, quantity: Quantity) -> Result<Option<Arc<Repetition>>, EvalError> {
        use Quantity::{ConstraintBias, ConstraintJacobian, ConstraintRates, Constraints};
        if !matches!(quantity, ConstraintBias | ConstraintRates | ConstraintJacobian | Constraints) {
            return Ok(None);
        }
        let cell = &self.inner.repetitions[quantity as usize];
        if let Some(repetition) = cell.get() {
            return Ok(repetition.clone());
        }
        let found = self.with_source(|source| {
            let Some(plan) = source.plan(quantity) else { return Ok(None) };
            let (inputs, outputs) =
                (source.expressions(&source.inputs_of(plan)), source.expressions(&plan.outputs));
            // The derivatives of a constraint have much in common.
            let ends: Vec<usize> = match quantity {
                ConstraintJacobian => {
                    (0..self.layout().rows).map(|row| self.layout().jacobian.row(row).end).collect()
                }
                _ => (1..=outputs.len()).collect(),
            };
            let parameters = source.expressions(&source.parameters);
            Repetition::find(&inputs, &parameters, &outputs, &ends, self.inner.repeated)
        });
        let found = found.map_err(|source| EvalError::Compile { what: quantity.name(), source })?;
        Ok(cell.get_or_init(|| found.map(Arc::new)).clone())
    }

    /// A kernel made of this system's programs, such as a whole step of a method. It is made when it is first asked for by this key. Who makes
    /// kernels has a type for the keys, so that no other's are the same.
    ///
    /// # Errors
    /// What `make` says.
    pub fn composed_kernel<K: Eq + Hash + Send + 'static>(
        &self,
        key: K,
        make: impl FnOnce() -> Result<Kernel, EvalError>,
    ) -> Result<Kernel, EvalError> {
        if let Some(kernel) = self.kernels_by(|map: &mut HashMap<K, Kernel>| map.get(&key).cloned()) {
            return Ok(kernel);
        }
        let kernel = make()?;
        Ok(self.kernels_by(|map| map.entry(key).or_insert(kernel).clone()))
    }

    fn kernels_by<K: 'static + Send, T>(&self, act: impl FnOnce(&mut HashMap<K, Kernel>) -> T) -> T {
        let mut composed = self.inner.composed.lock().unwrap_or_else(PoisonError::into_inner);
        let map = composed.entry(TypeId::of::<K>()).or_insert_with(|| Box::new(HashMap::<K, Kernel>::new()));
        map.downcast_mut().map_or_else(|| unreachable!("a map stands under the type of its keys"), act)
    }

    /// The vector field as its expressions stand. A series has its own way to write polynomials, for what a product costs is different there.
    ///
    /// # Errors
    /// [`EvalError::Undefined`] if the vector field is not in closed form; [`EvalError::NoFormula`] if an energy is not a formula.
    pub fn rates_program(&self) -> Result<&Program, EvalError> {
        if let Some(rates) = self.inner.rates.get() {
            return Ok(rates);
        }
        self.kernel(Quantity::Rates)?;
        let rates = self.with_source(|source| source.plain(Quantity::Rates));
        let rates = rates.map_err(|source| EvalError::Compile { what: Quantity::Rates.name(), source })?;
        Ok(self.inner.rates.get_or_init(|| rates))
    }

    /// The Taylor series of the motion up to an order, compiled if this is the first time it is asked for.
    ///
    /// # Errors
    /// [`EvalError::Undefined`] if the vector field is not in closed form.
    pub fn series(&self, order: usize) -> Result<Series, EvalError> {
        let mut known = self.inner.series.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = known.iter().find(|series| series.order() == order) {
            return Ok(series.clone());
        }
        let failed = |e: SeriesError| EvalError::Compile { what: "Taylor series", source: e.into() };
        let series = Series::new(self.rates_program()?, self.dimension(), order).map_err(failed)?;
        known.push(series.clone());
        Ok(series)
    }

    /// A kernel for an expression of \[q…, p…, v…, t, u…\].
    pub(crate) fn observation(&self, what: Observed<'_>) -> Result<Kernel, ObserveError> {
        self.with_source(|source| {
            let value = source.read(what)?;
            Ok(source.kernel(&source.expressions(&source.observed()), &[value])?)
        })
    }

    /// Looks at the expressions.
    pub(crate) fn with_source<T>(&self, look: impl FnOnce(&Source) -> T) -> T {
        look(&self.inner.source.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether there is a kernel for a quantity, compiled or not.
    pub(crate) fn has(&self, quantity: Quantity) -> bool {
        self.inner.has[quantity as usize]
    }

    /// The energies that are no formulas.
    pub(crate) fn energies(&self) -> &Arc<[SystemEnergy]> {
        &self.inner.energies
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

    /// Where the matrix of [`Dynamics::damping`] has entries, by row and column.
    #[must_use]
    pub fn damped(&self) -> &[(usize, usize)] {
        &self.inner.damped
    }
}

impl Source {
    fn plan(&self, quantity: Quantity) -> Option<&Plan> {
        self.plans[quantity as usize].as_ref()
    }

    pub(crate) fn expressions(&self, ids: &[Id]) -> Vec<Expr<'_>> {
        ids.iter().map(|&id| self.graph.at(id)).collect()
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
    fn observed(&self) -> Vec<Id> {
        [&self.coordinates, &self.momenta, &self.velocities, &[self.time][..], &self.inputs].concat()
    }

    /// A kernel for expressions of inputs and parameters.
    pub(crate) fn kernel(&self, inputs: &[Expr<'_>], outputs: &[Expr<'_>]) -> Result<Kernel, CodeError> {
        Ok(Kernel::compile(Program::build(inputs, &self.expressions(&self.parameters), outputs)?)?)
    }

    /// An expression of what can be observed, of parameters, and of names defined by these.
    pub(crate) fn read(&self, what: Observed<'_>) -> Result<Expr<'_>, ObserveError> {
        let value = match what {
            Observed::Text(text) => self.graph.parse(text)?,
            Observed::Value(value) => self.graph.adopt(value),
        };
        let defined =
            self.definitions.iter().map(|&(name, value)| (self.graph.at(name), self.graph.at(value)));
        let defined: Vec<_> = defined.collect();
        let value = value.substitute(&defined);
        let known = self.expressions(&[self.observed().as_slice(), &self.parameters].concat());
        if let Some(unknown) = symbols_of(&[value]).into_iter().find(|symbol| !known.contains(symbol)) {
            let names: Vec<String> =
                known.iter().chain(defined.iter().map(|(name, _)| name)).map(Expr::to_string).collect();
            let name = unknown.to_string();
            let nearest = nearest(&name, names.iter().map(String::as_str));
            return Err(ObserveError::UnknownName { name, nearest });
        }
        Ok(value)
    }

    /// The program of a quantity; of few instructions for those that steps are made of.
    fn program(&self, quantity: Quantity) -> Result<Program, CodeError> {
        use Quantity::{Accelerations, Drift, Kick, Rates};
        let [inputs, parameters, outputs] = self.parts(quantity);
        match quantity {
            Rates | Drift | Kick | Accelerations => Ok(Program::lean(&inputs, &parameters, &outputs)?),
            _ => self.plain(quantity),
        }
    }

    /// The program of a quantity as its expressions stand.
    fn plain(&self, quantity: Quantity) -> Result<Program, CodeError> {
        let [inputs, parameters, outputs] = self.parts(quantity);
        Ok(Program::build(&inputs, &parameters, &outputs)?)
    }

    /// Inputs, parameters and outputs.
    fn parts(&self, quantity: Quantity) -> [Vec<Expr<'_>>; 3] {
        let (mut inputs, mut outputs): (Vec<Id>, &[Id]) = (Vec::new(), &[]);
        if let Some(plan) = self.plan(quantity) {
            (inputs, outputs) = (self.inputs_of(plan), &plan.outputs);
        }
        [&inputs, &self.parameters, outputs].map(|ids| self.expressions(ids))
    }

    /// What a kernel reads: coordinates with momenta or velocities, then time and inputs unless the system is autonomous.
    fn inputs_of(&self, plan: &Plan) -> Vec<Id> {
        let moving: &[Id] = match plan.space {
            Space::Phase => &self.momenta,
            Space::Configuration => &self.velocities,
            Space::Parameters => return Vec::new(),
        };
        let driven: &[Id] =
            if self.autonomous { &[] } else { &[&[self.time], self.inputs.as_slice()].concat() };
        [&self.coordinates, moving, driven].concat()
    }

    /// Which rates depend on which parts of the state, and each on itself; nothing where that is more than a few for each expression.
    fn dependence(&self) -> Option<Pattern> {
        /// So many parts of the state per expression, on average, are few.
        const FEW: usize = 32;
        let outputs = &self.plan(Quantity::Rates)?.outputs;
        let state = [self.coordinates.as_slice(), &self.momenta].concat();
        let columns: FxHashMap<Id, u32> = state.iter().enumerate().map(|(k, &id)| (id, k as u32)).collect();
        let order = self.graph.order(outputs);
        let (mut sets, mut count): (FxHashMap<Id, Vec<u32>>, usize) = (FxHashMap::default(), 0);
        for &id in &order {
            let mut set: Vec<u32> = columns.get(&id).copied().into_iter().collect();
            for argument in self.graph.node(id).arguments() {
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
    fn derive(&mut self, quantity: Quantity, facts: &Facts, layout: &Layout, structure: Option<&Structure>) {
        if self.plan(quantity).is_some() {
            return;
        }
        let outputs = |quantity: Quantity| self.outputs(quantity);
        let (q, p, v) =
            (&self.coordinates, self.expressions(&self.momenta), self.expressions(&self.velocities));
        let q = self.expressions(q);
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
            // Φ̇ depends on the coordinates that Φ depends on, and so does G.
            Quantity::ConstraintRateJacobian if facts.holonomic => {
                let derivatives = outputs(Quantity::ConstraintRates).map(|rates| {
                    let mut derivatives = vec![self.graph.number(0.0); layout.jacobian.len()];
                    for entry in jacobian(&rates, &q) {
                        let place = layout.jacobian.find(entry.row, entry.column);
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
fn dense<'g>(graph: &'g Graph, outputs: &[Expr<'g>], variables: &[Expr<'g>]) -> Vec<Expr<'g>> {
    let mut entries = vec![graph.number(0.0); outputs.len() * variables.len()];
    for entry in jacobian(outputs, variables) {
        entries[entry.row * variables.len() + entry.column] = entry.value;
    }
    entries
}

impl fmt::Debug for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "System({}; {})", self.coordinates().join(", "), self.facts().form)
    }
}

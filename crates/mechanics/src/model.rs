//! The model: what a person writes.

mod inputs;

use crate::body::Bodies;
use crate::constraint::angle::proportions;
use crate::energy::dissipation::{Dissipation, ElementDissipation, IntoDissipation};
use crate::energy::{IntoEnergy, Potential};
use crate::equations::{Equations, rate, symbols_of};
use crate::error::ModelError;
use crate::held::Hold;
use crate::lumped::Lumped;
use crate::names::momentum_of;
use crate::system::System;
use leastaction_expr::{BlockError, Expr, Glossary, Graph, Id, IntoExpr, SymbolBlock, jvp, rebind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;

/// A named term of an energy.
#[derive(Clone, Debug)]
pub struct Term<'g> {
    /// The name under which its share is reported.
    pub name: String,
    /// The energy.
    pub value: Expr<'g>,
}

/// A particle: an inertia for each Cartesian coordinate, and a position.
#[derive(Clone, Debug)]
pub struct Particle<'g> {
    /// The name.
    pub name: String,
    /// The inertia of each Cartesian coordinate; for an ordinary particle its mass, repeated. Empty for a point that
    /// has a position but no mass.
    pub inertias: Vec<Expr<'g>>,
    /// The Cartesian position as a function of the coordinates and time.
    pub position: Vec<Expr<'g>>,
}

rebind!(Term { value; name });
rebind!(Particle { inertias, position; name });

/// A mechanical model: coordinates and energies, in any combination.
///
/// The Lagrangian is the sum of what is declared: kinetic energies (of particles, and written directly) less potential energies
/// (written directly, and of particles in gravity) plus Lagrangian terms. A model may instead state a
/// Hamiltonian; potentials add to it. Dissipation and forces act on either.
///
/// Nothing is checked while a model is written; [`Model::system`] checks everything at once.
///
/// A model borrows the graph of its expressions. Where it must be kept, [`Owned`](leastaction_expr::Owned) holds both.
#[derive(Clone, Debug)]
pub struct Model<'g> {
    pub(crate) graph: &'g Graph,
    pub(crate) time: Expr<'g>,
    pub(crate) parameters: Vec<(Expr<'g>, f64)>,
    /// The same, to be found quickly.
    pub(crate) defaults: FxHashMap<Id, f64>,
    pub(crate) definitions: Vec<(Expr<'g>, Expr<'g>)>,
    pub(crate) coordinates: Vec<Expr<'g>>,
    pub(crate) momenta: Vec<Expr<'g>>,
    pub(crate) inputs: Vec<Expr<'g>>,
    /// Inputs that are stated, with what they are.
    pub(crate) stated_inputs: Vec<(Expr<'g>, Expr<'g>)>,
    pub(crate) particles: Vec<Particle<'g>>,
    /// Particles that have their energies together: nodes of one name.
    pub(crate) groups: Vec<(String, Range<usize>)>,
    /// Nodes whose masses are numbers.
    pub(crate) lumped: Vec<Lumped<'g>>,
    pub(crate) bodies: Bodies<'g>,
    /// The sum of all gravity, and the dimensions of each part of it.
    pub(crate) gravity: Vec<Expr<'g>>,
    pub(crate) gravity_dimensions: Vec<usize>,
    pub(crate) kinetic: Vec<Term<'g>>,
    pub(crate) potential: Vec<Potential<'g>>,
    pub(crate) lagrangian: Vec<Term<'g>>,
    pub(crate) hamiltonian: Vec<Term<'g>>,
    pub(crate) dissipation: Vec<Term<'g>>,
    /// Dissipation over elements.
    pub(crate) losses: Vec<ElementDissipation<'g>>,
    pub(crate) forces: Vec<(Expr<'g>, Expr<'g>)>,
    /// States of first order: the coordinate whose rate each is, and the rate of the state.
    pub(crate) states: Vec<(Expr<'g>, Expr<'g>)>,
    /// Parameters and inputs that events set: the symbol, and the coordinate of the state that has its value.
    pub(crate) set: Vec<(Expr<'g>, Expr<'g>)>,
    /// What must be zero.
    pub(crate) constraints: Vec<Term<'g>>,
    /// Coordinates that are to be held.
    pub(crate) holds: Vec<Hold<'g>>,
    /// Coordinates that are held, with the name of what holds them: they have become definitions.
    pub(crate) held: Vec<(Expr<'g>, String)>,
    /// All coordinates as they were declared, if some are held.
    pub(crate) declared: Vec<Expr<'g>>,
    /// Defined names, and their rates, with what they stand for; known once the model is resolved.
    pub(crate) known: Vec<(Expr<'g>, Expr<'g>)>,
    /// What names mean in expressions that are read later.
    pub(crate) names: Arc<Glossary<'g>>,
}

rebind!(Model {
    graph, time, parameters, definitions, coordinates, momenta, inputs, stated_inputs, particles, lumped, bodies, gravity, kinetic, potential, lagrangian,
    hamiltonian, dissipation, losses, forces, states, set, constraints, holds, held, declared, known, names;
    defaults, gravity_dimensions, groups
});

impl<'g> Model<'g> {
    /// An empty model whose expressions live in this graph. Time is the symbol `t`.
    #[must_use]
    pub fn new(graph: &'g Graph) -> Model<'g> {
        Model {
            graph,
            time: graph.symbol("t"),
            parameters: Vec::new(),
            defaults: FxHashMap::default(),
            definitions: Vec::new(),
            coordinates: Vec::new(),
            momenta: Vec::new(),
            inputs: Vec::new(),
            stated_inputs: Vec::new(),
            particles: Vec::new(),
            groups: Vec::new(),
            lumped: Vec::new(),
            bodies: Bodies::default(),
            gravity: Vec::new(),
            gravity_dimensions: Vec::new(),
            kinetic: Vec::new(),
            potential: Vec::new(),
            lagrangian: Vec::new(),
            hamiltonian: Vec::new(),
            dissipation: Vec::new(),
            losses: Vec::new(),
            forces: Vec::new(),
            states: Vec::new(),
            set: Vec::new(),
            constraints: Vec::new(),
            holds: Vec::new(),
            held: Vec::new(),
            declared: Vec::new(),
            known: Vec::new(),
            names: Arc::default(),
        }
    }

    /// The graph of the model's expressions.
    #[must_use]
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// A number as an expression.
    #[must_use]
    pub fn number(&self, value: f64) -> Expr<'g> {
        self.graph.number(value)
    }

    /// Time, the symbol `t`.
    #[must_use]
    pub fn time(&self) -> Expr<'g> {
        self.time
    }

    /// Declares a parameter and its default.
    pub fn parameter(&mut self, name: &str, value: f64) -> Expr<'g> {
        let symbol = self.graph.symbol(name);
        self.parameters.push((symbol, value));
        self.defaults.insert(symbol.id(), value);
        symbol
    }

    /// Gives an expression a name. The name may be used before it is defined, and so may its time derivative.
    pub fn define(&mut self, name: &str, value: impl IntoExpr<'g>) -> Expr<'g> {
        let symbol = self.graph.symbol(name);
        self.definitions.push((symbol, value.into_expr(self.graph)));
        symbol
    }

    /// Says what names mean in texts of expressions that are [observed](crate::Dynamics::observable), besides what the model knows by itself.
    pub fn set_names(&mut self, names: Glossary<'g>) {
        self.names = Arc::new(names);
    }

    /// Declares parameters and their defaults.
    pub fn parameters<const N: usize>(&mut self, list: [(&str, f64); N]) -> [Expr<'g>; N] {
        list.map(|(name, value)| self.parameter(name, value))
    }

    /// Declares as many parameters as there are, and their defaults.
    pub fn parameter_list(&mut self, list: &[(impl AsRef<str>, f64)]) -> Vec<Expr<'g>> {
        list.iter().map(|(name, value)| self.parameter(name.as_ref(), *value)).collect()
    }

    /// Declares a coordinate.
    pub fn coordinate(&mut self, name: &str) -> Expr<'g> {
        let symbol = self.graph.symbol(name);
        self.coordinates.push(symbol);
        symbol
    }

    /// Declares coordinates.
    pub fn coordinates<const N: usize>(&mut self, names: [&str; N]) -> [Expr<'g>; N] {
        names.map(|name| self.coordinate(name))
    }

    /// Declares as many coordinates as there are names.
    pub fn coordinate_list(&mut self, names: &[impl AsRef<str>]) -> Vec<Expr<'g>> {
        names.iter().map(|name| self.coordinate(name.as_ref())).collect()
    }

    /// Declares many coordinates under one name: so many members, each with these components, or none if each is one coordinate. Their
    /// names, `rope[17].x`, are made when they are needed; their velocities are `rope[17].x'`, and their momenta
    /// `p_rope[17].x`.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_mechanics::Model;
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let rope = model.coordinate_block("rope", 10, &["x", "y"])?;
    /// for i in 0..rope.count() {
    ///     model.particle(&format!("bead {i}"), 0.1, [rope.symbol(i, 0), rope.symbol(i, 1)]);
    /// }
    /// let mut dynamics = model.system()?.dynamics()?;
    /// let state = dynamics.start(&[("rope[3].y", 0.5), ("rope[3].x'", 2.0)])?;
    /// assert_eq!((state.q[7], state.p[6]), (0.5, 0.2));
    /// assert_eq!(dynamics.system().momenta().at(6), "p_rope[3].x");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BlockError`] if the name, or one of theirs, is of something else already.
    pub fn coordinate_block(
        &mut self,
        name: &str,
        count: usize,
        components: &[&str],
    ) -> Result<SymbolBlock<'g>, BlockError> {
        let block = self.graph.block(name, count, components)?;
        self.coordinates.extend(block.symbols());
        Ok(block)
    }

    /// The coordinates that are declared so far.
    #[must_use]
    pub fn declared_coordinates(&self) -> &[Expr<'g>] {
        &self.coordinates
    }

    /// How many coordinates are declared so far: the index of the next.
    #[must_use]
    pub fn coordinate_count(&self) -> usize {
        self.coordinates.len()
    }

    /// Takes a potential energy out again; whether there was one of this name.
    pub fn remove_potential(&mut self, name: &str) -> bool {
        let before = self.potential.len();
        self.potential.retain(|potential| potential.name != name);
        self.potential.len() < before
    }

    /// The index of a coordinate among those that are declared so far.
    #[must_use]
    pub fn coordinate_index(&self, coordinate: Expr<'g>) -> Option<usize> {
        self.coordinates.iter().position(|other| *other == coordinate)
    }

    /// The velocity of a coordinate, `x'` for `x`; of any expression its rate of change along the motion, where time passes at
    /// rate 1 and the parameters declared so far are constant.
    ///
    /// The rate of a velocity would be an acceleration, and an input has none: [`Model::system`] then says that `x''`, or
    /// `u'`, is not declared.
    ///
    /// ```
    /// # let graph = leastaction_expr::Graph::new();
    /// # let mut model = leastaction_mechanics::Model::new(&graph);
    /// let l = model.parameter("l", 1.0);
    /// let theta = model.coordinate("theta");
    /// assert_eq!(model.velocity(l * theta.sin()).to_string(), "theta'*cos(theta)*l");
    /// ```
    #[must_use]
    pub fn velocity(&self, expression: Expr<'g>) -> Expr<'g> {
        let expression = self.graph.adopt(expression);
        let passing = |symbol: Expr<'g>| match symbol {
            time if time == self.time => time.like(1.0),
            constant if self.defaults.contains_key(&constant.id()) => constant.like(0.0),
            moving => rate(moving),
        };
        let direction: Vec<_> = symbols_of(&[expression]).into_iter().map(|s| (s, passing(s))).collect();
        jvp(&[expression], &direction).first().copied().unwrap_or_else(|| self.number(0.0))
    }

    /// The velocities of coordinates, or the rates of change of expressions, as [`Model::velocity`] gives them.
    #[must_use]
    pub fn velocities<const N: usize>(&self, expressions: [Expr<'g>; N]) -> [Expr<'g>; N] {
        expressions.map(|e| self.velocity(e))
    }

    /// Names the momentum of the next coordinate that has none yet, for use in a Hamiltonian. Momenta without a name are
    /// called `p_` and the coordinate's name.
    pub fn momentum(&mut self, name: &str) -> Expr<'g> {
        let symbol = self.graph.symbol(name);
        self.momenta.push(symbol);
        symbol
    }

    /// Names the momenta of the coordinates, in their order.
    pub fn momenta<const N: usize>(&mut self, names: [&str; N]) -> [Expr<'g>; N] {
        names.map(|name| self.momentum(name))
    }

    /// Names as many momenta as there are names.
    pub fn momentum_list(&mut self, names: &[impl AsRef<str>]) -> Vec<Expr<'g>> {
        names.iter().map(|name| self.momentum(name.as_ref())).collect()
    }

    /// Adds a particle of a mass at a position in 1, 2 or 3 dimensions.
    pub fn particle(&mut self, name: &str, mass: impl IntoExpr<'g>, position: impl AsRef<[Expr<'g>]>) {
        let (mass, position) = (mass.into_expr(self.graph), position.as_ref());
        self.particle_with_inertias(name, vec![mass; position.len()], position);
    }

    /// Adds a particle with an inertia for each Cartesian coordinate.
    pub fn particle_with_inertias<M: IntoExpr<'g> + Copy>(
        &mut self,
        name: &str,
        inertias: impl AsRef<[M]>,
        position: impl AsRef<[Expr<'g>]>,
    ) {
        let inertias: Vec<_> = inertias.as_ref().iter().map(|m| m.into_expr(self.graph)).collect();
        let position = position.as_ref().to_vec();
        self.push_particle(Particle { name: name.into(), inertias, position });
    }

    /// Adds a point without mass, whose position is reported with those of the particles.
    pub fn point(&mut self, name: &str, position: impl AsRef<[Expr<'g>]>) {
        let position = position.as_ref().to_vec();
        self.push_particle(Particle { name: name.into(), inertias: Vec::new(), position });
    }

    /// Adds a particle as it is.
    pub fn push_particle(&mut self, particle: Particle<'g>) {
        self.particles.push(particle);
    }

    /// The particles, the points and the centres of bodies, in the order in which they were added.
    #[must_use]
    pub fn particles(&self) -> &[Particle<'g>] {
        &self.particles
    }

    /// Puts all particles into uniform gravity with this acceleration, such as `[0.0, -9.81]`. It adds to what was given before.
    pub fn gravity<A: IntoExpr<'g> + Copy>(&mut self, acceleration: impl AsRef<[A]>) {
        let acceleration = acceleration.as_ref();
        self.gravity_dimensions.push(acceleration.len());
        self.gravity.resize(self.gravity.len().max(acceleration.len()), self.number(0.0));
        for (sum, a) in self.gravity.iter_mut().zip(acceleration) {
            *sum += a.into_expr(self.graph);
        }
    }

    /// Adds a kinetic energy T(q, q̇, t).
    pub fn kinetic(&mut self, name: &str, energy: impl IntoExpr<'g>) {
        self.kinetic.push(self.term(name, energy));
    }

    /// Adds a potential energy V(q, t): an expression, one expression over many [`Elements`](crate::Elements), or an
    /// [`Opaque`](crate::Opaque) energy. Cartesian positions of particles are expressions of the coordinates too.
    pub fn potential(&mut self, name: &str, energy: impl IntoEnergy<'g>) {
        self.potential.push(Potential { name: name.into(), energy: energy.into_energy(self.graph) });
    }

    /// Adds a term to the Lagrangian, of any form in q̇.
    pub fn lagrangian(&mut self, name: &str, value: impl IntoExpr<'g>) {
        self.lagrangian.push(self.term(name, value));
    }

    /// Adds a term to the Hamiltonian H(q, p, t).
    pub fn hamiltonian(&mut self, name: &str, value: impl IntoExpr<'g>) {
        self.hamiltonian.push(self.term(name, value));
    }

    /// Adds a Rayleigh dissipation function D(q, q̇): the force −∂D/∂q̇. It is an expression, or one expression over many
    /// [`Elements`](crate::Elements), in which the velocity of a slot is its [rate](Expr::dot).
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_mechanics::{Elements, Model};
    /// // Dampers between neighbours in a row.
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let row = model.coordinate_block("row", 3, &[])?;
    /// (0..3).for_each(|i| model.particle(&format!("bead {i}"), 1.0, [row.symbol(i, 0)]));
    /// let [a, b] = graph.symbols(["a", "b"]);
    /// let apart = model.velocity(b - a);
    /// model.dissipation("dampers", Elements {
    ///     energy: 0.5 * 2.0 * apart * apart,
    ///     slots: vec![a, b],
    ///     coordinates: [0, 1, 1, 2].into(),
    ///     constants: vec![],
    ///     values: [].into(),
    ///     implicit: vec![],
    /// });
    /// let mut dynamics = model.system()?.dynamics()?;
    /// let (state, mut rates, mut power) = ([0.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0; 6], [0.0]);
    /// dynamics.rates(&[0.0], &state, &mut rates)?;
    /// dynamics.dissipated_power(&[0.0], &state, &mut power)?;
    /// assert_eq!((&rates[3..], power), (&[-2.0, 2.0, 0.0][..], [2.0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dissipation(&mut self, name: &str, value: impl IntoDissipation<'g>) {
        let name = name.to_owned();
        match value.into_dissipation(self.graph) {
            Dissipation::Formula(value) => self.dissipation.push(Term { name, value }),
            Dissipation::Elements(elements) => self.losses.push(ElementDissipation { name, elements }),
        }
    }

    /// Adds a generalized force Q(q, q̇, t) on a coordinate.
    pub fn force(&mut self, coordinate: Expr<'g>, value: impl IntoExpr<'g>) {
        self.forces.push((coordinate, value.into_expr(self.graph)));
    }

    /// Demands that two expressions of coordinates, time and parameters are equal; or, if velocities appear, that the motion
    /// obeys a relation which is linear in them, as a wheel does that rolls without slipping.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_mechanics::Model;
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let [x, y] = model.coordinates(["x", "y"]);
    /// model.particle("bob", 2.0, [x, y]);
    /// model.gravity([0.0, -9.81]);
    /// model.constraint("rod", x * x + y * y, 1.0);
    /// let mut dynamics = model.system()?.dynamics()?;
    /// let start = dynamics.start(&[("y", -1.0), ("x'", 3.0)])?;
    /// let mut tension = [0.0];
    /// dynamics.multipliers(&[0.0], &start.block(), &mut tension)?;
    /// // The rod pulls with 2λ r = m (g + v²/r).
    /// assert!((2.0 * tension[0] - 2.0 * (9.81 + 9.0)).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A constraint that gives one coordinate alone a value holds it, as [`Model::hold`] does: in a model of energies the coordinate then is
    /// no unknown any more, unless it is the last one. Constraints may be redundant, but must not contradict each other.
    pub fn constraint(&mut self, name: &str, left: impl IntoExpr<'g>, right: impl IntoExpr<'g>) {
        let value = left.into_expr(self.graph) - right.into_expr(self.graph);
        self.constraints.push(self.term(name, value));
    }

    /// The parameters that decide in which proportion angles turn in what a constraint sets to 0, as those of gears. A constraint must have numbers in their place:
    /// after which turns it is the same follows only from these.
    #[must_use]
    pub fn angle_proportions(&self, value: Expr<'g>) -> Vec<Expr<'g>> {
        let fixed = self.parameters.iter().map(|(parameter, _)| parameter.id()).collect();
        proportions(value, &fixed)
    }

    /// Whether there is a constraint of this name.
    #[must_use]
    pub fn has_constraint(&self, name: &str) -> bool {
        self.constraints.iter().any(|term| term.name == name)
    }

    /// The momentum of every coordinate, named or not.
    pub(crate) fn all_momenta(&self) -> Vec<Expr<'g>> {
        let mut named = self.momenta.iter().copied();
        let states: FxHashSet<Id> = self.states.iter().map(|(integral, _)| integral.id()).collect();
        let name = |q: &Expr<'g>| {
            let named = if states.contains(&q.id()) { None } else { named.next() };
            named.or_else(|| momentum_of(*q)).unwrap_or(*q)
        };
        self.coordinates.iter().map(name).collect()
    }

    fn term(&self, name: &str, value: impl IntoExpr<'g>) -> Term<'g> {
        Term { name: name.into(), value: value.into_expr(self.graph) }
    }

    /// Derives the equations of motion.
    ///
    /// # Errors
    /// [`ModelError`] says what is wrong with the model.
    pub fn equations(&self) -> Result<Equations<'g>, ModelError> {
        Equations::derive(self)
    }

    /// Refuses to let parameters have other values than those of the model if constraints or places of masses would jump then, although they do not as
    /// it stands.
    ///
    /// # Errors
    /// [`ModelError`] names what jumps.
    pub fn check_sampled(&self, parameters: &[&str]) -> Result<(), ModelError> {
        crate::jump::check_jumps(self, parameters)
    }

    /// Derives the equations of motion and compiles them.
    ///
    /// # Errors
    /// [`ModelError`] says what is wrong with the model.
    pub fn system(&self) -> Result<System, ModelError> {
        self.equations()?.system()
    }
}

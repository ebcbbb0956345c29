//! From equations to a system: which expressions become kernels.

use crate::check::{gravity_on, state_of};
use crate::constraint::Level;
use crate::element::Elements;
use crate::energy::opaque::OpaqueTerm;
use crate::energy::sum::{SystemEnergies, SystemEnergy, SystemEnergyKind};
use crate::energy::{Energy, Potential};
use crate::equations::{Equations, Statement, along, depend, is_smooth, is_smooth_in, rate, symbols_of};
use crate::error::ModelError;
use crate::facts::{Facts, Form, Place, Share, ShareKind};
use crate::held::reaction::ReactionLayout;
use crate::held::table::HeldTable;
use crate::inertia;
use crate::inverse::Inverse;
use crate::jump::jumps;
use crate::lagrangian::{Inversion, Lagrangian};
use crate::lumped::split::LumpedNodes;
use crate::lumped::sum::{FormulaLayout, SystemLumped};
use crate::matrix::Symmetric;
use crate::model::Term;
use crate::quantity::Quantity;
use crate::source::Space;
use crate::switch::{Branches, Held, Length, States, divisors, hold};
use crate::symmetry::Conserved;
use crate::system::System;
use leastaction_compile::Kernel;
use leastaction_expr::{Entry, Expr, Glossary, Graph, Id, jvp, substitute};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// So many constraints of one form get a kernel of their own. Fewer are two to three times faster in one program, written out one
/// after the other; of more, the code outgrows the second-level cache, and takes seconds to compile.
pub(crate) const REPEATED: usize = 16384;

/// Everything a system is made of, as expressions.
#[derive(Clone)]
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
    /// Those of them whose positions are formulas.
    pub(crate) particles: Vec<Place>,
    pub(crate) shares: Vec<Share>,
    /// The particle of each inertia in [`Quantity::Masses`].
    pub(crate) massive: Vec<String>,
    pub(crate) inverse: Inverse,
    /// Rows and columns of the nonzeros in [`Quantity::Damping`].
    pub(crate) damped: Vec<(usize, usize)>,
    /// Constraints by name, those of positions first.
    pub(crate) constraints: Vec<(String, Level)>,
    /// Coordinates that are held, and by what.
    pub(crate) held: Vec<(String, String)>,
    /// Places of coordinates whose rates are states, with the names of these.
    pub(crate) states: Vec<(usize, String)>,
    /// Parameters that events set, and the places of the coordinates whose rates have their values.
    pub(crate) set: Vec<(usize, usize)>,
    /// Where declared coordinates stand, the held ones after the others, if there are any; empty else.
    pub(crate) declared: Vec<u32>,
    pub(crate) reactions: ReactionLayout,
    /// Whether constraints do work.
    pub(crate) constraints_work: bool,
    /// Names, and what they stand for.
    pub(crate) definitions: Vec<(Expr<'g>, Expr<'g>)>,
    /// What else names mean in expressions that are read later.
    pub(crate) names: Arc<Glossary<'g>>,
    /// Rows and columns of the nonzeros in [`Quantity::ConstraintJacobian`].
    pub(crate) jacobian: Vec<(usize, usize)>,
    pub(crate) plans: Plans<'g>,
    /// Lengths of velocities that forces are divided by, where these are all that they are made of.
    pub(crate) lengths: Vec<Length<'g>>,
    /// So many constraints of one form get an element map.
    pub(crate) repeated: usize,
    /// Energies that are no formulas.
    pub(crate) energies: Arc<SystemEnergies>,
    /// Nodes that are computed from numbers, if there are any.
    pub(crate) lumped: Option<Arc<SystemLumped>>,
}

/// Energies that are no formulas, and nodes.
pub(crate) type Others = (Arc<SystemEnergies>, Option<Arc<SystemLumped>>);

pub(crate) type Plans<'g> = Vec<(Quantity, Space, Vec<Expr<'g>>)>;

impl<'g> Blueprint<'g> {
    /// Compiles a system, and the same on fixed branches if it has switches, with the energies that are no formulas for other parameters.
    pub(crate) fn compile(
        self,
        others: impl FnOnce(&[(Expr<'g>, f64)]) -> Result<Others, ModelError>,
    ) -> Result<System, ModelError> {
        let constrained = self.facts.constrained;
        let held = if self.facts.smooth {
            None
        } else {
            let own = |list: &[Expr<'g>]| match &self.lumped {
                Some(lumped) => lumped.formula.iter().map(|&i| list[i as usize]).collect(),
                None => list.to_vec(),
            };
            let [coordinates, momenta, velocities] =
                [&self.coordinates, &self.momenta, &self.velocities].map(|list| own(list));
            let [coordinates, momenta, velocities] = [&coordinates[..], &momenta, &velocities];
            let states = States { time: self.time, coordinates, momenta, velocities };
            hold(self.graph, &self.parameters, states, constrained, &self.lengths, &self.plans)
        };
        let mut plain = self.clone();
        let branches = held.map(|Held { plans, branches, switches, guarded }| {
            plain.plans = guarded;
            let branches = branches.into_iter().map(|branch| (branch, 0.0));
            let parameters: Vec<_> = self.parameters.iter().copied().chain(branches).collect();
            let facts = Facts { smooth_in_time: true, ..self.facts.clone() };
            let (energies, lumped) = others(&parameters)?;
            let branch = Blueprint { facts, parameters, plans, energies, lumped, ..self.clone() };
            let system = System::compile(branch, None)?;
            Ok::<_, ModelError>(Branches { system, switches })
        });
        System::compile(plain, branches.transpose()?)
    }
}

impl<'g> Equations<'g> {
    /// Compiles the equations of motion.
    ///
    /// # Errors
    /// [`ModelError`] if an expression has a constant that is not finite, or a backend was asked for that is not available.
    pub fn system(&self) -> Result<System, ModelError> {
        self.system_repeated(REPEATED)
    }

    /// As [`Equations::system`], where so many constraints of one form get an element map.
    pub(crate) fn system_repeated(&self, repeated: usize) -> Result<System, ModelError> {
        let (mut plans, inverse, form) = match &self.statement {
            Statement::Lagrangian(l) => (self.lagrangian_plans(l), l.inverse(), Form::Lagrangian),
            Statement::Hamiltonian(h) => {
                let (plans, inverse) = self.hamiltonian_plans(*h);
                (plans, inverse, Form::Hamiltonian)
            }
        };
        let constrained = !self.constraints.is_empty();
        // What others add to forces changes multipliers, too: these then are found when all forces are known.
        let symbolic = self.is_symbolic();
        let explicit = match constrained {
            true => self.constrained_rates(),
            false => self.formula_phase_rates(),
        };
        let is_explicit = explicit.is_some();
        if let Some((rates, forces)) = explicit {
            plans.push((Quantity::Rates, Space::Phase, [rates, forces].concat()));
        }
        if let Some((rates, forces)) = self.formula_phase_rates() {
            plans.push((Quantity::Drift, Space::Phase, rates));
            plans.push((Quantity::Kick, Space::Phase, forces));
            plans.extend(self.formula_hamiltonian().map(|h| (Quantity::Energy, Space::Phase, vec![h])));
        }
        let positions = self.particles.iter().flat_map(|p| p.position.iter().copied()).collect();
        plans.push((Quantity::Positions, Space::Phase, positions));
        let inertias = self.particles.iter().flat_map(|p| p.inertias.iter().copied()).collect();
        plans.push((Quantity::Masses, Space::Parameters, inertias));
        let damping = self.damping().filter(|_| self.set.is_empty());
        let linear_damping = damping.is_some();
        let damping = damping.unwrap_or_default();
        let damped = damping.iter().map(|entry| (self.place(entry.row), self.place(entry.column)));
        let of_nodes = self.nodes.iter().filter(|_| linear_damping).flat_map(|nodes| &nodes.blocks);
        let of_nodes =
            of_nodes.flat_map(|block| block.moving.iter().map(|c| (c.place as usize, c.place as usize)));
        let damped = damped.chain(of_nodes).collect();
        plans.push((Quantity::Damping, Space::Parameters, damping.iter().map(|entry| entry.value).collect()));

        let demands = self.demands();
        let jacobian = demands.jacobian.iter().map(|entry| (entry.row, self.constrained_place(entry.column)));
        let jacobian: Vec<_> = jacobian.collect();
        if constrained {
            let entries = demands.jacobian.iter().map(|entry| entry.value).collect();
            plans.push((Quantity::Constraints, Space::Configuration, demands.values));
            plans.push((Quantity::ConstraintRates, Space::Configuration, demands.rates));
            plans.push((Quantity::ConstraintJacobian, Space::Configuration, entries));
            plans.push((Quantity::ConstraintBias, Space::Configuration, demands.bias));
        }

        if !self.held.is_empty() {
            plans.push((Quantity::Reactions, Space::Configuration, self.reactions.outputs()));
        }

        // Inputs that are stated are no inputs any more.
        let stated = &self.stated_inputs;
        let (mut inputs, mut definitions) = (self.inputs.clone(), self.definitions.clone());
        if !stated.is_empty() {
            plans.iter_mut().for_each(|(.., outputs)| *outputs = substitute(outputs, stated));
            inputs.retain(|input| stated.iter().all(|(name, _)| name != input));
            definitions.iter_mut().for_each(|(_, value)| *value = value.substitute(stated));
            definitions.extend(stated);
        }

        // What events set is the value of a state along the run.
        let rated = self.set_to(&self.velocities);
        if !rated.is_empty() {
            let inverse = self.set_to(&self.momenta);
            for (_, space, outputs) in &mut plans {
                match space {
                    Space::Phase => *outputs = substitute(outputs, &inverse),
                    Space::Configuration => *outputs = substitute(outputs, &rated),
                    // Those of the start.
                    Space::Parameters => {}
                }
            }
            inputs.retain(|input| rated.iter().all(|(name, _)| name != input));
            definitions.iter_mut().for_each(|(_, value)| *value = value.substitute(&rated));
            definitions.extend(&rated);
            let still = |(name, _): &(Expr<'g>, _)| name.dot().map(|rate| (rate, self.graph.number(0.0)));
            definitions.extend(rated.iter().filter_map(still));
        }

        let all = plans.iter().flat_map(|(.., outputs)| outputs.iter().copied());
        let all = all.chain(self.held_values());
        let all: Vec<_> = all.chain(self.nodes.iter().flat_map(LumpedNodes::expressions)).collect();
        let timed = depend(&all, &[self.time]);
        let jumping = self.jumping(|elements| vec![elements.energy]);
        let cornered = self.jumping(|elements| elements.energy.gradient(&elements.slots));
        let divisors = divisors(self.graph, &self.forces(), &self.velocities);
        let lengths = divisors.iter().filter_map(|&length| Length::new(length, &self.velocities));
        let lengths: Vec<_> = lengths.collect();
        let nonzero = |forces: &[Expr<'g>]| forces.iter().any(|f| f.as_number() != Some(0.0));
        let facts = Facts {
            form,
            separable: self.is_separable() && rated.is_empty(),
            constant_mass: self.has_constant_mass() && rated.is_empty(),
            driven: !inputs.is_empty(),
            autonomous: inputs.is_empty() && !timed && !self.others_depend_on_time(),
            smooth_in_time: !timed || is_smooth_in(self.time, &all),
            jacobi: matches!(&self.statement, Statement::Lagrangian(l) if l.jacobi),
            smooth: is_smooth(&all) && lengths.is_empty(),
            cornered: cornered.into_iter().filter(|name| !jumping.contains(name)).collect(),
            jumping,
            directions: divisors.iter().map(ToString::to_string).collect(),
            dissipative: nonzero(&self.resistances)
                || !self.losses.is_empty()
                || self.nodes.as_ref().is_some_and(LumpedNodes::is_damped),
            forced: nonzero(&self.drives)
                || !self.states.is_empty()
                || self.nodes.as_ref().is_some_and(LumpedNodes::is_driven),
            forces_depend_on_velocities: self.forces_depend_on_velocities() || !rated.is_empty(),
            linear_damping,
            explicit: is_explicit,
            one_kernel: is_explicit && symbolic,
            symbolic: is_explicit && symbolic,
            constrained,
            holonomic: self.is_holonomic(),
            cyclic: self.all_cyclic(),
            conserved: self.all_conserved(),
        };
        let set = self.set.iter().map(|&(_, place)| self.place(place)).collect();
        let inverse = Inverse { pattern: self.all_masses(inverse.pattern), set, ..inverse };
        let place = |p: &crate::Particle<'g>| Place { name: p.name.clone(), dimensions: p.position.len() };
        let owner = |p: &crate::Particle<'g>| vec![p.name.clone(); p.inertias.len()];
        let blueprint = Blueprint {
            graph: self.graph,
            facts,
            time: self.time,
            parameters: self.parameters.clone(),
            inputs,
            stated_inputs: stated.iter().map(|(name, _)| name.to_string()).collect(),
            coordinates: self.all_coordinates().to_vec(),
            velocities: match &self.nodes {
                Some(nodes) => nodes.coordinates.iter().map(|&q| rate(q)).collect(),
                None => self.velocities.clone(),
            },
            momenta: self.nodes.as_ref().map_or(&self.momenta, |nodes| &nodes.momenta).clone(),
            places: self.places.clone(),
            particles: self.particles.iter().map(place).collect(),
            shares: self.shares(form),
            massive: self.particles.iter().flat_map(owner).collect(),
            inverse,
            damped,
            constraints: self.constraints.iter().map(|c| (c.name.clone(), c.level)).collect(),
            held: self.held.iter().map(|(q, by)| (q.to_string(), by.clone())).collect(),
            states: self.states.iter().map(|&i| (self.place(i), state_of(self.coordinates[i]))).collect(),
            set: self.set_places(),
            declared: self.declared_places(),
            constraints_work: constrained && self.constraints_work(),
            reactions: self.reactions.layout(self.held.len(), self.nodes.as_ref()),
            definitions,
            names: self.names.clone(),
            jacobian,
            plans,
            lengths,
            repeated,
            energies: self.other_energies(&self.parameters)?,
            lumped: self.lumped(&self.parameters)?,
        };
        blueprint.compile(|parameters| Ok((self.other_energies(parameters)?, self.lumped(parameters)?)))
    }

    /// What events set, with the velocities or momenta that have the values.
    fn set_to(&self, states: &[Expr<'g>]) -> Vec<(Expr<'g>, Expr<'g>)> {
        self.set.iter().map(|&(symbol, place)| (symbol, states[place])).collect()
    }

    /// The parameters that events set, by their places, with those of the coordinates whose rates have the values.
    fn set_places(&self) -> Vec<(usize, usize)> {
        let parameter = |symbol: Expr<'g>| self.parameters.iter().position(|(p, _)| *p == symbol);
        self.set.iter().filter_map(|&(symbol, place)| Some((parameter(symbol)?, self.place(place)))).collect()
    }

    /// Coordinates that energies do not depend on, of all.
    fn all_cyclic(&self) -> Vec<usize> {
        let mut cyclic: Vec<usize> = self.cyclic().into_iter().map(|i| self.place(i)).collect();
        if let Some(nodes) = &self.nodes {
            let read = self.read_by_others();
            cyclic.extend(nodes.weightless().filter(|&place| !read[place]));
            cyclic.sort_unstable();
        }
        cyclic
    }

    /// What is conserved because of a symmetry, by places among all coordinates.
    fn all_conserved(&self) -> Vec<Conserved> {
        let placed = |conserved: Conserved| match conserved {
            Conserved::Energy => Conserved::Energy,
            Conserved::Momentum(i) => Conserved::Momentum(self.place(i)),
        };
        let mut conserved: Vec<Conserved> = self.conserved().into_iter().map(placed).collect();
        if let Some(nodes) = &self.nodes {
            let read = self.read_by_others();
            let bound: FxHashSet<Id> = match nodes.constrained {
                true => {
                    let rates: Vec<_> = self.constraints.iter().map(|c| c.rate).collect();
                    symbols_of(&rates).iter().map(|symbol| symbol.id()).collect()
                }
                false => FxHashSet::default(),
            };
            let is_free =
                |&place: &usize| !read[place] && !bound.contains(&rate(nodes.coordinates[place]).id());
            conserved.extend(nodes.free().filter(is_free).map(Conserved::Momentum));
        }
        conserved
    }

    /// Where the mass matrix has entries: those of formulas, then those of nodes.
    fn all_masses(&self, formula: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
        let Some(nodes) = &self.nodes else { return formula };
        let formula = formula.into_iter().map(|(i, j)| (self.place(i), self.place(j)));
        formula.chain(nodes.masses()).collect()
    }

    /// The nodes that are computed from numbers, compiled.
    fn lumped(&self, parameters: &[(Expr<'g>, f64)]) -> Result<Option<Arc<SystemLumped>>, ModelError> {
        let Some(nodes) = &self.nodes else { return Ok(None) };
        let parameters: Vec<_> = parameters.iter().map(|(p, _)| *p).collect();
        let share = |name: &str| {
            let weight = gravity_on(name);
            let kinetic = self.kinetic.iter().position(|term| term.name == name);
            let weight = self.potential.iter().position(|potential| potential.name == weight);
            [kinetic, weight.map(|place| self.kinetic.len() + place)]
        };
        let masses = match &self.statement {
            Statement::Lagrangian(l) => l.mass.entries().count(),
            Statement::Hamiltonian(_) => unreachable!("nodes are not stated by a Hamiltonian"),
        };
        let layout = FormulaLayout {
            held: self.held.len(),
            shares: self.kinetic.len() + self.potential.len() + self.direct.len(),
            share: &share,
            positions: self.particles.iter().map(|p| p.position.len()).sum(),
            masses,
        };
        let held = self.held_values();
        Ok(Some(Arc::new(SystemLumped::new(nodes, &layout, &held, self.time, &parameters)?)))
    }

    fn shares(&self, form: Form) -> Vec<Share> {
        let direct = match form {
            Form::Lagrangian => ShareKind::Lagrangian,
            Form::Hamiltonian | Form::Ports => ShareKind::Hamiltonian,
        };
        let share = |name: &String, kind: ShareKind| Share { name: name.clone(), kind };
        let kinetic = self.kinetic.iter().map(|t| share(&t.name, ShareKind::Kinetic));
        let potential = self.potential.iter().map(|p| share(&p.name, ShareKind::Potential));
        kinetic.chain(potential).chain(self.direct.iter().map(|t| share(&t.name, direct))).collect()
    }

    /// The energies over elements of which something jumps in place.
    fn jumping(&self, what: impl Fn(&Elements<'g>) -> Vec<Expr<'g>>) -> Vec<String> {
        let jumps_in_place = |elements: &Elements<'g>| {
            let values = what(elements);
            values.iter().any(|&value| jumps(value, &elements.slots, &self.parameters))
        };
        let jumping = self.potential.iter().filter(|potential| match &potential.energy {
            Energy::Elements(elements) => !is_smooth(&[elements.energy]) && jumps_in_place(elements),
            _ => false,
        });
        jumping.map(|potential| potential.name.clone()).collect()
    }

    /// The energies that are no formulas, compiled.
    fn other_energies(&self, parameters: &[(Expr<'g>, f64)]) -> Result<Arc<SystemEnergies>, ModelError> {
        let parameters: Vec<_> = parameters.iter().map(|(p, _)| *p).collect();
        let mut energies = Vec::new();
        for (potential, share) in self.potential.iter().zip(self.kinetic.len()..) {
            let kind = match &potential.energy {
                Energy::Formula(_) => continue,
                Energy::Elements(elements) => {
                    SystemEnergyKind::Elements(elements.compile(self.time, &parameters, Kernel::compile)?)
                }
                Energy::Opaque(opaque) => {
                    let place = |name: &String| {
                        let place = parameters.iter().position(|p| p.to_string() == *name);
                        place.unwrap_or_else(|| unreachable!("that there is {name} was checked")) as u32
                    };
                    let read = opaque.parameters.iter().map(place).collect();
                    SystemEnergyKind::Opaque(OpaqueTerm { opaque: opaque.clone(), parameters: read })
                }
            };
            energies.push(SystemEnergy { name: potential.name.clone(), share, kind });
        }
        let held = match self.others_read_held() {
            true => {
                let values = self.held_values();
                let rates: Vec<_> = values.iter().map(|value| value.derivative(self.time)).collect();
                let table =
                    |values: &[Expr<'g>]| HeldTable::new(values, self.time, &parameters).map(Arc::new);
                Some([table(&values)?, table(&rates)?])
            }
            false => None,
        };
        let losses = self.losses.iter().map(|d| d.compile(self.time, &parameters, Kernel::compile));
        let losses = losses.collect::<Result<_, _>>()?;
        Ok(Arc::new(SystemEnergies { terms: energies, losses, held }))
    }

    /// Where declared coordinates stand, the held ones after the others; nothing if none is held.
    fn declared_places(&self) -> Vec<u32> {
        let order = self.all_coordinates().iter().copied().chain(self.held.iter().map(|(q, _)| *q));
        let places: FxHashMap<Id, u32> = order.zip(0..).map(|(q, place)| (q.id(), place)).collect();
        self.declared.iter().map(|q| places[&q.id()]).collect()
    }

    fn lagrangian_plans(&self, l: &Lagrangian<'g>) -> Plans<'g> {
        use Space::Configuration;
        let at_rest = || l.momenta_at_rest(&self.velocities);
        let mut inertia = if l.quadratic { at_rest() } else { l.momenta.clone() };
        inertia.extend(l.mass.entries().map(|(.., value)| value));
        let mut plans = vec![
            (Quantity::Momenta, Configuration, l.momenta.clone()),
            (Quantity::MomentumRates, Configuration, self.formula_momentum_rates()),
            (Quantity::Inertia, Configuration, inertia),
        ];
        // What others add to forces needs M⁻¹, which is at hand where velocities follow from momenta by it.
        match self.formula_accelerations().filter(|_| l.quadratic || self.is_symbolic()) {
            Some(accelerations) => plans.push((Quantity::Accelerations, Configuration, accelerations)),
            None => {
                let loads = l.loads.iter().zip(self.forces()).map(|(&load, force)| load + force).collect();
                plans.push((Quantity::NetForces, Configuration, loads));
            }
        }
        // At rest a Lagrangian term is −V; what moving adds to its energy is kinetic.
        let rest: Vec<_> = self.velocities.iter().map(|&v| (v, self.graph.number(0.0))).collect();
        let hidden = -self.total(&self.direct).substitute(&rest);
        let potential = self.potential_total() + hidden;
        let moving = self.total(&self.direct).gradient(&self.velocities);
        let moving = self.products(&moving, &self.velocities) - self.total(&self.direct) - hidden;
        let kinetic = self.total(&self.kinetic) + moving;
        // What T + V is more than H changes along the motion, too; accelerations are put in as numbers.
        let excess = if l.jacobi { kinetic + potential - l.energy } else { self.graph.number(0.0) };
        let turned = excess.gradient(&self.velocities);
        if turned.iter().any(|e| e.as_number() != Some(0.0)) {
            plans.push((Quantity::ExcessSlopes, Configuration, turned));
        }
        let passing = along(&[excess], &self.coordinates, self.time)[0];
        let driven = passing - l.value.derivative(self.time);
        let balance = self.balance(kinetic, potential, l.value, l.energy, driven, &self.velocities);
        plans.push((Quantity::EnergyBalance, Configuration, balance));
        plans
    }

    fn hamiltonian_plans(&self, h: Expr<'g>) -> (Plans<'g>, Inverse) {
        use Space::Phase;
        let (q, p) = (&self.coordinates, &self.momenta);
        let moving = self.moving(h);
        let rates = moving.gradient(p);
        let mut tangent = Symmetric::zero(self.degrees());
        moving
            .hessian(p)
            .into_iter()
            .for_each(|Entry { row, column, value }| tangent.add(row, column, value));
        let entries: Vec<_> = tangent.entries().map(|(.., value)| value).collect();
        let linear = !depend(&entries, p);
        let pattern = tangent.entries().map(|(i, j, _)| (i, j)).collect();
        let forces = self.in_phase_space(&self.formula_momentum_rates(), &rates);

        let moves = q.iter().zip(&rates).chain(p.iter().zip(&forces)).map(|(&x, &dx)| (x, dx));
        let direction: Vec<_> = moves.chain([(self.time, self.graph.number(1.0))]).collect();
        let accelerations = jvp(&rates, &direction);

        let rest: Vec<_> = p.iter().map(|&p| (p, self.graph.number(0.0))).collect();
        let potential = self.potential_total() + self.total(&self.direct).substitute(&rest);
        let lagrangian = self.products(p, &h.gradient(p)) - h;
        let driven = h.derivative(self.time);
        let balance = self.balance(h - potential, potential, lagrangian, h, driven, &rates);
        let balance = self.in_phase_space(&balance, &rates);
        let mut plans = vec![
            (Quantity::Inertia, Phase, rates.iter().copied().chain(entries).collect()),
            (Quantity::Accelerations, Phase, accelerations),
            (Quantity::EnergyBalance, Phase, balance),
        ];
        if let (true, Ok(Inversion::Unrolled(order))) = (linear, inertia::inversion(&tangent, &self.probe()))
        {
            // H is quadratic in p: v = W p + b, and p is written out.
            let rest = substitute(&rates, &rest);
            let moving: Vec<_> = self.velocities.iter().zip(rest).map(|(&v, b)| v - b).collect();
            let momenta = tangent.factor(&order).map(|factor| factor.solve(&moving));
            plans.extend(momenta.map(|momenta| (Quantity::Momenta, Space::Configuration, momenta)));
        }
        (plans, Inverse { pattern, linear: false, definite: false, set: Vec::new() })
    }

    /// The shares of the energy, then T, V, L, H, the power that is lost, that of all generalized forces, and what time does to the energy.
    fn balance(
        &self,
        kinetic: Expr<'g>,
        potential: Expr<'g>,
        l: Expr<'g>,
        h: Expr<'g>,
        driven: Expr<'g>,
        v: &[Expr<'g>],
    ) -> Vec<Expr<'g>> {
        // The shares of energies that are no formulas are added to zeros.
        let zero = self.graph.number(0.0);
        let potential_shares = self.potential.iter().map(|p| p.formula().unwrap_or(zero));
        let shares = self.kinetic.iter().map(|t| t.value).chain(potential_shares);
        let shares = shares.chain(self.direct.iter().map(|t| t.value));
        let lost = self.reactions.lost.unwrap_or(zero) - self.products(&self.resistances, v);
        let forces = self.products(&self.working_forces(), v);
        shares.chain([kinetic, potential, l, h, lost, forces, driven]).collect()
    }

    fn total(&self, terms: &[Term<'g>]) -> Expr<'g> {
        self.graph.sum(terms.iter().map(|t| t.value))
    }

    /// The sum of the potential energies that are formulas.
    fn potential_total(&self) -> Expr<'g> {
        self.graph.sum(self.potential.iter().filter_map(Potential::formula))
    }

    fn products(&self, a: &[Expr<'g>], b: &[Expr<'g>]) -> Expr<'g> {
        self.graph.sum(a.iter().zip(b).map(|(&a, &b)| a * b))
    }
}

impl Lagrangian<'_> {
    fn inverse(&self) -> Inverse {
        Inverse {
            pattern: self.mass.entries().map(|(i, j, _)| (i, j)).collect(),
            linear: self.quadratic,
            definite: self.inversion != Inversion::Indefinite,
            set: Vec::new(),
        }
    }
}

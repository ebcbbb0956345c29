//! What nodes add to the quantities of a system: numbers times numbers.

use super::at::{At, Way};
use super::coupling::{Coupling, CouplingMemory};
use super::split::{LumpedBlock, LumpedCoordinate, LumpedNodes, masses};
use crate::engine::{check, wrong_length};
use crate::error::{EvalError, SettingError};
use crate::held::table::{HeldTable, HeldValues};
use crate::inverse::{Failure, grow};
use crate::parameters::Parameters;
use crate::quantity::Quantity;
use crate::system::System;
use leastaction_compile::{CodeError, Evaluator, Kernel, LANES, Program};
use leastaction_expr::{Expr, Graph, Id};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Numbers of a block in the values of [`SystemLumped::kernel`]: the unit of its masses, and the rate at which momenta decay.
pub(super) const PER_BLOCK: usize = 2;

/// An entry of a matrix, by row and column.
pub(crate) type MassEntry = ((usize, usize), f64);

/// Nodes in a system.
pub(crate) struct SystemLumped {
    /// Where coordinates of formulas stand among all, and held ones among all that are held.
    pub(crate) formula: Arc<[u32]>,
    pub(crate) formula_held: Arc<[u32]>,
    /// How many coordinates there are, and how many that are held.
    pub(super) degrees: usize,
    pub(super) held_count: usize,
    pub(super) blocks: Vec<Block>,
    /// Units and rates of each block, the acceleration of gravity along each axis, and its derivatives by time, of time and parameters.
    kernel: Kernel,
    pub(super) gravity: usize,
    /// The coordinates on which forces act, held ones after the others, and these.
    pub(super) driven: Vec<Driven>,
    drives: Option<Arc<HeldTable>>,
    /// The values of all held coordinates, if some are of nodes.
    held: Option<Arc<HeldTable>>,
    pub(super) positions: Arc<[u32]>,
    /// Whether constraints are functions of all coordinates.
    constrained: bool,
    formula_positions: usize,
    pub(super) shares: usize,
    damped: bool,
    /// How many entries formulas give to the mass matrix.
    formula_masses: usize,
}

pub(super) struct Block {
    name: String,
    /// The places of its energies among the shares.
    pub(super) kinetic: usize,
    pub(super) weight: Option<usize>,
    unit: Option<Id>,
    pub(super) moving: Arc<[LumpedCoordinate]>,
    pub(super) held: Arc<[LumpedCoordinate]>,
    pub(super) coupling: Option<Arc<Coupling>>,
}

/// A coordinate on which a force acts, and the number of its block.
pub(super) struct Driven {
    pub(super) coordinate: LumpedCoordinate,
    pub(super) block: usize,
}

/// How much of each output comes from formulas, and not from nodes.
pub(crate) struct FormulaLayout<'a> {
    pub(crate) held: usize,
    pub(crate) shares: usize,
    /// The places of energies among the shares, by name.
    pub(crate) share: &'a dyn Fn(&str) -> [Option<usize>; 2],
    pub(crate) positions: usize,
    pub(crate) masses: usize,
}

impl SystemLumped {
    pub(crate) fn new<'g>(
        nodes: &LumpedNodes<'g>,
        layout: &FormulaLayout<'_>,
        held_values: &[Expr<'g>],
        time: Expr<'g>,
        parameters: &[Expr<'g>],
    ) -> Result<SystemLumped, CodeError> {
        let graph: &'g Graph = time.graph();
        let one = graph.number(1.0);
        let mut outputs: Vec<_> =
            nodes.blocks.iter().flat_map(|block| [block.unit.unwrap_or(one), block.damping]).collect();
        outputs.extend(&nodes.gravity);
        outputs.extend(nodes.gravity.iter().map(|g| g.derivative(time)));
        let kernel = Kernel::compile_lightly(Program::build(&[time], parameters, &outputs)?)?;
        let forces: FxHashMap<usize, Expr<'g>> = nodes.drives.iter().copied().collect();
        let (mut driven, mut drives) = (Vec::new(), Vec::new());
        for (number, block) in nodes.blocks.iter().enumerate().filter(|_| !forces.is_empty()) {
            for &coordinate in block.moving.iter().chain(&*block.held) {
                if let Some(&force) = forces.get(&(coordinate.place as usize)) {
                    driven.push(Driven { coordinate, block: number });
                    drives.push(force);
                }
            }
        }
        let table = |values: &[Expr<'g>]| HeldTable::new(values, time, parameters).map(Arc::new);
        let any_held = nodes.blocks.iter().any(|block| !block.held.is_empty());
        let block = |block: &LumpedBlock<'g>| {
            let [kinetic, weight] = (layout.share)(&block.name);
            let kinetic = kinetic.unwrap_or_else(|| unreachable!("nodes have a kinetic energy"));
            let (moving, held) = (block.moving.clone(), block.held.clone());
            let unit = block.unit.map(|unit| unit.id());
            let coupling = block.coupling.clone();
            Block { name: block.name.clone(), kinetic, weight, unit, moving, held, coupling }
        };
        Ok(SystemLumped {
            formula: nodes.formula.clone(),
            formula_held: nodes.formula_held.clone(),
            degrees: nodes.coordinates.len(),
            held_count: layout.held,
            blocks: nodes.blocks.iter().map(block).collect(),
            kernel,
            gravity: nodes.gravity.len(),
            drives: if driven.is_empty() { None } else { Some(table(&drives)?) },
            driven,
            held: if any_held { Some(table(held_values)?) } else { None },
            positions: nodes.positions.clone(),
            constrained: nodes.constrained,
            formula_positions: layout.positions,
            shares: layout.shares,
            damped: nodes.is_damped(),
            formula_masses: layout.masses,
        })
    }

    /// Whether formulas of a quantity are functions of all coordinates, and not of those of formulas only.
    pub(crate) fn reads_nodes(&self, quantity: Quantity) -> bool {
        self.constrained && quantity.is_of_constraints()
    }

    /// Whether momenta decay.
    pub(crate) fn is_damped(&self) -> bool {
        self.damped
    }

    /// The first of the nodes, by name.
    pub(crate) fn first(&self) -> &str {
        self.blocks.first().map_or("", |block| &block.name)
    }

    /// The places of the coordinates that move, with masses in units of their block, and the number of that.
    pub(crate) fn moving(&self) -> impl Iterator<Item = (usize, LumpedCoordinate)> {
        let blocks = self.blocks.iter().enumerate();
        blocks.flat_map(|(number, block)| block.moving.iter().map(move |coordinate| (number, *coordinate)))
    }

    /// The mass of a coordinate by its place, and the unit of that, unless it is coupled with others.
    pub(crate) fn mass(&self, place: usize) -> Option<(f64, Option<Id>)> {
        let (number, c) = self.moving().find(|(_, c)| c.place as usize == place)?;
        let block = &self.blocks[number];
        block.coupling.is_none().then_some((c.mass, block.unit))
    }

    /// Whether masses are coupled.
    pub(crate) fn is_coupled(&self) -> bool {
        self.blocks.iter().any(|block| block.coupling.is_some())
    }

    /// The entries of the mass matrix on and below the diagonal, in units of their block, and the number of that.
    fn masses(&self) -> impl Iterator<Item = (usize, usize, usize, f64)> {
        self.blocks.iter().enumerate().flat_map(|(number, block)| {
            let entries = masses(&block.moving, block.coupling.as_deref());
            entries.map(move |(i, j, mass)| (number, i, j, mass))
        })
    }

    /// Whether nodes add to the values of a quantity, or stand among them.
    pub(crate) fn is_in(&self, quantity: Quantity) -> bool {
        let whole = matches!(self.kind(quantity), Kind::Whole);
        !whole || matches!(quantity, Quantity::Energy | Quantity::EnergyBalance)
    }

    /// Checks that there is room for a quantity.
    pub(crate) fn check_length(
        &self,
        quantity: Quantity,
        system: &System,
        width: usize,
        found: usize,
    ) -> Result<(), EvalError> {
        let n = self.degrees;
        let expected = match self.kind(quantity) {
            Kind::Whole => return Ok(()), // by the kernel
            Kind::Rows(lists) => lists * n,
            Kind::Squares(count, halves) => count * (halves * n).pow(2),
            Kind::Masses => n + system.inverse().pattern.len(),
            Kind::Positions => self.positions.len(),
            Kind::Reactions => system.reaction_layout().len(),
        };
        check("outputs", expected * width, found)
    }

    /// How many numbers the kernel gives.
    fn numbers(&self) -> usize {
        PER_BLOCK * self.blocks.len() + 2 * self.gravity
    }

    /// How many numbers formulas give to a quantity of which all have so many.
    pub(crate) fn formula_len(&self, quantity: Quantity, all: usize, width: usize) -> usize {
        let (core, held) = (self.formula.len() * width, self.formula_held.len() * width);
        match self.kind(quantity) {
            Kind::Whole => all,
            Kind::Rows(lists) => lists * core,
            Kind::Squares(count, halves) => count * (halves * self.formula.len()).pow(2) * width,
            Kind::Masses => core + self.formula_masses * width,
            Kind::Positions => self.formula_positions * width,
            Kind::Reactions => held + (all - self.held_count * width),
        }
    }

    fn kind(&self, quantity: Quantity) -> Kind {
        match quantity {
            Quantity::Rates => Kind::Rows(2),
            Quantity::Drift
            | Quantity::Kick
            | Quantity::Momenta
            | Quantity::MomentumRates
            | Quantity::NetForces
            | Quantity::Accelerations
            | Quantity::ExcessSlopes => Kind::Rows(1),
            Quantity::Jacobian => Kind::Squares(1, 2),
            Quantity::ConfigurationJacobian => Kind::Squares(3, 1),
            Quantity::MomentumJacobian => Kind::Squares(1, 1),
            Quantity::Inertia => Kind::Masses,
            Quantity::Positions => Kind::Positions,
            Quantity::Reactions => Kind::Reactions,
            Quantity::Energy
            | Quantity::EnergyBalance
            | Quantity::Masses
            | Quantity::Damping
            | Quantity::Constraints
            | Quantity::ConstraintRates
            | Quantity::ConstraintJacobian
            | Quantity::ConstraintBias
            | Quantity::ConstraintRateJacobian
            | Quantity::Outputs
            | Quantity::Structure
            | Quantity::Gradient
            | Quantity::SwitchingFunctions => Kind::Whole,
        }
    }
}

/// How the numbers of formulas stand among all.
enum Kind {
    /// They are all.
    Whole,
    /// So many lists with a number for each coordinate.
    Rows(usize),
    /// So many matrices with a row for each coordinate, or for each coordinate and each momentum.
    Squares(usize, usize),
    /// A number for each coordinate, then entries of the mass matrix.
    Masses,
    Positions,
    /// A number for each held coordinate, and others.
    Reactions,
}

/// The nodes of a system, with parameters and the working memory of a thread.
#[derive(Clone)]
pub(crate) struct LumpedSum {
    pub(crate) system: Arc<SystemLumped>,
    coefficients: Evaluator,
    drives: Option<HeldValues>,
    held: Option<HeldValues>,
    /// What the kernel gives, forces, held coordinates, in lanes.
    numbers: Vec<f64>,
    lanes: Vec<f64>,
    forces: Vec<f64>,
    places: Vec<f64>,
    coupling: Vec<CouplingMemory>,
    moved: Vec<f64>,
    pushed: Vec<f64>,
    /// The states that formulas read, and what they give.
    pub(crate) states: Vec<f64>,
    pub(crate) formula_values: Vec<f64>,
}

impl LumpedSum {
    pub(crate) fn new(system: &Arc<SystemLumped>, parameters: &Parameters) -> Result<LumpedSum, EvalError> {
        let values = |table: &Option<Arc<HeldTable>>| {
            table.as_ref().map(|table| HeldValues::new(table, parameters)).transpose()
        };
        Ok(LumpedSum {
            coefficients: parameters.evaluator(&system.kernel).map_err(wrong_length)?,
            drives: values(&system.drives)?,
            held: values(&system.held)?,
            system: system.clone(),
            numbers: Vec::new(),
            lanes: Vec::new(),
            forces: Vec::new(),
            places: Vec::new(),
            coupling: vec![CouplingMemory::default(); system.blocks.len()],
            moved: Vec::new(),
            pushed: Vec::new(),
            states: Vec::new(),
            formula_values: Vec::new(),
        })
    }

    pub(crate) fn set_parameters(&mut self, values: &[f64]) -> Result<(), EvalError> {
        self.coefficients.set_parameters(values).map_err(wrong_length)?;
        let mut tables = self.drives.iter_mut().chain(&mut self.held);
        tables.try_for_each(|table| table.set_parameters(values))
    }

    pub(crate) fn set_parameters_in(&mut self, lane: usize, values: &[f64]) -> Result<(), EvalError> {
        self.coefficients.set_parameters_in(lane, values).map_err(wrong_length)?;
        let mut tables = self.drives.iter_mut().chain(&mut self.held);
        tables.try_for_each(|table| table.set_parameters_in(lane, values))
    }

    /// Checks that all masses are positive with these parameters.
    pub(crate) fn check(&self, parameters: &[f64]) -> Result<(), SettingError> {
        let system = &self.system;
        let mut evaluator = system.kernel.evaluator(parameters).map_err(wrong_length)?;
        let mut values = vec![0.0; system.numbers()];
        evaluator.eval(&[0.0], &mut values).map_err(wrong_length)?;
        for (block, unit) in system.blocks.iter().zip(values.iter().step_by(PER_BLOCK)) {
            let all = block.moving.iter().chain(&*block.held);
            if let Some(c) = all.into_iter().find(|c| !(c.mass * unit > 0.0 && (c.mass * unit).is_finite())) {
                return Err(SettingError::BadMass { particle: block.name.clone(), value: c.mass * unit });
            }
        }
        Ok(())
    }

    /// The states of formulas among all.
    pub(crate) fn gather(&mut self, states: &[f64], width: usize) {
        let (n, core) = (self.system.degrees, &self.system.formula);
        let len = 2 * core.len() * width;
        grow(&mut self.states, len);
        let rows = self.states[..len].chunks_exact_mut(width.max(1));
        let places = core.iter().map(|&i| i as usize).chain(core.iter().map(|&i| n + i as usize));
        for (row, place) in rows.zip(places) {
            row.copy_from_slice(&states[place * width..][..width]);
        }
    }

    /// Puts what formulas give where it belongs; the other numbers are 0.
    pub(crate) fn scatter(&self, quantity: Quantity, len: usize, width: usize, out: &mut [f64]) {
        let system = &self.system;
        let (n, core) = (system.degrees, &*system.formula);
        let mut formula_values = self.formula_values[..len].chunks_exact(width);
        let mut next = |out: &mut [f64], row: usize| {
            if let Some(row_values) = formula_values.next() {
                out[row * width..][..width].copy_from_slice(row_values);
            }
        };
        match system.kind(quantity) {
            Kind::Whole => out.copy_from_slice(&self.formula_values[..out.len()]),
            Kind::Rows(lists) => {
                out.fill(0.0);
                for list in 0..lists {
                    core.iter().for_each(|&i| next(out, list * n + i as usize));
                }
            }
            Kind::Squares(count, halves) => {
                out.fill(0.0);
                let place = |k: usize| (k / core.len()) * n + core[k % core.len()] as usize;
                let (size, all) = (halves * core.len(), halves * n);
                for block in 0..count {
                    for i in 0..size {
                        (0..size).for_each(|j| next(out, (block * all + place(i)) * all + place(j)));
                    }
                }
            }
            Kind::Masses => {
                out.fill(0.0);
                core.iter().for_each(|&i| next(out, i as usize));
                (0..system.formula_masses).for_each(|entry| next(out, n + entry));
            }
            Kind::Positions => {} // with the others
            Kind::Reactions => {
                let held = system.held_count;
                out[..held * width].fill(0.0);
                system.formula_held.iter().for_each(|&i| next(out, i as usize));
                (held..out.len() / width).for_each(|row| next(out, row));
            }
        }
    }

    /// Evaluates what depends on time and parameters.
    fn prepare(&mut self, t: &[f64]) -> Result<(), EvalError> {
        let (width, system) = (t.len(), &self.system);
        let rows = system.numbers();
        grow(&mut self.numbers, rows * width);
        if width == 1 {
            self.coefficients.eval(t, &mut self.numbers[..rows]).map_err(wrong_length)?;
        } else {
            grow(&mut self.lanes, rows * LANES);
            let lanes = &mut self.lanes[..rows * LANES];
            for first in (0..width).step_by(LANES) {
                self.coefficients.eval_lanes(&t[first..][..LANES], lanes).map_err(wrong_length)?;
                for (row, values) in lanes.chunks_exact(LANES).enumerate() {
                    self.numbers[row * width + first..][..LANES].copy_from_slice(values);
                }
            }
        }
        if let Some(drives) = &mut self.drives {
            let len = drives.len() * width;
            grow(&mut self.forces, len);
            drives.fill(t, &mut self.forces[..len])?;
        }
        if let Some(held) = &mut self.held {
            let len = held.len() * width;
            grow(&mut self.places, len);
            held.fill(t, &mut self.places[..len])?;
        }
        Ok(())
    }

    /// Adds what nodes give to a quantity at a block of states, in any number of lanes.
    pub(crate) fn add(
        &mut self,
        quantity: Quantity,
        t: &[f64],
        states: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        self.prepare(t)?;
        let (width, n) = (t.len(), self.system.degrees);
        let mut memory = std::mem::take(&mut self.coupling);
        let [mut moved, mut pushed] = [&mut self.moved, &mut self.pushed].map(std::mem::take);
        let at = self.at(states, width);
        let mut result = Ok(());
        // Velocities of momenta or momenta of velocities, where masses are coupled.
        let coupled = |quantity: Quantity| match quantity {
            Quantity::Rates | Quantity::Drift | Quantity::Energy => Some(Way::Back),
            Quantity::Momenta | Quantity::MomentumRates | Quantity::NetForces | Quantity::EnergyBalance => {
                Some(Way::There)
            }
            _ => None,
        };
        if let (Some(way), true) = (coupled(quantity), self.system.is_coupled()) {
            grow(&mut moved, n * width);
            result = at.turn(way, at.second, &mut memory, &mut moved);
        }
        match quantity {
            Quantity::Rates => {
                let (rates, forces) = out.split_at_mut(n * width);
                at.fill(rates, |m, p, _, _| p / m);
                at.replace(rates, |place| moved[place]);
                at.fill(forces, |m, p, g, c| m * g - c * p);
                at.add_drives(forces, |force, _| force);
            }
            Quantity::Drift => {
                at.fill(out, |m, p, _, _| p / m);
                at.replace(out, |place| moved[place]);
            }
            Quantity::Kick => {
                at.fill(out, |m, p, g, c| m * g - c * p);
                at.add_drives(out, |force, _| force);
            }
            Quantity::Momenta => {
                at.fill(out, |m, v, _, _| m * v);
                at.replace(out, |place| moved[place]);
            }
            Quantity::MomentumRates | Quantity::NetForces => {
                at.fill(out, |m, v, g, c| m * g - c * (m * v));
                at.replace_each(out, |m, place, g, c| m * g - c * moved[place]);
                at.add_drives(out, |force, _| force);
            }
            Quantity::Accelerations => {
                at.fill(out, |_, v, g, c| g - c * v);
                if self.system.is_coupled() {
                    // M⁻¹ of weights and forces, where they act on nodes that are coupled.
                    grow(&mut moved, n * width);
                    grow(&mut pushed, n * width);
                    at.fill(&mut pushed, |m, _, g, _| m * g);
                    at.add_drives(&mut pushed, |force, _| force);
                    result = at.turn(Way::Back, &pushed, &mut memory, &mut moved);
                    at.replace_each(out, |_, place, _, c| moved[place] - c * at.second[place]);
                }
                at.add_drives_of(false, out, |force, m| force / m);
            }
            Quantity::Inertia => {
                let entries = out[(n + at.system.formula_masses) * width..].chunks_exact_mut(width);
                for (entry, (number, _, _, mass)) in entries.zip(at.system.masses()) {
                    entry.iter_mut().zip(at.unit(number)).for_each(|(entry, unit)| *entry = mass * unit);
                }
            }
            Quantity::Energy => {
                for (lane, sum) in out.iter_mut().enumerate() {
                    for number in 0..at.system.blocks.len() {
                        *sum += match at.system.blocks[number].coupling {
                            Some(_) => 0.5 * at.dot(number, lane, &moved),
                            None => at.total(number, lane, |m, p| 0.5 * (p * p) / m),
                        };
                        *sum += at.weight(number, lane, false);
                    }
                }
            }
            Quantity::EnergyBalance => at.add_balance(&moved, out),
            Quantity::Jacobian => {
                assert!(
                    !at.system.is_coupled(),
                    "derivatives of coupled nodes follow from their mass matrix"
                );
                let entry = |row: usize, column: usize| (row * 2 * n + column) * width;
                for (number, c) in at.system.moving() {
                    let place = c.place as usize;
                    for lane in 0..width {
                        out[entry(place, n + place) + lane] += 1.0 / (c.mass * at.unit(number)[lane]);
                        out[entry(n + place, n + place) + lane] -= at.damping(number)[lane];
                    }
                }
            }
            Quantity::ConfigurationJacobian => {
                for (number, i, j, mass) in at.system.masses() {
                    for lane in 0..width {
                        let damping = at.damping(number)[lane] * (mass * at.unit(number)[lane]);
                        out[((2 * n + i) * n + j) * width + lane] -= damping;
                        if i != j {
                            out[((2 * n + j) * n + i) * width + lane] -= damping;
                        }
                    }
                }
            }
            Quantity::Positions => at.fill_positions(&self.formula_values, out),
            Quantity::Reactions => at.add_reactions(out),
            // What nodes are not in, or what is asked for by parameters alone.
            Quantity::ExcessSlopes
            | Quantity::MomentumJacobian
            | Quantity::Masses
            | Quantity::Damping
            | Quantity::Constraints
            | Quantity::ConstraintRates
            | Quantity::ConstraintJacobian
            | Quantity::ConstraintBias
            | Quantity::ConstraintRateJacobian
            | Quantity::Outputs
            | Quantity::Structure
            | Quantity::Gradient
            | Quantity::SwitchingFunctions => {}
        }
        (self.coupling, self.moved, self.pushed) = (memory, moved, pushed);
        result.map_err(|(lane, failure)| match failure {
            Failure::NoConvergence { residual, iterations, .. } => EvalError::NoConvergence {
                what: "velocities for these momenta",
                t: t[lane],
                lane,
                residual,
                iterations,
            },
            Failure::Singular { .. } | Failure::Eval(_) => unreachable!("nothing else can fail"),
        })
    }

    /// Adds to reactions what the inertia of coupled nodes asks of held ones, at velocities and accelerations.
    pub(crate) fn add_shared_reactions(
        &mut self,
        t: &[f64],
        z: &[f64],
        accelerations: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        self.prepare(t)?;
        self.at(z, t.len()).add_shared_reactions(accelerations, out);
        Ok(())
    }

    fn at<'a>(&'a self, states: &'a [f64], width: usize) -> At<'a> {
        let (q, second) = states.split_at(self.system.degrees * width);
        let (numbers, forces, places) = (&self.numbers, &self.forces, &self.places);
        At { system: &self.system, width, numbers, forces, places, q, second }
    }

    /// The rate at which the momentum of each coordinate decays that moves, with these parameters.
    pub(crate) fn rates_of_damping(&self, parameters: &[f64]) -> Result<Vec<f64>, EvalError> {
        let system = &self.system;
        let mut evaluator = system.kernel.evaluator(parameters).map_err(wrong_length)?;
        let mut values = vec![0.0; system.numbers()];
        evaluator.eval(&[0.0], &mut values).map_err(wrong_length)?;
        Ok(system.moving().map(|(number, _)| values[PER_BLOCK * number + 1]).collect())
    }

    /// The entries of c M, which damps nodes.
    pub(crate) fn resistances(&mut self, t: f64) -> Result<Vec<MassEntry>, EvalError> {
        self.prepare(&[t])?;
        let at = At { width: 1, q: &[], second: &[], ..self.at(&[], 0) };
        let mut all = Vec::new();
        for (number, i, j, mass) in self.system.masses().filter(|(number, ..)| at.damping(*number)[0] != 0.0)
        {
            let value = at.damping(number)[0] * (mass * at.unit(number)[0]);
            all.push(((i, j), value));
            if i != j {
                all.push(((j, i), value));
            }
        }
        Ok(all)
    }
}

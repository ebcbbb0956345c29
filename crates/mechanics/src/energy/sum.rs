//! What energies that are no formulas add to the quantities of a system.

use super::dissipation::{DissipationTerm, Lost, SystemDissipation};
use super::opaque::{Memory, OpaqueTerm};
use crate::dynamics::{Row, add_products};
use crate::element::ElementEnergy;
use crate::element::map::Lanes;
use crate::element::sum::SumEvaluator;
use crate::error::EvalError;
use crate::held::table::{HeldTable, HeldValues};
use crate::inverse::grow;
use crate::parameters::Parameters;
use crate::quantity::Quantity;
use crate::system::System;
use leastaction_compile::LANES;
use std::sync::Arc;

/// The energies of a system that are no formulas.
#[derive(Default)]
pub(crate) struct SystemEnergies {
    pub(crate) terms: Vec<SystemEnergy>,
    pub(crate) losses: Vec<SystemDissipation>,
    /// Held coordinates and their rates, if any of them are read.
    pub(crate) held: Option<[Arc<HeldTable>; 2]>,
}

impl SystemEnergies {
    /// The name of the first energy, or dissipation, that is no formula.
    pub(crate) fn first(&self) -> Option<&str> {
        let energies = self.terms.iter().map(|energy| energy.name.as_str());
        energies.chain(self.losses.iter().map(|loss| loss.name.as_str())).next()
    }

    /// Whether an energy depends on time.
    pub(crate) fn depend_on_time(&self) -> bool {
        self.terms.iter().any(|energy| match &energy.kind {
            SystemEnergyKind::Opaque(opaque) => opaque.opaque.time,
            SystemEnergyKind::Elements(elements) => elements.energy_rate.is_some(),
        })
    }

    /// An energy that depends on time, nobody knows how.
    pub(crate) fn unknown_in_time(&self) -> Option<&str> {
        let opaque =
            |energy: &&SystemEnergy| matches!(&energy.kind, SystemEnergyKind::Opaque(o) if o.opaque.time);
        self.terms.iter().find(opaque).map(|energy| energy.name.as_str())
    }
}

/// An energy that is no formula, in a system.
pub(crate) struct SystemEnergy {
    pub(crate) name: String,
    /// Its place among the shares.
    pub(crate) share: usize,
    pub(crate) kind: SystemEnergyKind,
}

pub(crate) enum SystemEnergyKind {
    Elements(ElementEnergy),
    Opaque(OpaqueTerm),
}

/// The energies of a system that are no formulas, with their parameters and the working memory of a thread.
#[derive(Clone)]
pub(crate) struct EnergySum {
    terms: Vec<Term>,
    pub(super) losses: Vec<DissipationTerm>,
    pub(super) degrees: usize,
    shares: usize,
    held: Option<Box<Held>>,
    /// A unit direction, and what forces change by along it.
    pub(super) direction: Vec<f64>,
    pub(super) change: Vec<f64>,
    memory: Memory,
}

/// Held coordinates, and states and forces with theirs after the others.
#[derive(Clone)]
struct Held {
    values: HeldValues,
    rates: HeldValues,
    states: Vec<f64>,
    velocities: Vec<f64>,
    forces: Vec<f64>,
}

#[derive(Clone)]
struct Term {
    share: usize,
    kind: TermKind,
}

#[derive(Clone)]
enum TermKind {
    Elements(Box<ElementTerm>),
    Opaque(OpaqueTerm),
}

#[derive(Clone)]
struct ElementTerm {
    energy: SumEvaluator,
    force: SumEvaluator,
    force_change: SumEvaluator,
    /// If it depends on time.
    energy_rate: Option<SumEvaluator>,
    /// What a parameter does to forces along a direction, for each that the energy reads; once that is asked for.
    by_parameters: Option<Vec<(u32, SumEvaluator)>>,
}

/// Where energies are evaluated: a block of states in any number of lanes, and the parameters of these.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) t: &'a [f64],
    pub(crate) states: &'a [f64],
    /// Velocities, where they are needed.
    pub(crate) velocities: &'a [f64],
    pub(crate) parameters: &'a Parameters,
}

/// One of the three things that an energy computes.
#[derive(Clone, Copy)]
pub(super) enum What<'a> {
    Energy,
    Force,
    /// Of the force, along a direction.
    Change(&'a [f64]),
    /// What time does to the energy.
    Rate,
}

impl<'a> Place<'a> {
    /// Of a state that is \[q…, v…\].
    fn in_configuration(self) -> Place<'a> {
        Place { velocities: &self.states[self.states.len() / 2..], ..self }
    }
}

impl EnergySum {
    pub(crate) fn new(
        energies: &SystemEnergies,
        degrees: usize,
        shares: usize,
        parameters: &Parameters,
    ) -> Result<EnergySum, EvalError> {
        let term = |energy: &SystemEnergy| {
            let kind = match &energy.kind {
                SystemEnergyKind::Opaque(opaque) => TermKind::Opaque(opaque.clone()),
                SystemEnergyKind::Elements(elements) => TermKind::Elements(Box::new(ElementTerm {
                    energy_rate: (elements.energy_rate.as_ref())
                        .map(|rate| SumEvaluator::new(rate, parameters))
                        .transpose()?,
                    energy: SumEvaluator::new(&elements.energy, parameters)?,
                    force: SumEvaluator::new(&elements.force, parameters)?,
                    force_change: SumEvaluator::new(&elements.force_change, parameters)?,
                    by_parameters: None,
                })),
            };
            Ok(Term { share: energy.share, kind })
        };
        Ok(EnergySum {
            terms: energies.terms.iter().map(term).collect::<Result<_, EvalError>>()?,
            losses: (energies.losses.iter())
                .map(|loss| DissipationTerm::new(loss, parameters))
                .collect::<Result<_, EvalError>>()?,
            degrees,
            shares,
            held: energies.held.as_ref().map(|tables| Held::new(tables, parameters)).transpose()?,
            direction: Vec::new(),
            change: Vec::new(),
            memory: Memory::default(),
        })
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.losses.is_empty()
    }

    /// Whether there is dissipation over elements, for which velocities are needed.
    #[inline]
    pub(crate) fn dissipates(&self) -> bool {
        !self.losses.is_empty()
    }

    /// Whether an energy reads coordinates that are held.
    pub(crate) fn reads_held(&self) -> bool {
        self.held.is_some()
    }

    pub(crate) fn set_parameters(&mut self, values: &[f64]) -> Result<(), EvalError> {
        for held in self.held.iter_mut().flat_map(|held| held.tables()) {
            held.set_parameters(values)?;
        }
        self.set(|evaluator| evaluator.set_parameters(values))
    }

    pub(crate) fn set_parameters_in(&mut self, lane: usize, values: &[f64]) -> Result<(), EvalError> {
        for held in self.held.iter_mut().flat_map(|held| held.tables()) {
            held.set_parameters_in(lane, values)?;
        }
        self.set(|evaluator| evaluator.set_parameters_in(lane, values))
    }

    /// Shows every evaluator to `set`.
    fn set(
        &mut self,
        mut set: impl FnMut(&mut SumEvaluator) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        for term in &mut self.terms {
            if let TermKind::Elements(elements) = &mut term.kind {
                let ElementTerm { energy, force, force_change, energy_rate, by_parameters } = &mut **elements;
                let slopes = by_parameters.iter_mut().flatten().map(|(_, slope)| slope);
                let all = [energy, force, force_change].into_iter().chain(energy_rate).chain(slopes);
                all.into_iter().try_for_each(&mut set)?;
            }
        }
        self.losses.iter_mut().flat_map(DissipationTerm::evaluators).try_for_each(set)
    }

    /// Adds what the energies give to a quantity at a block of states, in any number of lanes.
    pub(crate) fn add(
        &mut self,
        quantity: Quantity,
        at: Place<'_>,
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        let (n, width) = (self.degrees, at.t.len());
        match quantity {
            Quantity::Rates => {
                let (velocities, forces) = out.split_at_mut(n * width);
                self.add_forces(Place { velocities, ..at }, forces)
            }
            Quantity::Kick => self.add_forces(at, out), // without dissipation
            Quantity::MomentumRates | Quantity::NetForces => self.add_forces(at.in_configuration(), out),
            Quantity::Energy => self.with_held(at, |sum, at| {
                let EnergySum { terms, memory, .. } = sum;
                terms.iter_mut().try_for_each(|term| term.add(What::Energy, at, memory, out))
            }),
            Quantity::EnergyBalance => {
                self.add_balance(at, out)?;
                self.add_power(at.in_configuration(), &mut out[self.shares * width..])
            }
            // ∂ṗ/∂q is the lower left part of the one, and the middle part of the other.
            Quantity::Jacobian => {
                self.with_held(at, |sum, at| sum.add_force_changes(at, out, |i, j| (n + i) * 2 * n + j))
            }
            Quantity::ConfigurationJacobian => {
                let at = at.in_configuration();
                self.with_held(at, |sum, at| {
                    sum.add_force_changes(at, out, |i, j| (n + i) * n + j)?;
                    sum.add_loss_changes(at, out)
                })
            }
            Quantity::Reactions => self.add_reactions(at.in_configuration(), out),
            Quantity::Accelerations => Ok(()), // by `Dynamics`, which can solve with masses
            Quantity::Drift
            | Quantity::Momenta
            | Quantity::Inertia
            | Quantity::Positions
            | Quantity::Masses
            | Quantity::Damping
            | Quantity::Constraints
            | Quantity::ConstraintRates
            | Quantity::ConstraintJacobian
            | Quantity::ConstraintBias
            | Quantity::ConstraintRateJacobian
            | Quantity::MomentumJacobian
            | Quantity::ExcessSlopes
            | Quantity::Outputs
            | Quantity::Structure
            | Quantity::Gradient
            | Quantity::SwitchingFunctions => Ok(()),
        }
    }

    /// The energy of each element, of each energy of elements with its place among the shares.
    pub(crate) fn of_elements(&mut self, at: Place<'_>) -> Result<Vec<(usize, Vec<f64>)>, EvalError> {
        let mut all = Vec::new();
        self.with_held(at, |sum, at| {
            for term in &sum.terms {
                let TermKind::Elements(elements) = &term.kind else { continue };
                let shared = if elements.energy_rate.is_some() { at.t } else { &[] };
                all.push((term.share, elements.energy.each(at.states, shared, at.parameters)?));
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// Adds −∂V/∂q.
    pub(crate) fn add_forces(&mut self, at: Place<'_>, forces: &mut [f64]) -> Result<(), EvalError> {
        let len = self.degrees * at.t.len();
        self.with_all_forces(at, true, |all| all[..len].copy_from_slice(&forces[..len]))?;
        if let Some(held) = &self.held {
            forces[..len].copy_from_slice(&held.forces[..len]);
            return Ok(());
        }
        self.add_all(at, true, forces)
    }

    /// Adds −∂V/∂q, and −∂D/∂v if they are asked for.
    fn add_all(&mut self, at: Place<'_>, losses: bool, forces: &mut [f64]) -> Result<(), EvalError> {
        let EnergySum { terms, memory, .. } = self;
        terms.iter_mut().try_for_each(|term| term.add(What::Force, at, memory, forces))?;
        let losses = self.losses.iter_mut().filter(|_| losses);
        losses.into_iter().try_for_each(|loss| loss.add(Lost::Force, at.t, at.states, at.velocities, forces))
    }

    /// Takes forces on held coordinates from what holds them.
    fn add_reactions(&mut self, at: Place<'_>, out: &mut [f64]) -> Result<(), EvalError> {
        let len = self.degrees * at.t.len();
        self.with_all_forces(at, true, |all| all[..len].fill(0.0))?;
        if let Some(held) = &self.held {
            let forces = &held.forces[len..][..held.values.len() * at.t.len()];
            out.iter_mut().zip(forces).for_each(|(reaction, force)| *reaction -= force);
        }
        Ok(())
    }

    /// Adds, if there are held coordinates, forces on these and on the others to what `begin` makes of the latter.
    fn with_all_forces(
        &mut self,
        at: Place<'_>,
        losses: bool,
        begin: impl FnOnce(&mut [f64]),
    ) -> Result<(), EvalError> {
        let (free, width) = (self.degrees, at.t.len());
        let Some(held) = &mut self.held else { return Ok(()) };
        let mut forces = std::mem::take(&mut held.forces);
        let len = (free + held.values.len()) * width;
        grow(&mut forces, len);
        begin(&mut forces);
        forces[free * width..len].fill(0.0);
        let result = self.with_held(at, |sum, at| sum.add_all(at, losses, &mut forces));
        self.held.iter_mut().for_each(|held| held.forces = std::mem::take(&mut forces));
        result
    }

    /// Shows states in which held coordinates, if there are any that are read, stand after the others.
    pub(crate) fn with_held(
        &mut self,
        at: Place<'_>,
        act: impl FnOnce(&mut EnergySum, Place<'_>) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        let degrees = self.degrees;
        let Some(held) = &mut self.held else { return act(self, at) };
        let [mut states, mut speeds] = [&mut held.states, &mut held.velocities].map(std::mem::take);
        let mut filled = held.values.extend(at.t, at.states, degrees, &mut states);
        if !at.velocities.is_empty() {
            filled = filled.and_then(|()| held.rates.extend(at.t, at.velocities, degrees, &mut speeds));
        }
        let velocities = if at.velocities.is_empty() { &[] } else { &speeds[..] };
        let result = filled.and_then(|()| act(self, Place { states: &states, velocities, ..at }));
        if let Some(held) = &mut self.held {
            (held.states, held.velocities) = (states, speeds);
        }
        result
    }

    /// Adds −(∂²V/∂q²) d for directions, in any number of lanes: of all energies, or of opaque ones alone.
    pub(crate) fn add_change(
        &mut self,
        at: Place<'_>,
        opaque_alone: bool,
        direction: &[f64],
        forces: &mut [f64],
    ) -> Result<(), EvalError> {
        let (n, width) = (self.degrees * at.t.len(), at.t.len());
        let all = n + self.held.as_ref().map_or(0, |held| held.values.len()) * width;
        let (mut along, mut change) = (std::mem::take(&mut self.direction), std::mem::take(&mut self.change));
        grow(&mut along, all);
        grow(&mut change, all);
        along[..n].copy_from_slice(direction);
        along[n..all].fill(0.0);
        change.fill(0.0);
        let result = self.with_held(at, |sum, at| {
            let EnergySum { terms, memory, .. } = sum;
            let asked = |term: &&mut Term| !opaque_alone || matches!(term.kind, TermKind::Opaque(_));
            let mut asked = terms.iter_mut().filter(asked);
            asked.try_for_each(|term| term.add(What::Change(&along[..all]), at, memory, &mut change[..all]))
        });
        forces.iter_mut().zip(&change[..n]).for_each(|(force, change)| *force += change);
        (self.direction, self.change) = (along, change);
        result
    }

    /// Adds what weights of forces give to parameters, in rows: Σ wᵢ ∂fᵢ/∂c.
    pub(crate) fn add_parameter_slopes(
        &mut self,
        system: &System,
        at: Place<'_>,
        weights: &[f64],
        rows: &mut [f64],
    ) -> Result<(), EvalError> {
        let EnergySum { terms, memory, .. } = self;
        for (term, energy) in terms.iter_mut().zip(&system.energies().terms) {
            match (&mut term.kind, &energy.kind) {
                (TermKind::Opaque(opaque), _) => opaque.add_parameter_slopes(at, weights, memory, rows),
                (TermKind::Elements(term), SystemEnergyKind::Elements(elements)) => {
                    let slopes = match &mut term.by_parameters {
                        Some(slopes) => slopes,
                        empty => empty.insert(
                            (elements.by_parameters(system)?.iter())
                                .map(|(place, sum)| Ok((*place, SumEvaluator::new(sum, at.parameters)?)))
                                .collect::<Result<_, EvalError>>()?,
                        ),
                    };
                    let width = at.t.len();
                    let shared = if term.energy_rate.is_some() { at.t } else { &[] };
                    for (place, slope) in slopes {
                        let row = &mut rows[*place as usize * width..][..width];
                        slope.eval(Lanes::whole(width), &[at.states, weights], shared, row)?;
                    }
                }
                (TermKind::Elements(_), SystemEnergyKind::Opaque(_)) => {
                    unreachable!("terms stand in the order of the system's")
                }
            }
        }
        Ok(())
    }

    /// Adds energies to their shares, to V and to H, and takes them from L.
    fn add_balance(&mut self, at: Place<'_>, out: &mut [f64]) -> Result<(), EvalError> {
        let width = at.t.len();
        let (shares, totals) = out.split_at_mut(self.shares * width);
        self.with_held(at, |sum, at| {
            for term in &mut sum.terms {
                let share = &mut shares[term.share * width..][..width];
                term.add(What::Energy, at, &mut sum.memory, share)?;
                for (row, sign) in [(Row::Potential, 1.0), (Row::Lagrangian, -1.0), (Row::Energy, 1.0)] {
                    let total = &mut totals[row as usize * width..][..width];
                    total.iter_mut().zip(&*share).for_each(|(total, energy)| *total += sign * energy);
                }
            }
            Ok(())
        })
    }

    /// Adds what dissipation over elements takes, what that does to free coordinates, and what time does to energies: by itself, and by moving
    /// held coordinates.
    fn add_power(&mut self, at: Place<'_>, totals: &mut [f64]) -> Result<(), EvalError> {
        let (n, width) = (self.degrees, at.t.len());
        let mut rows = totals.chunks_exact_mut(width);
        let (Some(lost), Some(forces), Some(driven)) =
            (rows.nth(Row::Dissipated as usize), rows.next(), rows.next())
        else {
            unreachable!("these are the last rows")
        };
        self.with_held(at, |sum, at| {
            for term in &mut sum.terms {
                term.add(What::Rate, at, &mut sum.memory, driven)?;
            }
            let len = at.velocities.len();
            grow(&mut sum.change, len);
            let (losses, change) = (&mut sum.losses, &mut sum.change[..len]);
            change.fill(0.0);
            for loss in losses {
                loss.add(Lost::Power, at.t, at.states, at.velocities, lost)?;
                loss.add(Lost::Force, at.t, at.states, at.velocities, change)?;
            }
            add_products(&change[..n * width], &at.velocities[..n * width], forces);
            Ok(())
        })?;
        self.with_all_forces(at, false, |all| all[..n * width].fill(0.0))?;
        if let Some(held) = &mut self.held {
            let (len, count) = (n * width, held.values.len() * width);
            let moved = &mut held.velocities[len..][..count];
            moved.iter_mut().for_each(|v| *v = -*v);
            add_products(&held.forces[len..][..count], moved, driven);
        }
        Ok(())
    }

    /// Adds −∂²V/∂q², column by column, to a matrix whose entries stand at these rows.
    fn add_force_changes(
        &mut self,
        at: Place<'_>,
        out: &mut [f64],
        place: impl Fn(usize, usize) -> usize,
    ) -> Result<(), EvalError> {
        let (n, width) = (self.degrees, at.t.len());
        let all = (n + self.held.as_ref().map_or(0, |held| held.values.len())) * width;
        let EnergySum { terms, direction, change, memory, .. } = self;
        grow(direction, all);
        grow(change, all);
        let (direction, change) = (&mut direction[..all], &mut change[..all]);
        direction.fill(0.0);
        for j in 0..n {
            direction[j * width..][..width].fill(1.0);
            change.fill(0.0);
            for term in terms.iter_mut() {
                term.add(What::Change(direction), at, memory, change)?;
            }
            direction[j * width..][..width].fill(0.0);
            for (i, change) in change.chunks_exact(width).enumerate().take(n) {
                let entries = &mut out[place(i, j) * width..][..width];
                entries.iter_mut().zip(change).for_each(|(entry, change)| *entry += change);
            }
        }
        Ok(())
    }
}

impl Held {
    fn new(tables: &[Arc<HeldTable>; 2], parameters: &Parameters) -> Result<Box<Held>, EvalError> {
        let [values, rates] = tables;
        Ok(Box::new(Held {
            values: HeldValues::new(values, parameters)?,
            rates: HeldValues::new(rates, parameters)?,
            states: Vec::new(),
            velocities: Vec::new(),
            forces: Vec::new(),
        }))
    }

    fn tables(&mut self) -> [&mut HeldValues; 2] {
        [&mut self.values, &mut self.rates]
    }
}

impl Term {
    fn add(
        &mut self,
        what: What<'_>,
        at: Place<'_>,
        memory: &mut Memory,
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        let Place { t, states, .. } = at;
        match &mut self.kind {
            TermKind::Opaque(opaque) => {
                opaque.add(what, at, memory, out);
                Ok(())
            }
            TermKind::Elements(elements) => {
                let ElementTerm { energy, force, force_change, energy_rate, .. } = &mut **elements;
                for offset in (0..t.len()).step_by(LANES) {
                    let lanes = Lanes { width: t.len().min(LANES), stride: t.len(), offset };
                    let shared = if energy_rate.is_some() { &t[offset..][..lanes.width] } else { &[] };
                    match what {
                        What::Energy => energy.eval(lanes, &[states], shared, out)?,
                        What::Force => force.eval(lanes, &[states], shared, out)?,
                        What::Change(along) => force_change.eval(lanes, &[states, along], shared, out)?,
                        What::Rate => {
                            if let Some(rate) = energy_rate {
                                rate.eval(lanes, &[states], shared, out)?;
                            }
                        }
                    }
                }
                Ok(())
            }
        }
    }
}

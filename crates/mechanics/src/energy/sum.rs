//! What energies that are no formulas add to the quantities of a system.

use super::{Batch, Opaque};
use crate::dynamics::Row;
use crate::element::ElementEnergy;
use crate::element::map::Lanes;
use crate::element::sum::SumEvaluator;
use crate::error::EvalError;
use crate::held::table::{HeldTable, HeldValues};
use crate::inverse::grow;
use crate::parameters::Parameters;
use crate::quantity::Quantity;
use leastaction_compile::LANES;
use std::sync::Arc;

/// The energies of a system that are no formulas.
#[derive(Default)]
pub(crate) struct SystemEnergies {
    pub(crate) terms: Vec<SystemEnergy>,
    /// Held coordinates, if any of them are read.
    pub(crate) held: Option<Arc<HeldTable>>,
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

/// An opaque energy, and which parameters of the system it reads.
#[derive(Clone)]
pub(crate) struct OpaqueTerm {
    pub(crate) opaque: Opaque,
    pub(crate) parameters: Arc<[u32]>,
}

/// The energies of a system that are no formulas, with their parameters and the working memory of a thread.
#[derive(Clone)]
pub(crate) struct EnergySum {
    terms: Vec<Term>,
    degrees: usize,
    shares: usize,
    held: Option<Box<Held>>,
    /// A unit direction, and what forces change by along it.
    direction: Vec<f64>,
    change: Vec<f64>,
    memory: Memory,
}

/// Held coordinates, and states and forces with theirs after the others.
#[derive(Clone)]
struct Held {
    values: HeldValues,
    states: Vec<f64>,
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
    timed: bool,
    energy: SumEvaluator,
    force: SumEvaluator,
    force_change: SumEvaluator,
}

/// Room for opaque energies: what they read, along what, what they give, and what they work with.
#[derive(Clone, Default)]
struct Memory {
    q: Vec<f64>,
    parameters: Vec<f64>,
    direction: Vec<f64>,
    out: Vec<f64>,
    own: Vec<f64>,
}

/// Where energies are evaluated: a block of states in any number of lanes, and the parameters of these.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) t: &'a [f64],
    pub(crate) states: &'a [f64],
    pub(crate) parameters: &'a Parameters,
}

/// One of the three things that an energy computes.
#[derive(Clone, Copy)]
enum What<'a> {
    Energy,
    Force,
    /// Of the force, along a direction.
    Change(&'a [f64]),
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
                    timed: elements.timed,
                    energy: SumEvaluator::new(&elements.energy, parameters)?,
                    force: SumEvaluator::new(&elements.force, parameters)?,
                    force_change: SumEvaluator::new(&elements.force_change, parameters)?,
                })),
            };
            Ok(Term { share: energy.share, kind })
        };
        Ok(EnergySum {
            terms: energies.terms.iter().map(term).collect::<Result<_, EvalError>>()?,
            degrees,
            shares,
            held: energies.held.as_ref().map(|table| Held::new(table, parameters)).transpose()?,
            direction: Vec::new(),
            change: Vec::new(),
            memory: Memory::default(),
        })
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    pub(crate) fn set_parameters(&mut self, values: &[f64]) -> Result<(), EvalError> {
        self.held.as_mut().map_or(Ok(()), |held| held.values.set_parameters(values))?;
        self.set(|evaluator| evaluator.set_parameters(values))
    }

    pub(crate) fn set_parameters_in(&mut self, lane: usize, values: &[f64]) -> Result<(), EvalError> {
        self.held.as_mut().map_or(Ok(()), |held| held.values.set_parameters_in(lane, values))?;
        self.set(|evaluator| evaluator.set_parameters_in(lane, values))
    }

    /// Shows every evaluator to `set`.
    fn set(
        &mut self,
        mut set: impl FnMut(&mut SumEvaluator) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        for term in &mut self.terms {
            if let TermKind::Elements(elements) = &mut term.kind {
                let ElementTerm { energy, force, force_change, .. } = &mut **elements;
                [energy, force, force_change].into_iter().try_for_each(&mut set)?;
            }
        }
        Ok(())
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
            Quantity::Rates => self.add_forces(at, &mut out[n * width..]),
            Quantity::Kick | Quantity::MomentumRates | Quantity::NetForces => self.add_forces(at, out),
            Quantity::Energy => self.with_held(at, |sum, at| {
                let EnergySum { terms, memory, .. } = sum;
                terms.iter_mut().try_for_each(|term| term.add(What::Energy, at, memory, out))
            }),
            Quantity::EnergyBalance => self.with_held(at, |sum, at| sum.add_balance(at, out)),
            // ∂ṗ/∂q is the lower left part of the one, and the middle part of the other.
            Quantity::Jacobian => {
                self.with_held(at, |sum, at| sum.add_force_changes(at, out, |i, j| (n + i) * 2 * n + j))
            }
            Quantity::ConfigurationJacobian => {
                self.with_held(at, |sum, at| sum.add_force_changes(at, out, |i, j| (n + i) * n + j))
            }
            Quantity::Reactions => self.add_reactions(at, out),
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
            | Quantity::Outputs
            | Quantity::Structure
            | Quantity::Gradient
            | Quantity::SwitchingFunctions => Ok(()),
        }
    }

    /// Adds −∂V/∂q.
    pub(crate) fn add_forces(&mut self, at: Place<'_>, forces: &mut [f64]) -> Result<(), EvalError> {
        let len = self.degrees * at.t.len();
        self.with_all_forces(at, |all| all[..len].copy_from_slice(&forces[..len]))?;
        if let Some(held) = &self.held {
            forces[..len].copy_from_slice(&held.forces[..len]);
            return Ok(());
        }
        let EnergySum { terms, memory, .. } = self;
        terms.iter_mut().try_for_each(|term| term.add(What::Force, at, memory, forces))
    }

    /// Takes forces on held coordinates from what holds them.
    fn add_reactions(&mut self, at: Place<'_>, out: &mut [f64]) -> Result<(), EvalError> {
        let len = self.degrees * at.t.len();
        self.with_all_forces(at, |all| all[..len].fill(0.0))?;
        if let Some(held) = &self.held {
            let forces = &held.forces[len..][..held.values.len() * at.t.len()];
            out.iter_mut().zip(forces).for_each(|(reaction, force)| *reaction -= force);
        }
        Ok(())
    }

    /// Adds, if there are held coordinates, forces on these and on the others to what `begin` makes of the latter.
    fn with_all_forces(&mut self, at: Place<'_>, begin: impl FnOnce(&mut [f64])) -> Result<(), EvalError> {
        let (free, width) = (self.degrees, at.t.len());
        let Some(held) = &mut self.held else { return Ok(()) };
        let mut forces = std::mem::take(&mut held.forces);
        let len = (free + held.values.len()) * width;
        grow(&mut forces, len);
        begin(&mut forces);
        forces[free * width..len].fill(0.0);
        let result = self.with_held(at, |sum, at| {
            let EnergySum { terms, memory, .. } = sum;
            terms.iter_mut().try_for_each(|term| term.add(What::Force, at, memory, &mut forces))
        });
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
        let mut states = std::mem::take(&mut held.states);
        let filled = held.values.extend(at, degrees, &mut states);
        let result = filled.and_then(|()| act(self, Place { states: &states, ..at }));
        self.held.iter_mut().for_each(|held| held.states = std::mem::take(&mut states));
        result
    }

    /// Adds −(∂²V/∂q²) d for a direction of one state: of all energies, or of opaque ones alone.
    pub(crate) fn add_change(
        &mut self,
        at: Place<'_>,
        opaque_alone: bool,
        direction: &[f64],
        forces: &mut [f64],
    ) -> Result<(), EvalError> {
        let n = self.degrees;
        let all = n + self.held.as_ref().map_or(0, |held| held.values.len());
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

    /// Adds energies to their shares, to V and to H, and takes them from L.
    fn add_balance(&mut self, at: Place<'_>, out: &mut [f64]) -> Result<(), EvalError> {
        let width = at.t.len();
        let (shares, totals) = out.split_at_mut(self.shares * width);
        for term in &mut self.terms {
            let share = &mut shares[term.share * width..][..width];
            term.add(What::Energy, at, &mut self.memory, share)?;
            for (row, sign) in [(Row::Potential, 1.0), (Row::Lagrangian, -1.0), (Row::Energy, 1.0)] {
                let total = &mut totals[row as usize * width..][..width];
                total.iter_mut().zip(&*share).for_each(|(total, energy)| *total += sign * energy);
            }
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
    fn new(table: &Arc<HeldTable>, parameters: &Parameters) -> Result<Box<Held>, EvalError> {
        let values = HeldValues::new(table, parameters)?;
        Ok(Box::new(Held { values, states: Vec::new(), forces: Vec::new() }))
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
                let ElementTerm { timed, energy, force, force_change } = &mut **elements;
                for offset in (0..t.len()).step_by(LANES) {
                    let lanes = Lanes { width: t.len().min(LANES), stride: t.len(), offset };
                    let shared = if *timed { &t[offset..][..lanes.width] } else { &[] };
                    match what {
                        What::Energy => energy.eval(lanes, &[states], shared, out)?,
                        What::Force => force.eval(lanes, &[states], shared, out)?,
                        What::Change(along) => force_change.eval(lanes, &[states, along], shared, out)?,
                    }
                }
                Ok(())
            }
        }
    }
}

impl OpaqueTerm {
    fn add(&self, what: What<'_>, at: Place<'_>, memory: &mut Memory, out: &mut [f64]) {
        let OpaqueTerm { opaque: Opaque { energy, coordinates, .. }, parameters: read } = self;
        let (t, width) = (at.t, at.t.len());
        let len = coordinates.len() * width;
        let Memory { q, parameters, direction, out: found, own } = memory;
        let gather = |from: &[f64], to: &mut Vec<f64>| {
            grow(to, len);
            for (row, &i) in to.chunks_exact_mut(width).zip(&**coordinates) {
                row.copy_from_slice(&from[i as usize * width..][..width]);
            }
        };
        grow(parameters, read.len() * width);
        for (row, &i) in parameters.chunks_exact_mut(width).zip(&**read) {
            // Of more than eight lanes, each has the parameters of its place in groups of eight.
            row.iter_mut().enumerate().for_each(|(lane, value)| {
                let values =
                    if width == 1 { at.parameters.single() } else { at.parameters.lane(lane % LANES) };
                *value = values[i as usize];
            });
        }
        gather(at.states, q);
        let parameters = &parameters[..read.len() * width];
        let (at, needed) = (Batch { t, q: &q[..len], parameters, stride: width }, energy.memory(width));
        grow(own, needed);
        grow(found, len.max(width));
        let own = &mut own[..needed];
        match what {
            What::Energy => {
                energy.energy(at, own, &mut found[..width]);
                out.iter_mut().zip(&*found).for_each(|(sum, energy)| *sum += energy);
                return;
            }
            What::Force => energy.gradient(at, own, &mut found[..len]),
            What::Change(along) => {
                gather(along, direction);
                energy.hessian_product(at, &direction[..len], own, &mut found[..len]);
            }
        }
        for (row, &i) in found.chunks_exact(width).zip(&**coordinates) {
            let sums = &mut out[i as usize * width..][..width];
            sums.iter_mut().zip(row).for_each(|(sum, slope)| *sum -= slope);
        }
    }
}

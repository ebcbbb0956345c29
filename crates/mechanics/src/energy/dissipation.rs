//! Dissipation over elements: one dissipation function D(q, v) of an element, summed over many.

use super::sum::{EnergySum, Place};
use crate::check::{Kind, declared, uses};
use crate::element::Elements;
use crate::element::map::Lanes;
use crate::element::sum::{ElementSum, Into, SumEvaluator};
use crate::energy::EnergyError;
use crate::equations::rate;
use crate::error::{EvalError, ModelError, Site, TermKind};
use crate::inverse::grow;
use crate::parameters::Parameters;
use leastaction_compile::{CodeError, CompileError, Kernel, LANES, Program};
use leastaction_expr::{Expr, Graph, IntoExpr, jvp, rebind};
use std::sync::Arc;

/// A dissipation function D(q, v): an expression, or one expression over many elements.
#[derive(Clone, Debug)]
pub enum Dissipation<'g> {
    /// An expression of coordinates, velocities, time and parameters.
    Formula(Expr<'g>),
    /// One expression, summed over many elements: of their slots, and of the velocities of these, which are [`Expr::dot`] of them.
    Elements(Elements<'g>),
}

/// What can be added to a model as a dissipation function: expressions and numbers, and [`Elements`].
pub trait IntoDissipation<'g> {
    /// The dissipation function, whose expressions live in this graph.
    fn into_dissipation(self, graph: &'g Graph) -> Dissipation<'g>;
}

impl<'g, T: IntoExpr<'g>> IntoDissipation<'g> for T {
    fn into_dissipation(self, graph: &'g Graph) -> Dissipation<'g> {
        Dissipation::Formula(self.into_expr(graph))
    }
}

impl<'g> IntoDissipation<'g> for Elements<'g> {
    fn into_dissipation(self, graph: &'g Graph) -> Dissipation<'g> {
        Dissipation::Elements(self.adopted(graph))
    }
}

/// A named dissipation function over elements.
#[derive(Clone, Debug)]
pub struct ElementDissipation<'g> {
    /// The name.
    pub name: String,
    /// The elements, whose energy is the dissipation function.
    pub elements: Elements<'g>,
}

rebind!(ElementDissipation { elements; name });

/// The power of all elements, −∂D/∂v, and how that changes along a direction, each of which is added to what is there.
pub(crate) struct SystemDissipation {
    pub(crate) name: String,
    power: Arc<ElementSum>,
    force: Arc<ElementSum>,
    change: Arc<ElementSum>,
    timed: bool,
}

impl<'g> ElementDissipation<'g> {
    /// Checks the names in the function, among those of the model that may stand in it.
    pub(crate) fn check(&self, outside: impl Iterator<Item = (Expr<'g>, Kind)>) -> Result<(), ModelError> {
        let wrong =
            |source| ModelError::Energy { kind: TermKind::Dissipation, name: self.name.clone(), source };
        if !self.elements.implicit.is_empty() {
            return Err(wrong(EnergyError::ImplicitDissipation));
        }
        let slots = self.elements.slots.iter();
        let own = slots.flat_map(|&slot| [(slot, Kind::Coordinate), (rate(slot), Kind::Velocity)]);
        let constants = self.elements.constants.iter().map(|&constant| (constant, Kind::Parameter));
        let known = declared(outside.chain(own).chain(constants))?;
        let allowed = &[Kind::Parameter, Kind::Time, Kind::Coordinate, Kind::Velocity];
        uses(&known, Site::Term(TermKind::Dissipation, self.name.clone()), self.elements.energy, allowed)?;
        self.elements.check_lists().map_err(wrong)
    }

    pub(crate) fn compile(
        &self,
        time: Expr<'g>,
        parameters: &[Expr<'g>],
        compile: impl Fn(Program) -> Result<Kernel, CompileError>,
    ) -> Result<SystemDissipation, CodeError> {
        let elements = &self.elements;
        let velocities: Vec<_> = elements.slots.iter().map(|&slot| rate(slot)).collect();
        // Symbols that stand for nothing else in a function of positions and velocities.
        let moved: Vec<_> = velocities.iter().map(|&v| rate(v)).collect();
        let turned: Vec<_> = moved.iter().map(|&x| rate(x)).collect();
        let slopes = elements.energy.gradient(&velocities);
        let power = elements.energy.graph().sum(slopes.iter().zip(&velocities).map(|(&slope, &v)| slope * v));
        let force: Vec<_> = slopes.into_iter().map(|slope| -slope).collect();
        let along = elements.slots.iter().zip(&moved).chain(velocities.iter().zip(&turned));
        let change = jvp(&force, &along.map(|(&x, &dx)| (x, dx)).collect::<Vec<_>>());
        let parts = elements.parts();
        let sum = |arrays: &[&[Expr<'g>]], outputs: &[Expr<'g>], into| {
            elements.sum(&parts, time, parameters, arrays, outputs, into, &compile).map(Arc::new)
        };
        Ok(SystemDissipation {
            name: self.name.clone(),
            power: sum(&[&velocities], &[power], Into::Total)?,
            force: sum(&[&velocities], &force, Into::Coordinates)?,
            change: sum(&[&velocities, &moved, &turned], &change, Into::Coordinates)?,
            timed: elements.depends_on(time),
        })
    }
}

/// Dissipation over elements, with parameters and the working memory of a thread.
#[derive(Clone)]
pub(super) struct DissipationTerm {
    timed: bool,
    power: SumEvaluator,
    force: SumEvaluator,
    change: SumEvaluator,
}

/// One of the three things that a dissipation computes.
#[derive(Clone, Copy)]
pub(super) enum Lost<'a> {
    Power,
    Force,
    /// Of the force, along a direction of coordinates and one of velocities.
    Change(&'a [f64], &'a [f64]),
}

impl DissipationTerm {
    pub(super) fn new(
        dissipation: &SystemDissipation,
        parameters: &Parameters,
    ) -> Result<DissipationTerm, EvalError> {
        Ok(DissipationTerm {
            timed: dissipation.timed,
            power: SumEvaluator::new(&dissipation.power, parameters)?,
            force: SumEvaluator::new(&dissipation.force, parameters)?,
            change: SumEvaluator::new(&dissipation.change, parameters)?,
        })
    }

    pub(super) fn evaluators(&mut self) -> [&mut SumEvaluator; 3] {
        [&mut self.power, &mut self.force, &mut self.change]
    }

    /// Adds one of them at coordinates and velocities, in any number of lanes.
    pub(super) fn add(
        &mut self,
        what: Lost<'_>,
        t: &[f64],
        q: &[f64],
        v: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        for offset in (0..t.len()).step_by(LANES) {
            let lanes = Lanes { width: t.len().min(LANES), stride: t.len(), offset };
            let shared = if self.timed { &t[offset..][..lanes.width] } else { &[] };
            match what {
                Lost::Power => self.power.eval(lanes, &[q, v], shared, out)?,
                Lost::Force => self.force.eval(lanes, &[q, v], shared, out)?,
                Lost::Change(dq, dv) => self.change.eval(lanes, &[q, v, dq, dv], shared, out)?,
            }
        }
        Ok(())
    }
}

impl EnergySum {
    /// Adds −∂²D/∂v∂q and −∂²D/∂v², column by column, to the second and third part of derivatives in configuration space.
    pub(super) fn add_loss_changes(&mut self, at: Place<'_>, out: &mut [f64]) -> Result<(), EvalError> {
        if self.losses.is_empty() {
            return Ok(());
        }
        let (n, width, all) = (self.degrees, at.t.len(), at.velocities.len());
        let EnergySum { losses, direction, change, .. } = self;
        grow(direction, 2 * all);
        grow(change, all);
        let (direction, change) = (&mut direction[..2 * all], &mut change[..all]);
        direction.fill(0.0);
        for (part, j) in [0, 1].into_iter().flat_map(|part| (0..n).map(move |j| (part, j))) {
            let place = part * all + j * width;
            direction[place..][..width].fill(1.0);
            change.fill(0.0);
            let (dq, dv) = direction.split_at(all);
            for loss in losses.iter_mut() {
                loss.add(Lost::Change(dq, dv), at.t, at.states, at.velocities, change)?;
            }
            direction[place..][..width].fill(0.0);
            for (i, change) in change.chunks_exact(width).enumerate().take(n) {
                let entries = &mut out[(((1 + part) * n + i) * n + j) * width..][..width];
                entries.iter_mut().zip(change).for_each(|(entry, change)| *entry += change);
            }
        }
        Ok(())
    }

    /// Adds −(∂²D/∂v²) d at rest for a direction of one state.
    pub(crate) fn add_loss_change(
        &mut self,
        at: Place<'_>,
        direction: &[f64],
        forces: &mut [f64],
    ) -> Result<(), EvalError> {
        let still = vec![0.0; self.degrees];
        self.with_held(Place { velocities: &still, ..at }, |sum, at| {
            let all = at.velocities.len();
            let (zero, mut along, mut change) = (vec![0.0; all], direction.to_vec(), vec![0.0; all]);
            along.resize(all, 0.0);
            // Small motions are about rest, whatever moves what is held.
            for loss in &mut sum.losses {
                loss.add(Lost::Change(&zero, &along), at.t, at.states, &zero, &mut change)?;
            }
            forces.iter_mut().zip(&change).for_each(|(force, change)| *force += change);
            Ok(())
        })
    }
}

//! Dissipation over elements: one dissipation function D(q, v) of an element, summed over many.

use crate::check::{Kind, declared, uses};
use crate::element::Elements;
use crate::element::map::Lanes;
use crate::element::sum::{ElementSum, Into, SumEvaluator};
use crate::energy::EnergyError;
use crate::equations::rate;
use crate::error::{EvalError, ModelError, Site, TermKind};
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

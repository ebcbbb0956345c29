//! Elements: one energy over many places.

mod derive;
mod evaluator;
pub(crate) mod map;
mod parts;
pub(crate) mod search;
pub(crate) mod sum;
mod worker;

pub use derive::Implicit;
pub use evaluator::{ElementHessians, ElementsError, ElementsEvaluator};

use crate::check::{Kind, declared, uses};
use crate::energy::EnergyError;
use crate::equations::{depend, rate};
use crate::error::{EvalError, ModelError, Site, TermKind};
use crate::source::Source;
use crate::system::System;
use leastaction_compile::{CodeError, CompileError, Kernel, Program};
use leastaction_expr::{Expr, Graph, Id, rebind};
use parts::Parts;
use std::sync::{Arc, OnceLock};
use sum::{ElementSum, Into};

/// One formula over many elements: the potential energy Σ V(x…, c…, t) where x are coordinates that each element reads, and c constants
/// of its own. Parameters of the model and time may stand in it, too.
///
/// ```
/// use leastaction_expr::Graph;
/// use leastaction_mechanics::{Elements, Model};
///
/// // Two springs in a row, of different lengths.
/// let graph = Graph::new();
/// let mut model = Model::new(&graph);
/// let k = model.parameter("k", 10.0);
/// for (name, q) in ["first", "second", "third"].into_iter().zip(model.coordinates(["x", "y", "z"])) {
///     model.particle(name, 1.0, [q]);
/// }
/// let [a, b, length] = ["a", "b", "length"].map(|name| graph.symbol(name));
/// model.potential("springs", Elements {
///     energy: 0.5 * k * (b - a - length).pow(2),
///     slots: vec![a, b],
///     coordinates: [0, 1, 1, 2].into(),
///     constants: vec![length],
///     values: [1.0, 2.0].into(),
///     implicit: vec![],
/// });
/// let mut dynamics = model.system()?.dynamics()?;
/// let mut rates = [0.0; 6];
/// dynamics.rates(&[0.0], &[0.0, 1.5, 3.5, 0.0, 0.0, 0.0], &mut rates)?;
/// assert_eq!(rates[3..], [5.0, -5.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Elements<'g> {
    /// The energy of one element.
    pub energy: Expr<'g>,
    /// The symbols in it that stand for coordinates.
    pub slots: Vec<Expr<'g>>,
    /// For each element and slot, the coordinate by its index in the model.
    pub coordinates: Arc<[u32]>,
    /// The symbols in it that stand for constants of an element.
    pub constants: Vec<Expr<'g>>,
    /// For each element and constant, its value.
    pub values: Arc<[f64]>,
    /// The numbers of an element that are given by an equation.
    pub implicit: Vec<Implicit<'g>>,
}

rebind!(Elements { energy, slots, constants, implicit; coordinates, values });

/// The energy of all elements, −∂V/∂q, and −(∂²V/∂q²) d for a direction d, each of which is added to what is there.
pub(crate) struct ElementEnergy {
    pub(crate) energy: Arc<ElementSum>,
    pub(crate) force: Arc<ElementSum>,
    pub(crate) force_change: Arc<ElementSum>,
    /// ∂V/∂t, if time is one of the inputs.
    pub(crate) energy_rate: Option<Arc<ElementSum>>,
    pub(crate) formula: ElementFormula,
    /// What parameters do to forces along a direction, derived when it is asked for.
    by_parameters: OnceLock<Vec<(u32, Arc<ElementSum>)>>,
}

impl ElementEnergy {
    /// Σ dᵢ ∂fᵢ/∂c of all elements, for a direction d and each parameter c that their energy reads, by its place.
    pub(crate) fn by_parameters(&self, system: &System) -> Result<&[(u32, Arc<ElementSum>)], EvalError> {
        if let Some(known) = self.by_parameters.get() {
            return Ok(known);
        }
        let derived = system.with_source(|source| source.parameter_slopes(self));
        let what = "derivatives of forces by parameters";
        let derived = derived.map_err(|source| EvalError::Compile { what, source })?;
        Ok(self.by_parameters.get_or_init(|| derived))
    }
}

/// The formula of elements without its graph, which the system keeps: from it, Hessians are derived when they are asked for.
pub(crate) struct ElementFormula {
    energy: Id,
    pub(crate) slots: Vec<Id>,
    pub(crate) coordinates: Arc<[u32]>,
    constants: Vec<Id>,
    values: Arc<[f64]>,
    /// Symbol, equation and solution.
    implicit: Vec<[Id; 3]>,
}

impl ElementFormula {
    fn new(elements: &Elements<'_>) -> ElementFormula {
        let ids = |list: &[Expr<'_>]| list.iter().map(|e| e.id()).collect();
        ElementFormula {
            energy: elements.energy.id(),
            slots: ids(&elements.slots),
            coordinates: elements.coordinates.clone(),
            constants: ids(&elements.constants),
            values: elements.values.clone(),
            implicit: elements
                .implicit
                .iter()
                .map(|i| [i.symbol, i.equation, i.solution].map(|e| e.id()))
                .collect(),
        }
    }

    fn on<'g>(&self, graph: &'g Graph) -> Elements<'g> {
        let all = |ids: &[Id]| ids.iter().map(|&id| graph.at(id)).collect();
        let implicit = self.implicit.iter().map(|ids| {
            let [symbol, equation, solution] = ids.map(|id| graph.at(id));
            Implicit { symbol, equation, solution }
        });
        Elements {
            energy: graph.at(self.energy),
            slots: all(&self.slots),
            coordinates: self.coordinates.clone(),
            constants: all(&self.constants),
            values: self.values.clone(),
            implicit: implicit.collect(),
        }
    }
}

impl Source {
    /// The lower triangles of the Hessians of the elements of an energy.
    pub(crate) fn hessians(&self, energy: &ElementEnergy) -> Result<ElementSum, CodeError> {
        let elements = energy.formula.on(&self.graph);
        let parameters = self.expressions(&self.parameters);
        elements.compile_hessians(self.graph.at(self.time), &parameters, Kernel::compile_lightly)
    }

    /// What each parameter that an energy reads does to the forces of its elements, along a direction.
    fn parameter_slopes(&self, energy: &ElementEnergy) -> Result<Vec<(u32, Arc<ElementSum>)>, CodeError> {
        let elements = energy.formula.on(&self.graph);
        let (time, parameters) = (self.graph.at(self.time), self.expressions(&self.parameters));
        let derived = elements.derived();
        let directions: Vec<_> = elements.slots.iter().map(|&slot| rate(slot)).collect();
        let (parts, used) = (elements.parts(), elements.expressions());
        let read = parameters.iter().zip(0..).filter(|(parameter, _)| depend(&used, &[**parameter]));
        let slopes = read.map(|(&parameter, place)| {
            let change = elements.force_change(&derived, &[(parameter, parameter.like(1.0))]);
            let along = self.graph.sum(change.iter().zip(&directions).map(|(&change, &d)| change * d));
            let compile = Kernel::compile_lightly;
            let sum =
                elements.sum(&parts, time, &parameters, &[&directions], &[along], Into::Total, &compile)?;
            Ok((place, Arc::new(sum)))
        });
        slopes.collect()
    }
}

impl<'g> Elements<'g> {
    /// The same in this graph.
    pub(crate) fn adopted(self, graph: &'g Graph) -> Elements<'g> {
        let adopt = |list: &[Expr<'g>]| list.iter().map(|&e| graph.adopt(e)).collect();
        let implicit = self.implicit.iter().map(|i| Implicit {
            symbol: graph.adopt(i.symbol),
            equation: graph.adopt(i.equation),
            solution: graph.adopt(i.solution),
        });
        Elements {
            energy: graph.adopt(self.energy),
            implicit: implicit.collect(),
            slots: adopt(&self.slots),
            constants: adopt(&self.constants),
            ..self
        }
    }

    /// Gives the coordinates their new indices.
    pub(crate) fn renumber(&mut self, new: &[u32]) {
        self.coordinates = self.coordinates.iter().map(|&i| new[i as usize]).collect();
    }

    fn count(&self) -> usize {
        self.coordinates.len() / self.slots.len()
    }

    pub(crate) fn depends_on(&self, time: Expr<'g>) -> bool {
        depend(&self.expressions(), &[time])
    }

    /// The energy, and what gives implicit numbers.
    fn expressions(&self) -> Vec<Expr<'g>> {
        let implicit = self.implicit.iter().flat_map(|i| [i.equation, i.solution]);
        std::iter::once(self.energy).chain(implicit).collect()
    }

    /// The same, to be replaced.
    pub(crate) fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr<'g>> {
        let implicit = self.implicit.iter_mut().flat_map(|i| [&mut i.equation, &mut i.solution]);
        std::iter::once(&mut self.energy).chain(implicit)
    }

    /// Checks the names in the formula, among those of the model that may stand in it.
    pub(crate) fn check(
        &self,
        name: &str,
        outside: impl Iterator<Item = (Expr<'g>, Kind)>,
    ) -> Result<(), ModelError> {
        let own = self.slots.iter().map(|&slot| (slot, Kind::Coordinate));
        let own = own.chain(self.constants.iter().map(|&constant| (constant, Kind::Parameter)));
        let known: Vec<_> = outside.chain(own).collect();
        let allowed = &[Kind::Parameter, Kind::Time, Kind::Coordinate];
        let site = || Site::Term(TermKind::Potential, name.to_owned());
        let solved = declared(known.iter().copied())?;
        self.implicit.iter().try_for_each(|i| uses(&solved, site(), i.solution, allowed))?;
        // An implicit number stands in the energy and in its own equation.
        let implicit = self.implicit.iter().map(|i| (i.symbol, Kind::Coordinate));
        let with = declared(known.iter().copied().chain(implicit))?;
        uses(&with, site(), self.energy, allowed)?;
        for (i, implicit) in self.implicit.iter().enumerate() {
            let own = std::iter::once((implicit.symbol, Kind::Coordinate));
            let with = declared(known.iter().copied().chain(own))?;
            uses(&with, site(), implicit.equation, allowed)?;
            if !depend(&[implicit.equation], &[implicit.symbol]) {
                return Err(ModelError::Energy {
                    kind: TermKind::Potential,
                    name: name.to_owned(),
                    source: EnergyError::NoEquation { number: i },
                });
            }
        }
        self.check_lists().map_err(|source| ModelError::Energy {
            kind: TermKind::Potential,
            name: name.to_owned(),
            source,
        })
    }

    /// Checks the lists of coordinates and constants.
    pub(crate) fn check_lists(&self) -> Result<(), EnergyError> {
        let wrong = Err;
        if self.slots.is_empty() {
            return wrong(EnergyError::NoSlots);
        }
        let (slots, found) = (self.slots.len(), self.coordinates.len());
        if found % slots != 0 {
            return wrong(EnergyError::PartialElement { slots, found });
        }
        let (constants, expected) = (self.constants.len(), self.count() * self.constants.len());
        if expected != self.values.len() {
            return wrong(EnergyError::Constants { expected, found: self.values.len() });
        }
        match self.values.iter().position(|value| !value.is_finite()) {
            Some(i) => wrong(EnergyError::NotFinite { element: i / constants, constant: i % constants }),
            None => Ok(()),
        }
    }

    /// As [`Elements::check`], outside of a model: coordinates are as many as are read.
    fn check_alone(&self, time: Expr<'g>, parameters: &[Expr<'g>]) -> Result<(), ModelError> {
        let parameters = parameters.iter().map(|&parameter| (parameter, Kind::Parameter));
        self.check("elements", parameters.chain([(time, Kind::Time)]))
    }

    /// Differentiates the energy of one element, and compiles it. Parameters are those of the model.
    pub(crate) fn compile(
        &self,
        time: Expr<'g>,
        parameters: &[Expr<'g>],
        compile: impl Fn(Program) -> Result<Kernel, CompileError>,
    ) -> Result<ElementEnergy, CodeError> {
        let derived = self.derived();
        // The symbol of a velocity stands for nothing else in a potential.
        let directions: Vec<_> = self.slots.iter().map(|&slot| rate(slot)).collect();
        let along: Vec<_> = self.slots.iter().copied().zip(directions.iter().copied()).collect();
        let change = self.force_change(&derived, &along);
        let parts = self.parts();
        let sum = |arrays: &[&[Expr<'g>]], outputs: &[Expr<'g>], into| {
            self.sum(&parts, time, parameters, arrays, outputs, into, &compile).map(Arc::new)
        };
        Ok(ElementEnergy {
            energy: sum(&[], &[derived.energy], Into::Total)?,
            force: sum(&[], &derived.force, Into::Coordinates)?,
            force_change: sum(&[&directions], &change, Into::Coordinates)?,
            energy_rate: match self.depends_on(time) {
                true => {
                    Some(sum(&[], &[self.energy_change(&derived, &[(time, time.like(1.0))])], Into::Total)?)
                }
                false => None,
            },
            formula: ElementFormula::new(self),
            by_parameters: OnceLock::new(),
        })
    }

    /// The lower triangles of the Hessians of the elements.
    fn compile_hessians(
        &self,
        time: Expr<'g>,
        parameters: &[Expr<'g>],
        compile: impl Fn(Program) -> Result<Kernel, CompileError>,
    ) -> Result<ElementSum, CodeError> {
        let hessian = self.hessian(&self.derived());
        self.sum(&self.parts(), time, parameters, &[], &hessian, Into::Each, &compile)
    }

    pub(crate) fn parts(&self) -> Arc<Parts> {
        Arc::new(Parts::new(self.slots.len(), &self.coordinates, self.constants.len(), &self.values))
    }

    /// A sum of outputs of slots, of other arrays that are read by the same indices, of constants, time and parameters.
    #[allow(clippy::too_many_arguments)] // what a sum is made of
    pub(crate) fn sum(
        &self,
        parts: &Arc<Parts>,
        time: Expr<'g>,
        parameters: &[Expr<'g>],
        arrays: &[&[Expr<'g>]],
        outputs: &[Expr<'g>],
        into: Into,
        compile: &impl Fn(Program) -> Result<Kernel, CompileError>,
    ) -> Result<ElementSum, CodeError> {
        let uniform: &[Expr<'g>] = if self.depends_on(time) { &[time] } else { &[] };
        let used = self.expressions();
        let (symbols, places): (Vec<_>, Vec<_>) =
            parameters.iter().zip(0..).filter(|(p, _)| depend(&used, &[**p])).unzip();
        let inputs = [&self.slots, &arrays.concat()[..], &self.constants, uniform].concat();
        let kernel = compile(Program::lean(&inputs, &symbols, outputs)?)?;
        let arrays = 1 + arrays.len();
        Ok(ElementSum { kernel, parts: parts.clone(), arrays, parameters: places, into })
    }
}

#[cfg(test)]
mod tests;

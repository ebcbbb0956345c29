//! The kernels of a system, each compiled when it is first asked for.

use crate::element::search::Repetition;
use crate::error::{EvalError, ObserveError};
use crate::observe::{Observed, ObservedKernel, Read};
use crate::quantity::Quantity;
use crate::reading::Reading;
use crate::source::Source;
use crate::system::System;
use leastaction_compile::{Kernel, Program, Series, SeriesError};
use leastaction_linear::Structure;
use std::any::TypeId;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError};

/// Jacobians of so many rows are kept whole, whatever their structure: elimination by rows is as fast, and rounds as it always did.
const DENSE: usize = 64;
/// And of so many, if they have no structure. Beyond, a matrix would be a hundred megabytes, and its factors take seconds.
const MOST_DENSE: usize = 2048;

impl System {
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
        let pattern = if self.facts().symbolic { self.with_source(Source::dependence) } else { None };
        match pattern.filter(|pattern| pattern.len() <= d * d / 8) {
            Some(pattern) => Structure::Sparse(Arc::new(pattern)),
            _ if d <= MOST_DENSE => Structure::Dense(d),
            _ => Structure::Free(d),
        }
    }

    /// The kernel of a quantity, compiled if this is the first time it is asked for.
    ///
    /// # Errors
    /// [`EvalError::Undefined`] if the system has no such kernel; [`EvalError::NoFormula`] if an energy in it is not a formula, or nodes are in it.
    pub fn kernel(&self, quantity: Quantity) -> Result<Kernel, EvalError> {
        let of_nodes = self.lumped().filter(|lumped| lumped.is_in(quantity)).map(|lumped| lumped.first());
        match of_nodes.or(self.energies().first().filter(|_| quantity.has_potentials())) {
            Some(energy) => Err(EvalError::NoFormula { what: quantity.name(), energy: energy.to_owned() }),
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
            source.derive(quantity, self.facts(), self.layout(), structure.as_ref());
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
        if !quantity.is_of_constraints() || quantity == Quantity::ConstraintRateJacobian {
            return Ok(None);
        }
        let cell = &self.inner.repetitions[quantity as usize];
        if let Some(repetition) = cell.get() {
            return Ok(repetition.clone());
        }
        let repetition = self.with_source(|source| {
            let Some(plan) = source.plan(quantity) else { return Ok(None) };
            let (inputs, outputs) =
                (source.expressions(&source.inputs_of(quantity, plan)), source.expressions(&plan.outputs));
            // The derivatives of a constraint have much in common.
            let ends: Vec<usize> = match quantity {
                Quantity::ConstraintJacobian => {
                    (0..self.layout().rows).map(|row| self.layout().jacobian.row(row).end).collect()
                }
                _ => (1..=outputs.len()).collect(),
            };
            let parameters = source.expressions(&source.parameters);
            Repetition::find(&inputs, &parameters, &outputs, &ends, self.inner.repeated)
        });
        let repetition = repetition.map_err(|source| EvalError::Compile { what: quantity.name(), source })?;
        Ok(cell.get_or_init(|| repetition.map(Arc::new)).clone())
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

    /// What an observable is.
    pub(crate) fn observation(&self, what: Observed<'_>) -> Result<ObservedKernel, ObserveError> {
        self.with_source(|source| {
            let Reading { value, reads } = source.read(what)?;
            if let [(symbol, Read::State(place))] = reads[..]
                && symbol == value
            {
                return Ok(ObservedKernel::State(place));
            }
            let (inputs, reads): (Vec<_>, Vec<_>) = reads.into_iter().unzip();
            Ok(ObservedKernel::Computed(source.kernel(&inputs, &[value])?, reads))
        })
    }

    /// Looks at the expressions.
    pub(crate) fn with_source<T>(&self, look: impl FnOnce(&Source) -> T) -> T {
        look(&self.inner.source.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

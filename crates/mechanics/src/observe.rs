//! Observables: any expression of time, coordinates, velocities, momenta, inputs and parameters, evaluated along a motion.

use crate::dynamics::Dynamics;
use crate::engine::check;
use crate::error::{EvalError, ObserveError};
use crate::facts::Form;
use crate::inverse::grow;
use crate::rated::RatedQuantity;
use crate::system::System;
use leastaction_compile::{CodeError, Evaluator, LANES};
use leastaction_expr::Expr;

/// An observable of one [`Dynamics`] and its clones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observable(usize);

/// What to observe: an expression, or the text of one.
#[derive(Clone, Copy, Debug)]
pub enum Observed<'a> {
    /// A text.
    Text(&'a str),
    /// An expression, of any graph.
    Value(Expr<'a>),
}

impl<'a> From<&'a str> for Observed<'a> {
    fn from(text: &'a str) -> Observed<'a> {
        Observed::Text(text)
    }
}

impl<'a> From<&'a String> for Observed<'a> {
    fn from(text: &'a String) -> Observed<'a> {
        Observed::Text(text)
    }
}

impl<'a> From<Expr<'a>> for Observed<'a> {
    fn from(value: Expr<'a>) -> Observed<'a> {
        Observed::Value(value)
    }
}

impl Observed<'_> {
    fn is_energy(self) -> bool {
        match self {
            Observed::Text(text) => text.trim() == "energy",
            Observed::Value(value) => value == value.graph().symbol("energy"),
        }
    }
}

impl Observable {
    /// The energy, which has a kernel already.
    const ENERGY: Observable = Observable(usize::MAX);
}

/// The observables that were asked for.
#[derive(Clone, Default)]
pub(crate) struct Observatory {
    evaluators: Vec<Evaluator>,
    /// States, velocities, time and inputs, in lanes.
    block: Vec<f64>,
    /// Quantities with their rates, and what those are evaluated of.
    pub(crate) rated: Vec<RatedQuantity>,
    pub(crate) rates: Vec<f64>,
}

impl Observatory {
    pub(crate) fn evaluators(&mut self) -> impl Iterator<Item = &mut Evaluator> {
        self.evaluators.iter_mut().chain(self.rated.iter_mut().map(|quantity| &mut quantity.evaluator))
    }
}

impl Dynamics {
    /// Compiles an expression, such as `x'*p_x - 2*t`, or the text of one, to be evaluated by [`Dynamics::observe`]. Names that the model defines stand for
    /// what they are; `energy` alone is the energy, unless the system has something else of this name.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_mechanics::Model;
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let m = model.parameter("m", 2.0);
    /// let x = model.coordinate("x");
    /// model.particle("bead", m, [x]);
    /// let mut dynamics = model.system()?.dynamics()?;
    /// let height = dynamics.observable("m*x'^2/2 + x*t")?;
    /// let mut out = [0.0];
    /// dynamics.observe(height, &[10.0], &[0.5, 6.0], &mut out)?;
    /// assert_eq!(out, [9.0 + 5.0]);
    /// let place = dynamics.observable(x * 4.0)?;
    /// dynamics.observe(place, &[10.0], &[0.5, 6.0], &mut out)?;
    /// assert_eq!(out, [2.0]);
    /// let energy = dynamics.observable("energy")?;
    /// dynamics.observe(energy, &[10.0], &[0.5, 6.0], &mut out)?;
    /// assert_eq!(out, [6.0 * 6.0 / (2.0 * 2.0)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ObserveError`] if it is not an expression, or uses a name that the system does not have.
    pub fn observable<'a>(&mut self, what: impl Into<Observed<'a>>) -> Result<Observable, ObserveError> {
        let what = what.into();
        let kernel = match self.system().observation(what) {
            Err(ObserveError::UnknownName { .. }) if what.is_energy() => return Ok(Observable::ENERGY),
            found => found?,
        };
        let evaluator = self.engine.parameters.evaluator(&kernel).map_err(CodeError::from)?;
        self.observatory.evaluators.push(evaluator);
        Ok(Observable(self.observatory.evaluators.len() - 1))
    }

    /// The value of an observable at y, one number per lane.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, or velocities do not follow from momenta.
    pub fn observe(
        &mut self,
        observable: Observable,
        t: &[f64],
        y: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        self.engine.check_block(t, y)?;
        check("observable", t.len(), out.len())?;
        if observable == Observable::ENERGY {
            return self.energy(t, y, out);
        }
        let width = t.len();
        let system: &System = &self.engine.system;
        let moving = system.facts().form != Form::Ports;
        let rows = [system.dimension(), system.velocities().len(), 1, system.inputs().len()];
        let mut found = Ok(());
        if moving {
            found = self.turn(Dynamics::velocities, t, y);
        }
        let size = rows.iter().sum::<usize>() * width;
        grow(&mut self.observatory.block, size);
        let block = &mut self.observatory.block[..size];
        let (states, rest) = block.split_at_mut(rows[0] * width);
        let (velocities, rest) = rest.split_at_mut(rows[1] * width);
        let (time, inputs) = rest.split_at_mut(width);
        states.copy_from_slice(y);
        if moving {
            velocities.copy_from_slice(&self.other[velocities.len()..][..velocities.len()]);
        }
        time.copy_from_slice(t);
        self.engine.fill_inputs(t, inputs);
        let Some(evaluator) = self.observatory.evaluators.get_mut(observable.0) else {
            let what = "observables of another system";
            return Err(EvalError::Undefined { what, form: self.system().facts().form });
        };
        let block = &self.observatory.block[..size];
        let evaluated =
            if width == LANES { evaluator.eval_lanes(block, out) } else { evaluator.eval(block, out) };
        evaluated.map_err(crate::engine::wrong_length).and(found)
    }
}

//! Observables: any expression of time, coordinates, velocities, momenta, inputs and parameters, evaluated along a motion.

use crate::blueprint::Blueprint;
use crate::dynamics::Dynamics;
use crate::engine::check;
use crate::error::{EvalError, ObserveError};
use crate::facts::Form;
use crate::inverse::grow;
use crate::rated::RatedQuantity;
use leastaction_compile::{CodeError, Evaluator, Kernel, LANES};
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

/// A number that is computed at a state by [`Dynamics`], not by a formula of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measured {
    Energy,
    Jacobi,
    Kinetic,
    Potential,
    /// A named share of the energy, by its place.
    Share(usize),
    /// The multiplier of a constraint, by its place.
    Multiplier(usize),
}

impl Measured {
    /// What can be measured of a system, by name: `energy`, `jacobi`, `kinetic`, `potential`, shares of these such as `kinetic.bob` and `potential.spring`, and
    /// `lambda_` with the name of a constraint. A term whose name nothing else has needs no more than that.
    pub(crate) fn named(blueprint: &Blueprint<'_>) -> Vec<(String, Measured)> {
        let mut all = vec![("energy".to_owned(), Measured::Energy)];
        if blueprint.facts.form != Form::Ports {
            all.push(("jacobi".to_owned(), Measured::Jacobi));
            all.push(("kinetic".to_owned(), Measured::Kinetic));
            all.push(("potential".to_owned(), Measured::Potential));
        }
        let shares = || blueprint.shares.iter().enumerate();
        all.extend(
            shares().map(|(i, share)| {
                (format!("{}.{}", share.kind.term().word(), share.name), Measured::Share(i))
            }),
        );
        all.extend(shares().map(|(i, share)| (share.name.clone(), Measured::Share(i))));
        let constraints = blueprint.constraints.iter().enumerate();
        all.extend(constraints.map(|(i, (name, _))| (format!("lambda_{name}"), Measured::Multiplier(i))));
        all
    }
}

/// The observables that were asked for.
#[derive(Clone, Default)]
pub(crate) struct Observatory {
    list: Vec<Observation>,
    /// States, velocities, time, inputs, and what is measured, in lanes.
    block: Vec<f64>,
    /// Quantities with their rates, and what those are evaluated of.
    pub(crate) rated: Vec<RatedQuantity>,
    pub(crate) rates: Vec<f64>,
}

/// The kernel of an observable, whether it depends on velocities, and what is measured for it.
pub(crate) struct ObservedKernel {
    pub(crate) kernel: Kernel,
    pub(crate) moving: bool,
    pub(crate) measured: Vec<Measured>,
}

/// An observable that was asked for.
#[derive(Clone)]
struct Observation {
    evaluator: Evaluator,
    moving: bool,
    measured: Vec<Measured>,
}

impl Observatory {
    pub(crate) fn evaluators(&mut self) -> impl Iterator<Item = &mut Evaluator> {
        let own = self.list.iter_mut().map(|observation| &mut observation.evaluator);
        own.chain(self.rated.iter_mut().map(|quantity| &mut quantity.evaluator))
    }
}

impl Dynamics {
    /// Compiles an expression, such as `x'*p_x - 2*t`, or the text of one, to be evaluated by [`Dynamics::observe`]. Names that the model defines stand for
    /// what they are. Particles and points are where they are: `bob` is a vector, `bob.y` a component, `bob.y'` its rate. `energy`, `jacobi`, `kinetic`, `potential`, shares of
    /// these by their names (`potential.spring`, or `spring`), and multipliers (`lambda_` and the constraint's name) are numbers like all others, unless the system has something else of
    /// the name.
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
        let ObservedKernel { kernel, moving, measured } = self.system().observation(what.into())?;
        let evaluator = self.engine.parameters.evaluator(&kernel).map_err(CodeError::from)?;
        self.observatory.list.push(Observation { evaluator, moving, measured });
        Ok(Observable(self.observatory.list.len() - 1))
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
        let Some(Observation { moving, measured, .. }) = self.observatory.list.get(observable.0) else {
            let what = "observables of another system";
            return Err(EvalError::Undefined { what, form: self.system().facts().form });
        };
        let (width, system) = (t.len(), self.system());
        let moving = *moving;
        let rows = [system.dimension(), system.velocities().len(), 1, system.inputs().len(), measured.len()];
        let size = rows.iter().sum::<usize>() * width;
        let mut block = std::mem::take(&mut self.observatory.block);
        grow(&mut block, size);
        let (states, rest) = block[..size].split_at_mut(rows[0] * width);
        let (velocities, rest) = rest.split_at_mut(rows[1] * width);
        let (time, rest) = rest.split_at_mut(width);
        let (inputs, measured) = rest.split_at_mut(rows[3] * width);
        states.copy_from_slice(y);
        time.copy_from_slice(t);
        self.engine.fill_inputs(t, inputs);
        let mut found = Ok(());
        for (place, value) in measured.chunks_exact_mut(width).enumerate() {
            let what = self.observatory.list[observable.0].measured[place];
            found = found.and(self.measure(what, t, y, value));
        }
        if moving {
            found = found.and(self.turn(Dynamics::velocities, t, y));
            velocities.copy_from_slice(&self.other[velocities.len()..][..velocities.len()]);
        }
        let Observation { evaluator, .. } = &mut self.observatory.list[observable.0];
        let evaluated = match width == LANES {
            true => evaluator.eval_lanes(&block[..size], out),
            false => evaluator.eval(&block[..size], out),
        };
        self.observatory.block = block;
        evaluated.map_err(crate::engine::wrong_length).and(found)
    }

    /// What is measured at y, one number per lane.
    fn measure(&mut self, what: Measured, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        match what {
            Measured::Energy => self.energy(t, y, out),
            Measured::Jacobi => self.hamiltonian(t, y, out),
            Measured::Kinetic => self.kinetic_energy(t, y, out),
            Measured::Potential => self.potential_energy(t, y, out),
            Measured::Share(place) => self.share(place, t, y, out),
            Measured::Multiplier(place) => self.multiplier(place, t, y, out),
        }
    }
}

//! Observables: any expression of time, coordinates, velocities, momenta, inputs and parameters, evaluated along a motion.

use crate::blueprint::Blueprint;
use crate::dynamics::Dynamics;
use crate::engine::check;
use crate::error::{EvalError, ObserveError};
use crate::facts::Form;
use crate::inverse::grow;
use crate::names::{multiplier, reaction};
use crate::rated::RatedQuantity;
use crate::system::holds;
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
    /// The power that dissipation takes, and that comes from outside.
    Dissipated,
    Supplied,
    /// A named share of the energy, by its place.
    Share(usize),
    /// The multiplier of a constraint, by its place.
    Multiplier(usize),
    /// The sum of the forces with which coordinates are held under one name, by its place.
    Reaction(usize),
    /// The acceleration of a coordinate, by its place.
    Acceleration(usize),
}

impl Measured {
    /// What can be measured of a system, by name: `energy`, `jacobi`, `kinetic`, `potential`, the power that is `dissipated` and `supplied`, shares of these such as `kinetic.bob` and `potential.spring`, and
    /// `lambda_` with the name of a constraint, and `reaction_` with the name of what holds coordinates. A term whose name nothing else has needs no more than that.
    pub(crate) fn named(blueprint: &Blueprint<'_>) -> Vec<(String, Measured)> {
        let mut all = vec![("energy".to_owned(), Measured::Energy)];
        if blueprint.facts.form != Form::Ports {
            all.push(("jacobi".to_owned(), Measured::Jacobi));
            all.push(("kinetic".to_owned(), Measured::Kinetic));
            all.push(("potential".to_owned(), Measured::Potential));
        }
        all.push(("dissipated".to_owned(), Measured::Dissipated));
        all.push(("supplied".to_owned(), Measured::Supplied));
        let shares = || blueprint.shares.iter().enumerate();
        all.extend(
            shares().map(|(i, share)| {
                (format!("{}.{}", share.kind.term().word(), share.name), Measured::Share(i))
            }),
        );
        all.extend(shares().map(|(i, share)| (share.name.clone(), Measured::Share(i))));
        let constraints = blueprint.constraints.iter().enumerate();
        all.extend(constraints.map(|(i, (name, _))| (multiplier(name), Measured::Multiplier(i))));
        let holds = holds(&blueprint.held).into_iter().enumerate();
        all.extend(holds.map(|(i, name)| (reaction(&name), Measured::Reaction(i))));
        all
    }
}

/// The observables that were asked for.
#[derive(Clone, Default)]
pub(crate) struct Observatory {
    list: Vec<Observation>,
    /// Inputs, and what is read, in lanes.
    block: Vec<f64>,
    /// A configuration, and its accelerations.
    accelerations: Vec<f64>,
    /// Quantities with their rates, and what those are evaluated of.
    pub(crate) rated: Vec<RatedQuantity>,
    pub(crate) rates: Vec<f64>,
}

/// What an observable reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// A coordinate or a momentum, by its place in the state.
    State(usize),
    Velocity(usize),
    Time,
    Input(usize),
    Measured(Measured),
}

/// What an observable is, before it has parameters.
pub(crate) enum ObservedKernel {
    /// A number of the state, by its place.
    State(usize),
    /// A kernel of what is read.
    Computed(Kernel, Vec<Read>),
}

/// An observable that was asked for.
#[derive(Clone)]
pub(crate) enum Observation {
    State(usize),
    /// What computes it, and what that reads; and the same backwards, once it was asked for.
    Computed(Evaluator, Vec<Read>, Option<Kernel>),
}

impl Observatory {
    pub(crate) fn observation(&self, observable: Observable) -> Option<&Observation> {
        self.list.get(observable.0)
    }

    pub(crate) fn keep_reverse(&mut self, observable: Observable, reverse: Kernel) {
        if let Some(Observation::Computed(.., kept)) = self.list.get_mut(observable.0) {
            *kept = Some(reverse);
        }
    }

    pub(crate) fn evaluators(&mut self) -> impl Iterator<Item = &mut Evaluator> {
        let own = self.list.iter_mut().filter_map(|observation| match observation {
            Observation::State(_) => None,
            Observation::Computed(evaluator, ..) => Some(evaluator),
        });
        own.chain(self.rated.iter_mut().map(|quantity| &mut quantity.evaluator))
    }
}

impl Dynamics {
    /// Compiles an expression, such as `x'*p_x - 2*t`, or the text of one, to be evaluated by [`Dynamics::observe`]. Names that the model defines stand for
    /// what they are. Particles and points are where they are: `bob` is a vector, `bob.y` a component, `bob.y'` its rate. `energy`, `jacobi`, `kinetic`, `potential`, the power that is `dissipated` and `supplied`, shares of
    /// these by their names (`potential.spring`, or `spring`), multipliers (`lambda_` and the constraint's name), accelerations (`x''`), and the sums of the forces with which coordinates are held
    /// (`reaction_` and the name of what holds them) are numbers like all others, unless the system has something else of
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
        let observation = match self.system().observation(what.into())? {
            ObservedKernel::State(place) => Observation::State(place),
            ObservedKernel::Computed(kernel, reads) => {
                let evaluator = self.engine.parameters.evaluator(&kernel).map_err(CodeError::from)?;
                Observation::Computed(evaluator, reads, None)
            }
        };
        self.observatory.list.push(observation);
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
        let width = t.len();
        let count = match self.observatory.list.get(observable.0) {
            Some(&Observation::State(place)) => {
                out.copy_from_slice(&y[place * width..][..width]);
                return Ok(());
            }
            Some(Observation::Computed(_, reads, _)) => reads.len(),
            None => {
                let what = "observables of another system";
                return Err(EvalError::Undefined { what, form: self.system().facts().form });
            }
        };
        let mut memory = std::mem::take(&mut self.observatory.block);
        let inputs = self.system().inputs().len() * width;
        grow(&mut memory, inputs + count * width);
        let (inputs, block) = memory[..inputs + count * width].split_at_mut(inputs);
        self.engine.fill_inputs(t, inputs);
        let (mut status, mut turned) = (Ok(()), false);
        for (i, value) in block.chunks_exact_mut(width).enumerate() {
            let Observation::Computed(_, reads, _) = &self.observatory.list[observable.0] else { break };
            match reads[i] {
                Read::State(place) => value.copy_from_slice(&y[place * width..][..width]),
                Read::Time => value.copy_from_slice(t),
                Read::Input(place) => value.copy_from_slice(&inputs[place * width..][..width]),
                // Velocities are found once, after what is measured, which uses the same memory.
                Read::Velocity(place) => {
                    if !turned {
                        status = status.and(self.turn(Dynamics::velocities, t, y));
                        turned = true;
                    }
                    value.copy_from_slice(&self.other[y.len() / 2 + place * width..][..width]);
                }
                Read::Measured(what) => status = status.and(self.measure(what, t, y, value)),
            }
        }
        let Observation::Computed(evaluator, ..) = &mut self.observatory.list[observable.0] else {
            unreachable!("a number of the state is read at once")
        };
        let evaluated = match width == LANES {
            true => evaluator.eval_lanes(block, out),
            false => evaluator.eval(block, out),
        };
        self.observatory.block = memory;
        evaluated.map_err(crate::engine::wrong_length).and(status)
    }

    /// Whether an observable has one value as long as parameters do not change.
    #[must_use]
    pub fn is_constant(&self, observable: Observable) -> bool {
        match self.observatory.list.get(observable.0) {
            Some(Observation::Computed(_, reads, _)) => reads.is_empty(),
            _ => false,
        }
    }

    /// Where an observable stands in the state, if it is a coordinate or a momentum.
    #[must_use]
    pub fn place_in_state(&self, observable: Observable) -> Option<usize> {
        match self.observatory.list.get(observable.0)? {
            Observation::State(place) => Some(*place),
            Observation::Computed(..) => None,
        }
    }

    /// What is measured at y, one number per lane.
    fn measure(&mut self, what: Measured, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        match what {
            Measured::Energy => self.energy(t, y, out),
            Measured::Jacobi => self.hamiltonian(t, y, out),
            Measured::Kinetic => self.kinetic_energy(t, y, out),
            Measured::Potential => self.potential_energy(t, y, out),
            Measured::Dissipated => self.dissipated_power(t, y, out),
            Measured::Supplied => self.supplied_power(t, y, out),
            Measured::Share(place) => self.share(place, t, y, out),
            Measured::Multiplier(place) => self.multiplier(place, t, y, out),
            Measured::Reaction(place) => self.reaction(place, t, y, out),
            Measured::Acceleration(place) => {
                let mut memory = std::mem::take(&mut self.observatory.accelerations);
                grow(&mut memory, y.len() + y.len() / 2);
                let (z, a) = memory[..y.len() + y.len() / 2].split_at_mut(y.len());
                let status = self.turn(Dynamics::velocities, t, y);
                z.copy_from_slice(&self.other[..y.len()]);
                let status = status.and(self.accelerations(t, z, a));
                out.copy_from_slice(&a[place * t.len()..][..t.len()]);
                self.observatory.accelerations = memory;
                status
            }
        }
    }
}

//! How the end of a run depends on its start and on parameters.

use crate::simulation::Simulation;
use leastaction_integrate::{AdjointError, Gradient, Reason, Seed, Tape};
use leastaction_mechanics::{EvalError, ObserveError, Quantity};

/// What an observable is at the end of a run, and its derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// The value.
    pub value: f64,
    /// By the numbers of the start: coordinates, and velocities where momenta follow from them, else momenta. All others are held.
    pub start: Vec<(String, f64)>,
    /// By parameters. Others are held, also those that a text computes from it, and so are the numbers of the start.
    pub parameters: Vec<(String, f64)>,
}

/// Why derivatives are not known.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SensitivityError {
    /// It cannot be observed.
    #[error(transparent)]
    Observe(#[from] ObserveError),
    /// The run has no gradient.
    #[error(transparent)]
    Adjoint(#[from] AdjointError),
    /// The observable is no formula.
    #[error(
        "`{what}` has no derivatives: it is no formula of the state, as energies and multipliers are not; write it out in coordinates"
    )]
    NoFormula {
        /// What was asked for.
        what: String,
    },
}

impl From<EvalError> for SensitivityError {
    fn from(error: EvalError) -> SensitivityError {
        SensitivityError::Adjoint(error.into())
    }
}

impl Simulation {
    /// Runs, and keeps what it takes to go back over the run: for gradients of samples and events by all parameters and by the start.
    ///
    /// # Errors
    /// [`AdjointError`] if the run fails, or its method or system has no adjoint.
    pub fn tape(&self) -> Result<Tape, AdjointError> {
        Tape::record(&self.integrator, &self.dynamics, &self.start, self.until)
    }

    /// Runs, and tells how an observable at the end depends on each number of the start and on each parameter: an expression in any names of the model, such as `bob.x`. Where
    /// an event ends the run, its time moves too.
    ///
    /// ```
    /// use leastaction_expr::Graph;
    /// use leastaction_simulate::{Overrides, Source};
    ///
    /// let asked = Overrides { until: Some(1.0), method: Some("dop853".to_owned()), ..Overrides::default() };
    /// let pendulum = Source::open("pendulum", None)?.simulation(&Graph::new(), &asked)?;
    /// let sensitivity = pendulum.sensitivity("th")?;
    /// println!("th is {} at the end", sensitivity.value);
    /// for (name, derivative) in sensitivity.start.iter().chain(&sensitivity.parameters) {
    ///     println!("and changes by {derivative} for each unit of {name}");
    /// }
    /// # assert_eq!(sensitivity.start[0].0, "th");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SensitivityError`] if there is no such observable, it is no formula, or the run has no gradient.
    pub fn sensitivity(&self, what: &str) -> Result<Sensitivity, SensitivityError> {
        let mut dynamics = self.dynamics.clone();
        let observable = dynamics.observable(what)?;
        let integrator = self.integrator.clone().ends_only();
        let tape = Tape::record(&integrator, &dynamics, &self.start, self.until)?;
        let (end, run) = (tape.trajectory().end(), tape.trajectory());
        let (block, mut value) = (end.block(), [0.0]);
        dynamics.observe(observable, &[end.t], &block, &mut value)?;
        let slopes = dynamics.observable_slopes(observable, end.t, &block)?;
        let slopes = slopes.ok_or_else(|| SensitivityError::NoFormula { what: what.to_owned() })?;
        let mut seed = Seed::new().end(&slopes.state);
        if let Reason::Event(_) = run.reason() {
            seed = seed.event_time(run.crossings().len() - 1, slopes.time);
        }
        let mut gradient: Gradient = tape.gradient(&seed)?;
        let system = dynamics.system();
        let by_velocities = system.kernel(Quantity::Momenta).is_ok();
        if by_velocities {
            gradient = gradient.by_velocities(&tape)?;
        }
        let second = if by_velocities { system.velocities() } else { system.momenta() };
        let names = system.coordinates().iter().chain(second.iter());
        let parameters = system.parameters().iter().map(|(name, _)| name.clone());
        let slopes = gradient.parameters.iter().zip(&slopes.parameters).map(|(run, own)| run + own);
        Ok(Sensitivity {
            value: value[0],
            start: names.zip(gradient.start).collect(),
            parameters: parameters.zip(slopes).collect(),
        })
    }
}

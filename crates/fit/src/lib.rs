//! Parameters and starts of a known model, found from measured trajectories.
//!
//! ```text
//! files ─► Sheet ─► Recording ─┐
//!          data/    times,     ├─► Shooting ─────────► search ─────────────► Fit
//! Source ─► Problem ───────────┘   runs, residuals,    levenberg.rs,         estimates, errors,
//!                                  slopes              horizon by horizon    what is doubtful
//! ```
//!
//! - A [`Recording`] is what was measured in one run: values of any expressions of the model at any times, with gaps.
//! - A [`Plan`] says which parameters are free, within which limits, and which numbers of the start are known. All others of the start are unknown: each recording has its own.
//! - [`fit`] makes the sum of squares of residuals small, each divided by its noise, by the method of Levenberg and Marquardt. The derivatives of residuals by unknowns come from the
//!   discrete adjoint of the run ([`Tape::sample_slopes`](leastaction_integrate::Tape::sample_slopes)).
//! - A [`Fit`] has estimates with their errors, and says what these data do not tell.
//!
//! ```
//! use leastaction_fit::{Free, Plan, Recording, fit};
//! use leastaction_simulate::{Overrides, Source};
//!
//! // A mass on a spring: its period is 2 s.
//! let source = Source::text("spring", "param k = 5\ncoord x\nparticle bob mass 1 at [x]\npotential k*x^2/2\n");
//! let times: Vec<f64> = (0..50).map(|i| f64::from(i) * 0.1).collect();
//! let places: Vec<f64> = times.iter().map(|t| 0.3 * (std::f64::consts::PI * t).cos()).collect();
//! let data = [Recording::new("swing", times).with("x", places)];
//! let plan = Plan { free: vec![Free::named("k")], ..Plan::default() };
//! let found = fit(&source, &data, &plan, &Overrides::default())?;
//! assert!((found.estimates[0].value - std::f64::consts::PI.powi(2)).abs() < 1e-6);
//! # Ok::<(), leastaction_fit::FitError>(())
//! ```
//!
//! *Invariant:* pure but for [`Sheet::read`]; the same data and plan give the same bits. No derivative is written by hand. Nothing is printed here.

#![forbid(unsafe_code)]

mod chances;
mod data;
mod error;
mod fitted;
mod fitting;
mod hints;
mod judge;
mod levenberg;
mod misfit;
mod plan;
mod restated;
mod search;
mod shooting;
mod watch;

pub use data::{
    Channel, Measure, Reading, ReadingError, Recording, RecordingError, Sheet, SheetError, UnreadError,
    recordings,
};
pub use error::FitError;
pub use fitted::{Derivatives, Estimate, Fit, FittedChannel, FittedRecording, FittedTable};
pub use fitting::{fit, fit_watched, measurable};
pub use judge::{Doubt, Hint, Undetermined};
pub use plan::{Free, FreeError, Plan};
pub use restated::{Restated, RestatedError};
pub use watch::{Progress, Watch};

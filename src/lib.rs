//! Write the energy, get the motion.
//!
//! A [`Model`] is coordinates and energies; its [`System`] is compiled from it; an [`Integrator`] turns a start into a
//! [`Trajectory`], a [`Study`] many starts into statistics, maps and tables. A [`Simulation`] does all that a text says. What most programs need is here; the crates are whole in [`expr`],
//! [`compile`], [`mechanics`], [`field`], [`analyze`], [`integrate`], [`ensemble`], [`simulate`], [`fit`](mod@fit) and [`catalog`].
//!
//! ```
//! use leastaction::{Graph, Integrator, Model};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let graph = Graph::new();
//! let mut model = Model::new(&graph);
//! let [a, b] = model.coordinates(["a", "b"]);
//! let elbow = [a.sin(), -a.cos()];
//! model.particle("elbow", 1.0, elbow);
//! model.particle("hand", 1.0, [elbow[0] + b.sin(), elbow[1] - b.cos()]);
//! model.gravity([0.0, -9.81]);
//!
//! let mut dynamics = model.system()?.dynamics()?;
//! let start = dynamics.start(&[("a", 2.0), ("b", 1.5)])?;
//! let swing = Integrator::named("implicit-midpoint", 0.001)?.run(&mut dynamics, &start, 10.0)?;
//! println!("the energy drifts by {:.0e} of itself", swing.energy_drift(&mut dynamics)?);
//! # assert!(swing.energy_drift(&mut dynamics)? < 1e-4 && swing.len() == 10_001);
//! # Ok(())
//! # }
//! ```

// The command line calls the library by the name by which everybody does.
extern crate self as leastaction;

mod command;

pub use command::{
    command_line, ensemble_pictures, evaluation_summary, fit_picture, fit_summary, losses_picture,
    rollout_picture,
};

// Each crate whole, under its own name.
pub use leastaction_analyze as analyze;
pub use leastaction_catalog as catalog;
pub use leastaction_compile as compile;
pub use leastaction_ensemble as ensemble;
pub use leastaction_expr as expr;
pub use leastaction_field as field;
pub use leastaction_fit as fit;
pub use leastaction_integrate as integrate;
pub use leastaction_language as language;
pub use leastaction_learn as learn;
pub use leastaction_mechanics as mechanics;
pub use leastaction_network as network;
pub use leastaction_output as output;
pub use leastaction_plot as plot;
pub use leastaction_simulate as simulate;

// What most programs name.
pub use leastaction_compile::{
    ArgumentError, Backend, BuildError, CodeError, CompileError, Evaluator, Kernel, LANES, NativeError,
    Program,
};
pub use leastaction_ensemble::{Progress, Reduction, Rest, Results, Sampling, Shard, Study, StudyError};
pub use leastaction_expr::{
    Expr, Graph, IntoExpr, Op, ParseError, Parser, PrintError, Scope, Span, Symbol, c_function, jacobian,
    julia_function, jvp, operations, python_function, rust_function, substitute, vjp,
};
pub use leastaction_integrate::{
    ALL as METHODS, Absolute, AdjointError, Block, Card, Checkpoint, CheckpointError, CheckpointFileError,
    Choice, Chunk, Crossing, Density, DriftError, End, Ensemble, Event, Failed, Fate, Gradient, Integrator,
    Keeps, Kind, Moment, Needs, Pace, Reason, RunError, Sample, Seed, Sizing, StepError, Tape, Tolerance,
    Trajectory, UnknownMethod, Work, energy_scale,
};
pub use leastaction_mechanics::{
    Body, BodyError, Conserved, Constraint, Dynamics, EquationForm, Equations, EvalError, Facts, Form,
    FormError, Function, Inertia, InertiaError, Input, Lagrangian, Level, Matter, Model, ModelError,
    Observable, ObserveError, Page, Particle, Place, Point, Ports, Pose, Projection, ProjectionError,
    Quantity, Query, Rated, Rotation, RotationError, SettingError, Share, ShareKind, StartError, State,
    Statement, Sundman, Surface, SurfaceError, Symmetric, System, Table, TableError, Term,
};
pub use leastaction_simulate::{
    FailedRun, Measurements, Overrides, PrepareError, Problem, Run, Sensitivity, SensitivityError,
    Simulation, Source, SourceError, Warning,
};

/// The code in the README, tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[doc = include_str!("../book/src/bodies-and-joints.md")]
pub mod bodies_and_joints {}

#[doc = include_str!("../book/src/choosing-an-integrator.md")]
pub mod choosing_an_integrator {}

#[doc = include_str!("../book/src/equilibria.md")]
pub mod equilibria {}

#[doc = include_str!("../book/src/fields.md")]
pub mod fields {}

#[doc = include_str!("../book/src/fit.md")]
pub mod fit_what_you_measured {}

#[doc = include_str!("../book/src/gradients.md")]
pub mod gradients {}

//! Energies to equations of motion: write a [`Model`], get a [`System`].
//!
//! ```
//! use leastaction_expr::Graph;
//! use leastaction_mechanics::Model;
//!
//! let graph = Graph::new();
//! let mut model = Model::new(&graph);
//! let [m, l] = model.parameters([("m", 1.0), ("l", 1.0)]);
//! let [a, b] = model.coordinates(["a", "b"]);
//! let elbow = [l * a.sin(), -l * a.cos()];
//! model.particle("elbow", m, elbow);
//! model.particle("hand", m, [elbow[0] + l * b.sin(), elbow[1] - l * b.cos()]);
//! model.gravity([0.0, -9.81]);
//!
//! let mut dynamics = model.system()?.dynamics()?;
//! let start = dynamics.start(&[("a", 2.0), ("b", 1.5)])?;
//! let (mut energy, mut rates) = ([0.0], [0.0; 4]);
//! dynamics.energy(&[start.t], &start.block(), &mut energy)?;
//! dynamics.rates(&[start.t], &start.block(), &mut rates)?;
//! assert!((energy[0] - 9.81 * (-2.0 * 2f64.cos() - 1.5f64.cos())).abs() < 1e-14);
//! assert_eq!(rates[..2], [0.0, 0.0]); // at rest
//! assert_eq!(dynamics.system().conserved(), ["energy"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # From a model to its dynamics
//!
//! ```text
//! Model ──derive──► Equations ──compile──► System ──bind──► Dynamics
//! energies          expressions            kernels, facts   parameters, inputs, memory of a thread
//! ```
//!
//! - A [`Model`] is what a person writes: coordinates, and [particles, energies, any Lagrangian or Hamiltonian, dissipation,
//!   forces](five_ways). [`Ports`] states a port-Hamiltonian system.
//! - [`Equations`] are what follows by differentiation: accelerations, fields, brackets, conserved quantities, printed as text and
//!   LaTeX. They borrow the model's graph.
//! - A [`System`] is what is compiled from them: it borrows nothing, is immutable, shared between threads and cheap to clone.
//! - A [`Dynamics`] evaluates a system, for one state or for a block of eight, and allocates nothing while it does.
//!
//! Every force is the derivative of something declared, or declared itself.

mod assembly;
mod blueprint;
mod body;
mod check;
mod constraint;
mod definitions;
mod dynamics;
mod element;
mod energy;
mod engine;
mod equations;
mod error;
mod facts;
mod function;
mod held;
mod inertia;
mod input;
mod inverse;
mod jump;
mod kernels;
mod lagrangian;
mod linearisation;
mod lumped;
mod matrices;
mod matrix;
mod model;
mod names;
mod observe;
mod parameters;
mod ports;
mod print;
mod probe;
mod quantity;
mod rated;
mod reading;
mod reverse;
mod source;
mod state;
mod sundman;
mod switch;
mod symmetry;
mod system;
mod tree;

#[doc = include_str!("../../../book/src/five-ways.md")]
pub mod five_ways {}

/// The nearest of several names, for "did you mean".
pub use leastaction_expr::{Advice, nearest};

pub use assembly::{Loose, Placed};
pub use body::{
    Body, BodyError, BodySite, Inertia, InertiaError, Matter, Point, Pose, Rotation, RotationError, Surface,
    SurfaceError, suffixed,
};
pub use check::gravity_on;
pub use constraint::factors::ConstraintFactors;
pub use constraint::project::{Projection, ProjectionError};
pub use constraint::shake::ShakeFactors;
pub use constraint::{Constraint, Level};
pub use dynamics::{Dynamics, Query};
pub use element::{ElementHessians, Elements, ElementsError, ElementsEvaluator, Implicit};
pub use energy::dissipation::{Dissipation, ElementDissipation, IntoDissipation};
pub use energy::{Batch, Energy, EnergyError, EnergyFacts, IntoEnergy, Opaque, OpaqueEnergy, Potential};
pub use equations::{Equations, Statement};
pub use error::{
    DimensionsExpected, EvalError, ModelError, ObserveError, SettingError, Site, StartError, StartQuantity,
    TableError, TermKind,
};
pub use facts::{Facts, Form, Place, Share, ShareKind};
pub use function::Function;
pub use held::reaction::Reactions;
pub use input::{Input, Table};
pub use lagrangian::Lagrangian;
pub use linearisation::Linearisation;
pub use lumped::Lumped;
pub use lumped::coupling::MassMatrix;
pub use lumped::split::{LumpedBlock, LumpedCoordinate, LumpedNodes};
pub use matrix::{Factor, Symmetric};
pub use model::{Model, Particle, Term};
pub use names::{constraint_of, coordinate_of, integral, momentum, multiplier, reaction, split_name};
pub use observe::{Observable, Observed};
pub use parameters::Revision;
pub use ports::Ports;
pub use print::{EquationForm, FormError, Page, Row};
pub use quantity::Quantity;
pub use rated::Rated;
pub use reverse::{BackwardSums, Slopes};
pub use state::{StartBlock, State};
pub use sundman::Sundman;
pub use switch::{Switch, SwitchKind, difference};
pub use symmetry::Conserved;
pub use system::System;

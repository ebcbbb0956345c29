//! What is assumed of a system, and what is learned of it: one file for each architecture.

mod cartesian;
mod chart;
mod chnn;
mod clnn;
mod damping;
mod delan;
mod hnn;
mod known;
mod lnn;
mod neural_ode;
mod structure;
mod unconstrained;

pub use cartesian::Constrained;
pub use chart::{Chart, Conversion};
pub use chnn::chnn;
pub use delan::DeLaN;
pub use hnn::Hnn;
pub use known::{Known, KnownError};
pub use lnn::Lnn;
pub use neural_ode::NeuralOde;
pub use structure::{Masses, Structure, StructureError};

use crate::chain::{ChainError, Writer};
use crate::parameters::Layout;
use crate::recipe::Recipe;
use leastaction_expr::{Expr, Graph};
use leastaction_language::Setup;
use leastaction_mechanics::ModelError;
use leastaction_network::NetworkError;

/// Every architecture.
pub const ALL: &[Card] =
    &[chnn::CARD, clnn::CARD, hnn::CARD, delan::CARD, lnn::CARD, neural_ode::CARD, known::CARD];

/// What an architecture says of itself.
pub struct Card {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Makes it, for a system.
    pub build: for<'g> fn(&Site<'_, 'g>, &Recipe) -> Built<'g>,
}

/// An architecture for a system, if they go together.
pub type Built<'g> = Result<Box<dyn Architecture<'g> + 'g>, BuildError>;

impl std::fmt::Debug for Card {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Card({})", self.name)
    }
}

impl PartialEq for Card {
    fn eq(&self, other: &Card) -> bool {
        self.name == other.name
    }
}

/// The system that something is to be learned of.
#[derive(Clone, Copy)]
pub struct Site<'s, 'g> {
    /// What its text says.
    pub setup: &'s Setup<'g>,
    /// Its name in the catalog, if it is from there.
    pub system: &'s str,
    /// The text.
    pub text: &'s str,
}

/// Why an architecture does not go with a system.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The model is wrong.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The system has no such structure.
    #[error(transparent)]
    Structure(#[from] StructureError),
    /// There is no such network.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The model has no networks, or something that cannot be learned with.
    #[error(transparent)]
    Known(#[from] KnownError),
    /// It cannot be compiled.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A system with constraints whose chart is not known.
    #[error(
        "the system has {constraints} constraints, and this architecture does not support constraints: state the system in coordinates that need none, or use `chnn` or `clnn`"
    )]
    NoChart {
        /// How many constraints there are.
        constraints: usize,
    },
    /// A step that does not go with it.
    #[error(
        "the step `{step}` keeps constraints and the symplectic form of Cartesian bodies without friction: use `rk38`, or `chnn` or `clnn` without damping"
    )]
    Step {
        /// The step.
        step: &'static str,
    },
    /// What knows no forces knows no friction.
    #[error("all rates are learned, and friction with them: leave the damping out")]
    Damping,
    /// There is no such constraint.
    #[error("constraint {place} cannot be left out: there are {count}, counted from 0")]
    NoConstraint {
        /// The place.
        place: usize,
        /// How many there are.
        count: usize,
    },
}

impl<'g> Site<'_, 'g> {
    /// The structure of the system, without the constraints that a recipe leaves out.
    fn structure(&self, recipe: &Recipe) -> Result<Structure<'g>, BuildError> {
        let structure = Structure::of(&self.setup.model)?;
        let count = structure.constraints();
        match recipe.removed.iter().find(|place| **place >= count) {
            Some(&place) => Err(BuildError::NoConstraint { place, count }),
            None => Ok(structure.without(&recipe.removed)),
        }
    }
}

/// What was learned, in the `.motion` language.
#[derive(Clone, Debug, PartialEq)]
pub struct Statements {
    /// Coordinates, bodies and constraints.
    pub bodies: String,
    /// The network that is the potential energy, and the coordinates that it reads.
    pub network: &'static str,
    /// Those.
    pub reads: Vec<String>,
}

/// What is learned, and how it moves.
///
/// Data are states z = \[q…, q̇…\]. An architecture may integrate another state y, such as \[q…, p…\].
pub trait Architecture<'g> {
    /// Its name in the literature.
    fn name(&self) -> &'static str;

    /// The graph of its expressions.
    fn graph(&self) -> &'g Graph;

    /// What is learned.
    fn layout(&self) -> &Layout;

    /// How many numbers a state z has.
    fn dimension(&self) -> usize;

    /// The chart in which states z are, if they are not those of the system.
    fn chart(&self) -> Option<&Chart<'g>> {
        None
    }

    /// The text of the model with weights from a file in place of what was to be learned, if it was learned for a text.
    fn text(&self, file: &str, hash: &str) -> Option<String> {
        let _ = (file, hash);
        None
    }

    /// What was learned as statements of the `.motion` language, with these numbers, if it can be said in it.
    fn statements(&self, numbers: &[f64]) -> Option<Statements> {
        let _ = numbers;
        None
    }

    /// The state y at z.
    ///
    /// # Errors
    /// [`ChainError`] if it cannot be compiled.
    fn encode(&self, writer: &mut Writer<'g>, z: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError> {
        let _ = writer;
        Ok(z.to_vec())
    }

    /// The state z at y.
    ///
    /// # Errors
    /// [`ChainError`] if it cannot be compiled.
    fn decode(&self, writer: &mut Writer<'g>, y: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError> {
        let _ = writer;
        Ok(y.to_vec())
    }

    /// The state after a step of RATTLE over the time h from y, where y are rows; nothing if it has no such step.
    fn rattle(
        &self,
        writer: &mut Writer<'g>,
        y: &[Expr<'g>],
        h: Expr<'g>,
    ) -> Option<Result<Vec<Expr<'g>>, ChainError>> {
        let _ = (writer, y, h);
        None
    }

    /// ẏ, where y are rows.
    ///
    /// # Errors
    /// [`ChainError`] if it cannot be compiled.
    fn rates(&self, writer: &mut Writer<'g>, y: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, ChainError>;
}

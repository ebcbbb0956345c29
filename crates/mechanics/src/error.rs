//! What can be wrong with a model.

use leastaction_compile::{ArgumentError, BuildError, CompileError};

/// Why a model has no equations of motion.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// There is nothing that could move.
    #[error("the model has no coordinates: declare at least one")]
    NoCoordinates,
    /// There is no energy.
    #[error("the model has no energy: add particles, a kinetic energy, a Lagrangian or a Hamiltonian")]
    NoEnergy,
    /// A name is declared twice.
    #[error("`{name}` is declared twice, as {first} and as {second}: rename one of them")]
    DuplicateName {
        /// The name.
        name: String,
        /// What it was declared as first.
        first: &'static str,
        /// What it was declared as again.
        second: &'static str,
    },
    /// An expression uses a name that is not declared.
    #[error("{place} uses `{name}`, which is not declared{}", suggestion(.nearest))]
    UnknownName {
        /// Where it is used.
        place: String,
        /// The name.
        name: String,
        /// A declared name that is spelt alike.
        nearest: Option<String>,
    },
    /// An expression uses a quantity that it cannot depend on, such as velocities in a Hamiltonian.
    #[error("{place} uses `{name}`, {what}: {remedy}")]
    MisplacedName {
        /// Where it is used.
        place: String,
        /// The name.
        name: String,
        /// What the name stands for.
        what: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
    /// A force acts on something that is not a coordinate.
    #[error("a force acts on `{name}`, which is not a coordinate")]
    ForceOnUnknown {
        /// The expression it acts on.
        name: String,
    },
    /// A model states both a Lagrangian part and a Hamiltonian.
    #[error("the model states a Hamiltonian and also {what}: state the motion one way (potentials may be added to a Hamiltonian)")]
    MixedForms {
        /// The other part.
        what: String,
    },
    /// The number of momenta is not the number of coordinates.
    #[error("{momenta} momenta are named for {coordinates} coordinates: name one for each")]
    MomentaCount {
        /// How many momenta are named.
        momenta: usize,
        /// How many coordinates there are.
        coordinates: usize,
    },
    /// A particle's inertia is a number that is not positive.
    #[error("the mass of particle `{particle}` is {value}: masses must be positive")]
    BadMass {
        /// The particle.
        particle: String,
        /// The mass.
        value: f64,
    },
    /// A particle has more than three dimensions, or gravity has other dimensions than a particle.
    #[error("particle `{particle}` has {found} dimensions, {expected} are expected")]
    Dimensions {
        /// The particle.
        particle: String,
        /// How many dimensions it has.
        found: usize,
        /// What is expected.
        expected: String,
    },
    /// A coordinate enters no energy.
    #[error("the coordinate `{name}` appears in no kinetic energy, so it has no inertia: remove it, or give it one")]
    UnusedCoordinate {
        /// The coordinate.
        name: String,
    },
    /// The mass matrix is singular whatever the state: coordinates repeat each other.
    #[error("the mass matrix is singular: {} move nothing independently; remove or replace one of them", list(.coordinates))]
    SingularMass {
        /// The coordinates involved.
        coordinates: Vec<String>,
    },
    /// The energy at the start is not a number.
    #[error("{what} is {value} at the start: check the start and the parameters")]
    NotFiniteAtStart {
        /// The quantity.
        what: String,
        /// Its value.
        value: f64,
    },
    /// The expressions could not become programs.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The programs could not be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Parameters do not fit.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
}

fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(": did you mean `{name}`?"))
}

fn list(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

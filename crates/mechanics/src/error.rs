//! What can be wrong with a model.

use crate::constraint::project::ProjectionError;
use crate::energy::EnergyError;
use crate::facts::Form;
use leastaction_compile::{CodeError, LANES};
use leastaction_expr::ParseError;

/// A part of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Site {
    /// The mass of a particle.
    Mass(String),
    /// The position of a particle.
    Position(String),
    /// The gravity.
    Gravity,
    /// A term by its kind and its name.
    Term(TermKind, String),
    /// The force on a coordinate.
    Force(String),
    /// An input that is stated.
    Input(String),
    /// A matrix of a port-Hamiltonian system.
    Matrix(&'static str),
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Site::Mass(particle) => write!(f, "the mass of particle `{particle}`"),
            Site::Position(particle) => write!(f, "the position of particle `{particle}`"),
            Site::Gravity => f.write_str("gravity"),
            Site::Term(kind, name) => write!(f, "the {kind} `{name}`"),
            Site::Force(coordinate) => write!(f, "the force on `{coordinate}`"),
            Site::Input(name) => write!(f, "the input `{name}`"),
            Site::Matrix(name) => write!(f, "the matrix {name}"),
        }
    }
}

/// What a named term of a model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TermKind {
    /// A kinetic energy.
    Kinetic,
    /// A potential energy.
    Potential,
    /// A term of the Lagrangian.
    Lagrangian,
    /// A term of the Hamiltonian.
    Hamiltonian,
    /// A dissipation function.
    Dissipation,
    /// A constraint.
    Constraint,
}

impl std::fmt::Display for TermKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TermKind::Kinetic => "kinetic energy",
            TermKind::Potential => "potential energy",
            TermKind::Lagrangian => "Lagrangian term",
            TermKind::Hamiltonian => "Hamiltonian term",
            TermKind::Dissipation => "dissipation",
            TermKind::Constraint => "constraint",
        })
    }
}

/// How many dimensions a particle can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DimensionsExpected {
    /// 1, 2 or 3.
    UpToThree,
    /// As many as gravity.
    OfGravity(usize),
    /// As many as it has inertias.
    OfInertias(usize),
}

impl std::fmt::Display for DimensionsExpected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DimensionsExpected::UpToThree => f.write_str("1, 2 or 3"),
            DimensionsExpected::OfGravity(n) => write!(f, "{n} (those of gravity)"),
            DimensionsExpected::OfInertias(n) => write!(f, "{n} (as many as inertias)"),
        }
    }
}

/// Something that must be a finite number at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StartQuantity {
    /// The time.
    Time,
    /// A coordinate, a velocity or a momentum that is given.
    Given(String),
    /// A momentum that follows from velocities.
    Momentum(String),
    /// A named share of the energy.
    Share(String),
    /// The energy.
    Energy,
    /// The rate of a coordinate or a momentum.
    Rate(String),
}

impl std::fmt::Display for StartQuantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartQuantity::Time => f.write_str("the time"),
            StartQuantity::Given(name) => write!(f, "`{name}`"),
            StartQuantity::Momentum(name) => write!(f, "the momentum `{name}`"),
            StartQuantity::Share(name) => write!(f, "the energy `{name}`"),
            StartQuantity::Energy => f.write_str("the energy"),
            StartQuantity::Rate(name) => write!(f, "the rate of `{name}`"),
        }
    }
}

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
    /// Two particles have the same name.
    #[error("the particle `{name}` is declared twice: rename one of them")]
    DuplicateParticle {
        /// The name.
        name: String,
    },
    /// Two terms of one kind have the same name.
    #[error("the {kind} `{name}` is declared twice: rename one of them")]
    DuplicateTerm {
        /// What they are.
        kind: TermKind,
        /// The name.
        name: String,
    },
    /// A declared name is not an identifier. Primes are for velocities.
    #[error(
        "{name} cannot be {what}: a name is letters, digits and underscores, without primes, and no digit first"
    )]
    BadName {
        /// The name, as it is printed.
        name: String,
        /// What it was declared as.
        what: &'static str,
    },
    /// A number in an expression is infinite or NaN.
    #[error("{place} has {value} in it: numbers must be finite")]
    NotFinite {
        /// Where.
        place: Site,
        /// The number.
        value: f64,
    },
    /// There is gravity, but no particle for it to act on.
    #[error(
        "the model has gravity but no particles with mass: gravity acts on particles; state other weights as potentials"
    )]
    IdleGravity,
    /// An expression uses a name that is not declared.
    #[error("{place} uses `{name}`, which is not declared{}", suggestion(.nearest))]
    UnknownName {
        /// Where it is used.
        place: Site,
        /// The name.
        name: String,
        /// A declared name that is spelt alike.
        nearest: Option<String>,
    },
    /// An expression uses a quantity that it cannot depend on, such as velocities in a Hamiltonian.
    #[error("{place} uses `{name}`, {what}: {remedy}")]
    MisplacedName {
        /// Where it is used.
        place: Site,
        /// The name.
        name: String,
        /// What the name stands for.
        what: &'static str,
        /// What to do instead.
        remedy: &'static str,
    },
    /// An energy over elements, or an opaque one, does not fit the model.
    #[error("the potential energy `{name}` does not fit the model: {source}")]
    Energy {
        /// The name of the energy.
        name: String,
        /// What is wrong with it.
        source: EnergyError,
    },
    /// A force acts on something that is not a coordinate.
    #[error("a force acts on `{name}`, which is not a coordinate")]
    ForceOnUnknown {
        /// The expression it acts on.
        name: String,
    },
    /// A model states both a Lagrangian part and a Hamiltonian.
    #[error(
        "the model states a Hamiltonian and also `{name}`: state the motion one way (potentials may be added to a Hamiltonian)"
    )]
    MixedForms {
        /// The other part: a term, or a particle.
        name: String,
    },
    /// The number of momenta is not the number of coordinates.
    #[error("{momenta} momenta are named for {coordinates} coordinates: name at most one for each")]
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
        expected: DimensionsExpected,
    },
    /// A coordinate enters no energy.
    #[error("the coordinate `{name}` appears in no energy: remove it, or use it")]
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
    /// A coordinate enters the Lagrangian, but not with a second power of its velocity.
    #[error(
        "the coordinate `{name}` has no inertia: the Lagrangian is degenerate, as it does not determine `{name}'`"
    )]
    NoInertia {
        /// The coordinate.
        name: String,
    },
    /// A parameter's default is infinite or NaN.
    #[error("the parameter `{name}` is {value}: parameters must be finite")]
    BadParameter {
        /// The parameter.
        name: String,
        /// Its value.
        value: f64,
    },
    /// Definitions use each other in a circle.
    #[error("the definitions of {} use each other in a circle: define one of them without the others", list(.names))]
    Cycle {
        /// The names, each of which uses the next.
        names: Vec<String>,
    },
    /// A constraint demands something of what cannot change.
    #[error(
        "the constraint `{constraint}` demands that {value} = 0, where nothing can move: it contradicts the parameters or another \
         constraint; remove one of them"
    )]
    Contradiction {
        /// The constraint.
        constraint: String,
        /// What should be zero.
        value: String,
    },
    /// A constraint of velocities is not linear in them.
    #[error(
        "the constraint `{constraint}` is not linear in velocities: no force without work can enforce it"
    )]
    NonlinearConstraint {
        /// The constraint.
        constraint: String,
    },
    /// A constraint of velocities in a model that states a Hamiltonian.
    #[error(
        "the constraint `{constraint}` is one of velocities, and the model states a Hamiltonian: state energies or a Lagrangian"
    )]
    VelocityConstraint {
        /// The constraint.
        constraint: String,
    },
    /// The system cannot run by another clock and stay Hamiltonian.
    #[error("there is no fictitious time without H(q, p, t) in closed form: {reason}")]
    NoFictitiousTime {
        /// What stands against it.
        reason: &'static str,
    },
    /// A matrix of a port-Hamiltonian system does not fit its states and inputs.
    #[error(
        "{name} has {} rows and {} columns, {} and {} are expected",
        found.0, found.1, expected.0, expected.1
    )]
    MatrixSize {
        /// J, R or B.
        name: &'static str,
        /// Its rows and columns.
        found: (usize, usize),
        /// What fits.
        expected: (usize, usize),
    },
    /// The expressions could not become code.
    #[error(transparent)]
    Code(#[from] CodeError),
}

/// Why something cannot be computed at a state.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvalError {
    /// The number of times, which is the number of lanes, is neither 1 nor a multiple of 8.
    #[error(
        "{found} times were given: give 1 for one state, or {LANES} for a block of lanes; most quantities also take a multiple of that"
    )]
    Width {
        /// How many were given.
        found: usize,
    },
    /// A slice has the wrong length.
    #[error("{what}: {expected} numbers are expected, {found} were given")]
    WrongLength {
        /// What the slice holds.
        what: &'static str,
        /// The length that is right.
        expected: usize,
        /// The length that was found.
        found: usize,
    },
    /// The form of the system does not have the quantity: port-Hamiltonian systems have no velocities, for example.
    #[error("{what} are not defined for a system stated by its {form}")]
    Undefined {
        /// The quantity.
        what: &'static str,
        /// The form.
        form: Form,
    },
    /// The quantity is no kernel of expressions, because an energy is no formula.
    #[error("{what} have no expressions: the energy `{energy}` is not a formula")]
    NoFormula {
        /// The quantity.
        what: &'static str,
        /// The name of the energy.
        energy: String,
    },
    /// The mass matrix is singular at this state.
    #[error("the mass matrix is singular at t = {t}: the motion of `{coordinate}` is not determined there")]
    SingularMass {
        /// The time.
        t: f64,
        /// The lane.
        lane: usize,
        /// The coordinate where elimination failed.
        coordinate: String,
    },
    /// Velocities did not follow from momenta, or momenta from velocities.
    #[error(
        "no {what} were found at t = {t} (residual {residual:.1e} after {iterations} iterations): the state may be outside \
             the range where they are defined"
    )]
    NoConvergence {
        /// "velocities for these momenta" or "momenta for these velocities".
        what: &'static str,
        /// The time.
        t: f64,
        /// The lane.
        lane: usize,
        /// What is left.
        residual: f64,
        /// How many iterations were made.
        iterations: u32,
    },
    /// Code could not be made for the quantity.
    #[error("{what} cannot be compiled: {source}")]
    Compile {
        /// The quantity.
        what: &'static str,
        /// Why.
        source: CodeError,
    },
}

/// Why an expression cannot be observed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ObserveError {
    /// The text is not an expression.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The expression uses a name that the system does not have.
    #[error("the expression uses `{name}`, which the system does not have{}", suggestion(.nearest))]
    UnknownName {
        /// The name.
        name: String,
        /// A name that is spelt alike.
        nearest: Option<String>,
    },
    /// How fast the expression changes along the motion is not known.
    #[error("the rate along the motion is not known: {reason}")]
    NoRate {
        /// Why, and what to do.
        reason: &'static str,
    },
    /// Code could not be made for the expression.
    #[error("the expression cannot be compiled: {0}")]
    Compile(#[from] CodeError),
}

/// Why parameters or inputs cannot be set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SettingError {
    /// The system has no such parameter or input.
    #[error("there is no {what} `{name}`{}", suggestion(.nearest))]
    Unknown {
        /// "parameter" or "input".
        what: &'static str,
        /// The name.
        name: String,
        /// A name that is spelt alike.
        nearest: Option<String>,
    },
    /// The input is part of the compiled system.
    #[error("the input `{name}` is stated by the model: give it another value there")]
    Stated {
        /// The name.
        name: String,
    },
    /// The number of parameters is wrong.
    #[error("{expected} parameters are expected, {found} were given")]
    Count {
        /// How many there are.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// There is no such lane.
    #[error("there is no lane {lane}: a block has eight, counted from 0")]
    NoLane {
        /// The number that was given.
        lane: usize,
    },
    /// A parameter, or a constant input, is infinite or NaN.
    #[error("the {what} `{name}` is {value}: {what}s must be finite")]
    NotFinite {
        /// "parameter" or "input".
        what: &'static str,
        /// The parameter or input.
        name: String,
        /// Its value.
        value: f64,
    },
    /// With these parameters a particle's mass is not positive.
    #[error("the mass of particle `{particle}` is {value} with these parameters: masses must be positive")]
    BadMass {
        /// The particle.
        particle: String,
        /// The mass.
        value: f64,
    },
    /// The masses could not be computed.
    #[error(transparent)]
    Eval(#[from] EvalError),
}

/// Why there is no such starting state.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StartError {
    /// A name is neither a coordinate, nor a velocity, nor a momentum.
    #[error("the start sets `{name}`, which is no coordinate, velocity or momentum{}", suggestion(.nearest))]
    UnknownName {
        /// The name.
        name: String,
        /// A name that is spelt alike.
        nearest: Option<String>,
    },
    /// A name is given twice.
    #[error("the start sets `{name}` twice")]
    Twice {
        /// The name.
        name: String,
    },
    /// Velocities and momenta are both given.
    #[error(
        "the start sets the velocity `{velocity}` and the momentum `{momentum}`: give velocities or momenta, not both"
    )]
    Mixed {
        /// A velocity that is set.
        velocity: String,
        /// A momentum that is set.
        momentum: String,
    },
    /// A value, or something that follows from the values, is infinite or NaN.
    #[error("{what} is {value} at the start: check the start and the parameters")]
    NotFinite {
        /// The quantity.
        what: StartQuantity,
        /// Its value.
        value: f64,
    },
    /// The mass matrix is singular at the start, as at the pole of polar coordinates, or with a length that is zero.
    #[error(
        "the mass matrix is singular at the start (t = {t}): the motion of {} is not determined there; start elsewhere, or \
             change the parameters",
        list(.coordinates)
    )]
    SingularMass {
        /// The time.
        t: f64,
        /// The coordinates that move without inertia.
        coordinates: Vec<String>,
    },
    /// A coordinate that a constraint holds is given another value.
    #[error(
        "the start sets `{name}` to {value}, but the constraint `{constraint}` holds it at {held}: leave it out, or change the \
         constraint"
    )]
    Held {
        /// The coordinate, or its velocity.
        name: String,
        /// The value that is given.
        value: f64,
        /// The value at which it is held.
        held: f64,
        /// The constraint.
        constraint: String,
    },
    /// The start is far from what constraints allow.
    #[error(
        "the start is far from what the constraints allow: `{coordinate}` would have to move by {moved:.3}; start nearer, or \
         project the state first"
    )]
    FarFromConstraints {
        /// The coordinate that would have to move most.
        coordinate: String,
        /// By how much.
        moved: f64,
    },
    /// The constraints cannot be met near the start.
    #[error("there is no such start: {0}")]
    Projection(#[from] ProjectionError),
    /// J is not skew at the start.
    #[error(
        "J is not skew-symmetric at the start: J[{row}][{column}] = {value} and J[{column}][{row}] = {mirror}"
    )]
    NotSkew {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry.
        value: f64,
        /// The entry mirrored at the diagonal.
        mirror: f64,
    },
    /// R is not symmetric positive semidefinite at the start.
    #[error("R is not positive semidefinite at the start ({found}): dissipation would create energy")]
    NotDissipative {
        /// What shows it.
        found: String,
    },
    /// The parameters of this start cannot be set.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// Something could not be computed there.
    #[error(transparent)]
    Eval(#[from] EvalError),
}

/// Why a table cannot be an input.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TableError {
    /// The table is empty.
    #[error("the table is empty: it needs at least one time")]
    Empty,
    /// There are not as many values as times.
    #[error("the table has {times} times and {values} values")]
    Lengths {
        /// The number of times.
        times: usize,
        /// The number of values.
        values: usize,
    },
    /// A time or a value is not finite.
    #[error("row {row} of the table is ({time}, {value}): both must be finite")]
    NotFinite {
        /// The row.
        row: usize,
        /// The time.
        time: f64,
        /// The value.
        value: f64,
    },
    /// Times do not increase.
    #[error("times must increase, but row {row} of the table has {time} after {before}")]
    NotIncreasing {
        /// The row.
        row: usize,
        /// Its time.
        time: f64,
        /// The time before it.
        before: f64,
    },
}

pub(crate) fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(": did you mean `{name}`?"))
}

fn list(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

impl EvalError {
    /// The lane in which something could not be computed.
    #[must_use]
    pub fn lane(&self) -> Option<usize> {
        match self {
            EvalError::SingularMass { lane, .. } | EvalError::NoConvergence { lane, .. } => Some(*lane),
            EvalError::Width { .. }
            | EvalError::WrongLength { .. }
            | EvalError::Undefined { .. }
            | EvalError::NoFormula { .. }
            | EvalError::Compile { .. } => None,
        }
    }

    /// The error of a group of lanes, in the wider block where the group begins at this lane.
    pub(crate) fn in_group(mut self, first: usize) -> EvalError {
        if let EvalError::SingularMass { lane, .. } | EvalError::NoConvergence { lane, .. } = &mut self {
            *lane += first;
        }
        self
    }
}

//! What can be wrong with a model.

use super::{at_others, list, named};
use crate::energy::EnergyError;
use leastaction_compile::CodeError;
use leastaction_expr::Advice;

/// What does not jump.
const PIECES_MEET: &str =
    "use something continuous, as min(1, max(0, t)) for a ramp; select may join pieces that meet";

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
    /// The rate of a state of first order.
    State(String),
    /// The value of a held coordinate, by the name under which it is held.
    Held(String),
    /// A matrix of a port-Hamiltonian system.
    Matrix(&'static str),
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Site::Mass(particle) => write!(f, "the mass of particle `{particle}`"),
            Site::Position(particle) => write!(f, "the position of particle `{particle}`"),
            Site::Gravity => f.write_str("gravity"),
            Site::Term(kind, name) => write!(f, "the {kind}{}", named(name)),
            Site::Force(coordinate) => write!(f, "the force on `{coordinate}`"),
            Site::Input(name) => write!(f, "the input `{name}`"),
            Site::State(name) => write!(f, "the rate of the state `{name}`"),
            Site::Held(name) => write!(f, "the value at which `{name}` holds a coordinate"),
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

impl TermKind {
    /// All of them.
    pub const ALL: [TermKind; 6] = [
        TermKind::Kinetic,
        TermKind::Lagrangian,
        TermKind::Potential,
        TermKind::Hamiltonian,
        TermKind::Dissipation,
        TermKind::Constraint,
    ];

    /// In one word, as a text states it. A term that has this name has none of its own.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            TermKind::Kinetic => "kinetic",
            TermKind::Potential => "potential",
            TermKind::Lagrangian => "lagrangian",
            TermKind::Hamiltonian => "hamiltonian",
            TermKind::Dissipation => "dissipation",
            TermKind::Constraint => "constraint",
        }
    }
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

/// Why a model has no equations of motion.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// There is nothing that could move.
    NoCoordinates,
    /// There are states of first order, but nothing that has inertia.
    OnlyStates,
    /// What events set would have to act where there is no formula.
    SetBeyondFormulas {
        /// The parameter.
        name: String,
        /// What reads it.
        by: String,
    },
    /// There is no energy.
    NoEnergy,
    /// A name is declared twice.
    DuplicateName {
        /// The name.
        name: String,
        /// What it was declared as first.
        first: &'static str,
        /// What it was declared as again.
        second: &'static str,
    },
    /// Two particles have the same name.
    DuplicateParticle {
        /// The name.
        name: String,
    },
    /// Two terms of one kind have the same name.
    DuplicateTerm {
        /// What they are.
        kind: TermKind,
        /// The name.
        name: String,
    },
    /// A declared name is not an identifier. Primes are for velocities.
    BadName {
        /// The name, as it is printed.
        name: String,
        /// What it was declared as.
        what: &'static str,
    },
    /// A number in an expression is infinite or NaN.
    NotFinite {
        /// Where.
        place: Site,
        /// The number.
        value: f64,
    },
    /// There is gravity, but no particle for it to act on.
    IdleGravity,
    /// An expression uses a name that is not declared.
    UnknownName {
        /// Where it is used.
        place: Site,
        /// The name.
        name: String,
        /// A declared name that is spelt alike.
        nearest: Option<String>,
    },
    /// An expression uses a quantity that it cannot depend on, such as velocities in a Hamiltonian.
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
    /// An energy or a dissipation over elements, or an opaque energy, does not fit the model.
    Energy {
        /// What it is.
        kind: TermKind,
        /// The name of the energy.
        name: String,
        /// What is wrong with it.
        source: EnergyError,
    },
    /// A force acts on something that is not a coordinate.
    ForceOnUnknown {
        /// The expression it acts on.
        name: String,
    },
    /// Something is held that is not a coordinate.
    HeldUnknown {
        /// The name under which it is held.
        name: String,
        /// What is held.
        coordinate: String,
    },
    /// Coordinates are held in a model that states a Hamiltonian.
    HeldByHamiltonian {
        /// The name under which they are held.
        name: String,
    },
    /// A formula reads a node whose mass is coupled with others, or it is moved.
    CoupledNode {
        /// The nodes.
        nodes: String,
        /// One of them.
        node: String,
    },
    /// A model states both a Lagrangian part and a Hamiltonian.
    MixedForms {
        /// The other part: a term, or a particle.
        name: String,
    },
    /// The number of momenta is not the number of coordinates.
    MomentaCount {
        /// How many momenta are named.
        momenta: usize,
        /// How many coordinates there are.
        coordinates: usize,
    },
    /// A particle's inertia is a number that is not positive.
    BadMass {
        /// The particle.
        particle: String,
        /// The mass.
        value: f64,
    },
    /// A particle has more than three dimensions, or gravity has other dimensions than a particle.
    Dimensions {
        /// The particle.
        particle: String,
        /// How many dimensions it has.
        found: usize,
        /// What is expected.
        expected: DimensionsExpected,
    },
    /// A coordinate enters no energy.
    UnusedCoordinate {
        /// The coordinate.
        name: String,
    },
    /// The mass matrix is singular whatever the state: coordinates repeat each other.
    SingularMass {
        /// The coordinates involved.
        coordinates: Vec<String>,
    },
    /// A coordinate enters the Lagrangian, but not with a second power of its velocity.
    NoInertia {
        /// The coordinate.
        name: String,
    },
    /// A parameter's default is infinite or NaN.
    BadParameter {
        /// The parameter.
        name: String,
        /// Its value.
        value: f64,
    },
    /// Definitions use each other in a circle.
    Cycle {
        /// The names, each of which uses the next.
        names: Vec<String>,
    },
    /// A constraint demands something of what cannot change.
    Contradiction {
        /// The constraint.
        constraint: String,
        /// What should be zero.
        value: String,
        /// The body that it keeps rigid, if nobody wrote it.
        body: Option<String>,
    },
    /// A constraint of velocities is not linear in them.
    NonlinearConstraint {
        /// The constraint.
        constraint: String,
    },
    /// In which proportion the angles of a constraint turn depends on a parameter, so that it is not known after which turns the constraint is the same.
    AngleProportion {
        /// The constraint.
        constraint: String,
        /// The parameter.
        parameter: String,
    },
    /// A constraint demands that something jumps.
    JumpingConstraint {
        /// The constraint.
        constraint: String,
        /// The parameters at other values of which it does, if it does not as it stands.
        sampled: Vec<String>,
    },
    /// The place of a mass jumps in time.
    JumpingPlace {
        /// The particle.
        particle: String,
        /// The parameters at other values of which it does, if it does not as it stands.
        sampled: Vec<String>,
    },
    /// A constraint of velocities in a model that states a Hamiltonian.
    VelocityConstraint {
        /// The constraint.
        constraint: String,
    },
    /// Forces depend on a multiplier that is not known in formulas.
    Multiplier {
        /// Its name.
        name: String,
        /// What stands against it.
        reason: &'static str,
    },
    /// The system cannot run by another clock and stay Hamiltonian.
    NoFictitiousTime {
        /// What stands against it.
        reason: &'static str,
    },
    /// A matrix of a port-Hamiltonian system does not fit its states and inputs.
    MatrixSize {
        /// J, R or B.
        name: &'static str,
        /// Its rows and columns.
        found: (usize, usize),
        /// What fits.
        expected: (usize, usize),
    },
    /// The expressions could not become code.
    Code(#[from] CodeError),
}

impl ModelError {
    /// What is wrong, and what to do.
    #[must_use]
    pub fn advice(&self) -> Advice {
        use ModelError as E;
        let rename = "rename one of them";
        match self {
            E::OnlyStates => Advice::cause("the model has states, but no coordinates").remedy(
                "declare one with inertia, too; where states are all there is, one that nothing depends on will do",
            ),
            E::SetBeyondFormulas { name, by } => Advice::cause(format!(
                "`{name}` is set by an event, and `{by}` depends on it, which computes with the value of the start"
            ))
            .remedy("events can set what formulas of energies and forces depend on, and constraints on velocities; what fields and nodes of meshes are made of, and what constraints on places demand, stays"),
            E::NoCoordinates => Advice::cause("the model has no coordinates").remedy("declare at least one"),
            E::NoEnergy => Advice::cause("the model has no energy")
                .remedy("add particles, a kinetic energy, a Lagrangian or a Hamiltonian"),
            E::DuplicateName { name, first, second } => {
                Advice::cause(format!("`{name}` is declared twice, as {first} and as {second}"))
                    .remedy(rename)
            }
            E::DuplicateParticle { name } => {
                Advice::cause(format!("the particle `{name}` is declared twice")).remedy(rename)
            }
            E::DuplicateTerm { kind, name } => {
                Advice::cause(format!("the {kind}{} is declared twice", named(name))).remedy(rename)
            }
            E::BadName { name, what } => Advice::cause(format!("{name} cannot be {what}"))
                .remedy("a name is letters, digits and underscores, without primes, and no digit first"),
            E::NotFinite { place, value } => {
                Advice::cause(format!("{place} has {value} in it")).remedy("numbers must be finite")
            }
            E::IdleGravity => Advice::cause("the model has gravity but no particles with mass")
                .remedy("gravity acts on particles; state other weights as potentials"),
            E::UnknownName { place, name, nearest } => {
                Advice::cause(format!("{place} uses `{name}`, which is not declared"))
                    .nearest(nearest.as_ref())
            }
            E::MisplacedName { place, name, what, remedy } => {
                Advice::cause(format!("{place} uses `{name}`, {what}")).remedy(*remedy)
            }
            E::Energy { kind, name, source } => {
                Advice::cause(format!("the {kind}{} does not fit the model", named(name)))
                    .remedy(source.to_string())
            }
            E::ForceOnUnknown { name } => {
                Advice::cause(format!("a force acts on `{name}`, which is not a coordinate"))
            }
            E::HeldUnknown { name, coordinate } => {
                Advice::cause(format!("`{name}` holds `{coordinate}`, which is not a coordinate"))
                    .remedy("declare it as a coordinate, or leave it out")
            }
            E::HeldByHamiltonian { name } => {
                Advice::cause(format!("`{name}` holds coordinates of a model that states a Hamiltonian"))
                    .remedy("state energies instead, or put the values into the Hamiltonian")
            }
            E::CoupledNode { nodes, node } => Advice::cause(format!(
                "the masses of `{nodes}` are consistent, and `{node}` is read by a formula or a constraint, or moved with time"
            ))
            .remedy("give the nodes lumped masses, or state the energy as a field over elements"),
            E::MixedForms { name } => {
                Advice::cause(format!("the model states a Hamiltonian and also `{name}`"))
                    .remedy("state the motion one way (potentials may be added to a Hamiltonian)")
            }
            E::MomentaCount { momenta, coordinates } => {
                Advice::cause(format!("{momenta} momenta are named for {coordinates} coordinates"))
                    .remedy("name at most one for each")
            }
            E::BadMass { particle, value } => {
                Advice::cause(format!("the mass of particle `{particle}` is {value}"))
                    .remedy("masses must be positive")
            }
            E::Dimensions { particle, found, expected } => Advice::cause(format!(
                "particle `{particle}` has {found} dimensions, {expected} are expected"
            )),
            E::UnusedCoordinate { name } => {
                Advice::cause(format!("the coordinate `{name}` appears in no energy"))
                    .remedy("remove it, or use it")
            }
            E::SingularMass { coordinates } => Advice::cause("the mass matrix is singular").remedy(format!(
                "{} move nothing independently; remove or replace one of them",
                list(coordinates)
            )),
            E::NoInertia { name } => Advice::cause(format!("the coordinate `{name}` has no inertia"))
                .remedy(format!("the Lagrangian is degenerate, as it does not determine `{name}'`")),
            E::BadParameter { name, value } => Advice::cause(format!("the parameter `{name}` is {value}"))
                .remedy("parameters must be finite"),
            E::Cycle { names } => {
                Advice::cause(format!("the definitions of {} use each other in a circle", list(names)))
                    .remedy("define one of them without the others")
            }
            E::Contradiction { body: Some(body), .. } => Advice::cause(format!(
                "the joints of the body `{body}` contradict each other: all that is left to it is to change its shape"
            ))
            .remedy("two of them want its axes turned differently, where nothing can move; remove one of them"),
            E::Contradiction { constraint, value, body: None } => {
                let constraint = named(constraint);
                Advice::cause(format!(
                    "the constraint{constraint} demands that {value} = 0, where nothing can move"
                ))
                .remedy("it contradicts the parameters or another constraint; remove one of them")
            }
            E::NonlinearConstraint { constraint } => {
                Advice::cause(format!("the constraint{} is not linear in velocities", named(constraint)))
                    .remedy("no force without work can enforce it")
            }
            E::AngleProportion { constraint, parameter } => Advice::cause(format!(
                "in which proportion angles turn in the constraint{} depends on the parameter `{parameter}`, and so does after which turns it is the same",
                named(constraint)
            ))
            .remedy("use a number in its place"),
            E::JumpingConstraint { constraint, sampled } => Advice::cause(format!(
                "the constraint{} jumps{}, by `floor`, `sign`, a comparison or a `select` whose pieces do not meet, and nothing that moves can follow it",
                named(constraint),
                at_others(sampled)
            ))
            .remedy(PIECES_MEET),
            E::JumpingPlace { particle, sampled } => Advice::cause(format!(
                "the place of `{particle}` jumps in time{}, by `floor`, `sign`, a comparison or a `select` whose pieces do not meet, and no mass can follow it",
                at_others(sampled)
            ))
            .remedy(PIECES_MEET),
            E::VelocityConstraint { constraint } => Advice::cause(format!(
                "the constraint{} is one of velocities, and the model states a Hamiltonian",
                named(constraint)
            ))
            .remedy("state energies or a Lagrangian"),
            E::Multiplier { name, reason } => {
                Advice::cause(format!("a force cannot depend on `{name}` here")).remedy(*reason)
            }
            E::NoFictitiousTime { reason } => {
                Advice::cause("there is no fictitious time without H(q, p, t) in closed form").remedy(*reason)
            }
            E::MatrixSize { name, found: (rows, columns), expected } => Advice::cause(format!(
                "{name} has {rows} rows and {columns} columns, {} and {} are expected",
                expected.0, expected.1
            )),
            E::Code(error) => Advice::cause(error.to_string()),
        }
    }
}

impl std::fmt::Display for ModelError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.advice().fmt(f)
    }
}

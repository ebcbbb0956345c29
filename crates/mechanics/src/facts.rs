//! What is known about a system beside its kernels: how it was stated, what was found out, what its parts are called.

use crate::error::TermKind;
use crate::symmetry::Conserved;
use std::fmt;

/// How the motion was stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By energies, or any Lagrangian.
    Lagrangian,
    /// By a Hamiltonian.
    Hamiltonian,
    /// As a port-Hamiltonian system: its states are `coordinates`, and it has no momenta.
    Ports,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Lagrangian => "Lagrangian",
            Form::Hamiltonian => "Hamiltonian",
            Form::Ports => "ports",
        })
    }
}

/// What was found out about a system from its expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// How the motion was stated.
    pub form: Form,
    /// Whether H = T(p, t) + V(q, t): what explicit symplectic methods need.
    pub separable: bool,
    /// Whether velocities are M⁻¹p with a constant matrix M: what Runge–Kutta–Nyström methods need.
    pub constant_mass: bool,
    /// Whether there are inputs whose values are given when the system runs.
    pub driven: bool,
    /// Whether neither time nor such an input appears anywhere.
    pub autonomous: bool,
    /// Whether time enters smoothly: it is not compared, rounded, or cut off anywhere. What jumps at a time is not seen from before, least of all
    /// by a Taylor series.
    pub smooth_in_time: bool,
    /// Whether Jacobi's function p·v − L, which is H, is another one than the energy T + V: positions depend on time, or the kinetic energy is not quadratic in the
    /// velocities.
    pub jacobi: bool,
    /// Whether nothing is compared, rounded, or cut off anywhere, by time or by the state: all derivatives of the rates are continuous.
    pub smooth: bool,
    /// Energies over elements whose formula jumps in place, by name: no force tells of the blow.
    pub jumping: Vec<String>,
    /// Energies over elements whose forces jump in place, by name: no step lands there.
    pub cornered: Vec<String>,
    /// Lengths of velocities that forces are divided by, as dry friction in the plane is by the speed: at rest there is no direction.
    pub directions: Vec<String>,
    /// Whether there is dissipation.
    pub dissipative: bool,
    /// Whether generalized forces other than dissipation act.
    pub forced: bool,
    /// Whether a force, or dissipation, depends on velocities.
    pub forces_depend_on_velocities: bool,
    /// Whether masses are constant, dissipation is −Γp with a constant matrix Γ, and no other force depends on velocities: what
    /// conformal symplectic methods need. Without dissipation Γ is zero.
    pub linear_damping: bool,
    /// Whether rates follow from a state without factoring or iterating: velocities from momenta, and constraint forces, if there are
    /// any, are written out.
    pub explicit: bool,
    /// Whether one kernel computes all rates: they are explicit, and nothing is added to what the kernel gives. Whole steps are
    /// compiled from it.
    pub one_kernel: bool,
    /// Whether all rates are known as expressions: what Taylor series, and the rates of other quantities, are made of.
    pub symbolic: bool,
    /// Whether there are constraints.
    pub constrained: bool,
    /// Whether no constraint is one of velocities: constraints of positions alone leave the motion Hamiltonian.
    pub holonomic: bool,
    /// Coordinates that the energies do not depend on, by index.
    pub cyclic: Vec<usize>,
    /// What is conserved because of a symmetry.
    pub conserved: Vec<Conserved>,
}

/// A named share of the energy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The name.
    pub name: String,
    /// What the share is of.
    pub kind: ShareKind,
}

/// What a named term belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareKind {
    /// The kinetic energy.
    Kinetic,
    /// The potential energy.
    Potential,
    /// The Lagrangian.
    Lagrangian,
    /// The Hamiltonian.
    Hamiltonian,
}

impl ShareKind {
    /// The kind of terms that it is a share of.
    #[must_use]
    pub fn term(self) -> TermKind {
        match self {
            ShareKind::Kinetic => TermKind::Kinetic,
            ShareKind::Potential => TermKind::Potential,
            ShareKind::Lagrangian => TermKind::Lagrangian,
            ShareKind::Hamiltonian => TermKind::Hamiltonian,
        }
    }
}

/// A particle, or a point without mass, in a compiled system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name.
    pub name: String,
    /// How many Cartesian coordinates it has.
    pub dimensions: usize,
}

//! The card: what a method declares about itself.

use crate::error::RunError;
use crate::pace::Pace;
use crate::step::Step;
use leastaction_mechanics::{Dynamics, Facts, Form};
use std::fmt;

/// A method's facts, from which tables, help texts and test sweeps are made.
#[derive(Clone, Copy, Debug)]
pub struct Card {
    /// The name, as on the command line.
    pub name: &'static str,
    /// What the method is, in one line.
    pub about: &'static str,
    /// The order: errors over a fixed time shrink as this power of the step.
    pub order: u32,
    /// What the method keeps of the motion's geometry.
    pub keeps: &'static [Keeps],
    /// What a system must be for the method to apply.
    pub needs: Needs,
    /// Whether a step is computed in one go or found by iteration.
    pub kind: Kind,
    /// Whether the method can find its step from a tolerance.
    pub sizing: Sizing,
    /// Where the method is described.
    pub cite: &'static str,
    /// Makes the method's memory for a system in so many lanes, at a pace.
    pub stepper: Stepper,
}

/// Makes a method's memory for a system in so many lanes, at a pace.
pub type Stepper = fn(&mut Dynamics, usize, &Pace) -> Result<Box<dyn Step>, RunError>;

impl Card {
    /// What the method keeps of the motion of such a system: less than the card says if the system has lost it already, or if each step is
    /// followed by a projection onto constraints, which keeps nothing but them.
    pub fn kept_in(&self, facts: &Facts) -> impl Iterator<Item = Keeps> {
        let projected = self.is_projected_in(facts);
        let keeps: &'static [Keeps] = if projected { &[Keeps::Constraints] } else { self.keeps };
        keeps.iter().copied().filter(move |what| what.is_there(facts))
    }

    /// Whether each step is followed by a projection onto constraints, as the method does not keep them by itself.
    #[must_use]
    pub fn is_projected_in(&self, facts: &Facts) -> bool {
        facts.constrained && !self.keeps.contains(&Keeps::Constraints)
    }
}

/// What a method keeps of the motion's geometry, up to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// The symplectic form: the derivative M of the step map satisfies MᵀΩM = Ω.
    Symplectic,
    /// Time reversal: a step h followed by a step −h leads back.
    Reversible,
    /// Invariants that are quadratic in the state, such as angular momentum in Cartesian coordinates, or the energy of a linear
    /// oscillator.
    Quadratic,
    /// Invariants that are linear in coordinates and linear in momenta, such as angular momentum in Cartesian coordinates.
    Bilinear,
    /// The contraction of the symplectic form by damping −γp: MᵀΩM = e^{−γh}Ω.
    Conformal,
    /// The energy of a mechanical system in which nothing depends on time and nothing is lost.
    Energy,
    /// Constraints, and what follows from them for velocities.
    Constraints,
}

impl Keeps {
    /// Whether the motion of such a system has this at all: nothing keeps a symplectic form that dissipation shrinks.
    #[must_use]
    pub fn is_there(self, facts: &Facts) -> bool {
        let free = !facts.dissipative && !facts.forced;
        match self {
            Keeps::Symplectic => free && facts.form != Form::Ports && facts.holonomic,
            Keeps::Conformal => facts.linear_damping && !facts.forced,
            // A structure J(x) that varies along a step changes it, and whether J does is not known.
            Keeps::Energy => free && facts.autonomous && facts.form != Form::Ports,
            Keeps::Constraints => facts.constrained,
            Keeps::Reversible | Keeps::Quadratic | Keeps::Bilinear => true,
        }
    }
}

impl fmt::Display for Keeps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Keeps::Symplectic => "symplectic form",
            Keeps::Reversible => "time reversal",
            Keeps::Quadratic => "quadratic invariants",
            Keeps::Bilinear => "bilinear invariants",
            Keeps::Conformal => "contraction of the symplectic form",
            Keeps::Energy => "energy",
            Keeps::Constraints => "constraints",
        })
    }
}

/// What a system must be for a method to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Any vector field. Where there are constraints, each step is followed by a projection.
    Field,
    /// Any vector field without constraints.
    Free,
    /// A mechanical system whose constraints, if it has any, are all of positions.
    Holonomic,
    /// A vector field in closed form, without inputs. Where there are constraints, each step is followed by a projection.
    Closed,
    /// H(q, p, t), and neither dissipation nor other forces.
    Hamiltonian,
    /// H = T(p, t) + V(q, t), and forces that do not depend on velocities.
    Separable,
    /// H = ½pᵀM⁻¹p + V(q, t) with M constant, and forces that do not depend on velocities.
    ConstantMass,
    /// H = ½pᵀM⁻¹p + V(q, t) with M constant, dissipation −Γp with Γ constant, and other forces that do not depend on velocities.
    LinearDamping,
    /// Energies or a Lagrangian.
    Lagrangian,
}

impl Needs {
    /// Whether a system is what is needed.
    #[must_use]
    pub fn met_by(self, facts: &Facts) -> bool {
        match self {
            Needs::Field => true,
            Needs::Holonomic => facts.form != Form::Ports && facts.holonomic,
            Needs::Closed => facts.symbolic && !facts.driven,
            _ if facts.constrained => false,
            Needs::Free => true,
            Needs::Hamiltonian => facts.form != Form::Ports && !facts.dissipative && !facts.forced,
            Needs::Separable => facts.separable && !facts.forces_depend_on_velocities,
            Needs::ConstantMass => Needs::Separable.met_by(facts) && facts.constant_mass,
            Needs::LinearDamping => facts.linear_damping,
            Needs::Lagrangian => facts.form == Form::Lagrangian,
        }
    }
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Needs::Field => "a vector field",
            Needs::Free => "a vector field without constraints",
            Needs::Holonomic => "constraints of positions, or none",
            Needs::Closed => "a vector field in closed form, without inputs",
            Needs::Hamiltonian => "a Hamiltonian without forces",
            Needs::Separable => "a separable Hamiltonian",
            Needs::ConstantMass => "separable energies, constant masses",
            Needs::LinearDamping => "constant masses and linear damping",
            Needs::Lagrangian => "a Lagrangian",
        })
    }
}

/// Whether a step is computed in one go or found by iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A fixed number of evaluations.
    Explicit,
    /// Equations for the step, solved to rounding.
    Implicit,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Explicit => "explicit",
            Kind::Implicit => "implicit",
        })
    }
}

/// Whether a method can find its step from a tolerance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizing {
    /// It needs a step.
    Given,
    /// It estimates its error after a step, and steps too long are tried again.
    Estimated {
        /// The power of the step with which the estimate shrinks.
        order: u32,
    },
    /// It knows beforehand how far it can go.
    Foreseen,
}

impl fmt::Display for Sizing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Sizing::Given => "fixed",
            Sizing::Estimated { .. } | Sizing::Foreseen => "adaptive",
        })
    }
}

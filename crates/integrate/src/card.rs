//! The card: what a method declares about itself.

use crate::block::Block;
use crate::step::Step;
use leastaction_mechanics::Facts;
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
    /// Where the method is described.
    pub cite: &'static str,
    /// Makes the method's memory for blocks of this size.
    pub stepper: fn(&Block) -> Box<dyn Step>,
}

/// What a method keeps of the motion's geometry, up to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// The symplectic form: the derivative M of the step map satisfies MᵀΩM = Ω.
    Symplectic,
    /// Time reversal: a step h followed by a step −h leads back.
    Reversible,
    /// Invariants that are quadratic in the state, such as angular momentum in Cartesian coordinates.
    Quadratic,
}

impl fmt::Display for Keeps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Keeps::Symplectic => "symplectic form",
            Keeps::Reversible => "time reversal",
            Keeps::Quadratic => "quadratic invariants",
        })
    }
}

/// What a system must be for a method to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Any vector field.
    Field,
    /// H = T(p, t) + V(q, t), and forces that do not depend on velocities.
    Separable,
}

impl Needs {
    /// Whether a system is what is needed.
    #[must_use]
    pub fn met_by(self, facts: &Facts) -> bool {
        match self {
            Needs::Field => true,
            Needs::Separable => facts.separable && !facts.forces_depend_on_velocities,
        }
    }
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Needs::Field => "a vector field",
            Needs::Separable => "a separable Hamiltonian",
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

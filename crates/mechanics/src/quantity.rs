//! The quantities of a system.

/// What kernels compute. Each takes the block \[q…, p…\] or \[q…, v…\], then time and inputs unless the system is autonomous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// (q̇, ṗ) of (q, p).
    Rates,
    /// q̇ of (q, p).
    Drift,
    /// ṗ of (q, p).
    Kick,
    /// The derivatives of the rates by (q, p), by rows.
    Jacobian,
    /// H of (q, p).
    Energy,
    /// p of (q, v).
    Momenta,
    /// ∂L/∂q + Q of (q, v).
    MomentumRates,
    /// What M q̈ is, of (q, v).
    NetForces,
    /// q̈ of (q, v); of (q, p) for a Hamiltonian.
    Accelerations,
    /// p and the nonzeros of M of (q, v), v = 0 if L is quadratic; for a Hamiltonian v and ∂²H/∂p² of (q, p).
    Inertia,
    /// ∂p/∂q, ∂(∂L/∂q + Q)/∂q and ∂(∂L/∂q + Q)/∂v of (q, v), each by rows.
    ConfigurationJacobian,
    /// The positions of particles and points.
    Positions,
    /// The shares of the energy, then T, V, L, H, the power that is lost, that of forces, and what time does to T + V, of (q, v); of (q, p) for a
    /// Hamiltonian.
    EnergyBalance,
    /// The derivatives by v of what T + V is more than H, of (q, v), where there are any.
    ExcessSlopes,
    /// The inertias of the particles.
    Masses,
    /// The nonzeros of Γ, where dissipation is −Γp.
    Damping,
    /// Φ of the constraints of positions, of (q, v); v is not read.
    Constraints,
    /// Ψ of the constraints, of (q, v).
    ConstraintRates,
    /// The nonzeros of G, of (q, v); v is not read.
    ConstraintJacobian,
    /// γ of the constraints, of (q, v).
    ConstraintBias,
    /// ∂Ψ/∂q where G has nonzeros, for constraints of positions, of (q, v).
    ConstraintRateJacobian,
    /// ∂p/∂q of (q, v), by rows; for a Hamiltonian ∂v/∂q of (q, p).
    MomentumJacobian,
    /// The forces with which coordinates are held, and what accelerations and multipliers add to them, of (q, v).
    Reactions,
    /// The outputs of a port-Hamiltonian system.
    Outputs,
    /// J, then R, of a port-Hamiltonian system, by rows.
    Structure,
    /// ∇H of a port-Hamiltonian system.
    Gradient,
    /// The switching functions of a system on fixed branches, and what `floor` rounds, of (q, p); of (q, v) where v(q, p) is not written out.
    SwitchingFunctions,
}

impl Quantity {
    /// How many there are.
    pub(crate) const COUNT: usize = Quantity::SwitchingFunctions as usize + 1;

    /// Whether it is evaluated where a run is looked at, and not in every step.
    pub(crate) fn is_rare(self) -> bool {
        matches!(
            self,
            Quantity::EnergyBalance
                | Quantity::Positions
                | Quantity::Masses
                | Quantity::Outputs
                | Quantity::Reactions
        )
    }

    /// Whether it is what constraints demand.
    pub(crate) fn is_of_constraints(self) -> bool {
        matches!(
            self,
            Quantity::Constraints
                | Quantity::ConstraintRates
                | Quantity::ConstraintJacobian
                | Quantity::ConstraintBias
                | Quantity::ConstraintRateJacobian
        )
    }

    /// Whether potential energies are in it.
    pub(crate) fn has_potentials(self) -> bool {
        matches!(
            self,
            Quantity::Rates
                | Quantity::Kick
                | Quantity::Jacobian
                | Quantity::Energy
                | Quantity::MomentumRates
                | Quantity::NetForces
                | Quantity::Accelerations
                | Quantity::ConfigurationJacobian
                | Quantity::EnergyBalance
                | Quantity::Reactions
        )
    }

    /// What they are called in errors.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Quantity::Rates => "the vector field",
            Quantity::Drift => "velocities",
            Quantity::Kick | Quantity::MomentumRates => "forces",
            Quantity::Jacobian | Quantity::ConfigurationJacobian | Quantity::MomentumJacobian => {
                "derivatives of the vector field"
            }
            Quantity::Energy | Quantity::EnergyBalance | Quantity::ExcessSlopes => "energies",
            Quantity::Momenta => "momenta",
            Quantity::NetForces | Quantity::Accelerations => "accelerations",
            Quantity::Inertia => "mass matrices",
            Quantity::Positions => "positions",
            Quantity::Masses => "masses",
            Quantity::Damping => "rates of damping",
            Quantity::Constraints
            | Quantity::ConstraintRates
            | Quantity::ConstraintJacobian
            | Quantity::ConstraintBias
            | Quantity::ConstraintRateJacobian => "constraints",
            Quantity::Reactions => "reactions",
            Quantity::Outputs => "outputs",
            Quantity::Structure => "structure matrices",
            Quantity::Gradient => "the gradient of the energy",
            Quantity::SwitchingFunctions => "switching functions",
        }
    }
}

//! Fictitious time: a Hamiltonian system that runs by a clock of its own, and stays Hamiltonian.
//!
//! With dt = g(q, p, t) ds the equations of motion are no longer Hamiltonian, but those of
//!
//! $$\tilde H(q,t,p,p_t)=g(q,p,t)\,\bigl(H(q,p,t)+p_t\bigr),\qquad p_t(0)=-H(q_0,p_0,t_0)$$
//!
//! are: t is a coordinate with the momentum p_t, $\tilde H$ stays 0, and there dt/ds = g, dq/ds = g ∂H/∂p, dp/ds = −g ∂H/∂q,
//! dp_t/ds = −g ∂H/∂t. A symplectic method with a fixed step in s is then symplectic with steps of g·Δs in t (K. F. Sundman's
//! transformation of time in H. Poincaré's form; E. Hairer, C. Lubich and G. Wanner, *Geometric Numerical Integration*, 2006, section
//! VIII.2; B. Leimkuhler and S. Reich, *Simulating Hamiltonian Dynamics*, 2004, chapter 9).

use crate::dynamics::Dynamics;
use crate::engine::check;
use crate::equations::{Equations, depend};
use crate::error::{EvalError, ModelError, SettingError};
use crate::model::{Model, Term};
use crate::names::momentum;
use crate::parameters::Revision;
use crate::state::State;
use crate::system::System;
use leastaction_expr::{Expr, IntoExpr};

/// A system in fictitious time s, with dt = g ds: its coordinates are \[q…, t\], its momenta \[p…, p_t\].
#[derive(Clone, Debug)]
pub struct Sundman {
    original: System,
    system: System,
}

impl<'g> Equations<'g> {
    /// The system in a fictitious time s that passes as dt = g ds, for an expression g > 0 of coordinates, momenta, velocities, time
    /// and parameters: where g is small, steps in s are short in t.
    ///
    /// ```
    /// # use leastaction_expr::Graph;
    /// # use leastaction_mechanics::Model;
    /// let graph = Graph::new();
    /// let mut model = Model::new(&graph);
    /// let [x, y] = model.coordinates(["x", "y"]);
    /// let r = (x * x + y * y).sqrt();
    /// model.particle("comet", 1.0, [x, y]);
    /// model.potential("gravity", -1.0 / r);
    /// let sundman = model.equations()?.in_fictitious_time(r)?;
    /// assert_eq!(sundman.system().coordinates(), ["x", "y", "t"]);
    /// assert_eq!(sundman.system().momenta(), ["p_x", "p_y", "p_t"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ModelError::NoFictitiousTime`] if there is no H(q, p, t) in closed form that tells the whole motion; others if g uses names
    /// that are not declared, or `p_t` has another meaning.
    pub fn in_fictitious_time(&self, g: impl IntoExpr<'g>) -> Result<Sundman, ModelError> {
        let refuse = |reason| Err(ModelError::NoFictitiousTime { reason });
        let nonzero = |forces: &[Expr<'g>]| forces.iter().any(|f| f.as_number() != Some(0.0));
        if nonzero(&self.resistances) || nonzero(&self.drives) || !self.inputs.is_empty() {
            return refuse("dissipation, forces or inputs act, and no Hamiltonian tells of them");
        }
        if !self.constraints.is_empty() {
            return refuse("there are constraints");
        }
        if !self.is_symbolic() {
            return refuse("an energy is not a formula");
        }
        let (Some(energy), Some(rates)) = (self.hamiltonian(), self.velocities_of_momenta()) else {
            return refuse("velocities do not follow from momenta in closed form");
        };
        let g = self.in_phase_space(&[g.into_expr(self.graph)], &rates)[0];
        let time = self.clock(&[energy, g]);
        let momentum = self.graph.symbol(&momentum("t"));
        let mut model = Model::new(self.graph);
        model.time = time;
        model.parameters.clone_from(&self.parameters);
        model.coordinates = self.coordinates.iter().copied().chain([self.time]).collect();
        model.momenta = self.momenta.iter().copied().chain([momentum]).collect();
        model.hamiltonian.push(Term { name: "g (H + p_t)".into(), value: g * (energy + momentum) });
        Ok(Sundman { original: self.system()?, system: model.system()? })
    }

    /// A name for fictitious time that nothing else has.
    fn clock(&self, used: &[Expr<'g>]) -> Expr<'g> {
        let parameters = self.parameters.iter().map(|(p, _)| *p);
        let known: Vec<_> = self.coordinates.iter().chain(&self.momenta).copied().chain(parameters).collect();
        let taken = |symbol: &Expr<'g>| known.contains(symbol) || depend(used, &[*symbol]);
        let names = (1..).map(|k| format!("s_{k}"));
        let mut symbols = ["s".to_owned()].into_iter().chain(names).map(|name| self.graph.symbol(&name));
        let free = symbols.find(|symbol| !taken(symbol));
        free.unwrap_or_else(|| unreachable!("there are more names than are taken"))
    }
}

impl Sundman {
    /// The system in fictitious time.
    #[must_use]
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The system in its own time.
    #[must_use]
    pub fn original(&self) -> &System {
        &self.original
    }

    /// The system in fictitious time, with the parameters of the original in every lane.
    ///
    /// # Errors
    /// [`SettingError`] if these are not the original's parameters.
    pub fn dynamics(&self, original: &Dynamics) -> Result<Dynamics, SettingError> {
        let mut dynamics = self.system.dynamics()?;
        original.pass_parameters(&mut Revision::default(), |lane, values| match lane {
            None => dynamics.set_parameters(values),
            Some(lane) => dynamics.set_parameters_in(lane, values),
        })?;
        Ok(dynamics)
    }

    /// A state of the original in fictitious time, at s = 0, with p_t = −H.
    ///
    /// # Errors
    /// [`EvalError`] if it does not fit, or H cannot be evaluated there.
    pub fn begin(&self, original: &mut Dynamics, state: &State) -> Result<State, EvalError> {
        let mut energy = [0.0];
        original.hamiltonian(&[state.t], &state.block(), &mut energy)?;
        let q = [state.q.as_slice(), &[state.t]].concat();
        let p = [state.p.as_slice(), &[-energy[0]]].concat();
        Ok(State { t: 0.0, q, p })
    }

    /// The time of the original, and its state block \[q…, p…\], from a state block \[q…, t, p…, p_t\] in fictitious time.
    ///
    /// # Errors
    /// [`EvalError::WrongLength`] if a slice does not fit.
    pub fn project(&self, block: &[f64], out: &mut [f64]) -> Result<f64, EvalError> {
        let n = self.original.degrees();
        check("state block", 2 * n + 2, block.len())?;
        check("state block", 2 * n, out.len())?;
        out[..n].copy_from_slice(&block[..n]);
        out[n..].copy_from_slice(&block[n + 1..2 * n + 1]);
        Ok(block[n])
    }
}

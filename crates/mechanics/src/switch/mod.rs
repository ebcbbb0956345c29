//! Switches: where expressions change their branch.
//!
//! A comparison, `sign`, `abs`, `min`, `max` and `floor` divide the states into regions, in each of which an expression is smooth. On the border between two of
//! them a *switching function* g(q, p, t) vanishes: a − b for a < b, x for |x|. A step across a border is wrong whatever its order, and no estimate of its
//! error can be trusted. Therefore a system with switches is compiled a second time, with the branch of every switch as a parameter: sign(x) is σ, |x| is σ·x,
//! max(a, b) is a or b by σ, and floor(x) is n. On fixed branches motion is smooth beyond the border, too. Who integrates it watches the switching functions,
//! lands where one vanishes, and goes on from there on the other branch.
//!
//! Where forces are divided by the length of a vector of velocities ([`direction`]), the motion may come to rest at a point, and not on a border.
//!
//! Switching functions whose range excludes zero, and those of parameters alone, are no switches. `==` and `!=` between quantities that change are true, or false,
//! at single instants only, and none either.

mod direction;
mod hold;
mod level;
mod range;
mod slide;

use crate::dynamics::Dynamics;
use crate::engine::check;
use crate::error::{EvalError, SettingError};
use crate::facts::Form;
use crate::quantity::Quantity;
use crate::system::System;
use leastaction_compile::LANES;

pub(crate) use direction::{Length, divisors};
pub(crate) use hold::{Held, States, hold};
pub use level::difference;

/// A place where expressions of a system change their branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    /// What is compared with zero, or rounded, as text.
    pub what: String,
    /// How its branches are told apart.
    pub kind: SwitchKind,
    /// Whether nothing but time and parameters decides.
    pub of_time: bool,
    /// Whether it is of time, and what decides is affine in it.
    pub affine: bool,
    /// Whether what decides depends on the branches of other switches.
    pub nested: bool,
    /// Whether motions can slide on its border.
    pub slides: bool,
    /// How many components a direction has; 0 for other switches.
    pub direction: usize,
}

/// How the branches of a switch are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SwitchKind {
    /// By the sign of the switching function: the branch is −1 or 1.
    Side,
    /// By the integers between which it is: the branch is the lower one.
    Floor,
    /// It is not a border but a point that a vector may pass, where it has no direction: the function is the vector along the direction that it had before, and the branch
    /// is 1.
    Direction,
}

/// A system on fixed branches.
pub(crate) struct Branches {
    pub(crate) system: System,
    pub(crate) switches: Vec<Switch>,
}

impl System {
    /// The switches of the system.
    #[must_use]
    pub fn switches(&self) -> &[Switch] {
        self.branches().map_or(&[], |branches| &branches.switches)
    }
}

impl Dynamics {
    /// The same system on fixed branches, if it has switches. Its parameters are those of the system, then the branch of each switch,
    /// then 1 for each switch on whose border the motion slides, and then of each direction: by how much its vector is to be seen longer, as one
    /// that vanishes has none; how fast it is to vanish where it is held at 0, and how much of its rate is let go there, for each unit of what holds it; and the
    /// components of the direction before.
    ///
    /// # Errors
    /// [`SettingError`] as [`System::dynamics`].
    pub fn on_branches(&self) -> Result<Option<Dynamics>, SettingError> {
        let Some(branches) = self.system().branches() else { return Ok(None) };
        let mut fixed = Dynamics::new(branches.system.clone())?;
        fixed.engine.take_inputs(&self.engine);
        Ok(Some(fixed))
    }

    /// Takes the parameters of the plain system, and these branches, in a lane of blocks of eight or for single states.
    ///
    /// # Errors
    /// [`SettingError`] as [`Dynamics::set_parameters`].
    pub fn set_branches(
        &mut self,
        plain: &Dynamics,
        lane: Option<usize>,
        branches: &[f64],
    ) -> Result<(), SettingError> {
        let mut values = lane.map_or(plain.parameters(), |lane| plain.parameters_in(lane)).to_vec();
        values.extend(branches);
        match lane {
            None => self.set_parameters(&values),
            Some(lane) => self.set_parameters_in(lane, &values),
        }
    }

    /// The switching functions of a system on fixed branches at y, or what `floor` rounds, one row for each switch; then the signs in their place that keep
    /// the motion on borders on which it slides, and for directions the square of what does; and then the vector of each direction, and what holds it at 0.
    ///
    /// # Errors
    /// [`EvalError`] if a slice does not fit, there are no switches, or velocities do not follow from momenta.
    pub fn switching_functions(&mut self, t: &[f64], y: &[f64], out: &mut [f64]) -> Result<(), EvalError> {
        if self.engine.has(Quantity::Drift) || self.system().facts().form == Form::Ports {
            return self.engine.eval(Quantity::SwitchingFunctions, t, y, out);
        }
        check("lanes", t.len().min(LANES), t.len())?;
        self.engine.check_block(t, y)?;
        let result = self.turn(Dynamics::velocities, t, y);
        self.engine.eval(Quantity::SwitchingFunctions, t, &self.other[..y.len()], out).and(result)
    }
}

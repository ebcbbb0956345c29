//! Steps from a step density, such that the way back is the way there.
//!
//! A step that is chosen from the state at its beginning, h = ε Q(y₀), spoils what symmetric methods are good for: the way back would
//! choose its steps from the other ends, and the energy drifts. A step density z ≈ 1/Q that is integrated beside the motion does
//! not, because its equation is solved by a symmetric rule too:
//!
//! $$z_{n+1/2}=z_n+\tfrac\varepsilon2G(y_n),\quad h=\varepsilon/z_{n+1/2},\quad y_{n+1}=\Phi_h(y_n),\quad
//!   z_{n+1}=z_{n+1/2}+\tfrac\varepsilon2G(y_{n+1}),\qquad G=-\dot Q/Q$$
//!
//! with z₀ = 1/Q(y₀), so that dz/dτ = G along dt = dτ/z has the solution z = 1/Q. It costs one evaluation of G for a step, whatever
//! the method Φ (E. Hairer and G. Söderlind, SIAM J. Sci. Comput. 26 (2005) 1838, doi:10.1137/040606995).

use crate::block::Block;
use crate::card::{Card, Keeps};
use crate::error::{RunError, number};
use crate::run::checkpoint::Kept;
use crate::step::Motion;
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, Rated};
use std::fmt;

/// A pace that follows the motion and keeps its symmetry: steps are about ε·Q long, where Q(q, p, t) is the step that is wanted, up
/// to a factor. For methods that keep time reversal.
///
/// ```
/// # use leastaction_expr::Graph;
/// # use leastaction_integrate::{Density, Integrator};
/// # use leastaction_mechanics::Model;
/// # let graph = Graph::new();
/// # let mut model = Model::new(&graph);
/// # let [x, y] = model.coordinates(["x", "y"]);
/// # model.particle("comet", 1.0, [x, y]);
/// # model.potential("gravity", -1.0 / (x * x + y * y).sqrt());
/// # let mut dynamics = model.system()?.dynamics()?;
/// # let start = dynamics.start(&[("x", 0.1), ("y'", 19f64.sqrt())])?;
/// // A comet on an ellipse of eccentricity 0.9: short steps near the sun, by Kepler's third law.
/// let pace = Density::of("(x^2 + y^2)^(3/4)", 0.05);
/// let orbits = Integrator::named("implicit-midpoint", pace)?.run(&mut dynamics, &start, 60.0)?;
/// assert!(orbits.energy_drift(&mut dynamics)? < 0.02 && orbits.work().steps < 4000);
/// // The same without thinking: the frequencies of the motion set the pace.
/// let orbits = Integrator::named("implicit-midpoint", Density::natural(0.05))?.run(&mut dynamics, &start, 60.0)?;
/// assert!(orbits.energy_drift(&mut dynamics)? < 0.02);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The last step is cut where the run should end. It is a step of the same kind with a smaller ε, and the steps before it are as if
/// the run went on. To go back over the very same steps, [begin](Density::from_density) with the density that the run
/// [ended with](crate::Trajectory::density), and go back to where the cut step began first.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// The wanted step, up to a factor, as an expression; none for the natural time of the motion.
    pub(crate) wanted: Option<String>,
    /// Steps are about this multiple of what is wanted.
    pub(crate) epsilon: f64,
    /// The density to begin with; 1/Q if it is not given.
    pub(crate) from: Option<f64>,
}

impl Density {
    /// Steps of about ε·Q, for an expression Q > 0 of time, coordinates, velocities, momenta and parameters, such as
    /// `(x^2 + y^2)^(3/4)`.
    #[must_use]
    pub fn of(wanted: &str, epsilon: f64) -> Density {
        // As it will be read back from a checkpoint, which has it on one line.
        let wanted = wanted.split_whitespace().collect::<Vec<_>>().join(" ");
        Density { wanted: Some(wanted), epsilon, from: None }
    }

    /// Steps of about ε times the [natural time](Dynamics::natural_time) of the motion: near ε radians of its fastest oscillation. Made for
    /// gravity, collisions and other close encounters; where forces become uniform there is no such time, and the run says so.
    #[must_use]
    pub fn natural(epsilon: f64) -> Density {
        Density { wanted: None, epsilon, from: None }
    }

    /// Begins with this density instead of 1/Q: that of a run's [end](crate::Trajectory::density), to go on, or back.
    #[must_use]
    pub fn from_density(self, density: f64) -> Density {
        Density { from: Some(density), ..self }
    }
}

impl fmt::Display for Density {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let epsilon = number(&self.epsilon);
        match &self.wanted {
            Some(wanted) => write!(f, "steps of {epsilon}*({wanted})")?,
            None => write!(f, "steps of {epsilon} natural times")?,
        }
        match self.from {
            Some(density) => write!(f, ", from a density of {}", number(&density)),
            None => Ok(()),
        }
    }
}

/// A cut last step that is this close to a whole one is the whole one, but for rounding of the time.
const WHOLE: f64 = 1e-9;

/// The densities of the lanes.
pub(crate) struct Control {
    wanted: Rated,
    /// ε, negative if the run leads back in time.
    epsilon: f64,
    from: Option<f64>,
    /// z in the middle of the last step, and half the ε of that step; 0 at the start.
    middle: [f64; LANES],
    behind: [f64; LANES],
    /// The same for the step that is proposed.
    next: [f64; LANES],
    ahead: [f64; LANES],
}

impl Control {
    /// Checks the pace.
    pub(crate) fn new(
        density: &Density,
        card: &'static Card,
        dynamics: &mut Dynamics,
        (start, end): (f64, f64),
    ) -> Result<Control, RunError> {
        let facts = dynamics.system().facts();
        if !card.kept_in(facts).any(|kept| kept == Keeps::Reversible) {
            let instead = match (facts.constrained, facts.holonomic) {
                (false, _) => "gauss4",
                (true, true) => "gauss-spark4",
                (true, false) => "dop853",
            };
            return Err(RunError::NotReversible { method: card.name, instead });
        }
        let epsilon = density.epsilon;
        if !(epsilon > 0.0 && epsilon.is_finite()) {
            return Err(RunError::BadEpsilon { epsilon });
        }
        if let Some(density) = density.from.filter(|z| !(*z > 0.0 && z.is_finite())) {
            return Err(RunError::BadFirstDensity { density });
        }
        let wanted = match &density.wanted {
            Some(text) => dynamics.rated(text)?,
            None => dynamics.natural_time()?,
        };
        let epsilon = if end < start { -epsilon } else { epsilon };
        let zero = [0.0; LANES];
        let from = density.from;
        Ok(Control { wanted, epsilon, from, middle: zero, behind: zero, next: zero, ahead: zero })
    }

    /// z and G = −Q̇/Q at the states of the lanes that still move.
    fn look(
        &self,
        dynamics: &mut Dynamics,
        t: &[f64],
        block: &Block,
        moves: [bool; LANES],
    ) -> Result<([f64; LANES], [f64; LANES]), RunError> {
        let (width, mut wanted, mut trend) = (block.width(), [1.0; LANES], [0.0; LANES]);
        let (values, rates) = (&mut wanted[..width], &mut trend[..width]);
        dynamics.observe_rated(self.wanted, t, block.values(), values, rates)?;
        let mut density = [0.0; LANES];
        for j in (0..width).filter(|&j| moves[j]) {
            if !(wanted[j] > 0.0 && wanted[j].is_finite() && trend[j].is_finite()) {
                return Err(RunError::BadWanted { t: t[j], value: wanted[j], rate: trend[j], lane: j });
            }
            trend[j] = -trend[j] / wanted[j];
            density[j] = match self.middle[j] {
                0.0 => self.from.unwrap_or(1.0 / wanted[j]),
                middle => middle + self.behind[j] * trend[j],
            };
        }
        Ok((density, trend))
    }

    /// The density where the first lane is.
    pub(crate) fn density(&self, dynamics: &mut Dynamics, t: &[f64], block: &Block) -> Result<f64, RunError> {
        Ok(self.look(dynamics, t, block, [true; LANES])?.0[0])
    }

    /// The next step of each lane, given what is left to go.
    pub(crate) fn propose(
        &mut self,
        motion: &mut Motion<'_>,
        t: &[f64],
        left: &[f64; LANES],
        block: &Block,
        steps: &mut [f64; LANES],
    ) -> Result<(), RunError> {
        let (density, trend) = self.look(motion.plain(), t, block, left.map(|left| left != 0.0))?;
        for j in 0..block.width() {
            if left[j] == 0.0 {
                steps[j] = 0.0;
                continue;
            }
            let (here, half) = (density[j], 0.5 * self.epsilon);
            let density = here + half * trend[j];
            steps[j] = self.epsilon / density;
            (self.next[j], self.ahead[j]) = (density, half);
            if !(here > 0.0 && density > 0.0 && density.is_finite()) {
                return Err(RunError::BadDensity { t: t[j], density: here.min(density), lane: j });
            }
            if left[j].abs() <= steps[j].abs() * (1.0 + WHOLE) {
                // The ε whose step ends at the end: h = ε/(z + ½εG), so ε = h z/(1 − ½hG).
                let (h, cut) = (left[j], 1.0 - 0.5 * left[j] * trend[j]);
                if left[j].abs() < steps[j].abs() * (1.0 - WHOLE) {
                    let half = 0.5 * h * here / cut;
                    (self.next[j], self.ahead[j]) = (here + half * trend[j], half);
                }
                steps[j] = h;
            }
        }
        Ok(())
    }

    /// The proposed step was taken in a lane.
    pub(crate) fn accept(&mut self, lane: usize) {
        (self.middle[lane], self.behind[lane]) = (self.next[lane], self.ahead[lane]);
    }

    /// A lane starts again.
    pub(crate) fn forget(&mut self, lane: usize) {
        (self.middle[lane], self.behind[lane]) = (0.0, 0.0);
    }

    pub(crate) fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        visit(Kept::Numbers(&mut self.middle));
        visit(Kept::Numbers(&mut self.behind));
    }
}

//! A run that another integrator began, and this one ends.

use crate::error::Failed;
use crate::integrator::{Integrator, Moment};
use crate::run::schedule::Output;
use crate::trajectory::Trajectory;
use leastaction_mechanics::Dynamics;
use std::ops::ControlFlow;

impl Integrator {
    /// Goes on with a run that another integrator was broken off in, to its end: with its samples, events and work, and with the samples of this one that are still to
    /// come of a run from `start` on. The method starts again where the other was left.
    ///
    /// # Errors
    /// [`Failed`] has what was computed by both until then.
    pub fn take_over(
        &self,
        dynamics: &mut Dynamics,
        mut so_far: Trajectory,
        (start, end): (f64, f64),
        watch: impl FnMut(&mut Moment<'_, '_>) -> ControlFlow<()>,
    ) -> Result<Trajectory, Failed> {
        let here = so_far.end();
        let rest = match self.output {
            Output::Every(_) => self.clone(),
            _ => {
                let times = self.sample_times(dynamics.system(), start, end)?;
                if !times.contains(&here.t) {
                    so_far.pop();
                }
                let way = end - start;
                let later: Vec<f64> = times.into_iter().filter(|t| (t - here.t) * way > 0.0).collect();
                self.clone().at(&later)
            }
        };
        let rest = Integrator { ticking_since: Some(start), ..rest };
        match rest.run_watched(dynamics, &here, end, watch) {
            Ok(rest) => Ok(so_far.continued(rest)),
            Err(Failed { error, trajectory }) => {
                let joined = match trajectory {
                    Some(rest) => so_far.continued(*rest),
                    None => so_far,
                };
                Err(Failed { error, trajectory: Some(Box::new(joined)) })
            }
        }
    }
}

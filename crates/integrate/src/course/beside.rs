//! Two courses side by side, whose steps one kernel may make.

use super::adaptive::Crossing;
use super::{Course, Pacing, interval};
use crate::error::RunError;
use crate::pair::{Pair, Way};
use crate::step::StepError;
use leastaction_compile::LANES;

impl Course<'_> {
    /// What makes the steps of this course and another of the same kind at once, if there is such a kernel.
    pub(crate) fn pair(&mut self) -> Result<Option<Pair>, RunError> {
        if matches!(self.pacing, Pacing::Density(_)) {
            return Ok(None);
        }
        let dynamics = &*self.motion.dynamics();
        let Some(paired) = self.method.paired(dynamics)? else { return Ok(None) };
        Ok(Some(Pair::new(paired, dynamics)?))
    }

    /// Finds steps for two courses, as [`Course::propose_each`] does for one; but it may be that a course has none to take.
    pub(crate) fn propose_two(courses: [&mut Course<'_>; 2], pair: &mut Pair) -> [Result<(), RunError>; 2] {
        let [one, two] = courses;
        one.failed = false;
        two.failed = false;
        let (way, begun) = pair.way([one.motion.dynamics(), two.motion.dynamics()]);
        let ready = [one.get_ready(), two.get_ready()];
        let mut stepped = [Ok(()), Ok(())];
        match (way, &ready) {
            (Way::Paired, [Ok(Some(_)), Ok(Some(_))]) => {
                stepped = [one.load(pair, 0), two.load(pair, 1)];
                match pair.run() {
                    Ok(()) => {
                        one.method.unload(pair.outputs(0), &mut one.change);
                        two.method.unload(pair.outputs(1), &mut two.change);
                    }
                    Err(error) => stepped = [Err(error.clone().into()), Err(error.into())],
                }
            }
            (_, [first, second]) => {
                if let Ok(Some(_)) = first {
                    stepped[0] = one.try_step();
                }
                if let Ok(Some(_)) = second {
                    stepped[1] = two.try_step();
                }
            }
        }
        if let (Some(begun), [Ok(Some(_)), Ok(Some(_))]) = (begun, &ready) {
            pair.time(way, begun);
        }
        let ([first, second], [to, fro]) = (ready, stepped);
        [one.settle_any(first, to), two.settle_any(second, fro)]
    }

    fn get_ready(&mut self) -> Result<Option<Crossing>, RunError> {
        match &self.pacing {
            Pacing::Fixed { .. } => {
                self.fit_to_grid();
                Ok(self.taken[..LANES].contains(&true).then_some(None))
            }
            _ => self.ready::<LANES>(),
        }
    }

    fn load(&mut self, pair: &mut Pair, which: usize) -> Result<(), StepError> {
        let interval = interval(&self.t, &self.h, LANES);
        self.method.load(&mut self.motion, interval, &self.block, pair.inputs(which))
    }

    fn settle_any(
        &mut self,
        ready: Result<Option<Crossing>, RunError>,
        stepped: Result<(), StepError>,
    ) -> Result<(), RunError> {
        let Some(crossing) = ready? else { return Ok(()) };
        match self.pacing {
            Pacing::Adaptive { tolerance, .. } => {
                self.settle::<LANES>(tolerance, crossing, stepped).map(|_| ())
            }
            _ => self.settle_surely(stepped),
        }
    }

    /// Whether a step will be taken in a lane.
    pub(crate) fn any_taken(&self) -> bool {
        self.taken[..self.block.width()].contains(&true)
    }
}

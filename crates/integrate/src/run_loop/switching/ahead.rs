//! Switches of time: known ahead of a step, which ends at the first of them.

use super::{AT_ONCE, Ended, PARTS};
use crate::clock;
use crate::error::RunError;
use crate::run::roots::sign_changes;
use crate::run_loop::{Pacing, RunLoop};
use leastaction_compile::{LANES, Lanes};

impl RunLoop<'_> {
    /// Shortens steps that would go beyond a tick or a switch of time, or that are to land on a border.
    pub(in crate::run_loop) fn limit_steps(&mut self) -> Result<(), RunError> {
        if self.ticks.any() {
            self.limit_by_ticks();
        }
        let Some(switching) = &self.switching else { return Ok(()) };
        let timed = switching.any(true);
        for lane in 0..self.block.width() {
            let Some(switching) = &mut self.switching else { return Ok(()) };
            let here = &mut switching.lanes[lane];
            (here.at_knot, here.at_border, here.is_part) = (None, false, false);
            if self.h[lane] == 0.0 {
                continue;
            }
            let whole = self.h[lane];
            match here.landing {
                // A step that turned out to be too long is not one that lands.
                Some((_, length)) if length.abs() > whole.abs() => here.landing = None,
                Some((_, length)) => self.h[lane] = length,
                None => {}
            }
            if timed && here.landing.is_none() {
                here.planned = whole;
                self.limit_by_time(lane)?;
            }
            let rounding = self.rounding(lane);
            if let Some(switching) = &mut self.switching {
                let part = (whole - self.h[lane]).abs() > rounding;
                self.h[lane] = if part { self.h[lane] } else { whole };
                let here = &mut switching.lanes[lane];
                here.is_part = part;
                here.at_knot = here.at_knot.map(|_| self.h[lane]);
            }
        }
        Ok(())
    }

    fn limit_by_time(&mut self, lane: usize) -> Result<(), RunError> {
        let mut left = AT_ONCE;
        loop {
            let (t, h, shortest) =
                (self.t[lane], self.h[lane], clock::shortest(&mut Lanes, [self.t[lane]])[0]);
            let (to, way) = (t + h, (self.end - self.start).signum());
            let Some(here) = self.switching.as_ref().map(|switching| switching.lanes[lane]) else {
                return Ok(());
            };
            let mut knot = here.knot;
            if knot.is_none() && way * to > way * here.clear {
                let from = if way * here.clear > way * t { here.clear } else { t };
                knot = self.next_knot(lane, from, to)?;
            }
            let Some(switching) = &mut self.switching else { return Ok(()) };
            let here = &mut switching.lanes[lane];
            here.knot = knot;
            let Some(knot) = knot else {
                here.clear = if way * to > way * here.clear { to } else { here.clear };
                return Ok(());
            };
            let distance = (knot - t) - self.late[lane];
            if way * distance <= shortest.max(f64::MIN_POSITIVE) {
                // It is here.
                here.knot = None;
                if left == 0 {
                    return Err(self.chatter(lane, 0));
                }
                left -= 1;
                self.change_branch(lane, true, None)?;
                self.forget_lane(lane);
                continue;
            }
            if h.abs() >= distance.abs() {
                (self.h[lane], here.at_knot) = (distance, Some(distance));
            } else if 2.0 * h.abs() > distance.abs() && !matches!(self.pacing, Pacing::Fixed { .. }) {
                self.h[lane] = 0.5 * distance;
            }
            return Ok(());
        }
    }

    /// The first switch of time between two times.
    fn next_knot(&mut self, lane: usize, from: f64, to: f64) -> Result<Option<f64>, RunError> {
        let (width, longest) = (self.block.width(), (self.end - self.start).abs() / PARTS);
        let RunLoop { switching: Some(switching), motion, block, .. } = self else { return Ok(None) };
        let dynamics = motion.dynamics();
        let mut values = std::mem::take(&mut switching.values);
        let mut first: Option<f64> = None;
        for (k, switch) in switching.switches.iter().enumerate().filter(|(_, switch)| switch.of_time) {
            for border in switching.borders(k, lane) {
                let to = first.unwrap_or(to);
                let parts = ((to - from).abs() / longest).ceil().clamp(1.0, PARTS);
                let (parts, mut part, mut sign) = (if switch.affine { 1.0 } else { parts }, 0.0, border.side);
                while part < parts {
                    let at = |tau: f64| from + (to - from) * ((part + tau) / parts);
                    let mut f = |tau: f64| {
                        let times = [at(tau); LANES];
                        dynamics.switching_functions(&times[..width], block.values(), &mut values)?;
                        Ok::<f64, Ended>(values[k * width + lane] - border.value)
                    };
                    match sign_changes(&mut f, &mut sign, |root| Err(Ended::Found(root))) {
                        Ok(()) => part += 1.0,
                        Err(Ended::Failed(error)) => return Err(error.into()),
                        Err(Ended::Found(root)) => {
                            first = Some(at(root.at));
                            break;
                        }
                    }
                }
            }
        }
        switching.values = values;
        Ok(first)
    }
}

//! Switches of the state: found in a step that could be taken, which is tried again until it ends there.

use super::{AT_ONCE, Border, ENOUGH, Ended, Lane, Switching, TRIES};
use crate::clock;
use crate::error::RunError;
use crate::run::roots::{COARSE, coarse_point, is_quiet, sign_changes};
use crate::run_loop::RunLoop;
use crate::step::StepError;
use leastaction_compile::{LANES, Lanes};
use leastaction_mechanics::{EvalError, SwitchKind};

impl RunLoop<'_> {
    /// Looks for borders in steps that could be taken. Those that pass one are not taken, but tried again with the length that leads there. Returns whether
    /// one is left that can be taken, if there was one.
    pub(in crate::run_loop) fn land(&mut self) -> Result<bool, RunError> {
        let width = self.block.width();
        let Some(switching) = &self.switching else { return Ok(true) };
        if !switching.any(false) || !self.taken[..width].contains(&true) {
            return Ok(true);
        }
        self.interpolate()?;
        self.look_at_borders()?;
        for lane in 0..width {
            if self.taken[lane] {
                self.land_in(lane)?;
            }
        }
        let left = self.taken[..width].contains(&true);
        self.motion.work_mut().rejected += u64::from(!left);
        Ok(left || self.failed)
    }

    /// Switching functions at the points of a first look, in all lanes at once.
    fn look_at_borders(&mut self) -> Result<(), StepError> {
        let width = self.block.width();
        let ends: [f64; LANES] = std::array::from_fn(|j| if j < width { self.end_of(j) } else { 0.0 });
        let RunLoop { switching: Some(switching), motion, polynomial, t, .. } = self else { return Ok(()) };
        for (k, values) in switching.looks.iter_mut().enumerate() {
            let tau = coarse_point(k);
            let times: [f64; LANES] = std::array::from_fn(|j| t[j] + tau * (ends[j] - t[j]));
            polynomial.at(&[tau; LANES][..width], &mut switching.at[0]);
            motion.dynamics().switching_functions(&times[..width], &switching.at[0], values)?;
        }
        Ok(())
    }

    fn land_in(&mut self, lane: usize) -> Result<(), RunError> {
        let (h, rounding) = (self.h[lane], self.rounding(lane));
        let Some(Lane { landing, tries, .. }) = self.switching.as_ref().map(|s| s.lanes[lane]) else {
            return Ok(());
        };
        if let Some(switch) = self.leaves_rest(lane) {
            let error = self.chatter(lane, switch);
            self.fail(lane, error);
            return Ok(());
        }
        // A method that foresees its steps may have shortened this one.
        let landing = landing.filter(|(_, length)| (length - h).abs() <= rounding);
        let first = self.first_border(lane)?;
        let (border, length) = match (first, landing) {
            (None, None) => return Ok(()),
            // Another border comes before the one that the step should end on.
            (Some((border, tau)), Some((target, _)))
                if border != target && (1.0 - tau) * h.abs() > rounding =>
            {
                (border, tau * h)
            }
            (_, Some((target, _))) => match self.miss(lane, target)? {
                Some(miss) => (target, h + miss),
                // The polynomial of a longer step came to a border that the motion does not come to.
                None => return Ok(()),
            },
            (Some((border, tau)), None) => (border, tau * h),
        };
        let shortest = clock::shortest(&mut Lanes, [self.t[lane]])[0];
        let Some(switching) = &mut self.switching else { return Ok(()) };
        let here = &mut switching.lanes[lane];
        if landing.is_none() {
            here.planned = h;
        }
        // What is left of the length is finer than the time; some tries lead as near as the numbers allow.
        let at_border = (length - h).abs() <= 0.5 * f64::EPSILON * h.abs()
            || (length - h).abs() <= rounding && tries >= ENOUGH;
        if at_border || tries >= TRIES {
            // Where polynomials of shorter steps do not lead to the same border, it is passed, and seen behind the step.
            here.at_border = at_border || landing.is_some();
            here.landing = here.at_border.then_some((border, h));
            return Ok(());
        }
        self.taken[lane] = false;
        here.tries = tries + 1;
        if length * h.signum() > shortest {
            here.landing = Some((border, length));
            return Ok(());
        }
        // The lane is on the border already.
        here.landing = None;
        here.changes += 1;
        if here.changes > switching.switches.len() + AT_ONCE {
            let switch = border.row % switching.switches.len();
            return Err(self.chatter(lane, switch));
        }
        here.on_border = Some(border);
        self.change_branches()
    }

    /// A switch on whose border a lane rests that the proposed step leaves.
    fn leaves_rest(&self, lane: usize) -> Option<usize> {
        let (width, switching) = (self.block.width(), self.switching.as_ref()?);
        let (Switching { switches, branches, looks, .. }, count) = (switching, switching.switches.len());
        let rests = |k: usize| branches[k][lane] == 0.0 && branches[count + k][lane] == 0.0;
        let leaves = |k: usize| looks[COARSE][k * width + lane] != 0.0;
        (0..count).find(|&k| switches[k].kind == SwitchKind::Side && rests(k) && leaves(k))
    }

    /// The first border that the proposed step of a lane meets, and at which fraction of it.
    fn first_border(&mut self, lane: usize) -> Result<Option<(Border, f64)>, StepError> {
        let (width, start, end) = (self.block.width(), self.t[lane], self.end_of(lane));
        let RunLoop { switching: Some(switching), motion, polynomial, .. } = self else { return Ok(None) };
        let (mut at, mut values) =
            (std::mem::take(&mut switching.at[0]), std::mem::take(&mut switching.values));
        let (dynamics, mut first) = (motion.dynamics(), None::<(Border, f64)>);
        for (k, _) in switching.switches.iter().enumerate().filter(|(_, switch)| !switch.of_time) {
            for border in switching.borders(k, lane) {
                let place = border.row * width + lane;
                let look = std::array::from_fn(|i| switching.looks[i][place] - border.value);
                if is_quiet(look, border.side) {
                    continue;
                }
                let within = first.map_or(1.0, |(_, tau)| tau);
                let left = switching.lanes[lane].left.filter(|(row, _)| *row == border.row);
                let from = left.map_or(0.0, |(_, time)| (time / (end - start).abs()).min(within));
                let mut f = |part: f64| {
                    let tau = from + part * (within - from);
                    polynomial.at(&[tau; LANES][..width], &mut at);
                    let time = [start + tau * (end - start); LANES];
                    dynamics.switching_functions(&time[..width], &at, &mut values)?;
                    Ok::<f64, Ended>(values[place] - border.value)
                };
                let mut sign = border.side;
                match sign_changes(&mut f, &mut sign, |root| Err(Ended::Found(root))) {
                    Ok(()) => {}
                    Err(Ended::Failed(error)) => return Err(error),
                    Err(Ended::Found(root)) => first = Some((border, from + root.at * (within - from))),
                }
            }
        }
        (switching.at[0], switching.values) = (at, values);
        Ok(first)
    }

    /// What roundings of the state make of the function of a border: none if it is one that motion slides on.
    fn roughness(&mut self, lane: usize, border: Border) -> Result<f64, StepError> {
        const APART: f64 = 1e-6;
        let (width, end) = (self.block.width(), self.end_of(lane));
        let RunLoop { switching: Some(switching), motion, polynomial, .. } = self else { return Ok(0.0) };
        if switching.switches.get(border.row).is_none_or(|switch| switch.slides) {
            return Ok(0.0);
        }
        let Switching { at: [at, sizes, moved], values, .. } = switching;
        sizes.fill(0.0);
        for tau in [0.0, 0.5, 1.0] {
            polynomial.at(&[tau; LANES][..width], at);
            sizes.iter_mut().zip(&*at).for_each(|(size, y)| *size = size.max(y.abs()));
        }
        let time = [end; LANES];
        let mut function = |y: &[f64]| {
            motion.dynamics().switching_functions(&time[..width], y, values)?;
            Ok::<f64, EvalError>(values[border.row * width + lane])
        };
        let here = function(at)?;
        let mut largest = 0.0_f64;
        // Once all to the same side, once one by one to the other: what cancels in one sum does not in the other.
        for other in [1.0, -1.0] {
            let mut sign = APART;
            for ((moved, y), (i, size)) in moved.iter_mut().zip(&*at).zip(sizes.iter().enumerate()) {
                *moved = y + sign * size;
                sign = if (i + 1) % width == 0 { sign * other } else { sign };
            }
            largest = largest.max((function(moved)? - here).abs());
        }
        Ok(f64::EPSILON * largest / APART)
    }

    /// By how much longer the proposed step of a lane should be to end on a border, by the slope of the function at its end; `None` if it
    /// leads away from a border that it has not met.
    fn miss(&mut self, lane: usize, border: Border) -> Result<Option<f64>, StepError> {
        // The part of the step over which the slope is taken: a shorter one where it turns within, as it does beside a thin region.
        const ASIDE: [f64; 5] = [1e-3, 1e-5, 1e-7, 1e-9, 1e-11];
        const TURNS: f64 = 0.5;
        let (width, start, end) = (self.block.width(), self.t[lane], self.end_of(lane));
        let (h, rounding) = (self.h[lane], self.rounding(lane));
        let beyond = self.limits.beyond;
        let beyond = if beyond > 0.0 { beyond * self.roughness(lane, border)? } else { 0.0 };
        let RunLoop { switching: Some(switching), motion, polynomial, .. } = self else { return Ok(None) };
        let mut value = |tau: f64| {
            polynomial.at(&[tau; LANES][..width], &mut switching.at[0]);
            let time = [start + tau * (end - start); LANES];
            motion.dynamics().switching_functions(&time[..width], &switching.at[0], &mut switching.values)?;
            let off = switching.values[border.row * width + lane] - border.value;
            Ok::<f64, EvalError>(off + border.side * beyond)
        };
        let here = value(1.0)?;
        let mut miss = 0.0;
        for aside in ASIDE.into_iter().filter(|_| here != 0.0) {
            let (before, after) = (value(1.0 - aside)?, value(1.0 + aside)?);
            miss = -here * 2.0 * aside * h / (after - before);
            if (after - here - (here - before)).abs() <= TURNS * (after - before).abs() {
                break;
            }
        }
        // Not further than that: what a slope says is good nearby.
        let most = 0.5 * h.abs();
        let ahead = miss * h.signum();
        let leads_away = here * border.side > 0.0 && !(ahead >= -rounding && ahead <= most);
        Ok(if leads_away { None } else { Some(miss.clamp(-most, most)) })
    }
}

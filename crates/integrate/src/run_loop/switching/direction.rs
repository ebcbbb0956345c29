//! Directions of forces, as of dry friction in the plane: where the vector that has the direction vanishes, the motion rests as long as what holds it there is within
//! the limit, and then goes on where it is driven (A. F. Filippov, *Differential Equations with Discontinuous Righthand Sides*, 1988, §2).

use super::{AFTER, Switching};
use crate::card::{Kind, Sizing};
use crate::error::RunError;
use crate::run_loop::RunLoop;
use crate::step::{Interval, StepError};
use leastaction_compile::LANES;
use leastaction_mechanics::{Switch, SwitchKind};

/// A vector that is this part of what it has been at most is none any more.
const REST: f64 = 1e-11;
/// So many roundings of a vector are none: it is seen longer by them, as what is left of it where it vanishes has a direction by chance.
const ROUNDINGS: f64 = 64.0;
/// It is seen longer by this at least: nothing that matters is so short, and its square is a number still.
const STILL: f64 = 1e-150;
/// A direction is remembered anew when the cosine of the angle by which it turned is less.
const TURNED: f64 = 0.9;
/// The search for where a motion begins takes so many steps at most, and ends when the length differs from 1 by less than this.
const SEARCH: u32 = 60;
const UNIT: f64 = 1e-14;
/// Where what is let go changes what holds by less than this part, more is let go in search of their size.
const UNSEEN: f64 = 1e-3;
const FARTHER: f64 = 1e3;
/// Where nothing is known of the next step, it is this part of the run.
const SOON: f64 = 1e-6;
/// Where a motion begins it is seen longer by this part of what drives it makes of it: roundings of forces that nearly cancel there have no direction. When it is so many times as long
/// as that, it is seen as it is.
const NEARLY: f64 = 1e-6;
const LONG: f64 = 100.0;

/// Where the numbers of a direction stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    switch: usize,
    components: usize,
    /// The first of what is known of it among the branches: by how much it is seen longer, how fast it is to vanish, what is let go, and the direction before.
    known: usize,
    /// The first row of its vector, and of what holds it.
    vector: usize,
    holds: usize,
}

impl Place {
    fn pull(&self) -> usize {
        self.known + 1
    }

    fn slack(&self) -> usize {
        self.known + 2
    }

    fn before(&self) -> usize {
        self.known + 3
    }
}

/// Where the numbers of all directions stand; and how many numbers are known, and how many rows there are.
pub(super) fn places(switches: &[Switch]) -> (Vec<Place>, usize, usize) {
    let (mut known, mut rows, mut found) = (2 * switches.len(), 2 * switches.len(), Vec::new());
    for (switch, components) in switches.iter().map(|switch| switch.direction).enumerate() {
        if components > 0 {
            found.push(Place { switch, components, known, vector: rows, holds: rows + components });
            (known, rows) = (known + 3 + components, rows + 2 * components);
        }
    }
    (found, known, rows)
}

/// What is known of directions of which nobody has looked: they are taken to be those of the first axis.
pub(crate) fn unknown(switches: &[Switch]) -> Vec<f64> {
    let directions = switches.iter().map(|switch| switch.direction).filter(|&components| components > 0);
    let each = |components| {
        let before = (0..components).map(|i| if i == 0 { 1.0 } else { 0.0 });
        [STILL, 0.0, 0.0].into_iter().chain(before).collect::<Vec<_>>()
    };
    directions.flat_map(each).collect()
}

/// By how much a vector is seen longer that has been so long.
fn seen_longer(fastest: f64) -> f64 {
    (ROUNDINGS * f64::EPSILON * fastest).max(STILL)
}

fn length(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

impl Switching {
    fn place(&self, switch: usize) -> Place {
        let found = self.directions.iter().find(|place| place.switch == switch);
        *found.unwrap_or_else(|| unreachable!("it is a direction"))
    }

    fn set_before(&mut self, lane: usize, place: Place, direction: &[f64]) {
        for (i, x) in direction.iter().enumerate() {
            self.branches[place.before() + i][lane] = *x;
        }
    }

    /// Rows of values in a lane.
    fn rows(&self, from: usize, components: usize, (lane, width): (usize, usize)) -> Vec<f64> {
        (from..from + components).map(|row| self.values[row * width + lane]).collect()
    }
}

impl RunLoop<'_> {
    /// Directions where a lane begins: as they are, or any where there is none.
    pub(super) fn begin_directions(&mut self, lane: usize) -> Result<(), RunError> {
        let Some(places) = self.switching.as_ref().map(|switching| switching.directions.clone()) else {
            return Ok(());
        };
        for place in places {
            let vector = self.vector(lane, place)?;
            let speed = length(&vector);
            let Some(switching) = &mut self.switching else { return Ok(()) };
            switching.branches[place.switch][lane] = 1.0;
            switching.branches[place.known][lane] = seen_longer(speed);
            let unit = |i: usize| if i == 0 { 1.0 } else { 0.0 };
            let direction: Vec<f64> = match speed > 0.0 {
                true => vector.iter().map(|x| x / speed).collect(),
                false => (0..place.components).map(unit).collect(),
            };
            switching.set_before(lane, place, &direction);
            switching.fastest[place.switch][lane] = speed;
            self.fix_branches(lane)?;
        }
        Ok(())
    }

    /// A direction at the very start: where there is none, the motion rests, or begins where it is driven.
    pub(super) fn begin_at_rest(&mut self, lane: usize, switch: usize) -> Result<(), RunError> {
        let Some(place) = self.switching.as_ref().map(|switching| switching.place(switch)) else {
            return Ok(());
        };
        let speed = length(&self.vector(lane, place)?);
        if speed <= ROUNDINGS * self.noise_of(lane, place)? { self.hold_still(lane, place) } else { Ok(()) }
    }

    /// Directions turn with the motion.
    pub(super) fn turn_directions(&mut self) -> Result<(), RunError> {
        let Some(places) = self.switching.as_ref().map(|switching| switching.directions.clone()) else {
            return Ok(());
        };
        if places.is_empty() {
            return Ok(());
        }
        self.look()?;
        for lane in (0..self.block.width()).filter(|&lane| !self.is_over(lane)).collect::<Vec<_>>() {
            let (width, mut turned) = (self.block.width(), false);
            let Some(switching) = &mut self.switching else { return Ok(()) };
            for &place in &places {
                let vector = switching.rows(place.vector, place.components, (lane, width));
                let speed = length(&vector);
                let slides = switching.branches[switching.switches.len() + place.switch][lane] != 0.0;
                if slides || speed.is_nan() || speed == 0.0 {
                    continue;
                }
                let fastest = switching.fastest[place.switch][lane].max(speed);
                switching.fastest[place.switch][lane] = fastest;
                let before = (0..place.components).map(|i| switching.branches[place.before() + i][lane]);
                let cosine = before.zip(&vector).map(|(d, x)| d * x).sum::<f64>() / speed;
                let (seen, longer) = (switching.branches[place.known][lane], seen_longer(fastest));
                // Of a motion that has just begun, nothing of the direction is left when it is seen as it is.
                let begins = seen > 2.0 * longer;
                if seen < 0.5 * longer || begins && speed > LONG * seen {
                    switching.branches[place.known][lane] = longer;
                    turned = true;
                }
                if (cosine < TURNED || begins && cosine < 1.0) && speed > seen {
                    let direction: Vec<f64> = vector.iter().map(|x| x / speed).collect();
                    switching.set_before(lane, place, &direction);
                    turned = true;
                }
            }
            if turned {
                self.fix_branches(lane)?;
            }
        }
        Ok(())
    }

    /// A lane has come to where a vector, along the direction that it had, vanishes: it rests if all of the vector does, and else has turned.
    pub(super) fn come_to_rest(&mut self, lane: usize, switch: usize) -> Result<(), RunError> {
        let Some(place) = self.switching.as_ref().map(|switching| switching.place(switch)) else {
            return Ok(());
        };
        let vector = self.vector(lane, place)?;
        let (speed, noise) = (length(&vector), self.noise_of(lane, place)?);
        let Some(switching) = &mut self.switching else { return Ok(()) };
        if speed > (REST * switching.fastest[switch][lane]).max(ROUNDINGS * noise) {
            let direction: Vec<f64> = vector.iter().map(|x| x / speed).collect();
            switching.set_before(lane, place, &direction);
            switching.branches[place.known][lane] = seen_longer(switching.fastest[switch][lane]);
            return self.fix_branches(lane);
        }
        if !switching.switches[switch].slides {
            return Err(self.chatter(lane, switch));
        }
        self.hold_still(lane, place)
    }

    /// Holds a vector at 0, if what does is within the limit.
    fn hold_still(&mut self, lane: usize, place: Place) -> Result<(), RunError> {
        let Some(switching) = &mut self.switching else { return Ok(()) };
        if !switching.switches[place.switch].slides {
            // Nothing is known of what holds it, and the motion goes on as if nothing did.
            return Ok(());
        }
        let slide = switching.switches.len() + place.switch;
        switching.branches[slide][lane] = 1.0;
        self.fix_branches(lane)?;
        self.stop(lane, place)?;
        let holds = length(&self.holding(lane, place, 0.0)?);
        if holds <= 1.0 { Ok(()) } else { self.let_go(lane, place.switch) }
    }

    /// Lets a vector go that is held at 0: it begins where it is driven.
    pub(super) fn let_go(&mut self, lane: usize, switch: usize) -> Result<(), RunError> {
        let Some(place) = self.switching.as_ref().map(|switching| switching.place(switch)) else {
            return Ok(());
        };
        self.stop(lane, place)?;
        // 1/|σ| is nearly linear in what is let go: exactly, where friction is the same in all directions. Its slope is one over the rate at which the vector is driven.
        let mut direction = self.holding(lane, place, 0.0)?;
        let (mut last, mut slack, mut driven) = ((0.0, 1.0 / length(&direction) - 1.0), 1.0, 0.0);
        for _ in 0..SEARCH {
            let found = self.holding(lane, place, slack)?;
            let here = (slack, 1.0 / length(&found) - 1.0);
            if (here.1 - last.1).abs() <= UNSEEN * (1.0 + here.1) {
                slack *= FARTHER;
                continue;
            }
            driven = (here.0 - last.0) / (here.1 - last.1);
            if last.1 >= -UNIT {
                // It is at the limit: what holds it, and no more, is where it begins.
                break;
            }
            direction = found;
            if here.1.abs() <= UNIT {
                break;
            }
            (slack, last) = ((here.0 - here.1 * driven).max(0.0), here);
        }
        let size = length(&direction);
        let (noise, way) = (self.noise_of(lane, place)?, self.end - self.start);
        let span = way.abs();
        if !(size > 0.0 && size.is_finite()) {
            return Err(self.chatter(lane, switch));
        }
        let judged = matches!(self.card.sizing, Sizing::Estimated { .. }) && self.card.kind == Kind::Implicit;
        let Some(switching) = &mut self.switching else { return Ok(()) };
        direction.iter_mut().for_each(|x| *x /= size);
        switching.set_before(lane, place, &direction);
        let soon = switching.lanes[lane].planned.abs().max(SOON * span);
        let rounding = NEARLY * driven.abs() * soon;
        let longer = seen_longer(switching.fastest[switch][lane]);
        let seen = (ROUNDINGS * noise).max(rounding).max(longer);
        switching.branches[place.known][lane] = seen;
        let slide = switching.switches.len() + switch;
        switching.branches[slide][lane] = 0.0;
        let here = &mut switching.lanes[lane];
        here.left = Some((switch, AFTER[0] * here.planned.abs()));
        // Its direction is held the more stiffly the slower it is. A first step in which it becomes much faster would be judged, by methods for stiff motions, by how stiffly
        // that is at its beginning.
        let first = seen / driven.abs();
        if judged && first > 0.0 && (here.planned == 0.0 || first < here.planned.abs()) {
            here.planned = first.copysign(way);
        }
        self.fix_branches(lane)
    }

    /// Takes what is left of a vector that is held at 0, along the forces that hold it.
    fn stop(&mut self, lane: usize, place: Place) -> Result<(), RunError> {
        let mut ends = [Vec::new(), Vec::new()];
        for (pull, rates) in [0.0, 1.0].into_iter().zip(&mut ends) {
            if let Some(switching) = &mut self.switching {
                switching.branches[place.pull()][lane] = pull;
            }
            self.fix_branches(lane)?;
            rates.resize(self.block.values().len(), 0.0);
            let width = self.block.width();
            let (t, h) = (&self.t[..width], &[0.0; LANES][..width]);
            self.motion.rates(Interval { t, h }, 0.0, self.block.values(), rates)?;
        }
        if let Some(switching) = &mut self.switching {
            switching.branches[place.pull()][lane] = 0.0;
        }
        self.fix_branches(lane)?;
        let width = self.block.width();
        let [before, after] = ends;
        let change =
            after.iter().zip(&before).skip(lane).step_by(width).map(|(after, before)| after - before);
        let state: Vec<f64> =
            self.block.lane(lane).iter().zip(change).map(|(y, change)| y + change).collect();
        if state.iter().all(|y| y.is_finite()) {
            self.block.set_lane(lane, &state);
        }
        Ok(())
    }

    /// What holds a vector at 0 if so much of its rate is let go.
    fn holding(&mut self, lane: usize, place: Place, slack: f64) -> Result<Vec<f64>, RunError> {
        if let Some(switching) = &mut self.switching {
            switching.branches[place.slack()][lane] = slack;
        }
        self.fix_branches(lane)?;
        self.look()?;
        let width = self.block.width();
        let Some(switching) = &mut self.switching else { return Ok(Vec::new()) };
        let found = switching.rows(place.holds, place.components, (lane, width));
        switching.branches[place.slack()][lane] = 0.0;
        Ok(found)
    }

    /// The switching functions where all lanes are.
    fn look(&mut self) -> Result<(), StepError> {
        let width = self.block.width();
        let RunLoop { switching: Some(switching), motion, block, t, .. } = self else { return Ok(()) };
        motion.dynamics().switching_functions(&t[..width], block.values(), &mut switching.values)?;
        Ok(())
    }

    fn vector(&mut self, lane: usize, place: Place) -> Result<Vec<f64>, StepError> {
        self.look()?;
        let width = self.block.width();
        let found = self.switching.as_ref().map(|s| s.rows(place.vector, place.components, (lane, width)));
        Ok(found.unwrap_or_default())
    }

    /// What roundings of the state make of a vector.
    fn noise_of(&mut self, lane: usize, place: Place) -> Result<f64, StepError> {
        const APART: f64 = 1e-6;
        let width = self.block.width();
        let here = self.vector(lane, place)?;
        let RunLoop { switching: Some(Switching { at: [moved, ..], values, .. }), motion, block, t, .. } =
            self
        else {
            return Ok(0.0);
        };
        let mut largest = 0.0_f64;
        // Once all to the same side, once one by one to the other: what cancels in one sum does not in the other.
        for other in [1.0, -1.0] {
            let mut sign = APART;
            for (i, (moved, y)) in moved.iter_mut().zip(block.values()).enumerate() {
                *moved = y * (1.0 + sign);
                sign = if (i + 1) % width == 0 { sign * other } else { sign };
            }
            motion.dynamics().switching_functions(&t[..width], moved, values)?;
            let there = (0..place.components).map(|i| values[(place.vector + i) * width + lane]);
            largest = there.zip(&here).fold(largest, |m, (there, here)| m.max((there - here).abs()));
        }
        Ok(f64::EPSILON * largest / APART)
    }

    /// Whether a switch is a direction.
    pub(super) fn is_direction(&self, switch: usize) -> bool {
        self.switching.as_ref().is_some_and(|s| s.switches[switch].kind == SwitchKind::Direction)
    }
}

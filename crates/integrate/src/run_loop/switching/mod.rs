//! Switches on the way: a run lands where a switching function vanishes, and goes on from there on the other branch.
//!
//! Steps are made on fixed branches, on which the motion is smooth. Switches of time are looked for ahead of a step, and the step ends at the first of them. Switches of the
//! state are looked for in a step that could be taken, by its polynomial; if there is one, the step is tried again with the length that leads there, until it
//! ends on the border but for rounding. Between steps the lane changes its branch, and forgets what it remembers of the other one.

mod ahead;
pub(crate) mod direction;
mod jump;
mod landing;

use super::{Pacing, RunLoop};
use crate::block::shift;
use crate::error::RunError;
use crate::run::checkpoint::Kept;
use crate::run::roots::{COARSE, Root};
use crate::step::{Interval, StepError};
use leastaction_compile::LANES;
use leastaction_mechanics::{Dynamics, EvalError, Switch, SwitchKind};

/// A border is met if the step ends so many roundings of its time from it.
const MET: f64 = 8.0;
/// So many tries lead to a border. Where motion only touches it, they come nearer by half each.
const TRIES: u32 = 24;
/// After so many tries, one that ends on a border but for the rounding of its time is near enough.
const ENOUGH: u32 = 3;
/// Where a run goes from a border is seen after these parts of the step that led there; at the start, of the run.
const AFTER: [f64; 3] = [1e-4, 1e-6, 1e-8];
const AFTER_START: f64 = 1e-6;
/// A border that is touched without a slope at the start is left after one of these parts of the run.
const SOON: [f64; 10] = [1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, AFTER_START, 1e-5, 1e-4, 1e-3];
/// Whether it was only there and back is seen after these parts of that, each the same part of the one before.
const SOONER: [f64; 6] = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];
/// Just behind a time is so many roundings later.
const BEHIND: f64 = 64.0;
/// Functions of time that are not affine are looked at in so many parts of the run, at least.
const PARTS: f64 = 1000.0;
/// So many switches may change at one time, besides once for each.
const AT_ONCE: usize = 16;

/// The switches of a run.
pub(super) struct Switching {
    switches: Vec<Switch>,
    /// The branch of each switch in each lane, then 1 for each on whose border the lane slides, and then what is known of directions.
    branches: Vec<[f64; LANES]>,
    directions: Vec<direction::Place>,
    /// The largest length of the vector of each switch that is a direction.
    fastest: Vec<[f64; LANES]>,
    lanes: [Lane; LANES],
    /// Switching functions at the points of a first look, and at one; states, and their rates.
    looks: Vec<Vec<f64>>,
    values: Vec<f64>,
    at: [Vec<f64>; 3],
}

/// Where a lane is between borders.
#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    /// The next switch of time, if it is known; and until when there is none.
    knot: Option<f64>,
    clear: f64,
    /// Where a step is to land, and how long it is for that.
    landing: Option<(Border, f64)>,
    tries: u32,
    /// How long the step would be that is cut.
    planned: f64,
    /// How long the proposed step is if it ends at the next switch of time; whether it ends on a border of the state; before the next time of a grid.
    at_knot: Option<f64>,
    at_border: bool,
    is_part: bool,
    /// What the lane has come to: a switch of time, or a border of the state.
    on_knot: bool,
    on_border: Option<Border>,
    /// Whether the lane is between two times of a grid.
    pub(super) within: bool,
    /// The row whose border the lane has just left, and how long it is known to stay away from it.
    left: Option<(usize, f64)>,
    /// How often it has changed branches where it is.
    changes: usize,
}

/// A border of a switch: the row and the value of its function there, and the side from which it is met. Rows after those of the functions are those of the
/// signs that hold a lane on a border: where they are 1 or −1, it is left.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Border {
    row: usize,
    value: f64,
    side: f64,
}

/// Why a search ends early: with what it was for, or with an error.
enum Ended {
    Found(Root),
    Failed(StepError),
}

impl From<EvalError> for Ended {
    fn from(error: EvalError) -> Ended {
        Ended::Failed(error.into())
    }
}

impl Switching {
    pub(super) fn new(fixed: &Dynamics, switches: &[Switch], width: usize) -> Switching {
        let (directions, known, rows) = direction::places(switches);
        let (rows, len) = (rows * width, fixed.system().dimension() * width);
        Switching {
            switches: switches.to_vec(),
            branches: vec![[0.0; LANES]; known],
            directions,
            fastest: vec![[0.0; LANES]; switches.len()],
            lanes: [Lane::default(); LANES],
            looks: vec![vec![0.0; rows]; COARSE + 1],
            values: vec![0.0; rows],
            at: std::array::from_fn(|_| vec![0.0; len]),
        }
    }

    /// The borders of the branch that a lane is on.
    fn borders(&self, switch: usize, lane: usize) -> impl Iterator<Item = Border> + use<> {
        let (branch, sign) = (self.branches[switch][lane], self.switches.len() + switch);
        let borders = match self.switches[switch].kind {
            _ if self.branches[sign][lane] != 0.0 => [Some((sign, 1.0, -1.0)), Some((sign, -1.0, 1.0))],
            SwitchKind::Side | SwitchKind::Direction => [Some((switch, 0.0, branch)), None],
            SwitchKind::Floor => [Some((switch, branch, 1.0)), Some((switch, branch + 1.0, -1.0))],
        };
        borders.into_iter().flatten().map(|(row, value, side)| Border { row, value, side })
    }

    /// Whether switches depend on the state, or on time alone.
    fn any(&self, of_time: bool) -> bool {
        self.switches.iter().any(|switch| switch.of_time == of_time)
    }

    /// How long the step of a lane should be, where that is known.
    pub(super) fn planned(&self, lane: usize) -> f64 {
        self.lanes[lane].planned
    }

    /// Whether a lane is held on a border.
    pub(super) fn slides(&self, lane: usize) -> bool {
        let signs = &self.branches[self.switches.len()..][..self.switches.len()];
        signs.iter().any(|branch| branch[lane] != 0.0)
    }

    pub(super) fn is_within(&self, lane: usize) -> bool {
        self.lanes[lane].within
    }

    pub(super) fn is_part(&self, lane: usize) -> bool {
        self.lanes[lane].is_part
    }

    /// Whether the proposed step of a lane, of this length, ends on a switch.
    pub(super) fn ends_on_switch(&self, lane: usize, h: f64) -> bool {
        let here = &self.lanes[lane];
        here.at_border || here.at_knot == Some(h)
    }

    /// Whether a switching function vanishes in the first lane, or what is rounded down is whole there.
    pub(super) fn is_on_switch(
        &mut self,
        dynamics: &mut Dynamics,
        t: &[f64],
        y: &[f64],
    ) -> Result<bool, EvalError> {
        dynamics.switching_functions(t, y, &mut self.values)?;
        let values = self.values.iter().step_by(t.len());
        Ok(self.switches.iter().zip(values).any(|(switch, value)| match switch.kind {
            SwitchKind::Side | SwitchKind::Direction => *value == 0.0,
            SwitchKind::Floor => value.fract() == 0.0,
        }))
    }

    /// The proposed step was taken in a lane.
    pub(super) fn accept(&mut self, lane: usize, h: f64) {
        let Lane { landing, at_border, is_part, .. } = self.lanes[lane];
        // A method that foresees its steps may have shortened this one.
        let at_knot = self.lanes[lane].at_knot == Some(h);
        let here = &mut self.lanes[lane];
        (here.on_knot, here.within, here.left, here.changes) = (at_knot, is_part, None, 0);
        here.on_border = landing.filter(|_| at_border).map(|(border, _)| border);
        (here.landing, here.tries, here.at_knot, here.at_border) = (None, 0, None, false);
        if at_knot {
            here.knot = None;
        }
    }

    /// Shows all that the rest of a run depends on.
    pub(super) fn memory(&mut self, visit: &mut dyn FnMut(Kept<'_>)) {
        let numbers = self.branches.iter_mut().chain(&mut self.fastest);
        numbers.for_each(|lanes| visit(Kept::Numbers(lanes)));
        for lane in &mut self.lanes {
            let (mut known, mut border) = (lane.knot.is_some(), lane.on_border.is_some());
            let Border { row, value, side } =
                lane.on_border.unwrap_or(Border { row: 0, value: 0.0, side: 0.0 });
            let mut flags = [known, border, lane.on_knot, lane.within];
            let mut numbers = [lane.knot.unwrap_or(0.0), lane.clear, lane.planned, value, side];
            let mut counts = [row as u64, lane.changes as u64];
            visit(Kept::Flags(&mut flags));
            visit(Kept::Numbers(&mut numbers));
            visit(Kept::Counts(&mut counts));
            [known, border, lane.on_knot, lane.within] = flags;
            let [knot, clear, planned, value, side] = numbers;
            (lane.clear, lane.planned, lane.changes) = (clear, planned, counts[1] as usize);
            lane.knot = known.then_some(knot);
            let row = (counts[0] as usize).min(2 * self.switches.len() - 1);
            lane.on_border = border.then_some(Border { row, value, side });
        }
    }
}

impl RunLoop<'_> {
    /// Hands the branches of a lane to the system on fixed branches.
    fn fix_branches(&mut self, lane: usize) -> Result<(), RunError> {
        let Some(switching) = &self.switching else { return Ok(()) };
        let branches: Vec<f64> = switching.branches.iter().map(|lanes| lanes[lane]).collect();
        let lane = (self.block.width() > 1).then_some(lane);
        Ok(self.motion.set_branches(lane, &branches)?)
    }

    /// Hands the branches of all lanes to the system on fixed branches.
    pub(crate) fn fix_all_branches(&mut self) -> Result<(), RunError> {
        (0..self.block.width()).try_for_each(|lane| self.fix_branches(lane))
    }

    /// Finds the branches of lanes that begin.
    pub(super) fn begin_branches(&mut self, lanes: &[bool]) -> Result<(), RunError> {
        let Some(switching) = &mut self.switching else { return Ok(()) };
        let count = switching.switches.len();
        for j in (0..lanes.len()).filter(|&j| lanes[j]) {
            switching.lanes[j] = Lane { clear: self.t[j], ..Lane::default() };
            switching.branches.iter_mut().for_each(|branch| branch[j] = 0.0);
        }
        for lane in (0..lanes.len()).filter(|&lane| lanes[lane]) {
            self.fix_branches(lane)?;
            let t = self.t;
            self.begin_directions(lane)?;
            self.find_branches(lane, t, |_, _| true)?;
            // What moves at first may decide what holds a vector at 0.
            for of_directions in [false, true] {
                for switch in 0..count {
                    match (self.is_direction(switch), of_directions) {
                        (false, false) => self.begin_on_border(lane, switch)?,
                        (true, true) => self.begin_at_rest(lane, switch)?,
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// On a border at the very start: where the motion goes, it is. Where it is driven back from both sides it rests, as long as it does.
    fn begin_on_border(&mut self, lane: usize, switch: usize) -> Result<(), RunError> {
        let (width, span) = (self.block.width(), self.end - self.start);
        let RunLoop { switching: Some(switching), motion, block, t, .. } = self else { return Ok(()) };
        motion.dynamics().switching_functions(&t[..width], block.values(), &mut switching.values)?;
        let (value, branch) = (switching.values[switch * width + lane], switching.branches[switch][lane]);
        let Switch { kind, of_time, .. } = switching.switches[switch];
        let border = match kind {
            SwitchKind::Side if branch == 0.0 => Border { row: switch, value: 0.0, side: 1.0 },
            SwitchKind::Floor if branch == value => Border { row: switch, value, side: 1.0 },
            _ => return Ok(()),
        };
        if of_time {
            let side = self.side_soon(lane, border)?;
            return self.set_branch(lane, border, if side == 0.0 { 1.0 } else { side });
        }
        self.set_branch(lane, border, 1.0)?;
        if self.soon(lane, border, span)? < 0.0 {
            self.set_branch(lane, border, -1.0)?;
            if self.soon(lane, border, span)? > 0.0 {
                return match kind {
                    SwitchKind::Side => self.slide(lane, switch),
                    SwitchKind::Floor | SwitchKind::Direction => Err(self.chatter(lane, switch)),
                };
            }
        }
        Ok(())
    }

    /// On which side of a border of time a lane is just after the start: 0 if it stays on it for a good part of the run.
    fn side_soon(&mut self, lane: usize, border: Border) -> Result<f64, RunError> {
        let (width, span) = (self.block.width(), self.end - self.start);
        let RunLoop { switching: Some(switching), motion, block, t, .. } = self else { return Ok(0.0) };
        for part in SOON {
            let later: [f64; LANES] = t.map(|t| t + part * span);
            motion.dynamics().switching_functions(&later[..width], block.values(), &mut switching.values)?;
            let off = switching.values[border.row * width + lane] - border.value;
            if off != 0.0 && !off.is_nan() {
                return Ok(off.signum());
            }
        }
        Ok(0.0)
    }

    /// By how much the function of a border changes just after the start: where it does so without a slope, a little later.
    fn soon(&mut self, lane: usize, border: Border, span: f64) -> Result<f64, RunError> {
        for part in SOON.into_iter().filter(|&part| part >= AFTER_START) {
            let tendency = self.tendency(lane, border, part * span)?;
            if tendency != 0.0 {
                return Ok(tendency);
            }
        }
        Ok(0.0)
    }

    /// Sets the branches of some switches in a lane by their functions at a time, until those agree that depend on others.
    fn find_branches(
        &mut self,
        lane: usize,
        t: [f64; LANES],
        chosen: impl Fn(usize, &Switch) -> bool,
    ) -> Result<(), RunError> {
        let width = self.block.width();
        let Some(count) = self.switching.as_ref().map(|switching| switching.switches.len()) else {
            return Ok(());
        };
        for _ in 0..=count {
            let RunLoop { switching: Some(switching), motion, block, .. } = self else { return Ok(()) };
            let dynamics = motion.dynamics();
            dynamics.switching_functions(&t[..width], block.values(), &mut switching.values)?;
            let mut changed = false;
            for (k, switch) in switching.switches.iter().enumerate().filter(|(k, switch)| chosen(*k, switch))
            {
                let (value, branch) = (switching.values[k * width + lane], &mut switching.branches[k][lane]);
                let found = match switch.kind {
                    _ if value.is_nan() || switch.kind == SwitchKind::Direction => *branch,
                    SwitchKind::Side if value == 0.0 => *branch,
                    SwitchKind::Side | SwitchKind::Direction => value.signum(),
                    SwitchKind::Floor => value.floor(),
                };
                changed |= std::mem::replace(branch, found) != found;
            }
            if !changed {
                return Ok(());
            }
            self.fix_branches(lane)?;
        }
        Ok(())
    }

    /// Changes the branch at a border: to the side that it was met from, or to the other.
    fn set_branch(&mut self, lane: usize, border: Border, side: f64) -> Result<(), RunError> {
        let Some(Switching { switches, branches, .. }) = &mut self.switching else { return Ok(()) };
        branches[border.row][lane] = match switches[border.row].kind {
            SwitchKind::Side | SwitchKind::Direction => side,
            SwitchKind::Floor => border.value - if side > 0.0 { 0.0 } else { 1.0 },
        };
        self.fix_branches(lane)
    }

    /// By how much the function of a border changes over a short time, on the branches that are set.
    fn tendency(&mut self, lane: usize, border: Border, delta: f64) -> Result<f64, RunError> {
        let width = self.block.width();
        let RunLoop {
            switching: Some(Switching { at: [y, first, second], values, .. }), motion, block, ..
        } = self
        else {
            unreachable!("there is a border")
        };
        let (t, h) = (&self.t[..width], &[delta; LANES][..width]);
        let later: [f64; LANES] = std::array::from_fn(|j| self.t[j] + delta);
        let place = border.row * width + lane;
        motion.dynamics().switching_functions(t, block.values(), values)?;
        let before = values[place];
        motion.rates(Interval { t, h }, 0.0, block.values(), first)?;
        shift(y, block.values(), 1.0, h, first);
        motion.rates(Interval { t, h }, 1.0, y, second)?;
        shift(y, block.values(), 0.5, h, first);
        for (y, rate) in y.iter_mut().zip(&*second) {
            *y += 0.5 * delta * rate;
        }
        motion.dynamics().switching_functions(&later[..width], y, values)?;
        Ok(values[place] - before)
    }

    /// That a lane would change its branch back and forth.
    fn chatter(&self, lane: usize, switch: usize) -> RunError {
        RunError::Chatter { t: self.t[lane], what: self.what(switch), lane }
    }

    /// Lanes that have come to a border change their branch, and begin anew there.
    pub(super) fn change_branches(&mut self) -> Result<(), RunError> {
        self.turn_directions()?;
        for lane in 0..self.block.width() {
            let Some(switching) = &mut self.switching else { return Ok(()) };
            let here = &mut switching.lanes[lane];
            let (on_knot, border) = (std::mem::take(&mut here.on_knot), here.on_border.take());
            if !on_knot && border.is_none() || self.is_over(lane) {
                continue;
            }
            if let Err(error) = self.change_branch(lane, on_knot, border) {
                self.fail(lane, error);
                continue;
            }
            let planned = self.switching.as_ref().map_or(0.0, |switching| switching.lanes[lane].planned);
            self.forget_lane(lane);
            match &mut self.pacing {
                Pacing::Fixed { .. } => {}
                Pacing::Density(control) => control.forget(lane),
                Pacing::Adaptive { controller, .. } => {
                    if let Some(controller) = controller {
                        controller.before()[lane] = 0.0;
                    }
                    self.next[lane] = planned;
                }
            }
        }
        Ok(())
    }

    fn change_branch(&mut self, lane: usize, on_knot: bool, border: Option<Border>) -> Result<(), RunError> {
        let planned = self.switching.as_ref().map_or(0.0, |switching| switching.lanes[lane].planned);
        if on_knot {
            let mut behind = self.t;
            behind[lane] += self.behind(lane);
            self.find_branches(lane, behind, |_, switch| switch.of_time)?;
            if let Some(switching) = &mut self.switching {
                switching.lanes[lane].clear = behind[lane];
            }
            self.follow_constraints(lane)?;
        }
        let count = self.switching.as_ref().map_or(0, |switching| switching.switches.len());
        match border {
            Some(border) if self.is_direction(border.row % count) => match border.row >= count {
                true => self.let_go(lane, border.row - count)?,
                false => self.come_to_rest(lane, border.row)?,
            },
            Some(border) if border.row >= count => self.leave(lane, border)?,
            Some(border) => self.pass_border(lane, border, planned.copysign(self.end - self.start))?,
            None => {}
        }
        // What depends on other branches may have jumped over its own border.
        let (passed, t) = (border.map(|border| border.row % count), self.t);
        if self.switching.as_ref().is_some_and(|s| s.switches.iter().any(|switch| switch.nested)) {
            self.find_branches(lane, t, |k, switch| switch.nested && !switch.of_time && Some(k) != passed)?;
        }
        Ok(())
    }

    /// Goes on beyond a border, or back if the motion only touched it. What pushes back shows after a short time, and then after shorter ones.
    fn pass_border(&mut self, lane: usize, border: Border, planned: f64) -> Result<(), RunError> {
        for part in AFTER {
            self.set_branch(lane, border, border.side)?;
            let onward = border.side * self.tendency(lane, border, part * planned)?;
            self.set_branch(lane, border, -border.side)?;
            let beyond = border.side * self.tendency(lane, border, part * planned)?;
            if beyond > 0.0 && onward < 0.0 {
                continue;
            }
            let time = match beyond > 0.0 {
                true => self.goes_beyond(lane, border, part * planned)?,
                false => Some(part * planned),
            };
            self.leave_behind(lane, border, time.unwrap_or(part * planned));
            return match time {
                None => self.set_branch(lane, border, border.side),
                Some(time) => {
                    self.refuse_jump(lane, border, time).and_then(|()| self.refuse_corner(lane, border))
                }
            };
        }
        let slides = self.switching.as_ref().is_some_and(|s| s.switches[border.row].slides);
        if slides { self.slide(lane, border.row) } else { Err(self.chatter(lane, border.row)) }
    }

    /// The time for which a motion that is back after some time is beyond a border before that, on the branch beyond, if it is: it then goes as far as the time
    /// is long, which rounding does not.
    fn goes_beyond(&mut self, lane: usize, border: Border, back: f64) -> Result<Option<f64>, RunError> {
        let mut last = 0.0;
        for part in SOONER {
            let beyond = border.side * self.tendency(lane, border, part * back)?;
            let ratio = last / beyond * SOONER[0];
            if beyond < 0.0 && ratio > 0.5 && ratio < 2.0 {
                return Ok(Some(part * back));
            }
            last = beyond;
        }
        Ok(None)
    }

    /// Remembers that a lane stays away from a border for some time.
    fn leave_behind(&mut self, lane: usize, border: Border, time: f64) {
        if let Some(switching) = &mut self.switching {
            switching.lanes[lane].left = Some((border.row, time.abs()));
        }
    }

    /// The function of a switch, as text.
    fn what(&self, row: usize) -> String {
        self.switching.as_ref().map(|switching| switching.switches[row].what.clone()).unwrap_or_default()
    }

    /// Slides on the border of a switch, or rests there as long as it does.
    fn slide(&mut self, lane: usize, switch: usize) -> Result<(), RunError> {
        let Some(Switching { switches, branches, .. }) = &mut self.switching else { return Ok(()) };
        branches[switch][lane] = 0.0;
        branches[switches.len() + switch][lane] = if switches[switch].slides { 1.0 } else { 0.0 };
        self.fix_branches(lane)
    }

    /// Leaves a border on which a lane slides, to the side that can no longer hold it.
    fn leave(&mut self, lane: usize, border: Border) -> Result<(), RunError> {
        let Some(Switching { switches, branches, lanes, .. }) = &mut self.switching else { return Ok(()) };
        let switch = border.row - switches.len();
        (branches[border.row][lane], branches[switch][lane]) = (0.0, border.value);
        lanes[lane].left = Some((switch, AFTER[0] * lanes[lane].planned.abs()));
        self.fix_branches(lane)
    }

    fn forget_lane(&mut self, lane: usize) {
        let mut lanes = [false; LANES];
        lanes[lane] = true;
        self.forget(&lanes[..self.block.width()]);
    }

    /// A short time, as it is told apart from none where a lane is.
    fn behind(&self, lane: usize) -> f64 {
        let size = self.t[lane].abs().max((self.end - self.start).abs() * f64::EPSILON);
        (BEHIND * f64::EPSILON * size).copysign(self.end - self.start)
    }

    /// How far from a border a step may end.
    fn rounding(&self, lane: usize) -> f64 {
        MET * f64::EPSILON * self.t[lane].abs().max(self.h[lane].abs())
    }
}

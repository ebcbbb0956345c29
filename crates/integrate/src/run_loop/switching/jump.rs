//! What happens to energies and velocities at a border: where they would have to jump, it is not passed.

use super::{Border, Switching};
use crate::block::shift;
use crate::error::RunError;
use crate::run_loop::RunLoop;
use crate::step::Interval;
use leastaction_compile::LANES;

/// Energies that differ by this part of themselves on a border may jump there.
const JUMP: f64 = 1e-9;
/// Constraints that change a velocity by more than this part of it on a border have a corner there.
const CORNER: f64 = 1e-7;

impl RunLoop<'_> {
    /// Refuses to pass a border on which the energy itself jumps, by its own formula or by masses that jump: momenta would have to jump, too. The lane is on
    /// the branch beyond. Energies that meet on the border differ the less the nearer it is; those that jump differ as much on it as a short time later.
    pub(super) fn refuse_jump(&mut self, lane: usize, border: Border, delta: f64) -> Result<(), RunError> {
        let width = self.block.width();
        let mut energies = [[0.0; LANES]; 4];
        for (k, side) in [border.side, -border.side].into_iter().enumerate() {
            self.set_branch(lane, border, side)?;
            let RunLoop { switching: Some(Switching { at: [y, rates, _], .. }), motion, block, .. } = self
            else {
                unreachable!("there is a border")
            };
            let (t, h) = (&self.t[..width], &[delta; LANES][..width]);
            if k == 0 {
                motion.rates(Interval { t, h }, 0.0, block.values(), rates)?;
                shift(y, block.values(), 1.0, h, rates);
            }
            for (place, at) in [block.values(), y].into_iter().enumerate() {
                let out = &mut energies[2 * place + k][..width];
                // Where there is no energy to look at, nothing can be said of it.
                if motion.dynamics().hamiltonian(t, at, out).is_err() {
                    return Ok(());
                }
            }
        }
        let [before, beyond, before_later, beyond_later] = energies.map(|lanes| lanes[lane]);
        let (jump, later) = (beyond - before, beyond_later - before_later);
        let size = before.abs().max(beyond.abs()).max(later.abs());
        if jump.abs() > JUMP * size && jump.abs() > 0.5 * later.abs() {
            let what = self.what(border.row);
            return Err(RunError::EnergyJump { t: self.t[lane], what, jump, lane });
        }
        Ok(())
    }

    /// What holds the motion may begin to move, or stop, at once: the velocity follows, by the blow of the constraints.
    pub(super) fn follow_constraints(&mut self, lane: usize) -> Result<(), RunError> {
        let width = self.block.width();
        if !self.motion.system().facts().constrained {
            return Ok(());
        }
        let RunLoop { switching: Some(Switching { at: [y, rates, _], .. }), motion, block, .. } = self else {
            return Ok(());
        };
        let (t, h) = (&self.t[..width], &[0.0; LANES][..width]);
        motion.rates(Interval { t, h }, 0.0, block.values(), rates)?;
        let velocities = rates.iter().skip(lane).step_by(width).take(motion.system().degrees());
        let speed = velocities.fold(0.0_f64, |m, v| m.max(v.abs()));
        y.copy_from_slice(block.values());
        let Ok(projections) = motion.dynamics().project(t, y) else {
            // Where the constraints cannot be met, the next step says so.
            return Ok(());
        };
        if projections[lane].deflected > CORNER * speed {
            let state: Vec<f64> = y.iter().skip(lane).step_by(width).copied().collect();
            block.set_lane(lane, &state);
        }
        Ok(())
    }

    /// Refuses to pass a border on which constraints turn: the velocity that they allow before it they do not allow beyond, and nothing says how much of it is left.
    /// The lane is left on the branch beyond.
    pub(super) fn refuse_corner(&mut self, lane: usize, border: Border) -> Result<(), RunError> {
        let width = self.block.width();
        if !self.motion.system().facts().constrained {
            return Ok(());
        }
        let (mut speed, mut deflected) = (0.0_f64, [0.0; 2]);
        for (side, deflected) in [border.side, -border.side].into_iter().zip(&mut deflected) {
            self.set_branch(lane, border, side)?;
            let RunLoop { switching: Some(Switching { at: [y, rates, _], .. }), motion, block, .. } = self
            else {
                unreachable!("there is a border")
            };
            let (t, h) = (&self.t[..width], &[0.0; LANES][..width]);
            motion.rates(Interval { t, h }, 0.0, block.values(), rates)?;
            let velocities = rates.iter().skip(lane).step_by(width).take(motion.system().degrees());
            speed = velocities.fold(speed, |m, v| m.max(v.abs()));
            y.copy_from_slice(block.values());
            let projected = motion.dynamics().project(t, y);
            // Infinite where the motion cannot go on at all.
            *deflected = projected.map_or(f64::INFINITY, |projections| projections[lane].deflected);
        }
        let [before, beyond] = deflected;
        if beyond > CORNER * speed && beyond > 2.0 * before {
            let what = self.what(border.row);
            return Err(RunError::ConstraintCorner { t: self.t[lane], what, lane });
        }
        Ok(())
    }
}

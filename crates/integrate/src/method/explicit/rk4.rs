//! The classical Runge–Kutta method.
//!
//! $$k_1=f(t,y),\quad k_2=f(t+\tfrac h2,y+\tfrac h2k_1),\quad k_3=f(t+\tfrac h2,y+\tfrac h2k_2),\quad k_4=f(t+h,y+hk_3)$$
//! $$y_1=y+\tfrac h6(k_1+2k_2+2k_3+k_4)$$

use super::Row;
use super::script::write_stages;
use crate::block::Block;
use crate::card::{Card, Kind, Needs, Sizing};
use crate::step::{Interval, Motion, Step, StepError};
use crate::stride::{Script, Written};
use crate::whole::{Draft, KernelKey, Whole};
use leastaction_compile::{AssemblyError, Operand, advance, gather};
use leastaction_mechanics::{Dynamics, EvalError, Quantity};

pub(in crate::method) const CARD: Card = Card {
    name: "rk4",
    about: "classical Runge–Kutta",
    order: 4,
    keeps: &[],
    needs: Needs::Field,
    kind: Kind::Explicit,
    sizing: Sizing::Given,
    cite: "W. Kutta, Z. Math. Phys. 46 (1901) 435",
    stepper: |dynamics, width, _| Ok(Box::new(Rk4::new(dynamics.system().dimension() * width))),
};

/// c and the row of A for every stage but the first.
const STAGES: [(f64, Row); 3] = [(0.5, &[(0, 0.5)]), (0.5, &[(1, 0.5)]), (1.0, &[(2, 1.0)])];
const WEIGHTS: Row = &[(0, 1.0 / 6.0), (1, 1.0 / 3.0), (2, 1.0 / 3.0), (3, 1.0 / 6.0)];

struct Rk4 {
    /// Rows as long as the block, one per stage.
    slopes: Vec<f64>,
    at: Vec<f64>,
    whole: Option<Whole>,
}

impl Rk4 {
    fn new(len: usize) -> Rk4 {
        Rk4 { slopes: vec![0.0; 4 * len], at: vec![0.0; len], whole: None }
    }
}

impl Step for Rk4 {
    fn compile(&mut self, dynamics: &Dynamics, width: usize) -> Result<(), EvalError> {
        let (rows, quantities) = ([self.at.len() / width], Classical.quantities());
        self.whole = Whole::compile(
            dynamics,
            width,
            KernelKey::step(CARD.name),
            &quantities,
            (&rows, &[]),
            |draft, inputs| Ok(Classical.write(draft, [&inputs[0], &[], &[]], None)?.change),
        )?;
        Ok(())
    }

    fn script(&self) -> Option<&dyn Script> {
        self.whole.is_some().then_some(&Classical as &dyn Script)
    }

    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let Rk4 { slopes, at, whole } = self;
        if let Some(whole) = whole {
            motion.work_mut().evaluations += 4;
            change.copy_from_slice(whole.step(motion.dynamics(), interval, &[block.values()])?);
            return Ok(());
        }
        // With one lane, all components have its step.
        let h = std::array::from_fn(|j| interval.h[j % interval.h.len()]);
        let len = at.len();
        motion.rates(interval, 0.0, block.values(), &mut slopes[..len])?;
        for (i, (c, row)) in STAGES.into_iter().enumerate() {
            gather(at, Some(block.values()), &h, row, slopes);
            motion.rates(interval, c, at, &mut slopes[(i + 1) * len..][..len])?;
        }
        advance(change, &h, WEIGHTS, slopes);
        Ok(())
    }
}

/// The step in a kernel.
struct Classical;

impl Script for Classical {
    fn method(&self) -> &'static str {
        CARD.name
    }

    fn quantities(&self) -> Vec<(Quantity, usize)> {
        vec![(Quantity::Field, 4)]
    }

    fn slopes(&self, _: usize) -> usize {
        0
    }

    fn write(
        &self,
        draft: &mut Draft,
        [y, ..]: [&[Operand]; 3],
        _: Option<[Operand; 2]>,
    ) -> Result<Written, AssemblyError> {
        let first = draft.quantity(Quantity::Field, 0.0, y)?;
        let (change, _) = write_stages((&STAGES, WEIGHTS), draft, y, &first)?;
        Ok(Written { change, slopes: Vec::new(), ratio: None })
    }
}

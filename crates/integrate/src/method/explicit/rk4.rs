//! The classical Runge–Kutta method.
//!
//! $$k_1=f(t,y),\quad k_2=f(t+\tfrac h2,y+\tfrac h2k_1),\quad k_3=f(t+\tfrac h2,y+\tfrac h2k_2),\quad k_4=f(t+h,y+hk_3)$$
//! $$y_1=y+\tfrac h6(k_1+2k_2+2k_3+k_4)$$

use super::Row;
use super::text::stages;
use crate::block::Block;
use crate::card::{Card, Kind, Needs, Sizing};
use crate::compiled_loop::{StepCode, StepOutputs, ToleranceInputs};
use crate::compiled_step::{CompiledStep, KernelKey, StepBuilder};
use crate::step::{Compiled, Interval, Motion, Step, StepError};
use crate::workspace::{Computing, Memory, Place, Workspace, Writing, spread};
use leastaction_compile::{AssemblyError, Operand};
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
    stages: Vec<f64>,
    at: Vec<f64>,
    whole: Option<CompiledStep>,
}

impl Rk4 {
    fn new(len: usize) -> Rk4 {
        Rk4 { stages: vec![0.0; 4 * len], at: vec![0.0; len], whole: None }
    }
}

impl Step for Rk4 {
    fn step(
        &mut self,
        motion: &mut Motion<'_>,
        interval: Interval<'_>,
        block: &Block,
        change: &mut [f64],
    ) -> Result<(), StepError> {
        let Rk4 { stages, at, whole } = self;
        if let Some(whole) = whole {
            motion.work_mut().evaluations += 4;
            change.copy_from_slice(whole.step(motion.dynamics(), interval, &[block.values()])?);
            return Ok(());
        }
        let memory = Memory { row: at.len(), h: spread(interval.h), block, change, at, rates: stages };
        Ok(step(&mut Computing { motion, interval, memory })?)
    }

    fn compiled(&mut self) -> Option<&mut dyn Compiled> {
        Some(self)
    }
}

impl Compiled for Rk4 {
    fn compile(&mut self, dynamics: &Dynamics, width: usize) -> Result<(), EvalError> {
        let (rows, quantities) = ([self.at.len() / width], Classical.quantities());
        self.whole = CompiledStep::compile(
            dynamics,
            width,
            KernelKey::step(CARD.name),
            &quantities,
            (&rows, &[]),
            |builder, inputs| Ok(Classical.write(builder, [&inputs[0], &[], &[]], None)?.change),
        )?;
        Ok(())
    }

    fn text(&self) -> &dyn StepCode {
        &Classical
    }

    fn code(&self) -> Option<&dyn StepCode> {
        self.whole.is_some().then_some(&Classical as &dyn StepCode)
    }

    fn rates(&mut self, _: &mut Motion<'_>, _: Interval<'_>, _: &Block) -> Result<&[f64], StepError> {
        Ok(&[])
    }

    fn set_rates(&mut self, _: &[f64], _: &Block) {}
}

/// The step.
fn step<S: Workspace>(s: &mut S) -> Result<(), S::Error> {
    s.evaluate(Quantity::Rates, 0.0, Place::State, 0)?;
    stages(s, &STAGES, WEIGHTS)
}

/// The step in a kernel.
struct Classical;

impl StepCode for Classical {
    fn method(&self) -> &'static str {
        CARD.name
    }

    fn quantities(&self) -> Vec<(Quantity, usize)> {
        vec![(Quantity::Rates, 4)]
    }

    fn carried(&self, _: usize) -> usize {
        0
    }

    fn first(&self) -> Option<(Quantity, f64)> {
        None
    }

    fn write(
        &self,
        builder: &mut StepBuilder,
        [y, ..]: [&[Operand]; 3],
        _: Option<ToleranceInputs<'_>>,
    ) -> Result<StepOutputs, AssemblyError> {
        let mut writing = Writing::new(builder, [y, &[]], y.len(), 1 + STAGES.len());
        step(&mut writing)?;
        let [change, _] = writing.change;
        Ok(StepOutputs { change, rates: Vec::new(), measured: None })
    }
}

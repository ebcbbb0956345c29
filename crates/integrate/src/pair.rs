//! Pairs: the same step of two blocks of lanes in one kernel.
//!
//! A step is a chain of stages, and a processor waits for the results of each. With two blocks it has something else to do meanwhile. That
//! both find room in its registers and caches is not sure: so the first steps are made both ways, and timed, and the faster way stays. A
//! step has the same bits either way.

use leastaction_compile::{Evaluator, Kernel, LANES};
use leastaction_mechanics::{Dynamics, EvalError, Revision};
use std::time::{Duration, Instant};

/// So many steps are made either way to see which is faster.
const TRIALS: u32 = 48;

/// A kernel for two blocks, and whether it is the faster way.
pub(crate) struct Pair {
    evaluator: Evaluator,
    revisions: [Revision; 2],
    inputs: Vec<f64>,
    outputs: Vec<f64>,
    /// Lanes have parameters of their own, or blocks do: that is not for this kernel.
    apart: bool,
    /// The shortest times of steps one by one, and of pairs; and how many were timed.
    shortest: [Duration; 2],
    timed: u32,
}

/// How the next step is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    OneByOne,
    Paired,
}

impl Pair {
    pub(crate) fn new((kernel, inputs): (Kernel, Vec<f64>), dynamics: &Dynamics) -> Result<Pair, EvalError> {
        Ok(Pair {
            evaluator: dynamics.evaluator(&kernel)?,
            revisions: [Revision::default(); 2],
            inputs,
            outputs: vec![0.0; kernel.program().outputs().len() * LANES],
            apart: false,
            shortest: [Duration::MAX; 2],
            timed: 0,
        })
    }

    /// How the next step should be made, and when it begins if that is to be timed.
    pub(crate) fn way(&mut self, [one, two]: [&Dynamics; 2]) -> (Way, Option<Instant>) {
        self.follow(0, one);
        self.follow(1, two);
        if self.apart || one.parameters() != two.parameters() {
            return (Way::OneByOne, None);
        }
        if self.timed < 2 * TRIALS {
            let way = if self.timed.is_multiple_of(2) { Way::OneByOne } else { Way::Paired };
            return (way, Some(Instant::now()));
        }
        let [apart, paired] = self.shortest;
        (if paired < apart { Way::Paired } else { Way::OneByOne }, None)
    }

    /// A step was made that was to be timed.
    pub(crate) fn time(&mut self, way: Way, begun: Instant) {
        let shortest = &mut self.shortest[usize::from(way == Way::Paired)];
        *shortest = begun.elapsed().min(*shortest);
        self.timed += 1;
    }

    /// Takes over parameters that have changed.
    fn follow(&mut self, which: usize, dynamics: &Dynamics) {
        let (evaluator, apart) = (&mut self.evaluator, &mut self.apart);
        let passed = dynamics.pass_parameters(&mut self.revisions[which], |lane, values| match lane {
            None => evaluator.set_parameters(values),
            Some(_) => {
                *apart = true;
                Ok(())
            }
        });
        self.apart |= passed.is_err();
    }

    /// The inputs for a block.
    #[inline]
    pub(crate) fn inputs(&mut self, which: usize) -> &mut [f64] {
        let half = self.inputs.len() / 2;
        &mut self.inputs[which * half..][..half]
    }

    /// Makes the step.
    #[inline]
    pub(crate) fn run(&mut self) -> Result<(), EvalError> {
        let evaluated = self.evaluator.eval_lanes(&self.inputs, &mut self.outputs);
        evaluated.map_err(|error| EvalError::Compile { what: "whole steps", reason: error.to_string() })
    }

    /// What the step gave for a block.
    #[inline]
    pub(crate) fn outputs(&self, which: usize) -> &[f64] {
        let half = self.outputs.len() / 2;
        &self.outputs[which * half..][..half]
    }
}

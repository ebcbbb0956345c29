//! Programs of a chain.

use super::writer::ChainError;
use leastaction_compile::{Evaluator, Kernel, LANES, Operand, Program};
use leastaction_expr::Expr;
use std::ops::Range;

/// A program over rows, and its reverse.
#[derive(Debug)]
pub(super) struct ProgramStage {
    pub(super) reads: Vec<usize>,
    pub(super) writes: Range<usize>,
    /// The numbers of the layout that it reads, then the settings.
    pub(super) numbers: Vec<usize>,
    pub(super) settings: Vec<usize>,
    forward: Kernel,
    /// The derivatives by what is read, then by the numbers.
    reverse: Kernel,
}

/// The evaluators of a program and of its reverse, with the memory of one thread.
#[derive(Clone)]
pub(super) struct ProgramRunner {
    forward: Evaluator,
    reverse: Evaluator,
    inputs: Vec<f64>,
    outputs: Vec<f64>,
}

impl ProgramStage {
    pub(super) fn new(
        (reads, inputs): (Vec<usize>, Vec<Expr<'_>>),
        (writes, outputs): (Range<usize>, Vec<Expr<'_>>),
        (numbers, settings): (Vec<usize>, Vec<usize>),
        parameters: &[Expr<'_>],
    ) -> Result<ProgramStage, ChainError> {
        let program = Program::lean(&inputs, parameters, &outputs)?;
        let input = (0..inputs.len()).map(|i| Operand::Input(i as u32));
        let number = (0..numbers.len()).map(|i| Operand::Parameter(i as u32));
        let reverse = program.reverse(&input.chain(number).collect::<Vec<_>>())?;
        Ok(ProgramStage {
            reads,
            writes,
            numbers,
            settings,
            forward: Kernel::compile_lightly(program)?,
            reverse: Kernel::compile_lightly(reverse)?,
        })
    }

    pub(super) fn runner(&self) -> ProgramRunner {
        let zeros = vec![0.0; self.numbers.len() + self.settings.len()];
        let evaluator = |kernel: &Kernel| kernel.evaluator(&zeros).expect("zeros are finite");
        ProgramRunner {
            forward: evaluator(&self.forward),
            reverse: evaluator(&self.reverse),
            inputs: Vec::new(),
            outputs: Vec::new(),
        }
    }
}

impl ProgramRunner {
    pub(super) fn set(&mut self, stage: &ProgramStage, numbers: &[f64], settings: &[f64]) {
        let numbers = stage.numbers.iter().map(|&place| numbers[place]);
        let settings = stage.settings.iter().map(|&place| settings[place]);
        let values: Vec<f64> = numbers.chain(settings).collect();
        for evaluator in [&mut self.forward, &mut self.reverse] {
            // What is not finite is found by whoever looks at the loss.
            if evaluator.set_parameters(&values).is_err() {
                let none: Vec<f64> = values.iter().map(|v| if v.is_finite() { *v } else { 0.0 }).collect();
                evaluator.set_parameters(&none).expect("all are finite now");
            }
        }
    }

    pub(super) fn forward(&mut self, stage: &ProgramStage, lanes: usize, rows: &mut [f64]) {
        gather(&mut self.inputs, stage.reads.len(), lanes, rows, |i| stage.reads[i]);
        self.outputs.resize(stage.writes.len() * lanes, 0.0);
        self.forward
            .eval_lanes(&self.inputs, &mut self.outputs)
            .expect("the lengths are those of the program");
        let (written, begin) = (stage.writes.len(), stage.writes.start);
        scatter(&self.outputs, written, lanes, |i, block, values| {
            rows[(begin + i) * lanes + block * LANES..][..LANES].copy_from_slice(values);
        });
    }

    pub(super) fn reverse(
        &mut self,
        stage: &ProgramStage,
        lanes: usize,
        rows: &[f64],
        adjoints: &mut [f64],
        numbers: &mut [f64],
    ) {
        let (read, written) = (stage.reads.len(), stage.writes.len());
        self.inputs.resize((read + written) * lanes, 0.0);
        for block in 0..lanes / LANES {
            let to = &mut self.inputs[block * (read + written) * LANES..][..(read + written) * LANES];
            let (values, seeds) = to.split_at_mut(read * LANES);
            for (to, &row) in values.chunks_exact_mut(LANES).zip(&stage.reads) {
                to.copy_from_slice(&rows[row * lanes + block * LANES..][..LANES]);
            }
            for (to, row) in seeds.chunks_exact_mut(LANES).zip(stage.writes.clone()) {
                to.copy_from_slice(&adjoints[row * lanes + block * LANES..][..LANES]);
            }
        }
        let count = read + stage.numbers.len();
        self.outputs.resize(count * lanes, 0.0);
        self.reverse
            .eval_lanes(&self.inputs, &mut self.outputs)
            .expect("the lengths are those of the program");
        scatter(&self.outputs, count, lanes, |i, block, values| match i.checked_sub(read) {
            None => {
                let to = &mut adjoints[stage.reads[i] * lanes + block * LANES..][..LANES];
                to.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            }
            Some(number) => numbers[stage.numbers[number]] += values.iter().sum::<f64>(),
        });
    }
}

/// Rows as blocks of lanes: all inputs of eight samples, then those of the next eight.
fn gather(to: &mut Vec<f64>, count: usize, lanes: usize, rows: &[f64], place: impl Fn(usize) -> usize) {
    to.resize(count * lanes, 0.0);
    for (k, to) in to.chunks_exact_mut(LANES).enumerate() {
        let (block, i) = (k / count, k % count);
        to.copy_from_slice(&rows[place(i) * lanes + block * LANES..][..LANES]);
    }
}

fn scatter(from: &[f64], count: usize, lanes: usize, mut put: impl FnMut(usize, usize, &[f64])) {
    debug_assert_eq!(from.len(), count * lanes);
    for (k, values) in from.chunks_exact(LANES).enumerate() {
        put(k % count, k / count, values);
    }
}

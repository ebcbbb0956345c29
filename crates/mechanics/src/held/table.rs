//! The values of held coordinates as numbers, for energies that are no formulas: a table after the coordinates.

use crate::element::search::{Repetition, RepetitionEvaluator};
use crate::engine::wrong_length;
use crate::error::EvalError;
use crate::inverse::grow;
use crate::parameters::Parameters;
use leastaction_compile::{CodeError, Evaluator, Kernel, LANES, Program};
use leastaction_expr::Expr;
use std::sync::Arc;

/// So many values of one form are computed by one kernel over them.
const REPEATED: usize = 256;

/// What held coordinates are: numbers, and a kernel for those that depend on time or parameters.
pub(crate) struct HeldTable {
    numbers: Vec<f64>,
    computed: Vec<u32>,
    source: Option<Source>,
}

enum Source {
    Whole(Kernel),
    Repeated(Arc<Repetition>),
}

impl HeldTable {
    /// A table of these values, which are functions of time and parameters.
    pub(crate) fn new<'g>(
        values: &[Expr<'g>],
        time: Expr<'g>,
        parameters: &[Expr<'g>],
    ) -> Result<HeldTable, CodeError> {
        let numbers = values.iter().map(|value| value.as_number().unwrap_or(f64::NAN)).collect();
        let (computed, outputs): (Vec<u32>, Vec<_>) =
            (0..).zip(values.iter().copied()).filter(|(_, value)| value.as_number().is_none()).unzip();
        let ends: Vec<usize> = (1..=outputs.len()).collect();
        let source = match Repetition::find(&[time], parameters, &outputs, &ends, REPEATED)? {
            _ if outputs.is_empty() => None,
            Some(repetition) => Some(Source::Repeated(Arc::new(repetition))),
            None => Some(Source::Whole(Kernel::compile(Program::build(&[time], parameters, &outputs)?)?)),
        };
        Ok(HeldTable { numbers, computed, source })
    }

    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }
}

/// A table with parameters.
#[derive(Clone)]
pub(crate) struct HeldValues {
    table: Arc<HeldTable>,
    source: Option<Runner>,
    values: Vec<f64>,
}

#[derive(Clone)]
enum Runner {
    Whole(Evaluator),
    Repeated(RepetitionEvaluator),
}

impl HeldValues {
    pub(crate) fn new(table: &Arc<HeldTable>, parameters: &Parameters) -> Result<HeldValues, EvalError> {
        let source = match &table.source {
            None => None,
            Some(Source::Whole(kernel)) => {
                Some(Runner::Whole(parameters.evaluator(kernel).map_err(wrong_length)?))
            }
            Some(Source::Repeated(repetition)) => Some(Runner::Repeated(repetition.evaluator(parameters)?)),
        };
        Ok(HeldValues { table: table.clone(), source, values: vec![0.0; table.computed.len() * LANES] })
    }

    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    pub(crate) fn set_parameters(&mut self, values: &[f64]) -> Result<(), EvalError> {
        match &mut self.source {
            None => Ok(()),
            Some(Runner::Whole(evaluator)) => evaluator.set_parameters(values).map_err(wrong_length),
            Some(Runner::Repeated(repeated)) => repeated.set_parameters(values),
        }
    }

    pub(crate) fn set_parameters_in(&mut self, lane: usize, values: &[f64]) -> Result<(), EvalError> {
        match &mut self.source {
            None => Ok(()),
            Some(Runner::Whole(evaluator)) => evaluator.set_parameters_in(lane, values).map_err(wrong_length),
            Some(Runner::Repeated(repeated)) => repeated.set_parameters_in(lane, values),
        }
    }

    /// Fills rows of so many lanes with the values at these times.
    pub(crate) fn fill(&mut self, t: &[f64], rows: &mut [f64]) -> Result<(), EvalError> {
        let width = t.len();
        for (row, &number) in rows.chunks_exact_mut(width).zip(&self.table.numbers) {
            row.fill(number);
        }
        let Some(runner) = &mut self.source else { return Ok(()) };
        for first in (0..width).step_by(LANES) {
            let lanes = LANES.min(width);
            let (t, values) = (&t[first..][..lanes], &mut self.values[..self.table.computed.len() * lanes]);
            match runner {
                Runner::Whole(evaluator) if lanes == 1 => evaluator.eval(t, values).map_err(wrong_length)?,
                Runner::Whole(evaluator) => evaluator.eval_lanes(t, values).map_err(wrong_length)?,
                Runner::Repeated(repeated) => repeated.eval(lanes, t, values)?,
            }
            for (&place, values) in self.table.computed.iter().zip(values.chunks_exact(lanes)) {
                rows[place as usize * width + first..][..lanes].copy_from_slice(values);
            }
        }
        Ok(())
    }

    /// Coordinates, and the table after them, in rows of so many lanes.
    pub(crate) fn extend(
        &mut self,
        t: &[f64],
        coordinates: &[f64],
        degrees: usize,
        to: &mut Vec<f64>,
    ) -> Result<(), EvalError> {
        let width = t.len();
        let (free, all) = (degrees * width, (degrees + self.len()) * width);
        grow(to, all);
        to[..free].copy_from_slice(&coordinates[..free]);
        self.fill(t, &mut to[free..all])
    }
}

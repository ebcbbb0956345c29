//! Compiled functions of expressions, over arrays.

use crate::arrays;
use crate::error::usage;
use crate::expr::Expr;
use leastaction::{Graph, Kernel, LANES, Program};
use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;

/// So many blocks of lanes are computed at a time: what they read and write stays in the cache.
const BLOCKS: usize = 32;

/// A compiled function of numbers, or of arrays of them.
#[pyclass(frozen, module = "leastaction._native")]
pub(crate) struct Function {
    kernel: Kernel,
    inputs: usize,
    outputs: usize,
}

/// An input of many points: one number for all, or one for each.
enum Input<'a> {
    Same(f64),
    Each(&'a [f64]),
}

#[pymethods]
impl Function {
    #[new]
    fn new(outputs: Vec<PyRef<'_, Expr>>, inputs: Vec<PyRef<'_, Expr>>) -> PyResult<Function> {
        let graph = Graph::new();
        let own =
            |list: &[PyRef<'_, Expr>]| list.iter().map(|expr| graph.adopt(expr.handle())).collect::<Vec<_>>();
        let (outputs, inputs) = (own(&outputs), own(&inputs));
        let program = Program::build(&inputs, &[], &outputs).map_err(usage)?;
        let kernel = Kernel::compile(program).map_err(usage)?;
        Ok(Function { kernel, inputs: inputs.len(), outputs: outputs.len() })
    }

    /// The values at so many points: a row for each output. An input is an array of as many numbers, or of one for all points.
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        points: usize,
        inputs: Vec<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        if inputs.len() != self.inputs {
            return Err(usage(format!("{} inputs are expected, {} were given", self.inputs, inputs.len())));
        }
        let mut columns = Vec::with_capacity(inputs.len());
        for input in &inputs {
            match input.as_slice()? {
                [value] => columns.push(Input::Same(*value)),
                values if values.len() == points => columns.push(Input::Each(values)),
                values => {
                    return Err(usage(format!("{points} numbers are expected, {} were given", values.len())));
                }
            }
        }
        let values = py.detach(|| self.values(points, &columns))?;
        let shaped = arrays::rows(py, values, points);
        match points {
            0 => arrays::rows(py, Vec::new(), 0),
            _ => shaped,
        }
    }

    /// What runs it.
    #[getter]
    fn backend(&self) -> String {
        self.kernel.backend().to_string()
    }
}

impl Function {
    fn values(&self, points: usize, columns: &[Input<'_>]) -> PyResult<Vec<f64>> {
        let (n, m) = (self.inputs, self.outputs);
        let mut evaluator = self.kernel.evaluator(&[]).map_err(usage)?;
        let mut values = vec![0.0; points * m];
        if points == 1 {
            let numbers: Vec<f64> = columns.iter().map(|input| input.at(0)).collect();
            evaluator.eval(&numbers, &mut values).map_err(usage)?;
            return Ok(values);
        }
        let (mut read, mut written) = (vec![0.0; BLOCKS * n * LANES], vec![0.0; BLOCKS * m * LANES]);
        let mut first = 0;
        while first < points {
            let blocks = (points - first).div_ceil(LANES).min(BLOCKS);
            for (i, input) in columns.iter().enumerate() {
                for b in 0..blocks {
                    let lanes = &mut read[(b * n + i) * LANES..][..LANES];
                    input.fill(first + b * LANES, points, lanes);
                }
            }
            let (read, written) = (&read[..blocks * n * LANES], &mut written[..blocks * m * LANES]);
            evaluator.eval_lanes(read, written).map_err(usage)?;
            for (k, row) in values.chunks_exact_mut(points).enumerate() {
                for b in 0..blocks {
                    let begin = first + b * LANES;
                    let end = (begin + LANES).min(points);
                    row[begin..end].copy_from_slice(&written[(b * m + k) * LANES..][..end - begin]);
                }
            }
            first += blocks * LANES;
        }
        Ok(values)
    }
}

impl Input<'_> {
    fn at(&self, point: usize) -> f64 {
        match self {
            Input::Same(value) => *value,
            Input::Each(values) => values[point],
        }
    }

    /// The numbers of eight points; after the last point that one again.
    fn fill(&self, begin: usize, points: usize, lanes: &mut [f64]) {
        match self {
            Input::Same(value) => lanes.fill(*value),
            Input::Each(values) if begin + LANES <= points => {
                lanes.copy_from_slice(&values[begin..][..LANES])
            }
            Input::Each(values) => {
                lanes
                    .iter_mut()
                    .enumerate()
                    .for_each(|(j, lane)| *lane = values[(begin + j).min(points - 1)]);
            }
        }
    }
}

//! Quantities of a system over many states at once.

use crate::arrays;
use crate::asked::Asked;
use crate::error::{failed, usage};
use crate::system::System;
use leastaction::simulate::Overrides;
use leastaction::{Dynamics, EvalError, Form, LANES, Observable, Query};
use numpy::{PyArray2, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// What stands before an expression.
const OBSERVED: &str = "= ";

/// What is asked for of each state.
enum What {
    /// Of coordinates and momenta.
    OfState(Query, usize),
    /// Of coordinates and velocities.
    OfConfiguration(Query, usize),
    Observed(Observable),
}

impl What {
    /// A quantity by its name, or an expression.
    fn named(name: &str, dynamics: &mut Dynamics) -> PyResult<What> {
        let system = dynamics.system();
        let (n, d) = (system.degrees(), system.dimension());
        let places: usize = system.places().iter().map(|place| place.dimensions).sum();
        Ok(match name {
            "energy" => What::OfState(Dynamics::energy, 1),
            "hamiltonian" => What::OfState(Dynamics::hamiltonian, 1),
            "lagrangian" => What::OfState(Dynamics::lagrangian, 1),
            "kinetic_energy" => What::OfState(Dynamics::kinetic_energy, 1),
            "potential_energy" => What::OfState(Dynamics::potential_energy, 1),
            "shares" => What::OfState(Dynamics::shares, system.shares().len()),
            "velocities" => What::OfState(Dynamics::velocities, n),
            "positions" => What::OfState(Dynamics::positions, places),
            "rates" => What::OfState(Dynamics::rates, d),
            "jacobian" => What::OfState(Dynamics::jacobian, d * d),
            "multipliers" => What::OfState(Dynamics::multipliers, system.constraints().len()),
            "momenta" => What::OfConfiguration(Dynamics::momenta, n),
            "accelerations" => What::OfConfiguration(Dynamics::accelerations, n),
            "mass_matrix" => What::OfConfiguration(Dynamics::mass_matrix, n * n),
            text => match text.strip_prefix(OBSERVED) {
                Some(text) => What::Observed(dynamics.observable(text).map_err(usage)?),
                None => return Err(usage(format!("there is no quantity `{text}`"))),
            },
        })
    }

    fn width(&self) -> usize {
        match self {
            What::OfState(_, width) | What::OfConfiguration(_, width) => *width,
            What::Observed(_) => 1,
        }
    }
}

/// Eight states, and what becomes of them: component after component, each with its lanes.
struct Block {
    degrees: usize,
    /// Whether the second half is momenta.
    by_momenta: bool,
    given: Vec<f64>,
    other: Vec<f64>,
}

impl Block {
    fn compute(
        &mut self,
        dynamics: &mut Dynamics,
        what: &What,
        t: &[f64],
        out: &mut [f64],
    ) -> Result<(), EvalError> {
        let half = self.degrees * LANES;
        let turn: Option<Query> = match (what, self.by_momenta) {
            (What::OfConfiguration(..), true) => Some(Dynamics::velocities),
            (What::OfState(..) | What::Observed(_), false) => Some(Dynamics::momenta),
            _ => None,
        };
        let turned = match turn {
            Some(turn) => {
                self.other[..half].copy_from_slice(&self.given[..half]);
                turn(dynamics, t, &self.given, &mut self.other[half..])
            }
            None => Ok(()),
        };
        let block = if turn.is_some() { &self.other } else { &self.given };
        let found = match what {
            What::OfState(query, _) | What::OfConfiguration(query, _) => query(dynamics, t, block, out),
            What::Observed(observable) => dynamics.observe(*observable, t, block, out),
        };
        turned.and(found)
    }
}

/// A quantity, or an expression after `= `, at states: times, coordinates, and momenta or velocities, a row for each state. The second result is
/// the first row that is not finite, if there is one.
#[pyfunction]
pub(crate) fn query<'py>(
    py: Python<'py>,
    system: &Bound<'py, System>,
    asked: Asked,
    what: &str,
    t: PyReadonlyArray1<'py, f64>,
    states: PyReadonlyArray2<'py, f64>,
    by_momenta: bool,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Option<usize>)> {
    let this = system.get();
    let overrides: Overrides = asked.into();
    let [count, columns] = [states.shape()[0], states.shape()[1]];
    let (times, states) = (t.as_slice()?, states.as_slice()?);
    let (values, width) = py.detach(|| {
        this.with_dynamics(&overrides, |dynamics| {
            // Dynamics remember what was observed: a copy of them is for this one.
            let mut own = what.starts_with(OBSERVED).then(|| dynamics.clone());
            let dynamics = own.as_mut().unwrap_or(dynamics);
            let what = What::named(what, dynamics)?;
            let dimension = dynamics.system().dimension();
            if columns != dimension || times.len() != count {
                return Err(usage(format!(
                    "states of {dimension} numbers are expected, {columns} were given"
                )));
            }
            let by_momenta = by_momenta || dynamics.system().facts().form == Form::Ports;
            Ok((queried(dynamics, &what, times, states, by_momenta)?, what.width()))
        })
    })?;
    let broken = values.iter().position(|value| !value.is_finite()).map(|place| place / width.max(1));
    Ok((arrays::rows(py, values, width)?, broken))
}

/// A quantity at states, row by row.
fn queried(
    dynamics: &mut Dynamics,
    what: &What,
    times: &[f64],
    states: &[f64],
    by_momenta: bool,
) -> PyResult<Vec<f64>> {
    let (count, width) = (times.len(), what.width());
    let (degrees, dimension) = (dynamics.system().degrees(), dynamics.system().dimension());
    let mut values = vec![0.0; count * width];
    if values.is_empty() {
        return Ok(values);
    }
    let memory = || vec![0.0; dimension * LANES];
    let mut block = Block { degrees, by_momenta, given: memory(), other: memory() };
    let (mut t, mut out) = ([0.0; LANES], vec![0.0; width * LANES]);
    for first in (0..count).step_by(LANES) {
        for lane in 0..LANES {
            // After the last state come copies of it.
            let row = (first + lane).min(count - 1);
            t[lane] = times[row];
            (0..dimension).for_each(|i| block.given[i * LANES + lane] = states[row * dimension + i]);
        }
        block.compute(dynamics, what, &t, &mut out).map_err(failed)?;
        for (lane, row) in values[first * width..].chunks_exact_mut(width.max(1)).take(LANES).enumerate() {
            row.iter_mut().enumerate().for_each(|(k, value)| *value = out[k * LANES + lane]);
        }
    }
    Ok(values)
}

//! The values of parameters: of single states, of every lane, and when each was set.

use crate::dynamics::Dynamics;
use crate::engine::wrong_length;
use crate::error::{EvalError, SettingError};
use leastaction_compile::{ArgumentError, Evaluator, Kernel, LANES};
use std::sync::atomic::{AtomicU64, Ordering};

/// When parameters were set: with it, the owner of derived values sees what has changed, by
/// [`Dynamics::pass_parameters`]. Where it is the same, parameters are the same, also between clones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Revision {
    latest: u64,
    single: u64,
    lanes: [u64; LANES],
}

/// Every setting has a number of its own in the whole program, so that clones that go different ways never share one.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The values of a system's parameters.
#[derive(Clone)]
pub(crate) struct Parameters {
    single: Vec<f64>,
    /// Those of lane 0, of lane 1, and so on; empty as long as all lanes have those of single states.
    lanes: Vec<f64>,
    revision: Revision,
}

impl Parameters {
    pub(crate) fn new(values: Vec<f64>) -> Parameters {
        let mut parameters = Parameters { single: values, lanes: Vec::new(), revision: Revision::default() };
        parameters.date();
        parameters
    }

    pub(crate) fn single(&self) -> &[f64] {
        &self.single
    }

    pub(crate) fn lane(&self, lane: usize) -> &[f64] {
        assert!(lane < LANES, "there is no lane {lane}");
        if self.lanes.is_empty() {
            &self.single
        } else {
            &self.lanes[lane * self.single.len()..][..self.single.len()]
        }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// Sets all, to values of the right number.
    pub(crate) fn set(&mut self, values: &[f64]) {
        self.single.copy_from_slice(values);
        self.lanes.chunks_exact_mut(values.len().max(1)).for_each(|lane| lane.copy_from_slice(values));
        self.date();
    }

    /// Sets those of one lane, to values of the right number.
    pub(crate) fn set_in(&mut self, lane: usize, values: &[f64]) {
        if self.lanes.is_empty() {
            self.lanes = self.single.repeat(LANES);
        }
        self.lanes[lane * values.len()..][..values.len()].copy_from_slice(values);
        let now = NEXT.fetch_add(1, Ordering::Relaxed);
        self.revision.latest = now;
        self.revision.lanes[lane] = now;
    }

    fn date(&mut self) {
        let now = NEXT.fetch_add(1, Ordering::Relaxed);
        self.revision = Revision { latest: now, single: now, lanes: [now; LANES] };
    }

    /// Shows what was set since a revision, and makes that the present one: with no lane what holds for all, then lanes.
    #[inline]
    pub(crate) fn pass<E>(
        &self,
        known: &mut Revision,
        set: impl FnMut(Option<usize>, &[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        if known.latest == self.revision.latest { Ok(()) } else { self.pass_changed(known, set) }
    }

    fn pass_changed<E>(
        &self,
        known: &mut Revision,
        mut set: impl FnMut(Option<usize>, &[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Revision { latest, single, lanes } = self.revision;
        if known.single != single {
            set(None, &self.single)?;
            *known = Revision { latest: 0, single, lanes: [single; LANES] };
        }
        for lane in 0..LANES {
            if known.lanes[lane] != lanes[lane] {
                set(Some(lane), self.lane(lane))?;
                known.lanes[lane] = lanes[lane];
            }
        }
        known.latest = latest;
        Ok(())
    }

    /// An evaluator with these parameters.
    pub(crate) fn evaluator(&self, kernel: &Kernel) -> Result<Evaluator, ArgumentError> {
        let mut evaluator = kernel.evaluator(&self.single)?;
        for lane in (0..LANES).filter(|&lane| self.revision.lanes[lane] != self.revision.single) {
            evaluator.set_parameters_in(lane, self.lane(lane))?;
        }
        Ok(evaluator)
    }
}

impl Dynamics {
    /// The values of the parameters of single states, in the system's order; lanes have these too, unless they were given
    /// their own.
    #[must_use]
    pub fn parameters(&self) -> &[f64] {
        self.engine.parameters.single()
    }

    /// The values of the parameters of one lane of blocks of eight.
    ///
    /// # Panics
    /// If there is no such lane.
    #[must_use]
    pub fn parameters_in(&self, lane: usize) -> &[f64] {
        self.engine.parameters.lane(lane)
    }

    /// Sets all parameters, in the system's order, of single states and of all lanes.
    ///
    /// # Errors
    /// [`SettingError`] if a value is not finite or makes a mass that is not positive; the old values then stay.
    pub fn set_parameters(&mut self, values: &[f64]) -> Result<(), SettingError> {
        self.engine.set_parameters(values)?;
        let mut evaluators = self.observatory.evaluators();
        Ok(evaluators.try_for_each(|e| e.set_parameters(values)).map_err(wrong_length)?)
    }

    /// Sets all parameters of one lane: what is computed for a block of eight has there the bits that a single state has with these
    /// parameters. Single states and other lanes keep theirs. What methods remember of a lane from step to step does not follow:
    /// set parameters before a lane begins.
    ///
    /// # Errors
    /// As [`Dynamics::set_parameters`], and if there is no such lane.
    pub fn set_parameters_in(&mut self, lane: usize, values: &[f64]) -> Result<(), SettingError> {
        if self.engine.set_parameters_in(lane, values)? {
            let mut evaluators = self.observatory.evaluators();
            evaluators.try_for_each(|e| e.set_parameters_in(lane, values)).map_err(wrong_length)?;
        }
        Ok(())
    }

    /// Sets one parameter, of single states and of all lanes; these then have the other parameters of single states, too.
    ///
    /// # Errors
    /// [`SettingError`] if there is no such parameter, or as for [`Dynamics::set_parameters`].
    pub fn set_parameter(&mut self, name: &str, value: f64) -> Result<(), SettingError> {
        let place = self.engine.find_parameter(name)?;
        let mut values = self.parameters().to_vec();
        values[place] = value;
        self.set_parameters(&values)
    }

    /// When the parameters were set.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.engine.parameters.revision()
    }

    /// Shows to `set` the parameters that were set since a revision, and makes that the present one: with no lane those of single states
    /// and all lanes, then those of lanes that have their own. With [`Revision::default`] these are all.
    ///
    /// # Errors
    /// Those of `set`; it is then shown the rest when asked again.
    #[inline]
    pub fn pass_parameters<E>(
        &self,
        known: &mut Revision,
        set: impl FnMut(Option<usize>, &[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.engine.parameters.pass(known, set)
    }

    /// An evaluator of a kernel whose parameters are the system's, with their values in every lane.
    ///
    /// # Errors
    /// [`EvalError`] if the kernel has other parameters.
    pub fn evaluator(&self, kernel: &Kernel) -> Result<Evaluator, EvalError> {
        self.engine.parameters.evaluator(kernel).map_err(wrong_length)
    }
}

//! Checkpoints: all that changes while training, in an archive of NumPy, so that it can be killed at any moment and goes on with the same bits.

use super::error::TrainError;
use super::log::LogRow;
use super::optimizer::Basis;
use super::trainer::Trainer;
use leastaction_output::npz::Arrays;
use leastaction_output::replace;
use std::path::Path;

const FORMAT: &str = "leastaction training 2";

impl Trainer {
    /// Writes a checkpoint, which is whole, or as it was before.
    ///
    /// # Errors
    /// [`TrainError::Write`] says what is in the way.
    pub fn save(&self, path: &Path) -> Result<(), TrainError> {
        let state = &self.state;
        let mut arrays = Arrays::default();
        arrays.push_text("format", FORMAT);
        arrays.push_text("recipe", &self.recipe.lines());
        arrays.push_text("plan", &self.plan.lines());
        arrays.push_text("data", &format!("{:016x}", self.fingerprint));
        let steps =
            [state.step, state.optimizer.adamw.steps, state.best.1, state.stale].map(|step| step.to_string());
        arrays.push_text("steps", &steps.join(" "));
        let scalars = vec![state.best.0, state.sums[0], state.sums[1], state.seconds];
        arrays.push("scalars", &[scalars.len()], scalars);
        for (name, values) in [
            ("parameters", &state.parameters),
            ("means", &state.optimizer.adamw.means),
            ("squares", &state.optimizer.adamw.squares),
            ("best", &state.best.2),
        ] {
            arrays.push(name, &[values.len()], values.clone());
        }
        let bases: Vec<f64> = state.optimizer.bases.iter().flat_map(Basis::numbers).copied().collect();
        arrays.push("bases", &[bases.len()], bases);
        let width = LogRow::NAMES.len();
        arrays.push("log", &[state.rows.len(), width], state.rows.iter().flat_map(LogRow::numbers).collect());
        Ok(replace(path, |writer| arrays.write(writer))?)
    }

    /// Goes on from a checkpoint of the same training.
    ///
    /// # Errors
    /// [`TrainError`] if it is of another one, or damaged; nothing is changed then.
    pub fn resume(&mut self, path: &Path) -> Result<(), TrainError> {
        let arrays =
            Arrays::read(path).map_err(|source| TrainError::Read { path: path.to_owned(), source })?;
        let wrong = |what: &str| TrainError::NoCheckpoint { path: path.to_owned(), what: what.to_owned() };
        let text = |name: &str| arrays.text(name).ok_or_else(|| wrong(&format!("it has no text `{name}`")));
        let numbers =
            |name: &str| arrays.numbers(name).ok_or_else(|| wrong(&format!("it has no numbers `{name}`")));
        if text("format")? != FORMAT {
            return Err(wrong(&format!("its format is `{}` and not `{FORMAT}`", text("format")?)));
        }
        let other = |what: String| TrainError::Other { path: path.to_owned(), what };
        for (name, own) in [("recipe", self.recipe.lines()), ("plan", self.plan.lines())] {
            let theirs = text(name)?;
            if let Some((theirs, own)) = theirs.lines().zip(own.lines()).find(|(theirs, own)| theirs != own) {
                return Err(other(format!("it has `{theirs}`, and `{own}` is asked for")));
            }
        }
        if text("data")? != format!("{:016x}", self.fingerprint) {
            return Err(other("it learned from other data".to_owned()));
        }
        let steps: Option<Vec<u64>> = text("steps")?.split(' ').map(|step| step.parse().ok()).collect();
        let Some(&[step, updates, best, stale]) = steps.as_deref() else {
            return Err(wrong("its steps are no numbers"));
        };
        let &[loss, one, two, seconds] = numbers("scalars")?.1 else { return Err(wrong("it lacks numbers")) };
        let mut state = self.state.clone();
        let mut bases = vec![0.0; state.optimizer.bases.iter().flat_map(Basis::numbers).count()];
        for (name, to) in [
            ("parameters", &mut state.parameters),
            ("means", &mut state.optimizer.adamw.means),
            ("squares", &mut state.optimizer.adamw.squares),
            ("best", &mut state.best.2),
            ("bases", &mut bases),
        ] {
            let (_, values) = numbers(name)?;
            if values.len() != to.len() || values.iter().any(|value| !value.is_finite()) {
                return Err(wrong(&format!("`{name}` has not {} finite numbers", to.len())));
            }
            to.copy_from_slice(values);
        }
        let numbers_of_bases = state.optimizer.bases.iter_mut().flat_map(Basis::numbers_mut);
        numbers_of_bases.zip(bases).for_each(|(to, number)| *to = number);
        let rows = numbers("log")?.1.chunks(LogRow::NAMES.len()).map(LogRow::of);
        state.rows = rows.collect::<Option<_>>().ok_or_else(|| wrong("its log is cut off"))?;
        (state.step, state.optimizer.adamw.steps, state.stale, state.seconds) =
            (step, updates, stale, seconds);
        (state.best.0, state.best.1, state.sums) = (loss, best, [one, two]);
        self.state = state;
        Ok(())
    }
}

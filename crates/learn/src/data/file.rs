//! Datasets as archives of NumPy: `z` of (trajectories, samples, numbers of a state), `t`, and what is known of them as texts.

use super::{DataError, Dataset, Kind, Origin};
use leastaction_output::npz::Arrays;
use leastaction_output::{FileError, replace};
use std::path::Path;

/// What stands in a file of this kind.
const FORMAT: &str = "leastaction dataset 1";

impl Dataset {
    /// Writes it to a file, which is whole, or as it was before.
    ///
    /// # Errors
    /// [`FileError`] says what is in the way.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let mut arrays = Arrays::default();
        arrays.push_text("format", FORMAT);
        let Origin { system, text, parameters } = &self.origin;
        arrays.push_text("kind", self.kind.word());
        arrays.push_text("system", system);
        arrays.push_text("model", text);
        let names: Vec<&str> = parameters.iter().map(|(name, _)| name.as_str()).collect();
        arrays.push_text("parameters", &names.join("\n"));
        arrays.push("values", &[names.len()], parameters.iter().map(|(_, value)| *value).collect());
        arrays.push_text("names", &self.names.join("\n"));
        arrays.push_text("seed", &self.seed.to_string());
        arrays.push("noise", &[], vec![self.noise]);
        arrays.push("split", &[3], self.split.map(|count| count as f64).to_vec());
        arrays.push("dt", &[], vec![self.dt]);
        arrays.push("t", &[self.samples], (0..self.samples).map(|i| i as f64 * self.dt).collect());
        let shape = [self.split.iter().sum(), self.samples, self.dimension()];
        arrays.push("z", &shape, self.states.clone());
        replace(path, |writer| arrays.write(writer))
    }

    /// Reads a file that [`Dataset::write`] wrote.
    ///
    /// # Errors
    /// [`DataError`] if it is something else, or damaged.
    pub fn read(path: &Path) -> Result<Dataset, DataError> {
        let arrays =
            Arrays::read(path).map_err(|source| DataError::Read { path: path.to_owned(), source })?;
        let wrong = |what: &str| DataError::NoDataset { path: path.to_owned(), what: what.to_owned() };
        let text = |name: &str| arrays.text(name).ok_or_else(|| wrong(&format!("it has no text `{name}`")));
        let numbers =
            |name: &str| arrays.numbers(name).ok_or_else(|| wrong(&format!("it has no numbers `{name}`")));
        if text("format")? != FORMAT {
            return Err(wrong(&format!("its format is `{}` and not `{FORMAT}`", text("format")?)));
        }
        let kind = [Kind::Computed, Kind::Measured]
            .into_iter()
            .find(|kind| arrays.text("kind") == Some(kind.word()));
        let kind = kind.ok_or_else(|| wrong("it does not say whether it was computed or measured"))?;
        let names: Vec<String> = text("names")?.lines().map(str::to_owned).collect();
        let (shape, states) = numbers("z")?;
        let &[trajectories, samples, dimension] = shape else { return Err(wrong("`z` has not three axes")) };
        let split: Vec<usize> = numbers("split")?.1.iter().map(|&count| count as usize).collect();
        let Ok(split) = <[usize; 3]>::try_from(split) else {
            return Err(wrong("`split` has not three numbers"));
        };
        let one = |name: &str| match numbers(name)?.1 {
            &[value] if value.is_finite() => Ok(value),
            _ => Err(wrong(&format!("`{name}` is not one finite number"))),
        };
        let (dt, noise) = (one("dt")?, one("noise")?);
        if dimension != names.len() || split.iter().sum::<usize>() != trajectories || dt <= 0.0 || samples < 2
        {
            return Err(wrong("its parts do not agree"));
        }
        if let Some(place) = states.iter().position(|value| !value.is_finite()) {
            return Err(DataError::NotFinite {
                path: path.to_owned(),
                value: states[place],
                trajectory: place / (samples * dimension),
                sample: place / dimension % samples,
                name: names[place % dimension].clone(),
            });
        }
        let seed = text("seed")?.parse().map_err(|_| wrong("its seed is no whole number"))?;
        let values = numbers("values")?.1;
        let parameters: Vec<(String, f64)> =
            text("parameters")?.lines().map(str::to_owned).zip(values.iter().copied()).collect();
        if parameters.len() != values.len() {
            return Err(wrong("its parameters have no names"));
        }
        let origin =
            Origin { system: text("system")?.to_owned(), text: text("model")?.to_owned(), parameters };
        Ok(Dataset { origin, kind, names, dt, samples, split, seed, noise, states: states.to_vec() })
    }
}

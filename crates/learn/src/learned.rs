//! What was learned, in a file: weights in the safetensors format, with all that it takes to use them.

use crate::data::Origin;
use crate::parameters::Layout;
use crate::predictor::Predictor;
use crate::recipe::{Recipe, RecipeError};
use leastaction_network::{Tensor, Tensors, WeightsError};
use leastaction_output::{FileError, replace};
use std::path::{Path, PathBuf};

const FORMAT: &str = "leastaction learned 1";

/// What was learned of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// What it is.
    pub recipe: Recipe,
    /// The system that the data came from.
    pub origin: Origin,
    /// The time between the samples that it learned from.
    pub dt: f64,
    /// The parameters, in the order of the layout.
    pub parameters: Vec<f64>,
    /// How it was learned: the plan of the training, line by line, and the step that was the best.
    pub training: String,
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LearnedError {
    /// It cannot be read, or is damaged.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// What it says cannot be.
    #[error("`{}`: {source}", .path.display())]
    Recipe {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: RecipeError,
    },
    /// Something is missing in it.
    #[error("`{}` is not what `leastaction learn train` writes: {what}", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

impl Learned {
    /// Compiles it.
    ///
    /// # Errors
    /// [`RecipeError`] if it does not go with its system.
    pub fn predictor(&self) -> Result<Predictor, RecipeError> {
        self.recipe.predictor(&self.origin)
    }

    /// As tensors: `NETWORK.LAYER.weight` of (outputs, inputs), `NETWORK.LAYER.bias`, and numbers by their names.
    #[must_use]
    pub fn tensors(&self, layout: &Layout) -> Tensors {
        let mut list = Vec::new();
        for network in layout.networks() {
            let mut at = network.range.start;
            for (number, pair) in network.widths.windows(2).enumerate() {
                for (kind, shape) in [("weight", vec![pair[1], pair[0]]), ("bias", vec![pair[1]])] {
                    let count: usize = shape.iter().product();
                    let values = self.parameters[at..at + count].to_vec();
                    list.push(Tensor { name: format!("{}.{number}.{kind}", network.name), shape, values });
                    at += count;
                }
            }
        }
        for (number, &value) in layout.numbers().iter().zip(&self.parameters[layout.first_number()..]) {
            list.push(Tensor { name: number.name.clone(), shape: Vec::new(), values: vec![value] });
        }
        let given: Vec<String> =
            self.origin.parameters.iter().map(|(name, value)| format!("{value:?} {name}")).collect();
        let about = [
            ("format", FORMAT.to_owned()),
            ("recipe", self.recipe.lines()),
            ("activation", self.recipe.activation.to_string()),
            ("system", self.origin.system.clone()),
            ("model", self.origin.text.clone()),
            ("parameters", given.join("\n")),
            ("dt", format!("{:?}", self.dt)),
            ("training", self.training.clone()),
        ];
        Tensors { about: about.map(|(name, value)| (name.to_owned(), value)).to_vec(), list }
    }

    /// Writes a file, which is whole, or as it was before.
    ///
    /// # Errors
    /// [`FileError`] says what is in the way.
    pub fn write(&self, path: &Path, layout: &Layout) -> Result<(), FileError> {
        let bytes = self.tensors(layout).bytes();
        replace(path, |writer| writer.write_all(&bytes))
    }

    /// Reads a file, and compiles what is in it.
    ///
    /// # Errors
    /// [`LearnedError`] if it is something else, or damaged.
    pub fn read(path: &Path) -> Result<(Learned, Predictor), LearnedError> {
        let tensors = Tensors::read(path, None)?;
        let missing = |what: String| LearnedError::Missing { path: path.to_owned(), what };
        let about =
            |name: &str| tensors.about(name).ok_or_else(|| missing(format!("it has no text `{name}`")));
        if about("format")? != FORMAT {
            return Err(missing(format!("its format is `{}` and not `{FORMAT}`", about("format")?)));
        }
        let recipe = |source| LearnedError::Recipe { path: path.to_owned(), source };
        let given = about("parameters")?.lines().map(|line| {
            let (value, name) = line.split_once(' ')?;
            Some((name.to_owned(), value.parse().ok()?))
        });
        let parameters = given
            .collect::<Option<_>>()
            .ok_or_else(|| missing("its parameters are no numbers".to_owned()))?;
        let origin =
            Origin { system: about("system")?.to_owned(), text: about("model")?.to_owned(), parameters };
        let dt =
            about("dt")?.parse().map_err(|_| missing("its time between samples is no number".to_owned()))?;
        let mut learned = Learned {
            recipe: Recipe::read(about("recipe")?).map_err(recipe)?,
            origin,
            dt,
            parameters: Vec::new(),
            training: about("training")?.to_owned(),
        };
        let predictor = learned.predictor().map_err(recipe)?;
        let layout = predictor.layout();
        learned.parameters = vec![0.0; layout.len()];
        // What would be written names all tensors, and how long they are.
        let mut values = Vec::with_capacity(layout.len());
        for expected in learned.tensors(layout).list {
            let found = tensors.get(&expected.name).filter(|found| found.shape == expected.shape);
            let found = found
                .ok_or_else(|| missing(format!("it has no `{}` of {:?}", expected.name, expected.shape)))?;
            values.extend_from_slice(&found.values);
        }
        learned.parameters = values;
        Ok((learned, predictor))
    }
}

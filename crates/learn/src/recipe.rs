//! What is to be learned of a system, and how predictions are made, in words that a file or a command can say.

use crate::architecture::{self, Architecture, BuildError, Card, Site};
use crate::data::Origin;
use crate::predictor::Predictor;
use crate::step::{self, StepCard};
use leastaction_expr::Graph;
use leastaction_language::Errors;
use leastaction_network::Activation;

/// An architecture with its sizes, and the step of its predictions.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// What is assumed, and what is learned.
    pub architecture: &'static Card,
    /// How many units stand between the layers of its networks.
    pub hidden: Vec<usize>,
    /// What they are.
    pub activation: Activation,
    /// The step of predictions.
    pub step: &'static StepCard,
    /// How many are taken from sample to sample.
    pub substeps: usize,
    /// Whether friction is learned, too.
    pub damping: bool,
    /// Constraints that the architecture is not told, by their place.
    pub removed: Vec<usize>,
}

/// Why a recipe and a system do not go together.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    /// The text of the system is wrong.
    #[error("the text of the system is wrong: {}", .0.diagnostics.first().map_or("", |first| &first.message))]
    Text(Errors),
    /// The architecture does not go with the system.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A word means something else, or nothing.
    #[error("there is no {what} `{name}`: there are {}", .known.join(", "))]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// The word.
        name: String,
        /// The words that there are.
        known: Vec<&'static str>,
    },
    /// A line of a recipe cannot be read.
    #[error("`{line}` is no line of a recipe")]
    Line {
        /// The line.
        line: String,
    },
    /// Steps must be taken.
    #[error("{substeps} steps from sample to sample are asked for: ask for at least 1")]
    Substeps {
        /// How many.
        substeps: usize,
    },
}

impl Recipe {
    /// The sizes of the reference networks: three layers of 256 units.
    ///
    /// # Errors
    /// [`RecipeError::Unknown`] if there is no such architecture.
    pub fn named(architecture: &str) -> Result<Recipe, RecipeError> {
        Ok(Recipe {
            architecture: architecture_named(architecture)?,
            hidden: vec![256; 3],
            activation: Activation::Tanh,
            step: &step::ALL[0],
            substeps: 1,
            damping: false,
            removed: Vec::new(),
        })
    }

    /// Compiles it for a system.
    ///
    /// # Errors
    /// [`RecipeError`] if they do not go together.
    pub fn predictor(&self, origin: &Origin) -> Result<Predictor, RecipeError> {
        self.with(origin, |model| Ok(Predictor::new(model, self.step.write, self.substeps)?))
    }

    /// Does something with the architecture for a system.
    ///
    /// # Errors
    /// [`RecipeError`] if they do not go together, or what is done says so.
    pub fn with<R>(
        &self,
        origin: &Origin,
        work: impl for<'g> FnOnce(&(dyn Architecture<'g> + 'g)) -> Result<R, RecipeError>,
    ) -> Result<R, RecipeError> {
        if self.substeps == 0 {
            return Err(RecipeError::Substeps { substeps: 0 });
        }
        let graph = Graph::new();
        let setup = origin.setup(&graph).map_err(RecipeError::Text)?;
        let site = Site { setup: &setup, system: &origin.system, text: &origin.text };
        let model = (self.architecture.build)(&site, self)?;
        work(&*model)
    }

    /// What it says, line by line, as [`Recipe::read`] reads it.
    #[must_use]
    pub fn lines(&self) -> String {
        let list = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
        format!(
            "architecture {}\nhidden {}\nactivation {}\nstep {}\nsubsteps {}\ndamping {}\nremoved {}\n",
            self.architecture.name,
            list(&self.hidden),
            self.activation,
            self.step.name,
            self.substeps,
            self.damping,
            list(&self.removed)
        )
    }

    /// Reads what [`Recipe::lines`] writes.
    ///
    /// # Errors
    /// [`RecipeError`] if a line cannot be read, or names something that there is not.
    pub fn read(text: &str) -> Result<Recipe, RecipeError> {
        let mut recipe = Recipe::named(architecture::ALL[0].name)?;
        for line in text.lines() {
            let wrong = || RecipeError::Line { line: line.to_owned() };
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let list = || rest.split_whitespace().map(str::parse).collect::<Result<Vec<usize>, _>>();
            match word {
                "architecture" => recipe.architecture = architecture_named(rest)?,
                "hidden" => recipe.hidden = list().map_err(|_| wrong())?,
                "activation" => recipe.activation = rest.parse().map_err(|_| wrong())?,
                "step" => recipe.step = step_named(rest)?,
                "substeps" => recipe.substeps = rest.parse().map_err(|_| wrong())?,
                "damping" => recipe.damping = rest.parse().map_err(|_| wrong())?,
                "removed" => recipe.removed = list().map_err(|_| wrong())?,
                _ => return Err(wrong()),
            }
        }
        Ok(recipe)
    }
}

/// The architecture of a name.
///
/// # Errors
/// [`RecipeError::Unknown`] if there is none.
pub fn architecture_named(name: &str) -> Result<&'static Card, RecipeError> {
    architecture::ALL.iter().find(|card| card.name == name).ok_or_else(|| RecipeError::Unknown {
        what: "architecture",
        name: name.to_owned(),
        known: architecture::ALL.iter().map(|card| card.name).collect(),
    })
}

/// The step of a name.
///
/// # Errors
/// [`RecipeError::Unknown`] if there is none.
pub fn step_named(name: &str) -> Result<&'static StepCard, RecipeError> {
    step::ALL.iter().find(|card| card.name == name).ok_or_else(|| RecipeError::Unknown {
        what: "step",
        name: name.to_owned(),
        known: step::ALL.iter().map(|card| card.name).collect(),
    })
}

//! Where data come from.

use crate::architecture::BuildError;
use crate::recipe::RecipeError;
use leastaction_expr::Graph;
use leastaction_language::{Errors, Setup};
use leastaction_simulate::{Overrides, Source};

/// A system, as its text and values of parameters say it.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// The name of the system.
    pub system: String,
    /// Its model, in the `.motion` language.
    pub text: String,
    /// Values of parameters in place of those in the text.
    pub parameters: Vec<(String, f64)>,
}

impl Origin {
    /// What a source and what is asked for in its place come to.
    #[must_use]
    pub fn new(source: &Source, overrides: &Overrides) -> Origin {
        // A text that cannot be read is refused where it is read.
        let (system, text) = (source.name.clone(), source.whole().unwrap_or_else(|_| source.text.clone()));
        Origin { system, text, parameters: overrides.parameters.clone() }
    }

    /// The text.
    #[must_use]
    pub fn source(&self) -> Source {
        Source::text(&self.system, &self.text)
    }

    /// What is asked for in place of what the text says.
    #[must_use]
    pub fn overrides(&self) -> Overrides {
        Overrides { parameters: self.parameters.clone(), ..Overrides::default() }
    }

    /// The names of the numbers of a state: coordinates, then velocities.
    ///
    /// # Errors
    /// [`RecipeError`] if the text or its model is wrong.
    pub fn names(&self) -> Result<Vec<String>, RecipeError> {
        let graph = Graph::new();
        let setup = self.setup(&graph).map_err(RecipeError::Text)?;
        let equations = setup.without_networks().equations().map_err(BuildError::from)?;
        let all = equations.all_coordinates().iter();
        let coordinates: Vec<String> = all.map(ToString::to_string).collect();
        let rates = coordinates.iter().map(|name| format!("{name}'"));
        Ok(coordinates.iter().cloned().chain(rates).collect())
    }

    /// What it says.
    ///
    /// # Errors
    /// [`Errors`] if the text is wrong.
    pub fn setup<'g>(&self, graph: &'g Graph) -> Result<Setup<'g>, Errors> {
        self.source().setup(graph, &self.parameters)
    }
}

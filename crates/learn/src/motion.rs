//! What was learned as a model again: a text that names the file of weights.

use crate::learned::{Learned, LearnedError};
use leastaction_expr::Graph;
use leastaction_network::sha256;
use std::path::Path;

impl Learned {
    /// The text of the learned model, in the `.motion` language, for a file of weights beside it, whose bytes are these. Nothing if the model cannot be said in the language: its
    /// mass matrix, or all of its rates, are networks.
    ///
    /// # Errors
    /// [`LearnedError`] if the recipe and the system do not go together.
    pub fn motion(&self, weights: &Path, bytes: &[u8]) -> Result<Option<String>, LearnedError> {
        let wrong = |source| LearnedError::Recipe { path: weights.to_owned(), source };
        let file = weights.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let hash = sha256(bytes);
        let said = self.recipe.with(&self.origin, |model| {
            let numbers = &self.parameters[model.layout().first_number()..];
            Ok((model.statements(numbers), model.text(&file, &hash)))
        });
        let said = match said.map_err(wrong)? {
            (_, Some(text)) => return Ok(Some(text)),
            (Some(said), None) => said,
            (None, None) => return Ok(None),
        };
        let mut text = format!(
            "# what {} learned of {}\n\n{}network {} of {} from \"{file}\"\n    hash \"{}\"\n",
            self.recipe.architecture.name,
            self.origin.system,
            said.bodies,
            said.network,
            said.reads.join(", "),
            hash
        );
        // It begins where the true system does, and runs as long.
        let graph = Graph::new();
        let problem = self.origin.source().problem(&graph, &self.origin.overrides());
        if let Ok(mut problem) = problem {
            let state = problem.start.clone();
            let mut velocities = vec![0.0; state.q.len()];
            if problem.dynamics.velocities(&[state.t], &state.block(), &mut velocities).is_ok() {
                let system = problem.dynamics.system();
                let names = system.coordinates().iter().chain(system.velocities().iter());
                let all: Vec<String> = names
                    .zip(state.q.iter().chain(&velocities))
                    .filter(|(_, value)| **value != 0.0)
                    .map(|(name, value)| format!("{name} = {value:?}"))
                    .collect();
                if !all.is_empty() {
                    text += &format!("\nstart {}\n", all.join(",\n    "));
                }
                text += &format!("run until {:?}\n", problem.until);
            }
        }
        Ok(Some(leastaction_language::format(&text).unwrap_or(text)))
    }
}

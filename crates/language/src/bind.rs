//! Inputs as functions of time.

use crate::setup::Setup;
use leastaction_compile::{Evaluator, Kernel, Program};
use leastaction_mechanics::{Dynamics, Input, SettingError};
use std::sync::{Mutex, PoisonError};

/// Why inputs cannot be bound.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BindError {
    /// The expression of an input cannot be compiled.
    #[error("the input `{name}` cannot be compiled: {reason}")]
    Compile {
        /// The input.
        name: String,
        /// Why.
        reason: String,
    },
    /// The system does not take the input.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

impl Setup<'_> {
    /// Gives the dynamics the inputs that the text says, with the parameters they have now.
    ///
    /// # Errors
    /// [`BindError`] if an expression cannot be compiled, or the dynamics are not of this model.
    pub fn bind(&self, dynamics: &mut Dynamics) -> Result<(), BindError> {
        for term in &self.inputs {
            let input = match term.value.as_number() {
                Some(value) => Input::Constant(value),
                None => {
                    let function = self
                        .function(term, dynamics)
                        .map_err(|reason| BindError::Compile { name: term.name.clone(), reason })?;
                    let function = Mutex::new(function);
                    Input::function(move |t| {
                        let mut value = [f64::NAN];
                        let mut function = function.lock().unwrap_or_else(PoisonError::into_inner);
                        // One number in, one out: this cannot fail.
                        let _ = function.eval(&[t], &mut value);
                        value[0]
                    })
                }
            };
            dynamics.set_input(&term.name, input)?;
        }
        Ok(())
    }

    fn function(
        &self,
        term: &leastaction_mechanics::Term<'_>,
        dynamics: &Dynamics,
    ) -> Result<Evaluator, String> {
        let graph = self.model.graph();
        let names = dynamics.system().parameters().iter();
        let parameters: Vec<_> = names.map(|(name, _)| graph.symbol(name)).collect();
        let value = graph.adopt(term.value);
        let program =
            Program::build(&[self.model.time()], &parameters, &[value]).map_err(|e| e.to_string())?;
        let kernel = Kernel::compile(program).map_err(|e| e.to_string())?;
        kernel.evaluator(dynamics.parameters()).map_err(|e| e.to_string())
    }
}

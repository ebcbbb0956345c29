//! What is not drawn: the start of the system itself, which may depend on parameters that are.

use super::SampleError;
use leastaction_compile::{CodeError, Evaluator, Kernel, Program};
use leastaction_mechanics::{System, Term};

/// The start values of a system that are not drawn, by name. What is not named is 0.
#[derive(Clone, Debug, Default)]
pub struct Rest {
    pub(super) list: Vec<(String, Amount)>,
    kernel: Option<Kernel>,
    /// What the kernel computes, in words.
    texts: Vec<String>,
}

/// A start value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Amount {
    Number(f64),
    /// An output of the kernel.
    Computed(usize),
}

impl Rest {
    /// Values by name.
    #[must_use]
    pub fn numbers<N: AsRef<str>>(values: impl IntoIterator<Item = (N, f64)>) -> Rest {
        let list = values.into_iter().map(|(name, value)| (name.as_ref().to_owned(), Amount::Number(value)));
        Rest { list: list.collect(), ..Rest::default() }
    }

    /// Values that are functions of the parameters of a system: where those are drawn, they follow.
    ///
    /// # Errors
    /// [`SampleError::Rest`] if a value depends on something else.
    pub fn terms(terms: &[Term<'_>], system: &System) -> Result<Rest, SampleError> {
        let (mut list, mut computed) = (Vec::new(), Vec::new());
        for term in terms {
            let amount = term.value.as_number().map_or(Amount::Computed(computed.len()), Amount::Number);
            if let Amount::Computed(_) = amount {
                computed.push(term.value);
            }
            list.push((term.name.clone(), amount));
        }
        let Some(first) = computed.first() else { return Ok(Rest { list, ..Rest::default() }) };
        let parameters: Vec<_> =
            system.parameters().iter().map(|(name, _)| first.graph().symbol(name)).collect();
        let program = Program::build(&[], &parameters, &computed).map_err(CodeError::from)?;
        let kernel = Kernel::compile(program).map_err(CodeError::from)?;
        let texts = computed.iter().map(ToString::to_string).collect();
        Ok(Rest { list, kernel: Some(kernel), texts })
    }

    /// With a value in the place of another.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Rest {
        self.list.retain(|(other, _)| other != name);
        self.list.push((name.to_owned(), Amount::Number(value)));
        self
    }

    pub(super) fn evaluator(&self, parameters: &[f64]) -> Result<Option<Evaluator>, SampleError> {
        let evaluator = self.kernel.as_ref().map(|kernel| kernel.evaluator(parameters)).transpose();
        Ok(evaluator.map_err(CodeError::from)?)
    }

    /// What the values are, in words.
    pub(crate) fn texts(&self) -> Vec<String> {
        let told = |(name, amount): &(String, Amount)| match amount {
            Amount::Number(value) => format!("{name}={value:?}"),
            Amount::Computed(place) => format!("{name}={}", self.texts[*place]),
        };
        self.list.iter().map(told).collect()
    }

    /// How many values are computed.
    pub(super) fn computed(&self) -> usize {
        self.texts.len()
    }
}

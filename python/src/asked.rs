//! What is asked for in place of what a text says.

use leastaction::simulate::{AskedEvent, Overrides};
use pyo3::prelude::*;

/// What is asked for: the dictionary that `python/leastaction/_asked.py` makes, in which everything has its type.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked {
    parameters: Vec<(String, f64)>,
    start: Vec<(String, f64)>,
    seed: Option<u64>,
    until: Option<f64>,
    method: Option<String>,
    step: Option<f64>,
    tol: Option<f64>,
    atol: Option<f64>,
    max_step: Option<f64>,
    max_steps: Option<u64>,
    every: Option<f64>,
    samples: Option<u64>,
    show: Vec<(String, String)>,
    events: Vec<(String, String, bool)>,
}

impl From<Asked> for Overrides {
    fn from(asked: Asked) -> Overrides {
        let events = asked.events.into_iter();
        Overrides {
            parameters: asked.parameters,
            start: asked.start,
            seed: asked.seed,
            until: asked.until,
            method: asked.method,
            step: asked.step,
            tolerance: asked.tol,
            absolute: asked.atol,
            max_step: asked.max_step,
            max_steps: asked.max_steps,
            every: asked.every,
            samples: asked.samples,
            fine_samples: None,
            outputs: asked.show,
            events: events.map(|(name, expression, stop)| AskedEvent { name, expression, stop }).collect(),
        }
    }
}

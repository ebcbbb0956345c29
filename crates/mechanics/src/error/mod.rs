//! What can go wrong, an enum for each operation.

mod eval;
mod model;
mod setting;
mod start;

pub use eval::{EvalError, ObserveError};
pub use model::{DimensionsExpected, ModelError, Site, TermKind};
pub use setting::{SettingError, TableError};
pub use start::{StartError, StartQuantity};

pub(crate) fn suggestion(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!(": did you mean `{name}`?"))
}

fn list(names: &[String]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

/// A name behind what it is the name of. Terms without a name of their own are called by their kind, which says nothing.
fn named(name: &str) -> String {
    let own = TermKind::ALL.iter().all(|kind| kind.word() != name);
    if own { format!(" `{name}`") } else { String::new() }
}

/// That something is so where parameters have other values than those of the model.
fn at_others(parameters: &[String]) -> String {
    if parameters.is_empty() { String::new() } else { format!(" at other values of {}", list(parameters)) }
}

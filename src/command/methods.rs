//! `leastaction methods`: the cards of the integrators.

use super::Failure;
use leastaction::{Card, Keeps, METHODS};

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  leastaction methods\n  leastaction methods gauss4\n  leastaction methods | grep constraints"
)]
pub(crate) struct Methods {
    /// The method to describe in full
    name: Option<String>,
}

impl Methods {
    pub(super) fn execute(&self) -> Result<String, Failure> {
        match &self.name {
            None => Ok(all()),
            Some(name) => Card::named(name).map(one).map_err(Failure::usage),
        }
    }
}

fn all() -> String {
    let heads = ["name", "order", "what it is", "kind", "step", "needs", "keeps"].map(str::to_owned).to_vec();
    let row = |card: &Card| {
        vec![
            card.name.to_owned(),
            card.order.to_string(),
            card.about.to_owned(),
            card.kind.to_string(),
            card.sizing.to_string(),
            card.needs.to_string(),
            keeps(card.keeps.iter().copied()),
        ]
    };
    let rows: Vec<_> = std::iter::once(heads).chain(METHODS.iter().map(row)).collect();
    super::table(&rows)
}

fn one(card: &Card) -> String {
    let rows = [
        ("name", card.name.to_owned()),
        ("order", card.order.to_string()),
        ("what it is", card.about.to_owned()),
        ("kind", card.kind.to_string()),
        ("step", card.sizing.to_string()),
        ("needs", card.needs.to_string()),
        ("keeps", keeps(card.keeps.iter().copied())),
        ("described in", card.cite.to_owned()),
    ];
    super::table(&rows.map(|(what, value)| vec![what.to_owned(), value]))
}

/// What is kept, in words.
pub(super) fn keeps(kept: impl Iterator<Item = Keeps>) -> String {
    let words: Vec<_> = kept.map(|what| what.to_string()).collect();
    if words.is_empty() { "–".to_owned() } else { words.join(", ") }
}

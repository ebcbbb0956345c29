//! `leastaction methods`: the cards of the integrators.

use leastaction::{Card, Keeps, METHODS};

pub(super) fn text() -> String {
    let heads = ["name", "order", "kind", "step", "needs", "keeps", "what it is", "where to read about it"]
        .map(str::to_owned)
        .to_vec();
    let row = |card: &Card| {
        vec![
            card.name.to_owned(),
            card.order.to_string(),
            card.kind.to_string(),
            card.sizing.to_string(),
            card.needs.to_string(),
            keeps(card.keeps.iter().copied()),
            card.about.to_owned(),
            card.cite.to_owned(),
        ]
    };
    let rows: Vec<_> = std::iter::once(heads).chain(METHODS.iter().map(row)).collect();
    super::table(&rows)
}

/// What is kept, in words.
pub(super) fn keeps(kept: impl Iterator<Item = Keeps>) -> String {
    let words: Vec<_> = kept.map(|what| what.to_string()).collect();
    if words.is_empty() { "–".to_owned() } else { words.join(", ") }
}

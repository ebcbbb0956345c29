//! `leastaction methods`: the cards of the integrators.

use leastaction::{Card, Keeps, METHODS};

pub(super) fn text() -> String {
    let heads = ["name", "order", "kind", "needs", "keeps", "what it is", "where to read about it"]
        .map(str::to_owned)
        .to_vec();
    let row = |card: &Card| {
        vec![
            card.name.to_owned(),
            card.order.to_string(),
            card.kind.to_string(),
            card.needs.to_string(),
            keeps(card),
            card.about.to_owned(),
            card.cite.to_owned(),
        ]
    };
    let rows: Vec<_> = std::iter::once(heads).chain(METHODS.iter().map(row)).collect();
    super::table(&rows)
}

/// What a method keeps, in words.
pub(super) fn keeps(card: &Card) -> String {
    match card.keeps {
        [] => "–".to_owned(),
        kept => kept.iter().map(Keeps::to_string).collect::<Vec<_>>().join(", "),
    }
}

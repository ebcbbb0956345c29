//! `leastaction list`: the catalog, one line for each system.

use leastaction::catalog;

pub(super) fn text() -> String {
    let row = |entry: &catalog::Entry| vec![entry.name.to_owned(), entry.about.to_owned()];
    super::table(&catalog::ALL.iter().map(row).collect::<Vec<_>>())
}

//! `leastaction list`: the catalog, one line for each system.

use leastaction::catalog;

pub(super) fn text() -> String {
    let row = |entry: &catalog::Entry| vec![entry.name.to_owned(), about(entry)];
    super::table(&catalog::ALL.iter().map(row).collect::<Vec<_>>())
}

fn about(entry: &catalog::Entry) -> String {
    match entry.size {
        Some(usual) => {
            format!("{} (--size 1 to {}, usually {usual})", entry.about(), catalog::Entry::LARGEST)
        }
        None => entry.about(),
    }
}

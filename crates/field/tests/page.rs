//! The book's table of fields is what the cards say; `UPDATE_GOLDEN=1` writes it anew.

use leastaction_field::FIELDS;
use std::fs;

const HEAD: &str = "| field | over | parameters | what it is |\n|---|---|---|---|\n";

#[test]
fn the_book_lists_every_field() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/fields.md");
    let page = fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once(HEAD).unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    let row = |card: &leastaction_field::Card| {
        let parameters: Vec<_> =
            card.parameters.iter().map(|parameter| format!("`{}`", parameter.name)).collect();
        let formula = card.formula.replace('|', "\\|");
        format!(
            "| `{}` | {} | {} | {}: {formula} |\n",
            card.name,
            card.over.name(),
            parameters.join(", "),
            card.about
        )
    };
    let table: String = FIELDS.iter().map(row).collect();
    let expected = format!("{before}{HEAD}{table}\n{after}");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(path, &expected).unwrap();
    } else {
        assert_eq!(page, expected, "run with UPDATE_GOLDEN=1 to write the page anew");
    }
}

#[test]
fn every_card_says_what_it_is() {
    for (i, card) in FIELDS.iter().enumerate() {
        assert!(!card.about.is_empty() && !card.formula.is_empty() && !card.reference.is_empty());
        assert!(FIELDS[..i].iter().all(|other| other.name != card.name), "{} is there twice", card.name);
        for (k, parameter) in card.parameters.iter().enumerate() {
            assert!(!parameter.about.is_empty());
            assert!(card.parameters[..k].iter().all(|other| other.name != parameter.name));
        }
    }
}

//! The page on choosing an integrator has the table of all methods.

use leastaction::{Card, METHODS};
use std::path::Path;

const BEGIN: &str = "<!-- made by: UPDATE_GOLDEN=1 cargo test --test all choosing -->\n";
const END: &str = "<!-- end -->";

fn row(card: &Card) -> String {
    let keeps: Vec<String> = card.keeps.iter().map(ToString::to_string).collect();
    let Card { name, about, order, needs, kind, sizing, .. } = card;
    let keeps = if keeps.is_empty() { "–".to_owned() } else { keeps.join(", ") };
    format!("| `{name}` | {about} | {order} | {kind} | {sizing} | {needs} | {keeps} |\n")
}

#[test]
fn the_page_lists_every_method() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("book/src/choosing-an-integrator.md");
    let page = std::fs::read_to_string(&file).unwrap();
    let head = "| name | what it is | order | kind | step | needs | keeps |\n|---|---|---|---|---|---|---|\n";
    let table: String = std::iter::once(head.to_owned()).chain(METHODS.iter().map(row)).collect();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (found, after) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        return std::fs::write(&file, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    }
    assert_eq!(found, table, "run this test with UPDATE_GOLDEN=1 to write the table anew");
}

#[test]
fn the_front_page_counts_the_methods() {
    let count = format!("{} methods", METHODS.len());
    assert!(include_str!("../README.md").contains(&count), "{count}");
}

/// Methods that the page names exist.
#[test]
fn the_page_names_methods_that_exist() {
    let page = include_str!("../book/src/choosing-an-integrator.md");
    let (advice, _) = page.split_once("## Steps").unwrap();
    let (_, advice) = advice.split_once("## Four questions").unwrap();
    let named = advice.split('`').skip(1).step_by(2).filter(|word| !word.contains([' ', '(', '=']));
    let mut count = 0;
    for name in named {
        assert!(Card::named(name).is_ok(), "{name}");
        count += 1;
    }
    assert!(count > 20);
}

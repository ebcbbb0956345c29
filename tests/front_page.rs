//! What the front page promises.

use leastaction::expr::Entry;
use leastaction::{BuildError, CompileError, Expr, Graph, ParseError, Parser, Scope, UnknownMethod};

/// A double pendulum and the drift of its energy fit into 15 lines; that they run is tested with the documentation.
#[test]
fn the_example_is_short() {
    let readme = include_str!("../README.md");
    let (_, example) = readme.split_once("```rust\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    assert!(example.contains("energy_drift"));
    assert!(example.lines().count() <= 15, "{} lines", example.lines().count());
}

/// From text to derivatives and code without naming another crate.
#[test]
fn everything_is_under_one_name() {
    let graph = Graph::new();
    let x = graph.symbol("x");
    let parsed: Result<Expr<'_>, ParseError> = graph.parse("x^3");
    let cube = parsed.unwrap();
    let entries: Vec<Entry<'_>> = leastaction::jacobian(&[cube], &[x]);
    assert_eq!(entries.len(), 1);
    assert!(leastaction::operations(&[cube]) > 0);
    let _: [Option<Box<dyn std::error::Error>>; 3] = [
        None::<BuildError>.map(Into::into),
        None::<CompileError>.map(Into::into),
        None::<UnknownMethod>.map(Into::into),
    ];
    let _: (Option<Parser<'_, '_>>, Option<Scope<'_>>) = (None, None);
}

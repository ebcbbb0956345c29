//! Nothing is doubted in models that are as they should be: those of the catalog, of the book, and all with a known answer.

use leastaction_catalog as catalog;
use leastaction_expr::Graph;
use leastaction_simulate::Source;
use std::path::{Path, PathBuf};

/// What is doubted of a text; nothing if it cannot be read as it stands.
fn doubts(source: &Source) -> Vec<String> {
    let graph = Graph::new();
    let Ok(setup) = source.setup(&graph, &[]) else { return Vec::new() };
    let doubts = setup.doubts.iter();
    doubts.map(|doubt| doubt.render(&source.title, &source.text, false)).collect()
}

fn motions(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = all.filter(|path| path.extension().is_some_and(|end| end == "motion")).collect();
    all.sort();
    all
}

#[test]
fn models_that_are_right_are_not_doubted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for entry in catalog::ALL {
        found.extend(doubts(&Source::catalog(entry.name, None).unwrap()));
    }
    let mut read = 0;
    for folder in ["tests/answers", "../../book/models"] {
        for path in motions(&root.join(folder)) {
            read += 1;
            found.extend(doubts(&Source::file(&path.to_string_lossy()).unwrap()));
        }
    }
    assert!(read > 200, "{read}");
    let book = std::fs::read_dir(root.join("../../book/src")).unwrap().map(|entry| entry.unwrap().path());
    for path in book.filter(|path| path.extension().is_some_and(|end| end == "md")) {
        let page = std::fs::read_to_string(&path).unwrap();
        for block in page.split("```motion\n").skip(1) {
            let text = block.split("```").next().unwrap();
            let title = path.to_string_lossy();
            found.extend(doubts(&Source::read("model", &title, text.as_bytes()).unwrap()));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

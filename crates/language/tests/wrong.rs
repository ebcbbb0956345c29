//! Wrong texts and what is said about them: each `wrong/NAME.motion` has its message in `wrong/NAME.txt`.
//!
//! `UPDATE_GOLDEN=1 cargo test -p leastaction-language --test all wrong` writes the messages; read them as a newcomer would.
use leastaction_expr::Graph;
use leastaction_integrate::Card;
use leastaction_language::{Errors, read, text};
use std::path::Path;

/// What is wrong with a text, found as the command line finds it: in its bytes, its statements, its model, its run and its start.
fn wrong(bytes: &[u8]) -> Result<(), Errors> {
    let source = text(bytes)?;
    let graph = Graph::new();
    let setup = read(&graph, source, &[])?;
    let system = setup.model.system().map_err(|error| setup.explain(&error))?;
    if let Some(method) = &setup.plan.method {
        Card::named(method).map_err(|error| setup.explain_clause("method", error.advice()))?;
    }
    let mut dynamics = system.dynamics().map_err(|error| setup.explain(&error))?;
    let start = setup.start(&dynamics).unwrap();
    dynamics.start_over(0.0, &setup.start_blocks(), &start).map_err(|error| setup.explain(&error))?;
    Ok(())
}

#[test]
fn every_mistake_has_its_message() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong");
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "motion"));
    files.sort();
    assert!(files.len() >= 50);
    let mut differ = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let Err(errors) = wrong(&bytes) else {
            differ.push(format!("{name}: nothing is wrong"));
            continue;
        };
        let shown = errors.render(&name, text(&bytes).unwrap_or(""), false) + "\n";
        let golden = path.with_extension("txt");
        if update {
            std::fs::write(&golden, &shown).unwrap();
        } else if std::fs::read_to_string(&golden).unwrap_or_default() != shown {
            differ.push(format!("{name}:\n{shown}"));
        }
    }
    assert!(differ.is_empty(), "not the messages that were expected:\n{}", differ.join("\n"));
}

//! What is allowed and hardly meant: each `doubtful/NAME.motion` has what is said of it in `doubtful/NAME.txt`.
//!
//! `UPDATE_GOLDEN=1 cargo test -p leastaction-language --test all doubtful` writes it; read it as a newcomer would.

use leastaction_expr::Graph;
use leastaction_language::read;
use std::path::Path;

#[test]
fn every_doubt_is_shown_at_its_place() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/doubtful");
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "motion"));
    files.sort();
    assert!(files.len() >= 4);
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let graph = Graph::new();
        let setup = read(&graph, &text, &[]).unwrap_or_else(|e| panic!("{}", e.render(&name, &text, false)));
        let doubts: Vec<String> =
            setup.doubts.iter().map(|doubt| doubt.render(&name, &text, false)).collect();
        let shown = doubts.join("\n") + "\n";
        let golden = path.with_extension("txt");
        if update {
            std::fs::write(&golden, &shown).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&golden).unwrap_or_default(), shown, "{name}");
    }
}

#[test]
fn doubts_are_found_where_they_are_and_only_there() {
    let doubts = |text: &str| {
        let graph = Graph::new();
        let setup = read(&graph, text, &[]).unwrap_or_else(|e| panic!("{}", e.render("m", text, false)));
        setup.doubts.iter().map(|doubt| (doubt.kind.code(), doubt.line)).collect::<Vec<_>>()
    };
    let ball = "coord x, y\nparticle ball mass 1 at [x, y]\n";
    let with = |more: &str| doubts(&format!("{ball}{more}"));
    assert_eq!(with("gravity [0, -9.81]"), []);
    assert_eq!(with("param g = -9.81\ngravity [0, g]"), []);
    assert_eq!(with("gravity [0, 9.81]"), [("gravity-up", 3)]);
    // Along another axis, or aslant, nobody knows which way is up.
    assert_eq!(with("gravity [9.81, 0]"), []);
    assert_eq!(with("gravity [1, 1]"), []);
    // Lengths may be whole multiples of five, and so may angles that turn often.
    assert_eq!(with("start x = 45"), []);
    assert_eq!(with("potential cos(x)\nstart x = 45, y = 45"), [("degrees", 4)]);
    assert_eq!(with("potential cos(x)\nstart x = 45*pi/180"), []);
    assert_eq!(with("potential cos(2*x)\nstart x = 44.5"), []);
    // Products of a thing with itself, and sums of squares, have a sign.
    for (event, is_doubtful) in [
        ("x*x = -1", true),
        ("x*y = -1", false),
        ("norm(ball) = 0", true),
        ("norm(ball) = 1", false),
        ("exp(x) = 0", true),
        ("abs(x) + 1 = 0.5", true),
        ("max(x, 2) = 1", true),
        ("1/(1 + x^2) = 2", true),
        ("1/(1 + x^2) = 0.5", false),
        ("x/(1 + x^2) = 2", false),
        ("floor(x) = 2.5", false),
        ("x^3 = -2", false),
        ("t = 1000", false),
    ] {
        assert_eq!(with(&format!("event e: {event}")).len(), usize::from(is_doubtful), "{event}");
    }
}

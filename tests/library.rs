//! What the command does, the library does: to the bit.

use leastaction::output::Format;
use leastaction::{Graph, Overrides, Source};
use std::process::Command;

/// Runs a system both ways, and compares the files.
fn same(name: &str, system: &str, options: &[&str], overrides: &Overrides) {
    let path = std::env::temp_dir().join(format!("leastaction-library-{}-{name}.csv", std::process::id()));
    let output = Command::new(env!("CARGO_BIN_EXE_leastaction"))
        .args(["run", system, "--quiet", "--out", path.to_str().unwrap()])
        .args(options)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let source = Source::open(system, None).unwrap();
    let simulation = source.simulation(&Graph::new(), overrides).unwrap();
    let run = simulation.run().unwrap();
    let (mut found, about) = (Vec::new(), simulation.describe("complete".to_owned()));
    Format::of(&path).unwrap().write(&run.record().unwrap().table(), &about, &mut found).unwrap();
    assert!(expected.len() > 1000 && found == expected, "{system}");
}

#[test]
fn the_library_has_the_bits_of_the_command() {
    same("ball", "book/models/ball.motion", &[], &Overrides::default());
    same("top", "pendulum", &["--until", "2"], &Overrides { until: Some(2.0), ..Overrides::default() });
    let asked = Overrides {
        parameters: vec![("m1".to_owned(), 1.0)],
        start: vec![("th'".to_owned(), 0.7)],
        until: Some(3.0),
        tolerance: Some(1e-9),
        every: Some(0.01),
        ..Overrides::default()
    };
    let options = ["--set", "m1=1", "--start", "th'=0.7", "--until", "3", "--tol", "1e-9", "--every", "0.01"];
    same("orbit", "two-body", &options, &asked);
}

//! `leastaction compare`: tables in which errors shrink as they should.

use std::path::PathBuf;
use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_leastaction")).arg("compare").args(arguments).output().unwrap()
}

/// The rows of the table that is written, with their columns by name.
fn rows(name: &str, arguments: &[&str]) -> Vec<Vec<(String, String)>> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("compare-{name}.csv"));
    let output = run(&[arguments, &["--out", path.to_str().unwrap(), "--quiet"]].concat());
    assert!(
        output.status.success() && output.stdout.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let names = lines.next().unwrap();
    lines.map(|row| names.iter().cloned().zip(row).collect()).collect()
}

fn cell<'r>(row: &'r [(String, String)], name: &str) -> &'r str {
    row.iter().find(|(other, _)| other == name).map(|(_, cell)| cell.as_str()).unwrap()
}

fn number(row: &[(String, String)], name: &str) -> f64 {
    cell(row, name).parse().unwrap()
}

#[test]
fn errors_shrink_with_the_order() {
    let steps = ["--step", "0.2,0.1,0.05"];
    // A slow swing, of which a fifth of a second is a small part.
    let slow = ["pendulum", "--set", "g=1", "--start", "th'=1", "--until", "10"];
    let methods = ["--methods", "verlet,rk4,gauss4,gauss6"];
    let rows = rows("order", &[&slow[..], &methods, &steps].concat());
    assert_eq!(rows.len(), 12);
    for method in rows.chunks(3) {
        let order = number(&method[0], "order");
        assert_eq!(method.iter().map(|row| cell(row, "step")).collect::<Vec<_>>(), ["0.2", "0.1", "0.05"]);
        for pair in method.windows(2) {
            let slope = (number(&pair[0], "end_error") / number(&pair[1], "end_error")).log2();
            assert!((slope - order).abs() < 0.3, "{}: {slope}", cell(&pair[0], "method"));
            assert_eq!(2.0 * number(&pair[0], "steps"), number(&pair[1], "steps"));
        }
    }
    // A symplectic method keeps the energy to its order; what it is off by is not the error of the state.
    let slope = (number(&rows[0], "energy_drift") / number(&rows[1], "energy_drift")).log2();
    assert!((slope - 2.0).abs() < 0.2, "{slope}");
}

#[test]
fn the_best_is_the_first_and_what_refuses_the_last() {
    let methods = ["--methods", "verlet,implicit-midpoint,gauss6,rk4", "--step", "0.01", "--until", "2"];
    let rows = rows("sorted", &[&["double-pendulum"], &methods[..]].concat());
    let names: Vec<&str> = rows.iter().map(|row| cell(row, "method")).collect();
    assert_eq!(names, ["gauss6", "rk4", "implicit-midpoint", "verlet"]);
    assert!(cell(&rows[3], "refused").contains("verlet needs"), "{:?}", rows[3]);
    let errors: Vec<f64> = rows[..3].iter().map(|row| number(row, "end_error")).collect();
    assert!(errors.is_sorted());
}

#[test]
fn all_methods_that_apply_are_run() {
    let output = run(&["double-pendulum", "--methods", "all", "--until", "0.5"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    let left = text.lines().find(|line| line.starts_with("left out")).unwrap();
    assert!(left.contains("verlet") && !text.lines().any(|line| line.starts_with("verlet ")));
    for card in leastaction::METHODS {
        let ran = text.lines().any(|line| line.split_whitespace().next() == Some(card.name));
        let named = left.split([' ', ',']).any(|word| word == card.name);
        assert!(ran != named, "{}", card.name);
    }
    assert!(!text.contains('–'), "{text}");
}

#[test]
fn what_refuses_says_why_and_ends_nothing() {
    let output = run(&["two-body", "--methods", "verlet,dop853", "--tol", "1e-8", "--until", "1"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    assert!(
        text.lines().any(|line| line.starts_with("verlet") && line.contains("– verlet needs a step")),
        "{text}"
    );
    let output = run(&["two-body", "--methods", "verlet", "--tol", "1e-8", "--until", "1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().contains("no method could run"));
}

#[test]
fn constraints_are_measured() {
    let rows = rows("constraints", &["dzhanibekov", "--methods", "rattle,dop853", "--until", "2"]);
    assert_eq!(rows.len(), 2);
    for row in &rows {
        let worst = number(row, "constraint_position").max(number(row, "constraint_velocity"));
        assert!(worst < 1e-12, "{row:?}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let cases: &[(&[&str], &str)] = &[
        (&["pendulum", "--methods", "rk5"], "rk4"),
        (&["pendulum", "--methods", ","], "which methods?"),
        (&["pendulum", "--step", "0.1", "--tol", "1e-6"], "cannot be used with"),
        (&["pendulum", "--out", "table.npz"], ".csv or .json"),
        (&["damped-pendulum", "--plot", "never.svg"], "changes by itself"),
    ];
    for (arguments, part) in cases {
        let output = run(arguments);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && message.contains(part), "{arguments:?}: {message}");
    }
}

/// Methods are compared without the events of a model: what these set would be missing.
#[test]
fn a_model_that_sets_something_is_not_compared() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("compare-ball.motion");
    let text = "coord y\nparticle ball mass 1 at [y]\ngravity [-9.81]\nstart y = 1\nevent floor: y = 0, falling, set y' = -0.8*y'\nrun until 2";
    std::fs::write(&file, text).unwrap();
    let output = run(&[file.to_str().unwrap(), "--methods", "rk4"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the event `floor` of the model sets something, and comparisons of methods do not follow motions over that"), "{said}");
}

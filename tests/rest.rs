//! `leastaction equilibrium` and `leastaction modes`: files, pictures and refusals.

use std::path::PathBuf;
use std::process::{Command, Output};

fn leastaction(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_leastaction")).args(arguments).output().unwrap()
}

fn temporary(name: &str) -> String {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string()
}

#[test]
fn states_and_modes_are_written() {
    let rest = temporary("rest.csv");
    assert!(leastaction(&["equilibrium", "double-pendulum", "--out", &rest]).status.success());
    let text = std::fs::read_to_string(&rest).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(rows.len() == 2 && rows[0].starts_with("t,th1,th2"), "{text}");

    let (table, picture) = (temporary("modes.csv"), temporary("mode.gif"));
    let output = leastaction(&[
        "modes",
        "n-pendulum",
        "-k",
        "2",
        "--out",
        &table,
        "--mode",
        "2",
        "--animate",
        &picture,
    ]);
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(&table).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(rows[0].starts_with("mode,kind,square,frequency,growth,x1,y1"), "{text}");
    assert!(rows.len() == 3 && rows[2].starts_with("2,vibration,"), "{text}");
    assert_eq!(std::fs::read(&picture).unwrap()[..3], *b"GIF");
}

#[test]
fn what_has_no_rest_is_told_why() {
    let model = |name: &str, text: &str| {
        let path = temporary(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let rolling = model(
        "skate.motion",
        "coord x, y, a\nkinetic (x'^2 + y'^2 + a'^2)/2\nconstraint x'*sin(a) = y'*cos(a)\nrun until 1\n",
    );
    let driven =
        model("driven.motion", "coord x\nkinetic x'^2/2\npotential x^2/2\nforce x = sin(t)\nrun until 1\n");
    let cases: [(&[&str], i32, &str); 4] = [
        (&["equilibrium", &rolling], 2, "constraints of positions"),
        (&["equilibrium", &driven], 1, "there is no equilibrium"),
        (&["modes", "outer-solar-system"], 1, "falls without end"),
        (&["equilibrium", "pendulum", "--out", "rest.doc"], 2, "rest.doc"),
    ];
    for (arguments, code, said) in cases {
        let output = leastaction(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
    }
}

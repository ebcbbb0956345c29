//! `leastaction fit`, from outside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A folder with the model and the data of the book, and the command in it.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fit").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for file in ["models/air.motion", "data/swing.csv", "data/degrees.csv"] {
        let path = Path::new(ROOT).join("book").join(file);
        fs::copy(&path, folder.join(path.file_name().unwrap())).unwrap();
    }
    folder
}

fn fit(folder: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_leastaction");
    Command::new(program).arg("fit").args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// What a successful fit prints.
fn prints(folder: &Path, arguments: &[&str]) -> String {
    let output = fit(folder, arguments);
    let errors = text(output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{arguments:?}: {errors}");
    text(output.stdout)
}

/// The exit code and the message of one that fails.
fn fails(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let output = fit(folder, arguments);
    (output.status.code().unwrap(), text(output.stderr))
}

/// A number after a name in a JSON document.
fn after<'t>(json: &'t str, name: &str) -> &'t str {
    let at = json.find(name).unwrap_or_else(|| panic!("no {name} in {json}")) + name.len();
    json[at..].split([',', '}', ']']).next().unwrap().trim_matches([':', ' ', '['])
}

#[test]
fn what_is_found_is_written_and_is_a_model_again() {
    let folder = folder("written");
    let written = [
        "--plot",
        "fit.svg",
        "--plot",
        "fit.png",
        "--out",
        "fit.csv",
        "--out",
        "fit.npz",
        "--write",
        "fitted.motion",
    ];
    let asked = [&["air.motion", "--data", "swing.csv", "--free", "l,c", "--json"][..], &written].concat();
    let json = prints(&folder, &asked);
    let value = |name: &str| -> f64 {
        after(&json[json.find(&format!("\"name\": \"{name}\"")).unwrap()..], "\"value\"").parse().unwrap()
    };
    assert!((value("l") - 1.27).abs() < 0.01 && (value("c") - 0.25).abs() < 0.02, "{json}");
    assert_eq!((after(&json, "\"sound\""), after(&json, "\"derivatives\"")), ("true", "\"adjoint\""));
    // The model that is written has these values, and the start that was found; fitted again, nothing changes.
    let model = fs::read_to_string(folder.join("fitted.motion")).unwrap();
    assert!(
        model.starts_with("# A pendulum in air.\n") && model.contains("dissipation c*th'^2/2"),
        "{model}"
    );
    let again = prints(&folder, &["fitted.motion", "--data", "swing.csv", "--free", "l,c", "--json"]);
    let guess: f64 = after(&again, "\"guess\"").parse().unwrap();
    let found: f64 = after(&again, "\"value\"").parse().unwrap();
    assert!((guess - value("l")).abs() < 1e-9 && (found - guess).abs() < 1e-6);
    let start: f64 = model
        .split("th = ")
        .nth(1)
        .unwrap()
        .lines()
        .next()
        .unwrap()
        .split(',')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!((start - 1.9).abs() < 0.02, "{model}");
    // A row for each time with a value, and three columns of what was measured.
    let table = fs::read_to_string(folder.join("fit.csv")).unwrap();
    let data = fs::read_to_string(folder.join("swing.csv")).unwrap();
    let measured = data.lines().skip(1).filter(|line| !line.ends_with(',')).count();
    assert!(table.starts_with("recording,t,th,th fit,th residual\n1,0.0,"), "{table}");
    assert_eq!(table.lines().count(), measured + 1);
    assert!(fs::read_to_string(folder.join("fit.svg")).unwrap().contains("th: residuals"));
    assert!(fs::read(folder.join("fit.png")).unwrap().starts_with(b"\x89PNG"));
    // What was written can be fitted to: archives, too.
    let archive =
        prints(&folder, &["air.motion", "--data", "fit.npz", "--free", "l,c", "--json", "--column", "th=th"]);
    assert_eq!(after(&archive, "\"value\""), after(&json, "\"value\""));
}

#[test]
fn numbers_that_mean_nothing_fail_and_say_why() {
    let folder = folder("wrong");
    let (code, said) = fails(&folder, &["air.motion", "--data", "swing.csv", "--free", "l,c,m"]);
    assert_eq!(code, 1);
    assert!(said.contains("error: the data determine only c/m, not c and m"), "{said}");
    let asked = ["air.motion", "--data", "degrees.csv", "--time", "clock/1000", "--free", "l=0.2..5,c=0..3"];
    let (code, said) = fails(&folder, &[&asked[..], &["--column", "th=angle"]].concat());
    assert_eq!(code, 1);
    assert!(said.contains("does not explain the data") && said.contains("like degrees"), "{said}");
    prints(&folder, &[&asked[..], &["--column", "th=angle*pi/180"]].concat());
    let usage = |arguments: &[&str], wanted: &str| {
        let (code, said) = fails(&folder, arguments);
        assert!(code == 2 && said.contains(wanted), "{arguments:?}: {code} {said}");
    };
    usage(&["air.motion", "--data", "nowhere.csv"], "cannot read nowhere.csv");
    usage(&["air.motion", "--data", "degrees.csv"], "(--time)");
    usage(&["air.motion", "--data", "degrees.csv", "--time", "clock"], "(--column \"EXPR=COLUMN\")");
    usage(&["air.motion", "--data", "swing.csv", "--free", "lenght"], "no parameter `lenght`");
    usage(&["air.motion", "--data", "swing.csv", "--free", "l=3..2"], "write the limits as NAME=LOW..HIGH");
    usage(&["air.motion", "--data", "swing.csv", "--out", "swing.csv"], "the command reads this file");
    usage(&["air.motion", "--data", "swing.csv", "--write", "air.motion"], "the command reads this file");
    usage(&["air.motion", "--data", "swing.csv", "--until", "0.1"], "too few for");
    usage(&["air.motion", "--data", "swing.csv", "--column", "x=th"], "`x`");
    assert_eq!(fs::read_to_string(folder.join("swing.csv")).unwrap().lines().next(), Some("t,th"));
}

//! The command line, from outside.
#![allow(clippy::unwrap_used)] // a test may panic

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leastaction"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// What a successful command prints.
fn prints(arguments: &[&str]) -> String {
    let output = run(arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && errors.is_empty(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The exit code and the message of a command that fails, which prints nothing else.
fn fails(arguments: &[&str]) -> (i32, String) {
    let output = run(arguments);
    assert!(output.stdout.is_empty(), "{arguments:?}");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// The line of a summary that begins with a word.
fn line<'t>(text: &'t str, word: &str) -> &'t str {
    text.lines().find(|line| line.starts_with(word)).unwrap_or_else(|| panic!("no {word} in:\n{text}"))
}

#[test]
fn run_prints_a_summary() {
    let text = prints(&["run", "double-pendulum", "--method", "rk4", "--step", "0.0005", "--until", "1"]);
    assert!(line(&text, "method").contains("rk4 (order 4, keeps: –)"));
    assert!(line(&text, "run").ends_with("t = 0 to 1 in 2000 steps of 0.0005, 8000 evaluations"));
    assert!(line(&text, "energy").contains("7.5") || line(&text, "energy").contains("7.499999999"));
    assert!(line(&text, "conserved").ends_with("  energy"));
    // Reference values of the catalog: θ = (−.4953648, .3951171).
    assert!(line(&text, "end").contains("th1 = -0.495364") && line(&text, "end").contains("th2 = 0.395117"));
    assert!(text.contains("th1' = -1.33073") && text.contains("p_th1 = "));
    let default = prints(&["run", "double-pendulum"]);
    assert!(line(&default, "method").contains("implicit-midpoint (order 2, keeps: symplectic form"));
}

#[test]
fn run_takes_parameters_starts_and_sizes() {
    let fall = |more: &[&str]| prints(&[&["run", "pendulum", "--until", "0.01"], more].concat());
    assert!(line(&fall(&["--set", "g=3", "--set", "m=2"]), "parameters").contains("m = 2, l = 1, g = 3"));
    assert!(line(&fall(&["--start", "th=0.5", "--start", "th'=-2"]), "end").contains("th = 0.47"));
    assert!(line(&fall(&["--start", "p_th=0.25"]), "end").contains("th = 0.0024999"));
    assert!(line(&fall(&["--start", "th'=1e-1"]), "energy").contains("-0.495 to"));
    let chain = prints(&["run", "coupled-chain", "--size", "3", "--until", "0.1"]);
    assert!(line(&chain, "end").contains("th3 = ") && !chain.contains("th4"));
}

#[test]
fn run_leads_back_in_time() {
    let back = prints(&["run", "pendulum", "--until", "-1"]);
    assert!(line(&back, "run").contains("t = 0 to -1 in 100 steps of -0.01"));
}

#[test]
fn conserved_quantities_are_found() {
    let found = |system| line(&prints(&["run", system, "--until", "10"]), "conserved").to_owned();
    let pair = found("two-body");
    assert!(pair.contains("energy, p_th (to ") && pair.contains("angular momentum (to "), "{pair}");
    let planets = found("outer-solar-system");
    assert!(planets.contains("momentum along x (to ") && planets.contains("angular momentum about z (to "));
}

#[test]
fn lists_name_everything() {
    let systems = prints(&["list"]);
    for entry in leastaction::catalog::ALL {
        assert!(line(&systems, entry.name).ends_with(entry.about));
    }
    let methods = prints(&["methods"]);
    for card in leastaction::METHODS {
        assert!(line(&methods, card.name).contains(card.about));
    }
    assert_eq!(methods.lines().count(), leastaction::METHODS.len() + 1);
}

#[test]
fn wrong_usage_is_2_and_says_what_to_do() {
    for (arguments, message) in [
        (
            &["run", "duble-pendulum"][..],
            "there is no system `duble-pendulum`: did you mean `double-pendulum`?",
        ),
        (&["run", "gyroscope"], "there is no system `gyroscope`: choose one of pendulum, "),
        (&["run", "double-pendulum", "--set", "m=1"], "there is no parameter `m`: did you mean `m1`?"),
        (
            &["run", "pendulum", "--start", "thh=1"],
            "`thh`, which is no coordinate, velocity or momentum: did you mean `th`?",
        ),
        (
            &["run", "pendulum", "--start", "th'=1", "--start", "p_th=1"],
            "give velocities or momenta, not both",
        ),
        (&["run", "pendulum", "--start", "th=nan"], "`th` is NaN at the start"),
        (&["run", "pendulum", "--set", "m=-1"], "the mass of particle `bob` is -1"),
        (&["run", "pendulum", "--set", "m"], "write NAME=VALUE, such as m1=2"),
        (&["run", "pendulum", "--set", "m=heavy"], "`heavy` is not a number"),
        (&["run", "pendulum", "--method", "rk5"], "there is no method `rk5`: did you mean `rk4`?"),
        (&["run", "pendulum", "--step", "0"], "the step is 0: it must be a finite number other than 0"),
        (&["run", "pendulum", "--step", "-0.1"], "leads away from the end at t = 20: use 0.1"),
        (&["run", "pendulum", "--until", "inf"], "the end of the run is at t = inf: it must be finite"),
        (&["run", "pendulum", "--step", "1e-12"], "2e13 steps"),
        (&["run", "pendulum", "--size", "3"], "only `coupled-chain` can be given a size"),
        (&["run", "coupled-chain", "--size", "0"], "cannot have 0 pieces: choose 1 to 1000"),
        (&["run"], "SYSTEM"),
        (&["swim"], "unrecognized subcommand 'swim'"),
    ] {
        let (code, text) = fails(arguments);
        assert_eq!(code, 2, "{arguments:?}: {text}");
        assert!(text.starts_with("error: ") && text.contains(message), "{arguments:?}: {text}");
    }
    assert_eq!(fails(&[]).0, 2);
}

#[test]
fn a_failing_run_is_1_and_says_where() {
    let unstable = ["run", "harmonic-oscillator", "--method", "rk4", "--step", "100", "--until", "1e5"];
    let (code, text) = fails(&unstable);
    assert_eq!(code, 1, "{text}");
    assert!(text.starts_with("error: `th` became ") && text.contains(" in the step to t = "), "{text}");
    assert!(text.trim_end().ends_with("try a smaller step, or look for a singularity"), "{text}");
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = command(&["run", "coupled-chain", "--size", "200", "--until", "0.01"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("system"));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");

    let mut closed = command(&["list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(closed.stdout.take());
    let output = closed.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn help_shows_examples() {
    let help = prints(&["--help"]);
    assert!(help.contains("leastaction run double-pendulum") && help.contains("methods"));
    assert!(prints(&["run", "--help"]).contains("--start <NAME=VALUE>"));
    assert!(prints(&["--version"]).starts_with("leastaction 0."));
}

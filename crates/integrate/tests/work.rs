//! The work of standard runs, so that a method that tires shows without a clock.
//!
//! Counts are the same on every machine, because results are the same to the last bit. If a change is meant, rewrite the file by
//! `UPDATE_GOLDEN=1 cargo test --package leastaction-integrate --test all work`.
use crate::common::{double_pendulum, driven_pendulum, henon_heiles, kepler, relativistic, stiff_pendulum};
use leastaction_integrate::{Card, Integrator, Pace, Tolerance, Work};
use leastaction_mechanics::{Dynamics, State};
use std::path::Path;

/// Method, pace, system, span.
type Run = (&'static str, Pace, &'static str, f64);

fn step(step: f64) -> Pace {
    Pace::Step(step)
}

fn tolerance(relative: f64) -> Pace {
    Pace::Tolerance(Tolerance::relative(relative))
}

#[rustfmt::skip]
fn runs() -> Vec<Run> {
    vec![
        ("rk4",               step(0.01),        "double pendulum", 10.0),
        ("dormand-prince5",   step(0.01),        "driven pendulum", 10.0),
        ("dormand-prince5",   tolerance(1e-6),   "double pendulum", 10.0),
        ("dormand-prince5",   tolerance(1e-9),   "kepler 0.9",      20.0),
        ("tsit5",             tolerance(1e-6),   "driven pendulum", 20.0),
        ("tsit5",             tolerance(1e-9),   "hénon–heiles",    50.0),
        ("dop853",            tolerance(1e-9),   "double pendulum", 10.0),
        ("dop853",            tolerance(1e-12),  "kepler 0.9",      20.0),
        ("vern9",             tolerance(1e-9),   "relativistic",    20.0),
        ("vern9",             tolerance(1e-12),  "kepler 0.9",      20.0),
        ("taylor",            step(0.1),         "driven pendulum", 20.0),
        ("taylor",            tolerance(1e-9),   "double pendulum", 10.0),
        ("taylor",            tolerance(1e-14),  "kepler 0.9",      20.0),
        ("ias15",             step(0.1),         "hénon–heiles",    50.0),
        ("ias15",             tolerance(1e-9),   "double pendulum", 10.0),
        ("ias15",             tolerance(1e-14),  "kepler 0.9",      20.0),
        ("implicit-midpoint", step(0.01),        "double pendulum", 10.0),
        ("implicit-midpoint", step(0.05),        "stiff pendulum",  10.0),
        ("gauss6",            step(0.05),        "double pendulum", 10.0),
        ("gauss6",            step(0.05),        "stiff pendulum",  10.0),
        ("lobatto-pair4",     step(0.02),        "double pendulum", 10.0),
        ("radau5",            tolerance(1e-6),   "stiff pendulum",  10.0),
        ("variational4",      step(0.02),        "double pendulum", 10.0),
        ("variational8",      step(0.05),        "driven pendulum", 10.0),
        ("discrete-gradient", step(0.01),        "double pendulum", 10.0),
        ("average-vector-field", step(0.02),     "hénon–heiles",    50.0),
        ("energy-collocation4", step(0.02),      "double pendulum", 10.0),
    ]
}

fn system(name: &str) -> (Dynamics, State) {
    match name {
        "double pendulum" => double_pendulum(),
        "driven pendulum" => driven_pendulum(),
        "hénon–heiles" => henon_heiles(),
        "kepler 0.9" => kepler(0.9),
        "relativistic" => relativistic(),
        "stiff pendulum" => stiff_pendulum(),
        _ => panic!("there is no system {name}"),
    }
}

#[test]
fn standard_runs_take_as_much_work_as_before() {
    let head = "method               pace                    system            span   steps rejected evaluations jacobians iterations";
    let lines = runs().into_iter().map(|(method, pace, name, span)| {
        let (mut dynamics, start) = system(name);
        let run = Integrator::new(Card::named(method).unwrap(), pace.clone()).ends_only();
        let Work { steps, rejected, evaluations, jacobians, iterations } =
            run.run(&mut dynamics, &start, span).unwrap().work();
        let pace = pace.to_string();
        let counts = format!("{steps:7} {rejected:8} {evaluations:11} {jacobians:9} {iterations:10}");
        format!("{method:20} {pace:23} {name:15} {span:6} {counts}")
    });
    let found: Vec<String> = std::iter::once(head.to_owned()).chain(lines).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/work.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, found.join("\n") + "\n").unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    let golden: Vec<&str> = golden.lines().collect();
    for (i, line) in found.iter().enumerate() {
        assert_eq!(golden.get(i), Some(&line.as_str()), "line {} of work.txt (the left is expected)", i + 1);
    }
    assert_eq!(golden.len(), found.len(), "work.txt has runs that are no longer made");
}

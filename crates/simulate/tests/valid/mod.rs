//! Valid models at random, and what must hold for each: its form when it is formatted, its expressions when they are printed and read again, both forms of mechanics,
//! all methods, runs and ensembles, and all backends.

mod bodies;
mod check;
mod write;

use check::{CHECKS, Check, digest};
use leastaction_compile::{BACKEND_VARIABLE, Backend};
use leastaction_language::words;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use write::{Model, model};

/// What is wrong with a model: the name of the check, and what it says.
type Fault = (&'static str, String);

/// Which checks there was something to check by, or what is wrong with a model. A panic counts.
fn check(model: &Model) -> Result<Vec<bool>, Fault> {
    CHECKS.iter().map(|one| checked(model, one)).collect()
}

fn checked(model: &Model, (name, check): &(&'static str, Check)) -> Result<bool, Fault> {
    let said = |panic: Box<dyn std::any::Any + Send>| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
    };
    match catch_unwind(AssertUnwindSafe(|| check(model))) {
        Ok(found) => found.map_err(|why| (*name, why)),
        Err(panic) => Err((*name, format!("{PANICKED}: {}", said(panic)))),
    }
}

/// How the reason begins why a check could not be made.
const PANICKED: &str = "panicked";

/// Shorter texts are looked for this long.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether a check could not be made, as of a text that does not read.
fn is_panic(why: &str) -> bool {
    why.starts_with(PANICKED)
}

/// A shorter text with which the same check fails in the same way: lines are left out as long as it does.
fn shrunk(model: &Model, (name, why): (&str, &str)) -> Model {
    let (mut best, begun) = (model.clone(), Instant::now());
    let failing: Vec<_> = CHECKS.iter().filter(|(other, _)| *other == name).collect();
    loop {
        let lines: Vec<&str> = best.text.lines().collect();
        let shorter = (0..lines.len()).find_map(|left_out| {
            let kept: Vec<_> =
                lines.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, line)| *line).collect();
            let model = Model { text: kept.join("\n") + "\n", ..best.clone() };
            let wrong = || {
                let mut faults = failing.iter().filter_map(|one| checked(&model, one).err());
                faults.any(|(_, other)| is_panic(&other) == is_panic(why))
            };
            (begun.elapsed() < PATIENCE && wrong()).then_some(model)
        });
        match shorter {
            Some(model) => best = model,
            None => return best,
        }
    }
}

/// Checks models on all cores. Each check has something to do for a twentieth of them at least.
fn check_all(seeds: std::ops::Range<u64>) {
    let (next, count) = (AtomicU64::new(seeds.start), seeds.end - seeds.start);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut counts = vec![0_u64; CHECKS.len()];
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return counts;
            }
            let model = model(seed);
            match check(&model) {
                Ok(applied) => {
                    counts.iter_mut().zip(applied).for_each(|(count, applied)| *count += u64::from(applied))
                }
                Err((name, why)) => {
                    // The others stop, too.
                    next.store(seeds.end, Ordering::Relaxed);
                    eprintln!("model {seed}, {name}: {why}\n{}", model.text);
                    let short = shrunk(&model, (name, &why));
                    let now = check(&short).err().map_or(String::new(), |(_, why)| why);
                    panic!("model {seed}, {name}: {why}\n{}\nshorter, {now}\n{}", model.text, short.text);
                }
            }
        }
    };
    let all: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (i, (name, _)) in CHECKS.iter().enumerate() {
        let applied: u64 = all.iter().map(|counts| counts[i]).sum();
        println!("{name}: {applied} of {count} models");
        assert!(applied >= count / 20, "{name}: only {applied} of {count} models");
    }
}

#[test]
fn random_models_hold_what_is_promised() {
    check_all(0..200);
}

/// Every statement, shape, joint and function is written by some.
#[test]
fn random_models_use_the_whole_language() {
    let texts: String = (0..800).map(|seed| model(seed).text).collect();
    let shapes = [
        "rod", "disk", "plate", "cuboid", "sphere", "cylinder", "cone", "inertia", "moment", "moments",
        "point",
    ];
    let joints = ["ball", "pin", "hinge", "universal", "cylindrical", "prismatic", "fixed", "distance"];
    let clauses = [
        "turned",
        "zxz",
        "about",
        "quaternion",
        "centre",
        "holding",
        "moving",
        "spinning",
        "rates",
        "density",
        "samples",
        "every",
        "rising",
        "curve",
        "set",
        "table",
    ];
    let words = words().chain(shapes).chain(joints).chain(clauses);
    let written =
        |word: &str| texts.split(|c: char| !c.is_alphanumeric() && c != '_').any(|other| other == word);
    let missing: Vec<_> = words.filter(|word| !written(word)).collect();
    assert!(missing.is_empty(), "no model has {missing:?}");
}

#[test]
#[ignore = "long"]
fn more_random_models_hold_what_is_promised() {
    check_all(1 << 20..(1 << 20) + 10_000);
}

/// How many models all backends are compared by; in a process of its own each, as the variable is the process'.
const DIGESTS: &str = "LEASTACTION_DIGESTS";

#[test]
#[ignore = "run by `backends_give_the_same_bits` in processes of their own"]
fn print_digests() {
    let count = std::env::var(DIGESTS).ok().and_then(|count| count.parse().ok()).unwrap_or(0);
    for seed in 0..count {
        println!("\ndigest {seed} {:016x}", digest(&model(seed)));
    }
}

fn digests(backend: Backend, count: u64) -> Vec<String> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "valid::print_digests", "--ignored", "--nocapture"])
        .env(BACKEND_VARIABLE, backend.to_string())
        .env(DIGESTS, count.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{backend:?}: {text}\n{}", String::from_utf8_lossy(&output.stderr));
    text.lines().filter(|line| line.starts_with("digest ")).map(str::to_owned).collect()
}

fn compare_backends(count: u64) {
    let reference = digests(Backend::Interpreter, count);
    assert_eq!(reference.len() as u64, count);
    for backend in Backend::ALL.into_iter().filter(|backend| backend.is_available()) {
        for (seed, (found, expected)) in digests(backend, count).iter().zip(&reference).enumerate() {
            assert_eq!(
                found,
                expected,
                "{backend:?} and the interpreter differ:\n{}",
                model(seed as u64).text
            );
        }
    }
}

#[test]
fn backends_give_the_same_bits() {
    compare_backends(80);
}

#[test]
#[ignore = "long"]
fn backends_give_the_same_bits_for_many() {
    compare_backends(10_000);
}

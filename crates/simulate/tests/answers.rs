//! Models with known answers, one in each file of `answers/`, run as they stand by default settings: each is right, or somebody is told.
//!
//! Comments of a file say what is known, and `tools/answers.py` computes it again without this program:
//!
//! ```text
//! #: kind    stiff
//! #: source  closed form
//! #: python  w = sqrt(mpf(10)**6 - 1)
//! #: answer  x = 0.123 <- cos(w*10)
//! #: answer  x' = 0.0 of 1000 <- 0
//! ```
//!
//! An answer is about the end of the run: a column of its record, or `t`. Its error is relative to the number, or to what stands after `of`. A file that says
//! `#: long` takes seconds, and is left to `make test-long`.

use leastaction_expr::Graph;
use leastaction_integrate::Work;
use leastaction_simulate::{Overrides, Source};
use std::fmt::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The largest relative error of an answer that is right.
const RIGHT: f64 = 1e-6;

/// Whoever waits for more steps than this gives up.
const PATIENCE: u64 = 300_000;

/// Whoever is told of an error is told of a tenth of it, at least.
const HONEST: f64 = 10.0;

/// A file of `answers/`.
struct Model {
    name: String,
    text: String,
    /// What makes it hard.
    kind: String,
    /// Where the answers come from.
    source: String,
    long: bool,
    answers: Vec<Answer>,
}

/// What is known of the end of a run.
struct Answer {
    quantity: String,
    value: f64,
    scale: f64,
}

/// What came of a model.
enum Outcome {
    /// The run ended; the largest error of an answer, and what was told.
    Ended { error: f64, warnings: Vec<String> },
    /// There is no result, and this was said instead.
    Refused(String),
}

impl Outcome {
    fn is_right(&self) -> bool {
        matches!(self, Outcome::Ended { error, .. } if *error <= RIGHT)
    }

    /// Whether the numbers are wrong and nobody is told.
    fn is_silent(&self) -> bool {
        matches!(self, Outcome::Ended { error, warnings } if warnings.is_empty() && (*error > RIGHT || error.is_nan()))
    }
}

impl Model {
    fn read(path: &Path) -> Model {
        let text = std::fs::read_to_string(path).unwrap();
        let notes = || text.lines().filter_map(|line| line.strip_prefix("#: ")).map(str::trim);
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let note =
            |word: &str| notes().find_map(|note| note.strip_prefix(word)).map(|rest| rest.trim().to_owned());
        let one = |word: &str| note(word).unwrap_or_else(|| panic!("{name} does not say its {word}"));
        let (kind, source, long) = (one("kind "), one("source "), note("long").is_some());
        let answers: Vec<_> =
            notes().filter_map(|note| note.strip_prefix("answer ")).map(Answer::read).collect();
        assert!(!answers.is_empty(), "{name} has no answer");
        Model { kind, source, long, answers, name, text }
    }

    /// All of them by name.
    fn all() -> Vec<Model> {
        let mut paths: Vec<PathBuf> =
            std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.iter().map(|path| Model::read(path)).collect()
    }

    fn run(&self) -> Outcome {
        let simulation =
            match Source::text(&self.name, &self.text).simulation(&Graph::new(), &Overrides::default()) {
                Ok(simulation) => simulation,
                Err(error) => return Outcome::Refused(error.to_string()),
            };
        let limit = if self.long { 100 * PATIENCE } else { PATIENCE };
        let run = simulation.run_judged(&AtomicBool::new(false), |moment| match moment.work() {
            Work { steps, rejected, .. } if steps + rejected > limit => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        let run = match run {
            Ok(run) if run.is_interrupted() => {
                return Outcome::Refused(format!("it takes more than {limit} steps"));
            }
            Ok(run) => run,
            Err(failed) => return Outcome::Refused(failed.error.to_string()),
        };
        let (record, measured) = match (run.record(), run.measure()) {
            (Ok(record), Ok(measured)) => (record, measured),
            (Err(error), _) => return Outcome::Refused(error.to_string()),
            (_, Err(error)) => return Outcome::Refused(error.to_string()),
        };
        let end = |quantity: &str| match quantity {
            "t" => record.times.last().copied(),
            _ => record
                .columns()
                .find(|(_, name, _)| name == quantity)
                .and_then(|(.., values)| values.last().copied()),
        };
        let errors = self.answers.iter().map(|answer| {
            let value = end(&answer.quantity)
                .unwrap_or_else(|| panic!("{} records no {}", self.name, answer.quantity));
            (value - answer.value).abs() / answer.scale
        });
        // A number that is not one is no right answer.
        let error =
            errors.fold(0.0, |worst, error| if error > worst || error.is_nan() { error } else { worst });
        let mut warnings: Vec<_> = measured.warnings.iter().map(ToString::to_string).collect();
        // So few digits are told to be certain that what is wrong is not among them.
        let few = run.error.iter().filter(|estimate| {
            estimate.digits() > 0 && estimate.relative > RIGHT / HONEST && HONEST * estimate.relative >= error
        });
        warnings.extend(few.map(ToString::to_string));
        Outcome::Ended { error, warnings }
    }
}

impl Answer {
    /// `x = 0.5 of 1 <- …`
    fn read(note: &str) -> Answer {
        let stated = note.split(" <- ").next().unwrap_or(note).trim();
        let (quantity, number) =
            stated.split_once(" = ").unwrap_or_else(|| panic!("`{stated}` is no answer"));
        let (number, scale) = number.split_once(" of ").unwrap_or((number, number));
        let parsed =
            |text: &str| text.trim().parse::<f64>().unwrap_or_else(|_| panic!("`{stated}` has no number"));
        let answer = Answer {
            quantity: quantity.trim().to_owned(),
            value: parsed(number),
            scale: parsed(scale).abs(),
        };
        assert!(answer.scale > 0.0 && answer.scale.is_finite(), "say what `{stated}` is relative to: `of 1`");
        answer
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers")
}

/// Runs models on all cores, and gives what came of them in their order.
fn run_all(models: &[Model]) -> Vec<Outcome> {
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((i, model)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, models.get(i)?)))
                {
                    let before = std::time::Instant::now();
                    let outcome = model.run();
                    println!("{:8.3} s  {}: {}", before.elapsed().as_secs_f64(), model.name, shown(&outcome));
                    outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((i, outcome));
                }
            });
        }
    });
    let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(outcomes.len(), models.len(), "a model made the program panic");
    outcomes.sort_by_key(|(i, _)| *i);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

fn shown(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ended { error, warnings } => {
            format!("{error:.1e}{}", warnings.iter().fold(String::new(), |all, warning| all + "; " + warning))
        }
        Outcome::Refused(why) => format!("refused: {why}"),
    }
}

/// What came of the models. Fails for silent wrongs.
fn check(models: &[Model]) -> Vec<Outcome> {
    let outcomes = run_all(models);
    let all = || models.iter().zip(&outcomes);
    let silent: Vec<_> = all().filter(|(_, outcome)| outcome.is_silent()).collect();
    let right = outcomes.iter().filter(|outcome| outcome.is_right()).count();
    let alarmed = all().filter(|(_, outcome)| matches!(outcome, Outcome::Ended { warnings, .. } if outcome.is_right() && !warnings.is_empty()));
    println!(
        "{} models with known answers: {right} right ({} of them with a warning), {} silently wrong",
        models.len(),
        alarmed.count(),
        silent.len()
    );
    let silent = silent.into_iter().fold(String::new(), |mut all, (model, outcome)| {
        let _ = writeln!(all, "{}: {}", model.name, shown(outcome));
        all
    });
    assert!(silent.is_empty(), "silently wrong:\n{silent}");
    outcomes
}

#[test]
fn models_with_known_answers_are_right_or_somebody_is_told() {
    let models: Vec<_> = Model::all().into_iter().filter(|model| !model.long).collect();
    check(&models);
}

#[test]
#[ignore = "long"]
fn all_models_with_known_answers_are_right_or_somebody_is_told() {
    let models = Model::all();
    let outcomes = check(&models);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let page = std::fs::read_to_string(page()).unwrap();
        let (before, rest) = page.split_once(BEGIN).unwrap();
        let (_, after) = rest.split_once(END).unwrap();
        std::fs::write(self::page(), format!("{before}{BEGIN}{}{END}{after}", table(&models, &outcomes)))
            .unwrap();
    }
}

const BEGIN: &str =
    "<!-- made by: UPDATE_GOLDEN=1 cargo test -p leastaction-simulate --test all answers -- --ignored -->\n";
const END: &str = "<!-- end -->";

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/known-answers.md")
}

/// Errors are shown by their power of ten: more of them changes with every method that is mended.
fn table(models: &[Model], outcomes: &[Outcome]) -> String {
    let mut rows: Vec<_> = models.iter().zip(outcomes).collect();
    rows.sort_by_key(|(model, _)| &model.kind);
    let head = "| model | kind | the answer is from | error | what is reported |\n|---|---|---|---|---|\n"
        .to_owned();
    rows.into_iter().fold(head, |mut table, (Model { name, kind, source, .. }, outcome)| {
        let (error, message) = match outcome {
            Outcome::Ended { error, warnings } if *error > 0.0 => {
                (format!("1e{}", error.log10().ceil()), warnings.join("; "))
            }
            Outcome::Ended { warnings, .. } => ("0".to_owned(), warnings.join("; ")),
            Outcome::Refused(why) => ("–".to_owned(), why.clone()),
        };
        let message = if outcome.is_silent() { "**nothing**".to_owned() } else { message };
        let _ =
            writeln!(table, "| `{name}` | {kind} | {source} | {error} | {} |", message.replace('|', "\\|"));
        table
    })
}

#[test]
fn the_page_lists_every_model() {
    let page = std::fs::read_to_string(page()).unwrap();
    let listed = |model: &Model| page.contains(&format!("| `{}` | {} |", model.name, model.kind));
    let missing: Vec<_> =
        Model::all().into_iter().filter(|model| !listed(model)).map(|model| model.name).collect();
    assert!(missing.is_empty(), "write the table of the page anew, it lacks {missing:?}");
}

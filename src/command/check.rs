//! `leastaction check`: finds what is wrong with .motion files.

use super::Failure;
use super::source::{open_file, unprepared};
use clap::Args;
use leastaction::Graph;
use leastaction::simulate::Overrides;

#[derive(Args)]
#[command(
    after_help = "What is wrong is an error. What is allowed and hardly meant is a warning: names that are never used, angles that look like\n\
                  degrees, gravity that points up, events that can never happen, starts that are moved far to meet the constraints.\n\n\
                  Exit codes: 0 nothing wrong, perhaps with warnings; 1 an error; 2 wrong usage.\n\n\
                  Examples:\n  leastaction check swing.motion\n  leastaction check *.motion"
)]
pub(crate) struct Check {
    /// Files to check; `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
}

impl Check {
    pub(super) fn execute(self) -> Result<String, Failure> {
        let (mut out, mut wrong) = (String::new(), Vec::new());
        for path in &self.files {
            match check(path) {
                Ok(found) => out.push_str(&format!("{path}: {found}\n")),
                Err(failure) => wrong.push(failure),
            }
        }
        if wrong.is_empty() {
            return Ok(out);
        }
        let code = wrong.iter().map(|failure| failure.code).min().unwrap_or(1);
        let lines: Vec<&str> = wrong.iter().map(|failure| failure.message.trim_end()).collect();
        Err(Failure { code, said: out, message: lines.join("\n") })
    }
}

/// Everything that can be wrong before a run: the text, the equations of motion, the initial condition, the method, the outputs. What is
/// doubtful is shown below.
fn check(path: &str) -> Result<String, Failure> {
    let (graph, source) = (Graph::new(), open_file(path)?);
    let problem = source.problem(&graph, &Overrides::default()).and_then(|mut problem| {
        problem.planned_method()?;
        problem.outputs()?;
        Ok(problem)
    });
    let mut problem = problem.map_err(|error| unprepared(&source, &error))?;
    let moved = problem.moved_far().map_err(Failure::run)?;
    let doubts = problem.setup.doubts.iter().map(|doubt| doubt.render(&source.title, &source.text, false));
    let moved = moved.map(|moved| format!("Warning: {}: {moved}", source.title));
    let warnings: Vec<String> = doubts.chain(moved).collect();
    let system = problem.dynamics.system();
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut counts = vec![count(system.degrees(), "coordinate")];
    if !system.constraints().is_empty() {
        counts.push(count(system.constraints().len(), "constraint"));
    }
    let wrong = match warnings.len() {
        0 => "nothing wrong".to_owned(),
        many => count(many, "warning"),
    };
    let below: String = warnings.iter().map(|warning| format!("\n{warning}")).collect();
    Ok(format!("{}, {wrong}{below}", counts.join(", ")))
}

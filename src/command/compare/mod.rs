//! `leastaction compare`: several methods on one system, what they cost and how well they do.

mod rows;

use super::files::apart;
use super::pictures::plot_file;
use super::progress::Watcher;
use super::run::several;
use super::setting::{Beginning, Seed};
use super::source::{title, unprepared};
use super::{Failure, table};
use clap::Args;
use leastaction::integrate::number;
use leastaction::plot::{Comparison, Contender};
use leastaction::simulate::{PrepareError, Problem, Reference, applies};
use leastaction::{Card, Graph, Integrator, METHODS, Pace, Tolerance};
use rows::{Row, Rows};
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "The error at the end is the largest error of coordinates, or of momenta, relative to the largest of them; the reference is a run \
                  at the finest tolerance. With one step or tolerance the table is sorted, the best method first; with several, rows keep the order \
                  of the command. A plot shows at most 8 methods: those that are named, then those that no other method beats in both \
                  drift and cost (`--methods all,rk4` compares all, with rk4 in the plot). A time is the shortest of up to three, and includes what a method compiles for itself.\n\n\
                  Examples:\n  leastaction compare pendulum --methods rk4,verlet,blanes-moan4,gauss6\n  \
                  leastaction compare double-pendulum --methods all --until 5 --plot compare.svg\n  \
                  leastaction compare two-body --methods dop853,vern9,taylor --tol 1e-6,1e-9,1e-12\n  \
                  leastaction compare pendulum --methods verlet --step 0.1,0.05,0.025 --out order.csv"
)]
pub(crate) struct Compare {
    #[command(flatten)]
    beginning: Beginning,
    #[command(flatten)]
    seed: Seed,
    /// The methods, separated by commas, or `all` for all that apply
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all")]
    methods: Vec<String>,
    /// Use this step size, or several, separated by commas [default: that of the system]
    #[arg(long, value_name = "H", value_delimiter = ',', allow_hyphen_values = true)]
    step: Vec<f64>,
    /// Use this relative tolerance, or several, separated by commas, for methods that choose their steps
    #[arg(long, value_name = "TOL", value_delimiter = ',', conflicts_with = "step")]
    tol: Vec<f64>,
    /// Write the table to a file, .csv or .json; may be repeated
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,
    /// Plot errors of the energy against time to a file, .svg or .png; may be repeated
    #[arg(long, value_name = "FILE", value_parser = plot_file)]
    plot: Vec<PathBuf>,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

impl Compare {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        apart(&self.out, &self.beginning.what.system)?;
        apart(&self.plot, &self.beginning.what.system)?;
        self.out.iter().try_for_each(|path| rows::check(path))?;
        let asked = self.cards()?;
        let (graph, source) = (Graph::new(), self.beginning.what.source()?);
        let prepared = source.problem(&graph, &self.beginning.overrides(self.seed.seed));
        let prepared = prepared.and_then(|mut problem| {
            problem.check_no_resets("comparisons of methods do", || {
                "compare them on the model without it, or `run` it by each --method".to_owned()
            })?;
            Ok((self.paces(&mut problem)?, problem))
        });
        let (paces, problem) = prepared.map_err(|error| unprepared(&source, &error))?;
        let system = problem.dynamics.system();
        let conserved = system.conserves_hamiltonian();
        if !conserved && !self.plot.is_empty() {
            let why = "the energy of this system changes by itself: there is no error of it to plot";
            return Err(Failure::usage(why));
        }
        let (cards, left) = match asked {
            Some(cards) => (cards, Vec::new()),
            None => {
                METHODS.iter().partition(|card| paces.iter().any(|pace| applies(card, pace, system.facts())))
            }
        };
        let steps = self.beginning.max_steps;
        let mut watcher = Watcher::new(!self.quiet)?;
        let reference = problem
            .reference(steps, |part| watcher.tell(0.0, || format!("reference, {:.0} %", 100.0 * part)));
        let (reference, unknown) = match reference {
            Ok(reference) => (reference, None),
            Err(error) => (None, Some(format!("there is none: {error}"))),
        };
        let contests: Vec<(&'static Card, &Pace)> =
            cards.iter().flat_map(|card| paces.iter().map(move |pace| (*card, pace))).collect();
        let doubt = reference.as_ref().map(|reference| reference.doubt);
        let mut rows = Rows { rows: Vec::new(), conserved, constrained: system.facts().constrained, doubt };
        for (i, &(card, pace)) in contests.iter().enumerate() {
            let integrator = Integrator::new(card, pace.clone()).at_most(steps);
            let trial = problem.trial(&integrator, |part| {
                watcher.tell((i as f64 + part) / contests.len() as f64, || card.name.to_owned())
            });
            let outcome = match trial {
                Ok(None) => break,
                Ok(Some(run)) => Ok(run),
                Err(error) => Err(error.to_string()),
            };
            let near = reference.as_ref().zip(outcome.as_ref().ok());
            let error = near.map(|(reference, run)| reference.error(run));
            rows.rows.push(Row { card, pace: pace.clone(), outcome, error });
        }
        let interrupted = watcher.is_interrupted();
        watcher.finish();
        let by = watcher.interruption();
        if paces.len() == 1 {
            rows.sort();
        }

        let span = format!("t = {} to {}", number(&problem.start.t), number(&problem.until));
        let (mut files, mut errors) = (Vec::new(), Vec::new());
        for path in self.out.iter().filter(|_| !rows.rows.is_empty()) {
            match rows.write(path) {
                Ok(()) => files.push(path.display().to_string()),
                Err(error) => errors.push(error.to_string()),
            }
        }
        let plot = self.comparison(&problem.name, &span, &rows, paces.len() > 1);
        for path in self.plot.iter().filter(|_| !plot.contenders.is_empty()) {
            match plot.save(path) {
                Ok(()) => files.push(path.display().to_string()),
                Err(error) => errors.push(error.to_string()),
            }
        }
        let row = |name: &str, text: String| vec![name.to_owned(), text];
        let mut head = vec![row("system", title(&problem.name, &problem.setup.about)), row("run", span)];
        head.extend(reference.map(|reference| {
            let Reference { method, tolerance, doubt, .. } = reference;
            row("reference", format!("{method} at a tolerance of {tolerance:e}, known to about {doubt:.1e}"))
        }));
        head.extend(unknown.map(|why| row("reference", why)));
        if !left.is_empty() {
            let names: Vec<_> = left.iter().map(|card| card.name).collect();
            head.push(row(
                "left out",
                format!("{} (they do not apply, or need a step: --step)", names.join(", ")),
            ));
        }
        head.extend((!files.is_empty()).then(|| row("files", files.join(", "))));
        if interrupted {
            head.push(row(
                "stopped",
                format!("by {by} after {} of {} runs", rows.rows.len(), contests.len()),
            ));
        }
        let text = if self.quiet { String::new() } else { format!("{}\n{}", table(&head), rows.text()) };
        let ran = rows.rows.iter().any(|row| row.outcome.is_ok());
        if !ran && !interrupted {
            errors.insert(0, "no method could run".to_owned());
        }
        match (interrupted, errors.is_empty()) {
            (true, _) => Err(Failure::interrupted(by, several(&errors)).saying(text)),
            (false, false) => Err(Failure::run(several(&errors)).saying(text)),
            (false, true) => Ok(text),
        }
    }

    /// The methods that are named; nothing if all are compared.
    fn cards(&self) -> Result<Option<Vec<&'static Card>>, Failure> {
        let names = || self.methods.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
        let mut cards: Vec<&'static Card> = Vec::new();
        for name in names().filter(|name| *name != "all") {
            let card = Card::named(name).map_err(Failure::usage)?;
            if !cards.iter().any(|other| other.name == card.name) {
                cards.push(card);
            }
        }
        if names().any(|name| name == "all") {
            return Ok(None);
        }
        if cards.is_empty() {
            return Err(Failure::usage("which methods? (--methods rk4,gauss6, or --methods all)"));
        }
        Ok(Some(cards))
    }

    /// The requested steps or tolerances, or the usual one.
    fn paces(&self, problem: &mut Problem<'_>) -> Result<Vec<Pace>, PrepareError> {
        if !self.tol.is_empty() {
            return Ok(self.tol.iter().map(|tol| Pace::Tolerance(Tolerance::relative(*tol))).collect());
        }
        if !self.step.is_empty() {
            return Ok(self.step.iter().map(|step| Pace::Step(*step)).collect());
        }
        match problem.planned_pace()? {
            Some(pace) => Ok(vec![pace]),
            None => Ok(vec![problem.choice(None)?.integrator.pace().clone()]),
        }
    }

    fn comparison(&self, system: &str, span: &str, rows: &Rows, paced: bool) -> Comparison {
        let named: Vec<&str> = self.methods.iter().map(|name| name.trim()).collect();
        let contenders = rows.rows.iter().filter_map(|row| {
            let run = row.outcome.as_ref().ok()?;
            let name =
                if paced { format!("{}, {}", row.card.name, row.pace()) } else { row.card.name.to_owned() };
            Some(Contender {
                asked: named.contains(&row.card.name),
                name,
                times: run.times.clone(),
                errors: run.changes.iter().map(|change| change.abs()).collect(),
                work: run.work.evaluations as f64,
            })
        });
        let contenders: Vec<_> = contenders.collect();
        let pace =
            rows.rows.first().filter(|_| !paced).map_or(String::new(), |row| format!(", {}", row.pace));
        Comparison {
            title: system.to_owned(),
            subtitle: format!("{span}{pace}"),
            measure: "relative error of the energy".to_owned(),
            work: "evaluations".to_owned(),
            contenders,
        }
    }
}

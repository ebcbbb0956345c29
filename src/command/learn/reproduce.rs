//! `leastaction learn reproduce`: every architecture on every system of a publication, together with the published numbers.

use super::super::Failure;
use super::super::progress::Watcher;
use super::{Places, curve, list, threads};
use clap::Args;
use leastaction::learn::evaluate::Band;
use leastaction::learn::reproduce::{
    Budget, CASES, Case, Outcome, ReproduceError, Reproduction, curves_csv, efficiency_markdown, markdown,
    published, results_csv,
};
use leastaction::learn::train::TrainError;
use leastaction::learn::{DataError, architecture::ALL, architecture::Card, architecture_named};
use leastaction::output::{check, replace};
use leastaction::plot::{Curve, CurveChart, Curves};
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(
    after_help = "Systems: 1-, 2-, 3- and 5-Pendulum, 3-CoupledPendulum, MagnetPendulum, Gyroscope, Rotor; models: chnn, clnn, hnn, delan, neural-ode, lnn.\n\
    The folder keeps datasets, what is learned (for `leastaction learn rollout`), and results: the same command goes on where it was broken off, and another one\n\
    with more systems, models or seeds does only what is missing. At the end there are report.md, results.csv, curves.csv and four plots;\n\
    with several numbers of trajectories, efficiency.md and efficiency.svg, and a folder for each number.\n\n\
    Exit codes: 0 success, 1 a trajectory failed or a file is damaged, 2 wrong usage, 130 interrupted.\n\n\
    Examples:\n  \
    leastaction learn reproduce --quick --out comparison\n  \
    leastaction learn reproduce --quick --systems 3-Pendulum --models chnn,hnn --train 10,100,1000 --out efficiency\n  \
    leastaction learn reproduce --full --systems 3-Pendulum,Gyroscope --models chnn,hnn --seeds 3 --out full"
)]
#[command(group = clap::ArgGroup::new("budget").required(true).args(["quick", "full"]))]
pub(crate) struct Reproduce {
    /// Small networks and few steps: minutes
    #[arg(long)]
    quick: bool,
    /// As it was published, 8000 steps of networks of 256 units: hours
    #[arg(long)]
    full: bool,
    /// Keep everything in this folder
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Only these systems
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    systems: Vec<String>,
    /// Only these models
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    models: Vec<String>,
    /// Train each model with this number of seeds
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Change weights by: adamw, muon or soap [default: soap, or adamw, as it was published, with --full]
    #[arg(long, value_name = "NAME")]
    optimizer: Option<String>,
    /// Make this number of optimizer steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// The numbers of units in the hidden layers of each network
    #[arg(long, value_name = "N,N,…", value_parser = list)]
    hidden: Option<Places>,
    /// Use this number of trajectories for training; with several numbers, as 10,100,1000, show how errors depend on them
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    train: Vec<u64>,
    /// Use this number of trajectories for tests
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    test: Option<u64>,
    /// Use this number of threads [default: as many as the machine can run at once]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Say nothing but errors
    #[arg(long)]
    quiet: bool,
}

impl Reproduce {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        match self.train.len() {
            0 | 1 => self.compare(),
            _ => self.compare_numbers(),
        }
    }

    /// All with each of several numbers of trajectories, and how errors depend on them.
    fn compare_numbers(&self) -> Result<String, Failure> {
        let mut counts = self.train.clone();
        counts.sort_unstable();
        if let Some(pair) = counts.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Failure::usage(format!("{} trajectories are asked for twice (--train)", pair[0])));
        }
        std::fs::create_dir_all(&self.out)
            .map_err(|error| Failure::usage(format!("cannot make `{}`: {error}", self.out.display())))?;
        let plot = self.out.join("efficiency.svg");
        check(&plot).map_err(Failure::usage)?;
        let mut watcher = Watcher::new(!self.quiet)?;
        let mut all = Vec::new();
        for (place, &count) in counts.iter().enumerate() {
            let reproduction =
                self.reproduction(Some(count), &self.out.join(format!("trajectories-{count}")))?;
            let done = reproduction.run(|at| {
                let part = (place as f64 + at.fraction) / counts.len() as f64;
                watcher.tell(part, || format!("{count} trajectories, {}: {}", at.case.name, at.what))
            });
            let Some(outcomes) = done.map_err(|error| failure(&error))? else {
                watcher.finish();
                let message = "interrupted: the same command goes on";
                return Err(Failure::interrupted(watcher.interruption(), message));
            };
            all.push((count, outcomes));
        }
        watcher.finish();
        let text = efficiency_markdown(&all, &self.reproduction(None, &self.out)?.budget, &self.command());
        let written = replace(&self.out.join("efficiency.md"), |writer| writer.write_all(text.as_bytes()));
        written.map_err(Failure::run)?;
        efficiency_plot(&all).save(&plot).map_err(Failure::run)?;
        let written = format!("written to {}: efficiency.md, efficiency.svg\n", self.out.display());
        Ok(if self.quiet { String::new() } else { text + "\n" + &written })
    }

    /// What is asked for, with so many trajectories.
    fn reproduction(&self, train: Option<u64>, folder: &Path) -> Result<Reproduction, Failure> {
        let mut budget = if self.full { Budget::full() } else { Budget::quick() };
        budget.seeds = self.seeds;
        if let Some(name) = &self.optimizer {
            budget.optimizer = name.parse().map_err(Failure::usage)?;
        }
        budget.steps = self.steps.unwrap_or(budget.steps);
        budget.hidden = self.hidden.clone().map_or(budget.hidden, |hidden| hidden.0);
        budget.split[0] = train.map_or(budget.split[0], |count| count as usize);
        budget.split[2] = self.test.map_or(budget.split[2], |count| count as usize);
        budget.batch = budget.batch.min(budget.split[0]);
        Ok(Reproduction {
            folder: folder.to_owned(),
            cases: self.cases()?,
            architectures: self.architectures()?,
            threads: threads(self.threads),
            budget,
        })
    }

    /// The comparison with one number of trajectories.
    fn compare(&self) -> Result<String, Failure> {
        let reproduction = self.reproduction(self.train.first().copied(), &self.out)?;
        std::fs::create_dir_all(&self.out)
            .map_err(|error| Failure::usage(format!("cannot make `{}`: {error}", self.out.display())))?;
        check(&self.out.join("report.md")).map_err(Failure::usage)?;
        let mut watcher = Watcher::new(!self.quiet)?;
        let done = reproduction
            .run(|place| watcher.tell(place.fraction, || format!("{}: {}", place.case.name, place.what)));
        watcher.finish();
        let outcomes = match done.map_err(|error| failure(&error))? {
            Some(outcomes) => outcomes,
            None => {
                let message = "interrupted: the same command goes on";
                return Err(Failure::interrupted(watcher.interruption(), message));
            }
        };
        let report = markdown(&outcomes, &reproduction.budget, &self.command(), reproduction.threads);
        let files = [
            ("report.md", report),
            ("results.csv", results_csv(&outcomes)),
            ("curves.csv", curves_csv(&outcomes)),
        ];
        for (name, text) in &files {
            let written = replace(&self.out.join(name), |writer| writer.write_all(text.as_bytes()));
            written.map_err(Failure::run)?;
        }
        for (name, curves) in pictures(&outcomes, &reproduction) {
            curves.save(&self.out.join(name)).map_err(Failure::run)?;
        }
        if self.quiet {
            return Ok(String::new());
        }
        let rows = outcomes.iter().map(|outcome| {
            let paper = published(&outcome.case, &outcome.title);
            vec![
                outcome.case.clone(),
                outcome.title.clone(),
                outcome.seed.to_string(),
                outcome.steps.to_string(),
                format!("{:.2e}", outcome.geometric_mean),
                paper.map_or("–".to_owned(), |paper| format!("{:.2e}", paper.geometric_mean)),
                format!("{:.0e}", outcome.energy_mean),
                format!("{:.0e}", outcome.violation_most),
                format!("{:.0}", outcome.seconds),
            ]
        });
        let head =
            ["system", "model", "seed", "steps", "error", "published", "energy", "violation", "seconds"];
        let rows: Vec<_> = std::iter::once(head.map(str::to_owned).to_vec()).chain(rows).collect();
        let files =
            "report.md, results.csv, curves.csv, errors.svg, energies.svg, violations.svg, published.svg";
        Ok(format!("{}written to {}: {files}\n", super::super::table(&rows), self.out.display()))
    }

    fn cases(&self) -> Result<Vec<&'static Case>, Failure> {
        let named = |name: &String| {
            let found = CASES.iter().find(|case| case.name.eq_ignore_ascii_case(name.trim()));
            found.ok_or_else(|| {
                let known: Vec<&str> = CASES.iter().map(|case| case.name).collect();
                Failure::usage(format!(
                    "there is no system `{name}` in the comparison: there are {}",
                    known.join(", ")
                ))
            })
        };
        match self.systems.is_empty() {
            true => Ok(CASES.iter().collect()),
            false => {
                distinct(self.systems.iter().map(named).collect::<Result<Vec<_>, _>>()?, |case| case.name)
            }
        }
    }

    fn architectures(&self) -> Result<Vec<&'static Card>, Failure> {
        let compared = ALL.iter().filter(|card| {
            let published = ["chnn", "clnn", "hnn", "delan", "neural-ode"];
            published.contains(&card.name)
        });
        let named = |name: &String| architecture_named(name.trim()).map_err(Failure::usage);
        match self.models.is_empty() {
            true => Ok(compared.collect()),
            false => {
                distinct(self.models.iter().map(named).collect::<Result<Vec<_>, _>>()?, |card| card.name)
            }
        }
    }

    /// The command that makes the same again.
    fn command(&self) -> String {
        let mut words = vec!["leastaction learn reproduce".to_owned()];
        words.push(if self.full { "--full" } else { "--quick" }.to_owned());
        let list = |name: &str, values: &[String]| match values.is_empty() {
            true => None,
            false => Some(format!("--{name} {}", values.join(","))),
        };
        words.extend(list("systems", &self.systems));
        words.extend(list("models", &self.models));
        let numbers: Vec<String> =
            self.hidden.iter().flat_map(|hidden| &hidden.0).map(usize::to_string).collect();
        words.extend(list("hidden", &numbers));
        words.extend(self.optimizer.iter().map(|name| format!("--optimizer {name}")));
        let counts: Vec<String> = self.train.iter().map(u64::to_string).collect();
        words.extend(self.steps.iter().map(|steps| format!("--steps {steps}")));
        words.extend(list("train", &counts));
        words.extend(self.test.iter().map(|test| format!("--test {test}")));
        words.extend((self.seeds > 1).then(|| format!("--seeds {}", self.seeds)));
        words.push(format!("--out {}", self.out.display()));
        words.join(" ")
    }
}

/// Nothing is done twice.
fn distinct<T: Copy>(list: Vec<T>, name: impl Fn(T) -> &'static str) -> Result<Vec<T>, Failure> {
    for (place, &item) in list.iter().enumerate() {
        if list[..place].iter().any(|&other| name(other) == name(item)) {
            return Err(Failure::usage(format!("`{}` is asked for twice", name(item))));
        }
    }
    Ok(list)
}

/// Errors against numbers of trajectories, a chart for each system.
fn efficiency_plot(all: &[(u64, Vec<Outcome>)]) -> Curves {
    let first = all.first().map_or(&[][..], |(_, outcomes)| outcomes);
    let mut cases: Vec<&str> = first.iter().map(|outcome| outcome.case.as_str()).collect();
    cases.dedup();
    let chart = |case: &&str| {
        let models = first.iter().filter(|outcome| outcome.case == *case && outcome.seed == 0);
        let curve = |(index, model): (usize, &Outcome)| {
            let own = |outcome: &&Outcome| {
                (&outcome.case, &outcome.name, outcome.seed) == (&model.case, &model.name, 0)
            };
            let point = |(count, outcomes): &(u64, Vec<Outcome>)| {
                outcomes.iter().find(own).map(|outcome| [*count as f64, outcome.geometric_mean])
            };
            let points = all.iter().filter_map(point).collect();
            Curve { name: model.title.clone(), points, band: Vec::new(), index }
        };
        CurveChart {
            title: (*case).to_owned(),
            labels: ["trajectories".to_owned(), "relative error".to_owned()],
            log: [true, true],
            curves: models.enumerate().map(curve).collect(),
            ..CurveChart::default()
        }
    };
    let charts: Vec<CurveChart> = cases.iter().map(chart).collect();
    Curves {
        title: "Relative errors against trajectories to learn from".to_owned(),
        subtitle: "geometric means over time and trajectories that were not learned from".to_owned(),
        columns: charts.into_iter().map(|chart| vec![chart]).collect(),
    }
}

/// Whose fault an error is.
fn failure(error: &ReproduceError) -> Failure {
    match error {
        ReproduceError::Train { source: TrainError::Plan(_) | TrainError::Recipe(_), .. } => {
            Failure::usage(error)
        }
        ReproduceError::Recipe(_) | ReproduceError::Folder { .. } | ReproduceError::Other { .. } => {
            Failure::usage(error)
        }
        ReproduceError::Data(DataError::Short { .. }) => Failure::usage(error),
        _ => Failure::run(error),
    }
}

/// Errors over time, of the motion, of the energy and of constraints, and their means with the published ones.
fn pictures(outcomes: &[Outcome], reproduction: &Reproduction) -> Vec<(&'static str, Curves)> {
    let models: Vec<&str> =
        std::iter::once("truth").chain(reproduction.architectures.iter().map(|card| card.name)).collect();
    let index = |outcome: &Outcome| models.iter().position(|name| *name == outcome.name).unwrap_or(0);
    let subtitle = format!(
        "geometric means over {} trajectories; {} steps of training",
        reproduction.budget.split[2], reproduction.budget.steps
    );
    let over_time = |title: &str, label: &str, band: fn(&Outcome) -> &Band| {
        let chart = |case: &&Case| CurveChart {
            title: case.name.to_owned(),
            labels: ["t".to_owned(), label.to_owned()],
            log: [false, true],
            // Of several seeds the first is shown.
            curves: outcomes
                .iter()
                .filter(|outcome| outcome.case == case.name && outcome.seed == 0)
                .filter(|outcome| !band(outcome).middle.is_empty())
                .map(|outcome| curve(&outcome.title, &outcome.times(), band(outcome), index(outcome)))
                .collect(),
            ..CurveChart::default()
        };
        let charts: Vec<CurveChart> =
            reproduction.cases.iter().map(chart).filter(|chart| !chart.curves.is_empty()).collect();
        // Two rows, if there are more charts than fit into one.
        let rows = if charts.len() > 3 { 2 } else { 1 };
        let columns = charts.chunks(rows).map(<[CurveChart]>::to_vec).collect();
        Curves { title: title.to_owned(), subtitle: subtitle.clone(), columns }
    };
    let points = models.iter().enumerate().filter_map(|(index, model)| {
        let own = outcomes.iter().filter(|outcome| outcome.name == *model);
        let points: Vec<[f64; 2]> = own
            .clone()
            .filter_map(|o| Some([published(&o.case, &o.title)?.geometric_mean, o.geometric_mean]))
            .collect();
        let name = own.map(|outcome| outcome.title.clone()).next()?;
        Some(Curve { name, points, band: Vec::new(), index })
    });
    let panel = CurveChart {
        title: String::new(),
        labels: ["published".to_owned(), "here".to_owned()],
        log: [true, true],
        points: true,
        diagonal: true,
        curves: points.collect(),
    };
    let summed = Curves {
        title: "Relative errors beside the published ones".to_owned(),
        subtitle: format!("a point for each system, below the line where they are smaller here; {subtitle}"),
        columns: vec![vec![panel]],
    };
    vec![
        ("errors.svg", over_time("Relative error of predictions", "relative error", |o| &o.error)),
        ("energies.svg", over_time("Error of the energy along predictions", "error", |o| &o.energy)),
        ("violations.svg", over_time("Violation of constraints", "violation", |o| &o.violation)),
        ("published.svg", summed),
    ]
}

//! `leastaction section`: a Poincaré section, the points where orbits pass a surface.

mod picture;

use super::files::apart;
use super::pictures::plot_file;
use super::progress::Watcher;
use super::run::several;
use super::setting::{Seed, Setting};
use super::source::{refused, title, unprepared};
use super::summary::counted;
use super::{Failure, table};
use clap::Args;
use leastaction::Graph;
use leastaction::integrate::{number, rounded};
use leastaction::language::Direction;
use leastaction::output::{Format, check, write};
use leastaction::plot::{Orbit as Plotted, Section as Plot};
use leastaction::simulate::{Fan, Level, Section as Prepared, SectionPlan, describe};
use std::path::PathBuf;

/// At most this number of orbits that went wrong is printed, one by one.
const MOST_LOST: usize = 5;

#[derive(Args)]
#[command(
    after_help = "The surface is an expression that passes 0, or an equation: of t, coordinates, velocities (x'), momenta (p_x) and all other names of the \
                  model, such as points (bob.y), bodies (arm.angle), definitions, outputs and energies (energy, kinetic, potential). For an angle that grows without limit, use its sine, which passes 0 in every turn: --through \"sin(th)\".\n\n\
                  Examples:\n  leastaction section henon-heiles --through x --rising --show y,p_y --plot section.svg\n  \
                  leastaction section henon-heiles --through x --rising --energy 0.125 --solve p_x --vary y=-0.3..0.6 --orbits 20 \
                  --plot section.svg --out points.csv\n  \
                  leastaction section double-pendulum --through \"sin(th1)\" --rising --show \"sin(th2),p_th2\" --count 2000"
)]
pub(crate) struct Section {
    #[command(flatten)]
    setting: Setting,
    #[command(flatten)]
    seed: Seed,
    /// The surface: where this expression passes 0, or this equation holds
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    through: String,
    /// Only where the expression increases
    #[arg(long, conflicts_with = "falling")]
    rising: bool,
    /// Only where the expression decreases
    #[arg(long)]
    falling: bool,
    /// The two quantities of the section [default: a coordinate that is not held, and its momentum]
    #[arg(long, value_name = "A,B", allow_hyphen_values = true)]
    show: Option<String>,
    /// Follow this number of orbits
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    orbits: u32,
    /// Start the orbits at evenly spread values of a coordinate, a velocity or a momentum
    #[arg(long, value_name = "NAME=FROM..TO", value_parser = fan, allow_hyphen_values = true)]
    vary: Option<Fan>,
    /// Start all orbits with this energy
    #[arg(long, value_name = "E", allow_hyphen_values = true, requires = "solve")]
    energy: Option<f64>,
    /// Change this coordinate, velocity or momentum to reach the energy
    #[arg(long, value_name = "NAME", requires = "energy")]
    solve: Option<String>,
    /// Find this number of points of each orbit
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
    /// Use this number of threads [default: as many as the machine can run at once]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    threads: Option<u64>,
    /// Write the points to a file, by its ending: .csv, .npz (NumPy), .parquet or .json; may be repeated
    #[arg(long, value_name = "FILE")]
    out: Vec<PathBuf>,
    /// Write a plot to a file, .svg or .png; may be repeated
    #[arg(long, value_name = "FILE", value_parser = plot_file)]
    plot: Vec<PathBuf>,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

impl Section {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        apart(&self.out, &self.setting.beginning.what.system)?;
        apart(&self.plot, &self.setting.beginning.what.system)?;
        let endings = self.out.iter().try_for_each(|path| Format::of(path).and_then(|_| check(path)));
        endings.map_err(Failure::usage)?;
        let plan = self.plan()?;
        let (graph, source) = (Graph::new(), self.setting.beginning.what.source()?);
        let overrides = self.setting.overrides(self.seed.seed);
        let prepared = source.problem(&graph, &overrides).and_then(|mut problem| {
            let section = Prepared::new(&source, &mut problem, &plan, &overrides)?;
            Ok((problem, section))
        });
        let (problem, section) = prepared.map_err(|error| unprepared(&source, &error))?;
        let (starts, names) = (&section.starts, &section.names);
        if starts.is_empty() {
            let lost: Vec<_> = section.lost.iter().take(MOST_LOST).map(ToString::to_string).collect();
            return Err(Failure::usage(several(&lost)));
        }

        let mut watcher = Watcher::new(!self.quiet)?;
        let run = section.run(|progress| {
            let place =
                || format!("{} of {} orbits, {} points", progress.orbits, starts.len(), progress.points);
            watcher.tell(progress.fraction, place)
        });
        watcher.finish();
        let by = watcher.interruption();
        let run = run.map_err(|error| refused(&error))?;
        let (points, lost) = (&run.points, &run.lost);
        let broken = run.interrupted.map(|i| format!("by {by} after {i} of {} orbits", starts.len()));
        let passed = format!("{}{}", section.surface, self.direction());
        if points.is_empty() && broken.is_none() {
            let reasons = lost.iter().take(MOST_LOST).map(|why| format!("\n  {why}")).collect::<String>();
            return Err(Failure::run(format!("no orbit passes {passed}{reasons}")));
        }

        let conserved = section.dynamics.system().conserves_hamiltonian();
        let ended = broken.as_ref().map_or_else(|| "complete".to_owned(), |why| format!("stopped {why}"));
        let about = describe(&problem.name, &section.integrator, &section.dynamics, ended);
        let (mut files, mut errors) = (Vec::new(), Vec::new());
        for path in &self.out {
            match write(path, &points.table(), &about) {
                Ok(()) => files.push(path.display().to_string()),
                Err(error) => errors.push(error.to_string()),
            }
        }
        let subtitle = {
            let (points, orbits) =
                (counted(points.len() as u64, "point"), counted(starts.len() as u64, "orbit"));
            format!("{passed}: {points} of {orbits}, by {}", about.method)
        };
        let plot = Plot {
            title: problem.name.clone(),
            subtitle: subtitle.clone(),
            labels: names.clone(),
            orbits: points
                .orbits()
                .map(|(i, points)| Plotted {
                    name: starts.get(i).map_or(String::new(), |s| s.name.clone()),
                    points,
                })
                .collect(),
        };
        for path in self.plot.iter().filter(|_| !points.is_empty()) {
            match plot.save(path) {
                Ok(()) => files.push(path.display().to_string()),
                Err(error) => errors.push(error.to_string()),
            }
        }

        let row = |name: &str, text: String| vec![name.to_owned(), text];
        let times = points.times();
        let mut rows = vec![
            row("system", title(&problem.name, &problem.setup.about)),
            row("section", format!("{passed}; shown are {} and {}", names[0], names[1])),
            row("method", format!("{} by {}", about.method, about.pace)),
        ];
        rows.extend(section.why.iter().map(|why| row("because", why.clone())));
        rows.push(row("orbits", self.fan(starts.len())));
        rows.push(row(
            "points",
            format!("{}, t from {} to {}", points.len(), short(times[0]), short(times[1])),
        ));
        rows.extend(
            conserved
                .then(|| row("energy", format!("at most {:.2e} off (relative, at the points)", run.drift))),
        );
        rows.push(row(
            "time",
            format!(
                "{:.3} s to compile, {:.3} s to run",
                problem.compile.as_secs_f64(),
                run.wall.as_secs_f64()
            ),
        ));
        rows.extend((!files.is_empty()).then(|| row("files", files.join(", "))));
        rows.extend(broken.iter().map(|why| row("stopped", why.clone())));
        rows.extend(lost.iter().take(MOST_LOST).map(|why| row("warning", why.to_string())));
        if lost.len() > MOST_LOST {
            rows.push(row("warning", format!("and {} more", lost.len() - MOST_LOST)));
        }
        let mut text = if self.quiet { String::new() } else { table(&rows) };
        if !self.quiet && self.out.is_empty() && self.plot.is_empty() {
            text += &picture::picture(points, names);
        }
        match (broken.is_some(), errors.is_empty()) {
            (true, _) => Err(Failure::interrupted(by, several(&errors)).saying(text)),
            (false, false) => Err(Failure::run(several(&errors)).saying(text)),
            (false, true) => Ok(text),
        }
    }

    /// What is asked of the section.
    fn plan(&self) -> Result<SectionPlan, Failure> {
        let two = |text: &str| match <[String; 2]>::try_from(split(text)) {
            Ok(both) if both.iter().all(|part| !part.is_empty()) => Ok(both),
            _ => Err(Failure::usage(format!("`{text}` are not two expressions: write --show y,p_y"))),
        };
        Ok(SectionPlan {
            through: self.through.clone(),
            direction: match (self.rising, self.falling) {
                (true, _) => Direction::Rising,
                (_, true) => Direction::Falling,
                _ => Direction::Both,
            },
            shown: self.show.as_deref().map(two).transpose()?,
            orbits: self.orbits as usize,
            vary: self.vary.clone(),
            level: self.energy.zip(self.solve.clone()).map(|(energy, solve)| Level { energy, solve }),
            count: self.count as usize,
            threads: self.threads.map(|threads| threads as usize),
        })
    }

    fn direction(&self) -> &'static str {
        match (self.rising, self.falling) {
            (true, _) => ", rising",
            (_, true) => ", falling",
            _ => "",
        }
    }

    /// How many orbits there are, and how their starts differ.
    fn fan(&self, orbits: usize) -> String {
        let varied = self
            .vary
            .as_ref()
            .map(|fan| format!(", {} from {} to {}", fan.name, number(&fan.from), number(&fan.to)));
        let level = self.energy.as_ref().zip(self.solve.as_ref());
        let level = level.map(|(energy, solve)| format!(", {solve} for the energy {}", number(energy)));
        format!("{orbits}{}{}", varied.unwrap_or_default(), level.unwrap_or_default())
    }
}

/// Reads `NAME=FROM..TO`.
fn fan(text: &str) -> Result<Fan, String> {
    let usage = || format!("`{text}`: write NAME=FROM..TO, such as y=-0.2..0.4");
    let (name, range) = text.split_once('=').ok_or_else(usage)?;
    let (from, to) = range.split_once("..").ok_or_else(usage)?;
    let value = |text: &str| {
        let text = text.trim();
        text.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| format!("`{text}` is not a number"))
    };
    if name.trim().is_empty() {
        return Err(usage());
    }
    Ok(Fan { name: name.trim().to_owned(), from: value(from)?, to: value(to)? })
}

/// Parts between commas that are not inside brackets.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0_i32);
    for letter in text.chars() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        match (letter, depth, parts.last_mut()) {
            (',', 0, _) => parts.push(String::new()),
            (_, _, Some(part)) => part.push(letter),
            _ => {}
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

/// Four digits of a number.
fn short(value: f64) -> String {
    rounded(value, 4)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;

    #[test]
    fn fans_are_read() {
        let wide = fan("y = -0.5 .. 1e0").unwrap();
        assert_eq!(wide, Fan { name: "y".to_owned(), from: -0.5, to: 1.0 });
        for bad in ["y", "y=1", "y=1..", "=1..2", "y=a..b", "y=0..inf"] {
            assert!(fan(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn commas_inside_brackets_separate_nothing() {
        assert_eq!(split("y, p_y"), ["y", "p_y"]);
        assert_eq!(split("atan2(y, x), p_y"), ["atan2(y, x)", "p_y"]);
    }
}

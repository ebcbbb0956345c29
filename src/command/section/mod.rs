//! `leastaction section`: a Poincaré section, the points where orbits pass a surface.
//!
//! Each step is looked into by its polynomial, and points are where that passes the surface (M. Hénon, Physica D 5 (1982) 412,
//! doi:10.1016/0167-2789(82)90034-3, integrates onto it instead).

mod points;
mod starts;
mod surface;

use super::pictures::plot_file;
use super::progress::Watcher;
use super::run::several;
use super::setting::{Seed, Setting};
use super::source::{refused, told, unprepared};
use super::{Failure, table};
use clap::Args;
use leastaction::integrate::number;
use leastaction::output::{Format, check, write};
use leastaction::plot::{Orbit as Plotted, Section as Plot};
use leastaction::simulate::{Method, PrepareError, Problem, describe};
use leastaction::{Event, Graph, Integrator, Observable, Pace, Reason, RunError, energy_scale};
use points::Points;
use starts::{Fan, Level, Start, fan, short, starts};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

/// Progress and Ctrl-C are looked at every so many steps.
const STEPS: u64 = 64;
/// An orbit that does not pass the surface for so many times the time of a usual run is given up, unless an end is asked for.
const DRY: f64 = 100.0;
/// And it is followed no longer than so many times that.
const LONGEST: f64 = 1e6;
/// So many orbits that went wrong are told about, one by one.
const TOLD: usize = 5;

#[derive(Args)]
#[command(
    after_help = "The surface is an expression of coordinates, velocities (x'), momenta (p_x), parameters and t that passes 0, or \
                  an equation. An angle that turns over and over passes it at every turn by its sine: --through \"sin(th)\".\n\n\
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
    /// Where orbits are looked at: where an expression passes 0, or an equation holds
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    through: String,
    /// Only where the expression grows
    #[arg(long, conflicts_with = "falling")]
    rising: bool,
    /// Only where it shrinks
    #[arg(long)]
    falling: bool,
    /// What is shown [default: a coordinate that is not held, and its momentum]
    #[arg(long, value_name = "A,B", allow_hyphen_values = true)]
    show: Option<String>,
    /// Follow so many orbits
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    orbits: u32,
    /// Start the orbits at evenly spread values of a coordinate, a velocity or a momentum
    #[arg(long, value_name = "NAME=FROM..TO", value_parser = fan, allow_hyphen_values = true)]
    vary: Option<Fan>,
    /// Start all orbits with this energy
    #[arg(long, value_name = "E", allow_hyphen_values = true, requires = "solve")]
    energy: Option<f64>,
    /// By changing this coordinate, velocity or momentum
    #[arg(long, value_name = "NAME", requires = "energy")]
    solve: Option<String>,
    /// Find so many points of each orbit
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,
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

/// How an orbit is followed.
struct Chase {
    integrator: Integrator,
    end: f64,
    /// How long is waited for a point; for ever if an end was asked for.
    patience: f64,
    shown: [Observable; 2],
}

impl Section {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        let endings = self.out.iter().try_for_each(|path| Format::of(path).and_then(|_| check(path)));
        endings.map_err(Failure::usage)?;
        let level = self.energy.zip(self.solve.clone()).map(|(energy, solve)| Level { energy, solve });
        let surface = surface::vanishing(&self.through)?;
        let (graph, source) = (Graph::new(), self.setting.beginning.source()?);
        let overrides = self.setting.overrides(self.seed.seed);
        let wrong = |error: PrepareError| unprepared(&source, &error);
        let mut problem = source.problem(&graph, &overrides).map_err(wrong)?;
        let Method { integrator, why } = problem.method(&overrides).map_err(wrong)?;
        let dynamics = &mut problem.dynamics;
        let unclear = |what: &str, error| Failure::usage(format!("`{what}`: {error}"));
        let passing = dynamics.observable(&surface).map_err(|error| unclear(&self.through, error))?;
        let passing = Event::new(passing);
        let passing = match (self.rising, self.falling) {
            (true, _) => passing.rising(),
            (_, true) => passing.falling(),
            _ => passing,
        };
        let names = surface::shown(self.show.as_deref(), &self.through, dynamics)?;
        let mut shown = [None; 2];
        for (shown, name) in shown.iter_mut().zip(&names) {
            *shown = Some(dynamics.observable(name).map_err(|error| unclear(name, error))?);
        }
        let [Some(a), Some(b)] = shown else { return Err(Failure::usage("nothing is shown")) };
        let chase = self.chase(integrator.event(passing), problem.start.t, problem.until, [a, b]);
        let orbits = self.orbits as usize;
        let (starts, mut lost) =
            starts((&source, self.seed.seed), &mut problem, orbits, self.vary.as_ref(), level.as_ref())?;
        if starts.is_empty() {
            return Err(Failure::usage(several(&lost[..lost.len().min(TOLD)])));
        }

        let mut points = Points::new(problem.dynamics.system(), &names);
        let mut watcher = Watcher::new(!self.quiet)?;
        let before = Instant::now();
        let (mut drift, mut broken) = (0.0_f64, None);
        for (i, start) in starts.iter().enumerate() {
            let followed =
                self.follow(&chase, start, i, starts.len(), &mut problem, &mut points, &mut watcher)?;
            drift = drift.max(followed.drift);
            lost.extend(followed.lost.map(|why| named(&start.name, why)));
            if watcher.is_interrupted() {
                broken = Some(format!("by Ctrl-C in orbit {} of {}", i + 1, starts.len()));
                break;
            }
        }
        let wall = before.elapsed();
        watcher.finish();
        if points.is_empty() && broken.is_none() {
            let nothing = format!("no orbit passes {}{}", surface::told(&self.through), self.sense());
            let reasons = lost.iter().take(TOLD).map(|why| format!("\n  {why}")).collect::<String>();
            return Err(Failure::run(format!("{nothing}{reasons}")));
        }

        let conserved = problem.dynamics.system().conserved().contains(&"energy");
        let ended = broken.as_ref().map_or_else(|| "complete".to_owned(), |why| format!("stopped {why}"));
        let about = describe(&problem.name, &chase.integrator, &problem.dynamics, ended);
        let (mut files, mut errors) = (Vec::new(), Vec::new());
        for path in &self.out {
            match write(path, points.record(), &about) {
                Ok(()) => files.push(path.display().to_string()),
                Err(error) => errors.push(error.to_string()),
            }
        }
        let passed = format!("{}{}", surface::told(&self.through), self.sense());
        let subtitle =
            format!("{passed}: {} points of {} orbits, by {}", points.len(), starts.len(), about.method);
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
            row("system", told(&problem.name, &problem.setup.about)),
            row("section", format!("{passed}; shown are {} and {}", names[0], names[1])),
            row("method", format!("{} by {}", about.method, about.pace)),
        ];
        rows.extend(why.map(|why| row("because", why)));
        rows.push(row("orbits", self.fan(starts.len(), level.as_ref())));
        rows.push(row(
            "points",
            format!("{}, t from {} to {}", points.len(), short(times[0]), short(times[1])),
        ));
        rows.extend(
            conserved.then(|| row("energy", format!("at most {drift:.2e} off (relative, at the points)"))),
        );
        rows.push(row(
            "time",
            format!("{:.3} s to compile, {:.3} s to run", problem.compile.as_secs_f64(), wall.as_secs_f64()),
        ));
        rows.extend((!files.is_empty()).then(|| row("files", files.join(", "))));
        rows.extend(broken.iter().map(|why| row("stopped", why.clone())));
        rows.extend(lost.iter().take(TOLD).map(|why| row("warning", why.clone())));
        if lost.len() > TOLD {
            rows.push(row("warning", format!("and {} more", lost.len() - TOLD)));
        }
        let mut text = if self.quiet { String::new() } else { table(&rows) };
        if !self.quiet && self.out.is_empty() && self.plot.is_empty() {
            text += &points.picture(&names);
        }
        match (broken.is_some(), errors.is_empty()) {
            (true, _) => Err(Failure::interrupted(several(&errors)).saying(text)),
            (false, false) => Err(Failure::run(several(&errors)).saying(text)),
            (false, true) => Ok(text),
        }
    }

    fn sense(&self) -> &'static str {
        match (self.rising, self.falling) {
            (true, _) => ", rising",
            (_, true) => ", falling",
            _ => "",
        }
    }

    /// How many orbits there are, and what tells them apart.
    fn fan(&self, orbits: usize, level: Option<&Level>) -> String {
        let varied = self
            .vary
            .as_ref()
            .map(|fan| format!(", {} from {} to {}", fan.name, number(&fan.from), number(&fan.to)));
        let level = level.map(|level| format!(", {} for the energy {}", level.solve, number(&level.energy)));
        format!("{orbits}{}{}", varied.unwrap_or_default(), level.unwrap_or_default())
    }

    /// How orbits are followed: until the end that was asked for, or as long as points are found.
    fn chase(&self, integrator: Integrator, start: f64, until: f64, shown: [Observable; 2]) -> Chase {
        let asked = self.setting.beginning.until.is_some();
        let span = until - start;
        let end = match (asked, integrator.pace()) {
            (true, _) => until,
            (false, Pace::Step(step)) => {
                let most = 0.99 * self.setting.beginning.max_steps as f64 * step.abs();
                start + span.signum() * (LONGEST * span.abs()).min(most)
            }
            (false, _) => start + LONGEST * span,
        };
        let patience = if asked { f64::INFINITY } else { DRY * span.abs() };
        Chase { integrator: integrator.every(STEPS), end, patience, shown }
    }

    /// Follows an orbit, and takes down its points.
    #[allow(clippy::too_many_arguments)] // it is called once
    fn follow(
        &self,
        chase: &Chase,
        start: &Start,
        index: usize,
        orbits: usize,
        problem: &mut Problem<'_>,
        points: &mut Points,
        watcher: &mut Watcher,
    ) -> Result<Followed, Failure> {
        let dynamics = &mut problem.dynamics;
        let scale = energy_scale(dynamics, &start.state).map_err(Failure::run)?;
        let mut first = [0.0];
        dynamics.energy(&[start.state.t], &start.state.block(), &mut first).map_err(Failure::run)?;
        let (count, mut found, mut last, mut drift) = (self.count as usize, 0, start.state.t, 0.0_f64);
        let mut dry = false;
        let ended = chase.integrator.observe(dynamics, &start.state, chase.end, |sample| {
            if sample.event.is_some() {
                let energy =
                    points.add(index, sample.t, sample.block.values(), sample.dynamics, chase.shown)?;
                drift = drift.max((energy - first[0]).abs() / scale);
                (found, last) = (found + 1, sample.t);
            }
            dry = (sample.t - last).abs() > chase.patience;
            let fraction = (index as f64 + found as f64 / count as f64) / orbits as f64;
            let flow = watcher.tell(fraction, || format!("orbit {} of {orbits}, {found} points", index + 1));
            Ok(if found >= count || dry { ControlFlow::Break(()) } else { flow })
        });
        let fewer = || format!("{found} points instead of {count}");
        let lost = match ended {
            Ok(_) if found >= count => None,
            Ok(_) if dry => Some(format!("{}: none follows for {}", fewer(), number(&chase.patience))),
            Ok(end) if end.reason == Reason::Complete => {
                Some(format!("{} until t = {}", fewer(), number(&end.t)))
            }
            Ok(_) => None,
            Err(
                error @ (RunError::Step(_)
                | RunError::Eval(_)
                | RunError::NotFinite { .. }
                | RunError::StepTooShort { .. }
                | RunError::OutOfSteps { .. }),
            ) => Some(format!("{}: {error}", fewer())),
            Err(error) => return Err(refused(&error)),
        };
        Ok(Followed { drift, lost })
    }
}

/// What became of an orbit.
struct Followed {
    /// By how much its energy was off, relatively.
    drift: f64,
    /// Why it has fewer points than were asked for.
    lost: Option<String>,
}

fn named(name: &str, text: String) -> String {
    if name.is_empty() { text } else { format!("{name}: {text}") }
}

//! `leastaction watch`: a system that moves, in the terminal.
//!
//! ```text
//! Setting ─► PlaybackPlan ─► Playback: a thread computes snapshots ahead   simulate
//!                        │
//!   keys ─► View, Clock ─┤  which snapshot, and how it is seen          view.rs, clock.rs
//!                        ▼
//!   Canvas ◄─ Picture, or graphs                                    canvas.rs, picture.rs, graphs.rs
//!     ▼
//!   Frame ─► Screen: writes what has changed                        status.rs, screen.rs, signals.rs
//! ```

mod clock;
mod graphs;
mod picture;
mod relief;
mod screen;
mod signals;
mod status;
mod view;

use super::Failure;
use super::canvas::{Canvas, Ink};
use super::setting::{Seed, Setting};
use super::source::{refused, unprepared};
use clap::Args;
use clock::Clock;
use crossterm::event::{self, Event as Input, KeyEventKind};
use leastaction::output::Held;
use leastaction::plot::SceneError;
use leastaction::simulate::{Playback, PlaybackPlan, Problem, Snapshot};
use leastaction::{Graph, Integrator, Pace, Reason};
use picture::Picture;
use screen::{Frame, Palette, Screen};
use signals::Signals;
use status::{Title, digits, rough};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};
use view::{Show, View, Wish, usual_speed};

/// Pictures follow each other after this time.
const FRAME: Duration = Duration::from_millis(33);
/// A picture that took longer than this makes time stand still meanwhile.
const HITCH: f64 = 0.25;
/// Snapshots per second, at the speed to begin with.
const SNAPSHOTS: f64 = 120.0;
/// To know the bounds of a motion, this long is waited for what lies ahead.
const PATIENCE: Duration = Duration::from_millis(200);
/// A note is shown so long, in seconds.
const NOTE: f64 = 5.0;
/// Less than this is too small to see something.
const SMALLEST: [usize; 2] = [30, 8];

#[derive(Args)]
#[command(after_help = "Keys:\n  + -     faster, slower (1: the speed to begin with)\n  \
                  z Z     larger, smaller (0: as it fits)\n  \
                  arrows  turn a motion in space; up and down zoom in a plane\n  \
                  t T     longer, shorter trails\n  space   pause, and go on\n  .       one picture further\n  \
                  r       restart\n  v       drawing, graphs, phase portraits\n  ?       show the keys\n  \
                  q Esc   quit\n\n\
                  Examples:\n  leastaction watch double-pendulum\n  leastaction watch outer-solar-system --speed 1000\n  \
                  leastaction watch coupled-chain --size 20 --start th1=1")]
pub(crate) struct Watch {
    #[command(flatten)]
    setting: Setting,
    #[command(flatten)]
    seed: Seed,
    /// Show this much time of the model per second; 1 is real time [default: 1, unless the run would then take minutes, or be over at once]
    #[arg(long, value_name = "X", value_parser = speed)]
    speed: Option<f64>,
}

fn speed(text: &str) -> Result<f64, String> {
    match text.trim().parse() {
        Ok(speed) if speed > 0.0 && f64::is_finite(speed) => Ok(speed),
        Ok(_) => Err("a speed is above 0 (--until with a time before 0 leads back in time)".to_owned()),
        Err(_) => Err(format!("`{}` is not a number", text.trim())),
    }
}

/// What is watched.
struct Stage {
    plan: PlaybackPlan,
    title: Title,
    picture: Option<Picture>,
    coordinates: Vec<String>,
    velocities: Vec<String>,
    /// The names of events.
    events: Vec<String>,
    /// What is said at first.
    note: Option<String>,
}

impl Watch {
    pub(crate) fn execute(self) -> Result<String, Failure> {
        check_terminal()?;
        let (graph, source) = (Graph::new(), self.setting.beginning.what.source()?);
        let overrides = self.setting.overrides(self.seed.seed);
        let prepared = source.problem(&graph, &overrides).and_then(|mut problem| {
            let integrator = problem.method(&overrides)?.integrator;
            let integrator = problem.with_events(integrator)?;
            Ok((problem, integrator))
        });
        let (problem, integrator) = prepared.map_err(|error| unprepared(&source, &error))?;
        let span = problem.until - problem.start.t;
        let speed = self.speed.unwrap_or_else(|| usual_speed(span));
        let note = (self.speed.is_none() && speed != 1.0).then(|| {
            let (span, time) = (rough(span.abs()), (span.abs() / speed).round());
            format!("{span} units of time are shown in about {time} s (--speed 1: in real time)")
        });
        let stage = Stage::new(problem, integrator, speed, self.setting.beginning.until, note)?;
        let signals = Signals::listen().map_err(Failure::run)?;
        let shown = stage.show(speed, &signals);
        signals.obey();
        shown.map(|()| String::new())
    }
}

/// A picture that moves needs something to move on.
fn check_terminal() -> Result<(), Failure> {
    let instead = "to get a picture in a file, use `leastaction run SYSTEM --plot FILE.svg`";
    if !io::stdout().is_terminal() {
        return Err(Failure::usage(format!("standard output is not a terminal: {instead}")));
    }
    match std::env::var("TERM") {
        Ok(term) if term == "dumb" => {
            Err(Failure::usage(format!("a terminal with TERM=dumb cannot be drawn on: {instead}")))
        }
        _ => Ok(()),
    }
}

impl Stage {
    fn new(
        problem: Problem<'_>,
        integrator: Integrator,
        speed: f64,
        until: Option<f64>,
        note: Option<String>,
    ) -> Result<Stage, Failure> {
        let system = problem.dynamics.system().clone();
        let places: Vec<_> = system.places().iter().map(|p| (p.name.clone(), p.dimensions)).collect();
        let rate = |name: &str| system.velocities().position(name);
        let held = Held::names(&system).coordinates;
        let coordinate = |name: &str| {
            let held = || held.iter().position(|other| other == name).map(|i| system.degrees() + i);
            system.coordinates().position(name).or_else(held)
        };
        let picture = match Picture::new(&problem.setup.drawing, &places, rate, coordinate) {
            Ok(picture) => Some(picture),
            Err(SceneError::Nothing) => None,
            Err(error) => return Err(Failure::run(error)),
        };
        let plan = PlaybackPlan::new(&problem, integrator, until, speed / SNAPSHOTS);
        let integrator = &plan.integrator;
        let pace = match integrator.pace() {
            Pace::Tolerance(tolerance) => format!("tol {}", rough(tolerance.relative)),
            Pace::Step(step) => format!("step {}", rough(*step)),
            pace @ Pace::Density(_) => pace.to_string(),
        };
        let title = Title {
            name: problem.name.clone(),
            method: format!("{}, {pace}", integrator.card().name),
            conserved: system.conserves_energy(),
            digits: digits(speed),
        };
        Ok(Stage {
            plan,
            title,
            picture,
            coordinates: system.coordinates().iter().collect(),
            velocities: system.velocities().iter().collect(),
            events: problem.events(),
            note,
        })
    }

    /// Shows the motion until a key or a signal ends it.
    fn show(mut self, speed: f64, signals: &Signals) -> Result<(), Failure> {
        let start = self.plan.start.t;
        let mut playback = Playback::new(&self.plan).map_err(|error| refused(&error))?;
        playback.wind_ahead(start, PATIENCE);
        let mut clock = Clock::new(start, self.plan.end);
        let mut view =
            View::new(speed, self.picture.as_ref().is_some_and(Picture::is_solid), self.picture.is_some());
        let mut screen = Screen::take(Palette::of(|name| std::env::var(name).ok())).map_err(lost)?;
        let (begun, mut before) = (Instant::now(), Instant::now());
        while !signals.came() {
            playback.wind(clock.now);
            let snapshot = playback.at(clock.now);
            let seconds = before.elapsed().as_secs_f64().min(HITCH);
            before = Instant::now();
            let (columns, rows) = crossterm::terminal::size().map_err(lost)?;
            let mut frame = Frame::new(usize::from(columns), usize::from(rows));
            let noted = begun.elapsed().as_secs_f64() < NOTE;
            self.paint(&mut frame, &playback, &snapshot, &view, &clock, (seconds, noted));
            screen.show(frame).map_err(lost)?;
            let mut step = false;
            while event::poll(FRAME.saturating_sub(before.elapsed())).map_err(lost)? {
                let wish = match event::read().map_err(lost)? {
                    Input::Key(key) if key.kind != KeyEventKind::Release => view.press(key),
                    Input::Resize(..) => {
                        screen.forget();
                        Wish::Nothing
                    }
                    _ => Wish::Nothing,
                };
                match wish {
                    Wish::Nothing => {}
                    Wish::Step => step = true,
                    Wish::Restart => {
                        playback = Playback::new(&self.plan).map_err(|error| refused(&error))?;
                        playback.wind_ahead(start, PATIENCE);
                        clock = Clock::new(start, self.plan.end);
                        before = Instant::now();
                    }
                    Wish::Suspend => {
                        #[cfg(unix)]
                        screen.suspend().map_err(lost)?;
                        before = Instant::now();
                    }
                    Wish::Quit => return ending(&playback, &clock),
                }
            }
            let passed = match () {
                () if step => FRAME.as_secs_f64(),
                () if view.paused => 0.0,
                () => before.elapsed().as_secs_f64().min(HITCH),
            };
            clock.pass(passed, view.speed, playback.last(), playback.end.is_some());
        }
        Ok(())
    }

    /// Paints everything, given the seconds since the last time, and whether the first note is still shown.
    fn paint(
        &mut self,
        frame: &mut Frame,
        playback: &Playback,
        snapshot: &Snapshot,
        view: &View,
        clock: &Clock,
        (seconds, noted): (f64, bool),
    ) {
        let [columns, rows] = [frame.columns, frame.rows];
        if columns < SMALLEST[0] || rows < SMALLEST[1] {
            let text = format!("{columns}×{rows} is too small:");
            let wish = format!("make it {}×{}", SMALLEST[0], SMALLEST[1]);
            frame.write(0, 0, &text, Ink::Plain);
            frame.write(0, 1, &wish, Ink::Plain);
            return;
        }
        let mut canvas = Canvas::new(columns, rows - 2 - usize::from(view.help));
        match (view.show, &mut self.picture) {
            (Show::Drawing, Some(picture)) => {
                picture.draw(&mut canvas, playback, snapshot, view, seconds);
                frame.lay(&canvas, 1);
            }
            (Show::Phases, _) if !self.velocities.is_empty() && !snapshot.velocities.is_empty() => {
                let pairs = self.coordinates.iter().cloned().zip(self.velocities.iter().cloned());
                graphs::phases(frame, &mut canvas, 1, &pairs.collect::<Vec<_>>(), playback, snapshot, view);
            }
            _ => graphs::against_time(frame, &mut canvas, 1, &self.coordinates, playback, snapshot, view),
        }
        self.title.head(frame, view, clock);
        let note = self.note(playback, clock, noted);
        self.title.foot(frame, playback, snapshot, note.as_ref().map(|(text, ink)| (text.as_str(), *ink)));
        if view.help {
            frame.write(0, rows - 2, view.keys(), Ink::Faint);
        }
    }

    /// What there is to say instead of energies.
    fn note(&self, playback: &Playback, clock: &Clock, noted: bool) -> Option<(String, Ink)> {
        let event = |i: usize| self.events.get(i).map_or("an event", String::as_str);
        let over = clock.now == playback.last();
        match &playback.end {
            Some(Err(error)) if over => return Some((error.to_string(), Ink::Warning)),
            Some(Ok(Reason::Event(i))) if over => {
                return Some((format!("{} ends the run: r restarts, q quits", event(*i)), Ink::Strong));
            }
            Some(Ok(Reason::Accumulated(i))) if over => {
                return Some((format!("{} comes to rest here: r restarts, q quits", event(*i)), Ink::Strong));
            }
            Some(Ok(Reason::Complete)) if over => {
                return Some(("the run ends here: r restarts, q quits".to_owned(), Ink::Strong));
            }
            _ => {}
        }
        let happened =
            playback.event(clock.now).filter(|(t, _)| (clock.now - t).abs() < self.plan.spacing * SNAPSHOTS);
        if let Some((t, i)) = happened {
            return Some((format!("{} at t = {:.*}", event(i), self.title.digits + 2, t), Ink::Strong));
        }
        self.note.clone().filter(|_| noted).map(|text| (text, Ink::Strong))
    }
}

/// A playback that broke, and was watched until there, is a run that failed.
fn ending(playback: &Playback, clock: &Clock) -> Result<(), Failure> {
    match &playback.end {
        Some(Err(error)) if clock.now == playback.last() => Err(Failure::run(error)),
        _ => Ok(()),
    }
}

/// The terminal went away, or does not do what terminals do.
fn lost(error: io::Error) -> Failure {
    Failure::run(format!("the terminal cannot be used: {error}"))
}

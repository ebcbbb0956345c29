//! What goes on for a while: a bar on a terminal, and what interrupts it.

use super::Failure;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use leastaction::Moment;
use leastaction::integrate::number;
use signal_hook::{consts, flag};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What is over sooner shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// The clock is looked at about so often.
const GLANCE: Duration = Duration::from_millis(10);
/// Letters of the bar.
const LETTERS: usize = 30;

/// A bar on standard error, with the time left: only on a terminal, and only for what takes longer than a second.
struct Bar {
    bar: Option<ProgressBar>,
    begun: Instant,
    /// How much was done then: what was resumed does not begin at 0.
    first: Option<f64>,
    shown: bool,
}

impl Bar {
    /// A bar for what begins now, if it is wanted.
    pub(super) fn new(wanted: bool) -> Bar {
        let bar = (wanted && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Bar { bar, begun: Instant::now(), first: None, shown: false }
    }

    /// Whether there is anybody to look at it.
    pub(super) fn is_seen(&self) -> bool {
        self.bar.is_some()
    }

    /// Shows how much is done, from 0 to 1, and where that is.
    pub(super) fn show(&mut self, fraction: f64, place: &str) {
        let (elapsed, Some(bar)) = (self.begun.elapsed(), &self.bar) else { return };
        let first = *self.first.get_or_insert(fraction);
        if elapsed > PATIENCE {
            // The whole line at once: a position and a message would be drawn one after the other.
            bar.set_message(line([first, fraction], place, elapsed.as_secs_f64()));
            self.shown = true;
        }
    }

    /// It is over: the bar goes.
    pub(super) fn finish(&mut self) {
        if let Some(bar) = self.bar.take().filter(|_| self.shown) {
            bar.finish_and_clear();
        }
    }
}

/// What interrupted a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interruption {
    /// A person at the keyboard.
    CtrlC,
    /// A system that shuts down, or a batch system at the end of its time.
    Terminate,
    /// A terminal or a connection that is closed.
    HangUp,
}

impl Interruption {
    const ALL: [Interruption; 3] = [Interruption::CtrlC, Interruption::Terminate, Interruption::HangUp];

    fn signal(self) -> i32 {
        match self {
            Interruption::CtrlC => consts::SIGINT,
            Interruption::Terminate => consts::SIGTERM,
            // Where there is no such signal (Windows), its number on other systems.
            Interruption::HangUp => 1,
        }
    }

    /// The exit code: 128 and the number of the signal, as shells say it.
    pub(super) fn code(self) -> u8 {
        128 + self.signal() as u8
    }

    /// Whether it is to be listened to. Who starts a run by `nohup` wants it to survive its terminal.
    fn is_heard(self) -> bool {
        self != Interruption::HangUp || cfg!(unix) && !ignored(self.signal())
    }
}

impl std::fmt::Display for Interruption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Interruption::CtrlC => "Ctrl-C",
            Interruption::Terminate => "SIGTERM",
            Interruption::HangUp => "SIGHUP",
        })
    }
}

/// Whether the command was started with a signal ignored: on Linux by its status, elsewhere by the lack of a terminal.
fn ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").ok();
    let mask = status.as_deref().and_then(|text| text.lines().find_map(|line| line.strip_prefix("SigIgn:")));
    match mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(mask) => mask >> (signal - 1) & 1 == 1,
        None => !std::io::stdout().is_terminal() && !std::io::stderr().is_terminal(),
    }
}

/// Who watches over a run.
pub(super) struct Watcher {
    interrupted: Arc<AtomicBool>,
    /// The signal that came last; 0 if none did.
    signal: Arc<AtomicUsize>,
    bar: Bar,
    /// The clock is read only after some steps, and next after this one.
    stride: u64,
    next: u64,
    looked: Instant,
}

impl Watcher {
    /// From now on Ctrl-C, SIGTERM and SIGHUP interrupt the run, and a second Ctrl-C or SIGTERM ends the command at once. A bar is shown if it is wanted.
    pub(super) fn new(bar: bool) -> Result<Watcher, Failure> {
        let (interrupted, signal) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        for by in Interruption::ALL.into_iter().filter(|by| by.is_heard()) {
            let number = by.signal();
            // A terminal that is closed says so more than once.
            let at_once = match by {
                Interruption::HangUp => Ok(()),
                _ => {
                    let code = i32::from(by.code());
                    flag::register_conditional_shutdown(number, code, interrupted.clone()).map(drop)
                }
            };
            at_once
                .and_then(|()| flag::register_usize(number, signal.clone(), number as usize))
                .and_then(|_| flag::register(number, interrupted.clone()))
                .map_err(|error| Failure::run(format!("cannot listen to {by}: {error}")))?;
        }
        Ok(Watcher { interrupted, signal, bar: Bar::new(bar), stride: 1, next: 0, looked: Instant::now() })
    }

    /// What interrupted the run last; Ctrl-C if nothing did.
    pub(super) fn interruption(&self) -> Interruption {
        let signal = self.signal.load(Ordering::Relaxed);
        let came = Interruption::ALL.into_iter().find(|by| by.signal() as usize == signal);
        came.unwrap_or(Interruption::CtrlC)
    }

    /// What becomes true when the run is interrupted.
    pub(super) fn interrupted(&self) -> Arc<AtomicBool> {
        self.interrupted.clone()
    }

    /// Whether the run is interrupted.
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Looks at a step.
    pub(super) fn watch(&mut self, moment: &Moment<'_, '_>) -> ControlFlow<()> {
        if self.is_interrupted() {
            return ControlFlow::Break(());
        }
        if self.bar.is_seen() {
            let steps = moment.work().steps;
            if steps >= self.next {
                self.look(moment);
                self.next = steps + self.stride;
            }
        }
        ControlFlow::Continue(())
    }

    /// Looks at work that is not measured by steps: how much of it is done, NaN if nobody knows, and what to say of it.
    pub(super) fn tell(&mut self, fraction: f64, message: impl Fn() -> String) -> ControlFlow<()> {
        if self.is_interrupted() {
            return ControlFlow::Break(());
        }
        if self.bar.is_seen() && self.looked.elapsed() > GLANCE {
            self.looked = Instant::now();
            self.bar.show(fraction, &message());
        }
        ControlFlow::Continue(())
    }

    fn look(&mut self, moment: &Moment<'_, '_>) {
        let since = self.looked.elapsed();
        self.looked += since;
        self.stride = if since < GLANCE { self.stride * 2 } else { (self.stride / 2).max(1) };
        let t = format!("{:.4e}", moment.t()).parse().unwrap_or_else(|_| moment.t());
        self.bar.show(moment.fraction(), &format!("t = {}", number(&t)));
    }

    /// The run is over.
    pub(super) fn finish(&mut self) {
        self.bar.finish();
    }
}

/// The progress as a bar and in numbers, and the time that is left, from what is done now, what was done before, and the seconds between.
fn line([first, fraction]: [f64; 2], place: &str, elapsed: f64) -> String {
    if fraction.is_nan() {
        // Nobody knows how much there is.
        return place.to_owned();
    }
    let fraction = if fraction.is_finite() { fraction.clamp(0.0, 1.0) } else { 0.0 };
    let done = (fraction * LETTERS as f64) as usize;
    let tip = if done < LETTERS { ">" } else { "" };
    let rest = " ".repeat((LETTERS - done).saturating_sub(1));
    let left = match fraction > first {
        true => duration(elapsed * (1.0 - fraction) / (fraction - first)),
        false => "?".to_owned(),
    };
    let percent = (fraction * 100.0) as u32;
    format!("[{}{tip}{rest}] {percent:>3} %  {place}, {left} left", "=".repeat(done))
}

/// A time in seconds, or minutes, or hours.
fn duration(seconds: f64) -> String {
    let whole = seconds.clamp(0.0, 1e9).round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{}:{:02} min", whole / 60, whole % 60),
        _ => format!("{}:{:02} h", whole / 3600, whole / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_line_tells_the_fraction_the_place_and_the_time_left() {
        let line = super::line([0.0, 0.4], "t = 815.1", 2.0);
        assert_eq!(line, "[============>                 ]  40 %  t = 815.1, 3 s left");
        assert_eq!(
            super::line([0.0, 0.0], "t = 0", 2.0),
            format!("[>{}]   0 %  t = 0, ? left", " ".repeat(29))
        );
        assert_eq!(
            super::line([0.0, 1.0], "t = 9", 2.0),
            format!("[{}] 100 %  t = 9, 0 s left", "=".repeat(30))
        );
        // A fifth took two seconds, after what was done before.
        assert!(super::line([0.5, 0.7], "t = 9", 2.0).ends_with("t = 9, 3 s left"));
        assert_eq!(super::line([0.0, f64::NAN], "run 7", 2.0), "run 7");
    }

    #[test]
    fn times_left_are_printed() {
        let shown = [0.2, 59.4, 59.6, 3599.0, 7300.0].map(super::duration);
        assert_eq!(shown, ["0 s", "59 s", "1:00 min", "59:59 min", "2:01 h"]);
    }
}

//! What goes on for a while: a bar on a terminal, and Ctrl-C.

use super::Failure;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use leastaction::Moment;
use leastaction::integrate::number;
use signal_hook::{consts::SIGINT, flag};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What is over sooner shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// The clock is looked at about so often.
const GLANCE: Duration = Duration::from_millis(10);
/// Parts of the bar.
const PARTS: u64 = 1000;

/// A bar on standard error, with the time left: only on a terminal, and only for what takes longer than a second.
pub(super) struct Bar {
    bar: Option<ProgressBar>,
    begun: Instant,
    shown: bool,
}

impl Bar {
    /// A bar for what begins now, if it is wanted.
    pub(super) fn new(wanted: bool) -> Bar {
        let bar = (wanted && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(PARTS), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("[{bar:30}] {percent:>3} %  {msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "))
        });
        Bar { bar, begun: Instant::now(), shown: false }
    }

    /// Whether there is anybody to look at it.
    pub(super) fn is_seen(&self) -> bool {
        self.bar.is_some()
    }

    /// Shows how much is done, from 0 to 1, and where that is.
    pub(super) fn show(&mut self, fraction: f64, place: &str) {
        let (elapsed, Some(bar)) = (self.begun.elapsed(), &self.bar) else { return };
        if elapsed > PATIENCE {
            let elapsed = elapsed.as_secs_f64();
            let left = if fraction > 0.0 { told(elapsed / fraction - elapsed) } else { "?".to_owned() };
            bar.set_message(format!("{place}, {left} left"));
            bar.set_position((fraction * PARTS as f64) as u64);
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

/// Who watches over a run.
pub(super) struct Watcher {
    interrupted: Arc<AtomicBool>,
    bar: Bar,
    /// The clock is looked at every so many steps, and next after this one.
    stride: u64,
    next: u64,
    looked: Instant,
}

impl Watcher {
    /// From now on Ctrl-C breaks off the run, and a second one ends the command at once.
    pub(super) fn new(bar: Bar) -> Result<Watcher, Failure> {
        let interrupted = Arc::new(AtomicBool::new(false));
        flag::register_conditional_shutdown(SIGINT, 130, interrupted.clone())
            .and_then(|_| flag::register(SIGINT, interrupted.clone()))
            .map_err(|error| Failure::run(format!("cannot listen to Ctrl-C: {error}")))?;
        Ok(Watcher { interrupted, bar, stride: 1, next: 0, looked: Instant::now() })
    }

    /// Whether Ctrl-C was pressed.
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

    /// Looks at work that is not measured by steps: how much of it is done, and what to say of it.
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

/// A time in seconds, or minutes, or hours.
fn told(seconds: f64) -> String {
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
    fn times_left_are_told() {
        let told = [0.2, 59.4, 59.6, 3599.0, 7300.0].map(super::told);
        assert_eq!(told, ["0 s", "59 s", "1:00 min", "59:59 min", "2:01 h"]);
    }
}

//! A run as it goes: a bar on a terminal, and Ctrl-C.

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

/// Runs that are over sooner show no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// The bar is drawn about so often.
const FRAME: Duration = Duration::from_millis(50);
/// Parts of the bar.
const PARTS: u64 = 1000;

/// Who watches over a run.
pub(super) struct Watcher {
    interrupted: Arc<AtomicBool>,
    begun: Instant,
    bar: Option<ProgressBar>,
    shown: bool,
    /// The clock is looked at every so many steps, about twice in a frame, and next after this one.
    stride: u64,
    next: u64,
    looked: Instant,
}

impl Watcher {
    /// From now on Ctrl-C breaks off the run, and a second one ends the command at once. The bar is drawn only on a terminal, and only
    /// if it is wanted.
    pub(super) fn new(bar: bool) -> Result<Watcher, Failure> {
        let interrupted = Arc::new(AtomicBool::new(false));
        flag::register_conditional_shutdown(SIGINT, 130, interrupted.clone())
            .and_then(|_| flag::register(SIGINT, interrupted.clone()))
            .map_err(|error| Failure::run(format!("cannot listen to Ctrl-C: {error}")))?;
        let bar = (bar && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(PARTS), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("[{bar:30}] {percent:>3} %  {msg}");
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "))
        });
        let now = Instant::now();
        Ok(Watcher { interrupted, begun: now, bar, shown: false, stride: 1, next: 0, looked: now })
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
        if self.bar.is_some() {
            let steps = moment.work().steps;
            if steps >= self.next {
                self.look(moment);
                self.next = steps + self.stride;
            }
        }
        ControlFlow::Continue(())
    }

    fn look(&mut self, moment: &Moment<'_, '_>) {
        let (now, Some(bar)) = (Instant::now(), &self.bar) else { return };
        let since = now - self.looked;
        self.looked = now;
        self.stride = if since < FRAME / 4 { self.stride * 2 } else { (self.stride / 2).max(1) };
        let (elapsed, fraction) = ((now - self.begun).as_secs_f64(), moment.fraction());
        if now - self.begun > PATIENCE {
            let left = if fraction > 0.0 { told(elapsed / fraction - elapsed) } else { "?".to_owned() };
            let t = format!("{:.4e}", moment.t()).parse().unwrap_or_else(|_| moment.t());
            bar.set_message(format!("t = {}, {left} left", number(&t)));
            bar.set_position((fraction * PARTS as f64) as u64);
            self.shown = true;
        }
    }

    /// The run is over: the bar goes.
    pub(super) fn finish(&mut self) {
        if let Some(bar) = self.bar.take().filter(|_| self.shown) {
            bar.finish_and_clear();
        }
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

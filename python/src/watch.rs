//! Who watches over what takes a while: Ctrl-C, and progress.

use leastaction::Moment;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Python is asked for signals about so often.
const GLANCE: Duration = Duration::from_millis(20);

/// Takes which part is done, and where that is.
pub(crate) type Tell = mpsc::Sender<(f64, String)>;

/// Looks for signals, and tells how far things are.
pub(crate) struct Watcher {
    progress: Option<Py<PyAny>>,
    /// What is to be raised.
    raised: Option<PyErr>,
    interrupted: Arc<AtomicBool>,
    looked: Instant,
    /// The clock is looked at every so many steps, and next after this one.
    stride: u64,
    next: u64,
}

impl Watcher {
    /// With a function of Python that is told which part is done, from 0 to 1, and where that is.
    pub(crate) fn new(progress: Option<Py<PyAny>>) -> Watcher {
        let interrupted = Arc::new(AtomicBool::new(false));
        Watcher { progress, raised: None, interrupted, looked: Instant::now(), stride: 1, next: 0 }
    }

    /// What becomes true when it is interrupted.
    pub(crate) fn interrupted(&self) -> Arc<AtomicBool> {
        self.interrupted.clone()
    }

    /// What a signal, or the function that is told of progress, raised.
    pub(crate) fn raised(self) -> Option<PyErr> {
        self.raised
    }

    /// Does something on another thread, while Python is asked for signals on this one. It tells which part is done and where that is, and looks whether it is
    /// [interrupted](Watcher::interrupted).
    pub(crate) fn run<T: Send>(&mut self, work: impl FnOnce(&Tell) -> T + Send) -> T {
        let (tell, hear) = mpsc::channel();
        std::thread::scope(|scope| {
            let running = scope.spawn(move || work(&tell));
            let (mut fraction, mut place) = (0.0, String::new());
            loop {
                match hear.recv_timeout(GLANCE) {
                    Ok(told) => (fraction, place) = told,
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
                _ = self.tell(fraction, || place.clone());
            }
            running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Looks at a step. The clock is looked at only now and then.
    pub(crate) fn watch(&mut self, moment: &Moment<'_, '_>) -> ControlFlow<()> {
        let steps = moment.work().steps;
        if steps < self.next {
            return ControlFlow::Continue(());
        }
        let early = self.looked.elapsed() < GLANCE;
        self.stride = if early { (self.stride * 2).min(1 << 16) } else { (self.stride / 2).max(1) };
        self.next = steps + self.stride;
        self.tell(moment.fraction(), || format!("t = {:.4}", moment.t()))
    }

    /// Looks at work that is not measured by steps.
    pub(crate) fn tell(&mut self, fraction: f64, place: impl Fn() -> String) -> ControlFlow<()> {
        if self.raised.is_none() && self.looked.elapsed() >= GLANCE {
            self.looked = Instant::now();
            let looked = Python::attach(|py| {
                py.check_signals()?;
                match &self.progress {
                    Some(progress) => progress.call1(py, (fraction, place())).map(drop),
                    None => Ok(()),
                }
            });
            self.raised = looked.err();
        }
        match self.raised {
            Some(_) => {
                self.interrupted.store(true, Ordering::Relaxed);
                ControlFlow::Break(())
            }
            None => ControlFlow::Continue(()),
        }
    }
}

//! Requests to end from outside: the terminal is given back before they are obeyed.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The signal that came, if one did.
pub(super) struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// Begins to listen.
    pub(super) fn listen() -> io::Result<Signals> {
        let came = Arc::new(AtomicUsize::new(0));
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
            for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
                signal_hook::flag::register_usize(signal, came.clone(), signal as usize)?;
            }
        }
        Ok(Signals(came))
    }

    /// Whether one came.
    pub(super) fn came(&self) -> bool {
        self.0.load(Ordering::SeqCst) != 0
    }

    /// Does what the signal asks for, as if there were no handler. Does nothing if none came.
    pub(super) fn obey(&self) {
        #[cfg(unix)]
        if let Ok(signal @ 1..) = i32::try_from(self.0.load(Ordering::SeqCst)) {
            // Where the signal cannot be obeyed, the command ends the usual way.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    }
}

//! Requests to end on Unix: signals.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::EndSignal;

/// Listens from the moment it is created, not from the first wait: a server that announces itself as ready may be asked
/// to end at that very moment.
pub(crate) struct EndSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl EndSignals {
    /// Starts listening. Needs a tokio runtime.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Returns at the first signal, and says which it was.
    pub(crate) async fn received(&mut self) -> EndSignal {
        tokio::select! {
            _ = self.interrupt.recv() => EndSignal::Interrupt,
            _ = self.terminate.recv() => EndSignal::Terminate,
        }
    }
}

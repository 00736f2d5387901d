//! Requests to end on Unix: signals.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::EndSignal;

/// Where Linux says which signals a process ignores.
const STATUS: &str = "/proc/self/status";

/// Listens from the moment it is created, not from the first wait: a server that announces itself as ready may be asked
/// to end at that very moment.
pub(crate) struct EndSignals {
    interrupt: Signal,
    terminate: Signal,
    /// The terminal is gone. Listened to only on request, and not where the program was started with `nohup`.
    hangup: Option<Signal>,
}

impl EndSignals {
    /// Starts listening. Needs a tokio runtime.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: None,
        })
    }

    /// Starts listening, also to the end of the terminal, unless that is ignored. Needs a tokio runtime.
    pub(crate) fn listen_with_hangup() -> io::Result<Self> {
        let hangup = hangup_ends().then(|| signal(SignalKind::hangup()));
        Ok(Self {
            hangup: hangup.transpose()?,
            ..Self::listen()?
        })
    }

    /// Returns at the first signal, and says which it was.
    pub(crate) async fn received(&mut self) -> EndSignal {
        tokio::select! {
            _ = self.interrupt.recv() => EndSignal::Interrupt,
            _ = self.terminate.recv() => EndSignal::Terminate,
            () = hung_up(&mut self.hangup) => EndSignal::Hangup,
        }
    }
}

async fn hung_up(hangup: &mut Option<Signal>) {
    match hangup {
        Some(hangup) => {
            hangup.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// Whether the end of the terminal ends this program. Where the system does not say so, a signal that may be ignored is
/// left alone.
fn hangup_ends() -> bool {
    let status = std::fs::read_to_string(STATUS).unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 1 == 0)
}

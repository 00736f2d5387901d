//! Requests to end: Ctrl-C, or SIGTERM from a supervisor; on Windows, whatever closes the console.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::EndSignals;
#[cfg(windows)]
pub(crate) use windows::EndSignals;

/// A request to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndSignal {
    /// Ctrl-C.
    Interrupt,
    /// SIGTERM, or what comes closest to it.
    Terminate,
    /// SIGHUP.
    #[cfg(unix)]
    Hangup,
}

impl EndSignal {
    /// The exit code of a program that the signal ended, as shells count.
    pub(crate) fn exit_code(self) -> i32 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
            #[cfg(unix)]
            Self::Hangup => 129,
        }
    }
}

//! The system's signals to the program while it draws: a new size, an end, a stop.

/// A signal that matters to a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScreenSignal {
    /// The terminal has a new size.
    Resized,
    /// The terminal or the session is going away.
    End,
    /// The user wants to stop the current work.
    Interrupt,
    /// The program should be suspended.
    Aside,
}

#[cfg(unix)]
mod unix {
    use tokio::signal::unix::{Signal, SignalKind, signal};

    use super::ScreenSignal;

    /// The source of signals.
    #[derive(Debug)]
    pub(crate) struct Signals {
        resize: Signal,
        hangup: Signal,
        terminate: Signal,
        interrupt: Signal,
        aside: Signal,
    }

    impl Signals {
        pub(crate) fn listen() -> std::io::Result<Self> {
            let aside = rustix::process::Signal::TSTP.as_raw();
            Ok(Self {
                resize: signal(SignalKind::window_change())?,
                hangup: signal(SignalKind::hangup())?,
                terminate: signal(SignalKind::terminate())?,
                interrupt: signal(SignalKind::interrupt())?,
                aside: signal(SignalKind::from_raw(aside))?,
            })
        }

        pub(crate) async fn next(&mut self) -> ScreenSignal {
            tokio::select! {
                _ = self.resize.recv() => ScreenSignal::Resized,
                _ = self.hangup.recv() => ScreenSignal::End,
                _ = self.terminate.recv() => ScreenSignal::End,
                _ = self.interrupt.recv() => ScreenSignal::Interrupt,
                _ = self.aside.recv() => ScreenSignal::Aside,
            }
        }
    }
}

#[cfg(unix)]
pub(crate) use unix::Signals;

/// The source of signals on other platforms: only the interrupt exists.
#[cfg(not(unix))]
#[derive(Debug)]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) -> ScreenSignal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => ScreenSignal::Interrupt,
            Err(_) => ScreenSignal::End,
        }
    }
}

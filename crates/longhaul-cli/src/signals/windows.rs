//! Requests to end on Windows: what a console tells the programs in it. The last two of them leave a program a few seconds.

use std::io;

use tokio::signal::windows::{
    CtrlBreak, CtrlC, CtrlClose, CtrlShutdown, ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown,
};

use super::EndSignal;

/// Listens from the moment it is created, not from the first wait: a server that announces itself as ready may be asked
/// to end at that very moment.
pub(crate) struct EndSignals {
    interrupt: CtrlC,
    terminate: CtrlBreak,
    close: CtrlClose,
    shutdown: CtrlShutdown,
}

impl EndSignals {
    /// Starts listening. Needs a tokio runtime.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: ctrl_c()?,
            terminate: ctrl_break()?,
            close: ctrl_close()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    /// Starts listening; the end of the console is among it.
    pub(crate) fn listen_with_hangup() -> io::Result<Self> {
        Self::listen()
    }

    /// Returns at the first request, and says what it was.
    pub(crate) async fn received(&mut self) -> EndSignal {
        tokio::select! {
            _ = self.interrupt.recv() => EndSignal::Interrupt,
            _ = self.terminate.recv() => EndSignal::Terminate,
            _ = self.close.recv() => EndSignal::Terminate,
            _ = self.shutdown.recv() => EndSignal::Terminate,
        }
    }
}

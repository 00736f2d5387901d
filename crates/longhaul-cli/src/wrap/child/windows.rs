//! The agent on Windows: the console sends what the user types to every program in it, the agent included.

use std::io;
use std::process::{Child, ExitStatus};

use tokio::signal::windows::{CtrlBreak, CtrlC, ctrl_break, ctrl_c};

use super::PassedSignal;

/// The command that ends a process.
pub(super) const KILL: &str = "taskkill /PID";

pub(super) fn wait_for(mut child: Child) -> io::Result<ExitStatus> {
    child.wait()
}

/// What would end this process while the agent goes on.
pub(super) struct AgentSignals {
    interrupt: CtrlC,
    terminate: CtrlBreak,
}

impl AgentSignals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: ctrl_c()?,
            terminate: ctrl_break()?,
        })
    }

    /// The next signal, which the agent has got already.
    pub(super) async fn passed_on(&mut self, _: u32) -> PassedSignal {
        tokio::select! {
            _ = self.interrupt.recv() => PassedSignal::Interrupt,
            _ = self.terminate.recv() => PassedSignal::Other,
        }
    }
}

//! The agent as a process: in this terminal and this process group, with the signals that it would get without us.
//!
//! What the terminal sends (Ctrl-C, Ctrl-Z, a new window size) goes to the agent as well, so it has it already. What only
//! this process gets is passed on, where that can be.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::io;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use longhaul::process_group::ending_signal;
use tokio::task::JoinHandle;

use crate::failure::tell;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// Two interrupts within this time are one wish to end.
const TWICE: Duration = Duration::from_secs(3);
/// How long the agent then gets before the user is told that it still runs.
const PATIENCE: Duration = Duration::from_secs(1);

/// A running agent.
pub(super) struct AgentProcess {
    pid: u32,
    name: String,
    waiting: JoinHandle<io::Result<ExitStatus>>,
    signals: system::AgentSignals,
}

impl AgentProcess {
    /// Starts the agent. Needs a tokio runtime.
    pub(super) fn start(mut command: Command, name: &str) -> io::Result<Self> {
        // Before the agent runs: a signal that comes between would end this process and leave the agent alone.
        let signals = system::AgentSignals::listen()?;
        let child = command.spawn()?;
        Ok(Self {
            pid: child.id(),
            name: name.to_owned(),
            waiting: tokio::task::spawn_blocking(move || system::wait_for(child)),
            signals,
        })
    }

    /// Waits for its end and returns the exit code, which for a signal is 128 and its number, as in shells.
    pub(super) async fn wait(mut self) -> io::Result<u8> {
        let mut last: Option<Instant> = None;
        let mut reminder: Option<std::pin::Pin<Box<tokio::time::Sleep>>> = None;
        loop {
            tokio::select! {
                ended = &mut self.waiting => return ended.map_err(io::Error::other)?.map(exit_code),
                signal = self.signals.passed_on(self.pid) => {
                    if signal == PassedSignal::Interrupt {
                        if last.is_some_and(|last| last.elapsed() < TWICE) {
                            reminder = Some(Box::pin(tokio::time::sleep(PATIENCE)));
                        }
                        last = Some(Instant::now());
                    }
                }
                () = async {
                    match &mut reminder {
                        Some(reminder) => reminder.as_mut().await,
                        None => std::future::pending().await,
                    }
                } => {
                    reminder = None;
                    tell(&format!(
                        "{}: {} was interrupted twice and still runs; it decides itself when to end. `{} {}` ends it.",
                        super::WHO, self.name, system::KILL, self.pid
                    ));
                }
            }
        }
    }
}

/// A signal to this process that the agent has got, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PassedSignal {
    /// Ctrl-C.
    Interrupt,
    /// Another one.
    Other,
}

fn exit_code(status: ExitStatus) -> u8 {
    if let Some(signal) = ending_signal(status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    let code = status.code().unwrap_or(1);
    u8::try_from(code & 0xff).unwrap_or(1)
}

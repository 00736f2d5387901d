//! The agent as a process: in this terminal and this process group, with the signals that it would get without us.
//!
//! What the terminal sends (Ctrl-C, Ctrl-Z, a new window size) goes to the whole group, so the agent has it already. What
//! only this process gets is passed on. If the agent stops itself, this process stops too, so that the shell takes over.

use std::io;
use std::process::{Child, Command, ExitStatus};
#[cfg(unix)]
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

#[cfg(unix)]
use crate::failure::tell;

/// Two interrupts within this time are one wish to end.
#[cfg(unix)]
const TWICE: Duration = Duration::from_secs(3);
/// How long the agent then gets before the user is told that it still runs.
#[cfg(unix)]
const PATIENCE: Duration = Duration::from_secs(1);

/// A running agent.
pub(super) struct AgentProcess {
    pid: u32,
    name: String,
    waiting: JoinHandle<io::Result<ExitStatus>>,
    #[cfg(unix)]
    signals: signals::PassedSignals,
}

impl AgentProcess {
    /// Starts the agent. Needs a tokio runtime.
    pub(super) fn start(mut command: Command, name: &str) -> io::Result<Self> {
        // Before the agent runs: a signal that comes between would end this process and leave the agent alone.
        #[cfg(unix)]
        let signals = signals::PassedSignals::listen()?;
        let child = command.spawn()?;
        Ok(Self {
            pid: child.id(),
            name: name.to_owned(),
            waiting: tokio::task::spawn_blocking(move || wait_for(child)),
            #[cfg(unix)]
            signals,
        })
    }

    /// Waits for its end and returns the exit code, which for a signal is 128 and its number, as in shells.
    pub(super) async fn wait(mut self) -> io::Result<u8> {
        #[cfg(unix)]
        let mut last: Option<Instant> = None;
        #[cfg(unix)]
        let mut reminder: Option<std::pin::Pin<Box<tokio::time::Sleep>>> = None;
        loop {
            #[cfg(unix)]
            tokio::select! {
                ended = &mut self.waiting => return ended.map_err(io::Error::other)?.map(exit_code),
                signal = self.signals.next() => {
                    if signals::must_be_passed_on(signal) {
                        signals::send(self.pid, signal);
                    }
                    if signals::is_interrupt(signal) {
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
                        "{}: {} was interrupted twice and still runs; it decides itself when to end. `kill {}` ends it.",
                        super::WHO, self.name, self.pid
                    ));
                }
            }
            #[cfg(not(unix))]
            tokio::select! {
                ended = &mut self.waiting => return ended.map_err(io::Error::other)?.map(exit_code),
                _ = tokio::signal::ctrl_c() => {}
            }
        }
    }
}

fn exit_code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    let code = status.code().unwrap_or(1);
    u8::try_from(code & 0xff).unwrap_or(1)
}

#[cfg(not(unix))]
fn wait_for(mut child: Child) -> io::Result<ExitStatus> {
    child.wait()
}

/// Waits for the end of the agent. Whenever it has stopped by itself, this process stops as well.
#[cfg(unix)]
fn wait_for(mut child: Child) -> io::Result<ExitStatus> {
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, waitid};
    /// After a stop of the whole group, both go on at once; only an agent that is still stopped then has stopped alone.
    const SETTLING: Duration = Duration::from_millis(100);
    let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
        return child.wait();
    };
    loop {
        let look = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
        let seen = match waitid(WaitId::Pid(pid), look) {
            Ok(seen) => seen,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return child.wait(),
        };
        if !seen.is_some_and(|seen| seen.stopped()) {
            return child.wait();
        }
        std::thread::sleep(SETTLING);
        let take = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
        let still = waitid(WaitId::Pid(pid), take);
        let is_stopped = still.ok().flatten().is_some_and(|seen| seen.stopped());
        if is_stopped && signals::is_foreground() {
            let _ = kill_process(getpid(), Signal::STOP);
        }
    }
}

#[cfg(unix)]
mod signals {
    use std::fs::File;
    use std::io;

    use rustix::process::{Pid, Signal, getpgrp, kill_process};
    use tokio::signal::unix::{self, SignalKind};

    /// Signals that this process gets in the agent's place.
    pub(super) struct PassedSignals {
        interrupt: unix::Signal,
        quit: unix::Signal,
        terminate: unix::Signal,
        hangup: unix::Signal,
    }

    impl PassedSignals {
        pub(super) fn listen() -> io::Result<Self> {
            Ok(Self {
                interrupt: unix::signal(SignalKind::interrupt())?,
                quit: unix::signal(SignalKind::quit())?,
                terminate: unix::signal(SignalKind::terminate())?,
                hangup: unix::signal(SignalKind::hangup())?,
            })
        }

        pub(super) async fn next(&mut self) -> Signal {
            tokio::select! {
                _ = self.interrupt.recv() => Signal::INT,
                _ = self.quit.recv() => Signal::QUIT,
                _ = self.terminate.recv() => Signal::TERM,
                _ = self.hangup.recv() => Signal::HUP,
            }
        }
    }

    pub(super) fn is_interrupt(signal: Signal) -> bool {
        signal == Signal::INT
    }

    /// Whether the agent does not have the signal yet. The terminal sends interrupts to the whole group in front.
    pub(super) fn must_be_passed_on(signal: Signal) -> bool {
        match signal {
            Signal::INT | Signal::QUIT => !is_foreground(),
            _ => true,
        }
    }

    /// Whether this process's group is the one that the terminal sends signals to.
    pub(super) fn is_foreground() -> bool {
        let terminal = File::open("/dev/tty");
        let front = terminal
            .ok()
            .and_then(|terminal| rustix::termios::tcgetpgrp(terminal).ok());
        front == Some(getpgrp())
    }

    pub(super) fn send(pid: u32, signal: Signal) {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // It may have ended meanwhile.
            let _ = kill_process(pid, signal);
        }
    }
}

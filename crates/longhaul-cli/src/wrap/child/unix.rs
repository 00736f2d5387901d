//! The agent on Unix: signals are passed on, and if the agent stops itself, this process stops too, so that the shell takes
//! over.

use std::fs::File;
use std::io;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpgrp, getpid, kill_process, waitid};
use tokio::signal::unix::{self, SignalKind};

use super::PassedSignal;

/// The command that ends a process.
pub(super) const KILL: &str = "kill";

/// Waits for the end of the agent. Whenever it has stopped by itself, this process stops as well.
pub(super) fn wait_for(mut child: Child) -> io::Result<ExitStatus> {
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
        if is_stopped && is_foreground() {
            let _ = kill_process(getpid(), Signal::STOP);
        }
    }
}

/// Signals that this process gets in the agent's place.
pub(super) struct AgentSignals {
    interrupt: unix::Signal,
    quit: unix::Signal,
    terminate: unix::Signal,
    hangup: unix::Signal,
}

impl AgentSignals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: unix::signal(SignalKind::interrupt())?,
            quit: unix::signal(SignalKind::quit())?,
            terminate: unix::signal(SignalKind::terminate())?,
            hangup: unix::signal(SignalKind::hangup())?,
        })
    }

    /// The next signal; the agent gets it if it has not got it already.
    pub(super) async fn passed_on(&mut self, agent: u32) -> PassedSignal {
        let signal = tokio::select! {
            _ = self.interrupt.recv() => Signal::INT,
            _ = self.quit.recv() => Signal::QUIT,
            _ = self.terminate.recv() => Signal::TERM,
            _ = self.hangup.recv() => Signal::HUP,
        };
        if must_be_passed_on(signal) {
            send(agent, signal);
        }
        if signal == Signal::INT {
            PassedSignal::Interrupt
        } else {
            PassedSignal::Other
        }
    }
}

/// Whether the agent does not have the signal yet. The terminal sends interrupts to the whole group in front.
fn must_be_passed_on(signal: Signal) -> bool {
    match signal {
        Signal::INT | Signal::QUIT => !is_foreground(),
        _ => true,
    }
}

/// Whether this process's group is the one that the terminal sends signals to.
fn is_foreground() -> bool {
    let terminal = File::open("/dev/tty");
    let front = terminal
        .ok()
        .and_then(|terminal| rustix::termios::tcgetpgrp(terminal).ok());
    front == Some(getpgrp())
}

fn send(pid: u32, signal: Signal) {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended meanwhile.
        let _ = kill_process(pid, signal);
    }
}

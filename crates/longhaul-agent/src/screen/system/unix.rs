//! The screen on Unix: signals, and a terminal that may hang up.

use std::io;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::kill_current_process_group;
use tokio::process::Command;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::ScreenSignal;

/// The source of signals.
#[derive(Debug)]
pub(in crate::screen) struct Signals {
    resize: Signal,
    hangup: Signal,
    terminate: Signal,
    interrupt: Signal,
    aside: Signal,
}

impl Signals {
    pub(in crate::screen) fn listen() -> io::Result<Self> {
        let aside = rustix::process::Signal::TSTP.as_raw();
        Ok(Self {
            resize: signal(SignalKind::window_change())?,
            hangup: signal(SignalKind::hangup())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            aside: signal(SignalKind::from_raw(aside))?,
        })
    }

    pub(in crate::screen) async fn next(&mut self) -> ScreenSignal {
        tokio::select! {
            _ = self.resize.recv() => ScreenSignal::Resized,
            _ = self.hangup.recv() => ScreenSignal::End,
            _ = self.terminate.recv() => ScreenSignal::End,
            _ = self.interrupt.recv() => ScreenSignal::Interrupt,
            _ = self.aside.recv() => ScreenSignal::Aside,
        }
    }
}

/// Waits a little; an error means that the terminal is gone. Reading itself cannot detect that: it would try forever.
pub(in crate::screen) fn wait_for_input(wait: Duration) -> io::Result<()> {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    let wait = Timespec {
        tv_sec: 0,
        tv_nsec: wait.subsec_nanos().into(),
    };
    match poll(&mut fds, Some(&wait)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(()),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    if fds[0].revents().intersects(gone) {
        Err(io::ErrorKind::UnexpectedEof.into())
    } else {
        Ok(())
    }
}

/// Suspends the program as the shell expects it; returns when it is resumed.
pub(in crate::screen) async fn put_aside() -> io::Result<()> {
    use rustix::process::Signal;
    let mut brought_back = signal(SignalKind::from_raw(Signal::CONT.as_raw()))?;
    // The whole process group, as the terminal itself would do it.
    kill_current_process_group(Signal::STOP)?;
    // The stop may take a moment to reach this thread.
    brought_back.recv().await;
    Ok(())
}

/// An editor with this file. The command may have arguments: `code --wait`.
pub(in crate::screen) fn editor_command(editor: &str, file: &Path) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh");
    shell.arg(file);
    shell
}

/// Whether a terminal with this name can move its cursor.
pub(in crate::screen) fn draws(term: &str) -> bool {
    !term.is_empty()
}

//! Keys as they are pressed, and the end of the terminal they come from.
//!
//! A thread of its own reads them: a terminal that hangs up must not hold up anything else. It can be held while another
//! program, an editor, reads from the same terminal.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{self, Event};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// How long a wait lasts before the thread looks whether it is held.
const WAIT: Duration = Duration::from_millis(100);
/// Long enough for what has come already. With no time at all the terminal is not even looked at.
const AT_ONCE: Duration = Duration::from_millis(1);

/// Something that came from the terminal.
#[derive(Debug)]
pub(crate) enum TerminalInput {
    /// A key, a paste, another size.
    Event(Event),
    /// The terminal is gone.
    Closed,
}

/// The reading end.
#[derive(Debug)]
pub(crate) struct KeyReader {
    got: UnboundedReceiver<TerminalInput>,
    turn: Arc<Mutex<()>>,
}

impl KeyReader {
    /// Begins to read.
    pub(crate) fn start() -> Self {
        let (send, got) = unbounded_channel();
        let turn = Arc::new(Mutex::new(()));
        let of_thread = Arc::clone(&turn);
        std::thread::spawn(move || {
            while !send.is_closed() {
                let _turn = of_thread.blocking_lock();
                if read(&send).is_err() {
                    // Whoever reads from the other end is told once.
                    let _ = send.send(TerminalInput::Closed);
                    return;
                }
            }
        });
        Self { got, turn }
    }

    /// The next thing.
    pub(crate) async fn next(&mut self) -> TerminalInput {
        self.got.recv().await.unwrap_or(TerminalInput::Closed)
    }

    /// Reads nothing until the guard is dropped.
    pub(crate) async fn hold(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }
}

fn read(send: &UnboundedSender<TerminalInput>) -> std::io::Result<()> {
    wait()?;
    // Looked at even when nothing new has come: on a busy machine something may have been read and not been told.
    while event::poll(AT_ONCE)? {
        let event = event::read()?;
        if send.send(TerminalInput::Event(event)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// Waits a little; an error if the terminal is gone. Reading itself cannot tell: it would try for ever.
#[cfg(unix)]
fn wait() -> std::io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = std::io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    let wait = Timespec {
        tv_sec: 0,
        tv_nsec: WAIT.as_nanos() as _,
    };
    match poll(&mut fds, Some(&wait)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(()),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    if fds[0].revents().intersects(gone) {
        Err(std::io::ErrorKind::UnexpectedEof.into())
    } else {
        Ok(())
    }
}

#[cfg(not(unix))]
fn wait() -> std::io::Result<()> {
    event::poll(WAIT).map(|_| ())
}

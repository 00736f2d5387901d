//! Key presses, and the end of the terminal that they come from.
//!
//! A separate thread reads them: a terminal that hangs up must not hold up anything else. The thread can be paused
//! while another program, an editor, reads from the same terminal.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{self, Event};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// How long a wait lasts before the thread checks whether it is paused.
const WAIT: Duration = Duration::from_millis(100);
/// Long enough for input that has already arrived. With a timeout of zero, the terminal is not checked at all.
const AT_ONCE: Duration = Duration::from_millis(1);

/// Input from the terminal.
#[derive(Debug)]
pub(crate) enum TerminalInput {
    /// A key, a paste, or a new size.
    Event(Event),
    /// The terminal is gone.
    Closed,
}

/// Receives the input of the terminal.
#[derive(Debug)]
pub(crate) struct KeyReader {
    got: UnboundedReceiver<TerminalInput>,
    turn: Arc<Mutex<()>>,
}

impl KeyReader {
    /// Starts the thread.
    pub(crate) fn start() -> Self {
        let (send, got) = unbounded_channel();
        let turn = Arc::new(Mutex::new(()));
        let of_thread = Arc::clone(&turn);
        std::thread::spawn(move || {
            while !send.is_closed() {
                let _turn = of_thread.blocking_lock();
                if read(&send).is_err() {
                    // The receiver is told once.
                    let _ = send.send(TerminalInput::Closed);
                    return;
                }
            }
        });
        Self { got, turn }
    }

    /// The next input.
    pub(crate) async fn next(&mut self) -> TerminalInput {
        self.got.recv().await.unwrap_or(TerminalInput::Closed)
    }

    /// Pauses reading until the guard is dropped.
    pub(crate) async fn hold(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }
}

fn read(send: &UnboundedSender<TerminalInput>) -> std::io::Result<()> {
    wait()?;
    // This checks even when nothing new has arrived: on a busy machine, input may have been read but not reported.
    while event::poll(AT_ONCE)? {
        let event = event::read()?;
        if send.send(TerminalInput::Event(event)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// Waits a little; an error means that the terminal is gone. Reading itself cannot detect that: it would try forever.
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

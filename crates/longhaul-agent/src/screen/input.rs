//! Key presses, and the end of the terminal that they come from.
//!
//! A separate thread reads them: a terminal that hangs up must not hold up anything else. The thread can be paused
//! while another program, an editor, reads from the same terminal.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{self, Event};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::system::wait_for_input;

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
    wait_for_input(WAIT)?;
    // This checks even when nothing new has arrived: on a busy machine, input may have been read but not reported.
    while event::poll(AT_ONCE)? {
        let event = event::read()?;
        if send.send(TerminalInput::Event(event)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

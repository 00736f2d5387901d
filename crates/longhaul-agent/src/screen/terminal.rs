//! The terminal's state: taken on entering, restored on leaving, whatever the reason for leaving is.

use std::io::{self, Write as _};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

use super::paint::OtherScreen;

/// Whether the terminal is in raw mode.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Whether the terminal's other screen is shown.
static OTHER: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// A terminal that reads keys one by one. It is restored when this goes out of scope, and before a panic is reported.
#[derive(Debug)]
pub(crate) struct RawTerminal;

impl RawTerminal {
    /// Takes the terminal.
    pub(crate) fn enter() -> io::Result<Self> {
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                before(panic);
            }));
        });
        take()?;
        Ok(Self)
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        give_back();
    }
}

/// Takes the terminal again after it was given back for a while.
pub(crate) fn take() -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    // Pastes are marked as such.
    write("\x1b[?2004h")
}

/// Whether the terminal is ours. A panic somewhere in the program may have restored it while the screen continued.
pub(crate) fn is_taken() -> bool {
    TAKEN.load(Ordering::SeqCst)
}

/// Records which of the terminal's screens is shown from now on.
pub(crate) fn shows(screen: OtherScreen) {
    OTHER.store(screen == OtherScreen::On, Ordering::SeqCst);
}

/// Restores the terminal. Does nothing the second time.
pub(crate) fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // Only if the other screen is shown: leaving it otherwise would move the cursor to an unexpected place.
        let other = if OTHER.swap(false, Ordering::SeqCst) {
            "\x1b[?1049l"
        } else {
            ""
        };
        // A terminal that is gone needs no restoring.
        let _ = write(&format!(
            "\x1b[?2004l\x1b[?7h\x1b[?2026l{other}\x1b[0m\x1b[?25h"
        ));
        let _ = disable_raw_mode();
    }
}

fn write(code: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(code.as_bytes())?;
    out.flush()
}

//! What the screen needs from the system: signals, waiting for keys, being suspended, an editor, and whether the terminal
//! can move its cursor.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::{Signals, draws, editor_command, put_aside, wait_for_input};
#[cfg(windows)]
pub(super) use windows::{Signals, draws, editor_command, put_aside, wait_for_input};

/// A signal that matters to a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScreenSignal {
    /// The terminal has a new size.
    #[cfg_attr(windows, expect(dead_code, reason = "it comes among the keys there"))]
    Resized,
    /// The terminal or the session is going away.
    End,
    /// The user wants to stop the current work.
    Interrupt,
    /// The program should be suspended.
    #[cfg_attr(windows, expect(dead_code, reason = "nothing is suspended there"))]
    Aside,
}

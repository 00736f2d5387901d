//! Where the shells are that commands and hooks are written for: `bash` and `sh`.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{NO_SHELL, program};
#[cfg(windows)]
pub use windows::{NO_SHELL, program};

//! The file whose lock keeps those apart who append to a transcript, or delete it.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{lock_file, unlock};
#[cfg(windows)]
pub(crate) use windows::{lock_file, unlock};

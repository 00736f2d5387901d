//! The screen in a real pseudo-terminal, with a fake host.

#![allow(clippy::unwrap_used, clippy::panic)]

mod dialogs;
mod fake;
mod fake_data;
mod leaving;
mod lines;
mod pty;
mod typing;

//! The screen in a real pseudo-terminal, with a fake host.

#![allow(clippy::unwrap_used, clippy::panic)]

mod fake;
mod lines;
mod pty;
mod typing;

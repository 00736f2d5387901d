//! The screen in a real pseudo-terminal, over a host that makes everything up.

#![allow(clippy::unwrap_used, clippy::panic)]

mod fake;
mod lines;
mod pty;
mod typing;

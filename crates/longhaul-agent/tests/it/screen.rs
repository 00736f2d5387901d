//! The screen in a real pseudo-terminal, over a host that makes everything up.

mod fake;
mod lines;
mod pty;
mod typing;

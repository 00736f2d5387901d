//! The tools that touch files and the shell, and what the model knows about files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests may fail loudly"
)]

mod bash;
mod definitions;
mod desk;
mod edit;
#[cfg(unix)]
mod fence;
mod glob;
#[cfg(unix)]
mod grep;
#[cfg(unix)]
mod hostile;
mod read;
mod shells;
#[cfg(unix)]
mod standing;
mod state;
#[cfg(unix)]
mod write;

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
mod fence;
mod glob;
mod grep;
mod hostile;
mod read;
mod shells;
mod standing;
mod state;
mod write;

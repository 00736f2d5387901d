//! Print mode: takes a prompt and writes the answer to stdout, for scripts (Q4).
//!
//! `message.rs` has the objects of the two JSON formats in the shape in which Claude Code writes them, `input.rs` reads
//! prompts, `run.rs` does the work, `output.rs` writes what happens in the meantime.

mod input;
mod message;
mod output;
mod run;

use serde::{Deserialize, Serialize};

pub use input::PromptQueue;
pub use run::{PrintExit, PrintOptions, print};

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrintFormat {
    /// The text of the last reply.
    #[default]
    Text,
    /// One object at the end.
    Json,
    /// One object per line, as things happen.
    StreamJson,
}

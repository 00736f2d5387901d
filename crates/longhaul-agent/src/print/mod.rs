//! Print mode: a prompt, the answer on stdout, for scripts (Q4).
//!
//! `message.rs` has the objects of the two JSON formats in the shape in which Claude Code writes them, `input.rs` reads
//! prompts, `run.rs` does the work, `page.rs` writes what happens meanwhile.

mod input;
mod message;
mod output;
mod run;

use serde::{Deserialize, Serialize};

pub use input::{BadPrintInput, PromptQueue};
pub use run::{PrintExit, PrintOptions, print};

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrintFormat {
    /// The last reply's text.
    #[default]
    Text,
    /// One object at the end.
    Json,
    /// An object a line, as things happen.
    StreamJson,
}

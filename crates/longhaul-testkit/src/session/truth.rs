//! What a reader should find in a generated transcript, recorded while generating it.
//!
//! "Main" means the main conversation: no sidechain lines, unless the whole file is a sub-agent's. Lines are counted
//! from 1. Nothing here was computed by reading the bytes back, so it can be used to test a reader.

use std::collections::BTreeMap;

/// Token counts of one reply, or a sum of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpectedUsage {
    /// `input_tokens`.
    pub input: u64,
    /// `cache_read_input_tokens`.
    pub cache_read: u64,
    /// `cache_creation.ephemeral_5m_input_tokens`.
    pub cache_write_5m: u64,
    /// `cache_creation.ephemeral_1h_input_tokens`.
    pub cache_write_1h: u64,
    /// `output_tokens`, the largest among the lines of the reply.
    pub output: u64,
}

impl ExpectedUsage {
    /// The size of the context after the reply: everything, including output.
    #[must_use]
    pub fn context(&self) -> u64 {
        self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h + self.output
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.cache_write_5m += other.cache_write_5m;
        self.cache_write_1h += other.cache_write_1h;
        self.output += other.output;
    }
}

/// A compact boundary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedBoundary {
    /// The number of its line.
    pub line: usize,
    /// The byte offset of its line.
    pub offset: usize,
    /// The uuid of the boundary.
    pub uuid: String,
    /// The line of its summary.
    pub summary_line: usize,
    /// `compactMetadata.preTokens`.
    pub pre_tokens: u64,
    /// Lines kept verbatim, in file order.
    pub kept: Vec<usize>,
}

/// A microcompact boundary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedClearing {
    /// The number of its line.
    pub line: usize,
    /// `compactedToolIds`.
    pub tool_ids: Vec<String>,
}

/// The truth about a generated transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// The number of lines in the file; each is an intact entry.
    pub lines: usize,
    /// The session's id.
    pub session_id: String,
    /// The number of main responses: distinct message ids, without API errors.
    pub rounds: usize,
    /// The number of main tool calls by tool.
    pub calls: BTreeMap<&'static str, usize>,
    /// The main usage, counting each message id once.
    pub usage: ExpectedUsage,
    /// The usage of sidechain lines in the same file.
    pub sidechain_usage: ExpectedUsage,
    /// The number of main reads of a path and range that had been read before.
    pub duplicate_reads: usize,
    /// Compact boundaries in file order.
    pub boundaries: Vec<ExpectedBoundary>,
    /// Microcompact boundaries in file order.
    pub clearings: Vec<ExpectedClearing>,
    /// The user, assistant and attachment lines that the model sees next, in that order, without API errors.
    pub live: Vec<usize>,
    /// The first line and the usage of the newest response in the live view since the last boundary, if any.
    pub anchor: Option<(usize, ExpectedUsage)>,
    /// The uuid at the end of the main chain.
    pub last_uuid: String,
}

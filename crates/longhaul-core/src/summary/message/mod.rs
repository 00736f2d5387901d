//! The message that replaces the summarized part of the conversation (F9).
//!
//! Readers recognize it by its entry's flags, never by its text.

use super::Summary;
use crate::quoting::inline;

/// Who started the compaction, and who is there to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionMode {
    /// The user asked for the compaction and will say what comes next.
    Manual,
    /// The compaction happened in the middle of a turn, and the work continues by itself.
    Automatic,
    /// The agent works alone, and no user is there to ask.
    Autonomous,
}

/// The position of messages that were kept word for word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptPlacement {
    /// No messages were kept.
    Nothing,
    /// The kept messages are before the summary.
    Before,
    /// The kept messages are after the summary.
    Behind,
}

/// How to look up details that the summary does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DetailLookup<'a> {
    /// The path of the transcript, if the model has a tool that reads files.
    pub transcript: Option<&'a str>,
    /// The name of the recall tool, if the model has it.
    pub recall_tool: Option<&'a str>,
}

/// The parts of the message.
#[derive(Debug, Clone, Copy)]
pub struct SummaryMessage<'a> {
    /// The summary; `None` if the provider's own summary precedes this message.
    pub summary: Option<&'a Summary>,
    /// The engine's additions, which the summary must hold but left out. This may be blank.
    pub appendix: &'a str,
    /// How to look up details.
    pub look_up: DetailLookup<'a>,
    /// The position of kept messages.
    pub kept: KeptPlacement,
    /// How to continue.
    pub mode: CompactionMode,
}

impl SummaryMessage<'_> {
    /// Returns the text of the message.
    pub fn text(&self) -> String {
        let opening = match (self.summary, self.kept) {
            (None, _) => include_str!("opening_provider.md"),
            (Some(_), KeptPlacement::Nothing | KeptPlacement::Behind) => include_str!("opening.md"),
            (Some(_), KeptPlacement::Before) => include_str!("opening_recent.md"),
        };
        let kept = match self.kept {
            KeptPlacement::Behind => include_str!("kept_behind.md"),
            KeptPlacement::Nothing | KeptPlacement::Before => "",
        };
        let transcript = self.look_up.transcript.map_or_else(String::new, |path| {
            include_str!("transcript.md").replace("{path}", &inline(path))
        });
        let recall = self.look_up.recall_tool.map_or_else(String::new, |tool| {
            include_str!("recall.md").replace("{tool}", &inline(tool))
        });
        let go_on = match self.mode {
            CompactionMode::Manual => "",
            CompactionMode::Automatic => include_str!("automatic.md"),
            CompactionMode::Autonomous => include_str!("autonomous.md"),
        };
        super::joined(&[
            opening,
            self.summary.map_or("", Summary::text),
            self.appendix,
            &transcript,
            &recall,
            kept,
            go_on,
        ])
    }
}

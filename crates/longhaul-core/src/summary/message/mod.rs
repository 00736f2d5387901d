//! The message that stands in the conversation for what was summed up (F9).
//!
//! Readers know it by its entry's flags, never by these words.

use super::Summary;
use crate::quoting::inline;

/// Who set the compaction off, and who is there to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionMode {
    /// The user asked for it and will say what comes next.
    Manual,
    /// It happened in the middle of a turn: the work goes on by itself.
    Automatic,
    /// The agent works alone, and nobody is there to ask.
    Autonomous,
}

/// Where messages that were kept word for word stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptPlacement {
    /// None were kept.
    Nothing,
    /// Before the summary.
    Before,
    /// Behind the summary.
    Behind,
}

/// How details are looked up that the summary does not have.
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
    /// The summary; none if the provider's own stands before this message.
    pub summary: Option<&'a Summary>,
    /// What the engine adds of its own: what the summary must hold and left out. May be blank.
    pub appendix: &'a str,
    /// Where to look up details.
    pub look_up: DetailLookup<'a>,
    /// What was kept.
    pub kept: KeptPlacement,
    /// What to do next.
    pub mode: CompactionMode,
}

impl SummaryMessage<'_> {
    /// The text.
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

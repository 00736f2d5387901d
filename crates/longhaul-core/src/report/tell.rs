//! Words a loss report for people.

use std::fmt::Write as _;

use super::{LossReport, ViewTokens};
use crate::figures::{counted, grouped};

/// The maximum number of lines of notes. The whole report stays below twenty-five lines.
const MOST_NOTES: usize = 12;
/// The maximum number of characters of a note.
const LONGEST_NOTE: usize = 300;

/// When a report is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReportTime {
    BeforeApproval,
    AfterCompaction,
}

impl LossReport {
    /// Returns one line for a status display.
    pub fn status_line(&self) -> String {
        let mut line = format!(
            "Compacted {} → {} tokens",
            grouped(self.tokens.before),
            grouped(self.tokens.after)
        );
        let messages = &self.user_messages;
        let _ = match messages.verbatim == messages.total {
            true if messages.total == 0 => Ok(()),
            true if messages.total == 1 => write!(line, "; the user message kept"),
            true => write!(line, "; all {} user messages kept", grouped(messages.total)),
            false => write!(
                line,
                "; {} of {} user messages whole",
                grouped(messages.verbatim),
                grouped(messages.total)
            ),
        };
        if self.files.restored > 0 {
            let _ = write!(line, "; {} restored", counted(self.files.restored, "file"));
        }
        line
    }

    /// Returns the report for people: what was dropped, kept, restored and left out, in at most twenty-five lines. Its
    /// sizes are those of the conversation, without the request prefix.
    pub fn tell(&self) -> String {
        self.tell_of(self.tokens)
    }

    /// Returns the report for people with these sizes: a host that knows its request prefix gives those of whole requests,
    /// as it shows them elsewhere.
    pub fn tell_of(&self, sizes: ViewTokens) -> String {
        self.tell_at(ReportTime::AfterCompaction, sizes)
    }

    /// Returns the report for people before the summary is approved: nothing is in the archive yet.
    pub fn tell_preview_of(&self, sizes: ViewTokens) -> String {
        self.tell_at(ReportTime::BeforeApproval, sizes)
    }

    fn tell_at(&self, time: ReportTime, sizes: ViewTokens) -> String {
        let mut text = String::new();
        let mut line = |name: &str, what: String| {
            let _ = writeln!(text, "{name:<15}{what}");
        };
        let (before, after) = (sizes.before, sizes.after);
        let saved = match before.checked_sub(after) {
            Some(saved) if before > 0 => format!(" ({}% less)", saved * 100 / before),
            _ => String::new(),
        };
        line(
            "Tokens",
            format!(
                "{} before, {} after{saved}",
                grouped(before),
                grouped(after)
            ),
        );
        let messages = &self.user_messages;
        let mut what = of(messages.verbatim, messages.total);
        if messages.shortened > 0 {
            let _ = write!(what, ", {} shortened", grouped(messages.shortened));
        }
        if messages.omitted > 0 {
            let _ = write!(what, ", {} left out for budget", grouped(messages.omitted));
        }
        line("User messages", what);
        line("Rules", of(self.rules.verbatim, self.rules.total));
        let files = &self.files;
        let mut what = format!(
            "{} touched, {} restored",
            grouped(files.touched),
            grouped(files.restored)
        );
        if files.left_out > 0 {
            // A note says why: for want of room, or because the view would not have become smaller.
            let _ = write!(what, ", {} left out", grouped(files.left_out));
        }
        line("Files", what);
        line(
            "Todos",
            format!(
                "{} open, {} kept",
                grouped(self.todos.open),
                grouped(self.todos.kept)
            ),
        );
        let dropped = grouped(self.results.cleared);
        line(
            "Tool results",
            match time {
                ReportTime::AfterCompaction if self.results.cleared > 0 => format!(
                    "{dropped} dropped, {} of them in the archive",
                    grouped(self.results.archived)
                ),
                _ => format!("{dropped} dropped"),
            },
        );
        for note in self.notes.iter().take(MOST_NOTES) {
            let note = note.split_whitespace().collect::<Vec<_>>().join(" ");
            line("Note", note.chars().take(LONGEST_NOTE).collect());
        }
        if self.notes.len() > MOST_NOTES {
            let more = (self.notes.len() - MOST_NOTES) as u64;
            line("Note", format!("and {}", counted(more, "more note")));
        }
        text
    }
}

/// How many of all were kept.
fn of(kept: u64, all: u64) -> String {
    format!("{} of {} word for word", grouped(kept), grouped(all))
}

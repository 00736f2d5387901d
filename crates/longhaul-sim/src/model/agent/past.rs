//! What the agent remembers: the summary that the conversation continues from, and the user's requests.

use crate::model::constraints::ReplyConstraints;
use crate::model::conversation::{first_line, own_texts};
use crate::model::digest::{CarriedSummary, SectionTopic};
use crate::request::MessagesRequest;

/// The text by which hosts mark that the user stopped a turn.
const INTERRUPTED: &str = "[Request interrupted";
/// The elements around what the user ran in the shell.
const SHELL: [&str; 3] = ["<bash-input>", "<bash-stdout>", "<bash-stderr>"];
/// The beginning of a message that replaces compacted messages, whoever wrote the summary.
const OPENING: &str = "This session continues an earlier conversation";
/// The maximum number of summary lines to quote.
const MOST_LINES: usize = 6;

/// What the agent remembers of earlier messages.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// The user's newest words; blank if the newest message is a summary.
    words: String,
    /// The summary that the conversation continues from.
    summary: Option<PastSummary>,
    /// The user's prompts in order, without those that a summary quotes.
    prompts: Vec<String>,
}

/// A summary that replaces earlier messages.
#[derive(Debug)]
struct PastSummary {
    text: String,
    /// The sections of the summary, if it has any.
    sections: Option<CarriedSummary>,
    /// The prompts that the summary quotes.
    quoted: Vec<String>,
}

impl PastSummary {
    fn read(text: &str) -> Option<Self> {
        let sections = CarriedSummary::read(text);
        if sections.is_none() && !text.starts_with(OPENING) {
            return None;
        }
        let mut quoted = match &sections {
            Some(sections) => sections.messages(),
            None => quoted_in_notes(text),
        };
        quoted.retain(|said| !is_marker(said));
        Some(Self {
            text: text.to_owned(),
            quoted,
            sections,
        })
    }
}

/// The heading of session notes that says where the work stands, and the mark of a quoted prompt in them.
const STANDING: &str = "current state";
const QUOTED: &str = "- The user: ";

/// The lines under the notes' headings that contain this, without the italic description of each section.
fn under<'t>(text: &'t str, title: &str) -> Vec<&'t str> {
    let mut is_inside = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let bare = line.trim();
        if let Some(heading) = bare.strip_prefix("# ") {
            is_inside = heading.to_lowercase().contains(title);
        } else if bare.starts_with("## ") {
            is_inside = false;
        } else if is_inside && !bare.is_empty() && !(bare.starts_with('_') && bare.ends_with('_')) {
            lines.push(bare);
        }
    }
    lines
}

/// What a summary that was made of notes says about the state of the work; if it has no such sections, its lines.
fn stood_in_notes(text: &str) -> Vec<&str> {
    let found = under(text, STANDING);
    if found.is_empty() {
        text.lines().skip(1).collect()
    } else {
        found
    }
}

/// The prompts that notes quote.
fn quoted_in_notes(text: &str) -> Vec<String> {
    let lines = under(text, "task").into_iter();
    let quoted = lines.filter_map(|line| line.strip_prefix(QUOTED));
    quoted
        .map(|said| said.trim_matches('"').to_owned())
        .collect()
}

/// Whether a text among the user's is a host's own: that the user stopped a turn, or what a command said.
fn is_marker(text: &str) -> bool {
    let text = text.trim_start_matches(['>', ' ']);
    text.starts_with(INTERRUPTED) || SHELL.iter().any(|element| text.starts_with(element))
}

impl Past {
    /// Reads the past from a request.
    pub(super) fn of(request: &MessagesRequest, ask: &ReplyConstraints<'_>) -> Self {
        let mut past = Self::default();
        for (at, message) in request.messages.iter().enumerate() {
            for text in own_texts(message) {
                if let Some(summary) = PastSummary::read(&text) {
                    past.summary = Some(summary);
                    past.words.clear();
                } else if !is_marker(&text) {
                    if at == ask.prompt_at {
                        past.words.clone_from(&text);
                    }
                    past.prompts.push(text);
                }
            }
        }
        past
    }

    /// The current goal: the user's newest words, or after a compaction the last ones that the summary quotes.
    pub(super) fn goal(&self) -> &str {
        match (self.goes_on(), &self.summary) {
            (true, Some(summary)) => summary.quoted.last().map_or("", String::as_str),
            _ => &self.words,
        }
    }

    /// Whether a compaction interrupted the agent's work.
    pub(super) fn goes_on(&self) -> bool {
        self.words.is_empty() && self.summary.is_some()
    }

    /// The summary as it is in the conversation; empty if there is none.
    pub(super) fn summary(&self) -> &str {
        self.summary
            .as_ref()
            .map_or("", |summary| summary.text.as_str())
    }

    /// The prompts before the newest; those that the summary quotes come first.
    pub(super) fn earlier_prompts(&self) -> Vec<&str> {
        let quoted = self.summary.iter().flat_map(|summary| &summary.quoted);
        let newest = usize::from(!self.words.is_empty());
        let before = &self.prompts[..self.prompts.len().saturating_sub(newest)];
        let quoted: Vec<&String> = quoted.collect();
        // The newest prompts that a summary quotes may also follow it, unchanged.
        let most = quoted.len().min(before.len());
        let twice = (0..=most).rev().find(|many| {
            let ends = quoted[quoted.len() - many..].iter();
            ends.copied().eq(&before[..*many])
        });
        let quoted = &quoted[..quoted.len() - twice.unwrap_or(0)];
        let all = quoted.iter().copied().chain(before);
        all.map(String::as_str).collect()
    }

    /// A few lines of what the summary says about the state of the work.
    pub(super) fn where_it_stood(&self) -> Vec<&str> {
        const TELLING: [SectionTopic; 5] = [
            SectionTopic::Current,
            SectionTopic::Next,
            SectionTopic::Continuing,
            SectionTopic::Pending,
            SectionTopic::Intent,
        ];
        let Some(summary) = &self.summary else {
            return Vec::new();
        };
        let lines: Vec<&str> = match &summary.sections {
            Some(sections) => {
                let lines = TELLING.iter().flat_map(|topic| sections.on(*topic));
                lines.collect()
            }
            None => stood_in_notes(&summary.text),
        };
        let lines = lines.into_iter().map(|line| {
            first_line(line, 200)
                .trim_start_matches(['-', '*', ' '])
                .trim_end()
        });
        let lines = lines.filter(|line| line.len() > 2 && !line.contains("None found"));
        lines.take(MOST_LINES).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_host_says_in_the_users_place_is_no_prompt() {
        for marker in [
            "[Request interrupted by user]",
            "> [Request interrupted by user for tool use]",
            "> <bash-input>ls</bash-input>",
        ] {
            assert!(is_marker(marker), "{marker}");
        }
        assert!(!is_marker(
            "Why was the [Request interrupted] marker there?"
        ));
    }

    #[test]
    fn notes_say_where_the_work_stood_without_their_headings_and_descriptions() {
        let text = "This session continues an earlier conversation.\n\n## Summary\n\n# Session title\n_Five words_\nTides\n\n\
            # Current state\n_What is open_\n- At work on: Read a.log\n\n# Task specification\n_What the user asked for_\n\
            - The user: \"Look around\"\n- The user: \"Read a.log\"\n\n# Worklog\n_Steps_\n- Read it\n\n## Kept word for word\n";
        let summary = PastSummary::read(text).unwrap();
        assert_eq!(summary.quoted, ["Look around", "Read a.log"]);
        assert_eq!(stood_in_notes(text), ["- At work on: Read a.log"]);
    }
}

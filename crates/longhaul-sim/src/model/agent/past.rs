//! What the agent remembers: the summary that the conversation continues from, and the user's requests.

use crate::model::constraints::ReplyConstraints;
use crate::model::conversation::{first_line, own_texts};
use crate::model::digest::{CarriedSummary, SectionTopic};
use crate::request::MessagesRequest;

/// The text by which hosts mark that the user stopped a turn.
const INTERRUPTED: &str = "[Request interrupted";
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
        let quoted = sections.as_ref().map(CarriedSummary::messages);
        Some(Self {
            text: text.to_owned(),
            quoted: quoted.unwrap_or_default(),
            sections,
        })
    }
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
                } else if !text.starts_with(INTERRUPTED) {
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
        quoted.chain(before).map(String::as_str).collect()
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
            None => summary.text.lines().skip(1).collect(),
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

//! What the agent remembers of before: the summary that the conversation goes on from, and what the user asked for.

use crate::model::constraints::ReplyConstraints;
use crate::model::conversation::{first_line, own_texts};
use crate::model::digest::{CarriedSummary, SectionTopic};
use crate::request::MessagesRequest;

/// Hosts mark so that the user stopped a turn.
const INTERRUPTED: &str = "[Request interrupted";
/// How a message begins that stands for what was compacted, whoever wrote the summary.
const OPENING: &str = "This session continues an earlier conversation";
/// Lines of a summary that are told.
const MOST_LINES: usize = 6;

/// What it remembers.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// The user's newest words; blank where a summary is the newest.
    words: String,
    /// The summary that the conversation goes on from.
    summary: Option<Summary>,
    /// The user's prompts in order, without what a summary quotes.
    prompts: Vec<String>,
}

/// A summary that stands for earlier messages.
#[derive(Debug)]
struct Summary {
    text: String,
    /// Its sections, where it has any.
    sections: Option<CarriedSummary>,
    /// The prompts that it quotes.
    quoted: Vec<String>,
}

impl Summary {
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
    /// What a request tells of it.
    pub(super) fn of(request: &MessagesRequest, ask: &ReplyConstraints<'_>) -> Self {
        let mut past = Self::default();
        for (at, message) in request.messages.iter().enumerate() {
            for text in own_texts(message) {
                if let Some(summary) = Summary::read(&text) {
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

    /// What it works on: the user's newest words, or after a compaction those that the summary quotes last.
    pub(super) fn goal(&self) -> &str {
        match (self.goes_on(), &self.summary) {
            (true, Some(summary)) => summary.quoted.last().map_or("", String::as_str),
            _ => &self.words,
        }
    }

    /// It is in the middle of something that a compaction interrupted.
    pub(super) fn goes_on(&self) -> bool {
        self.words.is_empty() && self.summary.is_some()
    }

    /// The summary, as it stands in the conversation; empty where there is none.
    pub(super) fn summary(&self) -> &str {
        self.summary
            .as_ref()
            .map_or("", |summary| summary.text.as_str())
    }

    /// The prompts before the newest, those that the summary quotes first.
    pub(super) fn earlier_prompts(&self) -> Vec<&str> {
        let quoted = self.summary.iter().flat_map(|summary| &summary.quoted);
        let newest = usize::from(!self.words.is_empty());
        let before = &self.prompts[..self.prompts.len().saturating_sub(newest)];
        quoted.chain(before).map(String::as_str).collect()
    }

    /// What the summary says about where the work stood, a few lines of it.
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

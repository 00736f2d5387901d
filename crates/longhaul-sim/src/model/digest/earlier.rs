//! An earlier summary that is a message of the conversation: it is recognized by its sections, whoever wrote it, and
//! read back so that the next summary includes its content.

use super::host_words::HostedSummary;
use super::topic::{SectionTopic, heading};

/// The tags around a user message that our own summaries quote.
pub(crate) const QUOTE: (&str, &str) = ("<message>", "</message>");

/// An earlier summary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CarriedSummary {
    /// The sections in order, without the text before the first.
    sections: Vec<(SectionTopic, String)>,
}

impl CarriedSummary {
    /// Reads a message as a summary, without what the host says after it; `None` if it is something else.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = HostedSummary::read(text).summary;
        let mut sections: Vec<(SectionTopic, String)> = Vec::new();
        let mut quoting = false;
        for line in text.lines() {
            let trimmed = line.trim();
            if trimmed == QUOTE.0 {
                quoting = true;
            } else if trimmed == QUOTE.1 {
                quoting = false;
            }
            let next = sections.len() + 1;
            match heading(line) {
                Some((number, title))
                    if !quoting
                        && number == next
                        && SectionTopic::of(title) != SectionTopic::Other =>
                {
                    let after = line.split_once(title).map_or("", |(_, after)| after);
                    let after = after.trim_start_matches(['*', ':', ' ']);
                    sections.push((SectionTopic::of(title), format!("{after}\n")));
                }
                _ => {
                    if let Some((_, body)) = sections.last_mut() {
                        body.push_str(line);
                        body.push('\n');
                    }
                }
            }
        }
        (sections.len() >= 5).then_some(Self { sections })
    }

    /// A summary without known sections, to be carried over as a whole.
    pub(crate) fn loose(text: &str) -> Self {
        Self {
            sections: vec![(SectionTopic::Solving, text.to_owned())],
        }
    }

    /// The lines about a topic.
    pub(crate) fn on(&self, topic: SectionTopic) -> Vec<&str> {
        let bodies = self.sections.iter().filter(|(of, _)| *of == topic);
        bodies
            .flat_map(|(_, body)| body.lines())
            .map(str::trim_end)
            .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("</"))
            .collect()
    }

    /// The user messages that the summary quotes, in our own tags or as list items.
    pub(crate) fn messages(&self) -> Vec<String> {
        let bodies = self
            .sections
            .iter()
            .filter(|(topic, _)| *topic == SectionTopic::Messages);
        let mut messages: Vec<String> = Vec::new();
        for (_, body) in bodies {
            if body.contains(QUOTE.0) {
                let quotes = body
                    .split(QUOTE.0)
                    .skip(1)
                    .filter_map(|rest| rest.split_once(QUOTE.1));
                messages.extend(quotes.map(|(message, _)| message.trim().to_owned()));
                continue;
            }
            for line in body.lines() {
                match line
                    .trim_start()
                    .strip_prefix("- ")
                    .or_else(|| line.trim_start().strip_prefix("* "))
                {
                    Some(item) => messages.push(item.trim().trim_matches('"').to_owned()),
                    None => {
                        if let Some(last) = messages.last_mut().filter(|_| !line.trim().is_empty())
                        {
                            last.push('\n');
                            last.push_str(line.trim());
                        }
                    }
                }
            }
        }
        messages.retain(|message| !message.is_empty());
        messages
    }
}

//! What the agent remembers: the summary that the conversation continues from, what the host kept beside it, and the
//! user's requests.

use super::wish::states_rule;
use crate::model::constraints::ReplyConstraints;
use crate::model::conversation::{assistant_texts, first_line, own_texts};
use crate::model::digest::{CarriedSummary, HostedSummary, SectionTopic};
use crate::request::{ApiMessage, ApiRole, MessagesRequest};

/// The text by which hosts mark that the user stopped a turn.
const INTERRUPTED: &str = "[Request interrupted";
/// The elements around what the user ran in the shell.
const SHELL: [&str; 3] = ["<bash-input>", "<bash-stdout>", "<bash-stderr>"];
/// The beginning of a message that replaces compacted messages, whoever wrote the summary.
const OPENING: &str = "This session continues an earlier conversation";
/// The maximum number of summary lines to quote.
const MOST_LINES: usize = 6;
/// How lines begin that our own summaries and notes make of the newest messages: the messages say it better.
const OWN_LINES: &[&str] = &[
    "At work on:",
    "Last said:",
    "Last command:",
    "First asked:",
    "Most recently asked:",
    "Go on with the newest request, in the user's words:",
    "Where it stopped:",
    "Open (",
];

/// A prompt of the user that is still in the conversation.
#[derive(Debug)]
struct PastPrompt {
    text: String,
    /// The index of its message.
    at: usize,
    end: PromptEnd,
}

/// How far the work for a prompt came before the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PromptEnd {
    /// The last reply was text without calls.
    Answered,
    /// There was no reply, or results that nobody answered, or the user stopped the work.
    CutOff,
    /// Only a summary has the prompt.
    Unknown,
}

/// An earlier request of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EarlierPrompt<'p> {
    /// The words.
    pub(super) text: &'p str,
    /// The index of its message; `None` if only a summary has it.
    pub(super) at: Option<usize>,
    /// How far the work for it came.
    pub(super) end: PromptEnd,
}

/// What the agent remembers of earlier messages.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// The user's newest words; blank if the newest message is a summary.
    words: String,
    /// The summary that the conversation continues from.
    summary: Option<PastSummary>,
    /// The user's prompts in order, without those that a summary quotes.
    prompts: Vec<PastPrompt>,
}

/// A summary that replaces earlier messages.
#[derive(Debug)]
struct PastSummary {
    /// The message, and the parts of it.
    text: String,
    summary: String,
    kept: String,
    /// The sections of the summary, if it has any.
    sections: Option<CarriedSummary>,
    /// The prompts that the summary quotes, and those that the host kept.
    quoted: Vec<String>,
    /// The number of the user's messages by then, as far as the host says.
    counted: usize,
}

impl PastSummary {
    fn read(text: &str) -> Option<Self> {
        let sections = CarriedSummary::read(text);
        if sections.is_none() && !text.starts_with(OPENING) {
            return None;
        }
        let HostedSummary { summary, kept } = HostedSummary::read(text);
        let mut quoted = match &sections {
            Some(sections) => sections.messages(),
            None => quoted_in_notes(summary),
        };
        let kept_messages = kept_messages(kept);
        let counted = kept_messages.last().map_or(0, |(number, _)| *number);
        // A message that was said twice may be quoted and kept.
        let mut twice = (quoted.len() + kept_messages.len()).saturating_sub(counted);
        let fresh = kept_messages.into_iter().rev().filter(|(_, message)| {
            let is_known = twice > 0 && quoted.contains(message);
            twice -= usize::from(is_known);
            !is_known
        });
        let fresh: Vec<(usize, String)> = fresh.collect();
        for (number, message) in fresh.into_iter().rev() {
            quoted.insert((number - 1).min(quoted.len()), message);
        }
        quoted.retain(|said| !is_marker(said));
        Some(Self {
            counted: counted.max(quoted.len()),
            text: text.to_owned(),
            summary: summary.to_owned(),
            kept: kept.to_owned(),
            quoted,
            sections,
        })
    }
}

/// The lines of a part of what a host kept.
fn kept_under<'t>(kept: &'t str, title: &str) -> Vec<&'t str> {
    let lines = kept.lines().skip_while(|line| !line.starts_with(title));
    let lines = lines.skip(1).take_while(|line| !line.starts_with("### "));
    lines.filter(|line| !line.trim().is_empty()).collect()
}

/// The user's messages that a host kept, with their numbers, in order.
fn kept_messages(kept: &str) -> Vec<(usize, String)> {
    let mut messages: Vec<(usize, String)> = Vec::new();
    let mut open: Option<(usize, Vec<&str>)> = None;
    for line in kept_under(kept, "### The user's messages") {
        let numbered = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        match (&mut open, numbered) {
            (Some((number, lines)), _) => {
                let ends = numbered.is_some_and(|(mark, _)| mark == format!("/{number}"));
                if ends {
                    messages.push((*number, lines.join("\n")));
                    open = None;
                } else {
                    lines.push(line);
                }
            }
            (None, Some((mark, text))) => {
                let Some(number) = mark.parse().ok().filter(|number| *number > 0) else {
                    continue;
                };
                match text.trim() {
                    "" => open = Some((number, Vec::new())),
                    text => messages.push((number, text.to_owned())),
                }
            }
            (None, None) => {}
        }
    }
    messages.sort_by_key(|(number, _)| *number);
    messages
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
            if message.role == ApiRole::Assistant {
                past.replied(message);
            }
            for text in own_texts(message) {
                if let Some(summary) = PastSummary::read(&text) {
                    past.summary = Some(summary);
                    past.words.clear();
                } else if is_marker(&text) {
                    past.marked(&text);
                } else {
                    if at == ask.prompt_at {
                        past.words.clone_from(&text);
                    }
                    let end = PromptEnd::CutOff;
                    past.prompts.push(PastPrompt { text, at, end });
                }
            }
        }
        past
    }

    /// Takes note of a reply to the newest prompt.
    fn replied(&mut self, message: &ApiMessage) {
        let calls = message.content.iter().any(|block| block.kind == "tool_use");
        let end = if calls || assistant_texts(message).is_empty() {
            PromptEnd::CutOff
        } else {
            PromptEnd::Answered
        };
        let newest = self.prompts.last().map(|prompt| prompt.at);
        // Prompts of one message are answered together.
        let together = self.prompts.iter_mut().rev();
        for prompt in together.take_while(|prompt| Some(prompt.at) == newest) {
            prompt.end = end;
        }
    }

    /// Takes note of a host's own text among the user's: the user may have stopped the work.
    fn marked(&mut self, text: &str) {
        if let Some(prompt) = self.prompts.last_mut()
            && text.contains(INTERRUPTED)
        {
            prompt.end = PromptEnd::CutOff;
        }
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
    pub(super) fn earlier_prompts(&self) -> Vec<EarlierPrompt<'_>> {
        let quoted = self.summary.iter().flat_map(|summary| &summary.quoted);
        let mut quoted: Vec<&str> = quoted.map(String::as_str).collect();
        if self.goes_on() {
            // The newest prompt is the one that is being answered.
            quoted.pop();
        }
        let newest = usize::from(!self.words.is_empty());
        let before = &self.prompts[..self.prompts.len().saturating_sub(newest)];
        // The newest prompts that a summary quotes may also follow it, unchanged.
        let most = quoted.len().min(before.len());
        let twice = (0..=most).rev().find(|many| {
            let ends = quoted[quoted.len() - many..].iter();
            ends.copied()
                .eq(before[..*many].iter().map(|prompt| prompt.text.as_str()))
        });
        quoted.truncate(quoted.len() - twice.unwrap_or(0));
        let quoted = quoted.into_iter().map(|text| EarlierPrompt {
            text,
            at: None,
            end: PromptEnd::Unknown,
        });
        let before = before.iter().map(|prompt| EarlierPrompt {
            text: &prompt.text,
            at: Some(prompt.at),
            end: prompt.end,
        });
        quoted.chain(before).collect()
    }

    /// The number of prompts before the newest that nobody quotes any more.
    pub(super) fn forgotten_prompts(&self) -> usize {
        let summary = self.summary.as_ref();
        summary.map_or(0, |summary| summary.counted - summary.quoted.len())
    }

    /// The user's rules, oldest first: those that the host kept, and those that the agent sees.
    pub(super) fn rules(&self) -> Vec<String> {
        let kept = self.summary.as_ref().map_or("", |summary| &summary.kept);
        let kept = kept_under(kept, "### Rules stated").into_iter();
        let kept = kept.filter_map(|line| line.strip_prefix("- [")?.split_once("] "));
        // A rule that was called off, or that takes one back, is no rule.
        let kept = kept.filter(|(_, rule)| !rule.starts_with('('));
        let mut rules: Vec<String> = kept.map(|(_, rule)| rule.to_owned()).collect();
        for prompt in self.earlier_prompts() {
            let rule = prompt.text.trim();
            if states_rule(rule) && !rules.iter().any(|known| rule.contains(known.as_str())) {
                rules.push(rule.to_owned());
            }
        }
        rules
    }

    /// The files that the summary and the host list, with what was done with them: the newest first.
    pub(super) fn files(&self) -> Vec<(&str, &str)> {
        let Some(summary) = &self.summary else {
            return Vec::new();
        };
        let kept = kept_under(&summary.kept, "### Files touched").into_iter();
        let told = under(&summary.summary, "files").into_iter();
        let sections = summary.sections.iter();
        let sections = sections.flat_map(|sections| sections.on(SectionTopic::Files));
        let lines = kept.chain(told).chain(sections);
        let mut files: Vec<(&str, &str)> = Vec::new();
        for line in lines.filter_map(|line| line.trim().strip_prefix("- ")) {
            let Some((path, done)) = line.trim_end_matches(':').rsplit_once(" (") else {
                continue;
            };
            let path = path.trim_matches('`');
            let is_file = !path.contains(char::is_whitespace) && done.ends_with(')');
            if is_file && !files.iter().any(|(known, _)| *known == path) {
                files.push((path, done.trim_end_matches(')')));
            }
        }
        files
    }

    /// What was open when the conversation was compacted.
    pub(super) fn open_work(&self) -> Vec<&str> {
        let Some(summary) = &self.summary else {
            return Vec::new();
        };
        let kept = kept_under(&summary.kept, "### Work still open").into_iter();
        let kept = kept.filter_map(|line| line.strip_prefix("- (")?.split_once(") "));
        let noted = under(&summary.summary, STANDING).into_iter();
        let noted = noted.filter_map(|line| line.strip_prefix("- Open (")?.split_once("): "));
        let mut open: Vec<&str> = Vec::new();
        for (_, work) in kept.chain(noted) {
            if !open.contains(&work) {
                open.push(work);
            }
        }
        open
    }

    /// What notes say was called for a prompt that they quote, as `Bash ls, Read a.rs`.
    pub(super) fn noted_calls(&self, prompt: &str) -> Option<&str> {
        let summary = self.summary.as_ref()?;
        let asked = format!("- The user: \"{}\" → ", first_line(prompt, 140));
        let noted = under(&summary.summary, "worklog").into_iter().rev();
        let sections = summary.sections.iter();
        let told = sections.flat_map(|sections| sections.on(SectionTopic::Solving));
        let mut lines = noted.chain(told);
        lines.find_map(|line| line.strip_prefix(asked.as_str()))
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
            None => stood_in_notes(&summary.summary),
        };
        let mut is_quoting = false;
        let lines = lines.into_iter().filter_map(|line| {
            let line = line.trim();
            let bare = line.trim_start_matches(['-', '*', ' ']);
            let ends = line.ends_with('"');
            if is_quoting {
                is_quoting = !ends;
                return None;
            }
            if OWN_LINES.iter().any(|own| bare.starts_with(own)) {
                // What is quoted there may have several lines.
                is_quoting = bare.contains(": \"") && !ends;
                return None;
            }
            let says = bare.len() > 2
                && !bare.starts_with('#')
                && !bare.starts_with("```")
                && !bare.contains("None found");
            says.then(|| first_line(bare, 200))
        });
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

//! Summaries on request: extractive and honest. Everything in them is taken from the conversation; the user's messages
//! are quoted verbatim as long as there is room.
//!
//! A request is recognized by what it asks for: the tags `<summary>` or `<analysis>`, with a word that asks to
//! summarize. The summary uses the headings that the request lists, so the variants (a whole conversation, a part of
//! it) need no special code. `sections` finds the content of a section, `room` divides the length, `limit` keeps it
//! within `max_tokens`. `folds` answers requests for several short summaries.

mod folds;
mod limit;
mod room;
mod sections;

use longhaul_core::quoting::unquoted;

use super::constraints::ReplyConstraints;
use super::conversation::{assistant_texts, clip, own_words};
use super::digest::{ConversationDigest, LastMessageUse, SectionTopic, asked_headings};
use super::{DraftBlock, ModelTurn, ReplyDraft};
use crate::request::ApiMessage;
use limit::Limit;

/// The maximum number of bytes in a summary, however much is allowed.
const LONGEST: usize = 60_000;
/// The shortest length worth dividing.
const SHORTEST: usize = 400;

const DEFAULT_HEADINGS: &[&str] = &[
    "Primary request and intent",
    "Key technical concepts",
    "Files and code",
    "Errors and fixes",
    "Problem solving",
    "All user messages",
    "Pending tasks",
    "Current work",
    "Next step",
];

/// Whether a user's words ask for a summary: they name the tags and also say that they want a summary. The HTML tags of
/// the same name come with `<details>`.
pub fn is_asked(words: &str) -> bool {
    const TAGS: &[&str] = &["<summary>", "</summary>", "<analysis>", "</analysis>"];
    const ASKING: &[&str] = &["summar", "recap", "condense", "compact", "conversation"];
    if folds::is_asked(words) {
        return true;
    }
    let lower = words.to_lowercase();
    if !TAGS.iter().any(|tag| lower.contains(tag)) || lower.contains("<details>") {
        return false;
    }
    let beside = TAGS.iter().fold(lower, |text, tag| text.replace(tag, " "));
    ASKING.iter().any(|word| beside.contains(word))
}

/// The reply to a request for a summary; `None` for any other request.
pub fn reply(turn: &ModelTurn<'_>) -> Option<ReplyDraft> {
    let ask = ReplyConstraints::of(turn.request);
    is_asked(&ask.words).then(|| draft(turn, &ask))
}

/// A summary of these messages in tags, of at most `room` bytes, under the default headings, for callers that compact
/// without a prompt.
pub fn summary_of(messages: &[ApiMessage], room: usize) -> String {
    write(
        &ConversationDigest::of(messages, LastMessageUse::Counts),
        &SummaryDemands::default(),
        room.min(LONGEST),
    )
}

pub(super) fn draft(turn: &ModelTurn<'_>, ask: &ReplyConstraints<'_>) -> ReplyDraft {
    let request = turn.request;
    let messages = &request.messages[..(ask.prompt_at + 1).min(request.messages.len())];
    let limit = Limit {
        tokens: request.max_tokens.unwrap_or(u64::MAX),
        tokenizer: turn.tokenizer,
        bytes: ask.room.min(LONGEST),
    };
    let text = if folds::is_asked(&ask.words) {
        limit.longest(|room| folds::write(messages, &ask.words, room))
    } else {
        let wanted = SummaryDemands::read(&ask.words);
        let digest = ConversationDigest::of(
            &messages[begin(messages, &ask.words)..],
            LastMessageUse::Asks,
        );
        limit.longest(|room| write(&digest, &wanted, room))
    };
    ReplyDraft {
        content: vec![DraftBlock::Text(text)],
        ..ReplyDraft::default()
    }
}

/// What a request demands of the summary.
#[derive(Debug)]
struct SummaryDemands {
    headings: Vec<(SectionTopic, String)>,
    analysis: bool,
    instructions: Option<String>,
}

impl Default for SummaryDemands {
    fn default() -> Self {
        Self {
            headings: DEFAULT_HEADINGS
                .iter()
                .map(|title| (SectionTopic::of(title), (*title).to_owned()))
                .collect(),
            analysis: false,
            instructions: None,
        }
    }
}

impl SummaryDemands {
    fn read(words: &str) -> Self {
        let asked = asked_headings(words);
        let default = Self::default();
        Self {
            headings: if asked.is_empty() {
                default.headings
            } else {
                asked
            },
            analysis: words.to_lowercase().contains("<analysis>"),
            instructions: instructions(words),
        }
    }
}

/// The instructions added to the request, under a heading that says so.
fn instructions(words: &str) -> Option<String> {
    let mut lines = words.lines().skip_while(|line| {
        let lower = line.trim().trim_matches(['#', '*', ' ']).to_lowercase();
        let kinds = [
            "additional",
            "custom",
            "compact",
            "extra",
            "further",
            "user",
        ];
        !kinds
            .iter()
            .any(|kind| lower.starts_with(&format!("{kind} instruction")))
    });
    let first = lines.next()?;
    let mut text = first
        .split_once(':')
        .map_or("", |(_, after)| after)
        .trim()
        .to_owned();
    for line in lines {
        let upper = line.trim_start();
        if upper.starts_with("REMINDER")
            || upper.starts_with("IMPORTANT")
            || upper.starts_with("CRITICAL")
        {
            break;
        }
        text.push('\n');
        text.push_str(line.trim_end());
    }
    let text = text.trim();
    (!text.is_empty()).then(|| clip(text, 2_000).to_owned())
}

/// Where the part to summarize begins: at the message that a request for a later part quotes, else at the start.
fn begin(messages: &[ApiMessage], words: &str) -> usize {
    let lower = words.to_lowercase();
    let partly = [
        "recent",
        "from here",
        "after this message",
        "beginning with",
        "starting with",
        "from the message",
    ];
    if !partly.iter().any(|word| lower.contains(word)) {
        return 0;
    }
    let earlier = &messages[..messages.len().saturating_sub(1)];
    let bare = without_quote_marks(words);
    // The message may be the model's own. A short one must be quoted on a line of its own, because its words may occur
    // anywhere.
    let quoted = |message: &ApiMessage| {
        let own = own_words(message);
        let said = assistant_texts(message).first().copied().unwrap_or("");
        let text = if own.is_empty() { said } else { own.trim() };
        let head = clip(text, 80);
        [words, &bare].iter().any(|words| {
            head.len() >= 12 && words.contains(head)
                || !head.is_empty() && words.lines().any(|line| line.trim() == text)
        })
    };
    earlier.iter().rposition(quoted).unwrap_or(0)
}

/// The words without the marks on quoted lines, and without the backslash that escapes a host's tag.
fn without_quote_marks(words: &str) -> String {
    unquoted(words)
        .replace("<\\system-reminder", "<system-reminder")
        .replace("<\\/system-reminder", "</system-reminder")
}

fn write(digest: &ConversationDigest<'_>, wanted: &SummaryDemands, room: usize) -> String {
    let room = room.max(SHORTEST);
    let mut text = String::new();
    if wanted.analysis {
        let analysis = sections::analysis(digest, wanted.instructions.as_deref(), room / 6);
        text.push_str(&format!("<analysis>\n{analysis}\n</analysis>\n\n"));
    }
    text.push_str("<summary>\n");
    let overhead: usize = wanted
        .headings
        .iter()
        .map(|(_, title)| title.len() + 8)
        .sum();
    let left = room.saturating_sub(text.len() + overhead + "</summary>".len());
    let bodies = room::share(
        digest,
        &wanted.headings,
        wanted.instructions.as_deref(),
        left,
    );
    for (index, ((_, title), body)) in wanted.headings.iter().zip(bodies).enumerate() {
        text.push_str(&format!("{}. {title}:\n{body}\n", index + 1));
    }
    text.push_str("</summary>");
    text
}

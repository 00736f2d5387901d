//! What happened in a conversation, drawn from it and from nothing else: the user's messages, the files touched, the
//! commands run, the failures and what followed them, the todo list. Summaries and notes are written from it.

mod earlier;
mod topic;

use std::collections::BTreeMap;

use serde_json::Value;

pub(crate) use earlier::{CarriedSummary, QUOTE};
pub(crate) use topic::{SectionTopic, asked_headings};

use super::conversation::{
    ToolExchange, assistant_texts, clip, exchanges, first_line, own_texts, own_words,
};
use super::toolbox::{PATH_FIELDS, ToolPurpose, kind_of_name};
use crate::request::{ApiMessage, ApiRole};

/// What was last done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DigestFileAction {
    /// It was read.
    Read,
    /// It was changed in place.
    Edited,
    /// It was written whole.
    Written,
}

/// A file that was touched.
#[derive(Debug, Clone)]
pub(crate) struct DigestFile {
    /// Where it is.
    pub(crate) path: String,
    /// The weightiest thing done to it.
    pub(crate) done: DigestFileAction,
    /// Some of it: what an edit put in, or how it begins.
    pub(crate) snippet: String,
    /// When it was last touched, by order of calls.
    last: usize,
}

/// A command that was run.
#[derive(Debug, Clone)]
pub(crate) struct DigestCommand {
    /// The command.
    pub(crate) command: String,
    /// The first line of what it said.
    pub(crate) said: String,
    /// It failed.
    pub(crate) failed: bool,
}

/// A call that failed.
#[derive(Debug, Clone)]
pub(crate) struct DigestFailure {
    /// The call, as in "Edit src/lib.rs".
    pub(crate) call: String,
    /// The first line of the error.
    pub(crate) error: String,
    /// What came next: the same thing succeeding later, or another call.
    pub(crate) fix: Option<String>,
}

/// What the user says in the last message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastMessageUse {
    /// The request for the digest: not part of it.
    Asks,
    /// Part of the conversation like the rest.
    Counts,
}

/// What happened.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConversationDigest<'a> {
    /// The user's messages in order, those an earlier summary quotes first.
    pub(crate) messages: Vec<String>,
    /// Files, the changed before the read, the newest first.
    pub(crate) files: Vec<DigestFile>,
    /// Commands in order.
    pub(crate) ran: Vec<DigestCommand>,
    /// Failures in order.
    pub(crate) failures: Vec<DigestFailure>,
    /// The newest todo list: text and status.
    pub(crate) todos: Vec<(String, String)>,
    /// What the model said, in order.
    pub(crate) said: Vec<&'a str>,
    /// How often each tool was called.
    pub(crate) tools: BTreeMap<&'a str, usize>,
    /// A line for each prompt of the user: what was asked, what was called.
    pub(crate) walk: Vec<String>,
    /// Earlier summaries, oldest first.
    pub(crate) earlier: Vec<CarriedSummary>,
}

impl<'a> ConversationDigest<'a> {
    /// The digest of a stretch of messages.
    pub(crate) fn of(messages: &'a [ApiMessage], last: LastMessageUse) -> Self {
        let mut digest = Self::default();
        let calls = exchanges(messages);
        for (index, exchange) in calls.iter().enumerate() {
            *digest.tools.entry(exchange.name).or_default() += 1;
            digest.exchange(index, exchange, &calls);
        }
        digest.files.sort_by(|one, other| {
            let weight = |file: &DigestFile| (file.done != DigestFileAction::Read, file.last);
            weight(other).cmp(&weight(one))
        });
        let end = match last {
            LastMessageUse::Asks => messages.len().saturating_sub(1),
            LastMessageUse::Counts => messages.len(),
        };
        for (at, message) in messages.iter().enumerate() {
            if message.role == ApiRole::User && at < end {
                digest.compacted(message);
                digest.words(own_words(message));
            } else if message.role == ApiRole::User {
                // What the user said just before the request came is sent in one message with it.
                digest.compacted(message);
                let mut texts = own_texts(message);
                texts.pop();
                digest.words(texts.join("\n\n"));
            }
            digest.said.extend(assistant_texts(message));
            let here = calls.iter().filter(|exchange| exchange.at == at);
            for exchange in here {
                if let Some(line) = digest.walk.last_mut().filter(|line| line.len() < 400) {
                    line.push_str(if line.contains(" → ") {
                        ", "
                    } else {
                        " → "
                    });
                    line.push_str(&named(exchange));
                    line.push_str(if exchange.failed() { " (failed)" } else { "" });
                }
            }
        }
        digest
    }

    fn compacted(&mut self, message: &ApiMessage) {
        let compacted = message
            .content
            .iter()
            .filter(|block| block.kind == "compaction");
        for text in compacted.filter_map(|block| block.text("content")) {
            self.earlier
                .push(CarriedSummary::read(text).unwrap_or_else(|| CarriedSummary::loose(text)));
        }
    }

    fn words(&mut self, words: String) {
        if words.is_empty() {
            return;
        }
        if let Some(earlier) = CarriedSummary::read(&words) {
            self.messages.extend(earlier.messages());
            self.walk
                .push("An earlier summary opens this stretch; it is carried on.".to_owned());
            self.earlier.push(earlier);
            return;
        }
        self.walk
            .push(format!("The user: \"{}\"", first_line(&words, 140)));
        self.messages.push(words);
    }

    fn exchange(&mut self, index: usize, exchange: &ToolExchange<'a>, calls: &[ToolExchange<'a>]) {
        if exchange.failed() {
            self.failures.push(DigestFailure {
                call: named(exchange),
                error: first_line(&exchange.text(), 200).to_owned(),
                fix: fix(exchange, &calls[index + 1..]),
            });
        }
        let path = exchange.input_any(PATH_FIELDS);
        match (kind_of_name(exchange.name), path) {
            (ToolPurpose::Bash, _) => self.ran.push(DigestCommand {
                command: exchange.input_text("command").unwrap_or("").to_owned(),
                said: first_line(&exchange.text(), 160).to_owned(),
                failed: exchange.failed(),
            }),
            (ToolPurpose::Todo, _) if exchange.succeeded() => {
                let entries = exchange.input.get("todos").and_then(Value::as_array);
                let text = |entry: &Value, key: &str| {
                    entry
                        .get(key)
                        .and_then(Value::as_str)
                        .unwrap_or("")
                        .to_owned()
                };
                self.todos = entries
                    .into_iter()
                    .flatten()
                    .map(|entry| (text(entry, "content"), text(entry, "status")))
                    .collect();
            }
            (ToolPurpose::Read | ToolPurpose::Editor, Some(path)) if exchange.succeeded() => {
                let shown = exchange.text();
                self.touch(index, path, DigestFileAction::Read, clip(&shown, 320));
            }
            (ToolPurpose::Edit, Some(path)) if exchange.succeeded() => {
                let new = exchange.input_any(&["new_string", "new_str"]).unwrap_or("");
                self.touch(index, path, DigestFileAction::Edited, clip(new, 500));
            }
            (ToolPurpose::MultiEdit, Some(path)) if exchange.succeeded() => {
                self.touch(index, path, DigestFileAction::Edited, "")
            }
            (ToolPurpose::Write, Some(path)) if exchange.succeeded() => {
                let content = exchange.input_text("content").unwrap_or("");
                self.touch(index, path, DigestFileAction::Written, clip(content, 500));
            }
            _ => {}
        }
    }

    fn touch(&mut self, last: usize, path: &str, done: DigestFileAction, snippet: &str) {
        match self.files.iter_mut().find(|file| file.path == path) {
            Some(file) => {
                file.last = last;
                if done != DigestFileAction::Read || file.done == DigestFileAction::Read {
                    file.snippet = snippet.to_owned();
                }
                file.done = file.done.max(done);
            }
            None => self.files.push(DigestFile {
                path: path.to_owned(),
                done,
                snippet: snippet.to_owned(),
                last,
            }),
        }
    }
}

/// A call in a few words: the tool and what it was about.
fn named(exchange: &ToolExchange<'_>) -> String {
    let fields: Vec<&str> = PATH_FIELDS
        .iter()
        .copied()
        .chain(["command", "pattern", "query", "url", "description"])
        .collect();
    match exchange.input_any(&fields) {
        Some(about) => format!("{} {}", exchange.name, first_line(about, 100)),
        None => exchange.name.to_owned(),
    }
}

fn fix(failure: &ToolExchange<'_>, later: &[ToolExchange<'_>]) -> Option<String> {
    let target = |exchange: &ToolExchange<'_>| {
        exchange
            .input_any(PATH_FIELDS)
            .or_else(|| exchange.input_text("command"))
            .map(str::to_owned)
    };
    let same = later.iter().find(|exchange| {
        exchange.succeeded() && exchange.name == failure.name && target(exchange) == target(failure)
    });
    if let Some(same) = same {
        return Some(format!("{} went through later", named(same)));
    }
    let next = later.iter().find(|exchange| exchange.succeeded())?;
    Some(format!("followed by {}", named(next)))
}

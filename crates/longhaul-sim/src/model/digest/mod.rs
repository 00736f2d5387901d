//! What happened in a conversation, taken only from the conversation itself: the user's messages, the files used, the
//! commands run, the failures and what followed them, the todo list. Summaries and notes are written from it.

mod earlier;
mod host_words;
mod topic;

use std::collections::BTreeMap;

use serde_json::Value;

pub(crate) use earlier::{CarriedSummary, QUOTE};
pub(crate) use host_words::HostedSummary;
pub(crate) use topic::{SectionTopic, asked_headings};

use super::conversation::{ToolExchange, assistant_texts, clip, exchanges, first_line, own_texts};
use super::toolbox::{PATH_FIELDS, ToolPurpose, kind_of_name};
use crate::request::{ApiMessage, ApiRole};

/// What was last done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DigestFileAction {
    /// The file was read.
    Read,
    /// The file was changed in place.
    Edited,
    /// The file was written as a whole.
    Written,
}

/// A file that was used.
#[derive(Debug, Clone)]
pub(crate) struct DigestFile {
    /// The path of the file.
    pub(crate) path: String,
    /// The most important thing done with it.
    pub(crate) done: DigestFileAction,
    /// A part of its content: the text of an edit, or its beginning.
    pub(crate) snippet: String,
    /// The position of the last call that used it.
    last: usize,
}

/// A command that was run.
#[derive(Debug, Clone)]
pub(crate) struct DigestCommand {
    /// The command line.
    pub(crate) command: String,
    /// The first line of its output.
    pub(crate) said: String,
    /// Whether it failed.
    pub(crate) failed: bool,
}

/// A call that failed.
#[derive(Debug, Clone)]
pub(crate) struct DigestFailure {
    /// The call, such as "Edit src/lib.rs".
    pub(crate) call: String,
    /// The first line of the error.
    pub(crate) error: String,
    /// What came next: a later success of the same kind, or another call.
    pub(crate) fix: Option<String>,
}

/// How to treat the user's words in the last message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LastMessageUse {
    /// They request the digest and are not part of it.
    Asks,
    /// They are part of the conversation like the rest.
    Counts,
}

/// The digest of a conversation.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConversationDigest<'a> {
    /// The user's messages in order; those that an earlier summary quotes come first.
    pub(crate) messages: Vec<String>,
    /// The files: changed ones before read ones, the newest first.
    pub(crate) files: Vec<DigestFile>,
    /// The commands in order.
    pub(crate) ran: Vec<DigestCommand>,
    /// The failures in order.
    pub(crate) failures: Vec<DigestFailure>,
    /// The newest todo list: text and status.
    pub(crate) todos: Vec<(String, String)>,
    /// The model's texts in order.
    pub(crate) said: Vec<&'a str>,
    /// How often each tool was called.
    pub(crate) tools: BTreeMap<&'a str, usize>,
    /// One line per prompt of the user: the request, and the calls.
    pub(crate) walk: Vec<String>,
    /// Earlier summaries, oldest first.
    pub(crate) earlier: Vec<CarriedSummary>,
}

impl<'a> ConversationDigest<'a> {
    /// The digest of some messages.
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
                digest.words(own_texts(message));
            } else if message.role == ApiRole::User {
                // The user's words just before the request are sent in one message with it.
                digest.compacted(message);
                let mut texts = own_texts(message);
                texts.pop();
                digest.words(texts);
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

    /// Adds the user's words in one message. A summary may come first: the words that follow it are the user's.
    fn words(&mut self, texts: Vec<String>) {
        let mut own = Vec::new();
        for text in texts {
            let Some(earlier) = CarriedSummary::read(&text) else {
                own.push(text);
                continue;
            };
            self.messages.extend(earlier.messages());
            self.walk
                .push("An earlier summary opens this stretch; it is carried on.".to_owned());
            self.earlier.push(earlier);
        }
        let words = own.join("\n\n");
        if words.is_empty() {
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
                said: match exchange.is_out_of_view() {
                    true => "what is no longer in view".to_owned(),
                    false => first_line(&exchange.text(), 160).to_owned(),
                },
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
                let shown = if exchange.is_out_of_view() {
                    ""
                } else {
                    &shown
                };
                self.touch(index, path, DigestFileAction::Read, clip(shown, 320));
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

/// A call in a few words: the tool and its subject.
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

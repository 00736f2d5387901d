//! A conversation as a model sees it: the user's own words, and which calls got which results. It knows nothing of
//! particular tools; `toolbox` distinguishes those.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::earlier_results::{self, ReadResult};
use crate::request::{ApiBlock, ApiMessage, ApiRole};

const REMINDER: (&str, &str) = ("<system-reminder>", "</system-reminder>");

/// One tool call and its result.
#[derive(Debug, Clone)]
pub(crate) struct ToolExchange<'a> {
    /// The index of the message that made the call, within the slice.
    pub at: usize,
    /// The name of the tool.
    pub name: &'a str,
    /// The input of the call.
    pub input: &'a Map<String, Value>,
    result: Option<&'a ApiBlock>,
    read: ReadResult,
}

impl<'a> ToolExchange<'a> {
    /// A field of the input, if it is a string.
    pub(crate) fn input_text(&self, field: &str) -> Option<&'a str> {
        self.input.get(field).and_then(Value::as_str)
    }

    /// The first of these fields that is present.
    pub(crate) fn input_any(&self, fields: &[&str]) -> Option<&'a str> {
        fields.iter().find_map(|field| self.input_text(field))
    }

    /// Whether there is a result.
    pub(crate) fn answered(&self) -> bool {
        self.result.is_some()
    }

    /// Whether the result reports a failure.
    pub(crate) fn failed(&self) -> bool {
        self.result
            .and_then(|block| block.fields.get("is_error"))
            .and_then(Value::as_bool)
            .unwrap_or(false)
    }

    /// Whether there is a result and it is not a failure.
    pub(crate) fn succeeded(&self) -> bool {
        self.answered() && !self.failed()
    }

    /// Whether the result refers to an earlier one that is no longer in view, or was cleared: then its text is a note.
    pub(crate) fn is_out_of_view(&self) -> bool {
        matches!(self.read, ReadResult::OutOfView)
    }

    /// The text of the result. Where the host sent a pointer to an earlier result, or what changed since, it is the text
    /// that this stands for.
    pub(crate) fn text(&self) -> Cow<'a, str> {
        match &self.read {
            ReadResult::Restored(text) => Cow::Owned(text.to_string()),
            ReadResult::AsSent | ReadResult::OutOfView => {
                (self.result).map_or(Cow::Borrowed(""), ApiBlock::result_text)
            }
        }
    }
}

/// The calls of these messages in order, with their results.
pub(crate) fn exchanges(messages: &[ApiMessage]) -> Vec<ToolExchange<'_>> {
    let mut results: BTreeMap<&str, &ApiBlock> = BTreeMap::new();
    for block in messages.iter().flat_map(|message| &message.content) {
        if block.kind == "tool_result"
            && let Some(id) = block.text("tool_use_id")
        {
            results.insert(id, block);
        }
    }
    let mut found = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        if message.role != ApiRole::Assistant {
            continue;
        }
        for block in &message.content {
            if block.kind == "tool_use"
                && let Some(name) = block.text("name")
                && let Some(Value::Object(input)) = block.fields.get("input")
            {
                let result = block.text("id").and_then(|id| results.get(id).copied());
                let read = result.map_or(ReadResult::AsSent, |result| {
                    earlier_results::read(result, &results)
                });
                found.push(ToolExchange {
                    at,
                    name,
                    input,
                    result,
                    read,
                });
            }
        }
    }
    found
}

/// The text of a user message without tool results and the host's reminders.
pub(crate) fn own_words(message: &ApiMessage) -> String {
    own_texts(message).join("\n\n")
}

/// What agents put around the output of a shell command in a user's own command.
const COMMAND_OUTPUT: (&str, &str) = ("<command-output>", "</command-output>");

/// What agents put around what the user typed, after the text that a command of their own stands for. `/pw` is no path.
const TYPED_COMMAND: (&str, &str) = ("<typed-command>", "</typed-command>");

/// What agents write about a pasted picture begins with this.
const PICTURE_SOURCE: &str = "[Image: source: ";

/// The own words of a user message, one text per block: texts of different times are often sent as one message.
pub fn own_texts(message: &ApiMessage) -> Vec<String> {
    if message.role != ApiRole::User {
        return Vec::new();
    }
    message
        .content
        .iter()
        .filter(|block| block.kind == "text")
        .map(|block| without_reminders(block.text("text").unwrap_or("")))
        .map(|text| without(&text, COMMAND_OUTPUT).into_owned())
        .map(|text| without(&text, TYPED_COMMAND).trim().to_owned())
        .filter(|text| !text.is_empty() && !text.starts_with(PICTURE_SOURCE))
        .collect()
}

/// The texts of the model in a message.
pub(crate) fn assistant_texts(message: &ApiMessage) -> Vec<&str> {
    if message.role != ApiRole::Assistant {
        return Vec::new();
    }
    message
        .content
        .iter()
        .filter(|block| block.kind == "text")
        .filter_map(|block| block.text("text"))
        .map(str::trim)
        .filter(|text| !text.is_empty())
        .collect()
}

/// The newest message with the user's own words: its index and the words.
pub fn prompt(messages: &[ApiMessage]) -> Option<(usize, String)> {
    messages.iter().enumerate().rev().find_map(|(at, message)| {
        let words = own_words(message);
        (!words.is_empty()).then_some((at, words))
    })
}

fn without_reminders(text: &str) -> Cow<'_, str> {
    // A block that is one whole reminder may quote others, for example in a file that it shows.
    let whole = text.trim().strip_prefix(REMINDER.0);
    if whole.is_some_and(|inside| inside.ends_with(REMINDER.1)) {
        return Cow::Borrowed("");
    }
    without(text, REMINDER)
}

/// A text without an element that agents write. One that is never closed counts as words, so that nothing of the user's is
/// lost.
fn without<'t>(text: &'t str, (begin, end): (&str, &str)) -> Cow<'t, str> {
    if !text.contains(begin) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once(begin) {
        kept.push_str(before);
        let Some((_, after)) = inside.split_once(end) else {
            kept.push_str(inside);
            return Cow::Owned(kept);
        };
        rest = after;
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

/// Whether a word is in a list that is written as a text.
pub(crate) fn among(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// At most `limit` bytes of a text, cut at a character boundary.
pub(crate) fn clip(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// At most `limit` bytes of the first line that is not blank.
pub(crate) fn first_line(text: &str, limit: usize) -> &str {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    clip(line.unwrap_or(""), limit)
}

/// The first line of a text. A line that only announces what follows takes the next one with it.
pub(crate) fn gist(text: &str, limit: usize) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| {
        let is_fence = line.starts_with("```");
        !line.is_empty() && !is_fence
    });
    let first = lines.next().unwrap_or("");
    match lines.next().filter(|_| first.ends_with(':')) {
        Some(next) => {
            let next = next.trim_start_matches(['-', '*', '>', ' ']);
            clip(&format!("{first} {next}"), limit).to_owned()
        }
        None => clip(first, limit).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_announces_something_is_not_the_gist_of_a_text() {
        let said = "`ls` ran. The end of what it said:\n\n```\na.md\nb.md\n```";
        assert_eq!(gist(said, 80), "`ls` ran. The end of what it said: a.md");
        assert_eq!(gist("Found in:\n- `a.rs:1`", 80), "Found in: `a.rs:1`");
        assert_eq!(gist("Done.\nMore.", 80), "Done.");
        assert_eq!(gist("Nothing:", 80), "Nothing:");
    }

    #[test]
    fn what_agents_write_into_a_text_is_not_the_users() {
        let text = "Explain it. <command-output>rm -rf x</command-output> Briefly.";
        assert_eq!(without(text, COMMAND_OUTPUT), "Explain it.  Briefly.");
        assert_eq!(
            without_reminders("a <system-reminder>b</system-reminder>c"),
            "a c"
        );
        // One that is never closed may be the user's own.
        assert_eq!(without("see <command-output>x", COMMAND_OUTPUT), "see x");
    }
}

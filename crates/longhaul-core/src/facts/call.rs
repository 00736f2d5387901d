//! A tool call while its result is awaited: which tool, about what.

use std::borrow::Cow;

use crate::json::{self, JsonCursor};
use crate::message::{EntryBlock, EntryView};
use crate::xxh3::xxh3_64_with_seed;

/// What a call is about is kept up to this many bytes.
const LONGEST_SUBJECT: usize = 400;

/// The fields of an input that tell what a call is about, the most telling first.
const SUBJECTS: [&[u8]; 12] = [
    b"file_path",
    b"notebook_path",
    b"path",
    b"command",
    b"pattern",
    b"url",
    b"query",
    b"subject",
    b"taskId",
    b"description",
    b"prompt",
    b"skill",
];

/// A call as far as facts need it.
#[derive(Debug, Clone)]
pub(crate) struct FactCall {
    pub(crate) tool: String,
    /// What it is about, shortened.
    pub(crate) about: Option<String>,
    /// Two calls with the same key try the same: same tool, same file or else same input.
    pub(crate) key: u64,
}

/// Reads a call. `path` names the field that holds a file tool's path.
pub(crate) fn read(entry: EntryView<'_>, block: &EntryBlock, path: Option<&str>) -> FactCall {
    let tool = entry.text(block.name);
    let input = block.body.of(entry.line);
    let mut subjects: [Option<&[u8]>; SUBJECTS.len()] = [None; SUBJECTS.len()];
    let mut target = None;
    // A call's input that is no object tells nothing.
    let _ = JsonCursor::new(input).object(|cursor, key| {
        let value = cursor.raw()?;
        if let Some(at) = SUBJECTS.iter().position(|subject| *subject == key) {
            subjects[at] = Some(value);
        }
        if path.is_some_and(|path| path.as_bytes() == key) {
            target = Some(value);
        }
        Ok(())
    });
    let about = subjects
        .iter()
        .flatten()
        .find_map(|value| json::content(value));
    FactCall {
        key: xxh3_64_with_seed(
            target.unwrap_or(input),
            xxh3_64_with_seed(tool.as_bytes(), 0),
        ),
        about: about.map(|content| shown(content).into_owned()),
        tool: tool.into_owned(),
    }
}

fn shown(content: &[u8]) -> Cow<'_, str> {
    let head = json::decode_head(content, LONGEST_SUBJECT);
    if head.contains(['\n', '\r']) || content.len() > LONGEST_SUBJECT {
        let mut line = head.split_whitespace().collect::<Vec<_>>().join(" ");
        if content.len() > LONGEST_SUBJECT {
            line.push('…');
        }
        Cow::Owned(line)
    } else {
        head
    }
}

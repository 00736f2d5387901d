//! A tool call while its result is awaited: the tool and the subject of the call.

use std::borrow::Cow;

use crate::json::{self, JsonCursor};
use crate::message::{EntryBlock, EntryView};
use crate::xxh3::xxh3_64_with_seed;

/// The most bytes that are kept of a call's subject.
const LONGEST_SUBJECT: usize = 400;

/// The fields of an input that tell a call's subject, the most informative first.
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

/// A call with the parts that facts need.
#[derive(Debug, Clone)]
pub(crate) struct FactCall {
    pub(crate) tool: String,
    /// The shortened subject of the call.
    pub(crate) about: Option<String>,
    /// The key of an attempt: two calls with the same key have the same tool, and the same file or else the same input.
    pub(crate) key: u64,
}

/// Reads a call. `path` is the name of the field that holds a file tool's path.
pub(crate) fn read(entry: EntryView<'_>, block: &EntryBlock, path: Option<&str>) -> FactCall {
    let tool = entry.text(block.name);
    let input = block.body.of(entry.line);
    let mut subjects: [Option<&[u8]>; SUBJECTS.len()] = [None; SUBJECTS.len()];
    let mut target = None;
    // An input that is not an object has no fields to read.
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

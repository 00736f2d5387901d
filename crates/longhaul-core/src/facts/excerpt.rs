//! Excerpts of texts in an entry: only the part that is shown is decoded.

use std::borrow::Cow;

use super::char_boundary::floor;
use crate::json;
use crate::message::{BlockKind, EntryBlock, EntryView, Id};

/// The most texts inside one result that are looked at.
const MOST_INNER: usize = 4;

/// A string literal, or its beginning and its end if it is longer than `most` bytes. Control characters, which only
/// binary data has, are skipped.
pub(crate) fn excerpt(value: &[u8], most: usize) -> String {
    let Some(content) = json::content(value) else {
        return String::new();
    };
    if content.len() <= most {
        return printable(json::decode(content));
    }
    let head = printable(json::decode_head(content, most - most / 3));
    let tail = printable(json::decode_tail(content, most / 3));
    format!("{} … {}", head.trim_end(), tail.trim_start())
}

/// A tool result in its place: its entry, its block, and the blocks after it, including those inside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToolResultBlock<'a> {
    pub(crate) entry: EntryView<'a>,
    pub(crate) block: &'a EntryBlock,
    pub(crate) behind: &'a [EntryBlock],
}

impl<'a> ToolResultBlock<'a> {
    /// The results of an entry.
    pub(crate) fn all(entry: EntryView<'a>) -> impl Iterator<Item = Self> {
        let blocks = &entry.facets.blocks;
        let results = blocks.iter().enumerate();
        results
            .filter(|(_, block)| block.kind == BlockKind::ToolResult && !block.inner)
            .map(move |(at, block)| Self {
                entry,
                block,
                behind: &blocks[at + 1..],
            })
    }

    /// The call that the result answers.
    pub(crate) fn call(self) -> Option<Id> {
        self.entry.block_id(self.block)
    }

    /// The text of the result: its string, or the texts inside it, in about `most` bytes.
    pub(crate) fn excerpt(self, most: usize) -> String {
        if !self.block.has_inner {
            return excerpt(self.block.body.of(self.entry.line), most);
        }
        let inside = self.behind.iter().take_while(|block| block.inner);
        let texts = inside.filter(|block| block.kind == BlockKind::Text && !block.blank);
        let texts: Vec<_> = texts
            .take(MOST_INNER)
            .map(|block| excerpt(block.body.of(self.entry.line), most))
            .collect();
        let mut text = texts.join("\n");
        text.truncate(floor(&text, most));
        text
    }
}

fn printable(text: Cow<'_, str>) -> String {
    let hidden = |character: char| {
        character.is_control() && !matches!(character, '\n' | '\t') || character == '\u{FFFD}'
    };
    if text.contains(hidden) {
        text.replace(hidden, "")
    } else {
        text.into_owned()
    }
}

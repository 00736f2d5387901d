//! A message of the user in the form in which it is kept (X1, ruling 14).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::char_boundary::{ceil, floor};
use super::host_texts::HostTexts;
use crate::json::{self, JsonCursor, ObjectReader};
use crate::message::{BlockKind, EntryKind, EntryView};
use crate::xxh3::Xxh3_128;

/// The most bytes of one message that are kept. The transcript still has the part that was cut.
pub(super) const LONGEST: usize = 2 << 20;
/// How much of a very long text in a message is examined to tell whose it is.
const LOOKED_AT: usize = 64 << 10;

/// A message of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserMessage {
    /// The message's number in the session, from 1.
    pub ordinal: u32,
    /// The uuid of the message's entry.
    pub uuid: String,
    /// When the message was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The text of the message.
    pub text: String,
    /// The number of images besides the text.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub images: u32,
    /// The number of documents besides the text.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub documents: u32,
    /// The question that the message answers, if it means nothing without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// The part that is missing from the text, if it was too long to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<TextGap>,
}

/// A gap in a kept text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextGap {
    /// The position of the gap, in bytes of the kept text.
    pub after: usize,
    /// The number of missing bytes.
    pub bytes: u64,
    /// The hash (xxh3, 128 bits, hexadecimal) of the whole text as it was first read, or of its JSON if even that was
    /// too long.
    pub hash: String,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl UserMessage {
    /// A note on the images and documents besides the text.
    pub fn media(&self) -> String {
        let images = std::iter::repeat_n("[image]", self.images as usize);
        let documents = std::iter::repeat_n("[document]", self.documents as usize);
        images.chain(documents).collect::<Vec<_>>().join(" ")
    }

    /// The parts before and after a gap; the whole text and nothing if there is no gap.
    pub fn parts(&self) -> (&str, &str) {
        let after = self.cut.as_ref().map_or(self.text.len(), |cut| cut.after);
        self.text
            .split_at_checked(after)
            .unwrap_or((self.text.as_str(), ""))
    }

    fn of(mut self, entry: EntryView<'_>) -> Self {
        self.uuid = entry.text(entry.facets.uuid).into_owned();
        self.at = entry.timestamp();
        self
    }

    /// Adds words to the end of the text.
    pub(super) fn add(&mut self, words: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(words);
        self.keep_at_most(LONGEST);
    }

    /// Cuts the text to at most `most` bytes, two thirds of them from its beginning.
    pub(super) fn keep_at_most(&mut self, most: usize) {
        if self.text.len() <= most {
            return;
        }
        let hash = match self.cut.take() {
            Some(cut) => (cut.hash, cut.bytes),
            None => (hash(&[self.text.as_bytes()]), 0),
        };
        let head = floor(&self.text, most / 3 * 2);
        let tail = ceil(&self.text, self.text.len() - most / 3);
        let bytes = hash.1 + (tail - head) as u64;
        self.text.replace_range(head..tail, "");
        self.cut = Some(TextGap {
            after: head,
            bytes,
            hash: hash.0,
        });
    }
}

fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = Xxh3_128::new();
    for part in parts {
        hasher.update(part);
    }
    format!("{:032x}", hasher.digest())
}

/// The user's message in an entry, before it is numbered. `None` if the user says nothing there.
pub(super) fn user_message_in(entry: EntryView<'_>, host: &HostTexts) -> Option<UserMessage> {
    let flags = &entry.facets.flags;
    let message = match entry.facets.kind {
        EntryKind::User if !flags.meta && !flags.compact_summary => typed(entry, host)?,
        EntryKind::Attachment if !flags.meta => queued(entry, host)?,
        _ => return None,
    };
    Some(message.of(entry))
}

/// A message without words, for an entry whose results contain some.
pub(super) fn wordless_message(entry: EntryView<'_>) -> UserMessage {
    blank().of(entry)
}

fn blank() -> UserMessage {
    UserMessage {
        ordinal: 0,
        uuid: String::new(),
        at: None,
        text: String::new(),
        images: 0,
        documents: 0,
        asked: None,
        cut: None,
    }
}

fn typed(entry: EntryView<'_>, host: &HostTexts) -> Option<UserMessage> {
    let mut texts: Vec<&[u8]> = Vec::new();
    let mut message = blank();
    for block in entry.facets.blocks.iter().filter(|block| !block.inner) {
        match block.kind {
            BlockKind::Text if !block.blank => texts.push(content(block.body.of(entry.line))),
            BlockKind::Image => message.images += 1,
            BlockKind::Document => message.documents += 1,
            _ => {}
        }
    }
    read_texts(message, &texts, host)
}

/// A message that was typed while the model was working; it comes with the next input.
fn queued(entry: EntryView<'_>, host: &HostTexts) -> Option<UserMessage> {
    let attachment = entry.object(entry.facets.attachment);
    if attachment.string("type")? != "queued_command"
        || attachment.get("isMeta") == Some(b"true")
        || attachment
            .string("commandMode")
            .is_some_and(|mode| mode != "prompt")
    {
        return None;
    }
    let prompt = attachment.get("prompt")?;
    let mut message = blank();
    let mut texts = Vec::new();
    match prompt.first() {
        Some(b'"') => texts.push(content(prompt)),
        Some(b'[') => {
            let walked = JsonCursor::new(prompt).array(|cursor| {
                let block = ObjectReader::new(cursor.raw()?);
                match block.string("type").as_deref() {
                    Some("text") => texts.extend(block.get("text").map(content)),
                    Some("image") => message.images += 1,
                    Some("document") => message.documents += 1,
                    _ => {}
                }
                Ok(())
            });
            walked.ok()?;
        }
        _ => return None,
    }
    read_texts(message, &texts, host)
}

/// The content of a string literal without its quotes; empty for any other value.
fn content(value: &[u8]) -> &[u8] {
    json::content(value).unwrap_or_default()
}

fn read_texts(mut message: UserMessage, texts: &[&[u8]], host: &HostTexts) -> Option<UserMessage> {
    let size: usize = texts.iter().map(|text| text.len()).sum();
    if size > 2 * LONGEST {
        return read_ends(message, texts, host, size);
    }
    let mut is_result = false;
    for text in texts {
        let text = json::decode(text);
        // A tool's output may begin in any way, so it is not examined.
        if std::mem::replace(&mut is_result, host.announces(&text)) {
            continue;
        }
        let own = host.user_text(&text);
        if own.trim().is_empty() {
            continue;
        }
        if !message.text.is_empty() {
            message.text.push('\n');
        }
        message.text.push_str(if own.len() == text.len() {
            own
        } else {
            own.trim()
        });
    }
    message.keep_at_most(LONGEST);
    let says = !message.text.trim().is_empty() || message.images + message.documents > 0;
    says.then_some(message)
}

/// Reads only the two ends of a message that is far too long to keep.
fn read_ends(
    mut message: UserMessage,
    texts: &[&[u8]],
    host: &HostTexts,
    size: usize,
) -> Option<UserMessage> {
    let is_hosts = |text: &&&[u8]| host.is_hosts(&json::decode_head(text, LOOKED_AT));
    let texts: Vec<&[u8]> = texts
        .iter()
        .filter(|text| !is_hosts(text))
        .copied()
        .collect();
    let (first, last) = (texts.first()?, texts.last()?);
    let head = json::decode_head(first, LONGEST / 3 * 2);
    let behind = match texts.len() {
        1 => &last[last.len().min(LONGEST / 3 * 2)..],
        _ => last,
    };
    let tail = json::decode_tail(behind, LONGEST / 3);
    message.text.push_str(&head);
    message.cut = Some(TextGap {
        after: head.len(),
        bytes: (size as u64).saturating_sub((head.len() + tail.len()) as u64),
        hash: hash(&texts),
    });
    message.text.push_str(&tail);
    Some(message)
}

//! Remembers bodies that were read: a conversation that grows is read only from where it grew.
//!
//! A body repeats the previous one up to its newest messages. The part that is the same byte for byte is reused, read
//! and laid out, and only the rest goes through the reader. Comparing bytes is the only cost that grows with the
//! history.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::call::{ApiCall, ApiError};
use crate::prompt::layout::PromptLayout;
use crate::request::{ApiMessage, Endpoint, MessagesRequest};
use crate::thinking::ThinkingCheckProgress;

use super::checked_messages::CheckedMessages;

/// The maximum number of bodies kept.
const KEPT: usize = 32;
/// The maximum number of bytes of bodies kept. The data read from them takes a few times as much.
const KEPT_BYTES: usize = 64 << 20;
/// Shorter bodies are not worth keeping.
const SHORTEST: usize = 4 << 10;
/// The reader refuses more than this many messages, so it should see them.
const MOST_MESSAGES: usize = 100_000;
/// The number of bytes compared at a time.
const STRIDE: usize = 4 << 10;

/// The conditions under which a body was read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ReadConditions {
    betas: BTreeSet<String>,
    version: String,
}

/// A body that was read.
#[derive(Debug)]
pub(super) struct ReadBody {
    pub(super) request: MessagesRequest,
    /// The newest layout of the body.
    pub(super) layout: PromptLayout,
    /// The progress of the newest check of its thinking.
    pub(super) checked: ThinkingCheckProgress,
    /// The known facts about the messages that passed.
    pub(super) settled: CheckedMessages,
    /// The number of messages at the start that the layout and the checks cover.
    pub(super) kept: usize,
    body: Bytes,
    terms: ReadConditions,
    /// The position of each message in the body; empty if it is not known.
    spans: Vec<Range<usize>>,
}

/// The kept bodies, the newest last.
#[derive(Debug, Default)]
pub(super) struct ReadBodies {
    kept: VecDeque<ReadBody>,
    bytes: usize,
}

/// The position of `messages` in a body.
#[derive(Deserialize)]
struct MessagesMember<'a> {
    #[serde(borrow)]
    messages: &'a RawValue,
}

impl ReadBodies {
    /// Reads the body of a call, and reuses what an earlier one has in common with it.
    pub(super) fn read(&mut self, call: &ApiCall) -> Result<ReadBody, ApiError> {
        if let Some(reading) = self.resumed(call) {
            return Ok(reading);
        }
        Ok(ReadBody {
            request: read(&call.body, call)?,
            layout: PromptLayout::default(),
            checked: ThinkingCheckProgress::default(),
            settled: CheckedMessages::default(),
            kept: 0,
            spans: spans(&call.body),
            body: call.body.clone(),
            terms: ReadConditions {
                betas: call.betas.clone(),
                version: call.version.clone(),
            },
        })
    }

    /// Keeps a body that was read for the next request of the conversation. A request that was joined with a thread is
    /// not a body.
    pub(super) fn keep(&mut self, mut reading: ReadBody) {
        let size = reading.body.len();
        let whole = reading.spans.len() == reading.request.messages.len();
        if size < SHORTEST || !whole || reading.spans.is_empty() {
            return;
        }
        reading.kept = 0;
        self.bytes += size;
        self.kept.push_back(reading);
        while self.kept.len() > KEPT || self.bytes > KEPT_BYTES {
            let Some(oldest) = self.kept.pop_front() else {
                return;
            };
            self.bytes -= oldest.body.len();
        }
    }

    fn resumed(&mut self, call: &ApiCall) -> Option<ReadBody> {
        let body = &call.body;
        let best = self
            .kept
            .iter()
            .enumerate()
            .filter(|(_, reading)| {
                reading.terms.betas == call.betas && reading.terms.version == call.version
            })
            .map(|(at, reading)| (reading.shared(body), at))
            .max()
            .filter(|(shared, _)| *shared > 0);
        let (shared, at) = best?;
        // One message is read again even if all are the same, so that there is one to read.
        let start = self.kept.get(at)?.spans.get(shared)?.start;
        let first = self.kept.get(at)?.spans.first()?.start;
        let new = elements(body, start)?;
        if shared + new.len() > MOST_MESSAGES {
            return None;
        }
        let mut short = Vec::with_capacity(first + body.len() - start);
        short.extend_from_slice(body.get(..first)?);
        short.extend_from_slice(body.get(start..)?);
        // Any error is better reported for the whole body.
        let mut request = read(&short, call).ok()?;
        let mut reading = self.kept.remove(at)?;
        self.bytes -= reading.body.len();
        reading.spans.truncate(shared);
        reading.spans.extend(new);
        let mut messages: Vec<ApiMessage> = std::mem::take(&mut reading.request.messages);
        messages.truncate(shared);
        messages.append(&mut request.messages);
        request.messages = messages;
        reading.request = request;
        reading.kept = shared;
        reading.body = body.clone();
        Some(reading)
    }
}

fn read(body: &[u8], call: &ApiCall) -> Result<MessagesRequest, ApiError> {
    MessagesRequest::read(body, Endpoint::Messages, &call.betas, &call.version)
}

impl ReadBody {
    /// The number of messages at the start that a body has in common with this one, without the last.
    fn shared(&self, body: &[u8]) -> usize {
        let same = common_prefix(&self.body, body);
        // A message is the same only if the byte after it is the same too.
        let whole = self.spans.partition_point(|span| span.end < same);
        whole.min(self.spans.len().saturating_sub(1))
    }
}

fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    let mut at = 0;
    let pairs = one.chunks(STRIDE).zip(other.chunks(STRIDE));
    for (left, right) in pairs {
        if left == right {
            at += left.len();
            continue;
        }
        let same = left.iter().zip(right).take_while(|(a, b)| a == b);
        return at + same.count();
    }
    at
}

/// The positions of the messages in a body; empty if the body is not valid.
fn spans(body: &[u8]) -> Vec<Range<usize>> {
    let Ok(outline) = serde_json::from_slice::<MessagesMember<'_>>(body) else {
        return Vec::new();
    };
    let inside = outline.messages.get().as_ptr() as usize - body.as_ptr() as usize;
    elements(body, inside + 1).unwrap_or_default()
}

/// The elements of an array from a given one on, up to its closing bracket. The text is JSON, or will be checked to be.
fn elements(body: &[u8], start: usize) -> Option<Vec<Range<usize>>> {
    let mut found = Vec::new();
    let (mut depth, mut begun) = (0_usize, None);
    let mut at = start;
    while let Some(&byte) = body.get(at) {
        match byte {
            b'"' => at = end_of_string(body, at)?,
            b'{' | b'[' => {
                begun = begun.or(Some(at));
                depth += 1;
            }
            b']' if depth == 0 => return Some(found),
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    found.push(begun.take()?..at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// The position of the closing quote of the string that opens here.
fn end_of_string(body: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', body.get(at..)?)?;
        match body.get(at)? {
            b'"' => return Some(at),
            _ => at += 2,
        }
    }
}

//! Bodies read before: a conversation that grows is read from where it grew.
//!
//! A body repeats the one before it up to its newest messages. What is the same byte for byte is taken over, read and
//! laid out, and only the rest goes through the reader. Comparing bytes is the only cost that grows with the history.

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

/// Bodies kept.
const KEPT: usize = 32;
/// Bytes of bodies kept. What is read from them takes a few times as much.
const KEPT_BYTES: usize = 64 << 20;
/// Shorter bodies are not worth keeping.
const SHORTEST: usize = 4 << 10;
/// The reader refuses more than so many messages, and should see them.
const MOST_MESSAGES: usize = 100_000;
/// Bytes compared at a time.
const STRIDE: usize = 4 << 10;

/// What a body was read under.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ReadConditions {
    betas: BTreeSet<String>,
    version: String,
}

/// A body that was read.
#[derive(Debug)]
pub(super) struct ReadBody {
    pub(super) request: MessagesRequest,
    /// How it was laid out last.
    pub(super) layout: PromptLayout,
    /// How far its thinking was checked last.
    pub(super) checked: ThinkingCheckProgress,
    /// What is known of the messages that passed.
    pub(super) settled: CheckedMessages,
    /// How many messages at the start are those of the layout and the checks.
    pub(super) kept: usize,
    body: Bytes,
    terms: ReadConditions,
    /// Where each message stands in the body; empty if that is not known.
    spans: Vec<Range<usize>>,
}

/// The bodies kept, the newest last.
#[derive(Debug, Default)]
pub(super) struct ReadBodies {
    kept: VecDeque<ReadBody>,
    bytes: usize,
}

/// Where `messages` stands in a body.
#[derive(Deserialize)]
struct MessagesMember<'a> {
    #[serde(borrow)]
    messages: &'a RawValue,
}

impl ReadBodies {
    /// Reads the body of a call, with what an earlier one has in common with it.
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

    /// Keeps a reading for the next body of the conversation. What was put together from a thread is no body.
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
        // A message is read anew even if all are the same, so that there is one to read.
        let start = self.kept.get(at)?.spans.get(shared)?.start;
        let first = self.kept.get(at)?.spans.first()?.start;
        let new = elements(body, start)?;
        if shared + new.len() > MOST_MESSAGES {
            return None;
        }
        let mut short = Vec::with_capacity(first + body.len() - start);
        short.extend_from_slice(body.get(..first)?);
        short.extend_from_slice(body.get(start..)?);
        // Whatever is wrong is better said of the whole body.
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
    /// How many messages a body has in common with this one from the start, the last left out.
    fn shared(&self, body: &[u8]) -> usize {
        let same = common_prefix(&self.body, body);
        // A message ends where what follows it is the same, too.
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

/// Where the messages of a body stand; nothing if the body is not what it should be.
fn spans(body: &[u8]) -> Vec<Range<usize>> {
    let Ok(outline) = serde_json::from_slice::<MessagesMember<'_>>(body) else {
        return Vec::new();
    };
    let inside = outline.messages.get().as_ptr() as usize - body.as_ptr() as usize;
    elements(body, inside + 1).unwrap_or_default()
}

/// The elements of an array from one of them on, up to its closing bracket. The text is known to be JSON, or will be.
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

/// The closing quote of the string that opens here.
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

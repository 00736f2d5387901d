//! The results and calls of a client's messages, as far as results may be made smaller (V8). A message is read once: what
//! was found is remembered by the hash of its bytes.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::micro::ClearableTools;
use longhaul_core::reduce::text_of_content;
use longhaul_core::xxh3::xxh3_128;
use longhaul_provider::Dialect;

use super::element::ElementParts;
use super::tools::{KnownTools, ToolKind};
use crate::branch::GenerationalCache;
use crate::memory::{MemoryBudget, MemoryShare};

/// How many messages are remembered, and the bytes that they may take in each of two generations.
const MESSAGES: usize = 100_000;
const BYTES: usize = 16 << 20;
/// Shorter results are always sent as they came.
const SHORTEST: usize = 200;
/// Results from this length on may have been shortened, whether they failed or not.
const LONG: usize = 600;

/// A result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundResult {
    pub(super) call: String,
    /// The hash of its content; `None` if it may not be made smaller: it failed, is small, or is more than one text.
    pub(super) content: Option<u128>,
    /// Whether it may be shortened where the window has no room for it, although it failed.
    pub(super) size: ResultSize,
}

/// Whether a result is worth shortening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResultSize {
    Short,
    Long,
}

/// A call whose result may be made smaller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundCall {
    pub(super) id: String,
    /// The file that it reads.
    pub(super) reads: Option<String>,
}

/// What was found in a message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MessageResults {
    pub(super) results: Box<[FoundResult]>,
    pub(super) calls: Box<[FoundCall]>,
}

impl MessageResults {
    /// Reads one element of `messages`.
    pub(super) fn of(dialect: Dialect, element: &[u8], tools: &KnownTools) -> Self {
        let Some(read) = ElementParts::read(element) else {
            return Self::default();
        };
        let results = read.results(dialect).into_iter().map(|result| {
            let raw = result.content.and_then(|place| element.get(place));
            let raw = raw.unwrap_or_default();
            let is_marked = memchr::memmem::find(raw, b"\"cache_control\"").is_some();
            // A string need not be decoded to know that it is one text.
            let is_text = raw.first() == Some(&b'"') || text_of_content(raw).is_some();
            let is_long = raw.len() >= SHORTEST && !is_marked && is_text;
            let least = match (dialect, result.failed) {
                // An earlier version did not see that it failed: what it decided stands.
                (Dialect::OpenAi, true) => SHORTEST,
                _ => LONG,
            };
            FoundResult {
                call: result.call.into_owned(),
                content: (is_long && !result.failed).then(|| xxh3_128(raw)),
                size: match is_text && !is_marked && raw.len() >= least {
                    true => ResultSize::Long,
                    false => ResultSize::Short,
                },
            }
        });
        Self {
            results: results.collect(),
            calls: calls(&read, tools).into(),
        }
    }

    /// Whether a result of the message may be made smaller.
    pub(super) fn is_reducible(&self) -> bool {
        let may =
            |result: &FoundResult| result.content.is_some() || result.size == ResultSize::Long;
        self.results.iter().any(may)
    }

    fn bytes(&self) -> usize {
        let results = self
            .results
            .iter()
            .map(|one| one.call.len() + size_of::<FoundResult>());
        let calls = self.calls.iter().map(|one| {
            one.id.len() + one.reads.as_ref().map_or(0, String::len) + size_of::<FoundCall>()
        });
        size_of::<Self>() + results.chain(calls).sum::<usize>()
    }
}

/// Where the content of a call's result lies in an element.
pub(super) fn content_place(dialect: Dialect, element: &[u8], call: &str) -> Option<Range<usize>> {
    let read = ElementParts::read(element)?;
    let mut results = read.results(dialect).into_iter();
    results.find(|result| result.call == call)?.content
}

fn calls(read: &ElementParts<'_>, tools: &KnownTools) -> Vec<FoundCall> {
    let found = read.calls().into_iter().filter_map(|call| {
        let known = tools.of_call(&call.name, call.input());
        // What the model asked to see again is not made smaller; the gateway's tool for that may have a longer name.
        let is_kept = ClearableTools::never_contains(&call.name)
            || call.name.contains("recall")
            || known.is_some_and(|tool| tool.kind == ToolKind::Keep);
        let reads = known.filter(|tool| tool.kind == ToolKind::Read);
        let reads = reads.and_then(|tool| call.input().string(tool.path.as_deref()?));
        let reads = reads.map(Cow::into_owned);
        (!is_kept).then(|| FoundCall {
            id: call.id.into_owned(),
            reads,
        })
    });
    found.collect()
}

/// What was found in messages that were read before.
pub(super) struct KnownResults {
    known: Mutex<GenerationalCache<u128, Arc<MessageResults>>>,
    held: MemoryShare,
}

impl KnownResults {
    pub(super) fn new(budget: &MemoryBudget) -> Self {
        Self {
            known: Mutex::new(GenerationalCache::within(MESSAGES, BYTES)),
            held: budget.new_share(),
        }
    }

    /// The results of the message whose bytes have this hash; `read` reads it if it is not known.
    pub(super) fn of(
        &self,
        hash: u128,
        read: impl FnOnce() -> MessageResults,
    ) -> Arc<MessageResults> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // The lock is not held while a message is read.
        let found = known().get(&hash);
        found.unwrap_or_else(|| {
            let results = Arc::new(read());
            let mut known = known();
            known.put_weighing(hash, Arc::clone(&results), results.bytes());
            self.held.set(known.bytes());
            results
        })
    }
}

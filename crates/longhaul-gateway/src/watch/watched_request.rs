//! A request for the cache watch, with only those bytes that the watch has not seen.
//!
//! The watch is off the path of requests. A body that waited for it would stay in memory long after it was passed on,
//! and the next body would have to be written to memory that is in no processor's cache.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use longhaul_core::cache::{PrefixFingerprint, PrefixReplacement, SystemPart, ToolPart};
use longhaul_core::xxh3::Xxh3_128;
use longhaul_provider::Dialect;

use crate::branch::{GatewaySessionId, GenerationalCache, RecognizedBody};
use crate::memory::{BudgetExhausted, MemoryBudget, MemoryShare};

/// New messages of more bytes than this are not copied: their body is shared.
const COPIED: usize = 64 << 10;
/// How many request prefixes are remembered.
const HEADS: usize = 512;
/// They take at most one part in this many of the memory.
const SHARE: usize = 32;

/// Elements that were sent, each with the hash of its bytes.
pub(crate) type SentElements = Arc<[(u128, Bytes)]>;

/// A request for the cache watch.
#[derive(Debug)]
pub struct WatchedRequest {
    /// Its session.
    pub session: GatewaySessionId,
    /// The API dialect of the request.
    pub dialect: Dialect,
    /// What was recognized in it.
    pub recognized: Arc<RecognizedBody>,
    /// The elements that were sent instead of its beginning, and how many messages they replace.
    pub(crate) replaced: Option<(SentElements, usize)>,
    /// The body that was sent, if breakpoints in it were changed, too.
    pub(crate) sent_parts: Option<Vec<Bytes>>,
    /// The prefix that the gateway sends instead of the beginning, and its branch; `None` if the conversation is not
    /// managed.
    pub(crate) rewriting: Option<PrefixReplacement>,
    /// The value of the header `anthropic-beta`.
    pub betas: String,
    /// The hash that identifies the request prefix.
    pub(super) head: u128,
    part: BodySlice,
}

/// A part of a body.
#[derive(Debug)]
struct BodySlice {
    /// Where it begins.
    from: usize,
    bytes: Bytes,
}

impl WatchedRequest {
    /// A request with this body. `None` if there is no memory for the bytes to be watched.
    pub(crate) fn new(
        heads: &SeenRequestPrefixes,
        budget: &MemoryBudget,
        session: GatewaySessionId,
        dialect: Dialect,
        body: &Bytes,
        recognized: Arc<RecognizedBody>,
        betas: String,
    ) -> Option<Self> {
        let head = hash(dialect, body, &recognized, &betas);
        let part = if heads.knows(head) {
            BodySlice::news(budget, body, &recognized).ok()?
        } else {
            BodySlice::whole(body)
        };
        Some(Self {
            session,
            dialect,
            recognized,
            replaced: None,
            sent_parts: None,
            rewriting: None,
            betas,
            head,
            part,
        })
    }

    /// How many bytes it holds in memory.
    pub(super) fn size(&self) -> usize {
        let marked = self.sent_parts.iter().flatten();
        self.part.bytes.len() + marked.map(Bytes::len).sum::<usize>()
    }

    /// The bytes before the messages and after them. `None` if they were known.
    pub(super) fn beside(&self) -> Option<(&[u8], &[u8])> {
        let list = &self.recognized.outline.list;
        let bytes = (self.part.from == 0).then_some(&self.part.bytes)?;
        Some((bytes.get(..list.start)?, bytes.get(list.end..)?))
    }

    /// One of its messages. `None` if it was known.
    pub(super) fn message(&self, index: usize) -> Option<&[u8]> {
        let outline = &self.recognized.outline;
        if let Some(read) = index.checked_sub(outline.known) {
            return self.bytes(outline.elements.get(read)?.span.clone());
        }
        self.recognized.message(index, |place| self.bytes(place))
    }

    fn bytes(&self, range: Range<usize>) -> Option<&[u8]> {
        let from = range.start.checked_sub(self.part.from)?;
        let until = range.end.checked_sub(self.part.from)?;
        self.part.bytes.get(from..until)
    }
}

impl BodySlice {
    fn whole(body: &Bytes) -> Self {
        Self {
            from: 0,
            bytes: body.clone(),
        }
    }

    /// The messages that were not known by their bytes.
    fn news(
        budget: &MemoryBudget,
        body: &Bytes,
        recognized: &RecognizedBody,
    ) -> Result<Self, BudgetExhausted> {
        let elements = &recognized.outline.elements;
        let (Some(first), Some(last)) = (elements.first(), elements.last()) else {
            return Ok(Self {
                from: body.len(),
                bytes: Bytes::new(),
            });
        };
        let news = first.span.start..last.span.end;
        Ok(match body.get(news.clone()) {
            Some(text) if text.len() <= COPIED => Self {
                from: news.start,
                bytes: budget.hold(Bytes::copy_from_slice(text))?,
            },
            _ => Self::whole(body),
        })
    }
}

/// The hash of the request prefix, which in a chat includes the leading messages.
fn hash(dialect: Dialect, body: &[u8], recognized: &RecognizedBody, betas: &str) -> u128 {
    let list = &recognized.outline.list;
    let mut hash = Xxh3_128::with_seed(dialect as u64);
    hash.update(body.get(..list.start).unwrap_or_default());
    hash.update(betas.as_bytes());
    hash.update(b"\0");
    hash.update(body.get(list.end..).unwrap_or_default());
    if dialect == Dialect::OpenAi {
        for raw in recognized.raws.iter().take(recognized.lead) {
            hash.update(&raw.to_le_bytes());
        }
    }
    hash.digest()
}

/// The request prefixes that were seen; `None` for one that cannot be watched.
#[derive(Debug)]
pub(crate) struct SeenRequestPrefixes(
    Mutex<GenerationalCache<u128, Option<Arc<PrefixFingerprint>>>>,
    MemoryShare,
);

/// The memory that a request prefix takes, approximately.
fn weight(head: &PrefixFingerprint) -> usize {
    let tools = head.tools.iter().map(|tool| tool.name.len());
    let betas = head.betas.iter().map(String::len);
    let extra = head
        .extra
        .iter()
        .map(|(name, text)| name.len() + text.len());
    let texts = [&head.speed, &head.effort, &head.thinking, &head.format];
    let texts = texts.into_iter().flatten().map(String::len);
    let strings: usize = tools.chain(betas).chain(extra).chain(texts).sum();
    size_of::<PrefixFingerprint>()
        + strings
        + head.model.len()
        + head.tool_choice.len()
        + head.tools.len() * size_of::<ToolPart>()
        + head.system.len() * size_of::<SystemPart>()
}

impl SeenRequestPrefixes {
    pub(super) fn new(budget: &MemoryBudget) -> Self {
        let kept = budget.new_share();
        let bytes = kept.share(SHARE) / 2;
        Self(Mutex::new(GenerationalCache::within(HEADS, bytes)), kept)
    }

    fn knows(&self, hash: u128) -> bool {
        self.get(hash).is_some()
    }

    pub(super) fn get(&self, hash: u128) -> Option<Option<Arc<PrefixFingerprint>>> {
        let mut heads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heads.get(&hash)
    }

    /// Drops a request prefix: the next request with it is read in full.
    pub(super) fn forget(&self, hash: u128) {
        let mut heads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        heads.forget(&hash);
    }

    pub(super) fn put(&self, hash: u128, head: Option<Arc<PrefixFingerprint>>) {
        let mut heads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = head.as_deref().map_or(0, weight);
        // One that takes half of the space would evict all others.
        if bytes <= self.1.share(SHARE) / 4 {
            heads.put_weighing(hash, head, bytes);
            self.1.set(heads.bytes());
        }
    }
}

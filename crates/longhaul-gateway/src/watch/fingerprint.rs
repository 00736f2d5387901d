//! Fingerprints a request for the cache watch, at a cost proportional to what is new in it.
//!
//! Messages and request prefixes that were seen are recognized by the hash of their bytes. Only hashes and kinds are
//! kept of them, no texts, so a finding can say what changed but shows no content.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_core::cache::{
    CacheBreakpoint, CachePosition, FingerprintMessages, HostModes, PrefixFingerprint,
    RequestFingerprint,
};
use longhaul_provider::Dialect;

use super::chat;
use super::watched_request::{SeenRequestPrefixes, WatchedRequest};
use crate::branch::GenerationalCache;

/// How many messages have their positions remembered.
const MESSAGES: usize = 50_000;

type Positions = Arc<[(CachePosition, Option<CacheBreakpoint>)]>;

/// Makes the fingerprints of requests.
pub(super) struct RequestFingerprinter {
    messages: GenerationalCache<u128, Positions>,
    prefixes: Arc<SeenRequestPrefixes>,
    flags: Arc<HostModes>,
    /// The most positions of one request.
    most: usize,
}

/// The memory that the positions of a message take.
fn weight(positions: &Positions) -> usize {
    positions.len() * size_of::<(CachePosition, Option<CacheBreakpoint>)>()
}

impl RequestFingerprinter {
    /// The remembered data, and one fingerprint, take at most about this many bytes each.
    pub(super) fn new(heads: Arc<SeenRequestPrefixes>, bytes: usize) -> Self {
        Self {
            messages: GenerationalCache::within(MESSAGES, bytes / 2),
            prefixes: heads,
            flags: Arc::default(),
            most: bytes / size_of::<CachePosition>(),
        }
    }

    /// The size of the remembered data, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.messages.bytes()
    }

    /// Drops half of the remembered data.
    pub(super) fn forget_older(&mut self) {
        self.messages.forget_older();
    }

    /// The fingerprint of a request. `None` if the API would reject it, if part of it was dropped in the meantime, or
    /// if it has too many parts.
    pub(super) fn of(
        &mut self,
        sent: &WatchedRequest,
        started: Timestamp,
    ) -> Option<RequestFingerprint<'static>> {
        if let Some(parts) = &sent.sent_parts {
            return whole(sent, parts, started);
        }
        let head = self.head(sent)?;
        let mut positions = Vec::new();
        let mut marks = Vec::new();
        let (beginning, from) = match &sent.replaced {
            Some((beginning, from)) => (&beginning[..], *from),
            None => (&[][..], 0),
        };
        let beginning = beginning.iter().map(|(raw, text)| (*raw, Ok(text)));
        let raws = sent.recognized.raws.iter();
        // The leading messages of a chat belong to its request prefix.
        let from = match sent.dialect {
            Dialect::Anthropic => from,
            Dialect::OpenAi => from.max(sent.recognized.lead),
        };
        let rest = raws.zip(0_usize..).skip(from);
        let rest = rest.map(|(raw, element)| (*raw, Err(element)));
        for (index, (raw, text)) in (0_usize..).zip(beginning.chain(rest)) {
            let parts = match self.messages.get(&raw) {
                Some(parts) => parts,
                None => {
                    let text = match text {
                        Ok(text) => Some(&**text),
                        Err(element) => sent.message(element),
                    };
                    let Some(text) = text else {
                        // It was known when the request was sent, and has been dropped since.
                        self.prefixes.forget(sent.head);
                        return None;
                    };
                    self.read(sent.dialect, text, raw)?
                }
            };
            if positions.len() + parts.len() > self.most {
                return None;
            }
            for (position, mark) in parts.iter() {
                marks.extend(mark.clone().map(|mark| (positions.len(), mark)));
                positions.push(CachePosition {
                    message: u32::try_from(index).unwrap_or(u32::MAX),
                    ..position.clone()
                });
            }
        }
        if sent.dialect == Dialect::OpenAi {
            marks = chat::breakpoints(positions.len());
        }
        if let (Some(mark), Some(last)) = (&head.automatic, positions.len().checked_sub(1)) {
            marks.retain(|(at, _)| *at != last);
            marks.push((last, mark.clone()));
        }
        Some(RequestFingerprint {
            source: sent.session.to_string(),
            started,
            prefix: head,
            flags: Arc::clone(&self.flags),
            messages: FingerprintMessages::Read(positions),
            breakpoints: marks,
            prefix_replacement: None,
        })
    }

    /// The positions of one message that was not seen before.
    fn read(&mut self, dialect: Dialect, text: &[u8], raw: u128) -> Option<Positions> {
        if dialect == Dialect::OpenAi {
            let parts = chat::alone(text, raw);
            let bytes = weight(&parts);
            self.messages.put_weighing(raw, Arc::clone(&parts), bytes);
            return Some(parts);
        }
        let alone = [br#"{"messages":["#, text, b"]}"].concat();
        let read = of_body(alone.into(), [])?;
        let FingerprintMessages::Read(positions) = read.messages else {
            return None;
        };
        let mark = |at| {
            let mut marks = read.breakpoints.iter();
            marks
                .find(|(marked, _)| *marked == at)
                .map(|(_, mark)| mark.clone())
        };
        let parts: Positions = (0..)
            .zip(positions)
            .map(|(at, position)| {
                let bytes = Bytes::new();
                (CachePosition { bytes, ..position }, mark(at))
            })
            .collect();
        let bytes = weight(&parts);
        self.messages.put_weighing(raw, Arc::clone(&parts), bytes);
        Some(parts)
    }

    /// The request prefix, remembered.
    fn head(&self, sent: &WatchedRequest) -> Option<Arc<PrefixFingerprint>> {
        if let Some(known) = self.prefixes.get(sent.head) {
            return known;
        }
        // It was known when the request was sent, and has been dropped since: nothing is remembered of that.
        sent.beside()?;
        let head = match sent.dialect {
            Dialect::Anthropic => head(sent),
            Dialect::OpenAi => chat::request_prefix(sent),
        };
        let head = head.map(Arc::new);
        self.prefixes.put(sent.head, head.clone());
        head
    }
}

/// The request prefix, without its texts.
fn head(sent: &WatchedRequest) -> Option<PrefixFingerprint> {
    let (before, behind) = sent.beside()?;
    let alone = [before, b"[]", behind].concat();
    let betas = sent.betas.split(',').map(str::trim);
    let read = of_body(alone.into(), betas.filter(|beta| !beta.is_empty()))?;
    let mut head = Arc::unwrap_or_clone(read.prefix);
    for part in &mut head.system {
        part.bytes = Bytes::new();
    }
    for tool in &mut head.tools {
        tool.bytes = Bytes::new();
    }
    Some(head)
}

/// The fingerprint of a body that is not the client's.
fn whole(
    sent: &WatchedRequest,
    parts: &[Bytes],
    started: Timestamp,
) -> Option<RequestFingerprint<'static>> {
    let body = Bytes::from(parts.concat());
    let betas = sent.betas.split(',').map(str::trim);
    let betas = betas.filter(|beta| !beta.is_empty());
    RequestFingerprint::of_body(sent.session.to_string(), started, &body, betas).ok()
}

fn of_body<'b>(
    body: Bytes,
    betas: impl IntoIterator<Item = &'b str>,
) -> Option<RequestFingerprint<'static>> {
    RequestFingerprint::of_body("", Timestamp::UNIX_EPOCH, &body, betas).ok()
}

//! What a request is made of, for the cache watch, at the price of what is new in it.
//!
//! Messages and heads that were seen are known by the hash of their bytes. What is kept of them are hashes and kinds: no
//! texts, so a finding can say what changed but shows none of it.

use std::sync::Arc;

use bytes::Bytes;
use jiff::Timestamp;
use longhaul_core::cache::{Conversation, Fingerprint, Flags, Head, Mark, Position};
use longhaul_provider::Dialect;
use xxhash_rust::xxh3::Xxh3;

use super::chat;
use super::keeper::ToWatch;
use crate::line::Generations;

/// Messages whose positions are remembered, and heads.
const MESSAGES: usize = 50_000;
const HEADS: usize = 256;

type Positions = Arc<[(Position, Option<Mark>)]>;

/// Makes fingerprints.
pub(super) struct Fingerprints {
    messages: Generations<u128, Positions>,
    heads: Generations<u128, Arc<Head>>,
    flags: Arc<Flags>,
}

impl Fingerprints {
    pub(super) fn new() -> Self {
        Self {
            messages: Generations::new(MESSAGES),
            heads: Generations::new(HEADS),
            flags: Arc::default(),
        }
    }

    /// The fingerprint of a request. None if the API would refuse it, or if part of it was forgotten meanwhile.
    pub(super) fn of(
        &mut self,
        sent: &ToWatch,
        started: Timestamp,
    ) -> Option<Fingerprint<'static>> {
        if let Some(parts) = &sent.marked {
            return whole(sent, parts, started);
        }
        let head = self.head(sent)?;
        let mut positions = Vec::new();
        let mut marks = Vec::new();
        let (beginning, from) = match &sent.replaced {
            Some((beginning, from)) => (beginning.elements.as_slice(), *from),
            None => (&[][..], 0),
        };
        let beginning = beginning.iter().map(|(raw, text)| (*raw, Ok(text)));
        let raws = sent.recognised.raws.iter();
        // What leads a chat belongs to its head.
        let from = match sent.dialect {
            Dialect::Anthropic => from,
            Dialect::OpenAi => from.max(sent.recognised.lead),
        };
        let rest = raws.zip(0_usize..).skip(from);
        let rest = rest.map(|(raw, element)| (*raw, Err(element)));
        for (index, (raw, text)) in (0_usize..).zip(beginning.chain(rest)) {
            let parts = match self.messages.get(&raw) {
                Some(parts) => parts,
                None => match text {
                    Ok(text) => self.read(sent.dialect, text, raw)?,
                    Err(element) => self.read(sent.dialect, element_of(sent, element)?, raw)?,
                },
            };
            for (position, mark) in parts.iter() {
                marks.extend(mark.clone().map(|mark| (positions.len(), mark)));
                positions.push(Position {
                    message: u32::try_from(index).unwrap_or(u32::MAX),
                    ..position.clone()
                });
            }
        }
        if sent.dialect == Dialect::OpenAi {
            marks = chat::marks(positions.len());
        }
        if let (Some(mark), Some(last)) = (&head.automatic, positions.len().checked_sub(1)) {
            marks.retain(|(at, _)| *at != last);
            marks.push((last, mark.clone()));
        }
        Some(Fingerprint {
            source: sent.session.to_string(),
            started,
            head,
            flags: Arc::clone(&self.flags),
            messages: Conversation::Read(positions),
            marks,
        })
    }

    /// The positions of one message that was not seen before.
    fn read(&mut self, dialect: Dialect, text: &[u8], raw: u128) -> Option<Positions> {
        if dialect == Dialect::OpenAi {
            let parts = chat::alone(text, raw);
            self.messages.put(raw, Arc::clone(&parts));
            return Some(parts);
        }
        let alone = [br#"{"messages":["#, text, b"]}"].concat();
        let read = of_body(alone.into(), [])?;
        let Conversation::Read(positions) = read.messages else {
            return None;
        };
        let mark = |at| {
            let mut marks = read.marks.iter();
            marks
                .find(|(marked, _)| *marked == at)
                .map(|(_, mark)| mark.clone())
        };
        let parts: Positions = (0..)
            .zip(positions)
            .map(|(at, position)| {
                let bytes = Bytes::new();
                (Position { bytes, ..position }, mark(at))
            })
            .collect();
        self.messages.put(raw, Arc::clone(&parts));
        Some(parts)
    }

    /// What stands beside the messages.
    fn head(&mut self, sent: &ToWatch) -> Option<Arc<Head>> {
        if sent.dialect == Dialect::OpenAi {
            let hash = chat::hash(sent)?;
            if let Some(head) = self.heads.get(&hash) {
                return Some(head);
            }
            let head = Arc::new(chat::head(sent)?);
            self.heads.put(hash, Arc::clone(&head));
            return Some(head);
        }
        let list = sent.recognised.outline.list.clone();
        let before = sent.body.get(..list.start)?;
        let behind = sent.body.get(list.end..)?;
        let mut hash = Xxh3::new();
        hash.update(before);
        hash.update(sent.betas.as_bytes());
        hash.update(b"\0");
        hash.update(behind);
        let hash = hash.digest128();
        if let Some(head) = self.heads.get(&hash) {
            return Some(head);
        }
        let alone = [before, b"[]", behind].concat();
        let betas = sent.betas.split(',').map(str::trim);
        let read = of_body(alone.into(), betas.filter(|beta| !beta.is_empty()))?;
        let mut head = Arc::unwrap_or_clone(read.head);
        for part in &mut head.system {
            part.bytes = Bytes::new();
        }
        for tool in &mut head.tools {
            tool.bytes = Bytes::new();
        }
        let head = Arc::new(head);
        self.heads.put(hash, Arc::clone(&head));
        Some(head)
    }
}

/// The fingerprint of a body that is not the client's.
fn whole(sent: &ToWatch, parts: &[Bytes], started: Timestamp) -> Option<Fingerprint<'static>> {
    let body = Bytes::from(parts.concat());
    let betas = sent.betas.split(',').map(str::trim);
    let betas = betas.filter(|beta| !beta.is_empty());
    Fingerprint::of_body(sent.session.to_string(), started, &body, betas).ok()
}

/// An element of the client's that was read, and not known before.
fn element_of(sent: &ToWatch, index: usize) -> Option<&[u8]> {
    let outline = &sent.recognised.outline;
    let element = index.checked_sub(outline.known)?;
    sent.body.get(outline.elements.get(element)?.span.clone())
}

fn of_body<'b>(
    body: Bytes,
    betas: impl IntoIterator<Item = &'b str>,
) -> Option<Fingerprint<'static>> {
    Fingerprint::of_body("", Timestamp::UNIX_EPOCH, &body, betas).ok()
}

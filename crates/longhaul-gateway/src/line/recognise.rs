//! From a body to its line. Reading needs no lock while it hashes and scans; the locks are held for look-ups alone.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_provider::Dialect;
use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::chain::Chain;
use super::ids::SessionId;
use super::landmarks::{Landmark, Remembered, Starts, landmarks};
use super::lines::{Lines, Placed};
use super::memo::Generations;
use super::spoken::{Spoken, spoken};
use super::tenant::Tenant;
use crate::body::{self, NotAConversation, Outline, Role};

/// Messages whose canonical hash is remembered.
const MESSAGES: usize = 200_000;

/// A body to be recognised.
#[derive(Debug, Clone, Copy)]
pub struct Request<'b> {
    /// Whose it is.
    pub tenant: Tenant,
    /// How it is written.
    pub dialect: Dialect,
    /// The bytes.
    pub body: &'b [u8],
}

/// What was recognised of a body.
#[derive(Debug, Clone)]
pub struct Recognised {
    /// Where its parts lie; only those behind what was known by its bytes are listed.
    pub outline: Outline,
    /// The chain behind the last message.
    pub chain: Chain,
    /// Hash of the bytes of each message, known ones included.
    pub raws: Arc<[u128]>,
    /// The chain behind each message, known ones included.
    pub hashes: Arc<[u128]>,
    /// Where each message ends, known ones included.
    pub ends: Arc<[u32]>,
    /// How many messages of role system lead the list: in chat completions, the system prompt.
    pub lead: usize,
    /// The chain behind each message that was read.
    read: Vec<Chain>,
    /// Landmarks of the earlier request that it shares.
    kept: Vec<Landmark>,
    starts: Starts,
    /// How many bytes were known by their hash and not scanned.
    pub known_bytes: usize,
}

impl Recognised {
    /// The text of a message, known ones included, by what gives bytes of the body.
    pub(crate) fn message<'b>(
        &self,
        index: usize,
        bytes: impl FnOnce(Range<usize>) -> Option<&'b [u8]>,
    ) -> Option<&'b [u8]> {
        let end = |index: usize| Some(*self.ends.get(index)? as usize);
        let begin = match index.checked_sub(1) {
            Some(before) => end(before)?,
            None => self.outline.list.start + 1,
        };
        let text = bytes(begin..end(index)?)?.trim_ascii_start();
        Some(text.strip_prefix(b",").unwrap_or(text).trim_ascii_start())
    }

    /// Lets go of what only placing needs.
    pub(crate) fn is_placed(&mut self) {
        self.starts.let_go();
        self.kept = Vec::new();
        self.read = Vec::new();
    }
}

/// Recognises bodies.
#[derive(Debug)]
pub struct Recogniser {
    lines: Mutex<Lines>,
    memo: Mutex<Generations<u128, Spoken>>,
}

/// What a body shares with an earlier request.
#[derive(Debug)]
pub(crate) struct Shared(Arc<Remembered>, Landmark);

impl Shared {
    /// How many bytes.
    pub(crate) fn known(&self) -> usize {
        self.1.at
    }
}

impl Recogniser {
    /// Over these lines.
    pub fn new(lines: Lines) -> Self {
        Self {
            lines: Mutex::new(lines),
            memo: Mutex::new(Generations::new(MESSAGES)),
        }
    }

    /// The lines, to look at or change.
    pub fn with_lines<T>(&self, look: impl FnOnce(&mut Lines) -> T) -> T {
        look(&mut self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads a body. Costs a pass of hashing over what is known, and a scan of the rest.
    pub fn read(&self, request: Request<'_>) -> Result<Recognised, NotAConversation> {
        let (starts, shared) = self.shared(request);
        self.read_rest(request, starts, shared)
    }

    /// The cheap half: what the body shares with an earlier request.
    pub(crate) fn shared(&self, request: Request<'_>) -> (Starts, Option<Shared>) {
        let starts = Starts::of(request.tenant, request.body);
        let alike = self.with_lines(|lines| lines.alike(&starts));
        let shared = alike.into_iter().filter_map(|earlier| {
            let landmark = earlier.last_shared(request.body, &starts)?.clone();
            Some(Shared(earlier, landmark))
        });
        let longest = shared.max_by_key(|shared| shared.1.at);
        (starts, longest)
    }

    /// The other half: scans what is not shared, and hashes each message in it that was never seen.
    pub(crate) fn read_rest(
        &self,
        request: Request<'_>,
        starts: Starts,
        shared: Option<Shared>,
    ) -> Result<Recognised, NotAConversation> {
        let body = request.body;
        let (outline, mut chain) = match &shared {
            Some(Shared(earlier, landmark)) => {
                let from = earlier.resumption(landmark);
                (body::read_from(body, &from)?, landmark.chain)
            }
            None => (body::read(body)?, Chain::default()),
        };
        let known = shared.as_ref().map_or(0, |shared| shared.1.elements);
        let known_bytes = shared.as_ref().map_or(0, Shared::known);
        let earlier = shared.as_ref().map(|shared| &shared.0);
        let kept = earlier.map_or_else(Vec::new, |earlier| {
            let shared = earlier.landmarks.iter();
            shared
                .filter(|landmark| landmark.elements <= known)
                .cloned()
                .collect()
        });
        // The same messages as before: nothing has to be copied.
        if let Some(earlier) = earlier
            && outline.elements.is_empty()
            && earlier.raws.len() == known
        {
            return Ok(Recognised {
                kept,
                chain,
                raws: Arc::clone(&earlier.raws),
                hashes: Arc::clone(&earlier.hashes),
                ends: Arc::clone(&earlier.ends),
                lead: earlier.lead,
                read: Vec::new(),
                starts,
                known_bytes,
                outline,
            });
        }
        let mut raws = Vec::with_capacity(outline.len());
        let mut hashes = Vec::with_capacity(outline.len());
        let mut ends = Vec::with_capacity(outline.len());
        let mut lead = 0;
        if let Some(earlier) = earlier {
            raws.extend(earlier.raws.iter().take(known));
            hashes.extend(earlier.hashes.iter().take(known));
            ends.extend(earlier.ends.iter().take(known));
            lead = earlier.lead.min(known);
        }
        let mut read = Vec::with_capacity(outline.elements.len());
        for element in &outline.elements {
            let raw = body.get(element.span.clone()).unwrap_or_default();
            // The same bytes mean something else in the other dialect.
            let hash = xxh3_128_with_seed(raw, request.dialect as u64);
            let spoken = match self.remembered(hash) {
                Some(spoken) => spoken,
                None => self.learn(hash, spoken(request.dialect, element.role, raw)?),
            };
            chain = chain.then(spoken);
            if element.role == Role::System && lead == raws.len() {
                lead += 1;
            }
            // Bodies are shorter than that, or nothing of them is replaced.
            ends.push(u32::try_from(element.span.end).unwrap_or(u32::MAX));
            raws.push(hash);
            hashes.push(chain.hash);
            read.push(chain);
        }
        Ok(Recognised {
            kept,
            chain,
            raws: raws.into(),
            hashes: hashes.into(),
            ends: ends.into(),
            lead,
            read,
            starts,
            known_bytes,
            outline,
        })
    }

    fn remembered(&self, raw: u128) -> Option<Spoken> {
        let mut memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner);
        memo.get(&raw)
    }

    fn learn(&self, raw: u128, spoken: Spoken) -> Spoken {
        let mut memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner);
        memo.put(raw, spoken);
        spoken
    }

    /// Places what was read, and remembers it for the next request.
    pub fn place(
        &self,
        request: Request<'_>,
        recognised: &Recognised,
        group: Option<SessionId>,
    ) -> Placed {
        self.place_for(|| request.tenant, request, recognised, group)
    }

    /// As [`Recogniser::place`], for a tenant that is asked for while no line can go over to another: what was read for a
    /// key whose organisation has become known meanwhile is placed with the organisation's.
    pub fn place_for(
        &self,
        whose: impl FnOnce() -> Tenant,
        request: Request<'_>,
        recognised: &Recognised,
        group: Option<SessionId>,
    ) -> Placed {
        let hashes = recognised.hashes.iter().copied();
        let chain = recognised.chain;
        let placed = self.with_lines(|lines| lines.place(whose(), group, hashes, chain));
        let outline = &recognised.outline;
        // Nothing new was said, and the beginning was known: what is remembered is still right.
        if outline.elements.is_empty() && outline.known > 0 {
            return placed;
        }
        let elements = outline.elements.iter().zip(&recognised.read);
        let read = elements
            .enumerate()
            .map(|(at, (element, chain))| (element.span.end, outline.known + at + 1, *chain));
        let kept = recognised.kept.iter();
        let kept = kept.map(|landmark| (landmark.at, landmark.elements, landmark.chain));
        let ends = kept.chain(read).collect::<Vec<_>>().into_iter();
        // Beginnings are looked up within a tenant.
        let others;
        let starts = match placed.tenant == request.tenant {
            true => &recognised.starts,
            false => {
                others = Starts::of(placed.tenant, request.body);
                &others
            }
        };
        let remembered = Arc::new(Remembered {
            landmarks: landmarks(request.body, starts, ends),
            before: outline.before.clone(),
            list: outline.list.start,
            raws: Arc::clone(&recognised.raws),
            hashes: Arc::clone(&recognised.hashes),
            ends: Arc::clone(&recognised.ends),
            lead: recognised.lead,
        });
        self.with_lines(|lines| lines.remember(placed.line, starts, remembered));
        placed
    }
}

//! From a body to its line. Reading needs no lock while it hashes and scans; the locks are held for look-ups alone.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::xxh3::xxh3_128_with_seed;
use longhaul_provider::Dialect;

use super::chain::Chain;
use super::ids::SessionId;
use super::key::HistoryKey;
use super::landmarks::{Landmark, Remembered, Starts, landmarks};
use super::lines::{Lines, Placed};
use super::memo::Generations;
use super::spoken::{Spoken, spoken};
use super::tenant::Tenant;
use crate::body::{self, NotAConversation, Outline, Role};
use crate::memory::{Budget, Charge, Evict, Kept};

/// Messages whose canonical hash is remembered.
const MESSAGES: usize = 200_000;
/// What remembering one takes in memory, about.
const A_MESSAGE: usize = 80;
/// They take at most one part in so many of the memory.
const SHARE: usize = 16;
/// What reading takes in memory for each message, about.
const READING: usize = size_of::<body::Element>()
    + size_of::<Chain>()
    + 2 * size_of::<u128>()
    + size_of::<Role>()
    + A_MESSAGE;
/// The fewest bytes that a message has in a body.
const SHORTEST: usize = br#"{"role":"user"},"#.len();

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
    /// Who speaks in each message, known ones included.
    pub roles: Arc<[Role]>,
    /// How many messages of role system lead the list: in chat completions, the system prompt.
    pub lead: usize,
    /// The chain behind each message that was read.
    read: Vec<Chain>,
    /// Landmarks of the earlier request that it shares.
    kept: Vec<Landmark>,
    starts: Starts,
    /// How many bytes were known by their hash and not scanned.
    pub known_bytes: usize,
    /// Messages that were not known, to be remembered.
    learned: Vec<(u128, Spoken)>,
    /// The room that all this takes.
    pub(crate) charge: Option<Arc<Charge>>,
}

impl Recognised {
    /// The most that reading the rest of a body may take in memory.
    pub(crate) fn most(unknown: usize, known: usize) -> usize {
        (unknown / SHORTEST + known).min(body::MOST_MESSAGES) * READING
    }

    /// What it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.raws.len() * READING
    }

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
        self.learned = Vec::new();
    }
}

/// A request that was found to belong somewhere, and is remembered when it was answered well. Dropped, nothing is.
#[derive(Debug)]
pub struct Pending {
    found: Placed,
    group: Option<SessionId>,
    chain: Chain,
    hashes: Arc<[u128]>,
    starts: Vec<u64>,
    remembered: Option<Arc<Remembered>>,
    learned: Vec<(u128, Spoken)>,
}

impl Pending {
    /// Where it belongs, as far as is known now.
    pub fn found(&self) -> Placed {
        self.found
    }
}

/// Recognises bodies.
#[derive(Debug)]
pub struct Recogniser {
    lines: Mutex<Lines>,
    memo: Mutex<Generations<u128, Spoken>>,
    key: HistoryKey,
    kept: Option<Kept>,
}

/// What a body shares with an earlier request.
#[derive(Debug)]
pub(crate) struct Shared(Arc<Remembered>, Landmark);

impl Shared {
    /// How many bytes.
    pub(crate) fn known(&self) -> usize {
        self.1.at
    }

    /// How many messages.
    pub(crate) fn messages(&self) -> usize {
        self.1.elements
    }
}

impl Recogniser {
    /// Over these lines, with a key for the hash of histories.
    pub fn new(lines: Lines, key: HistoryKey) -> Self {
        Self {
            lines: Mutex::new(lines),
            memo: Mutex::new(Generations::new(MESSAGES)),
            key,
            kept: None,
        }
    }

    /// The same within shares of a budget.
    pub fn within(lines: Lines, key: HistoryKey, budget: &Budget) -> Self {
        let kept = budget.kept();
        // Two generations.
        let room = (kept.share(SHARE) / A_MESSAGE / 2).min(MESSAGES);
        Self {
            memo: Mutex::new(Generations::new(room)),
            kept: Some(kept),
            ..Self::new(lines.within(budget.kept()), key)
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
        let starts = Starts::of(self.key.seed(), request.tenant, request.body);
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
                roles: Arc::clone(&earlier.roles),
                lead: earlier.lead,
                read: Vec::new(),
                starts,
                known_bytes,
                outline,
                learned: Vec::new(),
                charge: None,
            });
        }
        let mut learned = Vec::new();
        let mut raws = Vec::with_capacity(outline.len());
        let mut hashes = Vec::with_capacity(outline.len());
        let mut ends = Vec::with_capacity(outline.len());
        let mut roles = Vec::with_capacity(outline.len());
        let mut lead = 0;
        if let Some(earlier) = earlier {
            raws.extend(earlier.raws.iter().take(known));
            hashes.extend(earlier.hashes.iter().take(known));
            ends.extend(earlier.ends.iter().take(known));
            roles.extend(earlier.roles.iter().take(known));
            lead = earlier.lead.min(known);
        }
        let mut read = Vec::with_capacity(outline.elements.len());
        for element in &outline.elements {
            let raw = body.get(element.span.clone()).unwrap_or_default();
            // The same bytes mean something else in the other dialect.
            let hash = xxh3_128_with_seed(raw, self.key.seed() ^ request.dialect as u64);
            let spoken = match self.remembered(hash) {
                Some(spoken) => spoken,
                None => {
                    let new = spoken(&self.key, request.dialect, element.role, raw)?;
                    learned.push((hash, new));
                    new
                }
            };
            chain = chain.then(spoken);
            if element.role == Role::System && lead == raws.len() {
                lead += 1;
            }
            // Bodies are shorter than that, or nothing of them is replaced.
            ends.push(u32::try_from(element.span.end).unwrap_or(u32::MAX));
            roles.push(element.role);
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
            roles: roles.into(),
            lead,
            read,
            starts,
            known_bytes,
            outline,
            learned,
            charge: None,
        })
    }

    fn remembered(&self, raw: u128) -> Option<Spoken> {
        let mut memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner);
        memo.get(&raw)
    }

    fn learn(&self, learned: Vec<(u128, Spoken)>) {
        if learned.is_empty() {
            return;
        }
        let mut memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner);
        for (raw, spoken) in learned {
            memo.put(raw, spoken);
        }
        if let Some(kept) = &self.kept {
            kept.set(memo.len() * A_MESSAGE);
        }
    }

    /// Places what was read, and remembers it for the next request.
    pub fn place(
        &self,
        request: Request<'_>,
        recognised: &Recognised,
        group: Option<SessionId>,
    ) -> Placed {
        let pending = self.find(request.tenant, request, recognised, group);
        self.keep(|| request.tenant, pending)
    }

    /// Finds where what was read belongs, and what is to be remembered of it.
    pub fn find(
        &self,
        whose: Tenant,
        request: Request<'_>,
        recognised: &Recognised,
        group: Option<SessionId>,
    ) -> Pending {
        let hashes = recognised.hashes.iter().copied();
        let chain = recognised.chain;
        let found = self.with_lines(|lines| lines.find(whose, group, hashes, chain));
        let outline = &recognised.outline;
        let mut pending = Pending {
            found,
            group,
            chain,
            hashes: Arc::clone(&recognised.hashes),
            starts: Vec::new(),
            remembered: None,
            learned: recognised.learned.clone(),
        };
        // Nothing new was said, and the beginning was known: what is remembered is still right.
        if outline.elements.is_empty() && outline.known > 0 {
            return pending;
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
        let starts = match whose == request.tenant {
            true => &recognised.starts,
            false => {
                others = Starts::of(self.key.seed(), whose, request.body);
                &others
            }
        };
        let remembered = Remembered {
            landmarks: landmarks(request.body, starts, ends),
            before: outline.before.clone(),
            list: outline.list.start,
            raws: Arc::clone(&recognised.raws),
            hashes: Arc::clone(&recognised.hashes),
            ends: Arc::clone(&recognised.ends),
            roles: Arc::clone(&recognised.roles),
            lead: recognised.lead,
        };
        let landmarks = remembered.landmarks.iter();
        pending.starts = landmarks
            .filter_map(|landmark| starts.of_landmark(landmark))
            .collect();
        pending.starts.dedup();
        pending.remembered = Some(Arc::new(remembered));
        pending
    }

    /// Remembers a request that was answered well: where its line stands, and how it looked. `whose` is asked while no
    /// line can go over to another tenant: a key's organisation may have become known meanwhile.
    pub fn keep(&self, whose: impl FnOnce() -> Tenant, pending: Pending) -> Placed {
        self.learn(pending.learned);
        self.with_lines(|lines| {
            let hashes = pending.hashes.iter().copied();
            let (group, chain) = (pending.group, pending.chain);
            let placed = lines.place_found(pending.found, whose(), group, hashes, chain);
            // Beginnings are looked up within a tenant.
            if let Some(request) = pending.remembered
                && placed.tenant == pending.found.tenant
            {
                lines.remember(placed.line, pending.starts, request);
            }
            placed
        })
    }
}

impl Evict for Recogniser {
    fn evict(&self, bytes: usize) {
        self.with_lines(|lines| lines.shrink_to(lines.bytes().saturating_sub(bytes)));
    }
}

//! Finds the branch of a request body. Hashing and scanning hold no lock; the locks are held only for lookups.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul_core::xxh3::xxh3_128_with_seed;
use longhaul_provider::Dialect;

use super::chain::HistoryChain;
use super::generational_cache::GenerationalCache;
use super::hashed_message::{HashedMessage, hash_message};
use super::ids::GatewaySessionId;
use super::index::{BranchIndex, BranchPlacement};
use super::key::HistoryKey;
use super::landmarks::{BodyBeginnings, Landmark, MessageEnd, RememberedRequest, landmarks};
use super::member_breakpoints::MemberBreakpoints;
use super::tenant::Tenant;
use crate::body::{self, BodyOutline, BodyRole, NotAConversation};
use crate::breakpoints::ClientBreakpoints;
use crate::memory::{Evictable, MemoryBudget, MemoryCharge, MemoryShare};

/// How many messages have their canonical hash remembered.
const MESSAGES: usize = 200_000;
/// The memory that remembering one message takes, approximately.
const A_MESSAGE: usize = 80;
/// Remembered messages take at most one part in this many of the memory.
const SHARE: usize = 16;
/// The memory that reading takes for each message, approximately.
const READING: usize = size_of::<body::OutlineElement>()
    + size_of::<(HistoryChain, ClientBreakpoints)>()
    + 2 * size_of::<u128>()
    + size_of::<BodyRole>()
    + A_MESSAGE;
/// The fewest bytes that a message can have in a body.
const SHORTEST: usize = br#"{"role":"user"},"#.len();

/// A body to be recognized.
#[derive(Debug, Clone, Copy)]
pub struct RecognitionRequest<'b> {
    /// The tenant that sent it.
    pub tenant: Tenant,
    /// The API dialect of the body.
    pub dialect: Dialect,
    /// The bytes of the body.
    pub body: &'b [u8],
}

/// What was recognized in a body.
#[derive(Debug, Clone)]
pub struct RecognizedBody {
    /// Where its parts lie; only those after the part known by its bytes are listed.
    pub outline: BodyOutline,
    /// The chain after the last message.
    pub chain: HistoryChain,
    /// Hash of the bytes of each message, known ones included.
    pub raws: Arc<[u128]>,
    /// The chain after each message, known ones included.
    pub hashes: Arc<[u128]>,
    /// Where each message ends, known ones included.
    pub ends: Arc<[u32]>,
    /// The role of each message, known ones included.
    pub roles: Arc<[BodyRole]>,
    /// How many messages of role system lead the list: in chat completions, the system prompt.
    pub lead: usize,
    /// The client's own cache breakpoints: in its messages, known ones included, and besides them.
    pub breakpoints: ClientBreakpoints,
    /// Those besides its messages.
    beside: MemberBreakpoints,
    /// The chain after each message that was read, and the breakpoints in the messages up to it.
    read: Vec<(HistoryChain, ClientBreakpoints)>,
    /// The landmarks that it shares with the earlier request.
    kept: Vec<Landmark>,
    starts: BodyBeginnings,
    /// How many bytes were known by their hash and were not scanned.
    pub known_bytes: usize,
    /// Messages that were not known and are to be remembered.
    learned: Vec<(u128, HashedMessage)>,
    /// The memory that all this takes.
    pub(crate) charge: Option<Arc<MemoryCharge>>,
}

impl RecognizedBody {
    /// The most that reading the rest of a body may take in memory.
    pub(crate) fn most(unknown: usize, known: usize) -> usize {
        (unknown / SHORTEST + known).min(body::MOST_MESSAGES) * READING
    }

    /// The memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.raws.len() * READING
    }

    /// The text of a message, known ones included. `bytes` returns a range of the body.
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

    /// The message that a history ends with: the first one after which the rolling hash has this value, because messages
    /// of role system do not change it.
    pub(crate) fn position(&self, at: u128) -> Option<usize> {
        self.hashes.iter().position(|hash| *hash == at)
    }

    /// The first message after the history that a summary replaces, or after the leading system prompt if there is no
    /// summary. `None` if the request does not begin with that history.
    pub(crate) fn first_after(&self, root: Option<u128>) -> Option<usize> {
        match root {
            Some(root) => Some(self.position(root)? + 1),
            None => Some(self.lead),
        }
    }

    /// The layout of the same messages with other contents in some places of the body: `edits` are those places, in
    /// order, and the lengths of what is there now. The history stays the client's. `raw` hashes a range of the new
    /// body.
    pub(crate) fn with_edits(
        &self,
        mut edits: Vec<(Range<usize>, usize)>,
        raw: impl Fn(Range<usize>) -> u128,
    ) -> Self {
        edits.sort_by_key(|(place, _)| place.start);
        // By how much everything after each of the places has moved.
        let shifts: Vec<i64> = edits
            .iter()
            .scan(0, |shift, (place, length)| {
                *shift += *length as i64 - place.len() as i64;
                Some(*shift)
            })
            .collect();
        let before = |at: usize| edits.partition_point(|(place, _)| place.end <= at);
        let moved = |at: usize| {
            let shift = before(at).checked_sub(1).and_then(|last| shifts.get(last));
            at.saturating_add_signed(shift.copied().unwrap_or_default() as isize)
        };
        let mut raws = self.raws.to_vec();
        let mut ends = self.ends.to_vec();
        for (index, end) in ends.iter_mut().enumerate() {
            let old = *end as usize;
            *end = u32::try_from(moved(old)).unwrap_or(u32::MAX);
            let begin = match index.checked_sub(1) {
                Some(before) => self.ends.get(before).map_or(old, |end| *end as usize),
                None => self.outline.list.start + 1,
            };
            let is_edited = before(old) > before(begin);
            if let Some(known) = raws.get_mut(index).filter(|_| is_edited) {
                *known = raw(moved(begin)..moved(old));
            }
        }
        Self {
            outline: self.outline.moved(moved),
            ends: ends.into(),
            raws: raws.into(),
            ..self.clone()
        }
    }

    /// Drops what only placing needs.
    pub(crate) fn is_placed(&mut self) {
        self.starts.let_go();
        self.kept = Vec::new();
        self.read = Vec::new();
        self.learned = Vec::new();
    }
}

/// A request whose place was found, and which is remembered once it was answered successfully. Dropping it remembers
/// nothing.
#[derive(Debug)]
pub struct PendingPlacement {
    found: BranchPlacement,
    group: Option<GatewaySessionId>,
    chain: HistoryChain,
    hashes: Arc<[u128]>,
    starts: Vec<u64>,
    remembered: Option<Arc<RememberedRequest>>,
    learned: Vec<(u128, HashedMessage)>,
}

impl PendingPlacement {
    /// Where the request belongs, as far as is known now.
    pub fn found(&self) -> BranchPlacement {
        self.found
    }
}

/// Recognizes request bodies.
#[derive(Debug)]
pub struct BranchRecognizer {
    lines: Mutex<BranchIndex>,
    memo: Mutex<GenerationalCache<u128, HashedMessage>>,
    key: HistoryKey,
    kept: Option<MemoryShare>,
}

/// What a body shares with an earlier request.
#[derive(Debug)]
pub(crate) struct SharedBeginning(Arc<RememberedRequest>, Landmark);

impl SharedBeginning {
    /// How many bytes are shared.
    pub(crate) fn known(&self) -> usize {
        self.1.at
    }

    /// How many messages are shared.
    pub(crate) fn messages(&self) -> usize {
        self.1.elements
    }
}

impl BranchRecognizer {
    /// A recognizer over these branches, with a key for the hash of histories.
    pub fn new(lines: BranchIndex, key: HistoryKey) -> Self {
        Self {
            lines: Mutex::new(lines),
            memo: Mutex::new(GenerationalCache::new(MESSAGES)),
            key,
            kept: None,
        }
    }

    /// A recognizer that stays within its shares of a memory budget.
    pub fn within(lines: BranchIndex, key: HistoryKey, budget: &MemoryBudget) -> Self {
        let kept = budget.new_share();
        // The cache has two generations.
        let room = (kept.share(SHARE) / A_MESSAGE / 2).min(MESSAGES);
        Self {
            memo: Mutex::new(GenerationalCache::new(room)),
            kept: Some(kept),
            ..Self::new(lines.within(budget.new_share()), key)
        }
    }

    /// Gives access to the branches, for reading and changing.
    pub fn with_branches<T>(&self, look: impl FnOnce(&mut BranchIndex) -> T) -> T {
        look(&mut self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads a body. This costs one hashing pass over the known part, and a scan of the rest.
    pub fn read(
        &self,
        request: RecognitionRequest<'_>,
    ) -> Result<RecognizedBody, NotAConversation> {
        let (starts, shared) = self.shared(request);
        self.read_rest(request, starts, shared)
    }

    /// The cheap half of reading: finds what the body shares with an earlier request.
    pub(crate) fn shared(
        &self,
        request: RecognitionRequest<'_>,
    ) -> (BodyBeginnings, Option<SharedBeginning>) {
        let starts = BodyBeginnings::of(self.key.seed(), request.tenant, request.body);
        let alike = self.with_branches(|lines| lines.alike(&starts));
        let shared = alike.into_iter().filter_map(|earlier| {
            let landmark = earlier.last_shared(request.body, &starts)?.clone();
            Some(SharedBeginning(earlier, landmark))
        });
        let longest = shared.max_by_key(|shared| shared.1.at);
        (starts, longest)
    }

    /// The expensive half of reading: scans what is not shared, and hashes each message in it that was never seen.
    pub(crate) fn read_rest(
        &self,
        request: RecognitionRequest<'_>,
        starts: BodyBeginnings,
        shared: Option<SharedBeginning>,
    ) -> Result<RecognizedBody, NotAConversation> {
        let body = request.body;
        let (outline, mut chain) = match &shared {
            Some(SharedBeginning(earlier, landmark)) => {
                let from = earlier.resumption(landmark);
                (body::read_from(body, &from)?, landmark.chain)
            }
            None => (body::read(body)?, HistoryChain::default()),
        };
        let known = shared.as_ref().map_or(0, |shared| shared.1.elements);
        let known_bytes = shared.as_ref().map_or(0, SharedBeginning::known);
        let earlier = shared.as_ref().map(|shared| &shared.0);
        let beside = MemberBreakpoints::of(body, &outline, earlier.map(|earlier| earlier.beside));
        let mut breakpoints = (shared.as_ref())
            .map_or_else(ClientBreakpoints::default, |shared| shared.1.breakpoints);
        let kept = earlier.map_or_else(Vec::new, |earlier| {
            let shared = earlier.landmarks.iter();
            shared
                .filter(|landmark| landmark.elements <= known)
                .cloned()
                .collect()
        });
        // These are the same messages as before, so nothing has to be copied.
        if let Some(earlier) = earlier
            && outline.elements.is_empty()
            && earlier.raws.len() == known
        {
            return Ok(RecognizedBody {
                kept,
                chain,
                raws: Arc::clone(&earlier.raws),
                hashes: Arc::clone(&earlier.hashes),
                ends: Arc::clone(&earlier.ends),
                roles: Arc::clone(&earlier.roles),
                lead: earlier.lead,
                breakpoints: breakpoints.and(beside.total()),
                beside,
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
                    let new = hash_message(&self.key, request.dialect, element.role, raw)?;
                    learned.push((hash, new));
                    new
                }
            };
            chain = chain.then(spoken);
            let content = element.content.clone().and_then(|place| body.get(place));
            let set = content.map_or_else(ClientBreakpoints::default, |content| {
                ClientBreakpoints::in_content(content)
            });
            breakpoints = breakpoints.and(set);
            if element.role == BodyRole::System && lead == raws.len() {
                lead += 1;
            }
            // Bodies are shorter than that; otherwise, nothing in them is replaced.
            ends.push(u32::try_from(element.span.end).unwrap_or(u32::MAX));
            roles.push(element.role);
            raws.push(hash);
            hashes.push(chain.hash);
            read.push((chain, breakpoints));
        }
        Ok(RecognizedBody {
            kept,
            chain,
            raws: raws.into(),
            hashes: hashes.into(),
            ends: ends.into(),
            roles: roles.into(),
            lead,
            breakpoints: breakpoints.and(beside.total()),
            beside,
            read,
            starts,
            known_bytes,
            outline,
            learned,
            charge: None,
        })
    }

    fn remembered(&self, raw: u128) -> Option<HashedMessage> {
        let mut memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner);
        memo.get(&raw)
    }

    fn learn(&self, learned: Vec<(u128, HashedMessage)>) {
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

    /// Places a body that was read, and remembers it for the next request.
    pub fn place(
        &self,
        request: RecognitionRequest<'_>,
        recognized: &RecognizedBody,
        group: Option<GatewaySessionId>,
    ) -> BranchPlacement {
        let pending = self.find(request.tenant, request, recognized, group);
        self.keep(|| request.tenant, pending)
    }

    /// Finds where a body that was read belongs, and what is to be remembered of it.
    pub fn find(
        &self,
        whose: Tenant,
        request: RecognitionRequest<'_>,
        recognized: &RecognizedBody,
        group: Option<GatewaySessionId>,
    ) -> PendingPlacement {
        let hashes = recognized.hashes.iter().copied();
        let chain = recognized.chain;
        let found = self.with_branches(|lines| lines.find(whose, group, hashes, chain));
        let outline = &recognized.outline;
        let mut pending = PendingPlacement {
            found,
            group,
            chain,
            hashes: Arc::clone(&recognized.hashes),
            starts: Vec::new(),
            remembered: None,
            learned: recognized.learned.clone(),
        };
        // Nothing new was said, and the beginning was known: what is remembered is still correct.
        if outline.elements.is_empty() && outline.known > 0 {
            return pending;
        }
        let elements = outline.elements.iter().zip(&recognized.read);
        let read = elements
            .enumerate()
            .map(|(at, (element, (chain, breakpoints)))| MessageEnd {
                at: element.span.end,
                elements: outline.known + at + 1,
                chain: *chain,
                breakpoints: *breakpoints,
            });
        let kept = recognized.kept.iter().map(MessageEnd::from);
        let ends = kept.chain(read).collect::<Vec<_>>().into_iter();
        // Beginnings are looked up within a tenant.
        let others;
        let starts = if whose == request.tenant {
            &recognized.starts
        } else {
            others = BodyBeginnings::of(self.key.seed(), whose, request.body);
            &others
        };
        let remembered = RememberedRequest {
            landmarks: landmarks(request.body, starts, ends),
            before: outline.before.clone(),
            list: outline.list.start,
            raws: Arc::clone(&recognized.raws),
            hashes: Arc::clone(&recognized.hashes),
            ends: Arc::clone(&recognized.ends),
            roles: Arc::clone(&recognized.roles),
            lead: recognized.lead,
            beside: recognized.beside,
        };
        let landmarks = remembered.landmarks.iter();
        pending.starts = landmarks
            .filter_map(|landmark| starts.of_landmark(landmark))
            .collect();
        pending.starts.dedup();
        pending.remembered = Some(Arc::new(remembered));
        pending
    }

    /// Remembers a request that was answered successfully: the tip of its branch, and what it looked like. `whose` is
    /// called while no branch can move to another tenant, because a key's organization may have become known in the
    /// meantime.
    pub fn keep(
        &self,
        whose: impl FnOnce() -> Tenant,
        pending: PendingPlacement,
    ) -> BranchPlacement {
        self.learn(pending.learned);
        self.with_branches(|lines| {
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

impl Evictable for BranchRecognizer {
    fn evict(&self, bytes: usize) {
        self.with_branches(|lines| lines.shrink_to(lines.bytes().saturating_sub(bytes)));
    }
}

//! The known branches: finds the branch that a request continues, or that it begins a new one.
//!
//! A branch is a history that was continued; its tip is the history of its newest request. The longest known history
//! that a request begins with decides: if it is the tip of a branch, the request extends that branch; if the branch has
//! moved on since, the request forks a new branch from it; if no such history is known, the request begins a new
//! branch. Histories are identified by their [`HistoryChain`], within one tenant.

mod alike;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;

use foldhash::fast::RandomState;
use jiff::Timestamp;

use super::chain::HistoryChain;
use super::ids::{BranchId, BranchIds, GatewaySessionId};
use super::landmarks::RememberedRequest;
use super::placement::{BranchPlacement, BranchRelation, RestoredBranch};
use super::tenant::Tenant;
use crate::memory::MemoryShare;

type Map<K, V> = HashMap<K, V, RandomState>;

/// How many tips of one branch are remembered. A fork from further back becomes a branch without a parent.
const HEADS: usize = 64;
/// The memory that a branch takes besides its tips and what is remembered of its newest request, approximately.
const LINE_BYTES: usize = 512;
/// The memory that a tip takes, approximately.
const HEAD_BYTES: usize = 128;
/// Branches take at most one part in this many of the memory.
const SHARE: usize = 4;

#[derive(Debug)]
struct KnownBranch {
    tenant: Tenant,
    session: GatewaySessionId,
    head: u128,
    heads: VecDeque<u128>,
    seen: u64,
    last_used: Option<Timestamp>,
    starts: Vec<u64>,
    remembered: Option<Arc<RememberedRequest>>,
    /// The memory that the branch takes, as last calculated.
    bytes: usize,
}

impl KnownBranch {
    fn weight(&self) -> usize {
        let remembered = self.remembered.as_ref();
        LINE_BYTES
            + self.heads.len() * HEAD_BYTES
            + remembered.map_or(0, |remembered| remembered.weight())
    }
}

#[derive(Debug, Clone, Copy)]
struct BranchTip {
    line: BranchId,
    chain: HistoryChain,
}

/// The known branches of all tenants.
#[derive(Debug)]
pub struct BranchIndex {
    ids: BranchIds,
    lines: Map<BranchId, KnownBranch>,
    heads: Map<(Tenant, u128), BranchTip>,
    starts: Map<u64, Vec<BranchId>>,
    by_age: BTreeSet<(u64, BranchId)>,
    /// Branches whose newest request is remembered, by age as well: the request can be dropped while the branch stays
    /// known.
    remembering: BTreeSet<(u64, BranchId)>,
    room: usize,
    uses: u64,
    bytes: usize,
    kept: Option<MemoryShare>,
}

impl BranchIndex {
    /// An index for this many branches; beyond that, the least recently used one is dropped.
    pub fn new(ids: BranchIds, room: usize) -> Self {
        Self {
            ids,
            lines: Map::default(),
            heads: Map::default(),
            starts: Map::default(),
            by_age: BTreeSet::new(),
            remembering: BTreeSet::new(),
            room: room.max(1),
            uses: 0,
            bytes: 0,
            kept: None,
        }
    }

    /// Limits the index to a share of the memory: beyond that, the least recently used branches are dropped.
    #[must_use]
    pub fn within(self, kept: MemoryShare) -> Self {
        Self {
            kept: Some(kept),
            ..self
        }
    }

    /// The memory that the branches take, approximately.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Drops what was not used for longest, until the branches take no more than this many bytes. For each branch, it
    /// first drops what is remembered of the newest request, which costs the next request a scan.
    pub fn shrink_to(&mut self, bytes: usize) {
        while self.bytes > bytes {
            if let Some((_, id)) = self.remembering.pop_first() {
                self.forget_request(id);
            } else if let Some((_, id)) = self.by_age.first().copied() {
                self.forget(id);
            } else {
                break;
            }
        }
        if let Some(kept) = &self.kept {
            kept.set(self.bytes);
        }
    }

    fn stay_within(&mut self) {
        let most = self.kept.as_ref().map(|kept| kept.share(SHARE));
        self.shrink_to(most.unwrap_or(usize::MAX));
    }

    fn reckon(&mut self, id: BranchId) {
        if let Some(line) = self.lines.get_mut(&id) {
            let bytes = line.weight();
            self.bytes = self.bytes + bytes - std::mem::replace(&mut line.bytes, bytes);
        }
    }

    /// Drops what is remembered of the newest request of a branch.
    fn forget_request(&mut self, id: BranchId) {
        let Some(line) = self.lines.get_mut(&id) else {
            return;
        };
        line.remembered = None;
        let seen = line.seen;
        let starts = std::mem::take(&mut line.starts);
        self.remembering.remove(&(seen, id));
        self.forget_starts(&starts, id);
        self.reckon(id);
    }

    /// Finds where a request belongs: `hashes` has the chain after each of its messages, `chain` is the one after the
    /// last. Nothing is remembered: a new branch that the request would begin is not known yet.
    pub fn find(
        &self,
        tenant: Tenant,
        group: Option<GatewaySessionId>,
        hashes: impl DoubleEndedIterator<Item = u128>,
        chain: HistoryChain,
    ) -> BranchPlacement {
        self.found(tenant, group, hashes, chain, || self.ids.next_id())
    }

    /// Places a request: from now on its branch's tip is there.
    pub fn place(
        &mut self,
        tenant: Tenant,
        group: Option<GatewaySessionId>,
        hashes: impl DoubleEndedIterator<Item = u128>,
        chain: HistoryChain,
    ) -> BranchPlacement {
        let placed = self.find(tenant, group, hashes, chain);
        self.move_to(tenant, placed.line, placed.session, placed.stands);
        placed
    }

    /// Places a request whose place was found before. Changes since then count, and a branch that the request would
    /// have begun begins under the same id.
    pub(super) fn place_found(
        &mut self,
        before: BranchPlacement,
        tenant: Tenant,
        group: Option<GatewaySessionId>,
        hashes: impl DoubleEndedIterator<Item = u128>,
        chain: HistoryChain,
    ) -> BranchPlacement {
        let begins = matches!(
            before.relation,
            BranchRelation::New | BranchRelation::Branches(..)
        );
        let name = || {
            if begins {
                before.line
            } else {
                self.ids.next_id()
            }
        };
        let placed = self.found(tenant, group, hashes, chain, name);
        self.move_to(tenant, placed.line, placed.session, placed.stands);
        placed
    }

    fn found(
        &self,
        tenant: Tenant,
        group: Option<GatewaySessionId>,
        hashes: impl DoubleEndedIterator<Item = u128>,
        chain: HistoryChain,
        name: impl Fn() -> BranchId,
    ) -> BranchPlacement {
        let known = hashes
            .rev()
            .find_map(|hash| self.heads.get(&(tenant, hash)));
        let standing = known.copied().and_then(|head| {
            let line = self.lines.get(&head.line)?;
            Some((head, line.session, line.head == head.chain.hash))
        });
        if let Some((head, session, false)) = standing
            && head.chain.hash == chain.hash
            && chain.answered
        {
            return self.replayed(head, session, tenant);
        }
        let (line, session, relation) = match standing {
            Some((head, session, true)) if head.chain.hash == chain.hash => {
                (head.line, session, BranchRelation::Again)
            }
            Some((head, session, true)) => (
                head.line,
                session,
                BranchRelation::Extends(head.chain.messages),
            ),
            // A host may put the same text first in many conversations: only an answered beginning is common history.
            Some((head, session, false)) if head.chain.answered => {
                let relation = BranchRelation::Branches(head.line, head.chain.messages);
                (name(), group.unwrap_or(session), relation)
            }
            _ => {
                let line = name();
                (
                    line,
                    group.unwrap_or(GatewaySessionId(line.0)),
                    BranchRelation::New,
                )
            }
        };
        BranchPlacement {
            line,
            tenant,
            session,
            relation,
            stands: chain,
            last_used: self.last_used(line),
        }
    }

    /// An earlier request of a branch is repeated. The branch keeps its tip; otherwise, a client that replays a
    /// conversation would begin a branch with each request.
    fn replayed(
        &self,
        head: BranchTip,
        session: GatewaySessionId,
        tenant: Tenant,
    ) -> BranchPlacement {
        let newest = self.lines.get(&head.line).map(|line| line.head);
        let newest = newest.and_then(|newest| self.heads.get(&(tenant, newest)));
        BranchPlacement {
            line: head.line,
            tenant,
            session,
            relation: BranchRelation::Again,
            stands: newest.map_or(head.chain, |newest| newest.chain),
            last_used: self.last_used(head.line),
        }
    }

    fn last_used(&self, line: BranchId) -> Option<Timestamp> {
        self.lines.get(&line).and_then(|line| line.last_used)
    }

    /// Adds a branch from the store.
    pub fn restore(&mut self, known: &RestoredBranch) {
        self.move_to(known.tenant, known.line, known.session, known.chain);
        if let Some(line) = self.lines.get_mut(&known.line) {
            line.last_used = line.last_used.max(known.last_used);
        }
    }

    /// Adds tips of a branch that another gateway wrote, the newest last. What is known here stays unchanged: it may be
    /// newer.
    pub fn catch_up(&mut self, heads: &[RestoredBranch]) {
        for (number, head) in heads.iter().enumerate() {
            let (key, id) = ((head.tenant, head.chain.hash), head.line);
            if self.heads.get(&key).is_some_and(|known| known.line == id) {
                continue;
            }
            match self.lines.get_mut(&id) {
                Some(line) if number + 1 < heads.len() => {
                    line.heads.push_front(head.chain.hash);
                    let chain = head.chain;
                    self.heads.insert(key, BranchTip { line: id, chain });
                }
                _ => self.restore(head),
            }
        }
    }

    fn move_to(
        &mut self,
        tenant: Tenant,
        id: BranchId,
        session: GatewaySessionId,
        chain: HistoryChain,
    ) {
        self.uses += 1;
        let seen = self.uses;
        let line = self.lines.entry(id).or_insert_with(|| KnownBranch {
            tenant,
            session,
            head: chain.hash,
            heads: VecDeque::new(),
            seen,
            last_used: None,
            starts: Vec::new(),
            remembered: None,
            bytes: 0,
        });
        self.by_age.remove(&(line.seen, id));
        self.by_age.insert((seen, id));
        if self.remembering.remove(&(line.seen, id)) {
            self.remembering.insert((seen, id));
        }
        line.seen = seen;
        line.head = chain.hash;
        if line.heads.back() != Some(&chain.hash) {
            line.heads.push_back(chain.hash);
            self.heads
                .insert((tenant, chain.hash), BranchTip { line: id, chain });
        }
        if line.heads.len() > HEADS
            && let Some(oldest) = line.heads.pop_front()
        {
            self.forget_tip(tenant, oldest, id);
        }
        while self.lines.len() > self.room {
            let Some((_, oldest)) = self.by_age.first().copied() else {
                break;
            };
            self.forget(oldest);
        }
        self.reckon(id);
        self.stay_within();
    }

    fn forget_tip(&mut self, tenant: Tenant, hash: u128, line: BranchId) {
        if self.heads.get(&(tenant, hash)).map(|head| head.line) == Some(line) {
            self.heads.remove(&(tenant, hash));
        }
    }

    /// Drops a branch.
    pub fn forget(&mut self, id: BranchId) {
        let Some(line) = self.lines.remove(&id) else {
            return;
        };
        self.bytes -= line.bytes;
        self.by_age.remove(&(line.seen, id));
        self.remembering.remove(&(line.seen, id));
        for hash in line.heads {
            self.forget_tip(line.tenant, hash, id);
        }
        self.forget_starts(&line.starts, id);
    }

    fn forget_starts(&mut self, starts: &[u64], id: BranchId) {
        for start in starts {
            if let Some(alike) = self.starts.get_mut(start) {
                alike.retain(|other| *other != id);
                if alike.is_empty() {
                    self.starts.remove(start);
                }
            }
        }
    }

    /// Moves all branches of one tenant to another, when the two turn out to be the same.
    pub fn adopt(&mut self, from: Tenant, to: Tenant) {
        let moved: Vec<BranchId> = (self.lines.iter())
            .filter(|(_, line)| line.tenant == from)
            .map(|(id, _)| *id)
            .collect();
        for id in moved {
            let Some(line) = self.lines.get_mut(&id) else {
                continue;
            };
            line.tenant = to;
            let heads = line.heads.clone();
            self.forget_request(id);
            for hash in heads {
                if let Some(head) = self.heads.remove(&(from, hash)) {
                    self.heads.entry((to, hash)).or_insert(head);
                }
            }
        }
    }

    /// How many branches are known.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether no branch is known.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

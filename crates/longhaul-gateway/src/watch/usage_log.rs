//! The thread that writes the usage log, and the queue in front of it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use jiff::Timestamp;
use longhaul_core::message::Usage;
use longhaul_core::models::ModelTable;
use tokio::sync::mpsc;

use super::changes::SessionChanges;
use super::metrics::Metrics;
use super::session_watch::SessionCacheWatch;
use super::usage::UsageCompleteness;
use super::watched_request::{SeenRequestPrefixes, WatchedRequest};
use crate::branch::{BranchId, BranchPlacement, BranchRelation, GatewaySessionId, Tenant};
use crate::memory::{Evictable, MemoryBudget};
use crate::store::{BranchRecord, CallRecord, StoreError, UsageLogRecord, UsageLogStore};

/// How many items may wait.
const QUEUE: usize = 4_096;
/// How many bytes of bodies may wait; beyond that, requests are recorded but not watched.
const WAITING_BYTES: usize = 64 << 20;
/// How many items are written at once.
const BATCH: usize = 8_192;
/// Items are read in short turns, so that this thread never occupies a core for long while requests need one.
const TURN: Duration = Duration::from_millis(2);
/// Items are written when a turn brought nothing, and in any case after this many turns.
const TURNS: usize = 50;
/// The longest finding that is recorded, in characters: it may quote names that a client made up.
const LONGEST_FINDING: usize = 1_000;

/// How many calls in flight are remembered.
const MOST_UNDER_WAY: usize = 65_536;

/// How many keys have their organization remembered for branches that are still in the queue.
const MOST_LEARNED: usize = 65_536;

/// A request that the upstream accepted.
#[derive(Debug)]
pub struct SentRequest {
    /// The unique number of the call.
    pub call: u64,
    /// When it was sent.
    pub at: Timestamp,
    /// The state of its branch.
    pub line: BranchRecord,
    /// What the cache watch needs, if it applies.
    pub watch: Option<WatchedRequest>,
}

impl SentRequest {
    /// Sets where the request was placed, which may differ from where it was found to belong.
    pub(crate) fn is_placed(&mut self, placed: BranchPlacement) {
        self.line.line = placed.line;
        self.line.tenant = placed.tenant;
        self.line.session = placed.session;
        self.line.chain = placed.stands;
        self.line.parent = match placed.relation {
            BranchRelation::Branches(from, _) => Some(from),
            _ => None,
        };
        if let Some(watch) = &mut self.watch {
            watch.session = placed.session;
            if let Some(rewriting) = &mut watch.rewriting {
                rewriting.conversation = placed.line.0;
                rewriting.parent = self.line.parent.map(|parent| parent.0);
            }
        }
    }
}

/// A call that has ended.
#[derive(Debug)]
pub struct CompletedCall {
    /// The unique number of the call.
    pub call: u64,
    /// Its branch; `None` if it was not recognized.
    pub line: Option<BranchId>,
    /// What happened, without what the usage log writer adds: usage, cost, finding.
    pub record: CallRecord,
    /// The usage that the upstream reported, if any.
    pub usage: Option<Usage>,
    /// How complete that usage is.
    pub extent: UsageCompleteness,
}

/// A request that the gateway made itself and that was answered.
#[derive(Debug)]
pub struct OwnRequest {
    /// The session for which it was made.
    pub session: GatewaySessionId,
    /// The branch for which it was made.
    pub line: BranchId,
    /// What happened, without what the usage log writer adds.
    pub record: CallRecord,
    /// What it used, as far as the answer says.
    pub usage: Option<Usage>,
}

enum UsageLogItem {
    Sent(Box<SentRequest>),
    Done(Box<CompletedCall>),
    Own(Box<OwnRequest>),
    Tenant(Tenant, Tenant),
}

/// The queue for items of the usage log. It never blocks.
#[derive(Clone)]
pub struct UsageLogQueue {
    queue: mpsc::Sender<UsageLogItem>,
    waiting: Arc<AtomicUsize>,
    metrics: Arc<Metrics>,
    heads: Arc<SeenRequestPrefixes>,
}

impl std::fmt::Debug for UsageLogQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Desk")
    }
}

impl UsageLogQueue {
    fn put(&self, entry: UsageLogItem) {
        if self.queue.try_send(entry).is_err() {
            self.metrics.dropped();
        }
    }

    /// Queues a request that was sent.
    pub fn sent(&self, mut sent: SentRequest) {
        if let Some(watch) = &sent.watch {
            let length = watch.size();
            if self.waiting.fetch_add(length, Ordering::Relaxed) > WAITING_BYTES {
                self.waiting.fetch_sub(length, Ordering::Relaxed);
                self.metrics.dropped();
                sent.watch = None;
            }
        }
        let length = sent.watch.as_ref().map_or(0, WatchedRequest::size);
        if self
            .queue
            .try_send(UsageLogItem::Sent(Box::new(sent)))
            .is_err()
        {
            self.waiting.fetch_sub(length, Ordering::Relaxed);
            self.metrics.dropped();
        }
    }

    /// The request prefixes that were watched.
    pub(crate) fn prefixes(&self) -> &SeenRequestPrefixes {
        &self.heads
    }

    /// Queues a call that ended.
    pub fn done(&self, done: CompletedCall) {
        self.put(UsageLogItem::Done(Box::new(done)));
    }

    /// Queues a request of the gateway's own.
    pub fn own(&self, own: OwnRequest) {
        self.put(UsageLogItem::Own(Box::new(own)));
    }

    /// Queues the organization of a key.
    pub fn tenant(&self, of_key: Tenant, tenant: Tenant) {
        self.put(UsageLogItem::Tenant(of_key, tenant));
    }
}

/// The thread that writes the usage log. It ends when every [`UsageLogQueue`] is gone, after all items were written.
#[derive(Debug)]
pub(crate) struct UsageLogWriter(Option<JoinHandle<()>>);

impl UsageLogWriter {
    /// Starts the thread. It runs the store's futures on the caller's runtime.
    pub(crate) fn start(
        store: Arc<dyn UsageLogStore>,
        models: ModelTable,
        metrics: Arc<Metrics>,
        changes: SessionChanges,
        budget: &MemoryBudget,
        is_simulated: bool,
    ) -> std::io::Result<(Self, UsageLogQueue)> {
        let (queue, mut entries) = mpsc::channel(QUEUE);
        let waiting = Arc::new(AtomicUsize::new(0));
        let heads = Arc::new(SeenRequestPrefixes::new(budget));
        let watching = Arc::new(SessionCacheWatch::new(Arc::clone(&heads), budget));
        let evicted: Arc<dyn Evictable> = Arc::clone(&watching) as Arc<dyn Evictable>;
        budget.join(Arc::downgrade(&evicted));
        let usage_queue = UsageLogQueue {
            queue,
            waiting: Arc::clone(&waiting),
            metrics: Arc::clone(&metrics),
            heads,
        };
        let mut keeping = UsageLogState {
            waiting,
            metrics,
            models,
            watching,
            session_of: HashMap::new(),
            changed: HashSet::new(),
            learned: HashMap::new(),
            is_simulated,
        };
        let runtime = tokio::runtime::Handle::current();
        let keep = move || {
            while let Some(first) = entries.blocking_recv() {
                let mut batch = UsageLogBatch::default();
                keeping.take(first, &mut batch);
                for _ in 0..TURNS {
                    // A caller that queues an item while this thread sleeps does not have to wake it.
                    std::thread::sleep(TURN);
                    let before = batch.taken;
                    while batch.taken < BATCH
                        && let Ok(next) = entries.try_recv()
                    {
                        keeping.take(next, &mut batch);
                    }
                    if batch.taken == before || batch.taken == BATCH {
                        break;
                    }
                }
                let count = batch.records.len();
                if let Err(error) = written(&runtime, &store, batch.records) {
                    tracing::warn!(%error, count, "records of the usage log are lost");
                }
                for session in keeping.changed.drain() {
                    changes.changed(session);
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("longhaul-books".to_owned())
            .spawn(keep)?;
        Ok((Self(Some(thread)), usage_queue))
    }

    /// Waits until everything is written. Every [`UsageLogQueue`] must be dropped by then, or this waits for it.
    pub(crate) async fn finish(mut self) {
        if let Some(thread) = self.0.take() {
            // If the thread panicked, what it had is lost already.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }
}

/// Writes records as a task of the runtime, and waits for that. A runtime that is being shut down drops its tasks; this
/// thread would panic if it ran them itself, because their timers and sockets are gone.
fn written(
    runtime: &tokio::runtime::Handle,
    store: &Arc<dyn UsageLogStore>,
    records: Vec<UsageLogRecord>,
) -> Result<(), StoreError> {
    let (done, end) = tokio::sync::oneshot::channel();
    let store = Arc::clone(store);
    runtime.spawn(async move {
        // If the thread is gone, no one waits for the result.
        let _ = done.send(store.append(records).await);
    });
    let gone = |_| StoreError::Failed("the gateway's runtime has ended".to_owned());
    end.blocking_recv().map_err(gone)?
}

struct UsageLogState {
    waiting: Arc<AtomicUsize>,
    metrics: Arc<Metrics>,
    models: ModelTable,
    watching: Arc<SessionCacheWatch>,
    /// The sessions of calls in flight.
    session_of: HashMap<u64, GatewaySessionId>,
    /// The sessions that changed in this batch.
    changed: HashSet<GatewaySessionId>,
    /// Keys, and the organization that each was first known to belong to.
    learned: HashMap<Tenant, Tenant>,
    /// Whether the built-in simulator answers all calls.
    is_simulated: bool,
}

impl UsageLogState {
    fn take(&mut self, entry: UsageLogItem, batch: &mut UsageLogBatch) {
        batch.taken += 1;
        match entry {
            UsageLogItem::Sent(sent) => {
                // Calls whose end was dropped from the queue must not fill the memory.
                if self.session_of.len() > MOST_UNDER_WAY {
                    self.session_of.clear();
                }
                self.session_of.insert(sent.call, sent.line.session);
                self.changed.insert(sent.line.session);
                if let Some(watched) = &sent.watch {
                    self.waiting.fetch_sub(watched.size(), Ordering::Relaxed);
                    self.watching.sent(sent.call, watched, sent.at);
                }
                let mut line = sent.line;
                // The branch was placed before its organization was known, but arrives here after that.
                line.tenant = self
                    .learned
                    .get(&line.tenant)
                    .copied()
                    .unwrap_or(line.tenant);
                batch.put_branch(line);
            }
            UsageLogItem::Done(done) => {
                self.changed.extend(self.session_of.remove(&done.call));
                batch.records.push(self.done(*done));
            }
            UsageLogItem::Own(own) => {
                self.changed.insert(own.session);
                batch.records.push(self.own(*own));
            }
            UsageLogItem::Tenant(of_key, tenant) => {
                if self.learned.len() > MOST_LEARNED {
                    self.learned.clear();
                }
                // What a key had before it changed its organization stays with the first one.
                self.learned.entry(of_key).or_insert(tenant);
                batch.records.push(UsageLogRecord::Tenant(of_key, tenant));
            }
        }
    }

    fn done(&mut self, done: CompletedCall) -> UsageLogRecord {
        let mut record = done.record;
        record.origin.simulated = self.is_simulated;
        record.partial = done.usage.is_some() && done.extent == UsageCompleteness::Partial;
        let spec = self.models.resolve(&record.model).spec;
        if let Some(usage) = done.usage {
            record.cost = spec.cost_of_reply(&usage);
            self.metrics.used(&usage, record.cost);
            // Without the cache reads there is nothing to judge.
            let verdict = match usage.prompt() {
                0 => None,
                _ => self.watching.answered(done.call, &usage, &spec),
            };
            if let Some(finding) = verdict.as_ref().and_then(|verdict| verdict.finding()) {
                self.metrics.found(finding.cause.name());
                let sentence = finding.sentence(None);
                record.finding = Some(sentence.chars().take(LONGEST_FINDING).collect());
            }
            record.usage = Some(usage);
        }
        // If it was judged, it is not in flight any more.
        self.watching.failed(done.call);
        UsageLogRecord::Call(done.line, Box::new(record))
    }
}

impl UsageLogState {
    fn own(&self, own: OwnRequest) -> UsageLogRecord {
        let mut record = own.record;
        record.origin.own = true;
        record.origin.simulated = self.is_simulated;
        let spec = self.models.resolve(&record.model).spec;
        if let Some(usage) = own.usage {
            record.cost = spec.cost_of_reply(&usage);
            self.metrics.used(&usage, record.cost);
            record.usage = Some(usage);
        }
        // One that was sent counts, also if nobody said what it used.
        self.metrics.used_itself(record.cost);
        UsageLogRecord::Call(Some(own.line), Box::new(record))
    }
}

/// The records that are written at once.
#[derive(Default)]
struct UsageLogBatch {
    /// How many items the batch was made from.
    taken: usize,
    records: Vec<UsageLogRecord>,
    /// The positions of the branches in it.
    lines: HashMap<BranchId, usize>,
}

impl UsageLogBatch {
    /// Of a branch that is continued within a batch, only the last state is written.
    fn put_branch(&mut self, line: BranchRecord) {
        let at = *self.lines.entry(line.line).or_insert(self.records.len());
        match self.records.get_mut(at) {
            // The first record names the tenant and the parent.
            Some(UsageLogRecord::Line(earlier)) => {
                earlier.chain = line.chain;
                earlier.model = line.model;
                earlier.seen = line.seen;
            }
            _ => self.records.push(UsageLogRecord::Line(line)),
        }
    }
}

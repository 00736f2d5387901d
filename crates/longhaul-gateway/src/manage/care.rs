//! Takes care of conversations: what is sent for a request, and what follows from its answer.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul::{Clock, SystemClock};
use longhaul_core::micro::is_rested;
use longhaul_core::models::ModelSpec;
use longhaul_core::window::{Action, Verdict, WindowStatus};
use longhaul_provider::Dialect;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Settings;
use super::material::{Marked, Material};
use super::notes::NotesDesk;
use super::rewrites::{Rewrites, Shelved};
use super::sending::{Sending, position};
use super::settle;
use super::standing::Standings;
use super::windows::Windows;
use super::work::Occasion;
use crate::line::{LineId, Relation, SealKey, Tenant};
use crate::marks::Marks;
use crate::memory::{Budget, Evict};
use crate::store::{NotesShelf, Shelf, StoreError};
use crate::watch::{Changes, Metrics};

/// See the module.
pub(crate) struct Care {
    pub(super) rewrites: Rewrites,
    pub(super) standings: Standings,
    /// None where notes are not taken.
    pub(super) notes: Option<NotesDesk>,
    pub(super) settings: Settings,
    pub(super) windows: Windows,
    marks: Marks,
    pub(super) metrics: Arc<Metrics>,
    pub(super) changes: Changes,
    /// Lines that are being worked on.
    pub(super) working: Mutex<HashMap<LineId, Arc<tokio::sync::Mutex<()>>>>,
    /// Where work on a conversation is charged.
    pub(super) budget: Budget,
    pub(super) tasks: TaskTracker,
    pub(super) abort: CancellationToken,
    pub(super) runtime: Handle,
    pub(super) clock: Arc<dyn Clock>,
}

/// Where things are kept.
pub(crate) struct Shelves {
    pub(crate) rewrites: Arc<dyn Shelf>,
    /// None if session notes are not taken.
    pub(crate) notes: Option<Arc<dyn NotesShelf>>,
    /// What both are sealed with.
    pub(crate) seal: SealKey,
    /// Where what is in memory of them is charged.
    pub(crate) budget: Budget,
}

/// What became of a request before it was sent.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// For how long it waited, in milliseconds.
    pub(crate) waited: u64,
}

impl Care {
    /// Must be called on a tokio runtime. `tasks` are waited for when the gateway stops, until `abort`.
    pub(crate) async fn new(
        shelves: Shelves,
        settings: Settings,
        marks: Marks,
        metrics: Arc<Metrics>,
        changes: Changes,
        tasks: TaskTracker,
        abort: CancellationToken,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            rewrites: Rewrites::open(shelves.rewrites, shelves.seal.clone(), &shelves.budget)
                .await?,
            standings: Standings::default(),
            notes: (shelves.notes).map(|notes| NotesDesk::new(notes, shelves.seal)),
            windows: Windows::new(Arc::clone(&settings.config), Arc::clone(&settings.models)),
            settings,
            marks,
            metrics,
            changes,
            working: Mutex::default(),
            budget: shelves.budget,
            tasks,
            abort,
            runtime: Handle::current(),
            clock: Arc::new(SystemClock),
        })
    }

    /// With another clock than the machine's.
    pub(crate) fn told_the_time_by(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Whether the user's switches let something happen.
    pub(super) fn may(&self, action: Action) -> bool {
        self.settings.config.switches.decide(action) == Verdict::Allowed
    }

    /// Decides what is sent. Waits only if the request would not fit.
    pub(crate) async fn prepare(self: &Arc<Self>, material: &mut Material) -> Prepared {
        let began = std::time::Instant::now();
        self.find(material).await;
        self.not_yet(material).await;
        let measured = self.standings.measured(material.placed.line);
        // The provider's cache is cold then, and results are cleared by the way (U3).
        let limits = &self.settings.config.micro;
        let rested = is_rested(limits, measured.answered, self.clock.now());
        let used = measured.used;
        if rested
            && self.may(Action::Micro)
            && self.work_on(material, Occasion::Rested { used }).await
        {
            self.find(material).await;
        }
        self.make_room(material, &measured).await;
        let known = self.windows.of(&material.model);
        if known.spec.thinking.binding.may_bind() {
            settle::settle(&self.rewrites, material).await;
        }
        self.mark(material);
        material.fresh = self.begins_anew(material);
        Prepared {
            waited: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Whether another beginning is sent than for the line's last request. Branches go on from the line that they left.
    pub(super) fn begins_anew(&self, material: &Material) -> bool {
        let replaced = material.sending.replaced.as_ref();
        let beginning = replaced.map(|(base, _)| base.beginning());
        let from = match material.placed.relation {
            Relation::Branches(from, _) => Some(from),
            _ => None,
        };
        self.standings.sends(material.placed.line, from, beginning)
    }

    /// Work that a request waits for. Boxed, since it is seldom done: what is awaited lies within the future of each request,
    /// and that is copied several times on its way.
    pub(super) fn work_on<'w>(
        self: &'w Arc<Self>,
        material: &Material,
        occasion: Occasion,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'w>> {
        Box::pin(self.work(material.clone(), occasion))
    }

    /// Puts our cache markers in place of the client's, if that is wanted or if the client sets none.
    pub(super) fn mark(&self, material: &mut Material) {
        if material.dialect != Dialect::Anthropic {
            return;
        }
        let line = material.placed.line;
        material.marked = match self.marks {
            Marks::Manage => Marked::Managed,
            Marks::Keep if self.standings.is_unmarked(line) => Marked::Managed,
            Marks::Keep if material.has_markers() => Marked::Kept,
            // A call that nobody goes on with is left as it is.
            Marks::Keep if self.standings.measured(line).used == 0 => Marked::None,
            Marks::Keep => {
                self.standings.unmarked(line);
                Marked::ManagedNow
            }
        };
        if matches!(material.marked, Marked::Managed | Marked::ManagedNow) {
            let trail = self.standings.trail(line);
            let (body, recognised) = (&material.body, &material.recognised);
            material
                .sending
                .mark(body, recognised, Marks::Manage, trail.as_deref());
        }
    }

    /// What is sent only to be counted: nothing is made for it.
    pub(crate) async fn found(&self, material: &mut Material) {
        self.find(material).await;
        let known = self.windows.of(&material.model);
        if known.spec.thinking.binding.may_bind() {
            settle::as_if_settled(material);
        }
    }

    /// Puts what stands for the beginning in its place, if anything does.
    pub(super) async fn find(&self, material: &mut Material) {
        match self.beginning(material).await {
            Ok(Some(base)) => {
                let behind = Sending::behind(&material.body, &material.recognised, &base);
                material.sending = behind.unwrap_or_else(|| material.sending.clone());
            }
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "summaries cannot be looked up; the whole history is sent");
            }
        }
    }

    /// What was made ahead waits for its time: until the threshold is reached, the beginning stays as it was sent last, and
    /// the cache with it.
    async fn not_yet(&self, material: &mut Material) {
        let standing = self.standings.of(material.placed.line);
        let known = self.windows.of(&material.model);
        let (Some(window), Some((newer, _))) = (&known.window, &material.sending.replaced) else {
            return;
        };
        let same = standing.beginning == Some(newer.beginning());
        // Another gateway may have sent it already.
        if same
            || !self.rewrites.are_all_known()
            || newer.rewrite.made.waited.is_some()
            || standing.history.measured.used == 0
        {
            return;
        }
        let before = match standing.beginning {
            None => Some(Sending::as_it_came(&material.body)),
            Some(at) => {
                let found = self.rewrites.find(material.tenant, &[at]).await;
                let found = found.ok().flatten();
                found.and_then(|base| Sending::behind(&material.body, &material.recognised, &base))
            }
        };
        let Some(before) = before else {
            return;
        };
        let newer = std::mem::replace(&mut material.sending, before);
        let was_measured = standing.history.measured.beginning == standing.beginning
            && material
                .first_behind(standing.history.measured.at)
                .is_some();
        let fits = self.expected(material, &standing.history.measured) < window.auto_compact;
        if !was_measured || !fits {
            material.sending = newer;
        }
    }

    /// What may stand for the beginning of a request.
    pub(super) async fn beginning(
        &self,
        material: &Material,
    ) -> Result<Option<Arc<Shelved>>, StoreError> {
        let mut hashes = &*material.recognised.hashes;
        loop {
            let found = self.rewrites.find(material.tenant, hashes).await?;
            match found {
                // It stands for what is asked now, too: the client never saw the answer, and asks again.
                Some(base) if !material.may_begin_with(&base) => {
                    let at = position(&material.recognised, base.rewrite.at);
                    hashes = hashes.get(..at.unwrap_or(0)).unwrap_or_default();
                }
                found => return Ok(found),
            }
        }
    }

    /// The upstream finds thinking in a request that was thought behind something else, as when the store was lost or the
    /// client edits its history: leaves it out. Gives whether it did.
    pub(crate) async fn unbind(&self, material: &mut Material) -> bool {
        let unbound = settle::without_thinking(&self.rewrites, material).await;
        self.mark(material);
        unbound
    }

    /// What is in memory of what stands for the beginnings of histories: the gateway may want that room.
    pub(crate) fn rewrites_at_hand(&self) -> Arc<dyn Evict> {
        Arc::clone(self.rewrites.at_hand()) as Arc<dyn Evict>
    }

    /// A line was not begun after all.
    pub(crate) fn forget(&self, line: LineId) {
        self.standings.forget(line);
    }

    /// A tenant turned out to be another.
    pub(crate) fn adopt(&self, from: Tenant, to: Tenant) {
        self.rewrites.adopt(from, to);
    }

    /// What is known of a model.
    pub(crate) fn spec(&self, model: &str) -> Arc<ModelSpec> {
        Arc::clone(&self.windows.of(model).spec)
    }

    /// The window of a model; none if it is too small to be managed.
    pub(crate) fn window(&self, model: &str) -> Option<WindowStatus> {
        self.windows.of(model).window
    }

    /// The lock of a line.
    pub(super) fn lock(&self, line: LineId) -> Arc<tokio::sync::Mutex<()>> {
        let mut working = self.working.lock().unwrap_or_else(PoisonError::into_inner);
        // Nobody holds or awaits these any more.
        working.retain(|_, lock| Arc::strong_count(lock) > 1);
        Arc::clone(working.entry(line).or_default())
    }
}

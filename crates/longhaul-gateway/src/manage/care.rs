//! Takes care of conversations: what is sent for a request, and what follows from its answer.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::SignedDuration;
use longhaul::{Clock, SystemClock};
use longhaul_core::models::ModelSpec;
use longhaul_core::window::WindowStatus;
use longhaul_provider::Dialect;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Settings;
use super::material::Material;
use super::notes::NotesDesk;
use super::rewrites::{Rewrites, Shelved};
use super::sending::{Sending, position};
use super::settle;
use super::standing::{Standing, Standings};
use super::windows::Windows;
use super::work::Occasion;
use crate::line::{LineId, SealKey, Tenant};
use crate::marks::Marks;
use crate::memory::{Budget, Evict};
use crate::store::{NotesShelf, Shelf, StoreError};
use crate::watch::{Changes, Metrics};

/// After so long without an answer the provider's cache is cold, and results are cleared by the way (U3).
const RESTED: SignedDuration = SignedDuration::from_mins(60);

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
    /// Another beginning is sent than for the line's last request: its cache breaks as planned.
    pub(crate) fresh: bool,
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

    /// Decides what is sent. Waits only if the request would not fit.
    pub(crate) async fn prepare(self: &Arc<Self>, material: &mut Material) -> Prepared {
        let began = std::time::Instant::now();
        self.find(material).await;
        let standing = self.standings.measured(material.placed.line);
        let rested = standing
            .answered
            .is_some_and(|at| self.clock.now().duration_since(at) > RESTED);
        if rested && self.work_on(material, Occasion::Rested).await {
            self.find(material).await;
        }
        let known = self.windows.of(&material.model);
        if let Some(window) = &known.window
            && (standing.expected(material.sending.len()))
                .is_some_and(|expected| expected >= window.blocking)
            // Pictures are many bytes and few tokens.
            && self.weighed(material, &standing) >= window.blocking
            && self.work_on(material, Occasion::Full(None)).await
        {
            self.find(material).await;
        }
        if known.spec.thinking.binding.may_bind() {
            settle::settle(&self.rewrites, material).await;
        }
        self.mark(material);
        let replaced = material.sending.replaced.as_ref();
        let fresh = (self.standings).sends(
            material.placed.line,
            replaced.map(|(base, _)| base.beginning()),
        );
        Prepared {
            fresh,
            waited: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }

    /// Work that a request waits for. Boxed, since it is seldom done: what is awaited lies within the future of each request,
    /// and that is copied several times on its way.
    fn work_on<'w>(
        self: &'w Arc<Self>,
        material: &Material,
        occasion: Occasion,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + 'w>> {
        Box::pin(self.work(material.clone(), occasion))
    }

    /// Puts our cache markers in place of the client's, if that is wanted.
    fn mark(&self, material: &mut Material) {
        if self.marks == Marks::Manage && material.dialect == Dialect::Anthropic {
            let trail = self.standings.trail(material.placed.line);
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
    async fn find(&self, material: &mut Material) {
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

    /// A request was answered: if its window is nearly full, it is made smaller for the next.
    pub(crate) fn answered(self: &Arc<Self>, material: Material, used: u64) {
        let line = material.placed.line;
        let bytes = material.size().sent;
        let trail = material.sending.marked.as_ref();
        let trail = trail.and_then(|(_, trail)| trail.clone()).map(Arc::new);
        let known = self.windows.of(&material.model);
        let notes = self.notes.as_ref().filter(|notes| notes.are_fresh(line));
        let is_due = |standing: &Standing| {
            material.size.is_none()
                && (known.window.as_ref()).is_some_and(|window| match notes {
                    Some(_) => standing.is_due_with_notes(window),
                    None => standing.is_due(window),
                })
        };
        let now = self.clock.now();
        let due = (self.standings).answered(line, used, bytes, trail, now, is_due);
        if due {
            let care = Arc::clone(self);
            let work = async move { care.work(material, Occasion::Ahead { used }).await };
            self.tasks.spawn_on(work, &self.runtime);
        } else if self.notes.is_some() {
            self.note(material, used);
        }
    }

    /// A request was sent: what will not be needed of it when it is answered is let go of.
    pub(crate) fn sent(&self, material: &mut Material) {
        let known = self.windows.of(&material.model);
        // Half a window of tokens is a window of bytes, at the least.
        let may_be_due = |window: &WindowStatus| {
            let sent = material.size().sent as u64;
            let used = self.standings.measured(material.placed.line).used;
            sent >= window.auto_compact || used >= window.auto_compact / 2
        };
        if self.notes.is_none() && !known.window.as_ref().is_some_and(may_be_due) {
            material.let_go();
        }
    }

    /// The upstream found a request too long: makes it smaller. Gives whether it is.
    pub(crate) async fn recover(
        self: &Arc<Self>,
        material: &mut Material,
        actual: Option<u64>,
    ) -> bool {
        let before = material.sending.len();
        let window = self.windows.of(&material.model).window;
        if !window.is_some_and(|window| material.may_be_shortened(window.auto_compact)) {
            return false;
        }
        if !self.work_on(material, Occasion::Full(actual)).await {
            return false;
        }
        self.find(material).await;
        let known = self.windows.of(&material.model);
        if known.spec.thinking.binding.may_bind() {
            settle::settle(&self.rewrites, material).await;
        }
        let shorter = material.sending.len() < before;
        self.mark(material);
        shorter
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

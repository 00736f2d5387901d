//! What all requests share that conversations are taken care of with: what is kept, what is set, and who works on what.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul::{Clock, SystemClock};
use longhaul_core::models::ModelSpec;
use longhaul_core::window::{Action, Verdict, WindowStatus};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::Settings;
use super::notes::NotesDesk;
use super::rewrites::Rewrites;
use super::standing::Standings;
use super::windows::Windows;
use crate::line::{LineId, SealKey, Tenant};
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
    pub(super) marks: Marks,
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

//! The state that all requests share for managing conversations: stores, settings, and the work in progress.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use longhaul::{Clock, SystemClock};
use longhaul_core::config::ResultReduction;
use longhaul_core::economy::EconomyPolicy;
use longhaul_core::engine::SummaryTiming;
use longhaul_core::history::NotesAtHand;
use longhaul_core::models::ModelSpec;
use longhaul_core::window::{SwitchVerdict, SwitchableAction, WindowStatus};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::CompactorSettings;
use super::branch_state::BranchStates;
use super::compacted_prefixes::CompactedPrefixes;
use super::message_results::KnownResults;
use super::message_sizes::KnownSizes;
use super::notes_tracker::NotesTracker;
use super::reduction_records::ReductionRecords;
use super::windows::{ModelWindows, UnpricedModels};
use crate::branch::{BranchId, SealKey, Tenant};
use crate::breakpoints::BreakpointMode;
use crate::memory::{Evictable, MemoryBudget};
use crate::store::{NotesStore, PrefixStore, RecallStore, StoreError};
use crate::watch::{Metrics, SessionChanges};

/// Keeps the conversations of all requests within their windows.
pub(crate) struct Compactor {
    pub(super) prefixes: CompactedPrefixes,
    pub(super) branch_states: BranchStates,
    /// `None` if session notes are disabled.
    pub(super) notes: Option<NotesTracker>,
    pub(super) settings: CompactorSettings,
    pub(super) windows: ModelWindows,
    /// The sizes of messages that were read before.
    pub(super) sizes: KnownSizes,
    /// The results in messages that were read before.
    pub(super) results: KnownResults,
    /// The results that are sent in a smaller form (V8).
    pub(super) reductions: ReductionRecords,
    /// The models whose prices are not known, as far as that was said.
    pub(super) unpriced: UnpricedModels,
    pub(super) breakpoints: BreakpointMode,
    pub(super) metrics: Arc<Metrics>,
    pub(super) changes: SessionChanges,
    /// Branches that are being worked on.
    pub(super) working: Mutex<HashMap<BranchId, Arc<tokio::sync::Mutex<()>>>>,
    /// The budget to which work on a conversation is charged.
    pub(super) budget: MemoryBudget,
    pub(super) tasks: TaskTracker,
    pub(super) abort: CancellationToken,
    pub(super) runtime: Handle,
    pub(super) clock: Arc<dyn Clock>,
}

/// The stores of a compactor.
pub(crate) struct CompactorStores {
    pub(crate) prefixes: Arc<dyn PrefixStore>,
    /// `None` if session notes are disabled.
    pub(crate) notes: Option<Arc<dyn NotesStore>>,
    /// Where reduced results are recorded.
    pub(crate) reductions: Arc<dyn RecallStore>,
    /// The key with which prefixes, notes and records are sealed.
    pub(crate) seal: SealKey,
    /// The budget to which their in-memory parts are charged.
    pub(crate) budget: MemoryBudget,
}

impl Compactor {
    /// Creates a compactor; must be called on a tokio runtime. The gateway waits for `tasks` when it stops, until
    /// `abort`.
    pub(crate) async fn new(
        stores: CompactorStores,
        settings: CompactorSettings,
        mode: BreakpointMode,
        metrics: Arc<Metrics>,
        changes: SessionChanges,
        tasks: TaskTracker,
        abort: CancellationToken,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            prefixes: CompactedPrefixes::open(stores.prefixes, stores.seal.clone(), &stores.budget)
                .await?,
            branch_states: BranchStates::default(),
            sizes: KnownSizes::new(&stores.budget),
            results: KnownResults::new(&stores.budget),
            reductions: ReductionRecords::new(
                stores.reductions,
                stores.seal.clone(),
                &stores.budget,
            ),
            unpriced: UnpricedModels::default(),
            notes: (stores.notes).map(|notes| NotesTracker::new(notes, stores.seal)),
            windows: ModelWindows::new(Arc::clone(&settings.config), Arc::clone(&settings.models)),
            settings,
            breakpoints: mode,
            metrics,
            changes,
            working: Mutex::default(),
            budget: stores.budget,
            tasks,
            abort,
            runtime: Handle::current(),
            clock: Arc::new(SystemClock),
        })
    }

    /// Uses another clock than the machine's.
    pub(crate) fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Whether the user's switches permit an action.
    pub(super) fn may(&self, action: SwitchableAction) -> bool {
        self.settings.config.switches.decide(action) == SwitchVerdict::Allowed
    }

    /// When summaries are made.
    pub(super) fn timing(&self) -> SummaryTiming {
        match self.settings.config.background {
            true => SummaryTiming::Ahead,
            false => SummaryTiming::WhenFull,
        }
    }

    /// The session's notes of a conversation.
    pub(super) fn notes_at_hand(&self, line: BranchId) -> NotesAtHand {
        match &self.notes {
            None => NotesAtHand::Off,
            Some(notes) if notes.are_fresh(line) => NotesAtHand::Fresh,
            Some(_) => NotesAtHand::None,
        }
    }

    /// Which actions are decided by their price, unless a rule says otherwise.
    pub(crate) fn default_economy(&self) -> EconomyPolicy {
        self.settings.config.economy
    }

    /// How results are made smaller before they are first sent, unless a rule says otherwise.
    pub(crate) fn default_reduction(&self) -> ResultReduction {
        self.settings.config.reduce
    }

    /// The compacted prefixes in memory, which the gateway may evict.
    pub(crate) fn loaded_prefixes(&self) -> Arc<dyn Evictable> {
        Arc::clone(self.prefixes.at_hand()) as Arc<dyn Evictable>
    }

    /// Drops the state of a branch that did not begin after all.
    pub(crate) fn forget(&self, line: BranchId) {
        self.branch_states.forget(line);
    }

    /// Moves everything of one tenant to another, when the two turn out to be the same.
    pub(crate) fn adopt(&self, from: Tenant, to: Tenant) {
        self.prefixes.adopt(from, to);
    }

    /// The known facts about a model.
    pub(crate) fn spec(&self, model: &str) -> Arc<ModelSpec> {
        Arc::clone(&self.windows.of(model).spec)
    }

    /// The window of a model; `None` if it is too small to be managed.
    pub(crate) fn window(&self, model: &str) -> Option<WindowStatus> {
        self.windows.of(model).window
    }

    /// The lock of a branch.
    pub(super) fn lock(&self, line: BranchId) -> Arc<tokio::sync::Mutex<()>> {
        let mut working = self.working.lock().unwrap_or_else(PoisonError::into_inner);
        // No one holds or awaits these any more.
        working.retain(|_, lock| Arc::strong_count(lock) > 1);
        Arc::clone(working.entry(line).or_default())
    }
}

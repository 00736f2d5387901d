//! What a host opens all of its sessions with, whichever conversation they hold. It is set on a
//! [`SessionBuilder`](super::SessionBuilder), and a host that opens many sessions keeps one builder for all of them.

use std::path::PathBuf;
use std::sync::Arc;

use longhaul_core::config::Config;
use longhaul_core::engine::CacheEditSupport;
use longhaul_core::models::ModelTable;
use longhaul_store::Durability;

use crate::clock::{Clock, SystemClock};
use crate::hooks::{HookSet, Hooks};

/// What sessions are opened with: all of it has a default.
#[derive(Clone)]
pub struct SessionOptions {
    /// Settings: switches, thresholds.
    pub config: Config,
    /// What is known of models.
    pub models: ModelTable,
    /// The user's hooks.
    pub hooks: Arc<dyn Hooks>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// When lines count as safe.
    pub durability: Durability,
    /// Whether the provider takes cache edits by reference.
    pub cache_edits: CacheEditSupport,
    /// The folder that gets a diff for every cache break, unless the setting `cache.diff_dir` names one.
    pub cache_breaks: Option<PathBuf>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            config: Config::default(),
            models: ModelTable::builtin(),
            hooks: Arc::new(HookSet::new()),
            clock: Arc::new(SystemClock),
            durability: Durability::EveryAppend,
            cache_edits: CacheEditSupport::Unsupported,
            cache_breaks: None,
        }
    }
}

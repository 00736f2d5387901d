//! The options that a host uses for all of its sessions, whichever conversation they hold. They are set on a
//! [`SessionBuilder`](super::SessionBuilder), and a host that opens many sessions keeps one builder for all of them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use longhaul_core::config::Config;
use longhaul_core::engine::CacheEditSupport;
use longhaul_core::models::ModelTable;
use longhaul_store::Durability;

use crate::clock::{Clock, SystemClock};
use crate::hooks::{HookSet, Hooks};

/// Options for opening sessions; each has a default.
#[derive(Clone)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Settings: switches, thresholds.
    pub config: Config,
    /// The known models.
    pub models: ModelTable,
    /// The user's hooks.
    pub hooks: Arc<dyn Hooks>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// When lines count as safe.
    pub durability: Durability,
    /// Whether the provider supports cache edits by reference.
    pub cache_edits: CacheEditSupport,
    /// The folder that gets a diff for every cache break, unless the setting `cache.diff_dir` names one.
    pub cache_breaks: Option<PathBuf>,
    /// How long the request for a turn is sent again after a failure that may pass.
    pub patience: Duration,
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
            patience: Duration::ZERO,
        }
    }
}

//! What all requests share.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use longhaul_provider::Secret;
use tokio::sync::Semaphore;

use crate::line::{Recogniser, Tenants};
use crate::manage::Care;
use crate::meeting::Meeting;
use crate::memory::Budget;
use crate::options::{KeylessClients, Limits, Timeouts};
use crate::policy::Policies;
use crate::store::{Shelf, Store};
use crate::upstream::Upstream;
use crate::watch::{Changes, Desk, Metrics};

/// See the module.
pub(crate) struct State {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) recogniser: Arc<Recogniser>,
    pub(crate) tenants: Mutex<Tenants>,
    pub(crate) policies: Policies,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) shelf: Arc<dyn Shelf>,
    pub(crate) care: Arc<Care>,
    pub(crate) changes: Changes,
    pub(crate) meeting: Meeting,
    pub(crate) desk: Desk,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) requests: Arc<Semaphore>,
    pub(crate) limits: Limits,
    pub(crate) budget: Budget,
    pub(crate) keyless: KeylessClients,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) timeouts: Timeouts,
    pub(crate) token: Option<Secret>,
    pub(crate) client_token: Option<Secret>,
    pub(crate) on_loopback: bool,
    pub(crate) calls: AtomicU64,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}

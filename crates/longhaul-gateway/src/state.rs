//! The state that all requests share.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use longhaul_core::models::ModelTable;
use longhaul_provider::Secret;
use tokio::sync::Semaphore;

use crate::branch::{BranchRecognizer, SealKey, Tenants};
use crate::calling_agent::CallingAgent;
use crate::manage::Compactor;
use crate::memory::MemoryBudget;
use crate::options::{GatewayLimits, GatewayTimeouts, KeylessClients, SessionNames};
use crate::peer_sync::PeerSync;
use crate::peer_user::PeerUsers;
use crate::policy::PolicyRules;
use crate::proof::GatewayProof;
use crate::recall::HistoryRecall;
use crate::store::{PrefixStore, UsageLogStore};
use crate::upstream::Upstream;
use crate::watch::{Metrics, SessionChanges, UsageLogQueue};

/// The state that all requests share.
pub(crate) struct GatewayState {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) recognizer: Arc<BranchRecognizer>,
    pub(crate) tenants: Mutex<Tenants>,
    pub(crate) policies: PolicyRules,
    pub(crate) store: Arc<dyn UsageLogStore>,
    pub(crate) prefix_store: Arc<dyn PrefixStore>,
    pub(crate) compactor: Arc<Compactor>,
    /// `None` if recall is off.
    pub(crate) recall: Option<Arc<HistoryRecall>>,
    pub(crate) changes: SessionChanges,
    pub(crate) peer_sync: PeerSync,
    pub(crate) usage_queue: UsageLogQueue,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) requests: Arc<Semaphore>,
    pub(crate) limits: GatewayLimits,
    pub(crate) budget: MemoryBudget,
    pub(crate) keyless: KeylessClients,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) timeouts: GatewayTimeouts,
    pub(crate) token: Option<Secret>,
    pub(crate) client_token: Option<Secret>,
    pub(crate) on_loopback: bool,
    pub(crate) port: u16,
    /// `None` where the system does not say which user a request comes from.
    pub(crate) peer_users: Option<Arc<dyn PeerUsers>>,
    pub(crate) proof: Option<GatewayProof>,
    pub(crate) caller: Option<CallingAgent>,
    pub(crate) models: ModelTable,
    pub(crate) session_names: SessionNames,
    pub(crate) seal: SealKey,
    pub(crate) calls: AtomicU64,
}

impl std::fmt::Debug for GatewayState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").finish_non_exhaustive()
    }
}

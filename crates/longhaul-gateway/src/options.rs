//! How a gateway is made.

use std::net::SocketAddr;
use std::sync::Arc;

use longhaul::{Clock, SystemClock};
use longhaul_core::config::Config;
use longhaul_core::models::ModelTable;
use longhaul_provider::Secret;
use url::Url;

use crate::branch::Tenants;
use crate::breakpoints::BreakpointMode;
pub use crate::limits::{GatewayLimits, GatewayTimeouts};
use crate::manage::NotesMode;
use crate::policy::PolicyRules;
use crate::store::{GatewayStorage, NotesStore, PeerStore, PrefixStore, UsageLogStore};

/// Where requests go.
#[derive(Debug, Clone)]
pub enum UpstreamChoice {
    /// To this server.
    Url(Url),
    /// To the offline world, in this process.
    Simulated,
}

/// Whether requests without a credential are of one client, where the gateway listens beyond this machine. On this machine
/// they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeylessClients {
    /// Each is by itself: nothing of it is remembered, and its conversation is not recognised.
    #[default]
    Apart,
    /// They are, and share what is made of their conversations.
    Shared,
}

/// All of it.
pub struct GatewayOptions {
    /// Where to listen. Port 0 picks a free one.
    pub listen: SocketAddr,
    /// Where requests go.
    pub upstream: UpstreamChoice,
    /// What is done with which request.
    pub policies: PolicyRules,
    /// Whose cache markers are sent.
    pub breakpoint_mode: BreakpointMode,
    /// Where the books are kept.
    pub store: Arc<dyn UsageLogStore>,
    /// Where what stands for the beginnings of histories is kept.
    pub prefix_store: Arc<dyn PrefixStore>,
    /// Whether session notes are taken; the switch in the settings must be on, too.
    pub notes: NotesMode,
    /// Where they are kept.
    pub notes_store: Arc<dyn NotesStore>,
    /// Thresholds and switches.
    pub config: Config,
    /// Names of tools whose results may be cleared, beside those of known agents.
    pub clearable: Vec<String>,
    /// What other gateways know that share the store.
    pub peers: Option<Arc<dyn PeerStore>>,
    /// Tells tenants apart.
    pub tenants: Tenants,
    /// Whether requests without a credential are one tenant's, beyond this machine.
    pub keyless: KeylessClients,
    /// Names beside this machine's own by which the gateway may be called where it listens on this machine alone.
    pub allowed_hosts: Vec<String>,
    /// Models and their prices.
    pub models: ModelTable,
    /// What must be shown to see sessions; without one they are shown on this machine alone.
    pub token: Option<Secret>,
    /// What clients must show, in `x-longhaul-token`, to have requests passed on; without one all are.
    pub client_token: Option<Secret>,
    /// Roots that the upstream's certificate may rest on beside those of the system, as PEM.
    pub upstream_ca: Option<Vec<u8>>,
    /// For how many days the books are kept; none: for ever.
    pub retention_days: Option<u32>,
    /// What is too much.
    pub limits: GatewayLimits,
    /// How long is waited.
    pub timeouts: GatewayTimeouts,
    /// What says how long a conversation has rested.
    pub clock: Arc<dyn Clock>,
}

impl GatewayOptions {
    /// Options with defaults for all that has one.
    pub fn new(upstream: UpstreamChoice, store: Arc<dyn GatewayStorage>, tenants: Tenants) -> Self {
        Self {
            prefix_store: Arc::clone(&store) as Arc<dyn PrefixStore>,
            notes: NotesMode::default(),
            notes_store: Arc::clone(&store) as Arc<dyn NotesStore>,
            config: Config::default(),
            clearable: Vec::new(),
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            upstream,
            policies: PolicyRules::default(),
            breakpoint_mode: BreakpointMode::default(),
            store,
            peers: None,
            tenants,
            keyless: KeylessClients::default(),
            allowed_hosts: Vec::new(),
            models: ModelTable::builtin(),
            token: None,
            client_token: None,
            upstream_ca: None,
            retention_days: None,
            limits: GatewayLimits::default(),
            timeouts: GatewayTimeouts::default(),
            clock: Arc::new(SystemClock),
        }
    }
}

impl std::fmt::Debug for GatewayOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("listen", &self.listen)
            .field("limits", &self.limits)
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}

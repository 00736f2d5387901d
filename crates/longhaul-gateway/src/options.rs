//! The options with which a gateway is started.

use std::net::SocketAddr;
use std::sync::Arc;

use longhaul::{Clock, SystemClock};
use longhaul_core::config::Config;
use longhaul_core::models::ModelTable;
use longhaul_provider::Secret;
use url::Url;

use crate::branch::Tenants;
use crate::breakpoints::BreakpointMode;
use crate::calling_agent::CallingAgent;
pub use crate::limits::{GatewayLimits, GatewayTimeouts};
use crate::manage::NotesMode;
use crate::peer_user::{PeerUsers, SystemPeerUsers};
use crate::policy::{PolicyRules, RecallMode};
use crate::proof::GatewayProof;
use crate::store::{
    GatewayStorage, NotesStore, PeerStore, PrefixStore, RecallStore, UsageLogStore,
};

/// Where requests go.
#[derive(Debug, Clone)]
pub enum UpstreamChoice {
    /// Requests go to this server.
    Url(Url),
    /// Requests go to the simulator, in this process.
    Simulated,
}

/// Whether requests without credentials count as one client, if the gateway listens beyond this machine. On this
/// machine they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeylessClients {
    /// Each request is separate: nothing of it is remembered, and its conversation is not recognized.
    #[default]
    Apart,
    /// They count as one client, and share the compacted prefixes of their conversations.
    Shared,
}

/// By what the page and its API name sessions, and whether they show text of conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SessionNames {
    /// By the client and the user's first words, where the conversation is managed; summaries are shown.
    #[default]
    FirstWords,
    /// By hashes alone. No first words are kept, and no text of a conversation is shown.
    Hashes,
}

impl From<bool> for SessionNames {
    /// The names for the setting `gateway.hashes`.
    fn from(hashes: bool) -> Self {
        match hashes {
            true => Self::Hashes,
            false => Self::FirstWords,
        }
    }
}

/// The options of a gateway.
pub struct GatewayOptions {
    /// The address to listen on. Port 0 picks a free port.
    pub listen: SocketAddr,
    /// Where requests go.
    pub upstream: UpstreamChoice,
    /// The rules that choose the policy of a request.
    pub policies: PolicyRules,
    /// Whose cache breakpoints are sent.
    pub breakpoint_mode: BreakpointMode,
    /// The store of the usage log.
    pub store: Arc<dyn UsageLogStore>,
    /// The store of compacted prefixes.
    pub prefix_store: Arc<dyn PrefixStore>,
    /// Whether session notes are taken; the switch in the settings must be on, too.
    pub notes: NotesMode,
    /// The store of session notes.
    pub notes_store: Arc<dyn NotesStore>,
    /// Whether conversations are offered a tool that looks up what is no longer sent.
    pub recall: RecallMode,
    /// The store of what that tool needs.
    pub recall_store: Arc<dyn RecallStore>,
    /// Thresholds and switches.
    pub config: Config,
    /// Names of tools whose results may be cleared, besides those of known agents.
    pub clearable: Vec<String>,
    /// The branches that other gateways with the same store have written.
    pub peers: Option<Arc<dyn PeerStore>>,
    /// Tells tenants apart.
    pub tenants: Tenants,
    /// Whether requests without credentials are one tenant's, beyond this machine.
    pub keyless: KeylessClients,
    /// Names besides this machine's own by which the gateway may be addressed, if it listens only on this machine.
    pub allowed_hosts: Vec<String>,
    /// Models and their prices.
    pub models: ModelTable,
    /// The token for seeing sessions; without one, they are shown only on this machine, and text of conversations only to
    /// the user who runs the gateway.
    pub token: Option<Secret>,
    /// The token that clients must send in `x-longhaul-token` to have requests passed on; without one, all requests
    /// are.
    pub client_token: Option<Secret>,
    /// Root certificates for the upstream, besides those of the system, as PEM.
    pub upstream_ca: Option<Vec<u8>>,
    /// By what the page names sessions, and whether it shows text of conversations.
    pub session_names: SessionNames,
    /// For how many days the usage log is kept; `None` means forever.
    pub retention_days: Option<u32>,
    /// The limits beyond which requests are rejected or have to wait.
    pub limits: GatewayLimits,
    /// How long the gateway waits.
    pub timeouts: GatewayTimeouts,
    /// The clock that measures how long a conversation was idle.
    pub clock: Arc<dyn Clock>,
    /// Tells which user of this machine a request for text of conversations comes from.
    pub peer_users: Arc<dyn PeerUsers>,
    /// The secret by which programs of the same user recognize this gateway.
    pub proof: Option<GatewayProof>,
    /// The agent that this gateway was started for, if there is only one.
    pub caller: Option<CallingAgent>,
}

impl GatewayOptions {
    /// Options with defaults for everything that has one.
    pub fn new(upstream: UpstreamChoice, store: Arc<dyn GatewayStorage>, tenants: Tenants) -> Self {
        Self {
            prefix_store: Arc::clone(&store) as Arc<dyn PrefixStore>,
            notes: NotesMode::default(),
            notes_store: Arc::clone(&store) as Arc<dyn NotesStore>,
            recall: RecallMode::default(),
            recall_store: Arc::clone(&store) as Arc<dyn RecallStore>,
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
            session_names: SessionNames::default(),
            retention_days: None,
            limits: GatewayLimits::default(),
            timeouts: GatewayTimeouts::default(),
            clock: Arc::new(SystemClock),
            peer_users: Arc::new(SystemPeerUsers),
            proof: None,
            caller: None,
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

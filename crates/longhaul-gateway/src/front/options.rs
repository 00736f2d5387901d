//! How a gateway is made.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use longhaul::{Clock, SystemClock};
use longhaul_core::config::Config;
use longhaul_core::models::ModelTable;
use longhaul_provider::Secret;
use url::Url;

use crate::line::Tenants;
use crate::manage::Noting;
use crate::marks::Marks;
use crate::policy::Policies;
use crate::store::{NotesShelf, Peers, Shelf, Storage, Store};

/// Where requests go.
#[derive(Debug, Clone)]
pub enum UpstreamChoice {
    /// To this server.
    Url(Url),
    /// To the offline world, in this process.
    Simulated,
}

/// What is refused because it is too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request body.
    pub body: usize,
    /// Bytes of a request's head.
    pub head: usize,
    /// Requests at once.
    pub requests: usize,
    /// Connections at once; more wait to be accepted.
    pub connections: usize,
    /// Lines that are remembered in memory.
    pub lines: usize,
    /// Bytes that all requests under way and all that is remembered may take together.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 256 << 20,
            head: 256 << 10,
            requests: 1_024,
            connections: 8_192,
            lines: 100_000,
            memory: 1 << 30,
        }
    }
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

/// How long is waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For the first byte on a new connection, and for the rest of a head that was begun.
    pub client_first: Duration,
    /// For the next request on an open connection.
    pub client_head: Duration,
    /// For the next bytes of a client's body, and for a client to take bytes.
    pub client_idle: Duration,
    /// For a connection to the upstream.
    pub connect: Duration,
    /// For the head of the upstream's answer: models may think for long before an answer that is not streamed.
    pub upstream_head: Duration,
    /// For the next bytes of the upstream's answer.
    pub upstream_idle: Duration,
    /// For a summary that a model writes, where a request would not fit without one; then extracts have to do.
    pub summary: Duration,
    /// For requests under way when the gateway is stopped.
    pub drain: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            client_first: Duration::from_secs(10),
            client_head: Duration::from_secs(75),
            client_idle: Duration::from_secs(60),
            connect: Duration::from_secs(10),
            upstream_head: Duration::from_secs(1_200),
            upstream_idle: Duration::from_secs(300),
            summary: Duration::from_secs(120),
            drain: Duration::from_secs(30),
        }
    }
}

/// All of it.
pub struct Options {
    /// Where to listen. Port 0 picks a free one.
    pub listen: SocketAddr,
    /// Where requests go.
    pub upstream: UpstreamChoice,
    /// What is done with which request.
    pub policies: Policies,
    /// Whose cache markers are sent.
    pub marks: Marks,
    /// Where the books are kept.
    pub store: Arc<dyn Store>,
    /// Where what stands for the beginnings of histories is kept.
    pub shelf: Arc<dyn Shelf>,
    /// Whether session notes are taken; the switch in the settings must be on, too.
    pub notes: Noting,
    /// Where they are kept.
    pub notes_shelf: Arc<dyn NotesShelf>,
    /// Thresholds and switches.
    pub config: Config,
    /// Names of tools whose results may be cleared, beside those of known agents.
    pub clearable: Vec<String>,
    /// What other gateways know that share the store.
    pub peers: Option<Arc<dyn Peers>>,
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
    pub limits: Limits,
    /// How long is waited.
    pub timeouts: Timeouts,
    /// What says how long a conversation has rested.
    pub clock: Arc<dyn Clock>,
}

impl Options {
    /// Options with defaults for all that has one.
    pub fn new(upstream: UpstreamChoice, store: Arc<dyn Storage>, tenants: Tenants) -> Self {
        Self {
            shelf: Arc::clone(&store) as Arc<dyn Shelf>,
            notes: Noting::default(),
            notes_shelf: Arc::clone(&store) as Arc<dyn NotesShelf>,
            config: Config::default(),
            clearable: Vec::new(),
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            upstream,
            policies: Policies::default(),
            marks: Marks::default(),
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
            limits: Limits::default(),
            timeouts: Timeouts::default(),
            clock: Arc::new(SystemClock),
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("listen", &self.listen)
            .field("limits", &self.limits)
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}

//! A gateway: starting it, its address, and stopping it.

use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use longhaul_core::window::{SwitchVerdict, SwitchableAction};
use longhaul_sim::model::{SimModel, SimModelOptions as ModelOptions};
use longhaul_sim::server::{SimServer, SimServerOptions as SimOptions};
use longhaul_sim::world::{self, World};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

use super::serve;
use crate::branch::{BranchIds, BranchIndex, BranchRecognizer};
use crate::manage::{Compactor, CompactorSettings, CompactorStores, NotesMode};
use crate::memory::{Evictable, MemoryBudget};
use crate::options::{GatewayLimits, GatewayOptions, UpstreamChoice};
use crate::peer_sync::PeerSync;
use crate::policy::RecallMode;
use crate::recall::HistoryRecall;
use crate::state::GatewayState;
use crate::store::{StoreError, UsageLogStore};
use crate::upstream::{Upstream, UpstreamError};
use crate::watch::{Metrics, SessionChanges, UsageLogQueue, UsageLogWriter};

/// How often old records are deleted.
const PURGE_EVERY: Duration = Duration::from_secs(3_600);

/// Why a gateway cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {addr}: {source}")]
    Listen {
        /// The address.
        addr: SocketAddr,
        /// The cause.
        source: std::io::Error,
    },
    /// The upstream cannot be used.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
    /// The usage log cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something that every process needs is missing.
    #[error("cannot start: {0}")]
    System(std::io::Error),
}

/// A running gateway. Dropping it ends it immediately.
#[derive(Debug)]
pub struct Gateway {
    addr: SocketAddr,
    accepting: JoinHandle<()>,
    purging: Option<JoinHandle<()>>,
    connections: TaskTracker,
    stop: CancellationToken,
    abort: CancellationToken,
    drain: Duration,
    usage_writer: Option<UsageLogWriter>,
    metrics: Arc<Metrics>,
    simulated: Option<SimServer>,
}

impl Gateway {
    /// Starts a gateway. Must be called on a tokio runtime.
    ///
    /// # Errors
    /// Fails as described in [`StartError`].
    pub async fn start(mut options: GatewayOptions) -> Result<Self, StartError> {
        let budget = MemoryBudget::new(options.limits.memory);
        let recognizer = recognizer(&mut options, &budget).await?;
        let (url, simulated) = match &options.upstream {
            UpstreamChoice::Url(url) => (url.clone(), None),
            UpstreamChoice::Simulated => {
                let server = simulated(&options.models).await?;
                let url = Url::parse(&server.url()).map_err(|_| UpstreamError::NotAnAddress)?;
                (url, Some(server))
            }
        };
        let listening = |source| StartError::Listen {
            addr: options.listen,
            source,
        };
        let listener = TcpListener::bind(options.listen).await.map_err(listening)?;
        let addr = listener.local_addr().map_err(listening)?;
        let metrics = Arc::new(Metrics::default());
        metrics.publish(&opentelemetry::global::meter("longhaul.gateway"));
        let (stop, abort) = (CancellationToken::new(), CancellationToken::new());
        let connections = TaskTracker::new();
        let changes = SessionChanges::new(stop.clone());
        let compactor = Compactor::new(
            compactor_stores(&options, &budget),
            compactor_settings(&options),
            options.breakpoint_mode,
            Arc::clone(&metrics),
            changes.clone(),
            connections.clone(),
            abort.clone(),
        );
        let compactor = Arc::new(compactor.await?.with_clock(Arc::clone(&options.clock)));
        let (usage_writer, usage_queue) = UsageLogWriter::start(
            Arc::clone(&options.store),
            options.models.clone(),
            Arc::clone(&metrics),
            changes.clone(),
            &budget,
            simulated.is_some(),
        )
        .map_err(StartError::System)?;
        // Caches that are missed least are evicted first; the usage log's thread was registered before.
        let prefixes: Arc<dyn Evictable> = compactor.loaded_prefixes();
        budget.join(Arc::downgrade(&prefixes));
        let branches: Arc<dyn Evictable> = Arc::clone(&recognizer) as Arc<dyn Evictable>;
        budget.join(Arc::downgrade(&branches));
        let purging = options.retention_days.map(|days| {
            let store = Arc::clone(&options.store);
            tokio::spawn(purge(store, days))
        });
        let drain = options.timeouts.drain;
        let shared = SharedParts {
            budget,
            recognizer,
            compactor,
            changes,
            usage_queue,
            metrics: Arc::clone(&metrics),
        };
        let state = Arc::new(shared.state(options, &url, addr)?);
        let accepting = serve::run(
            listener,
            state,
            connections.clone(),
            stop.clone(),
            abort.clone(),
        );
        Ok(Self {
            addr,
            accepting: tokio::spawn(accepting),
            purging,
            connections,
            stop,
            abort,
            drain,
            usage_writer: Some(usage_writer),
            metrics,
            simulated,
        })
    }

    /// The address that it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The base URL for clients.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// The counters of the gateway.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The simulator, if that is the upstream.
    pub fn simulated(&self) -> Option<&SimServer> {
        self.simulated.as_ref()
    }

    /// A token that, once cancelled, cuts off the requests that [`Gateway::stop`] still waits for.
    pub fn cut_off(&self) -> CancellationToken {
        self.abort.clone()
    }

    /// Accepts no more requests, gives those in flight time to finish, writes the usage log, and ends.
    pub async fn stop(mut self) {
        self.stop.cancel();
        // The task ends immediately, which frees the port. If it failed, it has ended already.
        let _ = (&mut self.accepting).await;
        self.connections.close();
        if tokio::time::timeout(self.drain, self.connections.wait())
            .await
            .is_err()
        {
            tracing::warn!("requests were still under way and are cut off");
            self.abort.cancel();
            self.connections.wait().await;
        }
        if let Some(usage_writer) = self.usage_writer.take() {
            usage_writer.finish().await;
        }
        if let Some(server) = self.simulated.take() {
            server.stop().await;
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop.cancel();
        self.abort.cancel();
        if let Some(purging) = &self.purging {
            purging.abort();
        }
    }
}

/// What the requests of a gateway share, once it was started.
struct SharedParts {
    budget: MemoryBudget,
    recognizer: Arc<BranchRecognizer>,
    compactor: Arc<Compactor>,
    changes: SessionChanges,
    usage_queue: UsageLogQueue,
    metrics: Arc<Metrics>,
}

impl SharedParts {
    /// The state that each request is handled with.
    fn state(
        self,
        options: GatewayOptions,
        url: &Url,
        addr: SocketAddr,
    ) -> Result<GatewayState, StartError> {
        let (tenants, limits) = (options.tenants, options.limits);
        let recall =
            (options.recall == RecallMode::On || options.policies.may_recall()).then(|| {
                let (store, seal) = (options.recall_store, tenants.seal_key());
                Arc::new(HistoryRecall::new(store, seal, options.recall))
            });
        Ok(GatewayState {
            upstream: Arc::new(Upstream::new(
                url,
                options.timeouts,
                limits,
                options.upstream_ca,
            )?),
            recognizer: self.recognizer,
            seal: tenants.seal_key(),
            tenants: Mutex::new(tenants),
            policies: options.policies,
            peer_sync: PeerSync::new(options.peers, Arc::clone(&options.store)),
            store: options.store,
            prefix_store: options.prefix_store,
            compactor: self.compactor,
            recall,
            changes: self.changes,
            usage_queue: self.usage_queue,
            metrics: self.metrics,
            requests: Arc::new(Semaphore::new(limits.requests)),
            limits: GatewayLimits {
                // A body that does not fit into the memory limit never will.
                body: limits.body.min(limits.memory),
                ..limits
            },
            budget: self.budget,
            keyless: options.keyless,
            allowed_hosts: options.allowed_hosts,
            timeouts: options.timeouts,
            token: options.token,
            client_token: options.client_token,
            on_loopback: addr.ip().is_loopback(),
            port: addr.port(),
            peer_users: Some(options.peer_users).filter(|users| users.can_tell(addr)),
            proof: options.proof,
            caller: options.caller,
            models: options.models,
            session_names: options.session_names,
            calls: AtomicU64::new(0),
        })
    }
}

/// What finds the branch of a request, with the branches and tenants that the usage log knows.
async fn recognizer(
    options: &mut GatewayOptions,
    budget: &MemoryBudget,
) -> Result<Arc<BranchRecognizer>, StartError> {
    let known = options.store.known(options.limits.branches).await?;
    for (of_key, tenant) in known.tenants {
        options.tenants.know(of_key, tenant);
    }
    let branches = BranchIndex::new(BranchIds::new(seed()), options.limits.branches);
    let recognizer = BranchRecognizer::within(branches, options.tenants.history_key(), budget);
    recognizer.with_branches(|branches| {
        for line in &known.lines {
            branches.restore(line);
        }
    });
    Ok(Arc::new(recognizer))
}

fn compactor_stores(options: &GatewayOptions, budget: &MemoryBudget) -> CompactorStores {
    let takes_notes = options.notes == NotesMode::On
        && options.config.switches.decide(SwitchableAction::Notes) == SwitchVerdict::Allowed;
    CompactorStores {
        prefixes: Arc::clone(&options.prefix_store),
        notes: takes_notes.then(|| Arc::clone(&options.notes_store)),
        reductions: Arc::clone(&options.recall_store),
        seal: options.tenants.seal_key(),
        budget: budget.clone(),
    }
}

fn compactor_settings(options: &GatewayOptions) -> CompactorSettings {
    let mut settings = CompactorSettings::new(
        Arc::new(options.config.clone()),
        Arc::new(options.models.clone()),
        &options.clearable,
        Timestamp::now(),
    );
    settings.patience = options.timeouts.summary;
    settings
}

/// Two gateways must generate different ids. Without a source of randomness, the time has to do.
fn seed() -> u64 {
    let mut bytes = [0; 8];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => u64::from_le_bytes(bytes),
        Err(_) => Timestamp::now().as_nanosecond() as u64,
    }
}

async fn simulated(models: &longhaul_core::models::ModelTable) -> Result<SimServer, StartError> {
    let options = SimOptions::default();
    let model = SimModel::new(ModelOptions::default());
    let world = World::new(world::WorldOptions {
        models: models.clone(),
        pace: SimOptions::world_pace(options.pace),
        ..world::WorldOptions::new(0, Box::new(model))
    });
    let addr = SocketAddr::from(([127, 0, 0, 1], 0));
    let started = SimServer::start(addr, world, options).await;
    started.map_err(|source| StartError::Listen { addr, source })
}

/// Deletes records that are too old, at regular intervals.
async fn purge(store: Arc<dyn UsageLogStore>, days: u32) {
    loop {
        let age = SignedDuration::from_hours(24 * i64::from(days));
        if let Ok(before) = Timestamp::now().checked_sub(age) {
            match store.purge(before).await {
                Ok(purged) if purged.calls + purged.lines + purged.rewrites > 0 => {
                    tracing::info!(
                        purged.lines,
                        purged.calls,
                        purged.rewrites,
                        "old usage log records deleted"
                    );
                }
                Ok(_) => {}
                Err(error) => tracing::warn!(%error, "old usage log records cannot be deleted"),
            }
        }
        tokio::time::sleep(PURGE_EVERY).await;
    }
}

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
use crate::watch::{Metrics, SessionChanges, UsageLogWriter};

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
    keeper: Option<UsageLogWriter>,
    metrics: Arc<Metrics>,
    simulated: Option<SimServer>,
}

impl Gateway {
    /// Starts a gateway. Must be called on a tokio runtime.
    ///
    /// # Errors
    /// Fails as described in [`StartError`].
    pub async fn start(options: GatewayOptions) -> Result<Self, StartError> {
        let mut tenants = options.tenants;
        let known = options.store.known(options.limits.branches).await?;
        for (of_key, tenant) in known.tenants {
            tenants.know(of_key, tenant);
        }
        let budget = MemoryBudget::new(options.limits.memory);
        let lines = BranchIndex::new(BranchIds::new(seed()), options.limits.branches);
        let recogniser = BranchRecognizer::within(lines, tenants.history_key(), &budget);
        recogniser.with_branches(|lines| {
            for line in &known.lines {
                lines.restore(line);
            }
        });
        let recogniser = Arc::new(recogniser);
        let (url, simulated) = match options.upstream {
            UpstreamChoice::Url(url) => (url, None),
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
        let noting = options.notes == NotesMode::On
            && options.config.switches.decide(SwitchableAction::Notes) == SwitchVerdict::Allowed;
        let mut settings = CompactorSettings::new(
            Arc::new(options.config),
            Arc::new(options.models.clone()),
            &options.clearable,
            Timestamp::now(),
        );
        settings.patience = options.timeouts.summary;
        let changes = SessionChanges::new(stop.clone());
        let care = Compactor::new(
            CompactorStores {
                rewrites: Arc::clone(&options.prefix_store),
                notes: noting.then_some(options.notes_store),
                reductions: Arc::clone(&options.recall_store),
                seal: tenants.seal_key(),
                budget: budget.clone(),
            },
            settings,
            options.breakpoint_mode,
            Arc::clone(&metrics),
            changes.clone(),
            connections.clone(),
            abort.clone(),
        );
        let care = Arc::new(care.await?.with_clock(options.clock));
        let models = options.models;
        let (keeper, desk) = UsageLogWriter::start(
            Arc::clone(&options.store),
            models.clone(),
            Arc::clone(&metrics),
            changes.clone(),
            &budget,
            simulated.is_some(),
        )
        .map_err(StartError::System)?;
        // Caches that are missed least are evicted first; the usage log's thread was registered before.
        let rewrites: Arc<dyn Evictable> = care.loaded_prefixes();
        budget.join(Arc::downgrade(&rewrites));
        let lines: Arc<dyn Evictable> = Arc::clone(&recogniser) as Arc<dyn Evictable>;
        budget.join(Arc::downgrade(&lines));
        let purging = options.retention_days.map(|days| {
            let store = Arc::clone(&options.store);
            tokio::spawn(purge(store, days))
        });
        let recall =
            (options.recall == RecallMode::On || options.policies.may_recall()).then(|| {
                let (store, seal) = (options.recall_store, tenants.seal_key());
                Arc::new(HistoryRecall::new(store, seal, options.recall))
            });
        let seal = tenants.seal_key();
        let state = Arc::new(GatewayState {
            upstream: Arc::new(Upstream::new(
                &url,
                options.timeouts,
                options.limits,
                options.upstream_ca,
            )?),
            recognizer: recogniser,
            tenants: Mutex::new(tenants),
            policies: options.policies,
            peer_sync: PeerSync::new(options.peers, Arc::clone(&options.store)),
            store: options.store,
            prefix_store: options.prefix_store,
            compactor: care,
            recall,
            changes,
            usage_queue: desk,
            metrics: Arc::clone(&metrics),
            requests: Arc::new(Semaphore::new(options.limits.requests)),
            limits: GatewayLimits {
                // A body that does not fit into the memory limit never will.
                body: options.limits.body.min(options.limits.memory),
                ..options.limits
            },
            budget,
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
            models: models.clone(),
            session_names: options.session_names,
            seal,
            calls: AtomicU64::new(0),
        });
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
            drain: options.timeouts.drain,
            keeper: Some(keeper),
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
        if let Some(keeper) = self.keeper.take() {
            keeper.finish().await;
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

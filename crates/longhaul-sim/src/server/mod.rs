//! The world over HTTP: both dialects, the control API, and faults as they look on a socket.
//!
//! This layer is thin by design. The world decides what a call means; the server reads bytes, advances the world's
//! time, and sends the answer as fast or as broken as requested. It serves HTTP/1.1 without TLS. [`SimServer::start`]
//! listens; [`SimServer::stop`] lets replies in progress finish.

mod accept;
mod body;
mod chat;
mod clock;
mod control;
mod deliver;
mod dialect;
mod exchange;
mod headers;
mod lock;
mod log;
mod messages;
mod models;
mod options;
mod playback;
mod rate;
mod routes;
mod shared;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::world::World;
use shared::SimServerState;

pub use body::LIMIT as BODY_LIMIT;
pub use options::{SimServerOptions, TimeSource};

/// How long replies in progress may take when the server is stopped.
const GRACE: Duration = Duration::from_secs(2);

/// A running server. Dropping it stops it at once.
#[derive(Debug)]
pub struct SimServer {
    addr: SocketAddr,
    shared: Arc<SimServerState>,
    accepting: JoinHandle<()>,
    /// Cancelled to stop accepting requests.
    stop: CancellationToken,
    /// Cancelled to stop replies too.
    abort: CancellationToken,
}

impl SimServer {
    /// Listens on an address and serves a world there. Port 0 picks a free one.
    pub async fn start(
        listen: SocketAddr,
        world: World,
        options: SimServerOptions,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(listen).await?;
        let addr = listener.local_addr()?;
        let shared = Arc::new(SimServerState::new(world, options));
        let (stop, abort) = (CancellationToken::new(), CancellationToken::new());
        let accepting = accept::run(listener, Arc::clone(&shared), stop.clone(), abort.clone());
        Ok(Self {
            addr,
            shared,
            accepting: tokio::spawn(accepting),
            stop,
            abort,
        })
    }

    /// The address on which the server listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The base URL for clients.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// The number of open connections.
    pub fn connections(&self) -> usize {
        self.shared.connections.len()
    }

    /// The number of replies in progress.
    pub fn replies(&self) -> usize {
        self.shared.replies.count()
    }

    /// Reads or changes the world, after bringing its time up to date.
    pub fn with_world<T>(&self, look: impl FnOnce(&mut World) -> T) -> T {
        self.shared.with_world(look)
    }

    /// Accepts no more requests, waits a little for replies in progress, and stops.
    pub async fn stop(mut self) {
        self.stop.cancel();
        // The task ends at once, and the port is free with it. If it panicked, it has ended already.
        let _ = (&mut self.accepting).await;
        self.shared.connections.close();
        let done = self.shared.connections.wait();
        if tokio::time::timeout(GRACE, done).await.is_err() {
            self.abort.cancel();
            self.shared.connections.wait().await;
        }
    }
}

impl Drop for SimServer {
    fn drop(&mut self) {
        self.stop.cancel();
        self.abort.cancel();
    }
}

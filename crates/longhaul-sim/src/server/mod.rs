//! The world over HTTP: both dialects, the control API, and faults as they look on a socket.
//!
//! Thin by design. What a call means is the world's to say; here bytes come in, time is told to the world, and the
//! answer goes out as fast or as broken as it shall. HTTP/1.1 without TLS. [`Server::start`] listens; [`Server::stop`]
//! lets replies under way finish.

mod accept;
mod body;
mod chat;
mod clock;
mod control;
mod deliver;
mod dialect;
mod exchange;
mod headers;
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

/// How long replies under way may take when the server is stopped.
const GRACE: Duration = Duration::from_secs(2);

/// A running server. Dropping it ends it at once.
#[derive(Debug)]
pub struct SimServer {
    addr: SocketAddr,
    shared: Arc<SimServerState>,
    accepting: JoinHandle<()>,
    /// No new requests.
    stop: CancellationToken,
    /// No replies either.
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

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The base URL for clients.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Connections that are open.
    pub fn connections(&self) -> usize {
        self.shared.connections.len()
    }

    /// Replies that are being sent.
    pub fn replies(&self) -> usize {
        self.shared.replies.count()
    }

    /// Looks into the world or changes it, at the time it is now.
    pub fn with_world<T>(&self, look: impl FnOnce(&mut World) -> T) -> T {
        self.shared.with_world(look)
    }

    /// Takes no more requests, waits a little for replies under way, and ends.
    pub async fn stop(mut self) {
        self.stop.cancel();
        // It ends at once, and with it the port is free. If it broke, that is so already.
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

//! Accepts connections and serves HTTP/1.1 on each. This is done here rather than by a framework because a fault must
//! be able to reset the very connection that it strikes.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::routes;
use super::shared::SimServerState;
use super::wire::{ResetFlag, ResettableConnection};

/// How long a client may take to send its headers, and may keep an idle connection.
const HEADERS: Duration = Duration::from_secs(60);
/// How long to wait when no further connection can be accepted.
const NO_ROOM: Duration = Duration::from_millis(50);

/// Accepts until it is stopped.
pub(super) async fn run(
    listener: TcpListener,
    shared: Arc<SimServerState>,
    stop: CancellationToken,
    abort: CancellationToken,
) {
    let service = TowerToHyperService::new(routes::router(Arc::clone(&shared)));
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let connection = serve(stream, service.clone(), stop.clone());
                let abort = abort.clone();
                shared.connections.spawn(async move {
                    tokio::select! {
                        () = abort.cancelled() => {}
                        () = connection => {}
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(NO_ROOM).await;
            }
        }
    }
}

async fn serve(
    stream: TcpStream,
    router: TowerToHyperService<axum::Router>,
    stop: CancellationToken,
) {
    // Events are small and should not wait for each other; if this fails, they only arrive later.
    let _ = stream.set_nodelay(true);
    let cutter = ResetFlag::default();
    let wire = TokioIo::new(ResettableConnection::new(stream, cutter.clone()));
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(cutter.clone());
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .serve_connection(wire, service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

//! Accepts connections and serves HTTP/1.1 on each, until it is told to stop.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::exchange;
use super::patient::Patient;
use super::state::State;

/// How long to wait if a connection cannot be accepted.
const NO_ROOM: Duration = Duration::from_millis(50);

/// Accepts until it is stopped; `abort` ends what is under way.
pub(super) async fn run(
    listener: TcpListener,
    state: Arc<State>,
    connections: TaskTracker,
    stop: CancellationToken,
    abort: CancellationToken,
) {
    let room = Arc::new(Semaphore::new(state.limits.connections));
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = accept(&listener, &room) => accepted,
        };
        match accepted {
            Ok((stream, place)) => {
                let serving = serve(stream, Arc::clone(&state), stop.clone());
                let abort = abort.clone();
                connections.spawn(async move {
                    tokio::select! {
                        () = abort.cancelled() => {}
                        () = serving => {}
                    }
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(NO_ROOM).await;
            }
        }
    }
}

/// Waits for room, then for a connection: what does not fit waits in the system's queue.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> std::io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await;
    let place = place.map_err(|_| std::io::Error::other("the gateway is closed"))?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, place))
}

async fn serve(stream: TcpStream, state: Arc<State>, stop: CancellationToken) {
    // Events are small and shall not wait for each other; where this fails they only come later.
    let _ = stream.set_nodelay(true);
    let (head, idle, most) = (
        state.timeouts.client_head,
        state.timeouts.client_idle,
        state.limits.head,
    );
    let service = service_fn(move |request: Request<Incoming>| {
        let state = Arc::clone(&state);
        async move { Ok::<_, Infallible>(exchange::answer(state, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head)
        .preserve_header_case(true)
        .max_buf_size(most)
        .serve_connection(TokioIo::new(Patient::new(stream, idle)), service);
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

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

use super::answer;
use super::connection_turns::ConnectionTurns;
use super::files;
use super::silent::{SilentConnection, SilentConnections};
use super::timed_socket::{SocketTimeouts, TimedSocket};
use crate::peer_user::ConnectionEnds;
use crate::state::GatewayState;

/// How long to wait if a connection cannot be accepted.
const NO_ROOM: Duration = Duration::from_millis(50);

/// Accepts connections until it is stopped; `abort` ends those that are open.
pub(super) async fn run(
    listener: TcpListener,
    state: Arc<GatewayState>,
    connections: TaskTracker,
    stop: CancellationToken,
    abort: CancellationToken,
) {
    let room = Arc::new(Semaphore::new(files::connections(state.limits.connections)));
    let silent = SilentConnections::default();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = accept(&listener, &room, &silent) => accepted,
        };
        match accepted {
            Ok((stream, place)) => {
                let (mine, closed) = silent.join();
                let serving = serve(stream, Arc::clone(&state), mine, stop.clone());
                let abort = abort.clone();
                connections.spawn(async move {
                    tokio::select! {
                        () = abort.cancelled() => {}
                        () = closed.cancelled() => {}
                        () = serving => {}
                    }
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                silent.close_oldest();
                tokio::time::sleep(NO_ROOM).await;
            }
        }
    }
}

/// Waits for a connection, then for a free slot: if there is none, the oldest connection that has sent nothing is
/// closed. Further connections wait in the system's queue.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
    silent: &SilentConnections,
) -> std::io::Result<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let (stream, _) = listener.accept().await?;
    if room.available_permits() == 0 {
        silent.close_oldest();
    }
    let place = Arc::clone(room).acquire_owned().await;
    let place = place.map_err(|_| std::io::Error::other("the gateway is closed"))?;
    Ok((stream, place))
}

async fn serve(
    stream: TcpStream,
    state: Arc<GatewayState>,
    silent: SilentConnection,
    stop: CancellationToken,
) {
    // Events are small and must not wait for each other; if this fails, they only arrive later.
    let _ = stream.set_nodelay(true);
    let ends = stream.peer_addr().and_then(|peer| {
        let own = stream.local_addr()?;
        Ok(ConnectionEnds { peer, own })
    });
    let ends = ends.ok();
    let (head, most) = (state.timeouts.client_head, state.limits.head);
    let patience = SocketTimeouts {
        head: state.timeouts.client_first,
        taking: state.timeouts.client_idle,
    };
    let turns = ConnectionTurns::default();
    let stream = TimedSocket::new(
        stream,
        patience,
        turns.clone(),
        state.budget.clone(),
        silent,
    );
    let service = service_fn(move |mut request: Request<Incoming>| {
        if let Some(ends) = ends {
            request.extensions_mut().insert(ends);
        }
        let (state, turn) = (Arc::clone(&state), turns.ours());
        async move {
            let answer = answer::answer(state, request).await;
            Ok::<_, Infallible>(turn.until_the_end_of(answer))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head)
        .preserve_header_case(true)
        .max_buf_size(most)
        .serve_connection(TokioIo::new(stream), service);
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

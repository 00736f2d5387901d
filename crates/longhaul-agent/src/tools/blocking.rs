//! Runs what waits for the disk where it holds up nobody.

use tokio_util::sync::CancellationToken;

use super::definition::stopped;
use crate::tool::Output;

/// Runs it off the loop. It is told when the call is cancelled, and not waited for then.
pub(super) async fn blocking(
    cancel: &CancellationToken,
    work: impl FnOnce(CancellationToken) -> Output + Send + 'static,
) -> Output {
    let token = cancel.clone();
    let work = tokio::task::spawn_blocking(move || work(token));
    tokio::select! {
        biased;
        () = cancel.cancelled() => stopped(),
        done = work => done.unwrap_or_else(|error| Output::error(format!("The tool failed inside: {error}."))),
    }
}

/// The same for what must be known to have happened or not: a write is waited for.
pub(super) async fn to_the_end(work: impl FnOnce() -> Output + Send + 'static) -> Output {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Output::error(format!("The tool failed inside: {error}.")))
}

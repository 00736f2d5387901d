//! Runs what waits for the disk where it holds up nobody.

use tokio_util::sync::CancellationToken;

use super::definition::stopped;
use crate::tool::ToolCallOutput;

/// Runs it off the loop. It is told when the call is cancelled, and not waited for then.
pub(super) async fn blocking(
    cancel: &CancellationToken,
    work: impl FnOnce(CancellationToken) -> Result<ToolCallOutput, String> + Send + 'static,
) -> Result<ToolCallOutput, String> {
    let token = cancel.clone();
    let work = tokio::task::spawn_blocking(move || work(token));
    tokio::select! {
        biased;
        () = cancel.cancelled() => Ok(stopped()),
        done = work => done.unwrap_or_else(|error| Err(failed_inside(&error))),
    }
}

/// The same for what must be known to have happened or not: once it has begun, a write is waited for.
pub(super) async fn to_the_end(
    cancel: &CancellationToken,
    work: impl FnOnce() -> Result<ToolCallOutput, String> + Send + 'static,
) -> Result<ToolCallOutput, String> {
    if cancel.is_cancelled() {
        return Ok(stopped());
    }
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(failed_inside(&error)))
}

fn failed_inside(error: &tokio::task::JoinError) -> String {
    format!("The tool failed inside: {error}.")
}

//! Runs disk work on a blocking thread, so that it does not hold up the loop.

use tokio_util::sync::CancellationToken;

use super::definition::stopped;
use crate::tool::ToolCallOutput;

/// Runs work on a blocking thread. When the call is cancelled, the work gets the token and is no longer waited for.
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

/// Runs work whose outcome must be known, such as a write, on a blocking thread: once it has begun, it is waited for.
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

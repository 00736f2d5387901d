//! Runs one command to its end, its timeout or its cancellation. What the ending means is in `interpret.rs`.
//!
//! Whatever the child does, this ends: its input is fed and its output drained beside the wait for it, and streams that
//! something it left behind keeps open are given a short grace.

use std::io;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::capture::Captured;
use crate::process_group::{Group, lead_own_group};

/// For output still on its way after the end of the process.
const GRACE: Duration = Duration::from_millis(250);

/// For a killed process to be gone. One that hangs in the kernel is left to it.
const DEATH: Duration = Duration::from_secs(5);

/// How a command ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// By itself, or by somebody else's signal.
    Exited(ExitStatus),
    /// It took too long and was killed.
    TimedOut,
    /// Nobody wanted it any more; it was killed.
    Cancelled,
    /// It never ran.
    NotStarted(io::ErrorKind),
}

/// How a command ended, and what it printed.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) ending: Ending,
    pub(super) stdout: Captured,
    pub(super) stderr: Captured,
}

impl From<Ending> for Finished {
    fn from(ending: Ending) -> Finished {
        Finished {
            ending,
            stdout: Captured::default(),
            stderr: Captured::default(),
        }
    }
}

/// Runs it.
pub(super) async fn run(
    mut command: Command,
    input: &[u8],
    limit: Duration,
    cancel: &CancellationToken,
) -> Finished {
    if cancel.is_cancelled() {
        return Ending::Cancelled.into();
    }
    lead_own_group(&mut command);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Declared before the group: if this future is dropped, the group goes first, while its number is still ours.
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return Ending::NotStarted(error.kind()).into(),
    };
    let group = Group::led_by(&child);
    let (mut stdout, mut stderr) = (Captured::default(), Captured::default());
    let (to, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let ending = {
        let streams =
            futures_util::future::join3(feed(to, input), stdout.fill(out), stderr.fill(err));
        watch(&mut child, streams, limit, cancel).await
    };
    match ending {
        Ending::Exited(_) => group.release(),
        _ => {
            group.kill(&mut child);
            if timeout(DEATH, child.wait()).await.is_ok() {
                group.release();
            }
        }
    }
    Finished {
        ending,
        stdout,
        stderr,
    }
}

async fn watch<T>(
    child: &mut Child,
    streams: impl Future<Output = T>,
    limit: Duration,
    cancel: &CancellationToken,
) -> Ending {
    let mut streams = pin!(streams);
    let mut limit = pin!(sleep(limit));
    let mut streaming = true;
    let ending = loop {
        // In this order: a hook that has ended has not timed out, however late that is seen.
        tokio::select! {
            biased;
            status = child.wait() => break match status {
                Ok(status) => Ending::Exited(status),
                Err(error) => Ending::NotStarted(error.kind()),
            },
            () = cancel.cancelled() => break Ending::Cancelled,
            () = &mut limit => break Ending::TimedOut,
            _ = &mut streams, if streaming => streaming = false,
        }
    };
    if streaming && matches!(ending, Ending::Exited(_)) {
        let _ = timeout(GRACE, streams).await;
    }
    ending
}

/// Writes all of it, unless the reader does not want it, which is its right.
async fn feed(stream: Option<impl AsyncWrite + Unpin>, input: &[u8]) {
    if let Some(mut stream) = stream
        && stream.write_all(input).await.is_ok()
    {
        let _ = stream.shutdown().await;
    }
}

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

use super::capture::CapturedStream;
use crate::process_group::{ProcessGroup, lead_own_group};

/// For output still on its way after the end of the process.
const GRACE: Duration = Duration::from_millis(250);

/// For a killed process to be gone. One that hangs in the kernel is left to it.
const DEATH: Duration = Duration::from_secs(5);

/// How a command ended.
#[derive(Debug)]
pub(super) enum HookProcessEnding {
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
pub(super) struct FinishedHook {
    pub(super) ending: HookProcessEnding,
    pub(super) stdout: CapturedStream,
    pub(super) stderr: CapturedStream,
}

impl From<HookProcessEnding> for FinishedHook {
    fn from(ending: HookProcessEnding) -> FinishedHook {
        FinishedHook {
            ending,
            stdout: CapturedStream::default(),
            stderr: CapturedStream::default(),
        }
    }
}

/// Runs it.
pub(super) async fn run(
    mut command: Command,
    input: &[u8],
    limit: Duration,
    cancel: &CancellationToken,
) -> FinishedHook {
    if cancel.is_cancelled() {
        return HookProcessEnding::Cancelled.into();
    }
    lead_own_group(&mut command);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // Declared before the group: if this future is dropped, the group goes first, while its number is still ours.
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return HookProcessEnding::NotStarted(error.kind()).into(),
    };
    let group = ProcessGroup::led_by(&child);
    let (mut stdout, mut stderr) = (CapturedStream::default(), CapturedStream::default());
    let (to, out, err) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let ending = {
        let streams =
            futures_util::future::join3(feed(to, input), stdout.fill(out), stderr.fill(err));
        watch(&mut child, streams, limit, cancel).await
    };
    match ending {
        HookProcessEnding::Exited(_) => group.release(),
        _ => {
            group.kill(&mut child);
            if timeout(DEATH, child.wait()).await.is_ok() {
                group.release();
            }
        }
    }
    FinishedHook {
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
) -> HookProcessEnding {
    let mut streams = pin!(streams);
    let mut limit = pin!(sleep(limit));
    let mut streaming = true;
    let ending = loop {
        // In this order: a hook that has ended has not timed out, however late that is seen.
        tokio::select! {
            biased;
            status = child.wait() => break match status {
                Ok(status) => HookProcessEnding::Exited(status),
                Err(error) => HookProcessEnding::NotStarted(error.kind()),
            },
            () = cancel.cancelled() => break HookProcessEnding::Cancelled,
            () = &mut limit => break HookProcessEnding::TimedOut,
            _ = &mut streams, if streaming => streaming = false,
        }
    };
    if streaming && matches!(ending, HookProcessEnding::Exited(_)) {
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

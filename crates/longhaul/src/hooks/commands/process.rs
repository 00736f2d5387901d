//! Runs one command until it ends, times out or is cancelled. What its exit means is in `interpret.rs`.
//!
//! Whatever the child does, this ends: its input is fed and its output drained while its exit is awaited, and streams
//! that a left-over process keeps open get a short grace period.

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

/// How long to wait for output after the end of the process.
const GRACE: Duration = Duration::from_millis(250);

/// How long to wait until a killed process is gone. A process that hangs in the kernel is not waited for any longer.
const DEATH: Duration = Duration::from_secs(5);

/// How a command ended.
#[derive(Debug)]
pub(super) enum HookProcessEnding {
    /// It ended by itself, or by a signal that was not ours.
    Exited(ExitStatus),
    /// It took too long and was killed.
    TimedOut,
    /// It was cancelled and killed.
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

/// Runs a command.
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
    // Declared before the group: if this future is dropped, the group is killed first, while its process id is still
    // ours.
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
        // Checked in this order: a hook that has ended has not timed out, however late we notice it.
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

/// Writes the whole input. A hook may close its input without reading it; that is not an error.
async fn feed(stream: Option<impl AsyncWrite + Unpin>, input: &[u8]) {
    if let Some(mut stream) = stream
        && stream.write_all(input).await.is_ok()
    {
        let _ = stream.shutdown().await;
    }
}

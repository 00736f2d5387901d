//! Waits for a command's end and reads its output in the meantime. Whatever the command does, this ends.

use std::process::ExitStatus;
use std::time::Duration;

use longhaul::process_group::{SweepResult, ending_signal};
use tokio::io::AsyncReadExt;
use tokio::process::ChildStdout;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::start::RunningCommand;

/// The time for output that is still on its way after the end of the command.
const GRACE: Duration = Duration::from_millis(250);

/// The time for a killed command to be gone. A command that hangs in the kernel is left alone.
const DEATH: Duration = Duration::from_secs(5);

/// Longer than anyone waits.
const FOREVER: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandEnding {
    /// The command ended by itself, or by a signal from elsewhere.
    Exited(Option<i32>, SweepResult),
    /// The command took too long and was killed.
    TimedOut,
    /// The command was no longer wanted and was killed.
    Stopped,
}

/// Watches a command to its end.
pub(super) async fn watch(
    started: &mut RunningCommand,
    limit: Option<Duration>,
    stop: &CancellationToken,
    mut heard: impl FnMut(&[u8]),
) -> CommandEnding {
    let mut output = started.output.take();
    let mut chunk = vec![0; 16 << 10];
    let deadline = Instant::now() + limit.unwrap_or(FOREVER);
    let ending = loop {
        // The order matters: a command that has ended has not timed out, however late that is noticed; and a command
        // that floods the output is still stopped.
        tokio::select! {
            biased;
            status = started.child.wait() => break Some(status),
            () = stop.cancelled() => break None,
            () = sleep_until(deadline) => break None,
            read = next(&mut output, &mut chunk) => match read {
                Some(length) => heard(&chunk[..length]),
                None => output = None,
            },
        }
    };
    match ending {
        Some(status) => {
            let _ = timeout(GRACE, drain(&mut output, &mut chunk, &mut heard)).await;
            let swept = started.group.sweep();
            if swept == SweepResult::LeftBehind {
                let _ = timeout(GRACE, drain(&mut output, &mut chunk, &mut heard)).await;
            }
            CommandEnding::Exited(status.ok().and_then(code), swept)
        }
        None => {
            started.group.kill(&mut started.child);
            if timeout(DEATH, started.child.wait()).await.is_ok() {
                started.group.release();
            }
            let _ = timeout(GRACE, drain(&mut output, &mut chunk, &mut heard)).await;
            if stop.is_cancelled() {
                CommandEnding::Stopped
            } else {
                CommandEnding::TimedOut
            }
        }
    }
}

/// The number of bytes read; `None` if there will be no more. Waits forever if there is no stream.
async fn next(output: &mut Option<ChildStdout>, chunk: &mut [u8]) -> Option<usize> {
    match output {
        Some(stream) => stream.read(chunk).await.ok().filter(|length| *length > 0),
        None => std::future::pending().await,
    }
}

async fn drain(output: &mut Option<ChildStdout>, chunk: &mut [u8], heard: &mut impl FnMut(&[u8])) {
    while output.is_some() {
        match next(output, chunk).await {
            Some(length) => heard(&chunk[..length]),
            None => *output = None,
        }
    }
}

/// The exit code; if a signal ended the command, 128 plus the signal, as in shells.
fn code(status: ExitStatus) -> Option<i32> {
    let signal = ending_signal(status).map(|signal| 128 + signal);
    status.code().or(signal)
}

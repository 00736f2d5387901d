//! A server's process: it runs in its own process group, its stderr goes to a log file, and it ends with all its
//! children.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use longhaul::process_group::{ProcessGroup, lead_own_group};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;

use super::McpServerConfig;

/// The maximum size of a log in bytes. Anything after that is dropped.
const LONGEST_LOG: usize = 1 << 20;
/// How long a process that closed its output may take to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// A server's process. Dropping it kills the process and its children.
pub(super) struct McpProcess {
    group: Arc<ProcessGroup>,
    /// How the process ended, once it has.
    ended: watch::Receiver<Option<String>>,
    newest: Arc<Mutex<String>>,
}

impl McpProcess {
    /// Starts a server.
    pub(super) fn start(
        config: &McpServerConfig,
        folder: &Path,
        log: &Path,
    ) -> std::io::Result<(Self, ChildStdout, ChildStdin)> {
        let mut command = Command::new(&config.command);
        config.passed.withhold(&mut command);
        command
            .args(&config.args)
            .envs(config.env.iter().map(|(name, value)| (name, value)))
            .current_dir(config.cwd.as_deref().unwrap_or(folder))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // Signals from the terminal are meant for us and not for the server, and its children end with it.
        lead_own_group(&mut command);
        let mut child = command.spawn()?;
        let group = Arc::new(ProcessGroup::led_by(&child));
        let newest = Arc::new(Mutex::new(String::new()));
        if let Some(talk) = child.stderr.take() {
            tokio::spawn(keep(talk, log.to_owned(), newest.clone()));
        }
        let (output, input) = (child.stdout.take(), child.stdin.take());
        let (Some(output), Some(input)) = (output, input) else {
            return Err(std::io::Error::other("it has no stdin or stdout"));
        };
        let (tell, ended) = watch::channel(None);
        tokio::spawn(wait(child, group.clone(), tell));
        let process = Self {
            group,
            ended,
            newest,
        };
        Ok((process, output, input))
    }

    /// How the process ended. If it does not end in time, it is killed.
    pub(super) async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        let waited = tokio::time::timeout(PATIENCE, ended.wait_for(Option::is_some)).await;
        match waited {
            Ok(Ok(how)) => how.clone().unwrap_or_default(),
            _ => {
                self.kill();
                "it closed its output".to_owned()
            }
        }
    }

    /// The newest line on stderr.
    pub(super) fn latest_stderr_line(&self) -> String {
        let newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.clone()
    }

    /// Kills the process and its children, unless it has ended.
    pub(super) fn kill(&self) {
        if self.ended.borrow().is_none() {
            self.group.kill_members();
        }
    }
}

impl Drop for McpProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits for the end of a process. Children that it leaves running are killed.
async fn wait(mut child: Child, group: Arc<ProcessGroup>, tell: watch::Sender<Option<String>>) {
    let how = match child.wait().await {
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    group.sweep();
    tell.send_replace(Some(how));
}

/// Writes a server's stderr to its log, and keeps reading when the log is full: a pipe that nobody reads would stop the
/// server.
async fn keep(mut talk: ChildStderr, log: PathBuf, newest: Arc<Mutex<String>>) {
    let opened = longhaul_store::create_private_file(&log)
        .and_then(|()| std::fs::OpenOptions::new().append(true).open(&log));
    let mut file = opened.ok();
    let written = file.as_ref().and_then(|file| file.metadata().ok());
    let mut room = LONGEST_LOG.saturating_sub(written.map_or(0, |written| written.len() as usize));
    let mut buffer = vec![0; 8 << 10];
    while let Ok(count @ 1..) = talk.read(&mut buffer).await {
        let said = &buffer[..count];
        if let Some(file) = &mut file {
            let part = &said[..count.min(room)];
            let _ = file.write_all(part);
            room -= part.len();
        }
        let text = String::from_utf8_lossy(said);
        if let Some(line) = text.lines().rfind(|line| !line.trim().is_empty()) {
            let mut newest = newest.lock().unwrap_or_else(PoisonError::into_inner);
            *newest = super::one_line(line, 200);
        }
    }
}

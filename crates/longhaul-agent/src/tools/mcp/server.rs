//! A server during a session: calls to it, and restarts after it has died.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longhaul_core::normalize::fragment::fill;
use rmcp::ServiceError;
use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject};
use tokio::process::{ChildStdin, ChildStdout};

use super::connection::McpConnection;
use super::listener::{McpListener, ProgressFn};
use super::listing::McpOffer;
use super::process::McpProcess;
use super::{McpLimits, McpServerConfig, NoticeFn, names};
use crate::session_paths::SessionPaths;

/// A server of a session.
pub(super) struct McpServerHandle {
    config: McpServerConfig,
    folder: PathBuf,
    log: PathBuf,
    limits: McpLimits,
    notices: NoticeFn,
    connection: Mutex<Option<Arc<McpConnection>>>,
    /// The newest process, from before its handshake on: whatever stops the server finds it here.
    process: Mutex<Option<Arc<McpProcess>>>,
    /// Held during a restart, so that two calls do not start two processes.
    restarting: tokio::sync::Mutex<()>,
    /// Whether it was restarted and has not answered since.
    on_probation: AtomicBool,
    is_stopped: AtomicBool,
}

impl McpServerHandle {
    pub(super) fn new(
        config: McpServerConfig,
        place: &SessionPaths,
        limits: McpLimits,
        notices: NoticeFn,
    ) -> Self {
        let logs = place.session_folder().join("mcp");
        Self {
            log: logs.join(format!("{}.log", names::clean(&config.name))),
            folder: place.cwd.clone(),
            config,
            limits,
            notices,
            connection: Mutex::default(),
            process: Mutex::default(),
            restarting: tokio::sync::Mutex::default(),
            on_probation: AtomicBool::new(false),
            is_stopped: AtomicBool::new(false),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.config.name
    }

    pub(super) fn log(&self) -> &Path {
        &self.log
    }

    pub(super) fn limits(&self) -> McpLimits {
        self.limits
    }

    /// The folder for long answers of servers.
    pub(super) fn outputs(&self) -> PathBuf {
        self.log.with_file_name("outputs")
    }

    /// Starts the server. An error is half a sentence.
    pub(super) async fn start(&self) -> Result<McpOffer, String> {
        let listener = McpListener::new(self.name(), self.notices.clone());
        let (process, pipes) = self.started_process()?;
        let opened = McpConnection::open(process, pipes, self.limits.start, listener);
        let (connection, offered) = opened.await?;
        *lock(&self.connection) = Some(Arc::new(connection));
        Ok(offered)
    }

    /// Starts the process. Once this server is stopped, none is started any more.
    fn started_process(&self) -> Result<(Arc<McpProcess>, (ChildStdout, ChildStdin)), String> {
        let mut current = lock(&self.process);
        if self.is_stopped.load(Ordering::Relaxed) {
            return Err("it was stopped".to_owned());
        }
        let started = McpProcess::start(&self.config, &self.folder, &self.log);
        let (process, output, input) = started
            .map_err(|error| format!("`{}` cannot be started: {error}", self.config.command))?;
        let process = Arc::new(process);
        *current = Some(process.clone());
        Ok((process, (output, input)))
    }

    /// Stops the server for good, also while it starts: its process is gone when this returns.
    pub(super) fn stop(&self) {
        let process = {
            let mut current = lock(&self.process);
            self.is_stopped.store(true, Ordering::Relaxed);
            current.take()
        };
        // A call may still hold the connection; the process ends now.
        if let Some(process) = process {
            process.kill();
        }
        lock(&self.connection).take();
    }

    /// Calls a tool. An error is a sentence for the model.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: JsonObject,
        progress: ProgressFn,
    ) -> Result<CallToolResult, String> {
        let connection = self.connected().await?;
        let service = &connection.service;
        service.service().watch(progress);
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        // Dropping the call tells the server that nobody waits for it.
        let mut called = std::pin::pin!(service.call_tool(params));
        let answer = loop {
            tokio::select! {
                answer = &mut called => break answer,
                () = service.service().sign.notified() => {}
                () = tokio::time::sleep(self.limits.call) => {
                    let seconds = self.limits.call.as_secs().max(1).to_string();
                    return Err(self.message(include_str!("fragments/late.md"), "seconds", &seconds));
                }
            }
        };
        match answer {
            Ok(answer) => {
                self.on_probation.store(false, Ordering::Relaxed);
                Ok(answer)
            }
            Err(_) if self.is_stopped.load(Ordering::Relaxed) => Err(closed()),
            Err(ServiceError::TransportClosed | ServiceError::TransportSend(_)) => {
                let how = connection.process.ended().await;
                Err(self.message(include_str!("fragments/died.md"), "how", &how))
            }
            Err(ServiceError::McpError(error)) => {
                self.on_probation.store(false, Ordering::Relaxed);
                let why = super::one_line(&error.message, 2_000);
                Err(self.message(include_str!("fragments/refused.md"), "why", &why))
            }
            Err(error) => {
                let why = super::one_line(&error.to_string(), 300);
                Err(self.message(include_str!("fragments/refused.md"), "why", &why))
            }
        }
    }

    /// A working connection: the current one, or a new one unless a restart has already failed.
    pub(super) async fn connected(&self) -> Result<Arc<McpConnection>, String> {
        let _restarting = self.restarting.lock().await;
        if self.is_stopped.load(Ordering::Relaxed) {
            return Err(closed());
        }
        if let Some(connection) = self.current() {
            return Ok(connection);
        }
        if self.on_probation.load(Ordering::Relaxed) {
            return Err(self.message(include_str!("fragments/gone.md"), "why", ""));
        }
        let started = self.start().await;
        self.on_probation.store(true, Ordering::Relaxed);
        match (started, self.current()) {
            (Ok(_), Some(connection)) => {
                (self.notices)(format!("MCP server {} was started again", self.name()));
                Ok(connection)
            }
            (started, _) => {
                let why = started
                    .err()
                    .unwrap_or_else(|| "it ended at once".to_owned());
                Err(self.message(include_str!("fragments/not_restarted.md"), "why", &why))
            }
        }
    }

    /// The current connection, if it works.
    fn current(&self) -> Option<Arc<McpConnection>> {
        let mut current = lock(&self.connection);
        if current
            .as_ref()
            .is_some_and(|connection| connection.is_closed())
        {
            *current = None;
        }
        current.clone()
    }

    fn message(&self, fragment: &str, gap: &str, value: &str) -> String {
        let log = self.log.display().to_string();
        let server = super::one_line(self.name(), 64);
        fill(
            fragment,
            &[("server", &server), ("log", &log), (gap, value)],
        )
    }
}

fn lock<T>(slot: &Mutex<T>) -> MutexGuard<'_, T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

fn closed() -> String {
    include_str!("fragments/closed.md").trim_end().to_owned()
}

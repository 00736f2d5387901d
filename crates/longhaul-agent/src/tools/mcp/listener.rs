//! Receives what a server says between its answers: the progress of calls, and that it has other tools now.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam, Tool,
};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::Notify;

use super::NoticeFn;
use super::tool_list::ToolList;

/// Shows the progress of a long call.
pub(super) type ProgressFn = Arc<dyn Fn(&str) + Send + Sync>;

/// The running side of a connection.
pub(super) type McpService = RunningService<RoleClient, McpListener>;

/// Receives a server's notifications.
pub(super) struct McpListener {
    name: String,
    notices: NoticeFn,
    has_told: AtomicBool,
    /// The tools at the beginning, in no order.
    tools: Mutex<BTreeSet<String>>,
    progress: Mutex<Option<ProgressFn>>,
    pub(super) sign: Notify,
}

impl McpListener {
    pub(super) fn new(name: &str, notices: NoticeFn) -> Self {
        Self {
            name: name.to_owned(),
            notices,
            has_told: AtomicBool::new(false),
            tools: Mutex::default(),
            progress: Mutex::default(),
            sign: Notify::new(),
        }
    }

    /// Remembers the tools that the server has at the beginning.
    pub(super) fn remember(&self, tools: &[Tool]) {
        *self.tools.lock().unwrap_or_else(PoisonError::into_inner) = set_of(tools);
    }

    /// Whether these are the tools of the beginning, in whatever order.
    fn are_known(&self, tools: &[Tool]) -> bool {
        *self.tools.lock().unwrap_or_else(PoisonError::into_inner) == set_of(tools)
    }

    /// Sets the function that receives the progress of the newest call.
    pub(super) fn watch(&self, progress: ProgressFn) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
    }
}

impl ClientHandler for McpListener {
    fn get_info(&self) -> ClientConfig {
        let ourselves = Implementation::new("longhaul", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), ourselves)
    }

    async fn on_progress(
        &self,
        said: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.sign.notify_one();
        let text = match (said.message, said.total) {
            (Some(message), _) => super::one_line(&message, 200),
            (None, Some(total)) => format!("{} of {total}", said.progress),
            (None, None) => said.progress.to_string(),
        };
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let progress = progress.clone();
        if let Some(progress) = progress {
            progress(&text);
        }
    }

    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        // Some servers announce the same tools again, in another order.
        let now = ToolList::of(&context.peer).await;
        if now.is_ok_and(|now| self.are_known(&now.tools)) {
            return;
        }
        if !self.has_told.swap(true, Ordering::Relaxed) {
            (self.notices)(format!(
                "MCP server {} has other tools now. This session keeps those it began with, which keeps its prompt cache \
                 warm; a new session gets the new ones.",
                self.name
            ));
        }
    }
}

/// The tools with all that is known of them, without their order.
fn set_of(tools: &[Tool]) -> BTreeSet<String> {
    let tools = tools.iter();
    tools
        .filter_map(|tool| serde_json::to_string(tool).ok())
        .collect()
}

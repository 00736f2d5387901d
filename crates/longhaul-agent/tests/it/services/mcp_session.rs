//! Servers of a session, started for a test.
use std::sync::{Arc, Mutex};
use std::time::Duration;

use longhaul_agent::tool::{Tool, ToolCallOutput};
use longhaul_agent::tools::mcp::{McpLimits, McpNews, McpServerConfig, McpServers};
use serde_json::Value;

use super::mcp_server::config;
use super::{place, run};

/// Limits that are long enough for any machine.
pub(super) fn patient() -> McpLimits {
    McpLimits {
        start: Duration::from_secs(120),
        call: Duration::from_secs(120),
        ..McpLimits::default()
    }
}

/// Servers, and the notices about them.
pub(super) struct Started {
    pub(super) servers: McpServers,
    pub(super) told: Arc<Mutex<Vec<String>>>,
    pub(super) folder: tempfile::TempDir,
}

pub(super) async fn start(configs: Vec<McpServerConfig>, limits: McpLimits) -> Started {
    let folder = tempfile::tempdir().unwrap();
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let hears = told.clone();
    let news = McpNews {
        notice: Arc::new(move |notice| hears.lock().unwrap().push(notice)),
        changed: Arc::new(|| {}),
    };
    let servers = McpServers::start(configs, &place(folder.path()), limits, &news);
    servers.settled().await;
    Started {
        servers,
        told,
        folder,
    }
}

impl Started {
    pub(super) fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let all = self.servers.tools();
        let found = all.iter().find(|tool| tool.name() == name);
        found
            .unwrap_or_else(|| panic!("{name}: {:?}", self.told()))
            .clone()
    }

    pub(super) async fn call(&self, name: &str, input: Value) -> ToolCallOutput {
        run(&*self.tool(&format!("mcp__demo__{name}")), input).await
    }

    /// Waits until the server has written this to stderr.
    pub(super) async fn logged(&self, said: &str) {
        let log = self
            .folder
            .path()
            .join("projects/demo/session/mcp/demo.log");
        let written = || std::fs::read_to_string(&log).unwrap_or_default();
        while !written().contains(said) {
            tokio::task::yield_now().await;
        }
    }

    pub(super) fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }
}

pub(super) async fn demo() -> Started {
    demo_like("good").await
}

pub(super) async fn demo_like(like: &str) -> Started {
    let started = start(vec![config("demo", like)], patient()).await;
    assert_eq!(started.told(), [""; 0]);
    started
}

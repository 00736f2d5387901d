//! The tools that touch neither files nor the shell.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers of tests are tests too"
)]

mod mcp;
mod mcp_processes;
pub(crate) mod mcp_server;
mod mcp_session;
mod plan;
mod recall;
mod skill;
mod texts;
mod todo;
mod together;
mod web;

use std::path::Path;
use std::sync::{Arc, Mutex};

use longhaul_agent::event::ApprovalMode;
use longhaul_agent::session_paths::SessionPaths;
use longhaul_agent::tool::{CallContext, Tool, ToolCallOutput};
use longhaul_agent::tools::plan::ApprovalModeStore;
use serde_json::Value;

/// A session in a folder.
fn place(folder: &Path) -> SessionPaths {
    SessionPaths {
        cwd: folder.to_owned(),
        more: Vec::new(),
        transcript: folder.join("projects/demo/session.jsonl"),
    }
}

/// Runs a call whose progress nobody watches.
async fn run(tool: &dyn Tool, input: Value) -> ToolCallOutput {
    tool.run(input, &CallContext::quiet("toolu_1")).await
}

/// The text of an output.
#[track_caller]
fn text(output: &ToolCallOutput) -> &str {
    output.content.as_str().expect("a text")
}

/// The mode of a session that is not shown anywhere.
#[derive(Default)]
struct OneMode(Mutex<ApprovalMode>);

impl OneMode {
    fn of(mode: ApprovalMode) -> Arc<Self> {
        Arc::new(Self(Mutex::new(mode)))
    }
}

impl ApprovalModeStore for OneMode {
    fn mode(&self) -> ApprovalMode {
        *self.0.lock().unwrap()
    }

    fn set_mode(&self, mode: ApprovalMode) {
        *self.0.lock().unwrap() = mode;
    }
}

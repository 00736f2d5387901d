//! The tools that are neither files nor shell.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers of tests are tests too"
)]

mod mcp;
mod mcp_server;
mod plan;
mod recall;
mod skill;
mod texts;
mod todo;
mod together;
mod web;

use std::path::Path;
use std::sync::{Arc, Mutex};

use longhaul_agent::event::Mode;
use longhaul_agent::place::Place;
use longhaul_agent::tool::{Call, Output, Tool};
use longhaul_agent::tools::plan::Modes;
use serde_json::Value;

/// A session in a folder.
fn place(folder: &Path) -> Place {
    Place {
        cwd: folder.to_owned(),
        more: Vec::new(),
        transcript: folder.join("projects/demo/session.jsonl"),
    }
}

/// Runs a call that nobody watches.
async fn run(tool: &dyn Tool, input: Value) -> Output {
    tool.run(input, &Call::quiet("toolu_1")).await
}

/// The text of an output.
#[track_caller]
fn text(output: &Output) -> &str {
    output.content.as_str().expect("a text")
}

/// The mode of a session that nobody shows.
#[derive(Default)]
struct OneMode(Mutex<Mode>);

impl OneMode {
    fn of(mode: Mode) -> Arc<Self> {
        Arc::new(Self(Mutex::new(mode)))
    }
}

impl Modes for OneMode {
    fn mode(&self) -> Mode {
        *self.0.lock().unwrap()
    }

    fn set_mode(&self, mode: Mode) {
        *self.0.lock().unwrap() = mode;
    }
}

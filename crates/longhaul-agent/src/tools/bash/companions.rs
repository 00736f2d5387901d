//! BashOutput and KillShell: the tools for commands that run in the background.

use std::sync::Arc;

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::add_stale;
use super::shells::{BackgroundShells, ShellStatus};
use crate::files::FileState;
use crate::tool::{CallContext, ToolAccess, ToolCallOutput};
use crate::tools::input;
use crate::tools::typed::TypedTool;

/// Reads the output of a background command.
pub(crate) struct BashOutputTool {
    shells: Arc<BackgroundShells>,
    files: Arc<FileState>,
}

#[derive(Deserialize)]
pub(in crate::tools) struct BashOutputInput {
    bash_id: String,
    filter: Option<String>,
}

impl BashOutputTool {
    /// Reads the output of these commands.
    pub(crate) fn new(shells: Arc<BackgroundShells>, files: Arc<FileState>) -> Self {
        Self { shells, files }
    }

    async fn news(&self, input: &BashOutputInput) -> Result<ToolCallOutput, String> {
        let filter = match input.filter.as_deref().filter(|it| !it.is_empty()) {
            Some(filter) => Some(
                Regex::new(filter)
                    .map_err(|error| format!("The filter does not work: {error}."))?,
            ),
            None => None,
        };
        let shell = self
            .shells
            .find(&input.bash_id)
            .map_err(|why| why.to_string())?;
        // The status is read first: if the command has ended, its output is complete.
        let status = shell.status();
        let mut news = shell.news();
        if let Some(filter) = filter {
            let wanted: Vec<&str> = news.lines().filter(|line| filter.is_match(line)).collect();
            news = wanted.join("\n");
        }
        let news = news.trim_end();
        let mut text = match (news.is_empty(), status) {
            (true, ShellStatus::Running) => format!("Status: {status}\n(nothing new)"),
            (true, _) => format!("Status: {status}\n(nothing more)"),
            (false, _) => format!("Status: {status}\n{news}"),
        };
        add_stale(&mut text, &self.files, None).await;
        Ok(ToolCallOutput::text(text, status.to_string()))
    }
}

impl TypedTool for BashOutputTool {
    const NAME: &'static str = "BashOutput";
    const DESCRIPTION: &'static str = include_str!("output_description.md");
    const SCHEMA: &'static str = include_str!("output_schema.json");
    type Input = BashOutputInput;

    fn access(&self, _: &Value) -> ToolAccess {
        ToolAccess::Nothing
    }

    fn line(&self, input: &Value) -> String {
        input::text(input, "bash_id").to_owned()
    }

    async fn run(&self, input: BashOutputInput, _: &CallContext) -> Result<ToolCallOutput, String> {
        self.news(&input).await
    }
}

/// Ends a background command.
pub(crate) struct KillShellTool {
    shells: Arc<BackgroundShells>,
}

#[derive(Deserialize)]
pub(in crate::tools) struct KillShellInput {
    shell_id: String,
}

impl KillShellTool {
    /// Ends these commands.
    pub(crate) fn new(shells: Arc<BackgroundShells>) -> Self {
        Self { shells }
    }

    async fn kill(&self, id: &str) -> Result<ToolCallOutput, String> {
        let shell = self.shells.find(id).map_err(|why| why.to_string())?;
        let before = shell.status();
        if before != ShellStatus::Running {
            return Ok(ToolCallOutput::text(
                format!("{id} has ended already: {before}."),
                before.to_string(),
            ));
        }
        shell.kill().await;
        let command = shell.summary().command;
        Ok(ToolCallOutput::text(
            format!("Killed {id}: {command}"),
            "killed",
        ))
    }
}

impl TypedTool for KillShellTool {
    const NAME: &'static str = "KillShell";
    const DESCRIPTION: &'static str = include_str!("kill_description.md");
    const SCHEMA: &'static str = include_str!("kill_schema.json");
    type Input = KillShellInput;

    fn access(&self, _: &Value) -> ToolAccess {
        ToolAccess::Nothing
    }

    fn line(&self, input: &Value) -> String {
        input::text(input, "shell_id").to_owned()
    }

    async fn run(&self, input: KillShellInput, _: &CallContext) -> Result<ToolCallOutput, String> {
        self.kill(&input.shell_id).await
    }
}

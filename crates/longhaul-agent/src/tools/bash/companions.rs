//! BashOutput and KillShell: what is asked of commands that run in the background.

use std::sync::Arc;

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use super::add_stale;
use super::shells::{ShellStatus, Shells};
use crate::files::FileState;
use crate::tool::{Access, Call, Output};
use crate::tools::input;
use crate::tools::typed::TypedTool;

/// Reads what a background command printed.
pub struct BashOutput {
    shells: Arc<Shells>,
    files: Arc<FileState>,
}

#[derive(Deserialize)]
pub(in crate::tools) struct OutputInput {
    bash_id: String,
    filter: Option<String>,
}

impl BashOutput {
    /// For these commands.
    pub fn new(shells: Arc<Shells>, files: Arc<FileState>) -> Self {
        Self { shells, files }
    }

    async fn news(&self, input: &OutputInput) -> Result<Output, String> {
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
        // In this order: what an ended command printed is all there.
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
        Ok(Output::text(text, status.to_string()))
    }
}

impl TypedTool for BashOutput {
    const NAME: &'static str = "BashOutput";
    const DESCRIPTION: &'static str = include_str!("output_description.md");
    const SCHEMA: &'static str = include_str!("output_schema.json");
    type Input = OutputInput;

    fn access(&self, _: &Value) -> Access {
        Access::Nothing
    }

    fn line(&self, input: &Value) -> String {
        input::text(input, "bash_id").to_owned()
    }

    async fn run(&self, input: OutputInput, _: &Call) -> Result<Output, String> {
        self.news(&input).await
    }
}

/// Ends a background command.
pub struct KillShell {
    shells: Arc<Shells>,
}

#[derive(Deserialize)]
pub(in crate::tools) struct KillInput {
    shell_id: String,
}

impl KillShell {
    /// For these commands.
    pub fn new(shells: Arc<Shells>) -> Self {
        Self { shells }
    }

    async fn kill(&self, id: &str) -> Result<Output, String> {
        let shell = self.shells.find(id).map_err(|why| why.to_string())?;
        let before = shell.status();
        if before != ShellStatus::Running {
            return Ok(Output::text(
                format!("{id} has ended already: {before}."),
                before.to_string(),
            ));
        }
        shell.kill().await;
        let command = shell.glance().command;
        Ok(Output::text(format!("Killed {id}: {command}"), "killed"))
    }
}

impl TypedTool for KillShell {
    const NAME: &'static str = "KillShell";
    const DESCRIPTION: &'static str = include_str!("kill_description.md");
    const SCHEMA: &'static str = include_str!("kill_schema.json");
    type Input = KillInput;

    fn access(&self, _: &Value) -> Access {
        Access::Nothing
    }

    fn line(&self, input: &Value) -> String {
        input::text(input, "shell_id").to_owned()
    }

    async fn run(&self, input: KillInput, _: &Call) -> Result<Output, String> {
        self.kill(&input.shell_id).await
    }
}

//! Bash: runs commands, to their end or in the background.

mod clean;
mod command_output;
mod companions;
mod folder;
mod shells;
mod start;
#[cfg(unix)]
mod unix;
mod watch;
#[cfg(windows)]
mod windows;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use longhaul::process_group::SweepResult;
use serde::Deserialize;
use serde_json::Value;

use super::definition::stopped;
use super::input;
use super::typed::TypedTool;
use crate::files::{FileState, FolderFence};
use crate::session_paths::SessionPaths;
use crate::tool::{CallContext, ToolAccess, ToolCallOutput};
use command_output::CommandOutput;
use folder::ShellFolder;
use watch::CommandEnding;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use companions::{BashOutputTool, KillShellTool};
pub use shells::{BackgroundShells, ShellStatus, ShellSummary};
pub(crate) use start::ShellVariables;

const DEFAULT_TIMEOUT: u64 = 120_000;
const LONGEST_TIMEOUT: u64 = 600_000;

/// The interval between progress updates: as often as people can see them.
const BETWEEN: Duration = Duration::from_millis(100);

/// The number of lines in a progress update.
const NEWEST: usize = 5;

const STALE: &str = include_str!("stale.md");
const LEFT_BEHIND: &str = include_str!("left_behind.md");

/// Runs commands.
pub(crate) struct BashTool {
    place: Arc<SessionPaths>,
    fence: FolderFence,
    files: Arc<FileState>,
    shells: Arc<BackgroundShells>,
    folder: ShellFolder,
}

#[derive(Deserialize)]
pub(super) struct BashInput {
    command: String,
    #[serde(default, deserialize_with = "input::count")]
    timeout: Option<u64>,
    #[serde(default, deserialize_with = "input::switch")]
    run_in_background: Option<bool>,
}

impl BashTool {
    /// Runs commands in this session; those in the background belong to `shells`.
    pub(crate) fn new(
        place: Arc<SessionPaths>,
        files: Arc<FileState>,
        shells: Arc<BackgroundShells>,
    ) -> Self {
        Self {
            fence: FolderFence::of(&place),
            folder: ShellFolder::new(&place),
            place,
            files,
            shells,
        }
    }

    /// The file for the whole of a long output. The id comes from outside: only characters that are safe in a file name
    /// are used.
    fn file(&self, id: &str) -> PathBuf {
        let safe = |it: char| {
            if it.is_ascii_alphanumeric() || it == '-' {
                it
            } else {
                '_'
            }
        };
        let name: String = id.chars().take(100).map(safe).collect();
        let folder = self.place.session_folder().join("tool-results");
        folder.join(format!("{name}.txt"))
    }

    async fn to_its_end(
        &self,
        input: &BashInput,
        call: &CallContext,
    ) -> std::io::Result<ToolCallOutput> {
        let ends_in = tempfile::NamedTempFile::new()?;
        let mut started = start::start(
            &input.command,
            &self.folder.now(),
            ends_in.path(),
            &self.shells.surroundings(call.guard),
        )?;
        let limit = Duration::from_millis(
            input
                .timeout
                .unwrap_or(DEFAULT_TIMEOUT)
                .clamp(1, LONGEST_TIMEOUT),
        );
        let mut collected = CommandOutput::new(self.file(&call.id));
        let mut told: Option<Instant> = None;
        let heard = |bytes: &[u8]| {
            collected.push(bytes);
            if told.is_none_or(|at| at.elapsed() >= BETWEEN) {
                told = Some(Instant::now());
                (call.progress)(&collected.newest(NEWEST));
            }
        };
        let ending = watch::watch(&mut started, Some(limit), &call.cancel, heard).await;
        let written = collected.text().trim_end().to_owned();
        let mut text = written.clone();
        let (first, line, failed) = match ending {
            CommandEnding::Exited(Some(0), _) => (None, "done".to_owned(), false),
            CommandEnding::Exited(Some(code), _) => (
                Some(format!("Exit code {code}")),
                format!("exit code {code}"),
                true,
            ),
            CommandEnding::Exited(None, _) => (
                Some("It ended without an exit code.".to_owned()),
                "no exit code".to_owned(),
                true,
            ),
            CommandEnding::TimedOut => (
                Some(format!(
                    "Killed: it took longer than {} ms. Give a longer timeout, or set run_in_background.",
                    limit.as_millis()
                )),
                "timed out".to_owned(),
                true,
            ),
            CommandEnding::Stopped => (
                Some("Stopped by the user.".to_owned()),
                "stopped".to_owned(),
                true,
            ),
        };
        if let Some(first) = first {
            text = format!("{first}\n{text}").trim_end().to_owned();
        }
        if text.is_empty() {
            text.push_str("(no output)");
        }
        if matches!(ending, CommandEnding::Exited(_, SweepResult::LeftBehind)) {
            add_note(&mut text, LEFT_BEHIND);
        }
        if let Some(note) = self.folder.ended_in(ends_in.path(), &self.fence) {
            add_note(&mut text, &note);
        }
        add_stale(&mut text, &self.files, Some(&self.fence)).await;
        // The notes above are for the model; people see what the command wrote.
        let mut output = ToolCallOutput::text(text, line).with_detail(written);
        output.is_error = failed;
        output.lines = Some(collected.lines());
        Ok(output)
    }

    fn in_background(
        &self,
        input: &BashInput,
        call: &CallContext,
    ) -> Result<ToolCallOutput, String> {
        let file = self.file(&call.id);
        let folder = self.folder.now();
        match (self.shells).start(&input.command, &folder, file, call.guard) {
            Ok(id) => Ok(ToolCallOutput::text(
                format!(
                    "Runs in the background as {id}. Read its output with BashOutput, end it with KillShell."
                ),
                id,
            )),
            Err(why) => Err(why.to_string()),
        }
    }
}

impl TypedTool for BashTool {
    const NAME: &'static str = "Bash";
    const DESCRIPTION: &'static str = include_str!("description.md");
    const SCHEMA: &'static str = include_str!("schema.json");
    type Input = BashInput;

    fn access(&self, input: &Value) -> ToolAccess {
        ToolAccess::Runs {
            command: input::text(input, "command").to_owned(),
            folder: self.folder.now(),
        }
    }

    fn line(&self, input: &Value) -> String {
        let command = input::text(input, "command");
        let mut lines = command.lines();
        let first = lines.next().unwrap_or_default().to_owned();
        match lines.next() {
            Some(_) => format!("{first} …"),
            None => first,
        }
    }

    async fn run(&self, input: BashInput, call: &CallContext) -> Result<ToolCallOutput, String> {
        if input.command.trim().is_empty() || input.command.contains('\0') {
            return Err("The command is empty or has a NUL in it. Nothing was run.".to_owned());
        }
        if call.cancel.is_cancelled() {
            return Ok(stopped());
        }
        if input.run_in_background == Some(true) {
            return self.in_background(&input, call);
        }
        let ran = self.to_its_end(&input, call).await;
        ran.map_err(|error| format!("The command could not be started: {error}."))
    }
}

fn add_note(text: &mut String, note: &str) {
    text.push('\n');
    text.push_str(note.trim_end());
}

/// Lists the files that the model has read and that have changed since (W2).
async fn add_stale(text: &mut String, files: &Arc<FileState>, fence: Option<&FolderFence>) {
    let looking = files.clone();
    let stale = tokio::task::spawn_blocking(move || looking.stale()).await;
    let stale = stale.unwrap_or_default();
    if stale.is_empty() {
        return;
    }
    /// The maximum number of files that are listed.
    const NAMED: usize = 10;
    let shown = |path: &PathBuf| match fence {
        Some(fence) => fence.shown(path).into_owned(),
        None => path.display().to_string(),
    };
    let mut names: Vec<String> = stale.iter().take(NAMED).map(shown).collect();
    if stale.len() > NAMED {
        names.push(format!("and {} more", stale.len() - NAMED));
    }
    add_note(text, &STALE.replace("{files}", &names.join(", ")));
}

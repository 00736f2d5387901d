//! The commands that run in the background: their ids, their output, how they ended. Dropping them kills them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longhaul::environment::PassedVariables;
use longhaul::process_group::ProcessGroup;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use super::command_output::CommandOutput;
use super::start::{CommandEnvironment, RunningCommand, ShellVariables, start};
use super::watch::{CommandEnding, watch};
use crate::tool::CallGuard;

/// The maximum number of commands that run at the same time.
const RUNNING: usize = 32;

/// Where a background shell writes its final folder, which nobody asks for. The shells have it on every system.
const NOWHERE: &str = "/dev/null";

/// The background commands of a session.
#[derive(Default)]
pub struct BackgroundShells {
    shells: Mutex<Vec<Arc<BackgroundShell>>>,
    env: ShellVariables,
    passed: PassedVariables,
}

/// A summary of a background command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellSummary {
    /// The id of the command: `bash_1`.
    pub id: String,
    /// The command itself.
    pub command: String,
    /// The status of the command.
    pub status: ShellStatus,
}

/// The status of a background command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellStatus {
    /// The command is running.
    Running,
    /// The command ended, with this code if it had one.
    Exited(Option<i32>),
    /// The command was killed on request.
    Killed,
}

impl std::fmt::Display for ShellStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Running => f.write_str("running"),
            Self::Exited(Some(code)) => write!(f, "exited with code {code}"),
            Self::Exited(None) => f.write_str("exited"),
            Self::Killed => f.write_str("killed"),
        }
    }
}

pub(super) struct BackgroundShell {
    id: String,
    command: String,
    group: Arc<ProcessGroup>,
    stop: CancellationToken,
    ended: CancellationToken,
    state: Mutex<ShellState>,
}

struct ShellState {
    status: ShellStatus,
    collected: CommandOutput,
}

/// Why a background command cannot be found or started.
#[derive(Debug, Error)]
pub(super) enum ShellError {
    #[error("There is no background command {id}. {others}")]
    Unknown { id: String, others: String },
    #[error("{RUNNING} background commands run already. End one with KillShell first.")]
    TooMany,
    #[error("The command could not be started: {0}.")]
    NotStarted(#[from] std::io::Error),
}

impl BackgroundShells {
    /// No commands yet; all commands, including those in the foreground, get these variables in addition to those of
    /// this process.
    pub(crate) fn with_env(env: ShellVariables) -> Self {
        Self {
            shells: Mutex::default(),
            env,
            passed: PassedVariables::default(),
        }
    }

    /// Passes these variables of this process on to commands although they look like secrets.
    #[must_use]
    pub fn passing(mut self, passed: PassedVariables) -> Self {
        self.passed = passed;
        self
    }

    pub(super) fn surroundings(&self, guard: CallGuard) -> CommandEnvironment<'_> {
        CommandEnvironment {
            env: &self.env,
            passed: &self.passed,
            guard,
        }
    }

    /// All commands, in the order in which they were started.
    pub fn list(&self) -> Vec<ShellSummary> {
        self.lock().iter().map(|shell| shell.summary()).collect()
    }

    /// Starts a command. Its output goes to `file` once it is asked for or becomes too long.
    pub(super) fn start(
        &self,
        command: &str,
        folder: &Path,
        file: PathBuf,
        guard: CallGuard,
    ) -> Result<String, ShellError> {
        let mut shells = self.lock();
        let running = shells
            .iter()
            .filter(|it| it.status() == ShellStatus::Running);
        if running.count() >= RUNNING {
            return Err(ShellError::TooMany);
        }
        let started = start(
            command,
            folder,
            Path::new(NOWHERE),
            &self.surroundings(guard),
        )?;
        let shell = Arc::new(BackgroundShell {
            id: format!("bash_{}", shells.len() + 1),
            command: command.to_owned(),
            group: started.group.clone(),
            stop: CancellationToken::new(),
            ended: CancellationToken::new(),
            state: Mutex::new(ShellState {
                status: ShellStatus::Running,
                collected: CommandOutput::new(file),
            }),
        });
        shells.push(shell.clone());
        tokio::spawn(watch_shell(shell.clone(), started));
        Ok(shell.id.clone())
    }

    pub(super) fn find(&self, id: &str) -> Result<Arc<BackgroundShell>, ShellError> {
        let shells = self.lock();
        let found = shells.iter().find(|shell| shell.id == id).cloned();
        found.ok_or_else(|| {
            let ids: Vec<&str> = shells.iter().map(|shell| shell.id.as_str()).collect();
            ShellError::Unknown {
                id: id.to_owned(),
                others: if ids.is_empty() {
                    "None was started.".to_owned()
                } else {
                    format!("There are: {}.", ids.join(", "))
                },
            }
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<BackgroundShell>>> {
        self.shells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for BackgroundShells {
    fn drop(&mut self) {
        for shell in self.lock().iter() {
            shell.stop.cancel();
            // Kill at once as well: there may be no task left to see the token.
            shell.group.kill_members();
        }
    }
}

impl BackgroundShell {
    pub(super) fn summary(&self) -> ShellSummary {
        ShellSummary {
            id: self.id.clone(),
            command: self.command.clone(),
            status: self.status(),
        }
    }

    pub(super) fn status(&self) -> ShellStatus {
        self.state().status
    }

    /// The output since the last call.
    pub(super) fn news(&self) -> String {
        self.state().collected.take()
    }

    /// Ends the command and waits until it is gone.
    pub(super) async fn kill(&self) {
        self.stop.cancel();
        self.ended.cancelled().await;
    }

    fn state(&self) -> MutexGuard<'_, ShellState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn watch_shell(shell: Arc<BackgroundShell>, mut started: RunningCommand) {
    // This also happens if the task is dropped with the runtime, so that callers do not wait for the end forever.
    let _ended = shell.ended.clone().drop_guard();
    let heard = |bytes: &[u8]| shell.state().collected.push(bytes);
    let ending = watch(&mut started, None, &shell.stop, heard).await;
    shell.state().status = match ending {
        CommandEnding::Exited(code, _) => ShellStatus::Exited(code),
        CommandEnding::TimedOut | CommandEnding::Stopped => ShellStatus::Killed,
    };
}

//! Starts a command in a shell, in its own process group.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use longhaul::environment::PassedVariables;
use longhaul::process_group::{ProcessGroup, lead_own_group};
use longhaul::shell;
use tokio::process::{Child, ChildStdout, Command};

use super::system;
use crate::git;
use crate::tool::CallGuard;

/// Joins stderr to stdout, so that they stay in order, and reports at the end which folder the shell is in.
const WRAPPER: &str = include_str!("wrapper.sh");

/// Variables for commands, in addition to those of this process that are passed on.
pub(crate) type ShellVariables = BTreeMap<String, String>;

/// The environment of a command.
pub(super) struct CommandEnvironment<'a> {
    pub(super) env: &'a ShellVariables,
    pub(super) passed: &'a PassedVariables,
    pub(super) guard: CallGuard,
}

/// A running command. Dropping it kills the command and everything that it started.
pub(super) struct RunningCommand {
    pub(super) group: Arc<ProcessGroup>,
    pub(super) child: Child,
    pub(super) output: Option<ChildStdout>,
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        // Before the child is reaped: until then, the number of the group still belongs to it.
        self.group.kill_members();
        self.group.release();
    }
}

/// Starts a command. The folder that it ends in is written to `ends_in`.
pub(super) fn start(
    command: &str,
    folder: &Path,
    ends_in: &Path,
    around: &CommandEnvironment<'_>,
) -> io::Result<RunningCommand> {
    let mut child = spawn_first(command, folder, ends_in, around)?;
    Ok(RunningCommand {
        group: Arc::new(ProcessGroup::led_by(&child)),
        output: child.stdout.take(),
        child,
    })
}

/// Starts the command in the first shell that is there.
fn spawn_first(
    command: &str,
    folder: &Path,
    ends_in: &Path,
    around: &CommandEnvironment<'_>,
) -> io::Result<Child> {
    for shell in ["bash", "sh"].into_iter().filter_map(shell::program) {
        match spawn(&shell, command, folder, ends_in, around) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => return other,
        }
    }
    Err(io::Error::new(io::ErrorKind::NotFound, shell::NO_SHELL))
}

fn spawn(
    shell: &Path,
    command: &str,
    folder: &Path,
    ends_in: &Path,
    around: &CommandEnvironment<'_>,
) -> io::Result<Child> {
    let mut script = WRAPPER.replace("{pwd}", system::PWD);
    if around.guard == CallGuard::Git {
        script.insert_str(0, git::shell_function());
    }
    let mut shell_command = Command::new(shell);
    lead_own_group(&mut shell_command);
    around.passed.withhold(&mut shell_command);
    shell_command
        .args(["-c", &script])
        .arg(shell)
        .arg(command)
        .arg(ends_in)
        .current_dir(folder)
        // Nobody is there to answer.
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_EDITOR", "true")
        .envs(around.env)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
}

//! Runs the configured commands of an event side by side and combines their answers.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::process::Command as Process;
use tokio::task::JoinSet;

use super::call::{HookFuture, HookInvocation, Hooks};
use super::command::{HookCommand, HookLaunch};
use super::event::HookEvent;
use super::interpret::interpret;
use super::outcome::{HookFailure, HookResponse};
use super::overflow;
use super::process;
use super::set::HookSet;
use super::settings::HookSettings;
use crate::environment::PassedVariables;
use crate::shell;

/// The shell that runs command lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookShell {
    /// The program.
    pub program: PathBuf,
    /// The arguments before the command line.
    pub args: Vec<String>,
}

impl Default for HookShell {
    /// `sh -c`.
    fn default() -> HookShell {
        HookShell {
            program: shell::program("sh").unwrap_or_else(|| "sh".into()),
            args: vec!["-c".into()],
        }
    }
}

/// The hooks of settings files, run as processes. They get the environment of this process without keys, tokens and
/// passwords, except for those that are [listed](Self::passing). Needs a tokio runtime with IO and time.
#[derive(Clone)]
pub struct CommandHooks {
    settings: HookSettings,
    project: PathBuf,
    shell: HookShell,
    env: Vec<(OsString, OsString)>,
    passed: PassedVariables,
}

// The environment may hold keys, so it is not shown.
impl fmt::Debug for CommandHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandHooks")
            .field("settings", &self.settings)
            .field("project", &self.project)
            .field("shell", &self.shell)
            .finish_non_exhaustive()
    }
}

impl CommandHooks {
    /// The hooks of these settings, for the project in this folder.
    pub fn new(settings: HookSettings, project: impl Into<PathBuf>) -> CommandHooks {
        CommandHooks {
            settings,
            project: project.into(),
            shell: HookShell::default(),
            env: Vec::new(),
            passed: PassedVariables::default(),
        }
    }

    /// Passes these variables of this process on, although they look like secrets.
    #[must_use]
    pub fn passing(mut self, passed: PassedVariables) -> CommandHooks {
        self.passed = passed;
        self
    }

    /// Sets another shell.
    #[must_use]
    pub fn with_shell(mut self, shell: HookShell) -> CommandHooks {
        self.shell = shell;
        self
    }

    /// Adds an environment variable for the hooks.
    #[must_use]
    pub fn with_env(
        mut self,
        name: impl Into<OsString>,
        value: impl Into<OsString>,
    ) -> CommandHooks {
        self.env.push((name.into(), value.into()));
        self
    }

    fn process(&self, launch: &HookLaunch, cwd: &Path) -> Process {
        let mut process = match launch {
            HookLaunch::Line(line) => {
                let mut process = Process::new(&self.shell.program);
                process.args(&self.shell.args).arg(line);
                process
            }
            HookLaunch::Program(program, args) => {
                let mut process = Process::new(self.filled(program));
                process.args(args.iter().map(|arg| self.filled(arg)));
                process
            }
        };
        // The working folder may be gone, for example with a deleted worktree; a hook still runs.
        if let Some(folder) = [cwd, &self.project].into_iter().find(|path| path.is_dir()) {
            process.current_dir(folder);
        }
        self.passed.withhold(&mut process);
        process
            .env("CLAUDE_PROJECT_DIR", &self.project)
            .env("LONGHAUL_PROJECT_DIR", &self.project)
            .envs(self.env.iter().map(|(name, value)| (name, value)));
        process
    }

    /// Without a shell nothing else would expand this variable.
    fn filled(&self, text: &str) -> String {
        let project = self.project.to_string_lossy();
        text.replace("${CLAUDE_PROJECT_DIR}", &project)
            .replace("${LONGHAUL_PROJECT_DIR}", &project)
    }

    async fn run_all(&self, call: &HookInvocation) -> HookResponse {
        let commands = self.settings.matching(&call.input.event);
        if commands.is_empty() {
            return HookResponse::default();
        }
        let mut input = call.input.to_json().to_string().into_bytes();
        // Hooks that read a line need the line end.
        input.push(b'\n');
        let input: Arc<[u8]> = input.into();
        // Each hook gets a task: one that prints without end takes no time from the others. Dropping the set ends them
        // all.
        let mut tasks = JoinSet::new();
        let count = commands.len();
        for (at, command) in commands.into_iter().enumerate() {
            let process = self.process(&command.launch, &call.input.common.cwd);
            let job = HookJob {
                command: command.clone(),
                call: call.clone(),
                input: Arc::clone(&input),
            };
            tasks.spawn(async move { (at, job.run(process).await) });
        }
        let mut answers = vec![None; count];
        while let Some(done) = tasks.join_next().await {
            if let Ok((at, answer)) = done
                && let Some(place) = answers.get_mut(at)
            {
                *place = Some(answer);
            }
        }
        let lost = || HookResponse::failed("a command", HookFailure::Panicked);
        HookResponse::merged(
            answers
                .into_iter()
                .map(|answer| answer.unwrap_or_else(lost)),
        )
    }
}

impl HookSet {
    /// Adds the commands of settings files.
    #[must_use]
    pub fn with_commands(self, commands: CommandHooks) -> HookSet {
        self.with_own_limits("settings", Arc::new(commands))
    }
}

impl Hooks for CommandHooks {
    fn run<'a>(&'a self, call: &'a HookInvocation) -> HookFuture<'a> {
        Box::pin(self.run_all(call))
    }

    fn commands(&self, event: &HookEvent) -> Vec<String> {
        let commands = self.settings.matching(event).into_iter();
        commands.map(|command| command.launch.to_string()).collect()
    }
}

/// One running command.
struct HookJob {
    command: HookCommand,
    call: HookInvocation,
    input: Arc<[u8]>,
}

impl HookJob {
    async fn run(self, process: Process) -> HookResponse {
        let HookCommand { label, timeout, .. } = self.command;
        let event = self.call.input.event.name();
        let finished = process::run(process, &self.input, timeout, &self.call.cancel).await;
        // Only sizes and exit codes are logged: the input and the output of hooks may be private.
        tracing::debug!(
            %event,
            hook = label,
            ending = ?finished.ending,
            stdout_bytes = finished.stdout.length(),
            stderr_bytes = finished.stderr.length(),
            "hook ended"
        );
        let outcome = interpret(event, &label, timeout, &finished);
        overflow::bounded(outcome, event, &label, self.call.overflow).await
    }
}

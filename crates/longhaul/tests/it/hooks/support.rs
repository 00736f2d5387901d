//! A folder for a test, hooks from script lines, and pipes by which a test learns that a process is running or gone.

use std::fs::File;
use std::future::Future;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul::hooks::{
    CommandHooks, CompactionTrigger, HookCommon, HookEvent, HookEventName, HookInput,
    HookInvocation, HookResponse, HookSettings, Hooks, StartSource,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A project folder that is deleted after the test.
pub(super) struct Project {
    folder: TempDir,
}

impl Project {
    pub(super) fn new() -> Project {
        Project {
            folder: TempDir::new().unwrap(),
        }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// A named pipe.
    pub(super) fn pipe(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        path
    }

    pub(super) fn call(&self, event: HookEvent) -> HookInvocation {
        HookInvocation::new(HookInput {
            common: HookCommon {
                session_id: "s-1".into(),
                transcript_path: self.path("s-1.jsonl"),
                cwd: self.folder().to_owned(),
                ..HookCommon::default()
            },
            event,
        })
    }

    /// Hooks that are configured as this JSON for one event.
    pub(super) fn hooks(&self, event: HookEventName, hooks: Value) -> CommandHooks {
        let text = json!({"hooks": {event.as_str(): [{"hooks": hooks}]}}).to_string();
        let mut settings = HookSettings::default();
        settings.add(Path::new("settings.json"), text.as_bytes());
        assert_eq!(settings.notices, []);
        CommandHooks::new(settings, self.folder())
    }

    /// Hooks that run these lines.
    pub(super) fn lines(&self, event: HookEventName, lines: &[&str]) -> CommandHooks {
        let hooks = lines.iter().map(|line| command(line, 60.0));
        self.hooks(event, hooks.collect())
    }

    /// The answer of these lines to the event.
    pub(super) async fn answer(&self, event: HookEvent, lines: &[&str]) -> HookResponse {
        let hooks = self.lines(event.name(), lines);
        ends(hooks.run(&self.call(event))).await
    }
}

/// A hook as settings hold it.
pub(super) fn command(line: &str, timeout: f64) -> Value {
    json!({"type": "command", "command": line, "timeout": timeout})
}

pub(super) fn pre_compact() -> HookEvent {
    HookEvent::PreCompact {
        trigger: CompactionTrigger::Auto,
        custom_instructions: None,
    }
}

pub(super) fn post_compact() -> HookEvent {
    HookEvent::PostCompact {
        trigger: CompactionTrigger::Auto,
        compact_summary: "All is well.".into(),
    }
}

pub(super) fn session_start(source: StartSource) -> HookEvent {
    HookEvent::SessionStart {
        source,
        model: None,
        session_title: None,
        seconds_since_last_response: None,
        context_tokens: None,
        prompt_cache_likely_expired: None,
        estimated_cache_write_usd: None,
    }
}

pub(super) fn pre_tool_use(tool: &str) -> HookEvent {
    HookEvent::PreToolUse {
        tool_name: tool.into(),
        tool_input: json!({"command": "ls"}),
        tool_use_id: "toolu_1".into(),
    }
}

pub(super) fn post_tool_use(response: Value) -> HookEvent {
    HookEvent::PostToolUse {
        tool_name: "Bash".into(),
        tool_input: json!({"command": "ls"}),
        tool_response: response,
        tool_use_id: "toolu_1".into(),
        duration_ms: None,
    }
}

pub(super) fn stop() -> HookEvent {
    HookEvent::Stop {
        stop_hook_active: false,
        last_assistant_message: None,
    }
}

pub(super) fn prompt(text: &str) -> HookEvent {
    HookEvent::UserPromptSubmit {
        prompt: text.into(),
        session_title: None,
    }
}

/// Turns a test that would hang into one that fails; nothing is measured by it.
pub(super) async fn ends<T>(future: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(Duration::from_secs(120), future).await;
    done.expect("this should have ended by itself")
}

/// Runs something that blocks on a thread that nobody waits for: a failing test must not hang because of it.
pub(super) async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (send, receive) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || send.send(work()).ok());
    ends(receive).await.unwrap()
}

/// Waits for somebody to open the pipe for writing, and reads the first line. The file that comes back is at its end
/// when everybody who had it open is gone.
pub(super) async fn first_line(pipe: PathBuf) -> (String, BufReader<File>) {
    aside(move || {
        let mut file = BufReader::new(File::open(pipe).unwrap());
        let mut line = String::new();
        file.read_line(&mut line).unwrap();
        (line.trim().to_owned(), file)
    })
    .await
}

/// Waits until everybody who had the pipe open is gone.
pub(super) async fn all_gone(mut pipe: BufReader<File>) {
    aside(move || pipe.read_to_end(&mut Vec::new()).unwrap()).await;
}

/// Whether a process with this id exists, even one that nobody has waited for.
pub(super) fn exists(process: &str) -> bool {
    let process = process
        .parse()
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    rustix::process::test_kill_process(process.unwrap()).is_ok()
}

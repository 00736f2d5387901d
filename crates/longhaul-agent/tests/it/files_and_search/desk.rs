//! A workspace in a temporary folder, with the tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_agent::files::FileState;
use longhaul_agent::session_paths::SessionPaths;
use longhaul_agent::tool::{CallContext, Tool, ToolAccess, ToolCallOutput, Toolbox};
use longhaul_agent::tools::{BackgroundShells, HiddenPathFn, files_and_shell};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(super) struct Desk {
    pub(super) tools: Toolbox,
    pub(super) files: Arc<FileState>,
    pub(super) shells: Arc<BackgroundShells>,
    pub(super) place: Arc<SessionPaths>,
    /// The workspace.
    pub(super) folder: PathBuf,
    /// A folder next to it.
    pub(super) outside: PathBuf,
    pub(super) _temporary: TempDir,
}

pub(super) fn desk() -> Desk {
    let temporary = tempfile::tempdir().unwrap();
    let root = temporary.path().canonicalize().unwrap();
    let (folder, outside) = (root.join("work"), root.join("outside"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::create_dir(&outside).unwrap();
    let place = Arc::new(SessionPaths {
        cwd: folder.clone(),
        more: Vec::new(),
        transcript: root.join("sessions/one.jsonl"),
    });
    let files = Arc::new(FileState::default());
    let shells = Arc::new(BackgroundShells::default());
    let mut tools = Toolbox::default();
    for tool in files_and_shell(&place, &files, &shells, &hidden()) {
        tools.add(tool);
    }
    Desk {
        tools,
        files,
        shells,
        place,
        folder,
        outside,
        _temporary: temporary,
    }
}

/// Names that searches skip.
fn hidden() -> HiddenPathFn {
    Arc::new(|path| path.ends_with("hidden.txt"))
}

impl Desk {
    /// Writes a file of the workspace.
    pub(super) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(super) fn content(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join(name)).unwrap()
    }

    pub(super) fn tool(&self, name: &str) -> Arc<dyn Tool> {
        self.tools.find(name).unwrap().clone()
    }

    pub(super) fn access(&self, name: &str, input: Value) -> ToolAccess {
        self.tool(name).access(&input)
    }

    pub(super) async fn call(&self, name: &str, input: Value) -> ToolCallOutput {
        self.tool(name)
            .run(input, &CallContext::quiet("call_1"))
            .await
    }

    /// The answer to a call that succeeds.
    pub(super) async fn ok(&self, name: &str, input: Value) -> String {
        let output = self.call(name, input).await;
        assert!(!output.is_error, "{}", output.content);
        output.content.as_str().unwrap_or_default().to_owned()
    }

    /// The answer to a call that fails.
    pub(super) async fn refused(&self, name: &str, input: Value) -> String {
        let output = self.call(name, input).await;
        assert!(output.is_error, "{}", output.content);
        output.content.as_str().unwrap().to_owned()
    }

    pub(super) async fn read(&self, name: &str) -> String {
        self.ok("Read", json!({"file_path": name})).await
    }

    pub(super) async fn bash(&self, command: &str) -> String {
        self.ok("Bash", json!({"command": command})).await
    }
}

/// Creates a named pipe.
pub(super) fn fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// Asserts that a text contains all of these parts.
pub(super) fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        let beginning: String = text.chars().take(500).collect();
        assert!(text.contains(part), "no {part:?} in {beginning:?}");
    }
}

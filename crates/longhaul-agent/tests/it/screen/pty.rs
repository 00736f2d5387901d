//! A program in a pseudo-terminal, and what its screen shows.
//!
//! The program is this test binary itself, run again with a variable set.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;

use longhaul_agent::screen::{ScreenOptions, run};
use longhaul_testkit::terminal::{CommandBuilder, TestTerminal as Pty};
use tokio::sync::mpsc::unbounded_channel;

use super::fake::Fake;

/// The variable that makes this process the program, and names the file that says that its host has finished.
const DONE: &str = "LONGHAUL_TEST_SCREEN_DONE";

/// The program, if this binary is run as such; otherwise does nothing.
#[test]
fn child() {
    let Some(done) = std::env::var_os(DONE).map(PathBuf::from) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let ended = runtime.block_on(async {
        let (tell, events) = unbounded_channel();
        let workspace = PathBuf::from(std::env::var_os("LONGHAUL_TEST_WORKSPACE").unwrap());
        let options = ScreenOptions::from_env(workspace, |name| std::env::var(name).ok());
        let host = Fake::new(tell, move || std::fs::write(&done, "finished").unwrap());
        run(host, events, options).await
    });
    // The terminal may be gone: nothing more is written to it.
    std::process::exit(if ended.is_ok() { 0 } else { 3 });
}

/// The program and its terminal.
pub(super) struct Terminal {
    pty: Pty,
    pub(super) folder: tempfile::TempDir,
}

impl Deref for Terminal {
    type Target = Pty;

    fn deref(&self) -> &Pty {
        &self.pty
    }
}

impl DerefMut for Terminal {
    fn deref_mut(&mut self) -> &mut Pty {
        &mut self.pty
    }
}

impl Terminal {
    /// Starts the program in a terminal of 80 columns and 24 rows.
    pub(super) fn start() -> Self {
        Self::with(&[])
    }

    /// Starts the program with variables set.
    pub(super) fn with(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("work/src")).unwrap();
        std::fs::write(folder.path().join("work/src/parser.rs"), "").unwrap();
        Self::within(folder, variables)
    }

    /// Starts the program in a folder that an earlier program has used.
    pub(super) fn within(folder: tempfile::TempDir, variables: &[(&str, &str)]) -> Self {
        let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
        command.args(["--exact", "screen::pty::child", "--nocapture", "--quiet"]);
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TERM", "xterm-256color");
        command.env("LANG", "C.UTF-8");
        command.env("LONGHAUL_HOME", folder.path().join("home"));
        command.env("LONGHAUL_TEST_WORKSPACE", folder.path().join("work"));
        command.env(DONE, folder.path().join("done"));
        for (name, value) in variables {
            command.env(name, value);
        }
        Self {
            pty: Pty::start(command, 24, 80),
            folder,
        }
    }

    /// Waits until the prompt is there and no work is in progress.
    pub(super) fn is_idle(&self) {
        self.until("empty prompt", |terminal| {
            let shown = terminal.shown();
            shown.contains("> what should be done?") && !shown.contains("esc to")
        });
    }

    /// Waits until the program has ended, and returns whether its host had finished and it ended well.
    pub(super) fn ends(&mut self) -> bool {
        let code = self.pty.ends();
        let done = std::fs::read_to_string(self.folder.path().join("done"));
        code == 0 && done.is_ok_and(|done| done == "finished")
    }
}

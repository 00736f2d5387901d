//! Runs a foreign program with a time limit and without this shell's environment.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// What a program did: its exit code and output.
pub(super) struct ProgramRun {
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// The exit code; `None` if the program had to be killed.
    pub(super) code: Option<i32>,
}

impl ProgramRun {
    /// The end of the program's output, for a report.
    pub(super) fn last_words(&self) -> String {
        let said = [self.stderr.trim(), self.stdout.trim()];
        let said = said.into_iter().find(|text| !text.is_empty());
        let lines: Vec<&str> = said.unwrap_or("it printed nothing").lines().collect();
        let from = lines.len().saturating_sub(3);
        lines[from..].join(" ")
    }
}

/// A command whose environment contains only the search path and a home: keys, proxies and settings of this machine
/// stay out of the test.
pub(super) fn bare(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("HOME", home);
    for name in ["PATH", "LANG", "TMPDIR"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// Runs a command, which is killed with what it started when it takes too long.
pub(super) fn run(mut command: Command, scratch: &Path, limit: Duration) -> io::Result<ProgramRun> {
    // Files, not pipes: nobody reads while the program runs, and processes that it started may outlive it.
    let (out, err) = (scratch.join("stdout.txt"), scratch.join("stderr.txt"));
    command
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?);
    system::lead_own_group(&mut command);
    let mut child = command.spawn()?;
    let until = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if Instant::now() > until {
            // The whole group, since such programs start others.
            system::kill_group(child.id())?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let read = |path| std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(ProgramRun {
        stdout: read(&out)?,
        stderr: read(&err)?,
        code: status.and_then(|status| status.code()),
    })
}

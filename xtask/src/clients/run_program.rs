//! Running a foreign program for so long and no longer, without whatever this shell has set for it.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a program did.
pub(super) struct ProgramRun {
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// Its exit code; none if it had to be ended.
    pub(super) code: Option<i32>,
}

impl ProgramRun {
    /// The end of what it said, for a report.
    pub(super) fn last_words(&self) -> String {
        let said = [self.stderr.trim(), self.stdout.trim()];
        let said = said.into_iter().find(|text| !text.is_empty());
        let lines: Vec<&str> = said.unwrap_or("it said nothing").lines().collect();
        let from = lines.len().saturating_sub(3);
        lines[from..].join(" ")
    }
}

/// A command that knows only where programs are: keys, proxies and settings of this machine stay out of the test.
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

/// Runs a command in a process group of its own, which is ended when it takes too long.
pub(super) fn run(mut command: Command, scratch: &Path, limit: Duration) -> io::Result<ProgramRun> {
    // Files, not pipes: nobody reads while it runs, and what it started may outlive it.
    let (out, err) = (scratch.join("stdout.txt"), scratch.join("stderr.txt"));
    command
        .stdin(Stdio::null())
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .process_group(0);
    let mut child = command.spawn()?;
    let until = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if Instant::now() > until {
            // The group, since such programs start others.
            let group = format!("-{}", child.id());
            Command::new("kill")
                .args(["-KILL", "--", &group])
                .status()?;
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

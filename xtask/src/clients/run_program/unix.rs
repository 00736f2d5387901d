//! Killing a program with what it started, on Unix: its process group.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

pub(super) fn lead_own_group(command: &mut Command) {
    command.process_group(0);
}

pub(super) fn kill_group(leader: u32) -> io::Result<()> {
    let group = format!("-{leader}");
    Command::new("kill")
        .args(["-KILL", "--", &group])
        .status()?;
    Ok(())
}

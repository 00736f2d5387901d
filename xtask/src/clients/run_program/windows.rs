//! Killing a program with what it started, on Windows: the tree below it.

use std::io;
use std::process::Command;

pub(super) fn lead_own_group(_: &mut Command) {}

pub(super) fn kill_group(leader: u32) -> io::Result<()> {
    Command::new("taskkill")
        .args(["/F", "/T", "/PID", &leader.to_string()])
        .status()?;
    Ok(())
}

//! Real Claude Code through `longhaul wrap` to the offline world, where it can be installed.
//!
//! It is installed only where `LONGHAUL_TEST_INSTALL` is set (it is large), into the target folder, where it stays.
//! `cargo xtask clients` tries it, opencode and aider more thoroughly; docs/wrap.md has the commands for the others.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Finish, World};

const PACKAGE: &str = "@anthropic-ai/claude-code";

/// The version that the table of agents says was tried.
fn version() -> String {
    let table = include_str!("../../../src/agents/builtin.toml");
    let claude = table.split("[claude]").nth(1).unwrap();
    let tested = claude.split("tested = \"").nth(1).unwrap();
    tested.split('"').next().unwrap().to_owned()
}

/// The folder with Claude Code's program, if it can be installed.
fn claude() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrap-agents");
    std::fs::create_dir_all(&folder).unwrap();
    let wanted = format!("{PACKAGE}@{}", version());
    let installed = folder.join("installed.txt");
    if std::fs::read_to_string(&installed).is_ok_and(|had| had == wanted) {
        return Some(folder.join("node_modules/.bin"));
    }
    std::env::var_os("LONGHAUL_TEST_INSTALL")?;
    let install = Command::new("npm")
        .args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
        .arg(&folder)
        .arg(&wanted)
        .stdin(Stdio::null())
        .output();
    let is_there = install.is_ok_and(|output| output.status.success());
    is_there.then(|| std::fs::write(&installed, wanted).unwrap())?;
    Some(folder.join("node_modules/.bin"))
}

#[test]
fn claude_code_answers_through_a_wrap_without_a_key() {
    let Some(programs) = claude() else {
        longhaul_testkit::skipped::note(
            "Claude Code is not installed (set LONGHAUL_TEST_INSTALL=1)",
        );
        return;
    };
    let world = World::new();
    let usual = std::env::var("PATH").unwrap();
    let path = format!("{}:{usual}", programs.display());
    let mut command =
        world.longhaul(["wrap", "--upstream", "sim", "claude", "-p", "What is this?"]);
    command.env("PATH", &path);
    let ran = command.finish().ends(0);
    assert!(!ran.out.trim().is_empty(), "{}", ran.err);
    assert!(ran.err.contains("longhaul: claude made "), "{}", ran.err);
    assert!(!ran.err.contains("has not been tried"), "{}", ran.err);
    let mut doctor = world.longhaul(["doctor", "claude", "--offline"]);
    let doctor = doctor.env("PATH", &path).env("ANTHROPIC_API_KEY", "sk-x");
    doctor.finish().ends(0).prints("the version that was tried");
}

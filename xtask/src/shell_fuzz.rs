//! `cargo xtask shell-fuzz`: judges many generated commands as the terminal agent would, and runs those that it would
//! run without asking. The check itself is a test of longhaul-agent, which owns the judge; this module only sets how
//! long it runs.

use std::process::Command;

use crate::TaskResult;
use crate::workspace::CargoWorkspace;

pub(crate) const USAGE: &str = "\
  shell-fuzz [--cases N] [--seed S]
               judge N generated commands (100000) from seed S (1), and run those that the agent would run without asking";

const TEST: &str = "permission::shell_fuzz";

/// Runs the shell fuzz test with the given options.
pub(crate) fn run(workspace: &CargoWorkspace, words: &[&str]) -> TaskResult {
    let (mut cases, mut seed) = (100_000_u64, 1_u64);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = || {
            let number = words.clone().next().and_then(|text| text.parse().ok());
            number.ok_or_else(|| vec![format!("{word} needs a number\n{USAGE}")])
        };
        match *word {
            "--cases" => cases = value()?,
            "--seed" => seed = value()?,
            _ => return Err(vec![format!("shell-fuzz does not know {word}\n{USAGE}")]),
        }
        words.next();
    }
    let status = Command::new(env!("CARGO"))
        .args([
            "test",
            "-p",
            "longhaul-agent",
            "--test",
            "it",
            TEST,
            "--",
            "--nocapture",
        ])
        .current_dir(&workspace.root)
        .env("LONGHAUL_SHELL_FUZZ_CASES", cases.to_string())
        .env("LONGHAUL_SHELL_FUZZ_SEED", seed.to_string())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(vec![
            "a command that runs without asking does more than read: see above".to_owned(),
        ]),
        Err(error) => Err(vec![format!("cargo could not be started: {error}")]),
    }
}

//! Checks written in a client's own language: this module runs them and reads their output.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::CheckContext;
use super::catalog::{CheckStage, PackageRegistry, SMALL, TestedClient};
use super::install::InstalledClient;
use super::report::ClientReport;
use super::run_program::{self, ProgramRun};
use super::test_servers::TestServers;

/// The time limit for a stage.
const LIMIT: Duration = Duration::from_secs(300);

/// Where the scripts are: those that the simulator's own tests run too, and those for the gateway only.
const SHARED: &str = "crates/longhaul-sim/tests/clients";
const OWN: &str = "xtask/clients";

/// Runs the checks of a stage against servers of their own.
pub(super) fn stage(
    setting: &CheckContext<'_>,
    client: &TestedClient,
    installed: &InstalledClient,
    stage: &CheckStage,
    report: &mut ClientReport,
) {
    let world = match TestServers::start(setting, stage.window, None) {
        Ok(world) => world,
        Err(why) => return report.failed(stage.name, why),
    };
    let ran = match ran(setting, client.registry, installed, stage, world.url()) {
        Ok(ran) => ran,
        Err(why) => return report.failed(stage.name, why),
    };
    for check in stage.checks {
        let told = check.split_once('_').map_or(*check, |(_, rest)| rest);
        match verdict(&ran.stdout, check) {
            Some(ScriptVerdict::Held) => report.held(told),
            Some(ScriptVerdict::Failed(why)) => report.failed(told, why),
            None if ran.code.is_none() => {
                report.failed(told, format!("not done in {} s", LIMIT.as_secs()));
            }
            None => report.failed(told, ran.last_words()),
        }
    }
    world.judge(stage.name, stage.refusals, report);
}

fn ran(
    setting: &CheckContext<'_>,
    registry: PackageRegistry,
    installed: &InstalledClient,
    stage: &CheckStage,
    url: &str,
) -> Result<ProgramRun, String> {
    let home = installed.folder.join("home");
    std::fs::create_dir_all(&home).map_err(|error| error.to_string())?;
    let (program, script) = match registry {
        PackageRegistry::PyPi => {
            let program = installed.program(registry, "python");
            (program, script(setting, &format!("{}.py", stage.script)))
        }
        PackageRegistry::Npm => {
            // A JavaScript module finds packages next to itself, wherever it is called from.
            for name in ["clients.mjs", "through.mjs"] {
                let copied = std::fs::copy(script(setting, name), installed.folder.join(name));
                copied.map_err(|error| format!("{name}: {error}"))?;
            }
            let script = installed.folder.join(format!("{}.mjs", stage.script));
            (PathBuf::from("node"), script)
        }
    };
    let mut command = run_program::bare(&program, &home);
    command
        .arg(script)
        .arg(url)
        .args(stage.checks)
        .env("PYTHONPATH", setting.workspace.root.join(SHARED))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("LONGHAUL_CLIENTS_WINDOW", SMALL.to_string());
    run_program::run(command, &home, LIMIT).map_err(|error| error.to_string())
}

fn script(setting: &CheckContext<'_>, name: &str) -> PathBuf {
    let root: &Path = &setting.workspace.root;
    let own = root.join(OWN).join(name);
    if own.exists() {
        own
    } else {
        root.join(SHARED).join(name)
    }
}

/// A script's verdict on a check.
#[derive(Debug, PartialEq, Eq)]
enum ScriptVerdict {
    Held,
    Failed(String),
}

/// Finds the line about a check: `ok NAME`, or `FAILED NAME: why`.
fn verdict(said: &str, check: &str) -> Option<ScriptVerdict> {
    said.lines().find_map(|line| {
        if line.strip_prefix("ok ") == Some(check) {
            return Some(ScriptVerdict::Held);
        }
        let why = line.strip_prefix("FAILED ")?.strip_prefix(check)?;
        let why = why.strip_prefix(": ")?;
        Some(ScriptVerdict::Failed(why.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_taken_at_its_word() {
        let said = "ok anthropic_long\nFAILED anthropic_long_runner: BadRequestError: too long\n1 of 2 hold\n";
        assert_eq!(verdict(said, "anthropic_long"), Some(ScriptVerdict::Held));
        assert_eq!(
            verdict(said, "anthropic_long_runner"),
            Some(ScriptVerdict::Failed(
                "BadRequestError: too long".to_owned()
            ))
        );
        assert_eq!(verdict(said, "openai_long"), None);
    }
}

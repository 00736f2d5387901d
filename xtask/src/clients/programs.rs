//! Other agents that take a prompt on their command line.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use super::CheckContext;
use super::catalog::{AllowedRefusals, PackageRegistry, PromptProgram, WindowSize};
use super::install::InstalledClient;
use super::report::ClientReport;
use super::run_program;
use super::test_servers::TestServers;

/// The time limit for a prompt.
const LIMIT: Duration = Duration::from_secs(180);

/// Sends one prompt and checks what the usage logs say about it.
pub(super) fn checks(
    setting: &CheckContext<'_>,
    program: PromptProgram,
    installed: &InstalledClient,
    report: &mut ClientReport,
) {
    let world = match TestServers::start(setting, WindowSize::Usual, None) {
        Ok(world) => world,
        Err(why) => return report.failed("one shot", why),
    };
    let asked = asked(program, installed, world.url());
    let failed = asked.is_err();
    report.told("one shot", asked);
    if !failed {
        world.judge("one shot", AllowedRefusals::Never, report);
    }
}

fn asked(program: PromptProgram, installed: &InstalledClient, url: &str) -> Result<(), String> {
    let place = installed.folder.join("place");
    let fresh = || -> std::io::Result<()> {
        if place.exists() {
            fs::remove_dir_all(&place)?;
        }
        fs::create_dir_all(place.join("home"))?;
        fs::create_dir_all(place.join("project"))?;
        fs::write(place.join("project/notes.txt"), "The parser comes first.\n")
    };
    fresh().map_err(|error| error.to_string())?;
    let mut command = match program {
        PromptProgram::OpenCode => opencode(installed, &place, url)?,
        PromptProgram::Aider => aider(installed, &place, url),
    };
    command.current_dir(place.join("project"));
    let ran = run_program::run(command, &place, LIMIT).map_err(|error| error.to_string())?;
    match ran.code {
        Some(0) if !ran.stdout.trim().is_empty() => Ok(()),
        Some(_) => Err(ran.last_words()),
        None => Err(format!("no answer in {} s", LIMIT.as_secs())),
    }
}

fn opencode(installed: &InstalledClient, place: &Path, url: &str) -> Result<Command, String> {
    let settings = json!({
        "model": "anthropic/claude-sonnet-4-6",
        "autoupdate": false,
        "share": "disabled",
        "provider": { "anthropic": { "options": { "baseURL": format!("{url}/v1"), "apiKey": "any" } } },
    });
    let file = place.join("project/opencode.json");
    fs::write(&file, settings.to_string()).map_err(|error| error.to_string())?;
    let program = installed.program(PackageRegistry::Npm, "opencode");
    let mut command = run_program::bare(&program, &place.join("home"));
    command.args(["run", "What is this project?"]);
    Ok(command)
}

fn aider(installed: &InstalledClient, place: &Path, url: &str) -> Command {
    let program = installed.program(PackageRegistry::PyPi, "aider");
    let mut command = run_program::bare(&program, &place.join("home"));
    command
        .env("ANTHROPIC_BASE_URL", url)
        .env("ANTHROPIC_API_BASE", url)
        .env("ANTHROPIC_API_KEY", "any")
        .args(["--model", "anthropic/claude-sonnet-4-6", "--no-git"])
        .args(["--yes-always", "--no-check-update", "--analytics-disable"])
        .args(["--no-show-model-warnings", "--no-show-release-notes"])
        // By default aider writes its history files to the root of the repository that contains the folder.
        .arg("--chat-history-file")
        .arg(place.join("home/chat.md"))
        .arg("--input-history-file")
        .arg(place.join("home/input"))
        .args(["--message", "What is this project?"]);
    command
}

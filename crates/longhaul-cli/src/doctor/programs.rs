//! The agents that `longhaul wrap` runs: whether they are there, which version, and whether they have a key.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::finding::{Finding, FindingState};
use crate::agents::{AgentProfile, AgentProfiles};
use crate::settings::CommandSettings;
use crate::text::{clean, keep_start};

const AGENT: &str = "agent";
const KEY: &str = "key";
/// How long an agent may take to say its version.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(20);
/// The longest version that is shown.
const LONGEST: usize = 60;

/// The known agents that are installed.
pub(super) fn installed(profiles: &AgentProfiles) -> Vec<AgentProfile> {
    let there = profiles
        .iter()
        .filter(|agent| AgentProfile::find(&agent.command).is_some());
    there.cloned().collect()
}

/// What is found of these agents. One that the user has named must be there and have a key.
pub(super) fn agents(
    chosen: &[AgentProfile],
    named: Option<&str>,
    given: &CommandSettings,
) -> Vec<Finding> {
    if chosen.is_empty() {
        let says = "none of the agents that `longhaul wrap` knows is installed";
        return vec![Finding::new(AGENT, FindingState::Note, says)];
    }
    let home = given.env.user_home.as_deref();
    let mut found = Vec::new();
    for agent in chosen {
        let Some(program) = AgentProfile::find(&agent.command) else {
            let says = format!("{} is not installed, or not on the PATH", agent.command);
            let missing = Finding::new(AGENT, FindingState::Broken, says);
            found.push(match &agent.install {
                Some(install) => missing.advise(format!("Install it: {install}")),
                None => missing
                    .advise("Put its folder on the PATH, or correct `command` in agents.toml."),
            });
            continue;
        };
        found.push(version(agent, &program));
        found.extend(elsewhere(agent));
        found.push(key(agent, home, named));
    }
    found
}

fn version(agent: &AgentProfile, program: &Path) -> Finding {
    let title = &agent.title;
    let Some(told) = ask_version(program) else {
        let says = format!("{title} is there, but does not say its version");
        return Finding::new(AGENT, FindingState::Warning, says).advise(format!(
            "Run `{} --version`: an agent that cannot even do that is not installed well.",
            agent.command
        ));
    };
    match &agent.tested {
        Some(tested) if told.contains(tested.as_str()) => {
            let says = format!("{title}: {told}, the version that was tried");
            Finding::new(AGENT, FindingState::Ok, says)
        }
        Some(tested) => {
            let says = format!("{title}: {told}; {tested} was tried");
            Finding::new(AGENT, FindingState::Note, says)
        }
        None => {
            let says = format!("{title}: {told}; no version was tried yet");
            Finding::new(AGENT, FindingState::Note, says)
        }
    }
}

/// The first line that `--version` prints.
fn ask_version(program: &Path) -> Option<String> {
    let mut asking = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut stdout = asking.stdout.take()?;
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        // What came before an error is enough.
        let _ = stdout.by_ref().take(4_096).read_to_string(&mut text);
        text
    });
    let began = Instant::now();
    let ended = loop {
        match asking.try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) if began.elapsed() < PATIENCE => std::thread::sleep(LOOK),
            _ => {
                // A process that does not end keeps its output open: it is not waited for.
                let _ = asking.kill();
                let _ = asking.wait();
                return None;
            }
        }
    };
    let text = reading.join().ok()?;
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    ended.then(|| keep_start(clean(line).trim(), LONGEST))
}

/// A variable that makes the agent go past the gateway.
fn elsewhere(agent: &AgentProfile) -> Option<Finding> {
    let is_set = |name: &&String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let variable = agent.elsewhere.iter().find(is_set)?;
    let says = format!(
        "{variable} is set: {} does not go through the gateway",
        agent.title
    );
    let found = Finding::new(AGENT, FindingState::Warning, says);
    Some(found.advise(format!("Unset {variable} to run it through the gateway.")))
}

fn key(agent: &AgentProfile, home: Option<&Path>, named: Option<&str>) -> Finding {
    match agent.credential(home) {
        Some(place) => {
            let says = format!("{} has one, or a login: {place}", agent.title);
            Finding::new(KEY, FindingState::Ok, says)
        }
        None => {
            let state = match named {
                // Where the system keeps logins in a keychain, there is no file to see.
                Some(_) if !cfg!(target_os = "macos") => FindingState::Broken,
                _ => FindingState::Warning,
            };
            let says = format!("{} has neither a key nor a login", agent.title);
            Finding::new(KEY, state, says).advise(format!(
                "Set {}, or log in with {} itself.",
                agent.keys.join(" or "),
                agent.title
            ))
        }
    }
}

//! `cargo xtask clients`: real clients, unmodified, through the gateway to the offline world.
//!
//! Clients are installed from their registries into the target folder, so this needs a network and is not part of CI.
//! `catalog` lists the clients and their checks, `install` fetches them, `test_servers` starts a simulator with a
//! gateway in front of it, `run_program` runs foreign programs, `scripted` runs the checks of the SDKs (written in the
//! SDKs' own languages, `xtask/clients` and the simulator's `tests/clients`), `claude_code` and `programs` drive whole
//! programs, `report` prints the results. None of this judges what the gateway does inside: it checks that a client
//! works, that the upstream refused nothing, and that the usage logs contain the calls.

mod catalog;
mod claude_code;
mod install;
mod programs;
mod report;
mod run_program;
mod scripted;
mod test_servers;

use std::path::PathBuf;

use crate::TaskResult;
use crate::workspace::{CargoWorkspace, cargo, output};
use catalog::{CLIENTS, ClientDriver, TestedClient};
use install::{InstalledClient, WantedVersions};
use report::{ClientReport, ReportShape};

/// The options of `cargo xtask clients`.
#[derive(Debug, PartialEq, Eq)]
struct ClientCheckOptions {
    only: Vec<String>,
    shape: ReportShape,
    versions: WantedVersions,
    policy: Option<String>,
    program: Option<PathBuf>,
}

/// The context that every check needs.
struct CheckContext<'a> {
    workspace: &'a CargoWorkspace,
    /// The program under test.
    longhaul: PathBuf,
    /// The folder for packages and for files that clients create.
    folder: PathBuf,
    /// The policy given to the gateway, if any.
    policy: Option<String>,
}

/// The arguments of `cargo xtask clients`, for its usage text.
pub(crate) const USAGE: &str = "\
  clients      install real clients and run them through the gateway to the offline world (needs a network)
    --only NAME      run only this client; can be repeated
    --policy NAME    the gateway's policy: observe or manage; default: the gateway's own
    --program FILE   the longhaul program to test; by default it is built first
    --latest         use the newest versions, not those that were tested last
    --json           print the checks as JSON";

/// Runs the requested clients.
pub(crate) fn run(workspace: &CargoWorkspace, words: &[&str]) -> TaskResult {
    let options = ClientCheckOptions::read(words)?;
    let chosen: Vec<&TestedClient> = CLIENTS
        .iter()
        .filter(|client| options.only.is_empty() || options.only.iter().any(|n| n == client.name))
        .collect();
    let setting = CheckContext {
        workspace,
        longhaul: match options.program {
            Some(program) => program,
            None => built(workspace)?,
        },
        folder: workspace.target.join("clients"),
        policy: options.policy,
    };
    let mut report = ClientReport::new(options.shape);
    for client in chosen {
        match install::client(&setting, client, options.versions) {
            Ok(installed) => {
                report.begin(client.name, &installed.version);
                drive(&setting, client, &installed, &mut report);
            }
            Err(why) => {
                report.begin(client.name, "-");
                report.failed("install", why);
            }
        }
    }
    report.finish()
}

fn drive(
    setting: &CheckContext<'_>,
    client: &TestedClient,
    installed: &InstalledClient,
    report: &mut ClientReport,
) {
    match client.drive {
        ClientDriver::Script(stages) => {
            for stage in stages {
                scripted::stage(setting, client, installed, stage, report);
            }
        }
        ClientDriver::ClaudeCode => claude_code::checks(setting, installed, report),
        ClientDriver::Program(program) => programs::checks(setting, program, installed, report),
    }
}

/// Builds the program from the current sources and returns its path.
fn built(workspace: &CargoWorkspace) -> Result<PathBuf, Vec<String>> {
    let mut build = cargo();
    build.current_dir(&workspace.root);
    output(build.args(["build", "--quiet", "--package", "longhaul-cli"]))?;
    Ok(workspace.target.join("debug/longhaul"))
}

impl ClientCheckOptions {
    fn read(words: &[&str]) -> Result<Self, Vec<String>> {
        let mut options = Self {
            only: Vec::new(),
            shape: ReportShape::Table,
            versions: WantedVersions::Tried,
            policy: None,
            program: None,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                let value = words.next().map(|value| (*value).to_owned());
                value.ok_or_else(|| vec![format!("{word} needs a value")])
            };
            match *word {
                "--only" => options.only.push(value()?),
                "--policy" => options.policy = Some(value()?),
                "--program" => options.program = Some(value()?.into()),
                "--latest" => options.versions = WantedVersions::Latest,
                "--json" => options.shape = ReportShape::Json,
                _ => return Err(vec![format!("unknown option {word}:\n{USAGE}")]),
            }
        }
        let known: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
        match options.only.iter().find(|n| !known.contains(&n.as_str())) {
            Some(name) => Err(vec![format!(
                "no client is called {name}; there are {}",
                known.join(", ")
            )]),
            None => Ok(options),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_understood_or_refused() {
        let words = [
            "--only",
            "claude-code",
            "--json",
            "--policy",
            "manage",
            "--latest",
        ];
        assert_eq!(
            ClientCheckOptions::read(&words),
            Ok(ClientCheckOptions {
                only: vec!["claude-code".to_owned()],
                shape: ReportShape::Json,
                versions: WantedVersions::Latest,
                policy: Some("manage".to_owned()),
                program: None,
            })
        );
        for wrong in [&["--only"][..], &["--only", "netscape"], &["--fast"]] {
            assert!(ClientCheckOptions::read(wrong).is_err(), "{wrong:?}");
        }
    }
}

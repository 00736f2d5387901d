//! The agents that other commands know: how each is pointed at a gateway, where its key comes from, and which version was
//! tried. They are data (`builtin.toml`, and the user's `agents.toml`); nothing in the program knows an agent by name.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use longhaul_store::layout::Home;
use serde::Deserialize;

use crate::failure::CliError;
use crate::settings::CommandSettings;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// The agents that come with the program.
const BUILTIN: &str = include_str!("builtin.toml");
/// The user's own file, below LONGHAUL_HOME.
pub(crate) const FILE_NAME: &str = "agents.toml";

/// How an agent is run through a gateway.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentProfile {
    /// The name that the user types; set from the table's name.
    #[serde(skip)]
    pub(crate) name: String,
    /// The name for sentences.
    pub(crate) title: String,
    /// The program.
    pub(crate) command: String,
    /// The version with which it was tried; `None` if nobody has.
    #[serde(default)]
    pub(crate) tested: Option<String>,
    /// How it is installed.
    #[serde(default)]
    pub(crate) install: Option<String>,
    /// The products that its `user-agent` may name.
    #[serde(default)]
    pub(crate) user_agents: Vec<String>,
    /// Variables that may hold its key; one of them is enough.
    #[serde(default)]
    pub(crate) keys: Vec<String>,
    /// Files that exist where it is logged in or configured; `~` is the user's home, `$NAME` a variable.
    #[serde(default)]
    pub(crate) logins: Vec<String>,
    /// Variables that make it use another provider, past the gateway.
    #[serde(default)]
    pub(crate) elsewhere: Vec<String>,
    /// What the user should know, said at the start.
    #[serde(default)]
    pub(crate) note: Option<String>,
    /// Whether the gateway can only pass its requests on.
    #[serde(default)]
    pub(crate) unmanaged: bool,
    /// Whether it cannot be given an address with a path of our own.
    #[serde(default)]
    pub(crate) plain_address: bool,
    /// Variables to set.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// Variables that hold JSON, and what to put into it.
    #[serde(default)]
    pub(crate) merge_json: BTreeMap<String, String>,
    /// Arguments to put before the user's.
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// The APIs that it calls, by name.
    pub(crate) api: BTreeMap<String, AgentApi>,
}

/// An API that an agent calls.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentApi {
    /// The address that the agent uses unless told otherwise.
    pub(crate) upstream: String,
    /// The variable by which the user may have told it otherwise.
    #[serde(default)]
    pub(crate) variable: Option<String>,
    /// The variable of the key for this API.
    #[serde(default)]
    pub(crate) key: Option<String>,
}

/// All known agents.
#[derive(Debug, Clone)]
pub(crate) struct AgentProfiles(BTreeMap<String, AgentProfile>);

impl AgentProfiles {
    /// The built-in agents and the user's.
    pub(crate) fn load(given: &CommandSettings) -> Result<Self, CliError> {
        let mut all = read(BUILTIN).map_err(|reason| CliError::Agents {
            path: PathBuf::from("builtin.toml"),
            reason,
        })?;
        let file = Home::longhaul(&given.env).ok();
        let file = file.map(|home| home.root().join(FILE_NAME));
        if let Some(path) = file.filter(|path| path.exists()) {
            let text = std::fs::read_to_string(&path).map_err(|source| CliError::Read {
                path: path.clone(),
                source,
            })?;
            all.extend(read(&text).map_err(|reason| CliError::Agents { path, reason })?);
        }
        Ok(Self(all))
    }

    pub(crate) fn get(&self, name: &str) -> Option<&AgentProfile> {
        self.0.get(name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &AgentProfile> {
        self.0.values()
    }

    /// Their names, for a sentence.
    pub(crate) fn names(&self) -> String {
        self.0.keys().cloned().collect::<Vec<_>>().join(", ")
    }

    /// The agent that a call was made by: what the usage log says, or the agent that is known by that `user-agent`.
    pub(crate) fn name_of_caller(&self, caller: &str) -> String {
        let known = self
            .iter()
            .find(|agent| agent.user_agents.iter().any(|one| one == caller));
        known.map_or_else(|| caller.to_owned(), |agent| agent.name.clone())
    }
}

/// Reads a file of agents; the error says what is wrong.
fn read(text: &str) -> Result<BTreeMap<String, AgentProfile>, String> {
    let mut all: BTreeMap<String, AgentProfile> =
        toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    for (name, agent) in &mut all {
        agent.name.clone_from(name);
        let texts = agent.env.values().chain(agent.merge_json.values());
        let used: String = texts.chain(&agent.args).cloned().collect();
        if !agent.api.keys().any(|api| used.contains(&placeholder(api))) {
            return Err(format!(
                "[{name}] tells the agent no address: put {{NAME}} of one of its `api` tables into `env`, `args` or `merge_json`"
            ));
        }
    }
    Ok(all)
}

/// What stands for the address of the gateway in front of an API.
pub(crate) fn placeholder(api: &str) -> String {
    format!("{{{api}}}")
}

impl AgentProfile {
    /// Where the program is, if it is there: a path as it is, a name on the PATH.
    pub(crate) fn find(command: &str) -> Option<PathBuf> {
        if command.contains(std::path::is_separator) {
            return Some(PathBuf::from(command)).filter(|path| path.is_file());
        }
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).find_map(|folder| system::program(&folder, command))
    }

    /// The first variable with a key in it, or a file that shows that the user has logged in; `None` without either.
    pub(crate) fn credential(&self, home: Option<&Path>) -> Option<String> {
        let is_set = |name: &&String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if let Some(variable) = self.keys.iter().find(is_set) {
            return Some(variable.clone());
        }
        let mut logins = self.logins.iter();
        let login = logins.find(|file| resolved(file, home).is_some_and(|file| file.exists()));
        login.cloned()
    }
}

fn resolved(file: &str, home: Option<&Path>) -> Option<PathBuf> {
    if let Some(rest) = file.strip_prefix("~/") {
        return home.map(|home| home.join(rest));
    }
    match file.strip_prefix('$').and_then(|rest| rest.split_once('/')) {
        Some((variable, rest)) => {
            let folder = std::env::var_os(variable).filter(|folder| !folder.is_empty());
            folder.map(|folder| Path::new(&folder).join(rest))
        }
        None => Some(PathBuf::from(file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_agent_can_be_read_and_has_valid_addresses() {
        let all = read(BUILTIN).unwrap();
        for name in ["claude", "opencode", "aider", "codex", "goose"] {
            assert!(all.contains_key(name), "{name}");
        }
        for agent in all.values() {
            for api in agent.api.values() {
                url::Url::parse(&api.upstream).unwrap();
            }
            for text in agent.merge_json.values() {
                serde_json::from_str::<serde_json::Value>(text).unwrap();
            }
        }
    }

    #[test]
    fn what_is_wrong_in_a_file_is_said() {
        let wrong = read("[x]\ntitle = 'X'\ncommand = 'x'\napi.a = { upstream = 'http://a' }\n");
        assert!(
            wrong
                .unwrap_err()
                .contains("[x] tells the agent no address")
        );
        let wrong = read("[x]\ntitel = 'X'\n").unwrap_err();
        assert!(wrong.contains("titel"), "{wrong}");
    }
}

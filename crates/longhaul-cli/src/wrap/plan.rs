//! What is run: the program with its arguments, and the APIs that it calls.

use std::collections::BTreeMap;
use std::ffi::OsString;

use super::address::{ApiAddress, SIMULATED};
use crate::agents::{AgentApi, AgentProfile, AgentProfiles};
use crate::args::WrapArgs as Command;
use crate::failure::CliError;

/// The flag that moves APIs, in messages.
const UPSTREAM: &str = "--upstream";

/// What is run, and what it calls.
#[derive(Debug)]
pub(super) struct WrapPlan {
    /// The name for lines and for the usage log.
    pub(super) name: String,
    /// The program, as it was typed.
    pub(super) program: String,
    /// The user's arguments.
    pub(super) args: Vec<OsString>,
    /// What is known of the agent; `None` for a command with --env.
    pub(super) profile: Option<AgentProfile>,
    /// The APIs that it calls, by name; with --env, the name is that of the variable.
    pub(super) apis: BTreeMap<String, ApiAddress>,
}

impl WrapPlan {
    pub(super) fn of(command: &Command, profiles: &AgentProfiles) -> Result<Self, CliError> {
        let mut words = command.command.iter().cloned();
        let first = words.next().unwrap_or_default();
        let first = first.to_string_lossy().into_owned();
        let args: Vec<OsString> = words.collect();
        if !command.env.is_empty() {
            return Self::any(command, first, args);
        }
        let Some(agent) = profiles.get(&first) else {
            return Err(CliError::NoSuchAgent {
                name: first,
                known: profiles.names(),
            });
        };
        let mut apis = BTreeMap::new();
        for (name, api) in &agent.api {
            apis.insert(name.clone(), usual(api)?);
        }
        moved(&mut apis, &command.upstream)?;
        Ok(Self {
            name: agent.name.clone(),
            program: agent.command.clone(),
            args,
            profile: Some(agent.clone()),
            apis,
        })
    }

    /// A command that the user describes with --env.
    fn any(command: &Command, program: String, args: Vec<OsString>) -> Result<Self, CliError> {
        let mut apis = BTreeMap::new();
        for given in &command.env {
            let (variable, url) = given
                .split_once('=')
                .filter(|(variable, url)| is_variable(variable) && *url != SIMULATED)
                .ok_or(CliError::BadWrapEnv)?;
            let place = format!("--env {variable}");
            apis.insert(variable.to_owned(), ApiAddress::of(&place, url)?);
        }
        moved(&mut apis, &command.upstream)?;
        let name = std::path::Path::new(&program).file_name();
        let name = name.map_or_else(
            || program.clone(),
            |name| name.to_string_lossy().into_owned(),
        );
        Ok(Self {
            name,
            program,
            args,
            profile: None,
            apis,
        })
    }
}

fn is_variable(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    name.chars().all(is_letter) && name.starts_with(|first: char| !first.is_ascii_digit())
}

/// Where the agent would send requests without us: what the user's variable says, or its default.
pub(super) fn usual(api: &AgentApi) -> Result<ApiAddress, CliError> {
    let default = ApiAddress::of("`upstream` in the table of agents", &api.upstream)?;
    let named = api.variable.as_deref();
    let set = named.and_then(|name| Some((name, std::env::var(name).ok()?)));
    match set.filter(|(_, value)| !value.trim().is_empty()) {
        Some((name, value)) => default.moved_to(name, value.trim()),
        None => Ok(default),
    }
}

/// Applies --upstream: `URL` to all APIs, `API=URL` to one.
fn moved(apis: &mut BTreeMap<String, ApiAddress>, given: &[String]) -> Result<(), CliError> {
    for text in given {
        let named = text.split_once('=');
        let named = named.filter(|(name, _)| is_variable(name) && !name.contains('/'));
        match named {
            Some((name, url)) => {
                let known = apis.keys().cloned().collect::<Vec<_>>().join(", ");
                let api = apis.get_mut(name).ok_or_else(|| CliError::NoSuchApi {
                    name: name.to_owned(),
                    known,
                })?;
                *api = api.moved_to(UPSTREAM, url)?;
            }
            None => {
                for api in apis.values_mut() {
                    *api = api.moved_to(UPSTREAM, text)?;
                }
            }
        }
    }
    Ok(())
}

//! `longhaul doctor`: looks for reasons why something does not work, and says what to do about each. It changes nothing.
//!
//! `finding.rs` is what a check finds, `folders.rs` looks at LONGHAUL_HOME and the settings, `store.rs` at the usage log,
//! `texts.rs` at who can read texts on the gateway's page, `network.rs` at ports, proxies and upstreams, `programs.rs` at
//! agents and their keys, `page.rs` shows it all.

mod finding;
mod folders;
mod network;
mod page;
mod programs;
mod store;
mod texts;

use crate::agents::AgentProfiles;
use crate::args::DoctorArgs as Command;
use crate::failure::{CliError, CliOutcome};
use crate::output;
use crate::running_gateways;
use crate::settings::CommandSettings;
use crate::sim;
use finding::{Finding, FindingState};

pub(crate) fn run(command: &Command, given: &CommandSettings) -> Result<CliOutcome, CliError> {
    let listen = sim::address(&command.listen)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    let mut found = folders::home(given);
    found.extend(folders::settings(given));
    found.push(store::usage_log(command.store.as_deref(), given)?);
    let running = runtime.block_on(running_gateways::find(given));
    if command.agent.is_none() {
        found.push(network::port(listen, &running));
    }
    found.extend(network::gateways(&running));
    found.push(texts::texts(given));
    found.extend(network::proxies(|name| std::env::var(name).ok()));
    match AgentProfiles::load(given) {
        Err(error) => found.push(
            Finding::new("agents", FindingState::Broken, error.to_string())
                .advise("Correct LONGHAUL_HOME/agents.toml; docs/wrap.md says what it looks like."),
        ),
        Ok(profiles) => {
            let chosen = match &command.agent {
                None => programs::installed(&profiles),
                Some(name) => match profiles.get(name) {
                    Some(agent) => vec![agent.clone()],
                    None => {
                        return Err(CliError::NoSuchAgent {
                            name: name.clone(),
                            known: profiles.names(),
                        });
                    }
                },
            };
            found.extend(programs::agents(&chosen, command.agent.as_deref(), given));
            let (asked, unusable) = network::upstreams(&chosen, command)?;
            found.extend(unusable);
            if command.offline {
                let says = "not asked, because of --offline";
                found.push(Finding::new("upstream", FindingState::Note, says));
            } else {
                found.extend(runtime.block_on(network::ask(&asked)));
            }
        }
    }
    if command.json {
        output::json(&page::json(&found))?;
    } else {
        output::page(&page::render(&found))?;
    }
    let is_broken = found.iter().any(|one| one.state == FindingState::Broken);
    Ok(if is_broken {
        CliOutcome::Problems
    } else {
        CliOutcome::Fine
    })
}

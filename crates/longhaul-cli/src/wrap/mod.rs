//! `longhaul wrap`: an agent in this terminal, with a gateway between it and its API.
//!
//! `plan.rs` decides what is run and which APIs it calls, `address.rs` how the address of an API becomes that of a gateway,
//! `gateways.rs` starts gateways or finds running ones, `environment.rs` tells the agent about them, `child.rs` runs it,
//! and `closing_line.rs` says at the end what was used, saved and lost.

mod address;
mod child;
mod closing_line;
mod environment;
mod gateways;
mod plan;

use std::sync::Arc;

use jiff::Timestamp;
use longhaul_gateway::calling_agent::{AgentRunId, CallingAgent};
use longhaul_gateway::front::raise_open_files;
use longhaul_gateway::proof::GatewayProof;

use crate::agents::{AgentApi, AgentProfile, AgentProfiles};
use crate::args::WrapArgs as Command;
use crate::failure::{CliError, CliOutcome, tell, warn};
use crate::settings::{CommandSettings, given_flags};
use crate::signals::EndSignals;
use address::ApiAddress;
use child::AgentProcess;
use gateways::{GatewaySet, WrapGateways};
use plan::WrapPlan;

/// The upstream of an address that a user gives, without the end that stays with an agent.
pub(crate) fn upstream_of(text: &str) -> Result<String, CliError> {
    ApiAddress::of("--upstream", text).map(|address| address.upstream)
}

/// Where an agent sends requests to this API without us.
pub(crate) fn usual_upstream(api: &AgentApi) -> Result<String, CliError> {
    plan::usual(api).map(|address| address.upstream)
}

/// Who says a line, so that it is not taken for the agent's.
const WHO: &str = "longhaul";

pub(crate) fn run(command: &Command, given: &CommandSettings) -> Result<CliOutcome, CliError> {
    let recall = command.recall.then(|| "true".to_owned());
    let config = given.resolve_for_serve(given_flags([
        ("models.file", &command.models),
        ("window.cap", &command.window),
        ("economy", &command.economy),
        ("reduce", &command.reduce),
        ("gateway.recall", &recall),
    ]))?;
    let profiles = AgentProfiles::load(given)?;
    let plan = WrapPlan::of(command, &profiles)?;
    let program = AgentProfile::find(&plan.program).ok_or_else(|| CliError::AgentMissing {
        program: plan.program.clone(),
        install: plan
            .profile
            .as_ref()
            .and_then(|agent| agent.install.clone()),
    })?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    raise_open_files();
    let run = GatewayProof::challenge()
        .ok()
        .and_then(|text| text.get(..16)?.parse().ok())
        .unwrap_or(AgentRunId(Timestamp::now().as_nanosecond() as u64));
    let caller = CallingAgent::new(&plan.name, run);
    let code = runtime.block_on(async {
        let wanted = WrapGateways {
            command,
            given,
            config: Arc::new(config),
            caller: &caller,
        };
        let set = wanted.start(&plan).await?;
        if !command.quiet {
            introduce(&plan, &set, given);
        }
        let mut agent = std::process::Command::new(&program);
        environment::prepare(&mut agent, &plan, &set)?;
        agent.args(&plan.args);
        let began = Timestamp::now();
        let process =
            AgentProcess::start(agent, &plan.name).map_err(|source| CliError::AgentNotRun {
                program: program.clone(),
                source,
            })?;
        let code = process.wait().await.map_err(CliError::Runtime)?;
        let figures = wind_up(set, began, run).await;
        if !command.quiet {
            tell(&format!("{WHO}: {}", closing_line::of(&plan, &figures)));
        }
        Ok::<u8, CliError>(code)
    })?;
    Ok(CliOutcome::Worked(code))
}

/// Says what is between the agent and its API, and what the user should know about that.
fn introduce(plan: &WrapPlan, set: &GatewaySet, given: &CommandSettings) {
    tell(&format!("{WHO}: {}", set.in_words(&plan.name)));
    let Some(agent) = &plan.profile else {
        return;
    };
    if agent.tested.is_none() {
        warn(&format!(
            "{} has not been tried with `longhaul wrap` yet; if it does not work, --env may (docs/wrap.md)",
            agent.title
        ));
    }
    if let Some(note) = &agent.note {
        tell(&format!("{WHO}: {note}"));
    }
    let is_set = |name: &&String| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if let Some(variable) = agent.elsewhere.iter().find(is_set) {
        warn(&format!(
            "{variable} is set: {} then asks another provider, and not through the gateway",
            agent.title
        ));
    }
    let has_key = agent.credential(given.env.user_home.as_deref()).is_some();
    if !has_key && !agent.keys.is_empty() && !set.is_simulated() {
        warn(&format!(
            "no key was found, neither in {} nor as a login of {}; without one, {} will refuse or ask you to log in",
            agent.keys.join(" or "),
            agent.title,
            agent.title
        ));
    }
}

/// Ends the gateways and collects the figures. Nobody needs to wait for requests that the agent has left: a signal
/// cuts them off.
async fn wind_up(set: GatewaySet, began: Timestamp, run: AgentRunId) -> closing_line::RunFigures {
    let cut_off = set.cut_off();
    let mut ending = std::pin::pin!(set.end(began, run));
    let Ok(mut signals) = EndSignals::listen() else {
        return ending.await;
    };
    tokio::select! {
        figures = &mut ending => return figures,
        _ = signals.received() => {}
    }
    tell(&format!(
        "{WHO}: requests that were still under way are cut off."
    ));
    cut_off();
    ending.await
}

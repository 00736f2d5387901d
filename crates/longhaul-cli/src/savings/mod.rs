//! `longhaul savings`: what the gateway used, spent and saved, from its usage log. The figures are the gateway's own
//! (`longhaul_gateway::savings`); this shows them.

mod page;
mod period;
mod sparkline;

use std::fs::File;

use jiff::Timestamp;
use longhaul_gateway::savings::SavingsReport;
use longhaul_gateway::store::{ReadOnlyUsageLog, SpendQuery, SpendRow, open_shared_store};
use serde_json::json;

use crate::agents::AgentProfiles;
use crate::args::SavingsArgs as Command;
use crate::failure::{CliError, CliOutcome, tell};
use crate::gateway_store;
use crate::output;
use crate::settings::{self, CommandSettings, given_flags};

pub(crate) fn run(command: &Command, given: &CommandSettings) -> Result<CliOutcome, CliError> {
    let config = given.resolve(given_flags([("models.file", &command.models)]))?;
    let models = settings::models(&config)?;
    let profiles = AgentProfiles::load(given)?;
    let now = Timestamp::now();
    let since = period::since(&command.since, now)?;
    let mut rows = spend(
        command,
        given,
        SpendQuery {
            since,
            ..SpendQuery::default()
        },
    )?;
    for row in &mut rows {
        row.agent = row
            .agent
            .as_deref()
            .map(|name| profiles.name_of_caller(name));
    }
    let report = SavingsReport::of(&rows, command.by, &models);
    let is_empty = report.rows.is_empty();
    if command.json {
        let mut shown = json!(report);
        shown["since"] = json!(since);
        output::json(&shown)?;
    } else if !is_empty {
        // The days of every report, whatever its rows stand for.
        let days = SavingsReport::of(&rows, Default::default(), &models);
        output::page(&page::render(&report, &days, since, now))?;
    }
    if is_empty {
        let since = period::in_words(since);
        tell(&format!("No call is in the usage log{since}."));
        return Ok(CliOutcome::NothingFound);
    }
    Ok(CliOutcome::Fine)
}

/// What is in the usage log.
fn spend(
    command: &Command,
    given: &CommandSettings,
    query: SpendQuery,
) -> Result<Vec<SpendRow>, CliError> {
    let named = command.store.as_deref();
    if let Some(path) = gateway_store::file(named, given)? {
        return match File::open(&path) {
            Ok(_) => Ok(ReadOnlyUsageLog::open(&path)?.spend(query)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(CliError::NoUsageLog { path })
            }
            Err(source) => Err(CliError::Read { path, source }),
        };
    }
    match named {
        Some(url) if url != "memory" => {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(CliError::Runtime)?;
            let asking = async { open_shared_store(url).await?.store.spend(query).await };
            Ok(runtime.block_on(asking)?)
        }
        _ => Err(CliError::NothingKept),
    }
}

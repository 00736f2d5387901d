//! `longhaul purge`: deletes sessions of Longhaul and says which (G2).

use std::io::{BufRead, IsTerminal};
use std::time::{Duration, SystemTime};

use longhaul_store::layout::{Home, SessionId};
use longhaul_store::purge::{self, PurgeItem, PurgePlan, PurgeReport, PurgeWhat, UndeletedFile};
use serde_json::json;

use crate::args::PurgeArgs as Command;
use crate::failure::{CliError, CliOutcome, tell, warn};
use crate::output;
use crate::settings::CommandSettings;
use crate::terminal::bytes;
use crate::text::{clean, count};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) fn run(command: &Command, given: &CommandSettings) -> Result<CliOutcome, CliError> {
    let config = given.resolve(Vec::new())?;
    let home = Home::longhaul(&given.env)?;
    let what = what(command, config.retention_days)?;
    let plan = purge::plan(&home, &what, SystemTime::now())?;
    for problem in plan.problems() {
        warn(&problem.to_string());
    }
    if command.dry_run || plan.items().is_empty() {
        return print(command, plan.items(), None);
    }
    if !command.yes && !confirmed(&plan)? {
        tell("Nothing was deleted.");
        return Ok(CliOutcome::Fine);
    }
    let listed: Vec<_> = plan.items().to_vec();
    print(command, &listed, Some(&plan.execute()))
}

fn what(command: &Command, retention: Option<u32>) -> Result<PurgeWhat, CliError> {
    if command.all {
        return Ok(PurgeWhat::Everything);
    }
    if let Some(id) = &command.session {
        return SessionId::parse(id)
            .map(PurgeWhat::Session)
            .map_err(|error| CliError::Find(error.into()));
    }
    let days = command
        .older_than
        .or(retention)
        .ok_or(CliError::PurgeWhat)?;
    Ok(PurgeWhat::OlderThan(DAY * days))
}

fn confirmed(plan: &PurgePlan) -> Result<bool, CliError> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(CliError::PurgeUnasked(plan.items().len() as u64));
    }
    for item in plan.items() {
        tell(&format!("  {}", name(item)));
    }
    tell(&format!(
        "Delete {} ({})? [y/N]",
        count(plan.items().len() as u64, "file", "files"),
        bytes(plan.bytes())
    ));
    let mut answer = String::new();
    stdin
        .lock()
        .read_line(&mut answer)
        .map_err(CliError::Stdin)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Says what was deleted; without a report, what would be.
fn print(
    command: &Command,
    items: &[PurgeItem],
    report: Option<&PurgeReport>,
) -> Result<CliOutcome, CliError> {
    let kept = report.map_or(&[][..], |report| &report.kept);
    let deleted = report.map_or(&[][..], |report| &report.deleted);
    let outcome = if kept.is_empty() {
        CliOutcome::Fine
    } else {
        CliOutcome::Problems
    };
    if command.json {
        let file = |item: &PurgeItem| {
            json!({
                "path": item.path.display().to_string(),
                "bytes": item.bytes,
                "age_seconds": item.age.as_secs(),
                "deleted": deleted.contains(item),
            })
        };
        let reason = |kept: &UndeletedFile| json!({ "path": kept.item.path.display().to_string(), "reason": kept.reason.to_string() });
        let files: Vec<_> = items.iter().map(file).collect();
        let kept: Vec<_> = kept.iter().map(reason).collect();
        output::json(&json!({ "files": files, "kept": kept }))?;
        return Ok(outcome);
    }
    let (verb, named) = match report {
        Some(_) => ("deleted", deleted),
        None => ("would delete", items),
    };
    let mut text = String::new();
    for item in named {
        text.push_str(&format!("{verb} {} ({})\n", name(item), bytes(item.bytes)));
    }
    for kept in kept {
        text.push_str(&format!("kept {}: {}\n", name(&kept.item), kept.reason));
    }
    text.push_str(&match named.len() {
        0 if kept.is_empty() => "Nothing to delete.\n".to_owned(),
        files => format!(
            "{verb} {} in all, {}\n",
            count(files as u64, "file", "files"),
            bytes(named.iter().map(|item| item.bytes).sum())
        ),
    });
    output::page(&text)?;
    Ok(outcome)
}

fn name(item: &PurgeItem) -> String {
    clean(&item.path.display().to_string())
}

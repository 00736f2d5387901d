//! `longhaul purge`: deletes own sessions and says which (G2).

use std::io::{BufRead, IsTerminal, Write};
use std::time::{Duration, SystemTime};

use longhaul_store::layout::{Home, SessionId};
use longhaul_store::purge::{self, PurgePlan, PurgeReport, PurgeWhat};
use serde_json::json;

use crate::args::Purge as Command;
use crate::failure::{Failure, Outcome, tell, warn};
use crate::settings::Given;
use crate::terminal::{bytes, cut};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(crate) fn run(command: &Command, given: &Given) -> Result<Outcome, Failure> {
    let config = given.resolve(Vec::new())?;
    let home = Home::longhaul(&given.env)?;
    let what = what(command, config.retention_days)?;
    let plan = purge::plan(&home, &what, SystemTime::now())?;
    for problem in plan.problems() {
        warn(&problem.to_string());
    }
    if command.dry_run || plan.items().is_empty() {
        return print(command, &plan, None);
    }
    if !command.yes && !confirmed(&plan)? {
        tell("Nothing was deleted.");
        return Ok(Outcome::Fine);
    }
    let report = plan.execute();
    print(command, &plan, Some(&report))
}

fn what(command: &Command, retention: Option<u32>) -> Result<PurgeWhat, Failure> {
    if command.all {
        return Ok(PurgeWhat::Everything);
    }
    if let Some(id) = &command.session {
        return SessionId::parse(id)
            .map(PurgeWhat::Session)
            .map_err(|error| Failure::Find(error.into()));
    }
    let days = command.older_than.or(retention).ok_or(Failure::PurgeWhat)?;
    Ok(PurgeWhat::OlderThan(DAY * days))
}

fn confirmed(plan: &PurgePlan) -> Result<bool, Failure> {
    let stdin = std::io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::PurgeUnasked(plan.items().len()));
    }
    for item in plan.items() {
        tell(&format!("  {}", cut(&item.path.display().to_string(), 200)));
    }
    tell(&format!("Delete these {} files ({})? [y/N]", plan.items().len(), bytes(plan.bytes())));
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer).map_err(Failure::Stdin)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn print(command: &Command, plan: &PurgePlan, report: Option<&PurgeReport>) -> Result<Outcome, Failure> {
    let mut out = anstream::stdout().lock();
    let kept = report.map_or(&[][..], PurgeReport::kept);
    let outcome = if kept.is_empty() { Outcome::Fine } else { Outcome::Problems };
    let gone = |path: &std::path::Path| report.is_some() && !kept.iter().any(|kept| kept.path == path);
    let mut write = |line: String| writeln!(out, "{line}").map_err(Failure::Stdout);
    if command.json {
        let files: Vec<_> = plan
            .items()
            .iter()
            .map(|item| {
                json!({
                    "path": item.path,
                    "bytes": item.bytes,
                    "age_seconds": item.age.as_secs(),
                    "deleted": gone(&item.path),
                })
            })
            .collect();
        let kept: Vec<_> = kept.iter().map(|kept| json!({ "path": kept.path, "reason": kept.reason.to_string() })).collect();
        write(format!("{:#}", json!({ "files": files, "kept": kept })))?;
        return Ok(outcome);
    }
    let verb = if report.is_some() { "deleted" } else { "would delete" };
    for item in plan.items().iter().filter(|item| report.is_none() || gone(&item.path)) {
        write(format!("{verb} {} ({})", item.path.display(), bytes(item.bytes)))?;
    }
    for kept in kept {
        write(format!("kept {}: {}", kept.path.display(), kept.reason))?;
    }
    if plan.items().is_empty() {
        write("Nothing to delete.".to_owned())?;
    }
    Ok(outcome)
}

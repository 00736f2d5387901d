//! `longhaul compact --undo`: takes the last compaction back.

use jiff::Timestamp;
use longhaul::undo::{UndoError, UndoMode, UndoResult};
use longhaul_core::config::Config;
use longhaul_core::models::ModelTable;
use serde::Serialize;

use super::destination::CompactDestination;
use super::nothing_to_do;
use crate::args::CompactArgs as Command;
use crate::failure::{CliError, CliOutcome, warn};
use crate::output;
use crate::terminal::grouped;
use crate::text::{clean, count};

#[derive(Serialize)]
struct UndoJson<'a> {
    file: String,
    output: Option<String>,
    undone: &'a str,
    before: u64,
    after: u64,
    later: usize,
}

pub(super) fn run(
    command: &Command,
    place: CompactDestination,
    config: &Config,
    models: &ModelTable,
) -> Result<CliOutcome, CliError> {
    let act = match place.known_as() {
        Some(_) => UndoMode::Write,
        None => UndoMode::Look,
    };
    let undone = match longhaul::undo(place.path(), config, models, act, Timestamp::now()) {
        Ok(undone) => undone,
        Err(error @ UndoError::NotCompacted) => {
            return Ok(nothing_to_do(&command.session, &error.to_string()));
        }
        Err(error) => return Err(CliError::NotUndone(error)),
    };
    let written = place.known_as();
    place.finish()?;
    if undone.after >= undone.limit {
        let (after, limit) = (grouped(undone.after), grouped(undone.limit));
        warn(&format!(
            "the old conversation takes {after} tokens, and the window holds {limit}: the next turn will compact it again"
        ));
    }
    let written = written.map(|path| path.display().to_string());
    let is_written = written.is_some();
    let printed = if command.json {
        output::json(&UndoJson {
            file: command.session.display().to_string(),
            output: written,
            undone: &undone.boundary,
            before: undone.before,
            after: undone.after,
            later: undone.later,
        })
    } else {
        output::page(&page(&undone, written.as_deref()))
    };
    match printed {
        Err(failure) if is_written => failure.warn_after("the last compaction was taken back"),
        printed => printed?,
    }
    Ok(CliOutcome::Fine)
}

fn page(undone: &UndoResult, written: Option<&str>) -> String {
    let sizes = format!(
        "{} → {} tokens",
        grouped(undone.before),
        grouped(undone.after)
    );
    let later = match undone.later {
        0 => "nothing came after it".to_owned(),
        later => {
            let entries = count(later as u64, "entry", "entries");
            format!("{entries} since then kept")
        }
    };
    match written {
        Some(place) => format!(
            "Took the last compaction back: {sizes}; {later}.\nWritten to {}.\n",
            clean(place)
        ),
        None => {
            format!("Would take the last compaction back: {sizes}; {later}. Nothing was changed.\n")
        }
    }
}

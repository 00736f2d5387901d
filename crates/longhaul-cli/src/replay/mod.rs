//! `longhaul replay`: what recorded sessions would have cost under other policies.
//!
//! The figures are computed in `longhaul_core::replay`. This module reads the files (`sessions.rs`), adds them
//! up (`totals.rs`) and shows them: as a page of text (`page.rs`), as JSON (`json.rs`), as a web page (`html/`).
//! `notes.rs` says what was assumed.

mod html;
mod json;
mod notes;
mod page;
mod policy_names;
mod sessions;
mod totals;

use std::io::Write;
use std::path::Path;

use longhaul_core::models::ModelTable;
use longhaul_core::prompt::Ttl;
use longhaul_core::replay::{ReplayWindow, ReplayedHost};
use longhaul_core::window::{WindowInput, WindowSettings, WindowStatus};

use crate::args::{ReplayArgs as Command, TtlArg};
use crate::failure::{CliError, CliOutcome, tell};
use crate::output;
use crate::settings::{self, CommandSettings, given_flags};
use sessions::ReplayedSessions;
use totals::ReplayTotals;

/// What the sessions are replayed with.
struct ReplayBasis {
    models: ModelTable,
    model: Option<String>,
    ttl: Option<Ttl>,
    windows: Vec<ReplayWindow>,
    host: ReplayedHost,
}

/// Everything that is shown.
struct ReplayResult {
    basis: ReplayBasis,
    sessions: ReplayedSessions,
    totals: ReplayTotals,
}

pub(crate) fn run(command: &Command, given: &CommandSettings) -> Result<CliOutcome, CliError> {
    let config = given.resolve(given_flags([("models.file", &command.models)]))?;
    let basis = ReplayBasis {
        models: settings::models(&config)?,
        model: command.model.clone(),
        ttl: command.ttl.map(|ttl| match ttl {
            TtlArg::FiveMinutes => Ttl::FiveMinutes,
            TtlArg::OneHour => Ttl::OneHour,
        }),
        windows: windows(&command.windows),
        host: if command.gateway {
            ReplayedHost::Gateway
        } else {
            ReplayedHost::Session
        },
    };
    check(&basis)?;
    if let Some(path) = command.html.as_deref().filter(|_| !command.force)
        && path.exists()
    {
        return Err(CliError::PageExists {
            path: path.to_owned(),
        });
    }
    let sessions = sessions::read(&command.targets, &given.env, &basis)?;
    let totals = ReplayTotals::of(&sessions);
    let result = ReplayResult {
        basis,
        sessions,
        totals,
    };
    if let Some(path) = &command.html {
        write(path, &html::render(&result))?;
        tell(&format!("The page is in {}.", path.display()));
    }
    if command.json {
        output::json(&json::ReplayJson::of(&result))?;
    } else {
        output::page(&page::render(&result))?;
    }
    Ok(if result.sessions.replayed.is_empty() {
        CliOutcome::NothingToDo
    } else if result.has_problems() {
        CliOutcome::Problems
    } else {
        CliOutcome::Fine
    })
}

impl ReplayResult {
    /// Whether something was left out or could not be read.
    fn has_problems(&self) -> bool {
        !self.sessions.apart.is_empty() || self.totals.facts.damaged_lines > 0
    }
}

/// The windows to replay in: those that were given, each once, or the model's own.
fn windows(given: &[u64]) -> Vec<ReplayWindow> {
    let mut windows: Vec<ReplayWindow> = Vec::new();
    for window in given {
        let window = ReplayWindow::Tokens(*window);
        if !windows.contains(&window) {
            windows.push(window);
        }
    }
    if windows.is_empty() {
        windows.push(ReplayWindow::Own);
    }
    windows
}

/// Refuses windows and models that no session could be replayed with, before anything is read.
fn check(basis: &ReplayBasis) -> Result<(), CliError> {
    for window in &basis.windows {
        if let ReplayWindow::Tokens(window) = *window {
            WindowStatus::new(&WindowInput {
                window,
                max_output: u64::MAX,
                used: 0,
                settings: WindowSettings::default(),
            })?;
        }
    }
    if let Some(model) = &basis.model
        && basis.models.resolve(model).spec.prices.is_none()
    {
        return Err(CliError::UnpricedModel(model.clone()));
    }
    Ok(())
}

/// Writes a page so that it is there as a whole or not at all.
fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let failed = |source| CliError::Write {
        path: path.to_owned(),
        source,
    };
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let written = std::fs::File::create(&part).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&part, path)
    });
    written.map_err(|source| {
        // Best effort: the error that matters is the first one.
        let _ = std::fs::remove_file(&part);
        failed(source)
    })
}

/// How a window is called.
fn window_name(window: ReplayWindow) -> String {
    match window {
        ReplayWindow::Own => "the model's own window".to_owned(),
        ReplayWindow::Tokens(tokens) => format!("a window of {}", crate::terminal::short(tokens)),
    }
}

//! `longhaul inspect`: what is in a conversation's window, what it costs, how near the limits are.
//!
//! The figures are computed in `longhaul_core::inspect`; this module reads the files (`../target.rs`, `../reading.rs`)
//! and shows the figures, for one file (`page/`) or a folder (`folder/`).

mod folder;
pub(crate) mod level;
mod page;
mod sub_agents;

use longhaul_core::config::Config;
use longhaul_core::inspect::{Inspection, InspectionReport};
use longhaul_core::models::ModelTable;
use longhaul_core::window::WindowSettings;

use crate::args::InspectArgs as Command;
use crate::failure::{CliError, CliOutcome, tell};
use crate::output;
use crate::reading;
use crate::settings::{self, CommandSettings};
use crate::target::InspectionTarget;
use crate::text::clean;
use page::ListedTurns;
use sub_agents::SubAgentFiles;

/// The settings that reports are made with.
pub(crate) struct ReportBasis {
    models: ModelTable,
    window: WindowSettings,
    /// The model to count with where a transcript names none.
    model: Option<String>,
}

impl ReportBasis {
    pub(crate) fn new(config: &Config) -> Result<Self, CliError> {
        Ok(Self {
            models: settings::models(config)?,
            window: config.window_settings(),
            model: config.model.clone(),
        })
    }

    pub(crate) fn report(&self, inspection: Inspection) -> Result<InspectionReport, CliError> {
        inspection
            .report(&self.models, &self.window, self.model.as_deref())
            .map_err(CliError::Window)
    }
}

pub(crate) fn run(command: &Command, given: &CommandSettings) -> Result<CliOutcome, CliError> {
    let config = given.resolve(settings::window_flags(&command.window))?;
    let basis = ReportBasis::new(&config)?;
    let mut sub_agents = SubAgentFiles::default();
    let (name, inspection) = match InspectionTarget::find(&command.target, &given.env)? {
        InspectionTarget::Folder(path) => return folder::run(command, &path, &basis),
        InspectionTarget::File(path) => {
            let read = reading::file(&path)?;
            if !command.json {
                sub_agents = SubAgentFiles::beside(&path, &basis);
            }
            (path.display().to_string(), read)
        }
        InspectionTarget::Stdin => {
            let read = reading::inspection(reading::stdin(), reading::STDIN, CliError::Stdin)?;
            (reading::STDIN.to_owned(), read)
        }
    };
    let report = basis.report(inspection)?;
    if report.entries == 0 && report.problems.is_empty() {
        tell(&format!("{}: no entries yet.", clean(&name)));
    }
    if command.json {
        let file = Some(name).filter(|_| command.target.as_os_str() != "-");
        output::json(&FileReport {
            file,
            report: &report,
        })?;
    } else {
        let turns = if command.turns {
            ListedTurns::All
        } else {
            ListedTurns::Last
        };
        output::page(&page::render(&name, &report, &sub_agents, turns))?;
    }
    Ok(if report.problems.is_empty() {
        CliOutcome::Fine
    } else {
        CliOutcome::Problems
    })
}

/// A report and the file that it is about; none for standard input.
#[derive(serde::Serialize)]
struct FileReport<'a> {
    file: Option<String>,
    #[serde(flatten)]
    report: &'a InspectionReport,
}

//! `longhaul inspect`: what is in a conversation's window, what it costs, how near the limits are.
//!
//! The figures are made in `longhaul_core::inspect`; here they are fetched (`../target.rs`, `../reading.rs`) and shown, for
//! one file (`page/`) or a folder (`folder/`).

mod folder;
mod level;
mod page;

use longhaul_core::config::Config;
use longhaul_core::inspect::{Inspection, Report};
use longhaul_core::models::ModelTable;
use longhaul_core::window::Settings;

use crate::args::Inspect as Command;
use crate::failure::{Failure, Outcome, tell};
use crate::output;
use crate::reading;
use crate::settings::{self, Given};
use crate::target::Target;
use crate::text::clean;
use page::Turns;

/// What reports are made with.
struct Basis {
    models: ModelTable,
    window: Settings,
    /// The model to count with where a transcript names none.
    model: Option<String>,
}

impl Basis {
    fn new(config: &Config) -> Result<Self, Failure> {
        Ok(Self {
            models: settings::models(config)?,
            window: config.window_settings(),
            model: config.model.clone(),
        })
    }

    fn report(&self, inspection: Inspection) -> Result<Report, Failure> {
        inspection
            .report(&self.models, &self.window, self.model.as_deref())
            .map_err(Failure::Window)
    }
}

pub(crate) fn run(command: &Command, given: &Given) -> Result<Outcome, Failure> {
    let config = given.resolve(settings::window_flags(&command.window))?;
    let basis = Basis::new(&config)?;
    let (name, inspection) = match Target::find(&command.target, &given.env)? {
        Target::Folder(path) => return folder::run(command, &path, &basis),
        Target::File(path) => (path.display().to_string(), reading::file(&path)?),
        Target::Stdin => {
            let read = reading::inspection(reading::stdin(), reading::STDIN, Failure::Stdin)?;
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
            Turns::All
        } else {
            Turns::Last
        };
        output::page(&page::render(&name, &report, turns))?;
    }
    Ok(match report.problems.is_empty() {
        true => Outcome::Fine,
        false => Outcome::Problems,
    })
}

/// A report and the file that it is about; none for standard input.
#[derive(serde::Serialize)]
struct FileReport<'a> {
    file: Option<String>,
    #[serde(flatten)]
    report: &'a Report,
}

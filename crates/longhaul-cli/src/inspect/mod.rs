//! `longhaul inspect`: what is in a conversation's window, what it costs, how near the limits are.
//!
//! The figures are made in `longhaul_core::inspect`; here they are fetched (`target.rs`, `reading.rs`) and shown, for
//! one file (`page.rs`, with pictures from `picture.rs`) or a folder (`folder.rs`).

mod folder;
mod page;
mod picture;
mod reading;
mod target;

use std::io::Write;

use longhaul_core::config::Config;
use longhaul_core::inspect::Report;
use longhaul_core::models::ModelTable;
use longhaul_core::window::Settings;

use crate::args::Inspect as Command;
use crate::failure::{Failure, Outcome, tell};
use crate::settings::{self, Given};
use target::Target;

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
}

pub(crate) fn run(command: &Command, given: &Given) -> Result<Outcome, Failure> {
    let config = given.resolve(settings::window_flags(&command.window))?;
    let basis = Basis::new(&config)?;
    let (name, report) = match Target::find(&command.target, &given.env)? {
        Target::Folder(path) => return folder::run(command, &path, &basis),
        Target::File(path) => (path.display().to_string(), reading::file(&path, &basis)?),
        Target::Stdin => ("standard input".to_owned(), reading::stdin(&basis)?),
    };
    if report.entries == 0 && report.problems.is_empty() {
        tell(&format!("{name} is empty: no entries yet."));
    }
    let mut out = anstream::stdout().lock();
    if command.json {
        let file = Some(name.clone()).filter(|_| command.target != "-");
        print_json(
            &mut out,
            &FileReport {
                file,
                report: &report,
            },
        )?;
    } else {
        out.write_all(page::render(&name, &report, command.turns).as_bytes())
            .map_err(Failure::Stdout)?;
    }
    Ok(match report.problems.is_empty() {
        true => Outcome::Fine,
        false => Outcome::Problems,
    })
}

/// A report and the file that it is about.
#[derive(serde::Serialize)]
struct FileReport<'a> {
    file: Option<String>,
    #[serde(flatten)]
    report: &'a Report,
}

fn print_json(out: &mut impl Write, object: &impl serde::Serialize) -> Result<(), Failure> {
    let mut write = || {
        serde_json::to_writer_pretty(&mut *out, object)?;
        writeln!(out)
    };
    write().map_err(Failure::Stdout)
}

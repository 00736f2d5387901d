//! `longhaul notes`: prints the notes of a session, or says why there are none (S1).

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use longhaul_core::config::Config;
use longhaul_core::notes::{NotesCaps, NotesProgress, NotesTemplate, SessionNotes};
use longhaul_core::tokens::RoughEstimator;
use longhaul_core::window::{SwitchVerdict, SwitchableAction, WindowScale};
use longhaul_store::layout::NotesFiles;
use longhaul_store::notes::NotesFolder;
use serde_json::{Value, json};

use crate::args::NotesArgs as Command;
use crate::failure::{CliError, CliOutcome, tell};
use crate::output;
use crate::reading;
use crate::settings::CommandSettings;
use crate::target::InspectionTarget;
use crate::terminal::grouped;
use crate::text::{clean, clean_lines};

/// The state of the notes file.
enum NotesFile {
    Noted(SessionNotes),
    /// The file holds only the template.
    Untouched(SessionNotes),
    Nothing,
}

/// What is kept beside a transcript.
#[derive(Default)]
struct KeptNotes {
    notes: Option<String>,
    template: Option<String>,
    progress: Option<String>,
}

pub(crate) fn run(command: &Command, given: &CommandSettings) -> Result<CliOutcome, CliError> {
    let config = given.resolve(Vec::new())?;
    let transcript = match InspectionTarget::find(&command.session, &given.env)? {
        InspectionTarget::File(path) => path,
        InspectionTarget::Folder(_) | InspectionTarget::Stdin => {
            return Err(CliError::NotOneSession {
                path: command.session.clone(),
            });
        }
    };
    reading::refuse_no_transcript(&transcript)?;
    let files = NotesFiles::of_transcript(&transcript);
    let path = files.notes();
    let kept = kept(&transcript)?;
    let found = found(kept.notes.as_deref(), kept.template.as_deref());
    if command.path {
        output::bytes([path.as_os_str().as_encoded_bytes(), b"\n"])?;
    } else if command.json {
        output::json(&object(&transcript, &files, &found, &kept))?;
    } else if let (NotesFile::Noted(notes), Some(text)) = (&found, &kept.notes) {
        if std::io::stdout().is_terminal() {
            output::page(&format!("{}\n", clean_lines(notes.text())))?
        } else {
            output::bytes([text])?
        }
    }
    match found {
        NotesFile::Noted(_) => Ok(CliOutcome::Fine),
        NotesFile::Untouched(_) | NotesFile::Nothing => {
            tell(&why_none(&found, &path, &config));
            Ok(CliOutcome::NothingFound)
        }
    }
}

/// Reads what is kept beside a transcript: regular files of a sensible size alone, and never through a link.
fn kept(transcript: &Path) -> Result<KeptNotes, CliError> {
    let Some(folder) = NotesFolder::of_transcript(transcript) else {
        return Ok(KeptNotes::default());
    };
    Ok(KeptNotes {
        notes: folder.notes()?,
        template: folder.template()?,
        progress: folder.progress()?,
    })
}

fn found(notes: Option<&str>, template: Option<&str>) -> NotesFile {
    let Some(notes) = notes else {
        return NotesFile::Nothing;
    };
    let notes = SessionNotes::parse(notes);
    let template = template.map_or_else(NotesTemplate::default, NotesTemplate::custom);
    // Notes of another program began with another template, but blank sections are blank in any.
    if template.is_untouched(&notes) {
        NotesFile::Untouched(notes)
    } else {
        NotesFile::Noted(notes)
    }
}

fn why_none(found: &NotesFile, path: &Path, config: &Config) -> String {
    let place = clean(&path.display().to_string());
    let what = match found {
        NotesFile::Untouched(_) => format!("Nothing is noted yet: {place} is still the template."),
        _ => format!("There are no notes: {place} does not exist."),
    };
    let why = match config.switches.decide(SwitchableAction::Notes) {
        SwitchVerdict::Off(_) => {
            "Session notes are switched off; `longhaul config --explain` says by what.".to_owned()
        }
        SwitchVerdict::Allowed => format!(
            "They are taken while an agent works, from {} tokens in the window on.",
            grouped(config.notes.start_tokens)
        ),
    };
    format!("{what} {why}")
}

/// The notes for programs. docs/notes.md says what the fields mean.
fn object(transcript: &Path, files: &NotesFiles, found: &NotesFile, kept: &KeptNotes) -> Value {
    let progress = kept.progress.as_deref();
    let progress = progress.and_then(|text| NotesProgress::read(text.as_bytes()));
    let (state, notes) = match found {
        NotesFile::Noted(notes) => ("noted", Some(notes)),
        NotesFile::Untouched(notes) => ("untouched", Some(notes)),
        NotesFile::Nothing => ("none", None),
    };
    // The window of the session is not known here; these are the caps for all but small windows.
    let caps = NotesCaps::at(WindowScale::of_window(u64::MAX));
    let weigh = |text: &str| RoughEstimator::text(text).unpadded();
    let sections = notes
        .into_iter()
        .flat_map(SessionNotes::sections)
        .map(|section| {
            let tokens = weigh(section.body);
            json!({
                "title": section.title,
                "description": section.description,
                "body": section.body,
                "tokens": tokens,
                "over": tokens > caps.section,
            })
        });
    let shown = |path: PathBuf| path.display().to_string();
    json!({
        "file": shown(transcript.to_owned()),
        "path": shown(files.notes()),
        "state": state,
        "tokens": notes.map_or(0, |notes| weigh(notes.text())),
        "last_summarized_uuid": progress.map(|progress| progress.last_summarized_uuid),
        "sections": sections.collect::<Vec<_>>(),
    })
}

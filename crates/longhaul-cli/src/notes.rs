//! `longhaul notes`: prints the notes of a session, or says why there are none (S1).

use std::io::{ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};

use longhaul_core::config::Config;
use longhaul_core::notes::{Caps, Notes, Progress, Template};
use longhaul_core::tokens::Rough;
use longhaul_core::window::{Action, Scale, Verdict};
use longhaul_store::layout::NotesFiles;
use serde_json::{Value, json};

use crate::args::Notes as Command;
use crate::failure::{Failure, Outcome, tell};
use crate::output;
use crate::settings::Given;
use crate::target::Target;
use crate::terminal::grouped;
use crate::text::{clean, clean_lines};

/// What lies in the place of the notes.
enum Found {
    Noted(Notes),
    /// Only the template.
    Untouched(Notes),
    Nothing,
}

pub(crate) fn run(command: &Command, given: &Given) -> Result<Outcome, Failure> {
    let config = given.resolve(Vec::new())?;
    let transcript = match Target::find(&command.session, &given.env)? {
        Target::File(path) => path,
        Target::Folder(_) | Target::Stdin => {
            return Err(Failure::NotOneSession {
                path: command.session.clone(),
            });
        }
    };
    let files = NotesFiles::of_transcript(&transcript);
    let path = files.notes();
    let bytes = read(&path)?;
    let found = found(bytes.as_deref(), read(&files.template())?.as_deref());
    if command.path {
        output::bytes([path.as_os_str().as_encoded_bytes(), b"\n"])?;
    } else if command.json {
        output::json(&object(&transcript, &files, &found)?)?;
    } else if let (Found::Noted(notes), Some(bytes)) = (&found, &bytes) {
        match std::io::stdout().is_terminal() {
            true => output::page(&format!("{}\n", clean_lines(notes.text())))?,
            false => output::bytes([bytes])?,
        }
    }
    match found {
        Found::Noted(_) => Ok(Outcome::Fine),
        Found::Untouched(_) | Found::Nothing => {
            tell(&why_none(&found, &path, &config));
            Ok(Outcome::NothingFound)
        }
    }
}

/// The content of a file; none if it does not exist.
fn read(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        // A file where a folder should be is no notes, either.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(source) => Err(Failure::Read {
            path: path.to_owned(),
            source,
        }),
    }
}

fn found(notes: Option<&[u8]>, template: Option<&[u8]>) -> Found {
    let Some(notes) = notes else {
        return Found::Nothing;
    };
    let notes = Notes::parse(String::from_utf8_lossy(notes));
    let template = template.map_or_else(Template::default, |template| {
        Template::custom(&String::from_utf8_lossy(template))
    });
    // Notes of another program began as another template, but blank is blank in any.
    match template.is_untouched(&notes) {
        true => Found::Untouched(notes),
        false => Found::Noted(notes),
    }
}

fn why_none(found: &Found, path: &Path, config: &Config) -> String {
    let place = clean(&path.display().to_string());
    let what = match found {
        Found::Untouched(_) => format!("Nothing is noted yet: {place} is still the template."),
        _ => format!("There are no notes: {place} does not exist."),
    };
    let why = match config.switches.decide(Action::Notes) {
        Verdict::Off(_) => {
            "Session notes are switched off; `longhaul config --explain` says by what.".to_owned()
        }
        Verdict::Allowed => format!(
            "They are taken while an agent works, from {} tokens in the window on.",
            grouped(config.notes.start_tokens)
        ),
    };
    format!("{what} {why}")
}

/// What was found, for programs. docs/notes.md says what the fields mean.
fn object(transcript: &Path, files: &NotesFiles, found: &Found) -> Result<Value, Failure> {
    let progress = read(&files.progress())?.and_then(|bytes| Progress::read(&bytes));
    let (state, notes) = match found {
        Found::Noted(notes) => ("noted", Some(notes)),
        Found::Untouched(notes) => ("untouched", Some(notes)),
        Found::Nothing => ("none", None),
    };
    // The window of the session is not known here; these are the caps of all but small ones.
    let caps = Caps::at(Scale::of_window(u64::MAX));
    let weigh = |text: &str| Rough::text(text).unpadded();
    let sections = notes.into_iter().flat_map(Notes::sections).map(|section| {
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
    Ok(json!({
        "file": shown(transcript.to_owned()),
        "path": shown(files.notes()),
        "state": state,
        "tokens": notes.map_or(0, |notes| weigh(notes.text())),
        "last_summarized_uuid": progress.map(|progress| progress.last_summarized_uuid),
        "sections": sections.collect::<Vec<_>>(),
    }))
}

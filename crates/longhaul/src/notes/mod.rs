//! The agent that takes session notes (S3): asks behind the conversation, changes the one file and nothing else.
//!
//! When notes are due, what is asked and what an answer may change are decided in [`longhaul_core::notes`]; files are
//! [`longhaul_store::notes`]'s. Here one run is performed: `agent` asks and answers, `edit` changes the text in memory,
//! `draft` keeps what is to be written and puts it on disk.

mod agent;
mod draft;
mod edit;

use std::path::Path;

use longhaul_core::engine::NotesOnDisk;
use longhaul_core::notes::{NotesProgress, NotesTemplate};
use longhaul_store::{NotesError, NotesFolder};
use serde_json::Value;

pub use agent::take;
pub use edit::{NotesEdit, NotesEditError};

/// Where the notes of a session are.
#[derive(Debug)]
pub struct NotesLocation {
    folder: NotesFolder,
    /// Held by a run. One that was ended may let go of it a moment later than its session was told.
    run: tokio::sync::Mutex<()>,
}

impl NotesLocation {
    /// That of the session with this transcript; none where its name leaves no room for a folder beside it.
    pub fn of_transcript(transcript: &Path) -> Option<Self> {
        // The model is told the path, and tools that edit want a whole one.
        let transcript = std::path::absolute(transcript).ok()?;
        let folder = NotesFolder::of_transcript(&transcript)?;
        Some(Self {
            folder,
            run: tokio::sync::Mutex::new(()),
        })
    }

    /// The folder.
    pub fn folder(&self) -> &NotesFolder {
        &self.folder
    }

    /// The path of the notes as the model is told.
    pub fn shown(&self) -> String {
        self.folder.files().notes().display().to_string()
    }

    /// How far the notes reach; none if that is not known.
    pub fn reach(&self) -> Option<NotesProgress> {
        let progress = known(self.folder.progress())?;
        let read = NotesProgress::read(progress.as_bytes());
        if read.is_none() {
            tracing::warn!(path = %self.folder.files().progress().display(), "it does not say how far the notes reach");
        }
        read
    }

    /// All of it. What cannot be read is not there.
    pub fn on_disk(&self) -> NotesOnDisk {
        // How far they reach is read first: notes that are written meanwhile hold more than that, never less.
        let reach = self.reach();
        NotesOnDisk {
            text: known(self.folder.notes()),
            template: Some(self.template()),
            reach,
        }
    }

    /// What notes begin as.
    pub(crate) fn template(&self) -> NotesTemplate {
        let custom = known(self.folder.template());
        custom.map_or_else(NotesTemplate::default, |text| NotesTemplate::custom(&text))
    }

    /// What the user wants asked in place of our words.
    pub(crate) fn prompt(&self) -> Option<String> {
        known(self.folder.prompt())
    }
}

fn known(read: Result<Option<String>, NotesError>) -> Option<String> {
    read.unwrap_or_else(|error| {
        tracing::warn!(%error, "left out");
        None
    })
}

/// The tool among these that edits files the way the agent does, if there is one.
pub(crate) fn edit_tool(tools: &[Value]) -> Option<String> {
    const NAME: &str = "Edit";
    let takes = |tool: &Value| {
        let fields = &tool["input_schema"]["properties"];
        ["file_path", "old_string", "new_string"]
            .iter()
            .all(|field| fields.get(field).is_some())
    };
    let mut named = tools.iter().filter(|tool| tool["name"] == NAME);
    named.any(takes).then(|| NAME.to_owned())
}

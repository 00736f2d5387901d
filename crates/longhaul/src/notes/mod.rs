//! The agent that takes session notes (S3): it sends a request after the conversation, and changes one file and nothing
//! else.
//!
//! When notes are due, what is asked and what an answer may change are decided in [`longhaul_core::notes`];
//! [`longhaul_store::notes`] handles the files. This module performs one run: `agent` asks and answers, `edit` changes
//! the text in memory, `draft` holds what is to be written and writes it.

mod agent;
mod draft;
mod edit;

use std::path::Path;

use longhaul_core::engine::NotesOnDisk;
use longhaul_core::notes::{NotesProgress, NotesTemplate};
use longhaul_store::{NotesError, NotesFolder};
use serde_json::Value;

pub use agent::take;
pub(crate) use edit::NotesEdit;
pub use edit::NotesEditError;

/// Where the notes of a session are.
#[derive(Debug)]
pub struct NotesLocation {
    folder: NotesFolder,
    /// Held by a run. A run that was ended may release it a moment after its session was told.
    run: tokio::sync::Mutex<()>,
}

impl NotesLocation {
    /// The location for the session with this transcript; `None` where the file name leaves no room for a folder beside
    /// it.
    pub fn of_transcript(transcript: &Path) -> Option<Self> {
        // The model is told the path, and editing tools need an absolute one.
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

    /// The path of the notes, as the model sees it.
    pub fn shown(&self) -> String {
        self.folder.files().notes().display().to_string()
    }

    /// The last entry that the notes cover; `None` if that is not known.
    pub fn reach(&self) -> Option<NotesProgress> {
        let progress = known(self.folder.progress())?;
        let read = NotesProgress::read(progress.as_bytes());
        if read.is_none() {
            tracing::warn!(path = %self.folder.files().progress().display(), "it does not say how far the notes reach");
        }
        read
    }

    /// Reads the notes, their template and how far they reach. Files that cannot be read count as missing.
    pub fn on_disk(&self) -> NotesOnDisk {
        // How far they reach is read first: notes that are written meanwhile cover more than that, never less.
        let reach = self.reach();
        NotesOnDisk {
            text: known(self.folder.notes()),
            template: Some(self.template()),
            reach,
        }
    }

    /// The text that new notes begin with.
    pub(crate) fn template(&self) -> NotesTemplate {
        let custom = known(self.folder.template());
        custom.map_or_else(NotesTemplate::default, |text| NotesTemplate::custom(&text))
    }

    /// The user's own prompt in place of ours.
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

/// The tool among these that edits files in the way that the notes agent needs, if there is one.
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

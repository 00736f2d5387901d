//! Touched files: paths given to file tools, with the last action on each (X1, ruling 14).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::hash::Map;
use crate::json::ObjectReader;

/// The most files that are kept; those untouched for the longest time are dropped and counted.
const MOST: usize = 2_000;

/// What a tool does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FileAction {
    /// The tool reads the file.
    Read,
    /// The tool writes the whole file.
    Write,
    /// The tool changes a part of the file.
    Edit,
}

/// A tool that works on files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileTool {
    /// The tool's name.
    pub name: String,
    /// The input field that holds the path.
    pub path: String,
    /// The tool's action.
    pub action: FileAction,
    /// For a tool with several actions: the value of its `command` field for this action.
    pub command: Option<String>,
}

impl FileTool {
    /// Whether a call is one of this tool: agents share tool names, but use their own names for the path field.
    pub(crate) fn is_called(&self, name: &[u8], input: ObjectReader<'_>) -> bool {
        let does_this =
            |command: &String| input.string("command").as_deref() == Some(command.as_str());
        self.name.as_bytes() == name
            && input.string(&self.path).is_some()
            && self.command.as_ref().is_none_or(does_this)
    }

    /// The file tools that hosts commonly have.
    pub fn builtin() -> Vec<Self> {
        let tool = |name: &str, path: &str, action| Self {
            name: name.to_owned(),
            path: path.to_owned(),
            action,
            command: None,
        };
        vec![
            tool("Read", "file_path", FileAction::Read),
            tool("Write", "file_path", FileAction::Write),
            tool("Edit", "file_path", FileAction::Edit),
            tool("MultiEdit", "file_path", FileAction::Edit),
            tool("NotebookRead", "notebook_path", FileAction::Read),
            tool("NotebookEdit", "notebook_path", FileAction::Edit),
        ]
    }
}

/// A file that the session worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TouchedFile {
    /// The path, as the tool was given it.
    pub path: String,
    /// The last successful action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<FileAction>,
    /// The failed action since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<FileAction>,
    /// When the file was last touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The number of the last touch, counted through the session: a higher number is newer.
    #[serde(default)]
    pub touch: u64,
}

impl TouchedFile {
    /// The state in words: read, written, edited, and whether the last attempt failed.
    pub fn state(&self) -> &'static str {
        use FileAction::{Edit, Read, Write};
        match (self.done, self.failed) {
            (Some(Read), None) => "read",
            (Some(Write), None) => "written",
            (Some(Edit), None) => "edited",
            (Some(Read), Some(Read)) => "read, then reading failed",
            (Some(Read), Some(_)) => "read, then a change failed",
            (Some(_), Some(Read)) => "changed, then reading failed",
            (Some(_), Some(_)) => "changed, then a change failed",
            (None, Some(Read)) => "reading failed",
            (None, Some(_)) => "a change failed",
            (None, None) => "asked for",
        }
    }

    /// Whether the session changed the file.
    pub(crate) fn is_changed(&self) -> bool {
        matches!(self.done, Some(FileAction::Write | FileAction::Edit))
    }
}

/// The outcome of a call on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileCallOutcome {
    Asked,
    Done,
    Failed,
}

/// All files of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct TouchedFiles {
    files: Vec<TouchedFile>,
    index: Map<String, usize>,
    touches: u64,
    pub(super) dropped: u32,
}

impl TouchedFiles {
    pub(super) fn continued(files: Vec<TouchedFile>, dropped: u32) -> Self {
        let index = (0..).zip(&files).map(|(at, file)| (file.path.clone(), at));
        Self {
            index: index.collect(),
            touches: files.iter().map(|file| file.touch).max().unwrap_or(0),
            files,
            dropped,
        }
    }

    pub(super) fn touch(
        &mut self,
        path: &str,
        action: FileAction,
        outcome: FileCallOutcome,
        at: Option<Timestamp>,
    ) {
        self.touches += 1;
        let place = match self.index.get(path) {
            Some(place) => *place,
            None => self.add(path),
        };
        let file = &mut self.files[place];
        file.touch = self.touches;
        file.at = at.or(file.at);
        match outcome {
            FileCallOutcome::Asked => {}
            FileCallOutcome::Failed => file.failed = Some(action),
            FileCallOutcome::Done => {
                // A read does not change the fact that the session changed the file.
                if action != FileAction::Read || !file.is_changed() {
                    file.done = Some(action);
                }
                file.failed = None;
            }
        }
    }

    fn add(&mut self, path: &str) -> usize {
        if self.files.len() >= 2 * MOST {
            let kept = self.newest().into_iter().take(MOST).cloned().collect();
            let dropped = self.dropped + MOST as u32;
            let touches = self.touches;
            *self = Self::continued(kept, dropped);
            self.touches = touches;
        }
        self.files.push(TouchedFile {
            path: path.to_owned(),
            done: None,
            failed: None,
            at: None,
            touch: 0,
        });
        self.index.insert(path.to_owned(), self.files.len() - 1);
        self.files.len() - 1
    }

    /// The files, the newest first.
    pub(super) fn newest(&self) -> Vec<&TouchedFile> {
        let mut files: Vec<_> = self.files.iter().collect();
        files.sort_by_key(|file| std::cmp::Reverse(file.touch));
        files
    }

    /// The number of touches of all files.
    pub(super) fn touches(&self) -> u64 {
        self.touches
    }

    pub(super) fn len(&self) -> usize {
        self.files.len()
    }
}

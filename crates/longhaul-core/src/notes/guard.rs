//! The permissions of the agent that takes notes (S3): it may edit one file with one tool. All other calls are refused
//! and counted.
//!
//! The guard judges a call before it runs. [`SessionNotes::allows`](super::SessionNotes::allows) then checks that the
//! edit left headings and descriptions in place.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Judges the calls of one run.
#[derive(Debug, Clone)]
pub struct NotesGuard {
    tool: String,
    path: PathBuf,
    refusals: NotesRefusalCounts,
}

/// Whether a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotesCallVerdict {
    /// The call edits the notes and may run.
    Allowed,
    /// The call is refused.
    Refused(NotesCallRefusal),
}

/// Why a call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotesCallRefusal {
    /// The call uses another tool.
    OtherTool,
    /// The call names another file, alone or beside the notes.
    OtherFile,
    /// The call does not name a file.
    NoFile,
}

/// How many calls were refused in a run, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NotesRefusalCounts {
    /// Calls of other tools.
    pub other_tool: u64,
    /// Edits of other files.
    pub other_file: u64,
    /// Edits that do not name a file.
    pub no_file: u64,
}

impl NotesRefusalCounts {
    /// The total number of refused calls.
    pub fn total(self) -> u64 {
        self.other_tool + self.other_file + self.no_file
    }
}

/// The input fields in which tools name their file.
const FILE_FIELDS: [&str; 5] = ["file_path", "path", "filePath", "file", "filename"];

impl NotesGuard {
    /// Creates a guard for a run that may call `tool`, as the parent's tool list names it, on the file at `path`.
    pub fn new(tool: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self {
            tool: tool.into(),
            path: path.into(),
            refusals: NotesRefusalCounts::default(),
        }
    }

    /// Judges a call. The call must be run with this very input, not with the text it was parsed from, in which a field
    /// may be repeated.
    pub fn judge(&mut self, name: &str, input: &Value) -> NotesCallVerdict {
        let refusal = match self.refuses(name, input) {
            None => return NotesCallVerdict::Allowed,
            Some(refusal) => refusal,
        };
        *match refusal {
            NotesCallRefusal::OtherTool => &mut self.refusals.other_tool,
            NotesCallRefusal::OtherFile => &mut self.refusals.other_file,
            NotesCallRefusal::NoFile => &mut self.refusals.no_file,
        } += 1;
        NotesCallVerdict::Refused(refusal)
    }

    fn refuses(&self, name: &str, input: &Value) -> Option<NotesCallRefusal> {
        if name != self.tool {
            return Some(NotesCallRefusal::OtherTool);
        }
        let named: Vec<&Value> = FILE_FIELDS
            .iter()
            .filter_map(|field| input.get(field))
            .collect();
        if named.is_empty() {
            return Some(NotesCallRefusal::NoFile);
        }
        // Every field counts, since it is not known here which of them the tool uses. Paths are not resolved: `..` and
        // links could lead anywhere, and the agent was given the exact path.
        let is_notes = |value: &&Value| value.as_str().map(Path::new) == Some(&*self.path);
        (!named.iter().all(is_notes)).then_some(NotesCallRefusal::OtherFile)
    }

    /// The calls refused so far.
    pub fn refusals(&self) -> NotesRefusalCounts {
        self.refusals
    }

    /// Returns the text that the model gets in place of a result.
    pub fn sentence(&self) -> String {
        let path = self.path.to_string_lossy();
        include_str!("refused.md")
            .trim_end()
            .replace("{tool}", &self.tool)
            .replace("{path}", &path)
    }
}

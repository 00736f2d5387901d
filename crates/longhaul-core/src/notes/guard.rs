//! What the agent that takes notes may do (S3): edit the one file with the one tool. All else is refused and counted.
//!
//! Judges a call before it runs. Whether the edit then left headings and descriptions in place is for
//! [`Notes::allows`](super::Notes::allows) to say.

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
    /// It edits the notes.
    Allowed,
    /// It does not.
    Refused(NotesCallRefusal),
}

/// Why a call is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotesCallRefusal {
    /// It is no edit.
    OtherTool,
    /// It names another file, or another one beside the notes.
    OtherFile,
    /// It names no file.
    NoFile,
}

/// How many calls were refused in a run, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NotesRefusalCounts {
    /// Calls of other tools.
    pub other_tool: u64,
    /// Edits of other files.
    pub other_file: u64,
    /// Edits of nothing that is named.
    pub no_file: u64,
}

impl NotesRefusalCounts {
    /// All of them.
    pub fn total(self) -> u64 {
        self.other_tool + self.other_file + self.no_file
    }
}

/// What tools call the file they work on.
const FILE_FIELDS: [&str; 5] = ["file_path", "path", "filePath", "file", "filename"];

impl NotesGuard {
    /// For a run that may call `tool`, as the parent's tool list names it, on the file at `path`.
    pub fn new(tool: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self {
            tool: tool.into(),
            path: path.into(),
            refusals: NotesRefusalCounts::default(),
        }
    }

    /// Judges a call. It is to be run with this very input, not with the text it was read from, where a field may stand
    /// twice.
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
        // Every name counts: which of them the tool heeds is not known here. Paths are not resolved: `..` and links
        // could lead anywhere, and the agent was told the path as it is.
        let is_notes = |value: &&Value| value.as_str().map(Path::new) == Some(&*self.path);
        (!named.iter().all(is_notes)).then_some(NotesCallRefusal::OtherFile)
    }

    /// What was refused so far.
    pub fn refusals(&self) -> NotesRefusalCounts {
        self.refusals
    }

    /// What the model is told in place of a result.
    pub fn sentence(&self) -> String {
        let path = self.path.to_string_lossy();
        include_str!("refused.md")
            .trim_end()
            .replace("{tool}", &self.tool)
            .replace("{path}", &path)
    }
}

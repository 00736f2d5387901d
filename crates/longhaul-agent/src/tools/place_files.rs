//! The files of a project as Read, Write and Edit see them: where the path of a call leads, and what the model was
//! shown of the file.

use std::sync::Arc;

use serde_json::Value;

use super::input;
use super::judged_paths::JudgedPaths;
use crate::files::{FileCheckpoints, FileState};
use crate::session_paths::SessionPaths;
use crate::tool::ToolAccess;

/// The input field that names the file.
const PATH: &str = "file_path";

/// The files of a project.
pub(super) struct PlaceFiles {
    pub(super) judged: JudgedPaths,
    pub(super) state: Arc<FileState>,
    pub(super) checkpoints: FileCheckpoints,
}

impl PlaceFiles {
    pub(super) fn new(place: &SessionPaths, state: Arc<FileState>) -> Arc<Self> {
        Arc::new(Self {
            judged: JudgedPaths::new(place),
            state,
            checkpoints: FileCheckpoints::of_session(place),
        })
    }

    /// What a call would touch: the file that it names, with this kind of access.
    pub(super) fn access(
        &self,
        input: &Value,
        kind: fn(std::path::PathBuf) -> ToolAccess,
    ) -> ToolAccess {
        self.judged.access(input::text(input, PATH), kind)
    }

    /// The file that a call names, in the form in which it is shown.
    pub(super) fn line(&self, input: &Value) -> String {
        self.judged.line(input::text(input, PATH))
    }
}

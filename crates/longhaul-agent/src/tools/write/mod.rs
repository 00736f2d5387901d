//! Write: writes a whole file, either a new one or in place of one that the model has read.

use std::sync::Arc;

use longhaul_core::figures::counted;
use serde::Deserialize;
use serde_json::Value;

use super::blocking::to_the_end;
use super::diff::unified;
use super::place_files::PlaceFiles;
use super::typed::TypedTool;
use crate::files::{FileFingerprint, FileState, OpenedFile, ReplaceOutcome, UnusableFile, replace};
use crate::session_paths::SessionPaths;
use crate::tool::{CallContext, ToolAccess, ToolCallOutput};

mod known;

pub(super) use known::refuse_unless_known;

/// Writes files.
pub(crate) struct WriteTool(Arc<PlaceFiles>);

#[derive(Deserialize)]
pub(super) struct WriteInput {
    file_path: String,
    content: String,
}

impl WriteTool {
    /// Writes files of this session that the model knows.
    pub(crate) fn new(place: Arc<SessionPaths>, files: Arc<FileState>) -> Self {
        Self(PlaceFiles::new(&place, files))
    }
}

impl TypedTool for WriteTool {
    const NAME: &'static str = "Write";
    const DESCRIPTION: &'static str = include_str!("description.md");
    const SCHEMA: &'static str = include_str!("schema.json");
    type Input = WriteInput;

    fn access(&self, input: &Value) -> ToolAccess {
        self.0.access(input, ToolAccess::Writes)
    }

    fn line(&self, input: &Value) -> String {
        self.0.line(input)
    }

    async fn run(&self, input: WriteInput, call: &CallContext) -> Result<ToolCallOutput, String> {
        let files = self.0.clone();
        to_the_end(&call.cancel, move || write(&files, &input)).await
    }
}

fn write(files: &PlaceFiles, input: &WriteInput) -> Result<ToolCallOutput, String> {
    let (judged, checkpoints, files) = (&files.judged, &files.checkpoints, &files.state);
    let path = judged
        .path(&input.file_path)
        .map_err(|why| why.to_string())?;
    let before = match OpenedFile::regular(&path) {
        Err(UnusableFile::Missing(_)) => String::new(),
        Err(why) => return Err(why.to_string()),
        Ok(opened) if !opened.is_short() => {
            refuse_unless_known(
                files,
                &path,
                &FileFingerprint::at_a_glance(&opened.metadata),
            )?;
            String::new()
        }
        Ok(opened) => {
            let metadata = opened.metadata.clone();
            let content = opened.content().map_err(|why| why.to_string())?;
            refuse_unless_known(files, &path, &FileFingerprint::of(&content, &metadata))?;
            String::from_utf8_lossy(&content).into_owned()
        }
    };
    let pending = checkpoints.before(&path);
    let (made, print) = replace(&path, input.content.as_bytes()).map_err(|why| why.to_string())?;
    pending.changed_to(Some(input.content.as_bytes()));
    files.wrote(&path, print);
    let name = judged.shown(&path);
    let lines = input.content.lines().count();
    let said = match made {
        ReplaceOutcome::New => format!("Created {name} (lines: {lines})."),
        ReplaceOutcome::Changed => format!("Replaced {name} (lines now: {lines})."),
    };
    let line = counted(lines as u64, "line");
    let diff = unified(&name, &before, &input.content);
    Ok(ToolCallOutput::text(said, line).with_detail(diff))
}

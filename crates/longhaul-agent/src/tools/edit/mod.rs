//! Edit: replaces a text in a file that the model has read.

mod change;
mod nearest;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::blocking::to_the_end;
use super::diff::unified;
use super::input;
use super::place_files::PlaceFiles;
use super::typed::TypedTool;
use super::write::refuse_unless_known;
use crate::files::{FileFingerprint, FileState, OpenedFile, UnusableFile, replace};
use crate::session_paths::SessionPaths;
use crate::tool::{CallContext, ToolAccess, ToolCallOutput};
use change::ReplaceScope;

/// Files up to this size are read to show a change before it is made.
const MOST_SHOWN: u64 = 1 << 20;

/// Edits files.
pub(crate) struct EditTool(Arc<PlaceFiles>);

#[derive(Deserialize)]
pub(super) struct EditInput {
    file_path: String,
    old_string: String,
    new_string: String,
    #[serde(default, deserialize_with = "input::switch")]
    replace_all: Option<bool>,
}

impl EditInput {
    fn places(&self) -> ReplaceScope {
        match self.replace_all {
            Some(true) => ReplaceScope::All,
            _ => ReplaceScope::One,
        }
    }
}

impl EditTool {
    /// Edits files of this session that the model knows.
    pub(crate) fn new(place: Arc<SessionPaths>, files: Arc<FileState>) -> Self {
        Self(PlaceFiles::new(&place, files))
    }
}

impl TypedTool for EditTool {
    const NAME: &'static str = "Edit";
    const DESCRIPTION: &'static str = include_str!("description.md");
    const SCHEMA: &'static str = include_str!("schema.json");
    type Input = EditInput;

    fn access(&self, input: &Value) -> ToolAccess {
        self.0.access(input, ToolAccess::Writes)
    }

    fn line(&self, input: &Value) -> String {
        self.0.line(input)
    }

    fn detail(&self, input: &Value) -> String {
        let input = serde_json::from_value(input.clone()).ok();
        let preview = input.and_then(|input| preview(&self.0, &input));
        preview.unwrap_or_default()
    }

    async fn run(&self, input: EditInput, call: &CallContext) -> Result<ToolCallOutput, String> {
        let files = self.0.clone();
        to_the_end(&call.cancel, move || edit(&files, &input)).await
    }
}

/// The change that an edit would make to the file as it is now, or why it would make none.
fn preview(files: &PlaceFiles, input: &EditInput) -> Option<String> {
    let path = files.judged.path(&input.file_path).ok()?;
    let before = match OpenedFile::regular(&path) {
        Err(UnusableFile::Missing(_)) if input.old_string.is_empty() => String::new(),
        Ok(opened) if opened.metadata.len() <= MOST_SHOWN => {
            String::from_utf8(opened.content().ok()?).ok()?
        }
        _ => return None,
    };
    let (old, new) = (&input.old_string, &input.new_string);
    match change::change(&before, old, new, input.places()) {
        Ok(changed) => Some(unified(&files.judged.shown(&path), &before, &changed.text)),
        Err(why) => Some(format!("This edit would change nothing: {why}")),
    }
}

fn edit(files: &PlaceFiles, input: &EditInput) -> Result<ToolCallOutput, String> {
    let (judged, checkpoints, files) = (&files.judged, &files.checkpoints, &files.state);
    if input.old_string == input.new_string {
        return Err(
            "old_string and new_string are the same: there is nothing to change.".to_owned(),
        );
    }
    let path = judged
        .path(&input.file_path)
        .map_err(|why| why.to_string())?;
    let name = judged.shown(&path);
    let before = match OpenedFile::regular(&path) {
        Err(UnusableFile::Missing(_)) if input.old_string.is_empty() => None,
        Err(why) => return Err(why.to_string()),
        Ok(opened) if !opened.is_short() => {
            return Err(format!(
                "{name} is too long to be edited here. Use a command in Bash."
            ));
        }
        Ok(opened) => {
            let metadata = opened.metadata.clone();
            let content = opened.content().map_err(|why| why.to_string())?;
            refuse_unless_known(files, &path, &FileFingerprint::of(&content, &metadata))?;
            let text = String::from_utf8(content).map_err(|_| {
                format!("{name} is not valid UTF-8 and is not edited here. Use a command in Bash.")
            })?;
            Some(text)
        }
    };
    let places = input.places();
    let changed = match &before {
        None => change::ChangedText::new_file(&input.new_string),
        Some(before) => change::change(before, &input.old_string, &input.new_string, places)
            .map_err(|why| format!("{name} was not changed: {why}"))?,
    };
    let pending = checkpoints.before(&path);
    let (_, print) = replace(&path, changed.text.as_bytes()).map_err(|why| why.to_string())?;
    pending.changed_to(Some(changed.text.as_bytes()));
    files.wrote(&path, print);
    let said = match (&before, changed.places) {
        (None, _) => format!("Created {name}."),
        (_, 1) => format!("Changed {name} at line {}.", changed.line),
        (_, places) => format!(
            "Changed {name} at {places} places, the first at line {}.",
            changed.line
        ),
    };
    let diff = unified(&name, before.as_deref().unwrap_or_default(), &changed.text);
    let line = match changed.places {
        1 => "1 change".to_owned(),
        places => format!("{places} changes"),
    };
    Ok(ToolCallOutput::text(said, line).with_detail(diff))
}

//! Edit: a text in a file that the model has read is replaced by another.

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
use crate::files::{FileState, Opened, Print, Unfit, replace};
use crate::place::Place;
use crate::tool::{Access, Call, Output};
use change::Places;

/// Edits files.
pub struct Edit(Arc<PlaceFiles>);

#[derive(Deserialize)]
pub(super) struct Input {
    file_path: String,
    old_string: String,
    new_string: String,
    #[serde(default, deserialize_with = "input::switch")]
    replace_all: Option<bool>,
}

impl Edit {
    /// Edits files of this place that the model knows.
    pub fn new(place: Arc<Place>, files: Arc<FileState>) -> Self {
        Self(PlaceFiles::new(&place, files))
    }
}

impl TypedTool for Edit {
    const NAME: &'static str = "Edit";
    const DESCRIPTION: &'static str = include_str!("description.md");
    const SCHEMA: &'static str = include_str!("schema.json");
    type Input = Input;

    fn access(&self, input: &Value) -> Access {
        self.0.access(input, Access::Writes)
    }

    fn line(&self, input: &Value) -> String {
        self.0.line(input)
    }

    async fn run(&self, input: Input, call: &Call) -> Result<Output, String> {
        let files = self.0.clone();
        to_the_end(&call.cancel, move || edit(&files, &input)).await
    }
}

fn edit(files: &PlaceFiles, input: &Input) -> Result<Output, String> {
    let (judged, files) = (&files.judged, &files.state);
    if input.old_string == input.new_string {
        return Err(
            "old_string and new_string are the same: there is nothing to change.".to_owned(),
        );
    }
    let path = judged
        .path(&input.file_path)
        .map_err(|why| why.to_string())?;
    let name = judged.shown(&path);
    let before = match Opened::regular(&path) {
        Err(Unfit::Missing(_)) if input.old_string.is_empty() => None,
        Err(why) => return Err(why.to_string()),
        Ok(opened) if !opened.is_short() => {
            return Err(format!(
                "{name} is too long to be edited here. Use a command in Bash."
            ));
        }
        Ok(opened) => {
            let metadata = opened.metadata.clone();
            let content = opened.content().map_err(|why| why.to_string())?;
            refuse_unless_known(files, &path, &Print::of(&content, &metadata))?;
            let text = String::from_utf8(content).map_err(|_| {
                format!("{name} is not valid UTF-8 and is not edited here. Use a command in Bash.")
            })?;
            Some(text)
        }
    };
    let places = match input.replace_all {
        Some(true) => Places::All,
        _ => Places::One,
    };
    let changed = match &before {
        None => change::Changed::new_file(&input.new_string),
        Some(before) => change::change(before, &input.old_string, &input.new_string, places)
            .map_err(|why| format!("{name} was not changed: {why}"))?,
    };
    let (_, print) = replace(&path, changed.text.as_bytes()).map_err(|why| why.to_string())?;
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
    Ok(Output::text(said, line).with_detail(diff))
}

//! Write: a whole file, new or in place of one that the model has read.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::blocking::to_the_end;
use super::diff::unified;
use super::place_files::PlaceFiles;
use super::typed::TypedTool;
use crate::files::{FileState, Made, Opened, Print, Unfit, replace};
use crate::place::Place;
use crate::tool::{Access, Call, Output};

mod known;

pub(super) use known::refuse_unless_known;

/// Writes files.
pub struct Write(Arc<PlaceFiles>);

#[derive(Deserialize)]
pub(super) struct Input {
    file_path: String,
    content: String,
}

impl Write {
    /// Writes files of this place that the model knows.
    pub fn new(place: Arc<Place>, files: Arc<FileState>) -> Self {
        Self(PlaceFiles::new(&place, files))
    }
}

impl TypedTool for Write {
    const NAME: &'static str = "Write";
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
        to_the_end(&call.cancel, move || write(&files, &input)).await
    }
}

fn write(files: &PlaceFiles, input: &Input) -> Result<Output, String> {
    let (judged, files) = (&files.judged, &files.state);
    let path = judged
        .path(&input.file_path)
        .map_err(|why| why.to_string())?;
    let before = match Opened::regular(&path) {
        Err(Unfit::Missing(_)) => String::new(),
        Err(why) => return Err(why.to_string()),
        Ok(opened) if !opened.is_short() => {
            refuse_unless_known(files, &path, &Print::at_a_glance(&opened.metadata))?;
            String::new()
        }
        Ok(opened) => {
            let metadata = opened.metadata.clone();
            let content = opened.content().map_err(|why| why.to_string())?;
            refuse_unless_known(files, &path, &Print::of(&content, &metadata))?;
            String::from_utf8_lossy(&content).into_owned()
        }
    };
    let (made, print) = replace(&path, input.content.as_bytes()).map_err(|why| why.to_string())?;
    files.wrote(&path, print);
    let name = judged.shown(&path);
    let lines = input.content.lines().count();
    let said = match made {
        Made::New => format!("Created {name} (lines: {lines})."),
        Made::Changed => format!("Replaced {name} (lines now: {lines})."),
    };
    let line = match lines {
        1 => "1 line".to_owned(),
        lines => format!("{lines} lines"),
    };
    let diff = unified(&name, &before, &input.content);
    Ok(Output::text(said, line).with_detail(diff))
}

//! Read: lines of a text file, or a picture or document as a block (W1).

mod lines;
mod media;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Deserialize;
use serde_json::Value;

use super::blocking::blocking;
use super::input;
use super::place_files::PlaceFiles;
use super::typed::TypedTool;
use crate::files::{FileFingerprint, FileState, OpenedFile, ShownExtent, amount};
use crate::session_paths::SessionPaths;
use crate::tool::{CallContext, ToolAccess, ToolCallOutput};

/// The number of lines if the call does not set one.
const LINES: u64 = 2_000;

/// Longer files are refused without a range: the model should choose what it pays for.
const UNRANGED: u64 = 256 << 10;

const UNCHANGED: &str = include_str!("unchanged.md");

/// Reads files.
pub(crate) struct ReadTool(Arc<PlaceFiles>);

#[derive(Deserialize)]
pub(super) struct ReadInput {
    file_path: String,
    #[serde(default, deserialize_with = "input::count")]
    offset: Option<u64>,
    #[serde(default, deserialize_with = "input::count")]
    limit: Option<u64>,
}

impl ReadTool {
    /// Reads files of this session, and remembers what it showed.
    pub(crate) fn new(place: Arc<SessionPaths>, files: Arc<FileState>) -> Self {
        Self(PlaceFiles::new(&place, files))
    }
}

impl TypedTool for ReadTool {
    const NAME: &'static str = "Read";
    const DESCRIPTION: &'static str = include_str!("description.md");
    const SCHEMA: &'static str = include_str!("schema.json");
    type Input = ReadInput;

    fn access(&self, input: &Value) -> ToolAccess {
        self.0.access(input, ToolAccess::Reads)
    }

    fn line(&self, input: &Value) -> String {
        let path = self.0.line(input);
        let number = |field| input.get(field).and_then(Value::as_u64);
        match (number("offset"), number("limit")) {
            (None, None) => path,
            (offset, None) => format!("{path} ({}-)", offset.unwrap_or(1)),
            (offset, Some(limit)) => {
                let first = offset.unwrap_or(1).max(1);
                let last = first.saturating_add(limit).saturating_sub(1);
                format!("{path} ({first}-{last})")
            }
        }
    }

    async fn run(&self, input: ReadInput, call: &CallContext) -> Result<ToolCallOutput, String> {
        let (files, id) = (self.0.clone(), call.id.clone());
        blocking(&call.cancel, move |_| read(&files, &id, &input)).await
    }
}

fn read(files: &PlaceFiles, call: &str, input: &ReadInput) -> Result<ToolCallOutput, String> {
    let (judged, files) = (&files.judged, &files.state);
    let path = judged.path(&input.file_path).map_err(told)?;
    let opened = OpenedFile::regular(&path).map_err(told)?;
    let (metadata, short) = (opened.metadata.clone(), opened.is_short());
    let mut reader = BufReader::new(&opened.file);
    let head = reader
        .fill_buf()
        .map_err(|error| told(crate::files::UnusableFile::of(&path, error)))?;
    let media = media::kind(head);
    let is_binary = media.is_none() && memchr::memchr(0, head).is_some();
    let size = metadata.len();
    if is_binary {
        return Err(format!(
            "{} is a binary file of {} and is not shown. Use a command in Bash that understands it.",
            path.display(),
            amount(size)
        ));
    }
    if let Some(media) = media {
        media::fits(media, size)?;
        let content = rest(reader, &path)?;
        let print = FileFingerprint::of(&content, &metadata);
        if let Some(at) = files.shown_at(&path, &print, ShownExtent::Whole) {
            return Ok(unchanged(at));
        }
        let output = media::show(media, &content, files)?;
        files.shown(&path, print, ShownExtent::Whole, call);
        return Ok(output);
    }
    let unranged = input.offset.is_none() && input.limit.is_none();
    if unranged && size > UNRANGED {
        return Err(format!(
            "{} has {}, too much to read at once. Read a part with offset and limit, or look for what you need with Grep.",
            path.display(),
            amount(size)
        ));
    }
    let offset = input.offset.unwrap_or(1).max(1);
    let limit = input.limit.unwrap_or(LINES).max(1);
    let shown = ShownExtent::Lines { offset, limit };
    let (print, found) = if short {
        let content = rest(reader, &path)?;
        let print = FileFingerprint::of(&content, &metadata);
        if let Some(at) = files.shown_at(&path, &print, shown) {
            return Ok(unchanged(at));
        }
        (
            print,
            lines::read(&content[..], offset, limit, lines::RestOfFile::Count),
        )
    } else {
        let print = FileFingerprint::at_a_glance(&metadata);
        if let Some(at) = files.shown_at(&path, &print, shown) {
            return Ok(unchanged(at));
        }
        (
            print,
            lines::read(reader, offset, limit, lines::RestOfFile::Leave),
        )
    };
    let found = found.map_err(|error| told(crate::files::UnusableFile::of(&path, error)))?;
    files.shown(&path, print, shown, call);
    Ok(ToolCallOutput::text(
        found.for_the_model(offset),
        found.line(),
    ))
}

fn rest(mut reader: BufReader<&std::fs::File>, path: &Path) -> Result<Vec<u8>, String> {
    use std::io::Read;
    let mut content = Vec::new();
    let read = (&mut reader)
        .take(crate::files::WHOLE)
        .read_to_end(&mut content);
    read.map_err(|error| told(crate::files::UnusableFile::of(path, error)))?;
    Ok(content)
}

fn unchanged(at: SystemTime) -> ToolCallOutput {
    let time = jiff::Timestamp::try_from(at).unwrap_or_default();
    let time = time.strftime("%H:%M:%S UTC").to_string();
    ToolCallOutput::text(UNCHANGED.trim_end().replace("{time}", &time), "unchanged")
}

fn told(why: impl std::fmt::Display) -> String {
    why.to_string()
}

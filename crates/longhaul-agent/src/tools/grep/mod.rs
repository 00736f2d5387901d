//! Grep: searches the contents of files with ripgrep's libraries.

mod query;
mod results;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::HiddenPathFn;
use super::blocking::blocking;
use super::definition::stopped;
use super::input;
use super::judged_paths::JudgedPaths;
use super::search;
use super::typed::TypedTool;
use super::walk::{GlobPathPattern, walk};
use crate::files::OpenedFile;
use crate::session_paths::SessionPaths;
use crate::tool::{CallContext, ToolAccess, ToolCallOutput};
use query::GrepQuery;
use results::{GrepResults, ResultsFull};

/// Searches files.
pub(crate) struct GrepTool {
    judged: Arc<JudgedPaths>,
    hidden: HiddenPathFn,
}

#[derive(Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum GrepMode {
    Content,
    #[default]
    FilesWithMatches,
    Count,
}

#[derive(Deserialize)]
pub(super) struct GrepInput {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    output_mode: Option<GrepMode>,
    #[serde(rename = "-A", default, deserialize_with = "input::count")]
    after: Option<u64>,
    #[serde(rename = "-B", default, deserialize_with = "input::count")]
    before: Option<u64>,
    #[serde(rename = "-C", default, deserialize_with = "input::count")]
    around: Option<u64>,
    #[serde(rename = "-n", default, deserialize_with = "input::switch")]
    numbers: Option<bool>,
    #[serde(rename = "-i", default, deserialize_with = "input::switch")]
    any_case: Option<bool>,
    #[serde(default, deserialize_with = "input::count")]
    head_limit: Option<u64>,
    #[serde(default, deserialize_with = "input::switch")]
    multiline: Option<bool>,
}

impl GrepTool {
    /// Searches files of this session, except for hidden ones.
    pub(crate) fn new(place: Arc<SessionPaths>, hidden: HiddenPathFn) -> Self {
        Self {
            judged: Arc::new(JudgedPaths::new(&place)),
            hidden,
        }
    }
}

impl TypedTool for GrepTool {
    const NAME: &'static str = "Grep";
    const DESCRIPTION: &'static str = include_str!("description.md");
    const SCHEMA: &'static str = include_str!("schema.json");
    type Input = GrepInput;

    fn access(&self, input: &Value) -> ToolAccess {
        self.judged.access(search::root(input), ToolAccess::Reads)
    }

    fn line(&self, input: &Value) -> String {
        search::line(&self.judged, input)
    }

    async fn run(&self, input: GrepInput, call: &CallContext) -> Result<ToolCallOutput, String> {
        let (judged, hidden) = (self.judged.clone(), self.hidden.clone());
        let work = move |cancel| matches(&judged, &hidden, &input, &cancel);
        blocking(&call.cancel, work).await
    }
}

fn matches(
    judged: &JudgedPaths,
    hidden: &HiddenPathFn,
    input: &GrepInput,
    cancel: &CancellationToken,
) -> Result<ToolCallOutput, String> {
    let query = GrepQuery::new(input)?;
    let only = match input.glob.as_deref().map(GlobPathPattern::new) {
        Some(Err(error)) => return Err(format!("The glob does not work: {error}.")),
        Some(Ok(pattern)) => Some(pattern),
        None => None,
    };
    let root = judged
        .path(search::from(input.path.as_deref()))
        .map_err(|why| why.to_string())?;
    let metadata = std::fs::metadata(&root)
        .map_err(|error| crate::files::UnusableFile::of(&root, error).to_string())?;
    if !metadata.is_dir() {
        // The file was named explicitly: if it cannot be searched, the reason is reported.
        OpenedFile::regular(&root).map_err(|why| why.to_string())?;
    }
    let mut found = GrepResults::new(input);
    let mut searcher = query.searcher();
    for entry in walk(&root, query.types.clone()) {
        if cancel.is_cancelled() {
            return Ok(stopped());
        }
        let Ok(entry) = entry else { continue };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let path = entry.path();
        let below = path
            .strip_prefix(&root)
            .ok()
            .filter(|it| !it.as_os_str().is_empty());
        let below = below.or_else(|| path.file_name().map(std::path::Path::new));
        if only
            .as_ref()
            .zip(below)
            .is_some_and(|(only, below)| !only.wants(below))
        {
            continue;
        }
        if hidden(path) {
            continue;
        }
        // A file that cannot be read counts as one without a match, as in ripgrep.
        let Ok(opened) = OpenedFile::regular(path) else {
            continue;
        };
        let file = query::InterruptibleFile {
            file: opened.file,
            cancel,
        };
        let _ = searcher.search_reader(&query.matcher, file, found.in_file(judged.shown(path)));
        if found.end_of_file() == ResultsFull::Yes {
            break;
        }
    }
    if cancel.is_cancelled() {
        Ok(stopped())
    } else {
        Ok(found.output())
    }
}

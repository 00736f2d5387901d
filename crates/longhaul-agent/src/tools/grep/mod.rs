//! Grep: searches the contents of files, on ripgrep's libraries.

mod found;
mod query;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::Hidden;
use super::blocking::blocking;
use super::definition::stopped;
use super::input;
use super::judged::Judged;
use super::search;
use super::typed::TypedTool;
use super::walk::{PathPattern, walk};
use crate::files::Opened;
use crate::place::Place;
use crate::tool::{Access, Call, Output};
use found::{Found, Full};
use query::Query;

/// Searches files.
pub struct Grep {
    judged: Arc<Judged>,
    hidden: Hidden,
}

#[derive(Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Content,
    #[default]
    FilesWithMatches,
    Count,
}

#[derive(Deserialize)]
pub(super) struct Input {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    output_mode: Option<Mode>,
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

impl Grep {
    /// Searches files of this place, but for hidden ones.
    pub fn new(place: Arc<Place>, hidden: Hidden) -> Self {
        Self {
            judged: Arc::new(Judged::new(&place)),
            hidden,
        }
    }
}

impl TypedTool for Grep {
    const NAME: &'static str = "Grep";
    const DESCRIPTION: &'static str = include_str!("description.md");
    const SCHEMA: &'static str = include_str!("schema.json");
    type Input = Input;

    fn access(&self, input: &Value) -> Access {
        self.judged.access(search::root(input), Access::Reads)
    }

    fn line(&self, input: &Value) -> String {
        search::line(&self.judged, input)
    }

    async fn run(&self, input: Input, call: &Call) -> Result<Output, String> {
        let (judged, hidden) = (self.judged.clone(), self.hidden.clone());
        let work = move |cancel| matches(&judged, &hidden, &input, &cancel);
        blocking(&call.cancel, work).await
    }
}

fn matches(
    judged: &Judged,
    hidden: &Hidden,
    input: &Input,
    cancel: &CancellationToken,
) -> Result<Output, String> {
    let query = Query::new(input)?;
    let only = match input.glob.as_deref().map(PathPattern::new) {
        Some(Err(error)) => return Err(format!("The glob does not work: {error}.")),
        Some(Ok(pattern)) => Some(pattern),
        None => None,
    };
    let root = judged
        .path(search::from(input.path.as_deref()))
        .map_err(|why| why.to_string())?;
    let metadata = std::fs::metadata(&root)
        .map_err(|error| crate::files::Unfit::of(&root, error).to_string())?;
    if !metadata.is_dir() {
        // Asked for by name: why it cannot be searched is said, not passed over.
        Opened::regular(&root).map_err(|why| why.to_string())?;
    }
    let mut found = Found::new(input);
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
        // A file that cannot be read is one that has no match, as with ripgrep.
        let Ok(opened) = Opened::regular(path) else {
            continue;
        };
        let file = query::Stoppable {
            file: opened.file,
            cancel,
        };
        let _ = searcher.search_reader(&query.matcher, file, found.in_file(judged.shown(path)));
        if found.end_of_file() == Full::Yes {
            break;
        }
    }
    match cancel.is_cancelled() {
        true => Ok(stopped()),
        false => Ok(found.output()),
    }
}

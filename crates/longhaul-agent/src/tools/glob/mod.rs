//! Glob: finds files by their path, newest first.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use longhaul_core::figures::counted;
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
use crate::files::UnusableFile;
use crate::session_paths::SessionPaths;
use crate::tool::{CallContext, ToolAccess, ToolCallOutput};

/// The maximum number of files that are listed.
const MOST: usize = 100;

/// Finds files.
pub(crate) struct GlobTool {
    judged: Arc<JudgedPaths>,
    hidden: HiddenPathFn,
}

#[derive(Deserialize)]
pub(super) struct GlobInput {
    pattern: String,
    path: Option<String>,
}

impl GlobTool {
    /// Finds files of this session, except for hidden ones.
    pub(crate) fn new(place: Arc<SessionPaths>, hidden: HiddenPathFn) -> Self {
        Self {
            judged: Arc::new(JudgedPaths::new(&place)),
            hidden,
        }
    }
}

impl TypedTool for GlobTool {
    const NAME: &'static str = "Glob";
    const DESCRIPTION: &'static str = include_str!("description.md");
    const SCHEMA: &'static str = include_str!("schema.json");
    type Input = GlobInput;

    fn access(&self, input: &Value) -> ToolAccess {
        let (root, _) = split(search::root(input), input::text(input, "pattern"));
        self.judged.access(&root, ToolAccess::Reads)
    }

    fn line(&self, input: &Value) -> String {
        search::line(&self.judged, input)
    }

    async fn run(&self, input: GlobInput, call: &CallContext) -> Result<ToolCallOutput, String> {
        let (root, pattern) = split(search::from(input.path.as_deref()), &input.pattern);
        let (judged, hidden) = (self.judged.clone(), self.hidden.clone());
        let work = move |cancel| find(&judged, &hidden, &root, &pattern, &cancel);
        blocking(&call.cancel, work).await
    }
}

/// Splits an absolute pattern into the folder to begin in, which is the part without wildcards, and the rest.
fn split(root: &str, pattern: &str) -> (String, String) {
    if !Path::new(pattern).is_absolute() {
        return (root.to_owned(), pattern.to_owned());
    }
    let is_plain = |part: &&str| !part.contains(['*', '?', '[', '{', '!']);
    let parts: Vec<&str> = pattern.split('/').collect();
    let plain = (parts.iter().take_while(|part| is_plain(part)).count()).min(parts.len() - 1);
    let root = parts[..plain].join("/");
    let root = if root.is_empty() {
        "/".to_owned()
    } else {
        root
    };
    // The leading slash makes the pattern match from the folder on and not at any depth.
    (root, format!("/{}", parts[plain..].join("/")))
}

fn find(
    judged: &JudgedPaths,
    hidden: &HiddenPathFn,
    root: &str,
    pattern: &str,
    cancel: &CancellationToken,
) -> Result<ToolCallOutput, String> {
    if pattern.split('/').any(|part| part == "..") {
        return Err("The pattern has .. in it. Give the folder as path, and a pattern for what is below it.".to_owned());
    }
    let wanted = GlobPathPattern::new(pattern)
        .map_err(|error| format!("The pattern does not work: {error}."))?;
    let root = judged.path(root).map_err(|why| why.to_string())?;
    let metadata =
        std::fs::metadata(&root).map_err(|error| UnusableFile::of(&root, error).to_string())?;
    if !metadata.is_dir() {
        return Err(format!(
            "{} is not a folder. Give the folder to look in.",
            root.display()
        ));
    }
    let mut found: Vec<(Reverse<SystemTime>, PathBuf)> = Vec::new();
    for entry in walk(&root, None) {
        if cancel.is_cancelled() {
            return Ok(stopped());
        }
        let Ok(entry) = entry else { continue };
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let below = entry.path().strip_prefix(&root);
        if !is_file || !below.is_ok_and(|below| wanted.wants(below)) || hidden(entry.path()) {
            continue;
        }
        let changed = (entry.metadata().ok()).and_then(|it| it.modified().ok());
        let changed = changed.unwrap_or(SystemTime::UNIX_EPOCH);
        found.push((Reverse(changed), entry.into_path()));
    }
    if found.is_empty() {
        return Ok(ToolCallOutput::text(
            "No files match. Ignored files (.gitignore) were not looked at.",
            "no files",
        ));
    }
    found.sort();
    let count = found.len();
    let names = found.iter().take(MOST).map(|(_, path)| judged.shown(path));
    let mut text = names.collect::<Vec<_>>().join("\n");
    if count > MOST {
        text.push_str(&format!(
            "\n(the newest {MOST} of {count}; use a narrower pattern or path for the others)"
        ));
    }
    let line = counted(count as u64, "file");
    Ok(ToolCallOutput::text(text, line))
}

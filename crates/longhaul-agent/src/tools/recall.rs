//! recall: what has left the window, found again by the model (X2, U2).
//!
//! Definition and answers are the archive's own ([`longhaul_store::archive::tool`]); here the archive is opened, brought
//! up to date with the transcript, and asked, on a thread that may wait.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use longhaul::Boxed;
use longhaul_store::archive::tool::{NAME, answer, recall_tool};
use longhaul_store::archive::{Archive, ArchiveError};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::definition::{one_line, text_field};
use crate::tool::{CallContext, Tool, ToolAccess, ToolCallOutput};

/// The tool.
pub struct RecallTool {
    archive: PathBuf,
    transcript: PathBuf,
}

impl RecallTool {
    /// Looks into the archive of a transcript; both may not be there yet.
    pub fn new(archive: PathBuf, transcript: PathBuf) -> Self {
        Self {
            archive,
            transcript,
        }
    }
}

impl Tool for RecallTool {
    fn name(&self) -> &str {
        NAME
    }

    fn definition(&self) -> Value {
        recall_tool()
    }

    fn access(&self, _: &Value) -> ToolAccess {
        ToolAccess::Nothing
    }

    fn line(&self, input: &Value) -> String {
        let wanted = ["id", "path", "query"].map(|name| text_field(input, name));
        one_line(
            wanted.iter().find(|text| !text.is_empty()).unwrap_or(&""),
            80,
        )
    }

    fn run<'a>(&'a self, input: Value, call: &'a CallContext) -> Boxed<'a, ToolCallOutput> {
        Box::pin(async move {
            let (archive, transcript) = (self.archive.clone(), self.transcript.clone());
            let cancel = call.cancel.clone();
            let asked = tokio::task::spawn_blocking(move || {
                let archive = up_to_date(&archive, &transcript, &cancel)?;
                Ok::<_, ArchiveError>(answer(&archive, &input.to_string()))
            });
            let unavailable = |why: &dyn std::fmt::Display| {
                tracing::warn!(%why, "recall");
                ToolCallOutput::error(UNAVAILABLE.trim_end())
            };
            match asked.await {
                Ok(Ok(text)) => {
                    let line = format!("{} lines", text.lines().count());
                    ToolCallOutput::text(text, line)
                }
                Ok(Err(error)) => unavailable(&error),
                Err(error) => unavailable(&error),
            }
        })
    }
}

const UNAVAILABLE: &str = include_str!("recall_unavailable.md");

/// The archive with all that the transcript holds. A damaged one is made again; what cannot be read leaves it as it is.
fn up_to_date(
    archive: &Path,
    transcript: &Path,
    cancel: &CancellationToken,
) -> Result<Archive, ArchiveError> {
    let go_on = |_| {
        if cancel.is_cancelled() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut archive = Archive::open(archive)?;
    if !transcript.exists() {
        return Ok(archive);
    }
    match archive.index(transcript, go_on) {
        Err(ArchiveError::Damaged { .. }) => {
            archive = archive.mend()?;
            archive.index(transcript, go_on)?;
        }
        // What was archived before can be found all the same.
        Err(error) => tracing::warn!(%error, "the transcript is not indexed"),
        Ok(_) => {}
    }
    Ok(archive)
}

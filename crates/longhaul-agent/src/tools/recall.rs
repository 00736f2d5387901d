//! recall: lets the model find again what has left the window (X2, U2).
//!
//! The definition and the answers come from the archive itself ([`longhaul_store::archive::tool`]); this module opens
//! the archive, brings it up to date with the transcript, and queries it, on a blocking thread.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use longhaul::Boxed;
use longhaul_core::figures::counted;
use longhaul_store::archive::tool::{NAME, answer, recall_tool};
use longhaul_store::archive::{Archive, ArchiveError};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::definition::{one_line, text_field};
use crate::tool::{CallContext, Tool, ToolAccess, ToolCallOutput};

/// The recall tool.
pub struct RecallTool {
    archive: PathBuf,
    transcript: PathBuf,
}

impl RecallTool {
    /// Searches the archive of a transcript; neither needs to exist yet.
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
                    let line = counted(text.lines().count() as u64, "line");
                    ToolCallOutput::text(text, line)
                }
                Ok(Err(error)) => unavailable(&error),
                Err(error) => unavailable(&error),
            }
        })
    }
}

const UNAVAILABLE: &str = include_str!("recall_unavailable.md");

/// Opens the archive and indexes the whole transcript. A damaged archive is rebuilt; if the transcript cannot be read,
/// the archive stays as it is.
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
        // What was archived before can still be found.
        Err(error) => tracing::warn!(%error, "the transcript is not indexed"),
        Ok(_) => {}
    }
    Ok(archive)
}

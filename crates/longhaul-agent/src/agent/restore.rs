//! Reads the files again that go back into the window after a compaction (R1). A path that led to one file may lead to
//! another by now: a file must lie in the workspace or be one that the model was shown, no link is followed while it is
//! opened, and rules that forbid reading are checked again.

use longhaul::{Boxed, ReadPolicy, RestoreRequest, Workspace, text_of};
use longhaul_core::engine::GatheredContext;
use longhaul_core::rehydrate::{FileText, ReadFile, RestoreInput, RestoreSourceResult};

use super::sources::ToolStateSources;
use crate::files::{FenceSide, FolderFence, PathPurpose};
use crate::session_paths::SessionPaths;

const FORBIDDEN: &str = "a rule forbids reading it";
const OUTSIDE: &str = "it leads out of the workspace, to a file that was not read here";

/// Reads files again after a compaction.
#[derive(Clone)]
pub(crate) struct FileRestorer {
    pub(crate) place: SessionPaths,
    pub(crate) reads: ReadPolicy,
    pub(crate) sources: ToolStateSources,
}

impl FileRestorer {
    /// Resolves a file's path if the file may be read again; otherwise says why not.
    pub(crate) fn find(&self, file: ReadFile) -> Result<ReadFile, RestoreSourceResult<FileText>> {
        let failed = |why: String| RestoreSourceResult::Failed {
            what: file.path.display().to_string(),
            why,
        };
        let fence = FolderFence::of(&self.place);
        // The model's paths may be relative, or lead through links.
        let given = file.path.to_str().unwrap_or_default();
        let real = match fence.resolve(given) {
            Ok(real) => real,
            Err(unfit) => return Err(failed(unfit.to_string())),
        };
        if self.reads.denies(&file.path) || self.reads.denies(&real) {
            return Err(failed(FORBIDDEN.to_owned()));
        }
        let is_inside = fence.judge(&real, PathPurpose::Read) == FenceSide::Inside;
        if !is_inside && !(self.sources.knows)(&real) {
            return Err(failed(OUTSIDE.to_owned()));
        }
        Ok(ReadFile { path: real, ..file })
    }

    /// The texts of files, in their order. A failure is reported in the file's place.
    pub(crate) async fn read(
        found: Vec<Result<ReadFile, RestoreSourceResult<FileText>>>,
    ) -> Vec<RestoreSourceResult<FileText>> {
        let reads = found.into_iter().map(|found| {
            tokio::task::spawn_blocking(move || match found {
                Err(failed) => failed,
                Ok(ReadFile { path, .. }) => match text_of(&path) {
                    Ok(text) => RestoreSourceResult::Found(FileText { path, text }),
                    Err(why) => RestoreSourceResult::Failed {
                        what: path.display().to_string(),
                        why,
                    },
                },
            })
        });
        let done = futures_util::future::join_all(reads).await;
        done.into_iter().flatten().collect()
    }
}

/// A sub-agent has only files to restore.
impl Workspace for FileRestorer {
    fn gather<'a>(&'a self, wanted: &'a RestoreRequest) -> Boxed<'a, GatheredContext> {
        Box::pin(async move {
            let found = wanted.files.iter().cloned().map(|file| self.find(file));
            GatheredContext {
                gathered: RestoreInput {
                    files: Self::read(found.collect()).await,
                    ..RestoreInput::default()
                },
                prefix: None,
            }
        })
    }
}

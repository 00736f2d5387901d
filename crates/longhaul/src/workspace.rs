//! The trait for the place where an agent works: what goes back into the window after a compaction (R).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_core::engine::GatheredContext;
use longhaul_core::rehydrate::{FileText, ReadFile, RestoreInput, RestoreSourceResult};

use crate::model::Boxed;

/// What the engine wants to restore after a compaction.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RestoreRequest {
    /// The files that the model read last, the newest first.
    pub files: Vec<ReadFile>,
    /// Files whose content is in the part that is kept.
    pub kept: Vec<PathBuf>,
}

/// The place where an agent works.
///
/// An implementer gathers its sources in parallel and reports failures in the answer: a source that fails is left out
/// and reported, never fatal. It leaves out the plan file and memory files, which are restored in another way.
pub trait Workspace: Send + Sync {
    /// Gathers what goes back into the window, and the request prefix to use from then on.
    fn gather<'a>(&'a self, wanted: &'a RestoreRequest) -> Boxed<'a, GatheredContext>;

    /// What the project's memory files say about compactions (F4), read when one begins; empty if they say nothing.
    /// With none, the instructions that the session was opened with apply.
    fn compact_instructions(&self) -> Boxed<'_, Option<String>> {
        Box::pin(async { None })
    }
}

impl<W: Workspace + ?Sized> Workspace for Arc<W> {
    fn gather<'a>(&'a self, wanted: &'a RestoreRequest) -> Boxed<'a, GatheredContext> {
        W::gather(self, wanted)
    }

    fn compact_instructions(&self) -> Boxed<'_, Option<String>> {
        W::compact_instructions(self)
    }
}

/// A workspace that is just the file system: the files that were read are read again, from where their paths lead now.
/// It checks no permission rules: a host that has rules, or whose folder others can change, needs a workspace of its
/// own.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileWorkspace;

/// No more of a file than this is read: it is cut to a fraction of it anyway.
const MOST: u64 = 1 << 20;

impl Workspace for FileWorkspace {
    fn gather<'a>(&'a self, wanted: &'a RestoreRequest) -> Boxed<'a, GatheredContext> {
        Box::pin(async move {
            let reads = wanted.files.iter().map(|file| {
                let path = file.path.clone();
                tokio::task::spawn_blocking(move || read(path))
            });
            let mut files = Vec::new();
            for read in futures_util::future::join_all(reads).await {
                files.extend(read);
            }
            GatheredContext {
                gathered: RestoreInput {
                    files,
                    ..RestoreInput::default()
                },
                prefix: None,
            }
        })
    }
}

/// A workspace without files, for agents that have none.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWorkspace;

impl Workspace for NoWorkspace {
    fn gather<'a>(&'a self, _: &'a RestoreRequest) -> Boxed<'a, GatheredContext> {
        Box::pin(async { GatheredContext::default() })
    }
}

/// Reads a file, if it is a regular text file. The file that the path leads to now is opened; a link that appears
/// meanwhile is not followed.
pub(crate) fn read(path: PathBuf) -> RestoreSourceResult<FileText> {
    let text = longhaul_store::real_path(&path)
        .map_err(|error| error.to_string())
        .and_then(|real| text_of(&real));
    match text {
        Ok(text) => RestoreSourceResult::Found(FileText { path, text }),
        Err(why) => RestoreSourceResult::Failed {
            what: path.display().to_string(),
            why,
        },
    }
}

/// The text of a file by its resolved path, as much as is useful after a compaction. No link is followed. The error
/// says what is wrong.
///
/// # Errors
/// If it is not a file, is not text, or cannot be read.
pub fn text_of(real: &Path) -> Result<String, String> {
    use std::io::Read;
    let told = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::IsADirectory | std::io::ErrorKind::InvalidInput => {
            "it is not a file".to_owned()
        }
        _ => error.to_string(),
    };
    let mut bytes = Vec::new();
    let file = crate::resolved_file::open(real).map_err(told)?;
    file.take(MOST).read_to_end(&mut bytes).map_err(told)?;
    if memchr::memchr(0, &bytes).is_some() {
        return Err("it is not text".to_owned());
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
